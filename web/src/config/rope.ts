// Rotations as configs ask for them: rope_theta beside rope_scaling (older), or rope_parameters (newer), the latter
// also nested by kind of layer.
import { isRecord, readAll, refuse, verbatim } from "../error.js";
import type { RotateScheme } from "../scheme.js";
import { type Keys, kSubject, kWidths } from "./keys.js";
import { make } from "./make.js";

/** What a family knows of its rotation beyond the config. */
export interface RopeFacts {
  /** Width of queries and keys. */
  readonly dim: number;
  /** Which columns make a pair in the published weights. */
  readonly layout: "interleaved" | "half";
  /** rope_theta where the config has none. */
  readonly base?: number;
  /** Columns that turn, where the family fixes them. */
  readonly rotaryDim?: number;
  /** The key that fixes them, for errors. */
  readonly rotaryKey?: string;
  /** Share of the columns that turn, where the config says nothing. */
  readonly share?: number;
  /** The kind of layer, for rope_parameters nested by kind. */
  readonly layerType?: string;
  /** The key of the base of this kind of layer, whose rotation is not scaled (Gemma 3's rope_local_base_freq). */
  readonly localBase?: string;
  /** How pairs are dealt to three axes, whatever the config's rope type. */
  readonly axes?: "runs" | "interleaved";
  /** The rule's own object, where it is given by itself. */
  readonly parameters?: Keys;
}

/** Words of rope_type, in all spellings. */
const kTypes = ["default", "linear", "dynamic", "ntk", "yarn", "longrope", "su", "llama3", "proportional", "mrope"];

/** Objects by kind of layer, such as {full_attention: {…}, sliding_attention: {…}}. */
export function isNested(parameters: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(parameters).some(([key, value]) => key.endsWith("_attention") && isRecord(value));
}

// rope_parameters or rope_scaling of this kind of layer.
function parametersOf(keys: Keys, layerType: string | undefined): Keys | undefined {
  if (keys.has("rope_parameters") && keys.has("rope_scaling")) {
    keys.note("Both rope_parameters and rope_scaling are there: rope_parameters, the newer name, was read.");
  }
  const parameters = keys.inner(keys.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
  if (parameters === undefined || !isNested(parameters.values)) return parameters;
  if (layerType !== undefined && parameters.has(layerType)) return parameters.inner(layerType);
  const known = Object.keys(parameters.values).filter((key) => parameters.has(key));
  if (layerType === undefined && known.length === 1) return parameters.inner(known[0]!);
  refuse(
    "missing-option",
    kSubject,
    parameters.at(layerType ?? "full_attention"),
    "the rotation of this kind of layer",
    verbatim(`only ${known.join(", ")}`),
  );
}

/** The rotation of a config, or of one kind of its layers. */
export function rope(keys: Keys, known: RopeFacts): RotateScheme {
  const facts = readAll(known);
  const nested = keys.has("rope_parameters") && isNested(keys.inner("rope_parameters")!.values);
  const local = facts.localBase !== undefined && !nested;
  const parameters = facts.parameters ?? (local ? undefined : parametersOf(keys, facts.layerType));
  const base = baseOf(keys, parameters, facts);
  const type = typeOf(parameters);
  const { dim, layout } = facts;

  if (type === "proportional") {
    if (dim % 2 !== 0) refuse("out-of-range", kSubject, keys.at("head_dim"), "even", dim);
    const share = shareOf(keys, parameters!, 1);
    const factor = factorOf(parameters!, 1);
    const scaling = { type, partialRotaryFactor: share, ...(factor === 1 ? {} : { factor }) };
    return make("rotate", "rope", { dim, base, layout, scaling });
  }
  const rotaryDim = rotaryOf(keys, parameters, facts);
  const scaling = parameters === undefined ? undefined : scalingOf(keys, parameters, type, rotaryDim);
  const turning = { dim, base, layout, rotaryDim: rotaryDim === dim ? undefined : rotaryDim, scaling };
  const sections = parameters?.has("mrope_section") ? parameters : (keys.inner("rope_scaling") ?? parameters);
  const multimodal = facts.axes ?? (parameters?.values["type"] === "mrope" || type === "mrope");
  if (!multimodal && !sections?.has("mrope_section")) return make("rotate", "rope", turning);
  return mrope(keys, sections ?? keys.with({ rope_scaling: {} }).inner("rope_scaling")!, turning, facts.axes);
}

function baseOf(keys: Keys, parameters: Keys | undefined, facts: RopeFacts): number {
  // YaRN divides by the logarithm of the base.
  const above = typeOf(parameters) === "yarn" ? 1 : 0;
  const allowed = `a finite number above ${above}`;
  const fits = (base: number): boolean => base > above;
  const names = facts.localBase ?? ["rope_theta", "rotary_emb_base", "rotary_base", "rotary_theta"];
  if (parameters?.has("rope_theta")) {
    const inner = parameters.real("rope_theta", allowed, fits);
    const outer = facts.localBase === undefined ? (keys.values["rope_theta"] ?? inner) : inner;
    if (outer !== inner) {
      keys.note(`${parameters.at("rope_theta")} is ${inner}, rope_theta ${String(keys.values["rope_theta"])}: the former was read.`);
    }
    return inner;
  }
  return keys.real(names, allowed, fits, facts.base ?? 10000);
}

function typeOf(parameters: Keys | undefined): string {
  if (parameters === undefined) return "default";
  const type = parameters.text(["rope_type", "type"]) ?? "default";
  if (!kTypes.includes(type)) {
    refuse(
      "unknown-choice",
      kSubject,
      parameters.at(parameters.which(["rope_type", "type"])!),
      `a rope type among ${kTypes.map((word) => JSON.stringify(word)).join(", ")}`,
      type,
    );
  }
  return type === "su" ? "longrope" : type;
}

function shareOf(keys: Keys, parameters: Keys | undefined, fallback: number): number {
  const allowed = "a number above 0 and at most 1";
  const fits = (share: number): boolean => share > 0 && share <= 1;
  const own = parameters?.has("partial_rotary_factor") ? parameters : keys;
  return own.real(["partial_rotary_factor", "rotary_pct"], allowed, fits, fallback);
}

/** Columns that turn. The share of a width is cut to a whole number, as transformers does. */
export function rotaryOf(keys: Keys, parameters: Keys | undefined, known: RopeFacts): number {
  const facts = readAll(known);
  const { dim } = facts;
  let width = facts.rotaryDim;
  let name = keys.at(facts.rotaryKey ?? "head_dim");
  if (width === undefined && keys.has("rotary_dim")) {
    width = keys.whole("rotary_dim");
    name = keys.at("rotary_dim");
  }
  if (width === undefined) {
    const share = shareOf(keys, parameters, facts.share ?? 1);
    width = Math.floor(share * dim);
    const own = parameters?.has("partial_rotary_factor") ? parameters : keys;
    const key = own.which(["partial_rotary_factor", "rotary_pct"]);
    if (key !== undefined) name = own.at(key);
    else if (!keys.has("head_dim")) name = keys.at(keys.which(kWidths) ?? "head_dim");
  }
  if (width > dim) refuse("out-of-range", kSubject, name, `at most the width of a head, ${dim}`, width);
  if (width < 2 || width % 2 !== 0) {
    refuse(
      "out-of-range",
      kSubject,
      name,
      "such that an even number of columns turns",
      verbatim(`${width} of the ${dim} columns of a head`),
    );
  }
  return width;
}

const kFactor = "a number of at least 1";

function factorOf(parameters: Keys, fallback?: number): number {
  return parameters.real("factor", kFactor, (factor) => factor >= 1, fallback);
}

// The trained length: of the rule, or of the model (Phi-3).
function originalOf(keys: Keys, parameters: Keys): number {
  const own = parameters.has("original_max_position_embeddings") ? parameters : keys;
  const from = own.has("original_max_position_embeddings") ? own : parameters;
  return from.whole("original_max_position_embeddings");
}

// How many times the trained length the model reaches, by its own account.
function ratioOf(keys: Keys, original: number): number | undefined {
  const reached = keys.maybe("max_position_embeddings");
  return reached === undefined ? undefined : reached / original;
}

function scalingOf(
  keys: Keys,
  parameters: Keys,
  type: string,
  rotaryDim: number,
): Readonly<Record<string, unknown>> | undefined {
  switch (type) {
    case "linear":
      return { type, factor: factorOf(parameters) };
    case "ntk":
      return { type, factor: factorOf(parameters) };
    case "dynamic":
      return dynamic(keys, parameters);
    case "yarn":
      return yarn(keys, parameters);
    case "llama3": {
      const low = parameters.positive("low_freq_factor");
      const high = parameters.real(
        "high_freq_factor",
        `a number of at least low_freq_factor, ${low}`,
        (factor) => factor >= low,
      );
      return {
        type,
        factor: factorOf(parameters),
        lowFreqFactor: low,
        highFreqFactor: high,
        originalMaxPositionEmbeddings: originalOf(keys, parameters),
      };
    }
    case "longrope":
      return longrope(keys, parameters, rotaryDim);
    default:
      return undefined;
  }
}

function dynamic(keys: Keys, parameters: Keys): Readonly<Record<string, unknown>> {
  if (parameters.has("alpha")) {
    keys.note("A dynamic rope with alpha is the static NTK rule with factor alpha (Hunyuan); factor is not read.");
    return { type: "ntk", factor: parameters.real("alpha", kFactor, (alpha) => alpha >= 1) };
  }
  keys.note(
    "dynamic: transformers recomputes the base for the length of each call, vLLM builds one table for " +
      'factor times the trained length: rope\'s scaling type "dynamic-static".',
  );
  keys.note("dynamic: keys cached at a shorter length were turned with another base.");
  const own = parameters.has("original_max_position_embeddings") ? parameters : keys;
  const maxPositionEmbeddings = own.whole(["original_max_position_embeddings", "max_position_embeddings"]);
  return { type: "dynamic", factor: factorOf(parameters), maxPositionEmbeddings };
}

function yarn(keys: Keys, parameters: Keys): Readonly<Record<string, unknown>> {
  const originalMaxPositionEmbeddings = originalOf(keys, parameters);
  const ratio = ratioOf(keys, originalMaxPositionEmbeddings);
  const factor = factorOf(parameters, ratio !== undefined && ratio >= 1 ? ratio : undefined);
  if (ratio !== undefined && ratio !== factor) {
    keys.note(
      `yarn: the ratio max_position_embeddings / original_max_position_embeddings is ${ratio}, ` +
        `factor ${factor}. Some releases of transformers took the ratio; vLLM and later releases take factor, as here.`,
    );
  }
  const slow = parameters.positive("beta_slow", 1);
  const nonzero = (key: string): number | undefined => {
    const value = parameters.has(key) ? parameters.real(key, "a number from 0", (number) => number >= 0) : 0;
    return value === 0 ? undefined : value;
  };
  const [mscale, mscaleAllDim] = [nonzero("mscale"), nonzero("mscale_all_dim")];
  const attentionFactor = parameters.maybe("attention_factor");
  if (mscale !== undefined && mscaleAllDim !== undefined && attentionFactor === undefined) {
    keys.note(
      "yarn: with mscale and mscale_all_dim cosines and sines are multiplied by the quotient of their two factors " +
        "(transformers, DeepSeek); llama.cpp and exllama have read single models otherwise.",
    );
  }
  if (parameters.has("attn_factor")) {
    keys.note("yarn: attn_factor, which vLLM multiplies into the attention factor, is not read by transformers, nor here.");
  }
  return {
    type: "yarn",
    factor,
    originalMaxPositionEmbeddings,
    betaFast: parameters.real("beta_fast", `a number of at least beta_slow, ${slow}`, (fast) => fast >= slow, 32),
    betaSlow: slow,
    attentionFactor,
    mscale,
    mscaleAllDim,
    truncate: parameters.flag("truncate", true),
  };
}

function longrope(keys: Keys, parameters: Keys, rotaryDim: number): Readonly<Record<string, unknown>> {
  const originalMaxPositionEmbeddings = originalOf(keys, parameters);
  const why = `one for each pair of the ${rotaryDim} columns that turn`;
  const shortFactor = parameters.numbers("short_factor", rotaryDim / 2, why);
  const longFactor = parameters.numbers("long_factor", rotaryDim / 2, why);
  for (const [key, list] of [
    ["short_factor", shortFactor],
    ["long_factor", longFactor],
  ] as const) {
    list.forEach((factor, i) => {
      if (!(factor > 0)) refuse("out-of-range", kSubject, parameters.at(`${key}[${i}]`), "above 0", factor);
    });
  }
  // Phi-3's files have no factor: the lengths say it.
  const ratio = ratioOf(keys, originalMaxPositionEmbeddings);
  const factor = factorOf(parameters, ratio !== undefined && ratio >= 1 ? ratio : undefined);
  let attentionFactor = parameters.maybe("attention_factor");
  if (parameters.has("short_mscale") || parameters.has("long_mscale")) {
    const short = parameters.positive("short_mscale");
    const long = parameters.positive("long_mscale");
    if (short !== long) parameters.unsupported("long_mscale", `other than short_mscale, ${short}, is not expressible`);
    attentionFactor = short;
  }
  keys.note(
    "longrope: up to the trained length the short factors hold, beyond it the long ones, for all tokens; keys cached " +
      "before the switch are stale. vLLM chooses once, by the longest length it may serve.",
  );
  return { type: "longrope", shortFactor, longFactor, originalMaxPositionEmbeddings, factor, attentionFactor };
}

interface TurningFacts {
  readonly dim: number;
  readonly base: number;
  readonly layout: "interleaved" | "half";
  /** Undefined where all columns turn. */
  readonly rotaryDim: number | undefined;
  readonly scaling: Readonly<Record<string, unknown>> | undefined;
}

function mrope(keys: Keys, parameters: Keys, turning: TurningFacts, axes: RopeFacts["axes"]): RotateScheme {
  const { dim, rotaryDim } = turning;
  const pairs = (rotaryDim ?? dim) / 2;
  const interleaved = axes === "interleaved" || parameters.flag("mrope_interleaved", false);
  let sections = [24, 20, 20];
  if (axes === "interleaved" && !parameters.has("mrope_section")) {
    keys.note("mrope_section is left out: [24, 20, 20] was read, the default of transformers' class.");
  } else sections = parameters.numbers("mrope_section", 3, "time's, height's and width's");
  const sum = sections.reduce((total, section) => total + section, 0);
  if (sum !== pairs || sections.some((section) => section < 0 || !Number.isInteger(section))) {
    refuse(
      "shape-mismatch",
      kSubject,
      parameters.at("mrope_section"),
      `whole numbers of pairs that make ${pairs} together, half ` +
        (rotaryDim === undefined ? "the width of a head" : `the ${rotaryDim} columns that turn`),
      verbatim(`[${sections.join(", ")}], ${sum} together`),
    );
  }
  keys.note("Positions have three axes, time, height and width: multimodalPositions() makes them.");
  return make("rotate", "mrope", { ...turning, sections, interleaved });
}
