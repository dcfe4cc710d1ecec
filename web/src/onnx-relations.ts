// The relations of posenc/onnx: what a relate scheme adds to scores and outputs, read off what it makes of vectors of
// ones and zeros.
import { attention } from "./attention.js";
import { relativeIndex } from "./bias.js";
import { PosencError, refuse, verbatim } from "./error.js";
import { type Graph, type Places, type Setup, asTensor, kSubject, spreadOver, zeros } from "./onnx-graph.js";
import { kFloat, kInt64 } from "./onnx-proto.js";
import { randomNormal } from "./random.js";
import { type RelateScheme, readScheme } from "./scheme.js";
import { Tensor, allowedSize } from "./tensor.js";

/** Values of the graph that a relation meets. */
export interface Operands {
  /** [batch, heads, queries, dim] and [batch, kvHeads, keys, dim], unturned. */
  readonly q: string;
  readonly k: string;
  /** [batch, heads, queries, keys]: the scaled content. */
  readonly content: string;
  /** What is seen, if anything is not. */
  readonly visible: string | undefined;
  /** What scores are multiplied with. */
  readonly factor: string;
}

/** Vectors or numbers by offset: equal ones stand once. */
interface ByOffset {
  /** [heads, rows, width] */
  readonly data: Float32Array;
  readonly heads: number;
  readonly rows: number;
  readonly width: number;
  /** The row of each of the offsets. */
  readonly rowOf: Int32Array;
}

/** The offsets, key - query, that a model may meet, in order, and where in the graph each pair's stands among them. */
interface Offsets {
  readonly offsets: Float64Array;
  /** int64 [queries, keys], of the rows that offsets have. */
  readonly index: (name: string, rowOf: Int32Array) => string;
}

function offsetsOf(graph: Graph, { query, key, counted }: Setup, places: Places | undefined): Offsets {
  if (places !== undefined) {
    const count = 2 * counted! - 1;
    return {
      offsets: Float64Array.from({ length: count }, (_, n) => n - counted! + 1),
      index: (name, rowOf) =>
        graph.add("Gather", [graph.table(name, BigInt64Array.from(rowOf, BigInt), [count]), places.offsetRow], {
          axis: 0,
        }),
    };
  }
  const [tq, tk] = [query.positions.count, key.positions.count];
  const pairs = Float64Array.from({ length: tq * tk }, (_, n) => {
    const j = n % tk;
    return key.positions.data[j]! - query.positions.data[(n - j) / tk]!;
  });
  const offsets = Float64Array.from(new Set(pairs)).sort();
  const place = new Map(Array.from(offsets, (offset, n) => [offset, n] as const));
  return {
    offsets,
    index: (name, rowOf) =>
      graph.table(
        name,
        BigInt64Array.from(pairs, (offset) => BigInt(rowOf[place.get(offset)!]!)),
        [tq, tk],
      ),
  };
}

// Values [heads, offsets, width] with a row for each run of equal ones; nothing where all are zero.
function byOffset(values: Float32Array, heads: number, offsets: number, width: number): ByOffset | undefined {
  if (values.every((x) => x === 0)) return undefined;
  const rowOf = new Int32Array(offsets);
  const first = [0];
  const at = (h: number, o: number): number => (h * offsets + o) * width;
  for (let o = 1; o < offsets; o++) {
    const before = first[first.length - 1]!;
    let same = true;
    for (let h = 0; h < heads && same; h++) {
      for (let c = 0; c < width && same; c++) same = values[at(h, o) + c] === values[at(h, before) + c];
    }
    if (!same) first.push(o);
    rowOf[o] = first.length - 1;
  }
  const rows = first.length;
  const data = new Float32Array(heads * rows * width);
  for (let h = 0; h < heads; h++) {
    first.forEach((o, row) => data.set(values.subarray(at(h, o), at(h, o) + width), (h * rows + row) * width));
  }
  return { data, heads, rows, width, rowOf };
}

// What a relation adds to scores, at scale 1 where none is given: q at position 0, k at the offsets.
function relationTo(
  scheme: RelateScheme,
  valueDim: number,
  q: Tensor,
  k: Tensor,
  offsets: Float64Array,
  scale = 1,
): Float32Array {
  const keys = k.shape[1]!;
  return attention(q, k, zeros(1, keys, valueDim), {
    relate: scheme,
    scale,
    queryPositions: new Float64Array(q.shape[1]!),
    keyPositions: offsets,
    trace: true,
  }).trace.relate.data;
}

// At most so many numbers of a trace at once.
const kProbed = 2 ** 20;

// A relation that is q . a(o) + k . b(o) + c(o), scaled, with numbers of the offset o alone. Which numbers is read off
// what it makes of vectors of ones and zeros, so that every such scheme is written alike.
function readAffine(
  scheme: RelateScheme,
  heads: number,
  { dim, valueDim }: Setup,
  offsets: Float64Array,
): Record<"a" | "b" | "c", ByOffset | undefined> {
  const { chosen, of } = representatives(scheme, offsets);
  const count = chosen.length;
  allowedSize(kSubject, "the relation's bytes", [heads, count, dim], 4);
  const a = new Float32Array(heads * count * dim);
  const b = new Float32Array(heads * count * dim);
  const c = new Float32Array(heads * count);
  const units = zeros(heads, dim, dim);
  for (let n = 0; n < heads * dim; n++) units.data[n * dim + (n % dim)] = 1;
  const nobody = zeros(heads, 1, dim);
  const widest = dim * (heads < dim ? dim : heads);
  const most = widest > kProbed ? 1 : (kProbed - (kProbed % widest)) / widest;
  for (let from = 0; from < count; from += most) {
    const some = chosen.subarray(from, from + most);
    const n = some.length;
    const alone = relationTo(scheme, valueDim, nobody, zeros(1, n, dim), some);
    const byQuery = relationTo(scheme, valueDim, units, zeros(1, n, dim), some);
    const keys = zeros(1, n * dim, dim);
    for (let m = 0; m < n * dim; m++) keys.data[m * dim + (m % dim)] = 1;
    const spread = Float64Array.from({ length: n * dim }, (_, m) => some[(m - (m % dim)) / dim]!);
    const byKey = relationTo(scheme, valueDim, nobody, keys, spread);
    for (let h = 0; h < heads; h++) {
      for (let o = 0; o < n; o++) {
        const own = alone[h * n + o]!;
        const to = h * count + from + o;
        c[to] = own;
        for (let e = 0; e < dim; e++) {
          a[to * dim + e] = byQuery[(h * dim + e) * n + o]! - own;
          b[to * dim + e] = byKey[(h * n + o) * dim + e]! - own;
        }
      }
    }
  }
  // Vectors at random, at another scale: a relation of another kind would tell here.
  const trials = spreadOver({ data: offsets, axes: 1, count: offsets.length }, 64);
  const n = trials.count;
  const q = randomNormal([heads, 1, dim], { seed: 1 });
  const k = randomNormal([1, n, dim], { seed: 2 });
  const place = new Map(Array.from(offsets, (offset, at) => [offset, at] as const));
  const wanted = relationTo(scheme, valueDim, q, k, trials.data, 0.5);
  for (let m = 0; m < heads * n; m++) {
    const [h, o] = [(m - (m % n)) / n, m % n];
    const at = h * count + of[place.get(trials.data[o]!)!]!;
    let [sum, size] = [c[at]!, 1];
    for (let e = 0; e < dim; e++) {
      const part = q.data[h * dim + e]! * a[at * dim + e]! + k.data[o * dim + e]! * b[at * dim + e]!;
      sum += part;
      size += part < 0 ? -part : part;
    }
    const gap = sum / 2 - wanted[m]!;
    if (!(gap <= 1e-5 * size && -gap <= 1e-5 * size)) {
      const allowed = "schemes whose terms are scaled sums of products";
      refuse("unsupported", kSubject, "relate", allowed, verbatim(scheme.name));
    }
  }
  const rows = (values: Float32Array, width: number): ByOffset | undefined => {
    const some = byOffset(values, heads, count, width);
    return some && { ...some, rowOf: of.map((at) => some.rowOf[at]!) };
  };
  return { a: rows(a, dim), b: rows(b, dim), c: rows(c, 1) };
}

// Of offsets that a scheme with a table takes for the same, in both directions, one each; of other schemes all.
function representatives(scheme: RelateScheme, offsets: Float64Array): { chosen: Float64Array; of: Int32Array } {
  let rows: [Int32Array, Int32Array];
  try {
    const here = relativeIndex(scheme, { queries: [0], keys: offsets }).data;
    rows = [here, relativeIndex(scheme, { queries: [0], keys: offsets.map((offset) => -offset) }).data];
  } catch (error) {
    if (!(error instanceof PosencError && error.code === "unsupported")) throw error;
    return { chosen: offsets, of: Int32Array.from(offsets, (_, n) => n) };
  }
  const chosen: number[] = [];
  const known = new Map<string, number>();
  const of = Int32Array.from(offsets, (offset, n) => {
    const key = `${rows[0][n]} ${rows[1][n]}`;
    let at = known.get(key);
    if (at === undefined) {
      at = chosen.push(offset) - 1;
      known.set(key, at);
    }
    return at;
  });
  return { chosen: Float64Array.from(chosen), of };
}

// [batch, heads, queries, keys], or what spreads to it; nothing where the relation adds nothing to scores.
export function affineTerm(
  graph: Graph,
  scheme: RelateScheme,
  setup: Setup,
  places: Places | undefined,
  { q, k, factor }: Operands,
): string | undefined {
  const { heads: own } = readScheme(kSubject, "relate", scheme, ["relate"]);
  const { heads, kvHeads, dim } = setup;
  const { offsets, index } = offsetsOf(graph, setup, places);
  const { a, b, c } = readAffine(scheme, own === 0 ? 1 : own, setup, offsets);
  const name = (part: string): string => `${scheme.name}_${graph.initializers.length}_${part}`;
  // [heads, width, rows], to be met by vectors.
  const columns = (part: string, { data, heads: h, rows, width }: ByOffset): string => {
    const turned = new Float32Array(data.length);
    for (let n = 0; n < data.length; n++) {
      const [row, e, head] = [((n - (n % width)) / width) % rows, n % width, (n - (n % (rows * width))) / rows / width];
      turned[(head * width + e) * rows + row] = data[n]!;
    }
    return graph.table(name(part), turned, [h, width, rows]);
  };
  const terms: string[] = [];
  if (a !== undefined) {
    const met = graph.add("MatMul", [q, columns("queries_meet", a)]);
    if (a.rows === 1) terms.push(met);
    else {
      const at = graph.add("Expand", [
        index(name("queries_row"), a.rowOf),
        graph.shape([q, 0], heads, [q, 2], [k, 2]),
      ]);
      terms.push(graph.add("GatherElements", [met, at], { axis: 3 }));
    }
  }
  if (b !== undefined) {
    let each = k;
    if (heads !== kvHeads) {
      const apart = graph.add("Unsqueeze", [k, graph.whole([2])]);
      const repeated = graph.add("Expand", [apart, graph.shape([k, 0], kvHeads, heads / kvHeads, [k, 2], dim)]);
      each = graph.add("Reshape", [repeated, graph.shape([k, 0], heads, [k, 2], dim)]);
    }
    let met = graph.add("MatMul", [each, columns("keys_meet", b)]);
    if (b.rows > 1) {
      const turned = graph.add("Transpose", [index(name("keys_row"), b.rowOf)], { perm: [1, 0] });
      const at = graph.add("Expand", [turned, graph.shape([q, 0], heads, [k, 2], [q, 2])]);
      met = graph.add("GatherElements", [met, at], { axis: 3 });
    }
    terms.push(graph.add("Transpose", [met], { perm: [0, 1, 3, 2] }));
  }
  if (c !== undefined) {
    const table = graph.table(name("offsets"), c.data, c.rows === 1 ? [c.heads, 1, 1] : [c.heads, c.rows]);
    terms.push(c.rows === 1 ? table : graph.add("Gather", [table, index(name("offsets_row"), c.rowOf)], { axis: 1 }));
  }
  if (terms.length === 0) return undefined;
  return graph.add("Mul", [terms.reduce((x, y) => graph.add("Add", [x, y])), factor]);
}

// CoPE counts gates from the query backwards, and reads its table between the rows of the count.
export function copeTerm(graph: Graph, scheme: RelateScheme, { valueDim, dim }: Setup, operands: Operands): string {
  const { q, content, visible } = operands;
  const { heads: own } = readScheme(kSubject, "relate", scheme, ["relate"]);
  const heads = own === 0 ? 1 : own;
  const rows = (scheme as unknown as { maxPosition: number }).maxPosition;
  // Keys of nought open their gates by half: the count at the 2 r-th from the end is r, and the term of a unit query is
  // a number of row r. Row 0 is that of a key whose gate is shut.
  const keys = 2 * rows;
  const units = zeros(heads, dim, dim);
  for (let n = 0; n < heads * dim; n++) units.data[n * dim + (n % dim)] = 1;
  const probe = (fill: number, count: number): Float32Array =>
    attention(
      units,
      new Tensor(new Float32Array(count * dim).fill(fill), [1, count, dim], "float32"),
      zeros(1, count, valueDim),
      {
        relate: scheme,
        scale: 1,
        causal: true,
        queryPositions: new Float64Array(dim).fill(count - 1),
        keyPositions: count,
        trace: true,
      },
    ).trace.relate.data;
  const [shut, open] = [probe(-1e6, 1), probe(0, keys)];
  const table = new Float32Array(heads * dim * rows);
  for (let n = 0; n < heads * dim; n++) {
    for (let r = 0; r < rows; r++) table[n * rows + r] = r === 0 ? shut[n]! : open[n * keys + keys - 2 * r]!;
  }
  const met = graph.add("MatMul", [q, graph.table(`cope_${graph.initializers.length}`, table, [heads, dim, rows])]);
  const seen = graph.add("Cast", [visible!], { to: kFloat });
  const gates = graph.add("Mul", [graph.add("Sigmoid", [content]), seen]);
  const counts = graph.add("CumSum", [gates, graph.whole(3)], { reverse: 1 });
  const place = graph.add("Min", [counts, graph.real(rows - 1)]);
  const low = graph.add("Floor", [place]);
  const share = graph.add("Sub", [place, low]);
  const row = graph.add("Cast", [low], { to: kInt64 });
  const next = graph.add("Min", [graph.add("Add", [row, graph.whole(1)]), graph.whole(rows - 1)]);
  const at = (index: string): string => graph.add("GatherElements", [met, index], { axis: 3 });
  const [here, there] = [at(row), at(next)];
  // here + share (there - here)
  return graph.add("Add", [here, graph.add("Mul", [share, graph.add("Sub", [there, here])])]);
}

export interface ValueTable {
  /** [heads or 1, rows, valueDim]: a^V. */
  readonly values: string;
  /** int64 [queries, keys]: its rows. */
  readonly index: string;
  readonly rows: number;
}

// The tables whose rows are mixed into the output: Shaw's.
export function valueTables(
  graph: Graph,
  schemes: readonly RelateScheme[],
  setup: Setup,
  places: Places | undefined,
): readonly ValueTable[] {
  return schemes.flatMap((scheme, n): ValueTable[] => {
    const { clip, values } = scheme as unknown as { clip: number; values: unknown };
    if (scheme.name !== "shaw" || values === false) return [];
    const { heads: own } = readScheme(kSubject, "relate", scheme, ["relate"]);
    const heads = own === 0 ? 1 : own;
    const { dim, valueDim, query, key, counted } = setup;
    const rows = 2 * clip + 1;
    // A query that sees one key has its value, zero here, and the table's row.
    const { out } = attention(zeros(heads, rows, dim), zeros(heads, 1, dim), zeros(heads, 1, valueDim), {
      relate: scheme,
      queryPositions: Float64Array.from({ length: rows }, (_, row) => clip - row),
      keyPositions: [0],
    });
    const pairs =
      places === undefined
        ? relativeIndex(scheme, { queries: asTensor(query.positions), keys: asTensor(key.positions) })
        : relativeIndex(scheme, { queries: [counted! - 1], keys: 2 * counted! - 1 });
    const shape = places === undefined ? pairs.shape : [2 * counted! - 1];
    const table = graph.table(`shaw_${n}_index`, BigInt64Array.from(pairs.data, BigInt), shape);
    return [
      {
        values: graph.table(`shaw_${n}_values`, out.data, [heads, rows, valueDim]),
        index: places === undefined ? table : graph.add("Gather", [table, places.offsetRow], { axis: 0 }),
        rows,
      },
    ];
  });
}
