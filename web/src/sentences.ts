// What the catalogue says of params in words.
import { sentences } from "./sentences.gen.js";
import type { Outline, ParamOutline } from "./scheme.js";
import { outlines } from "./schemes.gen.js";

/** The sentence of documentation of a param of one of `outlines`; empty where the scheme has no such param. */
export function sentenceOf({ slot, name, params }: Outline, param: ParamOutline["name"]): string {
  const scheme = outlines.findIndex((known) => known.slot === slot && known.name === name);
  return sentences[scheme]?.[params.findIndex((known) => known.name === param)] ?? "";
}
