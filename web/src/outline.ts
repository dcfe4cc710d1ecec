// The one way to find a scheme in the catalogue by name.
import type { Outline } from "./scheme.js";
import { outlines } from "./schemes.gen.js";

/** The entry of a catalogue for the scheme of that name in that slot; undefined where there is none. */
export function entryOf<T extends { readonly slot: string; readonly name: string }>(
  entries: readonly T[],
  slot: string,
  name: string,
): T | undefined {
  return entries.find((entry) => entry.slot === slot && entry.name === name);
}

/** The outline of the scheme of that name in that slot; undefined where there is none. */
export function outlineOf(slot: string, name: string): Outline | undefined {
  return entryOf(outlines, slot, name);
}
