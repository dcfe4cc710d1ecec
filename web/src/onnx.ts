// posenc/onnx: the encoding and attention set up here, as a model that ONNX Runtime and others run at scale. Every
// table in it is the core's own numbers, asked for through the same functions that users call; the graph does the rest
// with operators of the default domain.
import { type Causal, attention, readCausal, readWindow } from "./attention.js";
import { bias } from "./bias.js";
import { embed } from "./embed.js";
import { isRecord, refuse, refuseMissing, refuseShape, verbatim } from "./error.js";
import { info } from "./module.js";
import {
  Graph,
  type Places,
  type Setup,
  type Tokens,
  asTensor,
  kSubject,
  spreadOver,
  zeros,
} from "./onnx-graph.js";
import { type Model, type Value, writeModel } from "./onnx-proto.js";
import { type Operands, affineTerm, copeTerm, valueTables } from "./onnx-relations.js";
import { readChoice, readFinite, readFlag, readOptions, readPositive, readWhole } from "./options.js";
import { type Positions, type PositionsLike, countUp, readOrder, readPositions } from "./positions.js";
import { fullDescriptor } from "./prose.js";
import { randomNormal } from "./random.js";
import { rotate } from "./rotate.js";
import {
  type BiasScheme,
  type EmbedScheme,
  type RelateScheme,
  type RotateScheme,
  readScheme,
  readSchemes,
} from "./scheme.js";
import { Tensor, allowedSize, readNumbers } from "./tensor.js";

/** Options of {@link toOnnx} for attention: those of `attention`, and the shapes that its arrays would tell. */
export interface OnnxAttentionOptions {
  readonly rotate?: RotateScheme | readonly RotateScheme[];
  readonly bias?: BiasScheme | readonly BiasScheme[];
  readonly relate?: RelateScheme | readonly RelateScheme[];
  /** Query heads. Default 1. */
  readonly heads?: number;
  /** Heads of keys and values, a divisor of `heads`. Default `heads`. */
  readonly kvHeads?: number;
  /** Width of queries and keys. */
  readonly dim: number;
  /** Width of values. Default `dim`. */
  readonly valueDim?: number;
  /**
   * The most tokens that the model's tables are made for, at positions 0 … length - 1; batch and token counts stay
   * free. Scaling rules that depend on a length are those of `attention(…, {length})`. With `keyPositions` it
   * defaults to the largest of them + 1 and only scaling rules see it.
   */
  readonly length?: number;
  /** `true`: as many queries as keys. `"bottom-right"`: the queries are the last of the keys, as with a cache. */
  readonly causal?: Causal;
  readonly window?: number | readonly [left: number | null, right: number | null];
  readonly prefixLength?: number;
  readonly scale?: number;
  /** c: scores become c tanh(score / c) before bias and masks. */
  readonly softcap?: number;
  /** One logit a head, in the softmax's denominator only. */
  readonly sinks?: readonly number[] | Float32Array | Tensor;
  /** With `keyPositions`: the model is made for these positions, and its token counts are fixed. */
  readonly queryPositions?: PositionsLike;
  readonly keyPositions?: PositionsLike;
  /** What causality and windows compare, in place of positions; only with positions given. */
  readonly queryOrder?: PositionsLike;
  readonly keyOrder?: PositionsLike;
  /** Adds the input `key_mask`, bool [batch, keys]: true = visible. Default false. */
  readonly keyMask?: boolean;
  /**
   * Adds the input `mask` [batch or 1, heads or 1, queries or 1, keys]: `"visible"` of bool, true = visible;
   * `"additive"` of float32, added to the scores after the bias, -Infinity = masked. Default `"none"`.
   */
  readonly mask?: "none" | "visible" | "additive";
  /** Adds the output `weights`, [batch, heads, queries, keys]. Default false. */
  readonly weights?: boolean;
  /** `"heads"`: arrays [batch, heads, tokens, width]. `"packed"`: [batch, tokens, heads * width]. Default `"heads"`. */
  readonly format?: "heads" | "packed";
}

/** Options of {@link toOnnx} for an embedding: those of `embed`. */
export interface OnnxEmbedOptions {
  readonly embed: EmbedScheme;
  /** Width of x. Default: the scheme's columns. */
  readonly dim?: number;
  /** The most tokens the table is made for, at positions 0 … length - 1; batch and token counts stay free. */
  readonly length?: number;
  /** In place of `length`: the model is made for these positions, and its token count is fixed. */
  readonly positions?: PositionsLike;
  readonly scale?: number | "sqrt";
  readonly alpha?: number;
  readonly mode?: "add" | "concat";
}

// The oldest that has all operators used here (ScatterElements that adds came with 16): the more runtimes read it.
const kOpset = 17;

/**
 * An ONNX model (ModelProto, IR version 8, opset 17, operators of the default domain only) of attention or of an
 * embedding: the bytes of a .onnx file.
 *
 * Attention has the inputs `q` [batch, heads, queries, dim], `k` [batch, kvHeads, keys, dim], `v` [batch, kvHeads,
 * keys, valueDim] and the output `out` [batch, heads, queries, valueDim], float32; an embedding has `x` [batch, tokens, dim]
 * and `out`. Tables are the core's numbers for the positions they are made for; a run with more tokens than `length`
 * fails in the runtime, and never wraps.
 *
 * Errors: `missing-option`, `shape-mismatch`, `wrong-slot`; `unsupported` for schemes that the graph cannot say and for
 * cope without `causal`; `too-large` beyond 2 GB, what a protobuf file can hold.
 */
export function toOnnx(options: OnnxAttentionOptions | OnnxEmbedOptions): Uint8Array<ArrayBuffer> {
  const isEmbed = isRecord(options) && "embed" in options && options.embed !== undefined;
  const graph = new Graph();
  const model = isEmbed ? embedding(graph, options) : attending(graph, options);
  const bytes = graph.initializers.reduce((sum, { data }) => sum + data.byteLength, 2 ** 20);
  allowedSize(kSubject, "the model's bytes", [bytes], 1);
  return writeModel({
    ...model,
    version: info().version,
    opset: kOpset,
    nodes: graph.nodes,
    initializers: graph.initializers,
  });
}

type Interface = Pick<Model, "name" | "doc" | "inputs" | "outputs">;
type Given = Readonly<Record<string, unknown>>;

function readCount(argument: string, value: unknown, fallback?: number): number {
  const allowed = "a whole number from 1 to 2^31";
  const count = readWhole(kSubject, argument, value, allowed, 2 ** 31, fallback);
  if (count === 0) refuse("out-of-range", kSubject, argument, allowed, count);
  return count;
}

// ---------------------------------------------------------------- embeddings

function embedding(graph: Graph, options: unknown): Interface {
  const given = readOptions(kSubject, options, ["embed", "dim", "length", "positions", "scale", "alpha", "mode"]);
  const scheme = given.embed as EmbedScheme;
  const { width: columns } = readScheme(kSubject, "embed", scheme, ["embed"]);
  if (given.length === undefined && given.positions === undefined) {
    refuseMissing(kSubject, "length", "the most tokens the table is made for, or positions given");
  }
  const positions =
    given.positions === undefined
      ? countUp(0, readCount("length", given.length), kSubject, "length")
      : readPositions(kSubject, "positions", given.positions);
  const counted = given.positions === undefined;
  const mode = readChoice(kSubject, "mode", given.mode, ["add", "concat"], "add");
  const dim = readCount("dim", given.dim, columns);
  if (mode === "add" && dim !== columns) {
    refuse("shape-mismatch", kSubject, "dim", `${columns}, as wide as the scheme`, verbatim(String(dim)));
  }
  const { scale, alpha } = given as Pick<OnnxEmbedOptions, "scale" | "alpha">;
  const count = positions.count;
  const encoded = { positions: asTensor(positions), ...(alpha === undefined ? {} : { alpha }) };
  // What embed() adds to nothing, and what it makes of a one when it adds nothing.
  const table =
    mode === "add"
      ? embed(new Tensor(new Float32Array(count * dim), [count, dim], "float32"), scheme, encoded)
      : embed(new Tensor(new Float32Array(0), [count, 0], "float32"), scheme, { ...encoded, mode });
  const one = new Tensor(new Float32Array(columns).fill(1), [1, columns], "float32");
  const factor = scale === undefined ? 1 : embedScale(one, scheme, scale, dim);

  const p = graph.table("table", table.data as Float32Array, [count, columns]);
  const tokens = counted ? "tokens" : count;
  const rows = counted
    ? graph.add("Gather", [p, graph.add("Range", [graph.whole(0), graph.lengthOf("x", 1), graph.whole(1)])], {
        axis: 0,
      })
    : p;
  const scaled = factor === 1 ? "x" : graph.add("Mul", ["x", graph.real(factor)]);
  if (mode === "add") graph.add("Add", [scaled, rows], {}, "out");
  else {
    const wide = graph.add("Expand", [rows, graph.shape(["x", 0], ["x", 1], columns)]);
    graph.add("Concat", [scaled, wide], { axis: 2 }, "out");
  }
  const width = mode === "add" ? dim : dim + columns;
  return {
    name: "embedding",
    doc: `embed(x, ${String(scheme)})`,
    inputs: [{ name: "x", type: "float32", shape: ["batch", tokens, dim] }],
    outputs: [{ name: "out", type: "float32", shape: ["batch", tokens, width] }],
  };
}

// The number that embed() multiplies x with.
function embedScale(one: Tensor, scheme: EmbedScheme, scale: number | "sqrt", dim: number): number {
  const wide = new Tensor(new Float32Array(dim).fill(1), [1, dim], "float32");
  const options = { scale, alpha: 0, positions: 1 } as const;
  const result = dim === one.size ? embed(one, scheme, options) : embed(wide, scheme, { ...options, mode: "concat" });
  return result.data[0]!;
}

// ---------------------------------------------------------------- attention

const kKnown = [
  "rotate",
  "bias",
  "relate",
  "heads",
  "kvHeads",
  "dim",
  "valueDim",
  "length",
  "causal",
  "window",
  "prefixLength",
  "scale",
  "softcap",
  "sinks",
  "queryPositions",
  "keyPositions",
  "queryOrder",
  "keyOrder",
  "keyMask",
  "mask",
  "weights",
  "format",
] as const;

// The lowest float32: a row that sees nothing is uniform for a moment, never NaN, and then set to zero.
const kLowest = -3.4028234663852886e38;

function readSetup(given: Given): Setup {
  const heads = readCount("heads", given.heads, 1);
  const kvHeads = readCount("kvHeads", given.kvHeads, heads);
  const dim = readCount("dim", given.dim);
  const valueDim = readCount("valueDim", given.valueDim, dim);
  const causal = readCausal(kSubject, given.causal);
  if (heads % kvHeads !== 0) {
    refuse("shape-mismatch", kSubject, "kvHeads", `a divisor of heads, ${heads}`, kvHeads);
  }
  const { queryPositions, keyPositions } = given;
  const length = given.length === undefined ? undefined : readPositive(kSubject, "length", given.length);
  const widths = { heads, kvHeads, dim, valueDim, causal, given };
  if (queryPositions === undefined && keyPositions === undefined) {
    for (const name of ["queryOrder", "keyOrder"] as const) {
      if (given[name] !== undefined) refuseMissing(kSubject, "queryPositions", `given, and keyPositions, with ${name}`);
    }
    if (length === undefined) {
      refuseMissing(kSubject, "length", "the most tokens the tables are made for, or queryPositions and keyPositions");
    }
    const most = readCount("length", length);
    const positions = countUp(0, most, kSubject, "length");
    const key = { positions, count: causal === true ? "tokens" : "keys" };
    const query = { positions, count: causal === true ? "tokens" : "queries" };
    return { ...widths, query, key, counted: most, length: most };
  }
  for (const name of ["queryPositions", "keyPositions"] as const) {
    if (given[name] === undefined) refuseMissing(kSubject, name, "given, as the other positions are");
  }
  const query = readPositions(kSubject, "queryPositions", queryPositions);
  const key = readPositions(kSubject, "keyPositions", keyPositions);
  const last = key.data.reduce((most, p) => (most < p ? p : most), 0);
  return {
    ...widths,
    query: { positions: query, count: query.count },
    key: { positions: key, count: key.count },
    counted: undefined,
    length: length ?? last + 1,
  };
}

function attending(graph: Graph, options: unknown): Interface {
  const given = readOptions(kSubject, options, kKnown);
  for (const slot of ["rotate", "bias", "relate"] as const) readSchemes(kSubject, slot, given[slot], slot);
  const setup = readSetup(given);
  const { heads, kvHeads, dim, valueDim, counted } = setup;
  const slots = given as Pick<OnnxAttentionOptions, "rotate" | "bias" | "relate" | "scale">;
  const { rotate: rotating, bias: biasing, relate: relating, scale } = slots;
  // Whatever does not fit the heads and widths, the core says.
  attention(zeros(heads, 1, dim), zeros(kvHeads, 1, dim), zeros(kvHeads, 1, valueDim), {
    ...(rotating === undefined ? {} : { rotate: rotating }),
    ...(biasing === undefined ? {} : { bias: biasing }),
    ...(relating === undefined ? {} : { relate: relating }),
    ...(scale === undefined ? {} : { scale }),
    causal: setup.causal !== false,
    queryPositions: firstOf(setup.query.positions),
    keyPositions: firstOf(setup.query.positions),
  });
  const softcap = readPositive(kSubject, "softcap", given.softcap);
  const sinks = readSinks(given.sinks, heads);
  const wantsWeights = readFlag(kSubject, "weights", given.weights);
  const wantsKeyMask = readFlag(kSubject, "keyMask", given.keyMask);
  const maskKind = readChoice(kSubject, "mask", given.mask, ["none", "visible", "additive"], "none");
  const packed = readChoice(kSubject, "format", given.format, ["heads", "packed"], "heads") === "packed";

  // From here on [batch, heads, tokens, width].
  const split = (name: string, count: number, width: number): string =>
    packed
      ? graph.add("Transpose", [graph.add("Reshape", [name, graph.whole([0, 0, count, width])])], {
          perm: [0, 2, 1, 3],
        })
      : name;
  const q = split("q", heads, dim);
  const k = split("k", kvHeads, dim);
  const v = split("v", kvHeads, valueDim);
  const places = counted === undefined ? undefined : countedPlaces(graph, setup, q, k);

  const grouped = heads !== kvHeads;
  // Queries that share a key head stand below each other: [batch, kvHeads, group * queries, …], and back.
  const gather = (x: string, width: number | readonly [string, number]): string =>
    grouped ? graph.add("Reshape", [x, graph.shape([x, 0], kvHeads, -1, width)]) : x;
  const spread = (x: string, width: number | readonly [string, number]): string =>
    grouped ? graph.add("Reshape", [x, graph.shape([q, 0], heads, [q, 2], width)]) : x;

  const turned = { query: q, key: k };
  const schemes = rotating === undefined ? [] : Array.isArray(rotating) ? rotating : [rotating as RotateScheme];
  (schemes as readonly RotateScheme[]).forEach((scheme, n) => {
    for (const side of ["query", "key"] as const) {
      const { positions } = setup[side];
      const { partner, own, other } = rotationTables(scheme, dim, positions, side, setup.length);
      const name = `${scheme.name}_${n}_${side}`;
      const rows = (table: Float32Array, what: string): string => {
        const full = graph.table(`${name}_${what}`, table, [positions.count, dim]);
        return places === undefined ? full : graph.add("Gather", [full, places[side]], { axis: 0 });
      };
      const x = turned[side];
      const straight = graph.add("Mul", [x, rows(own, "own")]);
      if (other === undefined) {
        turned[side] = straight;
        continue;
      }
      const partners = graph.table(`${name}_partner`, BigInt64Array.from(partner, BigInt), [dim]);
      const crossed = graph.add("Mul", [graph.add("Gather", [x, partners], { axis: 3 }), rows(other, "other")]);
      turned[side] = graph.add("Add", [straight, crossed]);
    }
  });

  const products = graph.add("MatMul", [
    gather(turned.query, dim),
    graph.add("Transpose", [turned.key], { perm: [0, 1, 3, 2] }),
  ]);
  // 1 / sqrt(d) as the core has it: the score of a query and key whose product is one.
  const factor = scale ?? unitScore(dim);
  let scores = graph.add("Mul", [spread(products, [k, 2]), graph.real(factor)]);

  let visible = visibility(graph, setup, places);
  if (wantsKeyMask) {
    const mask = graph.add("Unsqueeze", ["key_mask", graph.whole([1, 2])]);
    visible = visible === undefined ? mask : graph.add("And", [visible, mask]);
  }
  if (maskKind !== "none") {
    const seen = maskKind === "visible" ? "mask" : graph.add("Greater", ["mask", graph.real(-Infinity)]);
    visible = visible === undefined ? seen : graph.add("And", [visible, seen]);
  }

  const relations = relating === undefined ? [] : Array.isArray(relating) ? relating : [relating as RelateScheme];
  const operands: Operands = { q, k, content: scores, visible, factor: graph.real(factor) };
  for (const scheme of relations as readonly RelateScheme[]) {
    const term =
      scheme.name === "cope"
        ? copeTerm(graph, scheme, setup, operands)
        : affineTerm(graph, scheme, setup, places, operands);
    if (term !== undefined) scores = graph.add("Add", [scores, term]);
  }
  const tables = valueTables(graph, relations as readonly RelateScheme[], setup, places);
  if (softcap !== undefined) {
    const cap = graph.real(softcap);
    scores = graph.add("Mul", [graph.add("Tanh", [graph.add("Div", [scores, cap])]), cap]);
  }
  if (biasing !== undefined && !(Array.isArray(biasing) && biasing.length === 0)) {
    scores = graph.add("Add", [scores, biasOf(graph, biasing, setup, places)]);
  }

  if (maskKind === "additive") {
    // A sum with -Infinity would be NaN where the score is not finite; what is masked is put aside below.
    scores = graph.add("Add", [scores, graph.add("Where", [visible!, "mask", graph.real(0)])]);
  }
  if (visible !== undefined) scores = graph.add("Where", [visible, scores, graph.real(kLowest)]);
  let weights: string;
  if (sinks === undefined) weights = graph.add("Softmax", [scores], { axis: -1 });
  else {
    const sink = graph.table("sinks", sinks, [1, heads, 1, 1]);
    const column = graph.add("Expand", [sink, graph.shape([q, 0], heads, [q, 2], 1)]);
    const all = graph.add("Softmax", [graph.add("Concat", [scores, column], { axis: 3 })], { axis: -1 });
    weights = graph.add("Slice", [all, graph.whole([0]), graph.whole([-1]), graph.whole([3])]);
  }
  if (visible !== undefined) weights = graph.add("Where", [visible, weights, graph.real(0)]);

  let out = spread(graph.add("MatMul", [gather(weights, [k, 2]), v]), valueDim);
  for (const { values, index, rows } of tables) {
    const at = graph.add("Expand", [index, graph.shape([q, 0], heads, [q, 2], [k, 2])]);
    const none = graph.add("Expand", [graph.real(0), graph.shape([q, 0], heads, [q, 2], rows)]);
    const gathered = graph.add("ScatterElements", [none, at, weights], { axis: 3, reduction: "add" });
    out = graph.add("Add", [out, graph.add("MatMul", [gathered, values])]);
  }
  if (packed) {
    const joined = graph.add("Transpose", [out], { perm: [0, 2, 1, 3] });
    graph.add("Reshape", [joined, graph.whole([0, 0, heads * valueDim])], {}, "out");
  } else graph.add("Identity", [out], {}, "out");
  if (wantsWeights) graph.add("Identity", [weights], {}, "weights");

  const array = (name: string, { count }: Tokens, h: number, width: number): Value => ({
    name,
    type: "float32",
    shape: packed ? ["batch", count, h * width] : ["batch", h, count, width],
  });
  const { query, key } = setup;
  return {
    name: "attention",
    doc: described(given, counted),
    inputs: [
      array("q", query, heads, dim),
      array("k", key, kvHeads, dim),
      array("v", key, kvHeads, valueDim),
      ...(wantsKeyMask ? [{ name: "key_mask", type: "bool", shape: ["batch", key.count] } as const] : []),
      ...(maskKind === "none"
        ? []
        : [
            {
              name: "mask",
              type: maskKind === "visible" ? "bool" : "float32",
              shape: ["mask_batch", "mask_heads", "mask_queries", key.count],
            } as const,
          ]),
    ],
    outputs: [
      array("out", query, heads, valueDim),
      ...(wantsWeights
        ? [{ name: "weights", type: "float32", shape: ["batch", heads, query.count, key.count] } as const]
        : []),
    ],
  };
}

// As one would write the call.
function described(given: Given, counted: number | undefined): string {
  const parts = Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = Array.isArray(value) ? `[${value.map(String).join(", ")}]` : String(value);
      return `${name}: ${text.length > 120 ? "…" : text}`;
    });
  const limit = counted === undefined ? "for the positions given" : `for up to ${counted} tokens`;
  return `attention(q, k, v, {${parts.join(", ")}}) ${limit}`;
}

function firstOf({ data, axes, count }: Positions): Tensor {
  const first = Float64Array.from({ length: axes }, (_, axis) => (count === 0 ? 0 : data[axis * count]!));
  return asTensor({ data: first, axes, count: 1 });
}

function unitScore(dim: number): number {
  const one = zeros(1, dim);
  one.data[0] = 1;
  return attention(one, one, zeros(1, 1), { trace: true }).trace.content.data[0]!;
}

function readSinks(value: unknown, heads: number): Float32Array | undefined {
  if (value === undefined) return undefined;
  const { data, shape } = readNumbers(kSubject, "sinks", value);
  if (shape.length !== 1 || shape[0] !== heads) {
    refuseShape(kSubject, "sinks", `of shape [${heads}]`, shape);
  }
  for (const sink of data) readFinite(kSubject, "sinks", sink);
  return Float32Array.from(data);
}

// ---------------------------------------------------------------- places

function countedPlaces(graph: Graph, { causal, counted }: Setup, q: string, k: string): Places {
  const queries = graph.lengthOf(q, 2);
  const keys = graph.lengthOf(k, 2);
  const key = graph.add("Range", [graph.whole(0), keys, graph.whole(1)]);
  const last = causal === "bottom-right";
  const first = last ? graph.add("Sub", [keys, queries]) : graph.whole(0);
  const position = graph.add("Range", [first, last ? keys : queries, graph.whole(1)]);
  const offset = graph.add("Sub", [key, graph.add("Unsqueeze", [position, graph.whole([1])])]);
  // A negative row would count from a table's end: more queries than keys must fail as a row too many does.
  const query = last
    ? graph.add("Where", [graph.add("Less", [position, graph.whole(0)]), graph.whole(counted!), position])
    : position;
  return { query, key, offset, offsetRow: graph.add("Add", [offset, graph.whole(counted! - 1)]) };
}

function visibility(graph: Graph, setup: Setup, places: Places | undefined): string | undefined {
  const { given, causal, query, key, counted } = setup;
  const isCausal = causal !== false;
  const [left, right] = readWindow(kSubject, given.window, isCausal);
  const prefix = readWhole(kSubject, "prefixLength", given.prefixLength, "a whole number from 0", 2 ** 31, 0);
  if (!isCausal && left === Infinity && right === Infinity) return undefined;
  if (places === undefined) {
    // All its rules at once, from the core.
    const [tq, tk] = [query.positions.count, key.positions.count];
    const order = (name: "queryOrder" | "keyOrder", count: number): object => {
      const list = readOrder(kSubject, name, given[name], count);
      return list === undefined ? {} : { [name]: list };
    };
    const { trace } = attention(zeros(tq, 1), zeros(tk, 1), zeros(tk, 1), {
      causal,
      ...(given.window === undefined ? {} : { window: given.window as number }),
      prefixLength: prefix,
      queryPositions: asTensor(query.positions),
      keyPositions: asTensor(key.positions),
      ...order("queryOrder", tq),
      ...order("keyOrder", tk),
      trace: true,
    });
    return graph.table(
      "visible",
      trace.masked.data.map((masked) => 1 - masked),
      [tq, tk],
    );
  }
  const limits: string[] = [];
  const within = (op: string, reach: number): void => {
    // Offsets are whole: what lies between whole numbers cuts as the one below.
    if (reach <= 2 * counted!)
      limits.push(graph.add(op, [places.offset, graph.whole(op === "LessOrEqual" ? reach : -reach)]));
  };
  if (isCausal) within("LessOrEqual", 0);
  within("GreaterOrEqual", wholeBelow(left, counted!));
  within("LessOrEqual", wholeBelow(right, counted!));
  if (limits.length === 0) return undefined;
  const windowed = limits.reduce((a, b) => graph.add("And", [a, b]));
  return prefix === 0 ? windowed : graph.add("Or", [windowed, graph.add("Less", [places.key, graph.whole(prefix)])]);
}

function wholeBelow(reach: number, counted: number): number {
  return reach > 2 * counted ? Infinity : reach - (reach % 1);
}

// ---------------------------------------------------------------- tables

interface Rotation {
  /** Which column a column is mixed with; itself where with none. */
  readonly partner: readonly number[];
  /** [tokens, dim] each: R x = own * x + other * x[partner]. */
  readonly own: Float32Array;
  readonly other: Float32Array | undefined;
}

// A rotate scheme turns, scales and leaves columns by pairs. Which pairs, and by what numbers, is read off what it does
// to vectors of ones and zeros, so that every scheme of the slot is written alike and to the bit.
function rotationTables(
  scheme: RotateScheme,
  dim: number,
  positions: Positions,
  side: "query" | "key",
  length: number | undefined,
): Rotation {
  const { count } = positions;
  const turn = (x: Tensor, at: Positions): Float32Array =>
    rotate(x as Tensor<"float32">, scheme, {
      positions: asTensor(at),
      side,
      ...(length === undefined ? {} : { length }),
    }).data;
  const probes = spreadOver(positions, count * dim * dim <= 2 ** 22 ? count : 64);
  const unit = zeros(dim, probes.count, dim);
  const stride = probes.count * dim;
  for (let c = 0; c < dim; c++) {
    for (let t = 0; t < probes.count; t++) unit.data[c * stride + t * dim + c] = 1;
  }
  const turned = turn(unit, probes);
  const partner = Array.from({ length: dim }, (_, c) => c);
  const mixed = (): never =>
    refuse("unsupported", kSubject, "rotate", "schemes that mix columns by pairs", verbatim(String(scheme)));
  for (let c = 0; c < dim; c++) {
    for (let at = c * stride; at < (c + 1) * stride; at++) {
      const row = at % dim;
      if (row === c || turned[at] === 0) continue;
      if (partner[c] !== c && partner[c] !== row) mixed();
      partner[c] = row;
    }
  }
  partner.forEach((other, c) => {
    if (partner[other] !== c) mixed();
  });
  const firsts = zeros(count, dim);
  const seconds = zeros(count, dim);
  const isFirst = (c: number): boolean => c <= partner[c]!;
  for (let n = 0; n < count * dim; n++) (isFirst(n % dim) ? firsts : seconds).data[n] = 1;
  const [a, b] = [turn(firsts, positions), turn(seconds, positions)];
  const own = a.map((x, n) => (isFirst(n % dim) ? x : b[n]!));
  const other = partner.every((to, c) => to === c) ? undefined : a.map((x, n) => (isFirst(n % dim) ? b[n]! : x));
  // Numbers at random through both ways: a pair that no probe showed would tell here.
  const some = randomNormal([count, dim], { seed: 1 });
  const expected = turn(some, positions);
  for (let n = 0; n < count * dim; n++) {
    const across = other === undefined ? 0 : other[n]! * some.data[n - (n % dim) + partner[n % dim]!]!;
    const gap = own[n]! * some.data[n]! + across - expected[n]!;
    const size = 1e-5 * (1 + (expected[n]! < 0 ? -expected[n]! : expected[n]!) + (own[n]! < 0 ? -own[n]! : own[n]!));
    if (!(gap <= size && -gap <= size)) mixed();
  }
  return { partner, own, other };
}

function dependsOnOffsetOnly(scheme: BiasScheme): boolean {
  const { laws } = fullDescriptor(readScheme(kSubject, "bias", scheme, ["bias"]).descriptor);
  const claim = laws.find(({ law }) => law === "shift_invariant");
  return claim !== undefined && claim.when === undefined;
}

function biasOf(
  graph: Graph,
  given: BiasScheme | readonly BiasScheme[],
  { query, key, counted }: Setup,
  places: Places | undefined,
): string {
  const list = Array.isArray(given) ? (given as readonly BiasScheme[]) : [given as BiasScheme];
  if (places === undefined) {
    const { data, shape } = bias(list, { queries: asTensor(query.positions), keys: asTensor(key.positions) });
    return graph.table("bias", data, shape);
  }
  if (list.every(dependsOnOffsetOnly)) {
    const keys = countUp(0, 2 * counted! - 1, kSubject, "length");
    const { data, shape } = bias(list, { queries: [counted! - 1], keys: asTensor(keys) });
    const table = graph.table("bias_by_offset", data, [shape[0]!, shape[2]!]);
    return graph.add("Gather", [table, places.offsetRow], { axis: 1 });
  }
  const { data, shape } = bias(list, { queries: counted!, keys: counted! });
  const rows = graph.add("Gather", [graph.table("bias", data, shape), places.query], { axis: 1 });
  return graph.add("Gather", [rows, places.key], { axis: 2 });
}
