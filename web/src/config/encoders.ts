// Models with tables of positions, with buckets of distances, or with both.
import { refuse } from "../error.js";
import type { EmbedScheme } from "../scheme.js";
import { type Keys, headCount, headWidth, kSubject, layerCount, usualScale } from "./keys.js";
import { make } from "./make.js";
import type { PartPositions, Reading } from "./result.js";

function table(keys: Keys, length: number, dim: number, tensor: string): EmbedScheme {
  keys.note(`A learned table, seeded here: ${tensor} of the weights, [${length}, ${dim}].`);
  return make("embed", "learned", { length, dim });
}

export function gpt2(keys: Keys): Reading {
  const heads = headCount(keys);
  const headDim = headWidth(keys);
  const length = keys.whole(["n_positions", "max_position_embeddings", "n_ctx"]);
  const embed = table(keys, length, keys.whole(["n_embd", "hidden_size"]), "wpe.weight");
  const scale = keys.flag("scale_attn_weights", true) ? usualScale(headDim) : 1;
  const shared = keys.flag("multi_query", false) ? 1 : heads;
  const layers = keys.flag("scale_attn_by_inverse_layer_idx", false)
    ? Array.from({ length: layerCount(keys) }, (_, layer) => ({ scale: scale / (layer + 1) }))
    : undefined;
  if (layers !== undefined) keys.note("scale_attn_by_inverse_layer_idx: layer l divides its scale by l + 1.");
  return {
    embed,
    ...(layers === undefined ? {} : { layers }),
    heads,
    kvHeads: shared,
    headDim,
    attention: { scale, causal: true },
  };
}

// Kinds, and how often they follow: [[["global", "local"], 12]]. Written out only until they are too many.
function attentionTypes(keys: Keys, count: number): Keys {
  const given = keys.values["attention_types"];
  const kinds: unknown[] = [];
  for (const entry of Array.isArray(given) ? (given as unknown[]) : [given]) {
    const [words, times]: unknown[] = Array.isArray(entry) ? entry : [];
    if (!Array.isArray(words) || words.length === 0 || typeof times !== "number") {
      refuse("shape-mismatch", kSubject, keys.at("attention_types"), "a list of pairs [kinds, times]", given);
    }
    for (let i = 0; i < times && kinds.length <= count; i++) kinds.push(...(words as unknown[]).slice(0, count + 1));
  }
  return keys.with({ attention_types: kinds });
}

/** GPT-Neo: scores are not scaled, and every other layer sees a window. */
export function gptNeo(keys: Keys): Reading {
  const heads = headCount(keys);
  const width = keys.whole("hidden_size");
  const window = keys.whole("window_size", 256);
  const count = layerCount(keys);
  const written = keys.has("attention_types") && !keys.has("attention_layers");
  const [key, own] = written ? ["attention_types", attentionTypes(keys, count)] : ["attention_layers", keys];
  const given = own.words(key, count, ["global", "local"]);
  const types = (given ?? Array.from({ length: count }, (_, layer) => (layer % 2 === 0 ? "global" : "local"))).map(
    (kind) => (kind === "local" ? "sliding_attention" : "full_attention"),
  );
  keys.note("GPT-Neo does not scale its scores: the scale is 1.");
  return {
    embed: table(keys, keys.whole("max_position_embeddings"), width, "wpe.weight"),
    layerTypes: types,
    layers: types.map((type) => (type === "sliding_attention" ? { window } : {})),
    heads,
    headDim: headWidth(keys),
    attention: { scale: 1, causal: true },
  };
}

const kOffset = 2;

export function opt(keys: Keys): Reading {
  const length = keys.whole("max_position_embeddings") + kOffset;
  const headDim = headWidth(keys);
  keys.note("Positions count the tokens that are not padding, from 2 on: fairseqPositions(tokens, 1).");
  return {
    embed: table(keys, length, keys.whole("hidden_size"), "decoder.embed_positions.weight"),
    firstPosition: kOffset,
    padIndex: 1,
    heads: headCount(keys),
    headDim,
    attention: { scale: usualScale(headDim), causal: true },
  };
}

export function bart(keys: Keys): Reading {
  const width = keys.whole("d_model");
  const length = keys.whole("max_position_embeddings") + kOffset;
  const part = (side: "encoder" | "decoder", causal: boolean): PartPositions & { heads: number; headDim: number } => {
    const key = `${side}_attention_heads`;
    const heads = keys.whole(key);
    if (width % heads !== 0) refuse("out-of-range", kSubject, keys.at(key), `a divisor of d_model, ${width}`, heads);
    const attention = { scale: usualScale(width / heads), ...(causal ? { causal } : {}) };
    return {
      embed: table(keys, length, width, `model.${side}.embed_positions.weight`),
      attention,
      heads,
      headDim: width / heads,
    };
  };
  const { heads, headDim, ...encoder } = part("encoder", false);
  const decoder = part("decoder", true);
  keys.note("Positions start at row 2. transformers counts padding too, fairseq skips it.");
  return {
    ...encoder,
    heads,
    headDim,
    firstPosition: kOffset,
    parts: {
      encoder,
      decoder: { embed: decoder.embed!, attention: decoder.attention },
      cross: { attention: { scale: usualScale(decoder.headDim) } },
    },
  };
}

// Positions of BERT's family: absolute, or by offset.
function bertLike(keys: Keys, length: number): Reading {
  const heads = headCount(keys);
  const headDim = headWidth(keys);
  const width = keys.whole("hidden_size");
  const kind = keys.text("position_embedding_type") ?? "absolute";
  const rest = {
    heads,
    headDim,
    attention: { scale: usualScale(headDim), ...(keys.flag("is_decoder", false) ? { causal: true } : {}) },
    ...segmentsOf(keys, width),
  };
  switch (kind) {
    case "absolute":
      return { embed: table(keys, length, width, "embeddings.position_embeddings.weight"), ...rest };
    case "relative_key":
      keys.note(
        "relative_key is Shaw's term on the keys; the weights' rows count query - key, from -(length - 1): give keys with " +
          "its rows reversed.",
      );
      return {
        relate: make("relate", "shaw", {
          dim: headDim,
          clip: keys.whole("max_position_embeddings") - 1,
          values: false,
        }),
        ...rest,
      };
    case "relative_key_query":
      keys.unsupported("position_embedding_type", '"relative_key_query" (a second term, on the queries) is not expressible');
      break;
    default:
      return refuse(
        "unknown-choice",
        kSubject,
        keys.at("position_embedding_type"),
        '"absolute", "relative_key" or "relative_key_query"',
        kind,
      );
  }
}

function segmentsOf(keys: Keys, width: number): { segments?: EmbedScheme } {
  const count = keys.has("type_vocab_size") ? keys.whole("type_vocab_size", undefined, 0) : 0;
  if (count < 2) return {};
  return { segments: make("embed", "learned", { length: count, dim: width }) };
}

export function bert(keys: Keys): Reading {
  return bertLike(keys, keys.whole("max_position_embeddings"));
}

/** RoBERTa: rows up to the padding's are never a token's. */
export function roberta(keys: Keys): Reading {
  const padIndex = keys.whole("pad_token_id", 1, 0);
  const length = keys.whole("max_position_embeddings");
  keys.note(
    `Positions count the tokens that are not padding, from ${padIndex + 1} on: fairseqPositions(tokens, ${padIndex}); ` +
      `${length} rows hold ${length - padIndex - 1} tokens.`,
  );
  return { ...bertLike(keys, length), firstPosition: padIndex + 1, padIndex };
}

/** DeBERTa, and DeBERTa-v2 and v3 with buckets: content and position meet in up to two terms. */
export function deberta(keys: Keys): Reading {
  const heads = headCount(keys);
  const headDim = headWidth(keys);
  const width = keys.whole("hidden_size");
  const length = keys.whole("max_position_embeddings");
  const absolute = keys.flag("position_biased_input", true)
    ? { embed: table(keys, length, width, "embeddings.position_embeddings.weight") }
    : {};
  const rest = { heads, headDim, ...absolute, ...segmentsOf(keys, width) };
  if (!keys.flag("relative_attention", false)) return { ...rest, attention: { scale: usualScale(headDim) } };
  const terms = termsOf(keys);
  if (terms.length === 0) return { ...rest, attention: { scale: usualScale(headDim) } };
  const told = keys.has("max_relative_positions") ? keys.real("max_relative_positions", "a number", () => true) : -1;
  const span = told >= 1 ? told : length;
  const buckets = keys.has("position_buckets") ? keys.real("position_buckets", "a number", () => true) : -1;
  keys.note("rel_embeddings.weight of the weights is shared by all layers, each of which projects it; offsets are query - key.");
  if (terms.includes("p2c")) {
    keys.note('p2c: the paper takes the offset of the key to the query, checkpoints the other: p2cRow is "code".');
  }
  if (buckets > 0) keys.note(`Offsets beyond ${buckets / 2} share buckets, evenly in their logarithm up to ${span}.`);
  return {
    ...rest,
    relate: make("relate", "deberta", {
      heads,
      dim: headDim,
      span,
      buckets: buckets > 0 ? buckets : undefined,
      terms: terms.length === 2 ? "c2p+p2c" : terms[0],
      p2cRow: "code",
    }),
    attention: { scale: usualScale(headDim * (1 + terms.length)) },
  };
}

function termsOf(keys: Keys): string[] {
  const value = keys.has("pos_att_type") ? keys.values["pos_att_type"] : [];
  const terms = typeof value === "string" ? value.split("|") : Array.isArray(value) ? (value as unknown[]) : [value];
  const words = terms.map((term) => (typeof term === "string" ? term.trim().toLowerCase() : term));
  for (const word of words) {
    if (word === "p2p") keys.unsupported("pos_att_type", "with p2p (position meets position) is not expressible");
    if (word !== "c2p" && word !== "p2c") {
      const allowed = '"c2p", "p2c" or both, in a list or split by |';
      refuse("unknown-choice", kSubject, keys.at("pos_att_type"), allowed, value);
    }
  }
  return [...new Set(words as string[])];
}

/** T5, mT5, UMT5: a bias by bucket in self-attention only, and scores that are not scaled. */
export function t5(keys: Keys): Reading {
  const heads = headCount(keys);
  const buckets = keys.whole("relative_attention_num_buckets", 32);
  const maxDistance = keys.whole("relative_attention_max_distance", 128);
  const bias = (bidirectional: boolean): PartPositions["bias"] =>
    make("bias", "t5", { heads, buckets, maxDistance, bidirectional });
  const encoder = { bias: bias(true)!, attention: { scale: 1 } };
  const decoder = { bias: bias(false)!, attention: { scale: 1, causal: true } };
  keys.note("T5 does not scale its scores: the scale is 1. Cross-attention has no bias.");
  keys.note(
    keys.text("model_type") === "umt5"
      ? "Weights: relative_attention_bias.weight of every layer, [buckets, heads]."
      : "Weights: relative_attention_bias.weight of the first layer, [buckets, heads], which all layers share.",
  );
  return {
    ...encoder,
    heads,
    headDim: keys.whole("d_kv", 64),
    parts: { encoder, decoder, cross: { attention: { scale: 1 } } },
  };
}

export function transfoXl(keys: Keys): Reading {
  const heads = headCount(keys);
  const dim = keys.whole("d_head");
  if (keys.has("attn_type") && keys.whole("attn_type", 0, 0) !== 0) {
    keys.unsupported("attn_type", "other than 0 is not expressible");
  }
  const clamp = keys.has("clamp_len") ? keys.real("clamp_len", "a number", () => true) : -1;
  if (clamp > 0) keys.note(`clamp_len: distances beyond ${clamp} count as ${clamp} in the weights' model, not here.`);
  if (keys.flag("same_length", false))
    keys.note("same_length: each query sees as many keys, the last mem_len, which is a window; here it sees all before it.");
  keys.note("u, v and wr are learned: r_w_bias, r_r_bias and r_net.weight of the weights.");
  if (keys.has("mem_len")) keys.note(`Keys are the memory, ${keys.whole("mem_len", 0, 0)} tokens, and the segment.`);
  return {
    relate: make("relate", "transformerXL", { heads, dim }),
    heads,
    headDim: dim,
    attention: { scale: usualScale(dim), causal: true },
  };
}
