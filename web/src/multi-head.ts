// Attention with its projections: tokens in, tokens out.
import { type AttentionOptions, type AttentionResult, kAttentionOptions, readAsked } from "./attention.js";
import { embed } from "./embed.js";
import { printedShape, refuse, refuseMissing, verbatim } from "./error.js";
import { Frame, type Place } from "./module.js";
import { readOptions, readWhole } from "./options.js";
import type { Positions } from "./positions.js";
import { type EmbedScheme, readSchemes } from "./scheme.js";
import {
  type ReadArray,
  Tensor,
  type TensorLike,
  allowedSize,
  asFloat32,
  float32Tensor,
  product,
  readNumbers,
  readOut,
  tensor,
} from "./tensor.js";

/** Options of {@link multiHeadAttention}: the weights, and those of `attention()`. */
export interface MultiHeadAttentionOptions extends AttentionOptions {
  /** [dModel, heads * d]: queries are x @ wq. Columns of a head lie together. (PyTorch keeps the transpose.) */
  readonly wq: TensorLike;
  /** [dModel, kvHeads * d], or [dContext, …] beside a context. */
  readonly wk: TensorLike;
  /** [dModel, kvHeads * dv], or [dContext, …] beside a context. */
  readonly wv: TensorLike;
  /** [heads * dv, dOut]: the joined heads @ wo are the result. */
  readonly wo: TensorLike;
  /** Added to queries, keys, values and result, each as long as its weights have columns. Default none. */
  readonly bq?: TensorLike;
  readonly bk?: TensorLike;
  readonly bv?: TensorLike;
  readonly bo?: TensorLike;
  /** Heads of the queries. */
  readonly heads: number;
  /** Heads of keys and values; divides `heads`. Default `heads`. */
  readonly kvHeads?: number;
  /** Schemes that are added to x, at the positions of the queries, before it is projected. */
  readonly embed?: EmbedScheme | readonly EmbedScheme[];
  /** Tokens that keys and values come from (cross-attention), [Tk, dContext] or [B, Tk, dContext]. Default x. */
  readonly context?: TensorLike;
}

const kSubject = "multiHeadAttention";
const kOwnOptions = ["wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo", "heads", "kvHeads", "embed", "context"] as const;

/**
 * x, [T, dModel] or [B, T, dModel], through projections and attention: `out` is [..., T, dOut]; `lse`, `weights` and
 * `trace` are those of `attention()`, [heads, T, …] or [B, heads, T, …]. A token that sees no key gets `bo`.
 *
 * Errors: those of `attention()`; `shape-mismatch` where weights do not fit x, each other or the heads.
 */
export function multiHeadAttention(x: TensorLike, options: MultiHeadAttentionOptions): AttentionResult {
  const given = readOptions(kSubject, options, [...kOwnOptions, ...kAttentionOptions]);
  const tokens = readTokens("x", x);
  const rank = tokens.shape.length;
  const [queries, width] = tokens.shape.slice(-2) as [number, number];
  const batch = rank === 3 ? tokens.shape[0]! : 1;
  const context = given.context === undefined ? undefined : readTokens("context", given.context);
  if (context !== undefined && (context.shape.length !== rank || (rank === 3 && context.shape[0] !== batch))) {
    const allowed = rank === 3 ? `of shape [${batch}, Tk, dContext], as x is` : "of shape [Tk, dContext], as x is";
    refuse("shape-mismatch", kSubject, "context", allowed, verbatim(`shape ${printedShape(context.shape)}`));
  }
  const [keys, contextWidth] = (context ?? tokens).shape.slice(-2) as [number, number];

  const allowedHeads = "a whole number from 1";
  const readHeads = (name: "heads" | "kvHeads", fallback?: number): number => {
    const heads = readWhole(kSubject, name, given[name], allowedHeads, 2 ** 32, fallback);
    if (heads < 1) refuse("out-of-range", kSubject, name, allowedHeads, heads);
    return heads;
  };
  const heads = readHeads("heads");
  const kvHeads = readHeads("kvHeads", heads);
  if (heads % kvHeads !== 0) {
    refuse("shape-mismatch", kSubject, "kvHeads", `a number that divides the ${heads} heads`, kvHeads);
  }
  const wq = readWeights(given, "wq", width, heads);
  const headWidth = wq.columns / heads;
  const wk = readWeights(given, "wk", contextWidth, kvHeads, kvHeads * headWidth);
  const wv = readWeights(given, "wv", contextWidth, kvHeads);
  const valueWidth = wv.columns / kvHeads;
  const wo = readWeights(given, "wo", heads * valueWidth, 1);
  const biases = {
    bq: readBias(given, "bq", wq.columns),
    bk: readBias(given, "bk", wk.columns),
    bv: readBias(given, "bv", wv.columns),
    bo: readBias(given, "bo", wo.columns),
  };

  const leading = rank === 3 ? [batch, heads] : [heads];
  const asked = readAsked(given, { leading, batch, heads, kvHeads, queries, keys, width: headWidth, valueWidth });
  const outShape = [...tokens.shape.slice(0, -1), wo.columns];
  const outSize = allowedSize(kSubject, "tokens x dOut", outShape);
  const target = readOut(kSubject, given.out, outSize, "float32");
  const embedded = embedAll(given, tokens, asked.places.query, asked.allowNonFinite);

  const frame = new Frame(kSubject);
  const biasOf = (name: keyof typeof biases, columns: number): Place | undefined =>
    frame.inputIf(biases[name], name, columns);
  const out = frame.output(outSize * 4);
  frame.run("multi_head", {
    attention: frame.block("attention", asked.fields(frame)),
    x: frame.input(embedded, "x", product(tokens.shape)),
    context: frame.inputIf(
      context && asFloat32(kSubject, "context", context.data),
      "context",
      product(context?.shape ?? []),
    ),
    x_width: width,
    context_width: contextWidth,
    out_width: wo.columns,
    wq: frame.input(wq.data, "wq", width * wq.columns),
    bq: biasOf("bq", wq.columns),
    wk: frame.input(wk.data, "wk", contextWidth * wk.columns),
    bk: biasOf("bk", wk.columns),
    wv: frame.input(wv.data, "wv", contextWidth * wv.columns),
    bv: biasOf("bv", wv.columns),
    wo: frame.input(wo.data, "wo", heads * valueWidth * wo.columns),
    bo: biasOf("bo", wo.columns),
    out,
  });
  return {
    out: float32Tensor(frame.float32(out, outSize, target as Float32Array | undefined), outShape),
    ...asked.results(frame),
  };
}

function readTokens(name: "x" | "context", value: unknown): ReadArray {
  const read = readNumbers(kSubject, name, value);
  if (!read.shaped || read.shape.length < 2 || read.shape.length > 3) {
    const given = read.shaped ? `shape ${printedShape(read.shape)}` : `a bare array of ${read.data.length} elements`;
    refuse("shape-mismatch", kSubject, name, "of shape [T, dModel] or [B, T, dModel]", verbatim(given));
  }
  return read;
}

type Given = Readonly<Record<string, unknown>>;

// (rows, heads * width of a head); a bare typed array has the rows that are asked for.
function readWeights(
  given: Given,
  name: "wq" | "wk" | "wv" | "wo",
  rows: number,
  heads: number,
  columns?: number,
): { data: Float32Array; columns: number } {
  const each = columns ?? (heads === 1 ? "dOut" : `${heads} times the width of a head`);
  const allowed = `of shape [${rows}, ${each}]`;
  if (given[name] === undefined) refuseMissing(kSubject, name, allowed);
  const read = readNumbers(kSubject, name, given[name]);
  const shape = read.shaped || rows === 0 ? read.shape : [rows, read.data.length / rows];
  const found = shape[1]!;
  const fits = shape.length === 2 && shape[0] === rows && Number.isInteger(found) && found % heads === 0;
  if (!fits || (columns !== undefined && found !== columns)) {
    const was = read.shaped ? `shape ${printedShape(read.shape)}` : `${read.data.length} elements`;
    refuse("shape-mismatch", kSubject, name, allowed, verbatim(was));
  }
  return { data: asFloat32(kSubject, name, read.data), columns: found };
}

function readBias(given: Given, name: "bq" | "bk" | "bv" | "bo", length: number): Float32Array | undefined {
  if (given[name] === undefined) return undefined;
  const { data, shape } = readNumbers(kSubject, name, given[name]);
  if (shape.length !== 1 || shape[0] !== length) {
    refuse("shape-mismatch", kSubject, name, `of shape [${length}]`, verbatim(`shape ${printedShape(shape)}`));
  }
  return asFloat32(kSubject, name, data);
}

// x with every embed scheme added, one after another.
function embedAll(given: Given, tokens: ReadArray, places: Positions, allowNonFinite: boolean): Float32Array {
  const data = asFloat32(kSubject, "x", tokens.data);
  if (readSchemes(kSubject, "embed", given.embed, "embed").length === 0) return data;
  const { axes, count } = places;
  const positions = axes === 1 ? places.data : tensor(places.data, [axes, count], "float64");
  const length = given.length === undefined ? {} : { length: given.length as number };
  const options = { positions, allowNonFinite, ...length };
  let sum: Tensor<"float32"> = float32Tensor(data, tokens.shape);
  for (const scheme of [given.embed].flat() as EmbedScheme[]) sum = embed(sum, scheme, options);
  return sum.data;
}
