// Attention with its projections: tokens in, tokens out.
import {
  type AskedOf,
  type AttentionOptions,
  type AttentionResult,
  kAttentionOptions,
  readAsked,
} from "./attention.js";
import { embed } from "./embed.js";
import { printedShape, refuse, refuseMissing, refuseShape, verbatim } from "./error.js";
import { type FieldValue, Frame } from "./module.js";
import { readOptions, readWhole } from "./options.js";
import type { Positions } from "./positions.js";
import { type EmbedScheme, readSchemes } from "./scheme.js";
import { served } from "./served.js";
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

/** Options of {@link multiHeadAttention}: the weights, and those of `attention()` but dtype: it is float32. */
export interface MultiHeadAttentionOptions extends Omit<AttentionOptions, "dtype"> {
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
export function multiHeadAttention<W extends boolean = false, T extends boolean = false>(
  x: TensorLike,
  options: MultiHeadAttentionOptions & Pick<AskedOf<W, T>, "weights" | "trace">,
): AttentionResult<"float32", W, T>;
export function multiHeadAttention(x: TensorLike, options: MultiHeadAttentionOptions): AttentionResult {
  const { given, tokens, context, contextWidth, query, key, value, joined, asked, ...call } = readCall(x, options);
  const outSize = allowedSize(kSubject, "tokens x dOut", call.outShape);
  const target = readOut(kSubject, given.out, outSize, "float32");
  const embedded = embedAll(given, tokens, asked.places.query, asked.allowNonFinite);

  const frame = new Frame(kSubject);
  const out = frame.output(outSize * 4);
  const fields: Record<string, FieldValue> = {
    ...kWhole,
    attention: frame.block("attention", asked.fields(frame)),
    x: frame.input(embedded, "x", product(tokens.shape)),
    context: context && frame.input(asFloat32(kSubject, "context", context.data), "context", product(context.shape)),
    x_width: call.inWidth,
    context_width: contextWidth,
    out_width: joined.columns,
    out,
    ...projections(frame, [query, key, value, joined]),
  };
  frame.run("multi_head", fields);
  return {
    out: float32Tensor(frame.float32(out, outSize, target as Float32Array | undefined), call.outShape),
    ...asked.results(frame),
  };
}

/** @internal What multiHeadAttention() is called with. */
export function readCall(x: TensorLike, options: MultiHeadAttentionOptions) {
  const given = readOptions(kSubject, options, [...kOwnOptions, ...kAttentionOptions]);
  const tokens = readTokens("x", x);
  const rank = tokens.shape.length;
  const [queries, width] = tokens.shape.slice(-2) as [number, number];
  const batch = rank === 3 ? tokens.shape[0]! : 1;
  const context = given.context === undefined ? undefined : readTokens("context", given.context);
  if (context !== undefined && (context.shape.length !== rank || (rank === 3 && context.shape[0] !== batch))) {
    const allowed = rank === 3 ? `of shape [${batch}, Tk, dContext], as x is` : "of shape [Tk, dContext], as x is";
    refuseShape(kSubject, "context", allowed, context.shape);
  }
  const [keys, contextWidth] = (context ?? tokens).shape.slice(-2) as [number, number];

  const heads = readHeads(given, "heads");
  const kvHeads = readHeads(given, "kvHeads", heads);
  if (heads % kvHeads !== 0) {
    refuse("shape-mismatch", kSubject, "kvHeads", `a number that divides the ${heads} heads`, kvHeads);
  }
  const query = readProjection(given, "q", width, heads);
  const headWidth = query.columns / heads;
  const key = readProjection(given, "k", contextWidth, kvHeads, kvHeads * headWidth);
  const value = readProjection(given, "v", contextWidth, kvHeads);
  const valueWidth = value.columns / kvHeads;
  const joined = readProjection(given, "o", heads * valueWidth, 1);

  const leading = rank === 3 ? [batch, heads] : [heads];
  const shapes = { leading, batch, heads, kvHeads, queries, keys, width: headWidth, valueWidth };
  const asked = readAsked(kSubject, given, shapes, "float32");
  const outShape = [...tokens.shape.slice(0, -1), joined.columns];
  const projections = { query, key, value, joined };
  return { ...shapes, ...projections, given, tokens, context, contextWidth, inWidth: width, asked, outShape };
}

// The parts of the layer that are not asked for alone.
const kWhole = { q: undefined, k: undefined, v: undefined, attended: undefined };

function projections(frame: Frame, given: readonly ReadProjection[]): Record<string, FieldValue> {
  const fields: Record<string, FieldValue> = {};
  for (const { side, rows, columns, weights, bias } of given) {
    fields[`w${side}`] = frame.input(weights, `w${side}`, rows * columns);
    fields[`b${side}`] = frame.inputIf(bias, `b${side}`, columns);
  }
  return fields;
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

function readHeads(given: Given, name: "heads" | "kvHeads", fallback?: number): number {
  const allowed = "a whole number from 1 to 2^32";
  const heads = readWhole(kSubject, name, given[name], allowed, 2 ** 32, fallback);
  if (heads < 1) refuse("out-of-range", kSubject, name, allowed, heads);
  return heads;
}

interface ReadProjection {
  readonly side: "q" | "k" | "v" | "o";
  readonly rows: number;
  readonly columns: number;
  readonly weights: Float32Array;
  readonly bias: Float32Array | undefined;
}

// Weights (rows, heads * width of a head) and what is added; a bare typed array has the rows that are asked for.
function readProjection(
  given: Given,
  side: ReadProjection["side"],
  rows: number,
  heads: number,
  columns?: number,
): ReadProjection {
  const read = (name: string, allowed: string, fits: (shape: readonly number[]) => boolean): [Float32Array, number] => {
    if (given[name] === undefined) refuseMissing(kSubject, name, allowed);
    const { data, shape, shaped } = readNumbers(kSubject, name, given[name]);
    const found = shaped || name[0] === "b" ? shape : [rows, data.length / rows];
    if (!fits(found)) {
      const was = shaped ? `shape ${printedShape(shape)}` : `${data.length} elements`;
      refuse("shape-mismatch", kSubject, name, allowed, verbatim(was));
    }
    return [asFloat32(kSubject, name, data), found.at(-1)!];
  };
  const each = columns ?? (side === "o" ? "dOut" : `${heads} times the width of a head`);
  const [weights, found] = read(
    `w${side}`,
    `of shape [${rows}, ${each}]`,
    ([first, second, third]) =>
      third === undefined && first === rows && second! % heads === 0 && (columns ?? second) === second,
  );
  const bias = `b${side}`;
  return {
    side,
    rows,
    columns: found,
    weights,
    bias: given[bias] === undefined
        ? undefined
        : read(bias, `of shape [${found}]`, (shape) => shape.length === 1 && shape[0] === found)[0],
  };
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
  const names = { scheme: "embed", positions: "queryPositions" };
  for (const scheme of [given.embed].flat() as EmbedScheme[]) {
    sum = served(kSubject, names, () => embed(sum, scheme, options));
  }
  return sum.data;
}

// ---------------------------------------------------------------- the layer's parts

/** @internal x with the embed schemes of `given` added, at `places`. */
export function embedTokens(x: Tensor, given: Given, places: Positions, allowNonFinite: boolean): Tensor {
  return float32Tensor(embedAll(given, readTokens("x", x), places, allowNonFinite), x.shape);
}

/** @internal Queries, keys and values of some tokens, each [..., heads, T, width]. */
export function projectTokens(x: Tensor, context: Tensor | undefined, given: Given): Record<"q" | "k" | "v", Tensor> {
  const [tokens, others] = [readTokens("x", x), readTokens("context", context ?? x)];
  const { heads, kvHeads } = given as Record<"heads" | "kvHeads", number>;
  const [queries, xWidth] = x.shape.slice(-2) as [number, number];
  const [keys, contextWidth] = others.shape.slice(-2) as [number, number];
  const query = readProjection(given, "q", xWidth, heads);
  const [key, value] = (["k", "v"] as const).map((side) => readProjection(given, side, contextWidth, kvHeads));
  const [width, valueWidth] = [query.columns / heads, value!.columns / kvHeads];
  const lead = x.shape.slice(0, -2);
  const batch = product(lead);
  const shapes = { leading: [...lead, heads], batch, heads, kvHeads, queries, keys, width, valueWidth };
  const asked = readAsked(kSubject, { allowNonFinite: given.allowNonFinite }, shapes, "float32");
  const frame = new Frame(kSubject);
  const results = {
    q: [...lead, heads, queries, width],
    k: [...lead, kvHeads, keys, width],
    v: [...lead, kvHeads, keys, valueWidth],
  };
  const places = Object.entries(results).map(([side, shape]) => [side, frame.output(product(shape) * 4)] as const);
  frame.run("multi_head", {
    ...Object.fromEntries(places),
    attention: frame.block("attention", asked.fields(frame)),
    x: frame.input(asFloat32(kSubject, "x", tokens.data), "x", x.size),
    context: context && frame.input(asFloat32(kSubject, "context", others.data), "context", product(others.shape)),
    x_width: xWidth,
    context_width: contextWidth,
    out_width: 0,
    ...projections(frame, [query, key!, value!]),
    wo: undefined,
    bo: undefined,
    out: undefined,
    attended: undefined,
  });
  const taken = places.map(([side, place]) => {
    const shape = results[side as "q"];
    return [side, float32Tensor(frame.float32(place, product(shape)), shape)];
  });
  return Object.fromEntries(taken) as Record<"q" | "k" | "v", Tensor>;
}

/** @internal `attended`, [..., heads, T, dv], joined and projected: `out` is [..., T, dOut]. */
export function joinHeads(attended: Tensor, given: Given): { readonly out: Tensor } {
  const lead = attended.shape.slice(0, -3);
  const [heads, queries, valueWidth] = attended.shape.slice(-3) as [number, number, number];
  const joined = readProjection(given, "o", heads * valueWidth, 1);
  const batch = product(lead);
  const shapes = { leading: [...lead, heads], batch, heads, kvHeads: heads, queries, keys: 0, width: 0, valueWidth };
  const asked = readAsked(kSubject, { allowNonFinite: given.allowNonFinite }, shapes, "float32");
  const outShape = [...lead, queries, joined.columns];
  const frame = new Frame(kSubject);
  const out = frame.output(product(outShape) * 4);
  frame.run("multi_head", {
    ...kWhole,
    attention: frame.block("attention", asked.fields(frame)),
    x: undefined,
    context: undefined,
    x_width: 0,
    context_width: 0,
    out_width: joined.columns,
    ...Object.fromEntries(["q", "k", "v"].flatMap((side) => [[`w${side}`, undefined], [`b${side}`, undefined]])),
    ...projections(frame, [joined]),
    out,
    attended: frame.input(asFloat32(kSubject, "x", attended.data), "x", attended.size),
  });
  return { out: float32Tensor(frame.float32(out, product(outShape)), outShape) };
}
