// What the catalogue says of a scheme in words.
import { entryOf } from "./outline.js";
import { schemes } from "./prose.gen.js";
import type { Descriptor, Outline } from "./scheme.js";

/** Takes the catalogue's prose from another thread, in a script that has none. */
export function takeProse(all: readonly Descriptor[]): void {
  if (schemes.length === 0) (schemes as Descriptor[]).push(...all);
}

/** The whole descriptor of an outline of the catalogue. */
export function fullDescriptor({ slot, name }: Outline): Descriptor {
  return entryOf(schemes, slot, name)!;
}
