// Decoders that turn queries and keys, or add a penalty of the distance.
import { frequencies } from "../frequencies.js";
import { readAll, refuse } from "../error.js";
import type { RotateScheme } from "../scheme.js";
import { alibi } from "./alibi.js";
import { type Keys, headCount, headWidth, kSubject, layerCount, usualScale } from "./keys.js";
import { make } from "./make.js";
import type { LayerPositions, Reading } from "./result.js";
import { type RopeFacts, rope, rotaryOf } from "./rope.js";

const kKinds = ["full_attention", "sliding_attention", "chunked_attention"];

interface DecoderFacts {
  readonly layout: "interleaved" | "half";
  /** Further facts of the rotation of one kind of layer. */
  readonly rope?: (kind: string) => Partial<RopeFacts>;
  /** The kinds of layers where the config has no layer_types. */
  readonly kinds?: (layer: number) => string;
  /** What sliding layers see. */
  readonly window?: number;
  /** Width of a head in one kind of layer. */
  readonly headDim?: (kind: string) => number;
  readonly scale?: number;
  readonly softcap?: number;
  /** True unless every token sees both sides. */
  readonly causal?: boolean;
}

// One entry a kind of layer, shared by all its layers; `layers` only where kinds differ.
function layered(
  keys: Keys,
  kinds: readonly string[],
  entryOf: (kind: string) => LayerPositions,
): Pick<Reading, "layers" | "layerTypes" | "byLayerType"> & { full: LayerPositions; uniform: boolean } {
  const byKind = new Map([...new Set(kinds)].map((kind) => [kind, Object.freeze(entryOf(kind))]));
  const full = readAll(byKind.get("full_attention") ?? byKind.get(kinds[0]!)!);
  if (byKind.size === 1) return { full, uniform: true };
  const layers = kinds.map((kind) => byKind.get(kind)!);
  return { full, uniform: false, layerTypes: kinds, byLayerType: Object.fromEntries(byKind), layers };
}

function kindsOf(keys: Keys, kinds: ((layer: number) => string) | undefined): readonly string[] {
  const count = layerCount(keys);
  const given = keys.words("layer_types", count, kKinds);
  return given ?? Array.from({ length: count }, (_, layer) => kinds?.(layer) ?? "full_attention");
}

function kvHeads(keys: Keys, heads: number): number {
  const names = ["num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num"];
  const count = keys.maybe(names, "whole") ?? heads;
  if (heads % count !== 0) {
    refuse("out-of-range", kSubject, keys.at(keys.which(names)!), `a divisor of the ${heads} heads`, count);
  }
  return count;
}

function decoder(keys: Keys, known: DecoderFacts): Reading {
  const facts = readAll(known);
  const heads = headCount(keys);
  const widthOf = facts.headDim ?? (() => headWidth(keys));
  const { full, uniform, ...layers } = layered(keys, kindsOf(keys, facts.kinds), (kind) => ({
    rotate: rope(keys, { dim: widthOf(kind), layout: facts.layout, layerType: kind, ...facts.rope?.(kind) }),
    ...(kind === "sliding_attention" && facts.window !== undefined ? { window: facts.window } : {}),
  }));
  const headDim = widthOf("full_attention");
  if (facts.causal !== false && facts.window !== undefined && (!uniform || full.window !== undefined)) noteWindow(keys);
  return {
    ...(full.rotate === undefined ? {} : { rotate: full.rotate }),
    ...layers,
    heads,
    kvHeads: kvHeads(keys, heads),
    headDim,
    attention: {
      scale: facts.scale ?? usualScale(headDim),
      ...(facts.causal === false ? {} : { causal: true }),
      ...(facts.softcap === undefined ? {} : { softcap: facts.softcap }),
      ...(uniform && full.window !== undefined ? { window: full.window } : {}),
    },
  };
}

function noteWindow(keys: Keys): void {
  keys.note(
    "sliding_window counts the query itself, as transformers' masks do; code that hands it to FlashAttention unchanged " +
      "lets one more key through.",
  );
}

// Layers all alike, which slide where sliding_window says so.
function sliding(keys: Keys, facts: DecoderFacts): Reading {
  const window = keys.maybe("sliding_window", "whole");
  if (window === undefined) return decoder(keys, facts);
  return decoder(keys, { kinds: () => "sliding_attention", ...facts, window });
}

function noteHalf(keys: Keys): void {
  keys.note(
    "The pairing is that of the weights in Hugging Face's format, half; Meta's and Mistral's own files pair neighbours.",
  );
}

export function llama(keys: Keys): Reading {
  noteHalf(keys);
  return decoder(keys, { layout: "half" });
}

export function mistral(keys: Keys): Reading {
  noteHalf(keys);
  const parameters = keys.inner("rope_parameters") ?? keys.inner("rope_scaling");
  if (parameters?.has("llama_4_scaling_beta")) {
    keys.note(
      "llama_4_scaling_beta: queries are also multiplied by 1 + beta log(1 + floor(t / original length)), which is not " +
        "in rotate: queryScale counts t + 1.",
    );
  }
  return sliding(keys, { layout: "half" });
}

/** Llama 4: some layers turn, in chunks; the others see everything, unturned, with scaled queries. */
export function llama4(keys: Keys): Reading {
  const heads = headCount(keys);
  const headDim = headWidth(keys);
  const count = layerCount(keys);
  // 1: the layer turns. An empty list stands for the rule.
  const list = keys.values["no_rope_layers"];
  const listed = keys.has("no_rope_layers") && !(Array.isArray(list) && list.length === 0);
  const every = keys.whole("no_rope_layer_interval", 4);
  const turns = listed
    ? keys.numbers("no_rope_layers", count, "one a layer, 1 where it turns")
    : Array.from({ length: count }, (_, layer) => Number((layer + 1) % every !== 0));
  const chunkSize = keys.maybe("attention_chunk_size", "whole");
  const turned = rope(keys, { dim: headDim, layout: "interleaved", base: 500000 });
  const tuned = keys.flag("attn_temperature_tuning", true);
  const scaled = tuned
    ? make("rotate", "queryScale", {
        law: "llama4",
        floorScale: keys.positive("floor_scale", 8192),
        attnScale: keys.positive("attn_scale", 0.1),
      })
    : undefined;
  const kinds = turns.map((turn) => (turn !== 0 ? "chunked_attention" : "full_attention"));
  const { full, uniform, ...layers } = layered(keys, kinds, (kind) => {
    if (kind === "chunked_attention") return { rotate: turned };
    return scaled === undefined ? {} : { rotate: scaled };
  });
  keys.note("Layers without rotation (NoPE) see everything; those with it see their chunk of chunkSize tokens: a mask.");
  keys.note("The pairing is interleaved, also in Hugging Face's weights.");
  if (keys.flag("use_qk_norm", true)) {
    keys.note("use_qk_norm: turned queries and keys are normalised after the rotation.");
  }
  return {
    rotate: turned,
    ...layers,
    ...(chunkSize === undefined ? {} : { chunkSize }),
    heads,
    kvHeads: kvHeads(keys, heads),
    headDim,
    attention: { scale: usualScale(headDim), causal: true },
  };
}

export function qwen2(keys: Keys, axes?: RopeFacts["axes"]): Reading {
  const facts: DecoderFacts = { layout: "half", rope: () => (axes === undefined ? {} : { axes }) };
  const slides = keys.flag("use_sliding_window", false) && keys.has("sliding_window");
  if (!slides) return decoder(keys, facts);
  const first = keys.whole("max_window_layers", 28, 0);
  keys.note(
    "max_window_layers: layers from that number on slide, as in transformers; Qwen's description said that those below it do.",
  );
  return decoder(keys, {
    ...facts,
    window: keys.whole("sliding_window"),
    kinds: (layer) => (layer >= first ? "sliding_attention" : "full_attention"),
  });
}

/** Qwen2-VL and Qwen2.5-VL. */
export const qwen2Vl = (keys: Keys): Reading => qwen2(keys, "runs");

/** Qwen3-VL, whose class deals pairs in turn whatever mrope_interleaved says. */
export const qwen3Vl = (keys: Keys): Reading => qwen2(keys, "interleaved");

/** Qwen's first generation: a base by the length of the call, queries scaled by log n. */
export function qwen1(keys: Keys): Reading {
  const heads = headCount(keys);
  const headDim = keys.maybe("kv_channels", "whole") ?? headWidth(keys);
  const trainLength = keys.whole("seq_length");
  const dynamic = keys.flag("use_dynamic_ntk", false);
  const turned: RotateScheme = dynamic
    ? make("rotate", "rope", {
        dim: headDim,
        layout: "half",
        base: keys.positive(["rotary_emb_base", "rope_theta"], 10000),
        rotaryDim: rotaryOf(keys, undefined, { dim: headDim, layout: "half" }),
        scaling: { type: "qwen", trainLength },
      })
    : rope(keys, { dim: headDim, layout: "half" });
  if (dynamic) {
    keys.note("use_dynamic_ntk: the factor grows by steps, 2^ceil(log2(length / seq_length) + 1) - 1, from seq_length on.");
  }
  const logn = keys.flag("use_logn_attn", false);
  if (logn) keys.note("use_logn_attn: queries from seq_length on are multiplied by log(position) / log(seq_length).");
  const rotate = logn ? [turned, make("rotate", "queryScale", { law: "logn", trainLength })] : turned;
  return { rotate, heads, headDim, attention: { scale: usualScale(headDim), causal: true } };
}

export function gemma(keys: Keys): Reading {
  return decoder(keys.over({ head_dim: 256 }), { layout: "half" });
}

const kEvery = (period: number) => (layer: number) =>
  (layer + 1) % period === 0 ? "full_attention" : "sliding_attention";

// query_pre_attn_scalar takes the place of the width under the root.
function queryScale(keys: Keys): number {
  return usualScale(keys.positive("query_pre_attn_scalar", 256));
}

export function gemma2(keys: Keys): Reading {
  const full = keys.over({ head_dim: 256, sliding_window: 4096, attn_logit_softcapping: 50 });
  const softcap = full.maybe("attn_logit_softcapping");
  if (softcap) full.note("attn_logit_softcapping: runs through PyTorch's SDPA left it out in some releases.");
  return decoder(full, {
    layout: "half",
    kinds: kEvery(2),
    window: full.whole("sliding_window"),
    scale: queryScale(full),
    softcap,
  });
}

// The window; where every token sees both sides (EmbeddingGemma), transformers halves it: |i - j| <= floor(w / 2).
function sighted(keys: Keys, both: boolean): Pick<DecoderFacts, "window" | "causal"> {
  const window = keys.whole("sliding_window");
  if (!both) return { window };
  keys.note("use_bidirectional_attention: tokens see both sides, in sliding layers half of sliding_window on each.");
  return { window: Math.floor(window / 2) + 1, causal: false };
}

/** Gemma 3: one layer in six sees everything, with another base. Published files leave the class's defaults out. */
export function gemma3(keys: Keys): Reading {
  const full = keys.over({
    num_hidden_layers: 26,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    hidden_size: 2304,
    head_dim: 256,
    sliding_window: 4096,
  });
  return decoder(full, {
    layout: "half",
    kinds: kEvery(full.whole(["sliding_window_pattern", "_sliding_window_pattern"], 6)),
    ...sighted(full, full.flag("use_bidirectional_attention", false)),
    scale: queryScale(full),
    softcap: full.maybe("attn_logit_softcapping"),
    rope: (kind) =>
      kind === "sliding_attention"
        ? { base: 10000, localBase: "rope_local_base_freq" }
        : { base: 1000000 },
  });
}

export function gemma3n(keys: Keys): Reading {
  const full = keys.over({ head_dim: 256, sliding_window: 512 });
  full.note("Queries and keys are normalised, so that the scale is 1.");
  return decoder(full, {
    layout: "half",
    kinds: kEvery(5),
    window: full.whole("sliding_window"),
    scale: 1,
    rope: (kind) =>
      kind === "sliding_attention"
        ? { base: 10000, localBase: "rope_local_base_freq" }
        : { base: 1000000 },
  });
}

/** Gemma 4: wider heads in the layers that see everything, whose first quarter of the pairs turns. */
export function gemma4(keys: Keys): Reading {
  const full = keys.over({
    num_hidden_layers: 30,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    head_dim: 256,
    global_head_dim: 512,
    sliding_window: 512,
    rope_parameters: {
      sliding_attention: { rope_type: "default", rope_theta: 10000 },
      full_attention: { rope_type: "proportional", partial_rotary_factor: 0.25, rope_theta: 1000000 },
    },
  });
  full.note("Queries and keys are normalised, so that the scale is 1.");
  const reading = decoder(full, {
    layout: "half",
    kinds: (layer) => (layer === layerCount(full) - 1 ? "full_attention" : kEvery(6)(layer)),
    // "vision": pictures' tokens only, which no option of a layer says.
    ...sighted(full, full.values["use_bidirectional_attention"] === "all"),
    scale: 1,
    headDim: (kind) => full.whole(kind === "full_attention" ? "global_head_dim" : "head_dim"),
  });
  full.note(
    `headDim and kvHeads are those of the layers that see everything; in the others a head is ${full.whole("head_dim")} ` +
      `wide, and there are ${full.whole("num_key_value_heads")} of keys.`,
  );
  return { ...reading, kvHeads: full.maybe("num_global_key_value_heads", "whole") ?? reading.kvHeads! };
}

/** Phi, Phi-1.5, Phi-2. */
export function phi(keys: Keys): Reading {
  return decoder(keys, { layout: "half", rope: () => ({ share: 0.5 }) });
}

export function phi3(keys: Keys): Reading {
  return sliding(keys, { layout: "half" });
}

/** DeepSeek's latent attention: a head has columns that turn and columns that do not. */
export function deepseek(keys: Keys): Reading {
  const heads = headCount(keys);
  const turning = keys.whole("qk_rope_head_dim");
  const still = keys.whole("qk_nope_head_dim", undefined, 0);
  const headDim = turning + still;
  const interleaved = keys.flag("rope_interleave", true);
  const rotate = rope(keys, {
    dim: headDim,
    rotaryDim: turning,
    rotaryKey: "qk_rope_head_dim",
    layout: interleaved ? "interleaved" : "half",
  });
  keys.note(
    `The ${turning} columns that turn come first here; the weights have them after the ${still} that do not. Scores do ` +
      "not depend on the order of columns if queries and keys share it.",
  );
  const parameters = keys.inner("rope_parameters") ?? keys.inner("rope_scaling");
  let scale = usualScale(headDim);
  const { softmaxScale } = readAll(frequencies(rotate));
  if (softmaxScale !== undefined && softmaxScale !== 1 && parameters?.has("mscale_all_dim")) {
    scale *= softmaxScale;
    keys.note(
      "mscale_all_dim: the scale is multiplied by the square of 0.1 mscale_all_dim ln(factor) + 1, as in DeepSeek's own " +
        "code; transformers' DeepseekV2Attention left it out in some releases.",
    );
  }
  return {
    rotate,
    heads,
    kvHeads: kvHeads(keys, heads),
    headDim,
    valueDim: keys.whole("v_head_dim", headDim),
    attention: { scale, causal: true },
  };
}

export function gptOss(keys: Keys): Reading {
  keys.note("Each head has a sink, a learned score in the denominator only: self_attn.sinks of the weights, as `sinks`.");
  return decoder(keys, {
    layout: "half",
    window: keys.whole("sliding_window", 128),
    kinds: (layer) => (layer % 2 === 0 ? "sliding_attention" : "full_attention"),
    rope: () => ({ base: 150000 }),
  });
}

export function gptj(keys: Keys): Reading {
  return decoder(keys, { layout: "interleaved" });
}

export function gptNeox(keys: Keys): Reading {
  return decoder(keys, { layout: "half", rope: () => ({ share: 0.25 }) });
}

/** GLM in transformers' own classes: GLM-4 pairs neighbours, GLM-4.5 halves. */
export function glm(keys: Keys): Reading {
  return decoder(keys, { layout: "interleaved", rope: () => ({ share: 0.5 }) });
}

export function glmMoe(keys: Keys): Reading {
  keys.note("GLM-4.5 pairs columns half the turning width apart, GLM-4 neighbours.");
  return decoder(keys, { layout: "half", rope: () => ({ share: 0.5 }) });
}

/** ChatGLM2, ChatGLM3 and GLM-4 in their first format: half of the columns turns; rope_ratio multiplies the base. */
export function chatglm(keys: Keys): Reading {
  if (keys.flag("position_encoding_2d", false)) {
    keys.unsupported("position_encoding_2d", "true (ChatGLM-6B's two positions a token) is not expressible");
  }
  const heads = headCount(keys);
  const headDim = keys.maybe("kv_channels", "whole") ?? headWidth(keys);
  if (headDim % 4 !== 0) {
    refuse("out-of-range", kSubject, keys.at("kv_channels"), "a multiple of 4, as half of it turns in pairs", headDim);
  }
  const ratio = keys.positive("rope_ratio", 1);
  if (ratio !== 1) keys.note("rope_ratio multiplies the base, 10000; ChatGLM2-6B-32k's code divided positions by it.");
  const rotate = make("rotate", "rope", {
    dim: headDim,
    rotaryDim: headDim / 2,
    base: 10000 * ratio,
    layout: "interleaved",
  });
  const groups = keys.flag("multi_query_attention", false) ? keys.whole("multi_query_group_num") : heads;
  return { rotate, heads, kvHeads: groups, headDim, attention: { scale: usualScale(headDim), causal: true } };
}

export function falcon(keys: Keys): Reading {
  if (!keys.flag("alibi", false)) return decoder(falconHeads(keys), { layout: "half" });
  const heads = headCount(keys);
  const headDim = headWidth(keys);
  const scale = usualScale(headDim);
  keys.note(
    "Falcon multiplies the penalty by the scale of the scores too, transformers and vLLM alike; transformers rounds " +
      "slopes to bfloat16 first.",
  );
  return {
    bias: alibi(keys, heads, 8, scale),
    heads,
    kvHeads: falconHeads(keys).whole("num_kv_heads"),
    headDim,
    attention: { scale, causal: true },
  };
}

// Before Falcon-40B's decoder one flag said whether all heads share a key.
function falconHeads(keys: Keys): Keys {
  const shared = !keys.flag("new_decoder_architecture", false) && keys.flag("multi_query", true);
  const heads = headCount(keys);
  const own = keys.maybe(["num_kv_heads", "n_head_kv"], "whole") ?? heads;
  return keys.with({ num_kv_heads: shared ? 1 : keys.flag("new_decoder_architecture", false) ? own : heads });
}

export function bloom(keys: Keys): Reading {
  const heads = headCount(keys);
  const headDim = headWidth(keys);
  keys.note("BLOOM adds slope times the key's position: the same softmax under the causal mask.");
  return { bias: alibi(keys, heads), heads, headDim, attention: { scale: usualScale(headDim), causal: true } };
}

export function mpt(keys: Keys): Reading {
  const heads = headCount(keys);
  const headDim = headWidth(keys, ["d_model", "hidden_size"]);
  const own = keys.inner("attn_config") ?? keys;
  const scale = own.maybe("softmax_scale") ?? usualScale(headDim);
  const shared = own.text("attn_type") === "multiquery_attention";
  // -1: none. The query itself is not counted.
  const window = own.whole("sliding_window_size", -1, -1) + 1;
  const rest = {
    heads,
    kvHeads: shared ? 1 : (own.maybe("kv_n_heads", "whole") ?? heads),
    headDim,
    attention: { scale, causal: true, ...(window > 0 ? { window } : {}) },
  };
  const turns = own.flag("rope", false);
  const silent = !turns && own.values["alibi"] === undefined;
  if (silent) keys.note("attn_config.alibi is left out: true, as in transformers' class; in MosaicML's own it is false.");
  if (own.flag("alibi", silent)) {
    const steepest = own.positive("alibi_bias_max", 8);
    return { bias: alibi(keys, heads, steepest), ...rest };
  }
  if (turns) {
    return { rotate: rope(own, { dim: headDim, layout: "half" }), ...rest };
  }
  keys.note("The table is learned: transformer.wpe.weight of the weights.");
  const embed = make("embed", "learned", { length: keys.whole("max_seq_len"), dim: keys.whole(["d_model"]) });
  return { embed, ...rest };
}

/** Baichuan: the small model turns, the large one has a penalty; the config says it by the width only. */
export function baichuan(keys: Keys): Reading {
  const heads = headCount(keys);
  const headDim = headWidth(keys);
  const width = keys.whole("hidden_size");
  const penalised = width !== 4096;
  const means = penalised ? "ALiBi" : "RoPE";
  keys.note(`No key says which positions Baichuan has; as in vLLM its hidden_size does: ${width} means ${means}.`);
  if (!penalised) return decoder(keys, { layout: "half" });
  return { bias: alibi(keys, heads), heads, headDim, attention: { scale: usualScale(headDim), causal: true } };
}
