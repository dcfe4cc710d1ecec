// What the catalogue says of params in words.
import { isList, isRecord, refuse, refuseMissing } from "./error.js";
import { outlineOf } from "./outline.js";
import { sentences } from "./sentences.gen.js";
import type { Outline, ParamOutline } from "./scheme.js";
import { outlines } from "./schemes.gen.js";

/**
 * The sentence of documentation of a param of one of `outlines`; empty where the scheme has no such param. What is no
 * outline is `not-a-number`, what is no name `unknown-choice`.
 */
export function sentenceOf(outline: Outline, param: ParamOutline["name"]): string {
  const subject = "sentenceOf";
  const allowed = "one of outlines";
  if (outline === undefined) refuseMissing(subject, "outline", allowed);
  if (!isRecord(outline) || !isList(outline.params)) {
    refuse("not-a-number", subject, "outline", allowed, outline);
  }
  if (param === undefined) refuseMissing(subject, "param", "the name of a param");
  if (typeof param !== "string") refuse("unknown-choice", subject, "param", "the name of a param", param);
  const { slot, name, params } = outline;
  const scheme = outlineOf(slot, name);
  return sentences[outlines.indexOf(scheme!)]?.[params.findIndex((known) => known.name === param)] ?? "";
}
