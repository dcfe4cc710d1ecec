// A model's config.json, read as schemes and options of attention. Facts of families live in config/; what a scheme
// computes from them, in the core.
import { refusal, refuse, refuseMissing } from "./error.js";
import { families, familyOf, spellingOf } from "./config/families.js";
import { Keys, headWidth, kSubject, recordOf, usualScale } from "./config/keys.js";
import type { LayerPositions, ModelPositions, Reading } from "./config/result.js";
import { isNested, rope } from "./config/rope.js";
import type { RotateScheme } from "./scheme.js";

export type { ConfigAttention, LayerPositions, ModelPositions, PartPositions } from "./config/result.js";

const kRopeKeys = ["rope_type", "type", "rope_theta", "rope_parameters", "rope_scaling", "mrope_section"];

/**
 * Reads a parsed Hugging Face `config.json` (or its `rope_parameters` or `rope_scaling` part, with `head_dim` beside):
 * the schemes of its positions, the options of its attention, each layer's where layers differ, and notes where
 * frameworks disagree. Tables that only the weights know are seeded; a note names the tensor.
 *
 * Errors name the key: `missing-option`, `out-of-range`, `shape-mismatch`, `unknown-choice` (a model or a rope type
 * that is not known: the message says what was looked for), `unsupported` (what no scheme expresses).
 *
 * @example
 * const gemma = fromConfig(JSON.parse(text));
 * attention(q, k, v, { ...gemma.attention, ...gemma.layers[5] });
 */
export function fromConfig(config: object): ModelPositions {
  const allowed = "an object: a parsed config.json, or its rope_parameters";
  if (config === undefined) refuseMissing(kSubject, "config", allowed);
  const keys = new Keys(recordOf("config", allowed, config));
  const [model, reading, notes] = read(keys);
  return Object.freeze({ model, ...reading, notes: Object.freeze([...notes]) });
}

const kParts = ["text_config", "llm_config", "language_config"];
const kHeads = ["num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"];

// Models have parts in parts, but not many.
const kDeepest = 4;

function read(keys: Keys, outer?: string, depth = 1): [string, Reading, Iterable<string>] {
  const type = keys.text("model_type");
  const listed: unknown = keys.has("architectures") ? keys.values["architectures"] : [];
  if (!Array.isArray(listed) || listed.some((name) => typeof name !== "string")) {
    refuse("shape-mismatch", kSubject, keys.at("architectures"), "a list of strings", listed);
  }
  const named = [...(type === undefined ? [] : [type]), ...(listed as string[])];
  // A model of several parts: its text part is what positions are asked of.
  const part = kParts.find((name) => keys.has(name));
  if (part !== undefined && keys.which(kHeads) === undefined) {
    if (depth === kDeepest) keys.unsupported(part, `in ${kDeepest} parts already is no part of a model`);
    const [model, reading, notes] = read(keys.inner(part)!, type, depth + 1);
    return [model, reading, [`${keys.at(part)} was read, the part that reads text.`, ...notes]];
  }
  // A part that does not name itself is called after the whole: gemma3 has gemma3_text.
  const guesses = named.length > 0 || outer === undefined ? named : [`${outer}_text`, outer];
  for (const name of guesses) {
    const family = familyOf(name);
    if (family !== undefined) return [type ?? family, families[family]!(keys.spelt(spellingOf(family))), keys.notes];
  }
  if (named.length === 0) {
    if (isNested(keys.values)) return ["rope", nestedPart(keys), keys.notes];
    if (keys.which(kRopeKeys) !== undefined) return ["rope", ropePart(keys), keys.notes];
  }
  const known = Object.keys(families);
  throw refusal(
    {
      code: named.length === 0 ? "missing-option" : "unknown-choice",
      subject: kSubject,
      argument: keys.at("model_type"),
      allowed: `one of ${known.join(", ")}`,
      given: named.length === 0 ? "undefined" : named.map((name) => JSON.stringify(name)).join(" and "),
    },
    `${kSubject}: no reader for a config ` +
      (named.length === 0
        ? `without ${keys.at("model_type")}`
        : `of ${keys.at("model_type")} ${named.map((name) => JSON.stringify(name)).join(", ")}`) +
      "; looked for: model_type and architectures, here and in text_config, among " +
      `${known.join(", ")}; or, without either, a rope part with one of ${kRopeKeys.join(", ")}`,
  );
}

const kHalf = "A rope part does not say which columns make a pair: half, Hugging Face's, was taken.";

// rope_parameters or rope_scaling alone, or beside other keys of no model: all that is known is the rotation.
function ropePart(keys: Keys): Reading {
  const outer = keys.inner("rope_parameters");
  if (outer !== undefined && isNested(outer.values)) return nestedPart(outer, partWidth(keys));
  const dim = partWidth(keys);
  keys.note(kHalf);
  const parameters = keys.has("rope_parameters") || keys.has("rope_scaling") ? undefined : keys;
  const rotate = rope(keys, { dim, layout: "half", parameters });
  return { rotate, headDim: dim, attention: { scale: usualScale(dim) } };
}

// {full_attention: {…}, sliding_attention: {…}}
function nestedPart(keys: Keys, width?: number): Reading {
  const kinds = Object.keys(keys.values).filter((key) => key.endsWith("_attention") && keys.has(key));
  const byKind = new Map<string, LayerPositions & { rotate: RotateScheme }>();
  let widest = 0;
  for (const kind of kinds) {
    const parameters = keys.inner(kind)!;
    const dim = parameters.maybe("head_dim", "whole") ?? width ?? partWidth(keys);
    byKind.set(kind, { rotate: rope(parameters, { dim, layout: "half", parameters }) });
    if (kind === "full_attention" || widest === 0) widest = dim;
  }
  keys.note(kHalf);
  const { rotate } = byKind.get("full_attention") ?? byKind.get(kinds[0]!)!;
  return { rotate, byLayerType: Object.fromEntries(byKind), headDim: widest, attention: { scale: usualScale(widest) } };
}

function partWidth(keys: Keys): number {
  if (keys.which(["head_dim", "hidden_size", "n_embd"]) === undefined) {
    refuseMissing(kSubject, keys.at("head_dim"), "given beside a rope part, which does not say how wide a head is");
  }
  return headWidth(keys);
}
