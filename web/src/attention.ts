// Attention over all four slots.
import { isList, printedShape, refusal, refuse, refuseMissing, refuseShape, verbatim } from "./error.js";
import { type FieldValue, Frame, type Place, exactFrame } from "./module.js";
import { readFinite, readFlag, readMask, readOptions, readPositive, readWhole } from "./options.js";
import { type Positions, type PositionsLike, countUp, inputPositions, readOrder, readPositions } from "./positions.js";
import { type BiasScheme, type RelateScheme, type RotateScheme, readSchemes } from "./scheme.js";
import {
  type BigIntsLike,
  type MaskLike,
  type NumberArray,
  type ReadArray,
  Tensor,
  type TensorLike,
  allowedSize,
  asFloat32,
  asFloat64,
  checkFlags,
  kindOfArray,
  product,
  readArray,
  readNumbers,
  readOut,
} from "./tensor.js";

/** Options of {@link attention}. */
export interface AttentionOptions {
  /** Schemes that turn queries and keys, composed from left to right. */
  readonly rotate?: RotateScheme | readonly RotateScheme[];
  /** Schemes that add a number to the score, summed. */
  readonly bias?: BiasScheme | readonly BiasScheme[];
  /** Schemes whose vectors meet queries, keys and values, summed. */
  readonly relate?: RelateScheme | readonly RelateScheme[];
  /**
   * True: a query sees keys whose order is not after its own. Where Tq and Tk differ and no positions are given, say
   * `"top-left"` (query i is token i) or `"bottom-right"` (the queries are the last of the keys). Default false.
   */
  readonly causal?: boolean | "top-left" | "bottom-right";
  /**
   * w: 0 <= i - j < w when causal, else |i - j| < w. [left, right]: -right <= i - j <= left, null for an open side.
   */
  readonly window?: number | readonly [left: number | null, right: number | null];
  /** Keys before this index are visible to all queries. Default 0. */
  readonly prefixLength?: number;
  /** Which keys are there, [Tk] or [B, Tk]: true, 1 or 1n = visible, so a tokenizer's attention_mask serves. */
  readonly keyMask?: MaskLike;
  /** How many keys of each batch entry are there, [B] (a number where there is no batch axis). */
  readonly keyLengths?: number | TensorLike | BigIntsLike;
  /**
   * Which pairs are there: booleans, a bool tensor, a Uint8Array or BigInts (true, 1 or 1n = visible); or numbers
   * that are added to the scores after the biases, 1 and 0 too, of which -Infinity masks. Its shape broadcasts to [B,
   * H, Tq, Tk] from the right, as in NumPy; a bare typed array is [Tk], [Tq, Tk], [H, Tq, Tk] or [B, H, Tq, Tk] by
   * its length. A pair is seen where this and `causal`, `window`, `prefixLength`, `keyMask` and `keyLengths` all let
   * it.
   */
  readonly mask?: MaskLike;
  /** cap: content + relate becomes cap * tanh((content + relate) / cap), before biases and masks. */
  readonly softcap?: number;
  /** A logit a head, [H], not scaled: it takes its share of the softmax and gives no value. */
  readonly sinks?: TensorLike;
  /** Multiplies q . k; default 1 / sqrt(d). */
  readonly scale?: number;
  /**
   * Positions of the queries; default 0 … Tq - 1. With `causal: "bottom-right"` the default is the last Tq of the keys'
   * positions, with `"top-left"` the first. `causal: true` with keyPositions asks for them (or for queryOrder).
   */
  readonly queryPositions?: PositionsLike;
  /**
   * Positions of the keys; default 0 … Tk - 1. Causal attention asks for them, or for keyOrder, where a query stands
   * behind Tk - 1.
   */
  readonly keyPositions?: PositionsLike;
  /** What causality and windows compare, in place of the positions. */
  readonly queryOrder?: PositionsLike;
  readonly keyOrder?: PositionsLike;
  /** Tokens in all, for scaling rules that depend on it; default the largest key position + 1. */
  readonly length?: number;
  /** Also return the weights. Default false: then memory stays O(n d). */
  readonly weights?: boolean;
  /** Also return every term of the scores. Default false. */
  readonly trace?: boolean;
  /** Lets NaN and Infinity through to where they are visible; they are `not-finite` otherwise. */
  readonly allowNonFinite?: boolean;
  /**
   * `"float64"`: everything in float64, to about 1e-13, by a plain way that is many times slower: the reference
   * beside the fast one. A bundle has it where it has {@link attentionGradient}. Default `"float32"`.
   */
  readonly dtype?: "float32" | "float64";
  /** Receives `out`: an array of the dtype (a Float32Array by default) or a tensor of its size. */
  readonly out?: Float32Array | Float64Array | Tensor;
}

/**
 * The terms of the scores, each shaped like `weights`: content + relate + bias = scores to the last bit, in that order.
 * With a soft-cap, capped + bias = scores.
 */
export interface AttentionTrace<D extends "float32" | "float64" = "float32"> {
  /** q . k * scale after rotation. */
  readonly content: Tensor<D>;
  /** q . k * scale before rotation; shown beside the sum, not in it. */
  readonly unrotated: Tensor<D>;
  readonly relate: Tensor<D>;
  /** softcap * tanh((content + relate) / softcap), where there is a soft-cap. */
  readonly capped?: Tensor<D>;
  /** With an additive mask added, where its entry is finite or seen. */
  readonly bias: Tensor<D>;
  /** -Infinity where masked. */
  readonly scores: Tensor<D>;
  readonly masked: Tensor<"bool">;
}

/** Options of a call that says what it asks for: what the types of its result follow from. */
export interface AskedOf<W extends boolean, T extends boolean, D extends "float32" | "float64" = "float32"> {
  readonly weights?: W;
  readonly trace?: T;
  readonly dtype?: D;
}

// What is there where it was asked for, may be where nobody knows, and is not in the type elsewhere.
type Where<Asked extends boolean, Part> = [Asked] extends [true]
  ? Part
  : [Asked] extends [false]
    ? unknown
    : Partial<Part>;

/** What every call of {@link attention} returns; all tensors have q's leading axes. */
export interface Attended<D extends "float32" | "float64" = "float32"> {
  /** [..., Tq, dv]. A query that sees no key has zeros. */
  readonly out: Tensor<D>;
  /** [..., Tq]: the natural logarithm of the softmax's denominator, sink included; -Infinity where no key is seen. */
  readonly lse: Tensor<D>;
}

/** What there is with `weights: true`. */
export interface Weighted<D extends "float32" | "float64" = "float32"> {
  /** [..., Tq, Tk]. */
  readonly weights: Tensor<D>;
}

/** What there is with `trace: true`. */
export interface Traced<D extends "float32" | "float64" = "float32"> {
  readonly trace: AttentionTrace<D>;
}

/**
 * What {@link attention} returns: `out` and `lse`, and `weights` and `trace` where they were asked for (W and T true).
 * Where the type of the call's options leaves open whether they were, they may be undefined.
 */
export type AttentionResult<
  D extends "float32" | "float64" = "float32",
  W extends boolean = boolean,
  T extends boolean = boolean,
> = Attended<D> & Where<W, Weighted<D>> & Where<T, Traced<D>>;

const kSubject = "attention";
/** @internal */
export const kAttentionOptions = [
  "rotate",
  "bias",
  "relate",
  "causal",
  "window",
  "prefixLength",
  "keyMask",
  "keyLengths",
  "mask",
  "softcap",
  "sinks",
  "scale",
  "queryPositions",
  "keyPositions",
  "queryOrder",
  "keyOrder",
  "length",
  "weights",
  "trace",
  "allowNonFinite",
  "out",
] as const;
const kOptions = [...kAttentionOptions, "dtype"];

/**
 * softmax(scores + bias, masked) v, with positions in any of three slots.
 *
 * q is [T, d], [H, T, d] or [B, H, T, d]; k and v have as many axes, heads that divide q's (grouped queries) and may be
 * of another length; v may be of another width. Embed schemes act before, through `embed()`.
 *
 * Errors: `shape-mismatch`, `wrong-slot`, `missing-option` (causal with Tq != Tk and nothing that aligns them),
 * `not-finite` inputs, `out-of-range` where finite inputs overflow, `unsupported` where the bundle left float64 out.
 */
export function attention<
  W extends boolean = false,
  T extends boolean = false,
  D extends "float32" | "float64" = "float32",
>(
  q: TensorLike,
  k: TensorLike,
  v: TensorLike,
  options?: AttentionOptions & AskedOf<W, T, D>,
): AttentionResult<D, W, T>;
export function attention(
  q: TensorLike,
  k: TensorLike,
  v: TensorLike,
  options?: AttentionOptions,
): AttentionResult<"float32" | "float64"> {
  return attentionOf(q, k, v, options);
}

/** Heads `first` and those after it of `all`, which schemes count. */
export interface HeadsOf {
  readonly first: number;
  readonly all: number;
}

/** @internal attention() of some heads of a call. */
export function attentionOf(
  q: TensorLike,
  k: TensorLike,
  v: TensorLike,
  options?: AttentionOptions,
  part?: HeadsOf,
): AttentionResult<"float32" | "float64"> {
  const given = readOptions(kSubject, options, kOptions);
  const { dtype = "float32" } = given;
  if (dtype !== "float32" && dtype !== "float64") {
    refuse("unknown-choice", kSubject, "dtype", '"float32" or "float64"', dtype);
  }
  const shapes = readOperands(kSubject, q, k, v, dtype, part);
  const { leading, batch, heads, kvHeads, queries, keys, width, valueWidth } = shapes;
  const asked = readAsked(kSubject, given, shapes, dtype);
  const outShape = [...leading, queries, valueWidth];
  const bytes = dtype === "float64" ? 8 : 4;
  const outSize = allowedSize(kSubject, "heads x queries x width", outShape, bytes);
  const target = readOut(kSubject, given.out, outSize, dtype);

  const frame = dtype === "float64" ? exactFrame(kSubject) : new Frame(kSubject);
  const keyRows = batch * kvHeads * keys;
  const query = frame.input(shapes.q, "q", batch * heads * queries * width);
  const key = shapes.k === shapes.q ? query : frame.input(shapes.k, "k", keyRows * width);
  const value =
    shapes.v === shapes.k ? key : shapes.v === shapes.q ? query : frame.input(shapes.v, "v", keyRows * valueWidth);
  const out = frame.output(outSize * bytes);
  const fields = asked.fields(frame, { q: query, k: key, v: value, out });
  if (dtype === "float64") {
    frame.run("exact_attention", { ...fields, d_out: 0, dq: 0, dk: 0, dv: 0, dsinks: 0 });
  } else {
    frame.run("attention", fields);
  }
  return { out: floats(frame, dtype, out, outShape, target), ...asked.results(frame) };
}

function floats<D extends "float32" | "float64">(
  frame: Frame,
  dtype: D,
  place: Place,
  shape: readonly number[],
  out?: Float32Array | Float64Array,
): Tensor<D> {
  const data = frame[dtype as "float32" | "float64"](place, product(shape), out as never);
  return new Tensor(data, shape, dtype as "float32" | "float64") as Tensor<D>;
}

// Positions that count from 0 are not moved in: the core counts as well.
function positionsIn(frame: Frame, positions: Positions, argument: string): Place | undefined {
  return positions.implied === true ? undefined : inputPositions(frame, positions, argument);
}

/** @internal */
export function asFloats(
  subject: string,
  argument: string,
  data: NumberArray,
  dtype: "float32" | "float64",
): Float32Array | Float64Array {
  return dtype === "float64" ? asFloat64(data) : asFloat32(subject, argument, data);
}

/** The sizes of a call; `leading` are q's axes before [T, d]. */
export interface AttentionShapes {
  readonly leading: readonly number[];
  readonly batch: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly queries: number;
  readonly keys: number;
  readonly width: number;
  readonly valueWidth: number;
  readonly part?: HeadsOf | undefined;
}

/** Where the tensors of a call lie, if they are not for another call to say. */
interface TensorPlaces {
  readonly q: Place;
  readonly k: Place;
  readonly v: Place;
  readonly out: Place;
}

/** The options of a call as they were read: what they put into its block, and what comes out beside `out`. */
export interface Asked<D extends "float32" | "float64" = "float32"> {
  readonly places: Places;
  readonly allowNonFinite: boolean;
  fields(frame: Frame, tensors?: TensorPlaces): Readonly<Record<string, FieldValue>>;
  results(frame: Frame): Omit<AttentionResult<D>, "out">;
}

/** @internal */
export function readAsked<D extends "float32" | "float64">(
  subject: string,
  given: Given,
  shapes: AttentionShapes,
  dtype: D,
): Asked<D>;
export function readAsked(
  subject: string,
  given: Given,
  shapes: AttentionShapes,
  dtype: "float32" | "float64",
): Asked<"float32" | "float64"> {
  const bytes = dtype === "float64" ? 8 : 4;
  const { leading, batch, heads, kvHeads, queries, keys, width, valueWidth } = shapes;
  const rotate = readSchemes(subject, "rotate", given.rotate, "rotate");
  const bias = readSchemes(subject, "bias", given.bias, "bias");
  const relate = readSchemes(subject, "relate", given.relate, "relate");

  const causal = readCausal(subject, given.causal);
  const align = typeof causal === "string" ? causal : undefined;
  const places = readPlaces(subject, given, queries, keys, causal);
  const [left, right] = readWindow(subject, given.window, causal !== false);
  const prefix = readWhole(subject, "prefixLength", given.prefixLength, `a whole number from 0 to ${keys}`, keys, 0);
  const keyMask = readKeyMask(subject, given.keyMask, batch, keys);
  const keyLengths = readKeyLengths(subject, given.keyLengths, batch, keys);
  const mask = readPairMask(subject, given.mask, [batch, heads, queries, keys], dtype);
  const allowedCap = "a number above 7.01e-46 and at most 2^53";
  const softcap = readPositive(subject, "softcap", given.softcap, allowedCap) ?? 0;
  // In float32 a smaller one is 0.
  if (softcap > 0 && softcap <= 2 ** -150) refuse("out-of-range", subject, "softcap", allowedCap, softcap);
  const sinks = readSinks(subject, given.sinks, heads, dtype);
  // NaN: the core takes 1 / sqrt(d).
  const scale = given.scale === undefined ? NaN : readFinite(subject, "scale", given.scale);
  const length = readPositive(subject, "length", given.length) ?? 0;
  const wantsWeights = readFlag(subject, "weights", given.weights);
  const wantsTrace = readFlag(subject, "trace", given.trace);
  const allowNonFinite = readFlag(subject, "allowNonFinite", given.allowNonFinite);

  const pairShape = [...leading, queries, keys];
  const pairSize = wantsWeights || wantsTrace ? allowedSize(subject, "heads x queries x keys", pairShape, bytes) : 0;
  const rows = product(leading) * queries;
  let lse: Place, weights: Place | undefined, masked: Place | undefined;
  const trace = new Map<string, Place>();

  return {
    places,
    allowNonFinite,
    fields(frame, tensors) {
      lse = frame.output(rows * bytes);
      if (wantsWeights) weights = frame.output(pairSize * bytes);
      if (wantsTrace) {
        for (const name of ["content", "unrotated", "relate", "capped", "bias", "scores"]) {
          if (name !== "capped" || softcap > 0) trace.set(name, frame.output(pairSize * bytes));
        }
        masked = frame.output(pairSize);
      }
      return {
        q: tensors?.q,
        k: tensors?.k,
        v: tensors?.v,
        out: tensors?.out,
        batch,
        heads,
        kv_heads: kvHeads,
        queries,
        keys,
        width,
        value_width: valueWidth,
        first_head: shapes.part?.first,
        all_heads: shapes.part?.all,
        rotate: frame.schemes(rotate),
        bias: frame.schemes(bias),
        relate: frame.schemes(relate),
        query_positions: positionsIn(frame, places.query, "queryPositions"),
        query_axes: places.query.axes,
        key_positions: positionsIn(frame, places.key, "keyPositions"),
        key_axes: places.key.axes,
        query_order: frame.inputIf(places.queryOrder, "queryOrder", queries),
        key_order: frame.inputIf(places.keyOrder, "keyOrder", keys),
        length,
        scale,
        causal: causal === true || align !== undefined,
        window_left: left,
        window_right: right,
        prefix_length: prefix,
        key_mask: frame.inputIf(keyMask?.data, "keyMask", keyMask === undefined ? 0 : product(keyMask.shape)),
        key_mask_batched: keyMask?.shape.length === 2,
        key_lengths: frame.inputIf(keyLengths, "keyLengths", batch),
        mask_seen: frame.inputIf(mask?.seen, "mask", product(mask?.shape ?? [])),
        mask_added: frame.inputIf(mask?.added, "mask", product(mask?.shape ?? [])),
        mask_batch: mask?.shape[0] ?? 1,
        mask_heads: mask?.shape[1] ?? 1,
        mask_queries: mask?.shape[2] ?? 1,
        mask_keys: mask?.shape[3] ?? 1,
        softcap,
        sinks: frame.inputIf(sinks, "sinks", heads),
        allow_non_finite: allowNonFinite,
        lse,
        weights,
        trace_content: trace.get("content"),
        trace_unrotated: trace.get("unrotated"),
        trace_relate: trace.get("relate"),
        trace_capped: trace.get("capped"),
        trace_bias: trace.get("bias"),
        trace_scores: trace.get("scores"),
        trace_masked: masked,
      };
    },
    results(frame) {
      const pair = (place: Place): Tensor<"float32" | "float64"> => floats(frame, dtype, place, pairShape);
      return {
        lse: floats(frame, dtype, lse, [...leading, queries]),
        ...(weights === undefined ? {} : { weights: pair(weights) }),
        ...(masked === undefined
          ? {}
          : {
              trace: {
                ...Object.fromEntries(Array.from(trace, ([name, place]) => [name, pair(place)])),
                masked: new Tensor(frame.uint8(masked, pairSize), pairShape, "bool"),
              } as unknown as AttentionTrace<"float32" | "float64">,
            }),
      };
    },
  };
}

// ---------------------------------------------------------------- operands

interface Operands extends AttentionShapes {
  readonly q: Float32Array | Float64Array;
  readonly k: Float32Array | Float64Array;
  readonly v: Float32Array | Float64Array;
}

function readOperand(subject: string, argument: string, array: unknown): ReadArray {
  const read = readNumbers(subject, argument, array);
  if (!read.shaped) {
    refuse(
      "shape-mismatch",
      subject,
      argument,
      "an array with a shape, such as tensor(data, [T, d])",
      verbatim(`a bare array of ${read.data.length} elements`),
    );
  }
  return read;
}

/** @internal */
export function readOperands(
  subject: string,
  q: unknown,
  k: unknown,
  v: unknown,
  dtype: "float32" | "float64",
  part?: HeadsOf,
): Operands {
  const query = readOperand(subject, "q", q);
  const key = readOperand(subject, "k", k);
  const value = readOperand(subject, "v", v);
  const rank = query.shape.length;
  if (rank < 2 || rank > 4) {
    refuseShape(subject, "q", "of shape [T, d], [H, T, d] or [B, H, T, d]", query.shape);
  }
  const batch = rank === 4 ? query.shape[0]! : 1;
  const heads = rank >= 3 ? query.shape[rank - 3]! : 1;
  const [queries, width] = query.shape.slice(-2) as [number, number];
  const allowed = (heads: string, tokens: string, last: string): string =>
    `of shape [${[...(rank === 4 ? [batch] : []), ...(rank >= 3 ? [heads] : []), tokens, last].join(", ")}]`;
  const kvHeads = rank >= 3 ? (key.shape[key.shape.length - 3] ?? 0) : 1;
  const keys = key.shape[key.shape.length - 2] ?? 0;
  const valueWidth = value.shape[value.shape.length - 1] ?? 0;
  if (key.shape.length !== rank || (rank === 4 && key.shape[0] !== batch) || key.shape[rank - 1] !== width) {
    refuseShape(subject, "k", allowed("heads", "Tk", String(width)), key.shape);
  }
  if (kvHeads !== heads && (kvHeads === 0 || heads % kvHeads !== 0)) {
    refuse(
      "shape-mismatch",
      subject,
      "k",
      `of a number of heads that divides q's ${heads}`,
      verbatim(`${kvHeads} heads`),
    );
  }
  if (
    value.shape.length !== rank ||
    (rank === 4 && value.shape[0] !== batch) ||
    (rank >= 3 && value.shape[rank - 3] !== kvHeads) ||
    value.shape[rank - 2] !== keys
  ) {
    refuseShape(subject, "v", allowed(String(kvHeads), String(keys), "dv"), value.shape);
  }
  // The same array given twice is moved in once.
  const same = (a: ReadArray, b: ReadArray): boolean =>
    a.source !== undefined && a.source === b.source && a.data.length === b.data.length;
  const qs = asFloats(subject, "q", query.data, dtype);
  const ks = same(key, query) ? qs : asFloats(subject, "k", key.data, dtype);
  const vs = same(value, key) ? ks : same(value, query) ? qs : asFloats(subject, "v", value.data, dtype);
  return {
    q: qs,
    k: ks,
    v: vs,
    leading: query.shape.slice(0, -2),
    batch,
    heads,
    kvHeads,
    queries,
    keys,
    width,
    valueWidth,
    part,
  };
}

// ---------------------------------------------------------------- who sees whom

/** How `causal` is said. */
export type Causal = boolean | "top-left" | "bottom-right";
type Given = Readonly<Record<string, unknown>>;

/** @internal */
export function readCausal(subject: string, value: unknown): Causal {
  if (value === undefined || typeof value === "boolean") return value ?? false;
  if (value === "top-left" || value === "bottom-right") return value;
  refuse("unknown-choice", subject, "causal", 'true, false, "top-left" or "bottom-right"', value);
}

/** Where queries and keys stand, and what causality compares. */
export interface Places {
  readonly query: Positions;
  readonly key: Positions;
  readonly queryOrder: Float64Array | undefined;
  readonly keyOrder: Float64Array | undefined;
}

/** @internal */
export function readPlaces(
  subject: string,
  given: Given,
  queries: number,
  keys: number,
  causal: Causal,
): Places {
  const side = (argument: "queryPositions" | "keyPositions", count: number, first: number): Positions => {
    if (given[argument] === undefined) return countUp(first, count, subject, argument);
    const positions = readPositions(subject, argument, given[argument]);
    if (positions.count !== count) {
      refuse(
        "shape-mismatch",
        subject,
        argument,
        `${count} in number, one a token`,
        verbatim(String(positions.count)),
      );
    }
    return positions;
  };
  if (causal === true && queries !== keys && given.queryPositions === undefined && given.queryOrder === undefined) {
    throw refusal(
      {
        code: "missing-option",
        subject,
        argument: "causal",
        allowed: '"top-left" or "bottom-right"',
        given: "true",
      },
      `${subject}: with ${queries} queries and ${keys} keys causal must be "top-left" or "bottom-right", ` +
        "or queryPositions given",
    );
  }
  const first = causal === "bottom-right" ? keys - queries : 0;
  const key = side("keyPositions", keys, 0);
  let queryOrder = readOrder(subject, "queryOrder", given.queryOrder, queries);
  const keyOrder = readOrder(subject, "keyOrder", given.keyOrder, keys);
  const query = alignedQueries(subject, given, key, queries, first, causal) ?? side("queryPositions", queries, first);
  if (causal !== false && given.keyPositions === undefined && keyOrder === undefined) {
    refuseLateQueries(subject, given, query, keys);
  }
  // Positions of several axes have no order of their own: then the index counts, aligned as asked.
  if (queryOrder === undefined && first !== 0 && query.axes > 1)
    queryOrder = countUp(first, queries, subject, "queryOrder").data;
  return { query, key, queryOrder, keyOrder };
}

// Positions of the keys alone say nothing of queries that count from 0: under causality these would see no key, or all.
// "top-left" and "bottom-right" do say: the queries are the first or the last of the keys, at their positions.
function alignedQueries(
  subject: string,
  given: Given,
  key: Positions,
  queries: number,
  first: number,
  causal: Causal,
): Positions | undefined {
  if (causal === false || given.keyPositions === undefined || given.queryPositions !== undefined) return undefined;
  if (typeof causal === "string" && queries <= key.count) {
    const data = new Float64Array(key.axes * queries);
    for (let axis = 0; axis < key.axes; axis++) {
      const start = axis * key.count + first;
      data.set(key.data.subarray(start, start + queries), axis * queries);
    }
    return { data, axes: key.axes, count: queries };
  }
  if (given.queryOrder !== undefined) return undefined;
  const allowed = "given beside keyPositions where attention is causal, or queryOrder";
  return refuseMissing(subject, "queryPositions", allowed);
}

// Queries alone are those of a cache, whose keys count 0 … Tk - 1. One behind the last key was never in it.
function refuseLateQueries(subject: string, given: Given, query: Positions, keys: number): void {
  if (given.queryPositions === undefined || given.queryOrder !== undefined || query.axes !== 1) return;
  if (!query.data.some((position) => position > keys - 1)) return;
  const allowed = `given where attention is causal and a query stands behind ${keys - 1}, the last key by count`;
  refuseMissing(subject, "keyPositions", allowed);
}

/** @internal */
export function readWindow(subject: string, value: unknown, causal: boolean): [left: number, right: number] {
  if (value === undefined) return [Infinity, Infinity];
  const allowed = "a number above 0, or [left, right] of numbers from 0 or null";
  if (typeof value === "number") {
    const width = readFinite(subject, "window", value, undefined, allowed);
    if (width <= 0) refuse("out-of-range", subject, "window", allowed, value);
    // Below w is at most the number before w.
    const reach = before(width);
    return [reach, causal ? Infinity : reach];
  }
  if (!isList(value)) refuse("not-a-number", subject, "window", allowed, value);
  if (value.length !== 2) refuse("shape-mismatch", subject, "window", allowed, value);
  const [left, right] = [value[0] as unknown, value[1] as unknown].map((side) => {
    if (side === null) return Infinity;
    if (side === undefined) refuse("not-a-number", subject, "window", allowed, verbatim("a side that is undefined"));
    const reach = readFinite(subject, "window", side, undefined, allowed);
    if (reach < 0) refuse("out-of-range", subject, "window", allowed, side);
    return reach;
  });
  return [left!, right!];
}

// The largest double below x > 0.
function before(x: number): number {
  const bits = new BigInt64Array(Float64Array.of(x).buffer);
  bits[0]! -= 1n;
  return new Float64Array(bits.buffer)[0]!;
}

function readKeyMask(
  subject: string,
  value: unknown,
  batch: number,
  keys: number,
): { data: Uint8Array; shape: readonly number[] } | undefined {
  if (value === undefined) return undefined;
  const mask = readMask(subject, "keyMask", value, 2);
  const [last, first] = [mask.shape[mask.shape.length - 1], mask.shape[0]];
  if (last !== keys || (mask.shape.length === 2 && first !== batch)) {
    refuseShape(subject, "keyMask", `of shape [${keys}] or [${batch}, ${keys}]`, mask.shape);
  }
  return mask;
}

function readKeyLengths(subject: string, value: unknown, batch: number, keys: number): Float64Array | undefined {
  if (value === undefined) return undefined;
  const allowed = `${batch} whole numbers from 0 to ${keys}, one a batch entry`;
  const { data, shape } =
    typeof value === "number" ? { data: [value], shape: [1] } : readArray(subject, "keyLengths", value, Number);
  if (shape.length !== 1 || shape[0] !== batch) {
    refuseShape(subject, "keyLengths", allowed, shape);
  }
  return Float64Array.from(data as ArrayLike<number>, (length) =>
    readWhole(subject, "keyLengths", length, allowed, keys),
  );
}

const kMaskKinds = "booleans (a bool tensor, a Uint8Array or BigInts: 1 = visible), or floats to be added";

/** @internal The array of `mask`: BigInts and rows of bytes are flags, never added. */
export function readMaskArray(subject: string, value: unknown): ReadArray {
  let flags = false;
  const read = readArray(subject, "mask", value, (entry) => {
    flags = true;
    return Number(entry);
  });
  if (isList(value)) {
    // What a bare array of the kind is, its rows are.
    let row: unknown = value;
    while (isList(row)) row = row[0];
    const kind = kindOfArray(row) ?? "";
    flags ||= kind.startsWith("Uint8");
    if (!flags && /int/i.test(kind)) refuse("not-a-number", subject, "mask", kMaskKinds, verbatim("integers"));
  }
  if (!flags) return read;
  checkFlags(subject, "mask", read.data);
  return { ...read, boolean: true };
}

interface ReadMask {
  readonly seen?: Uint8Array;
  readonly added?: Float32Array | Float64Array;
  readonly shape: readonly number[]; // [B, H, Tq, Tk], an axis to be broadcast being 1
}

function readPairMask(
  subject: string,
  value: unknown,
  full: readonly number[],
  dtype: "float32" | "float64",
): ReadMask | undefined {
  if (value === undefined) return undefined;
  const allowed = `of a shape that broadcasts to ${printedShape(full)}, [B, H, Tq, Tk]`;
  const read = readMaskArray(subject, value);
  const { data } = read;
  const fits = (shape: readonly number[]): boolean => product(shape) === data.length;
  const shape = read.shaped ? read.shape : ([3, 2, 1, 0].map((axis) => full.slice(axis)).find(fits) ?? read.shape);
  const padded = [...Array<number>(Math.max(0, 4 - shape.length)).fill(1), ...shape];
  if (padded.length > 4 || padded.some((size, axis) => size !== 1 && size !== full[axis])) {
    const given = read.shaped ? `shape ${printedShape(shape)}` : `${data.length} elements`;
    refuse("shape-mismatch", subject, "mask", allowed, verbatim(given));
  }
  if (read.boolean || data instanceof Uint8Array || data instanceof Uint8ClampedArray) {
    return { seen: data instanceof Uint8Array ? data : Uint8Array.from(data), shape: padded };
  }
  if (!(data instanceof Float32Array || data instanceof Float64Array)) {
    refuse("not-a-number", subject, "mask", kMaskKinds, verbatim("integers"));
  }
  return { added: asFloats(subject, "mask", data, dtype), shape: padded };
}

function readSinks(
  subject: string,
  value: unknown,
  heads: number,
  dtype: "float32" | "float64",
): Float32Array | Float64Array | undefined {
  if (value === undefined) return undefined;
  const { data, shape } = readNumbers(subject, "sinks", value);
  if (shape.length !== 1 || shape[0] !== heads) {
    refuseShape(subject, "sinks", `of shape [${heads}]`, shape);
  }
  return asFloats(subject, "sinks", data, dtype);
}
