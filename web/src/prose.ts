// What the catalogue says of a scheme in words.
import { entryOf } from "./outline.js";
import { schemes } from "./prose.gen.js";
import type { Descriptor, Outline } from "./scheme.js";

/** The whole descriptor of an outline of the catalogue. */
export function fullDescriptor({ slot, name }: Outline): Descriptor {
  return entryOf(schemes, slot, name)!;
}
