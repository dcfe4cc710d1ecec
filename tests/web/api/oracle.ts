// Attention in double precision, straight from the equations: plain loops over plain arrays, nothing of the package.

export type Matrix = readonly (readonly number[])[];

export interface OracleCall {
  readonly q: Matrix;
  readonly k: Matrix;
  readonly v: Matrix;
  readonly scale?: number;
  /** Added to the score of query i and key j. */
  readonly bias?: (i: number, j: number) => number;
  readonly visible?: (i: number, j: number) => boolean;
  /** a^K and a^V of Shaw. */
  readonly keyTerm?: (i: number, j: number) => readonly number[];
  readonly valueTerm?: (i: number, j: number) => readonly number[];
}

export interface OracleResult {
  readonly out: number[][];
  readonly weights: number[][];
  readonly scores: number[][];
  readonly lse: number[];
}

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, c) => sum + x * b[c]!, 0);

/** softmax(scores) v for one head; a row without a visible key is zero. */
export function attend({ q, k, v, scale, bias, visible, keyTerm, valueTerm }: OracleCall): OracleResult {
  const width = v[0]?.length ?? 0;
  const result: OracleResult = { out: [], weights: [], scores: [], lse: [] };
  q.forEach((query, i) => {
    const s = k.map((key, j) => {
      if (visible !== undefined && !visible(i, j)) return -Infinity;
      const met = keyTerm === undefined ? key : key.map((x, c) => x + keyTerm(i, j)[c]!);
      return dot(query, met) * (scale ?? 1 / Math.sqrt(query.length)) + (bias?.(i, j) ?? 0);
    });
    const top = Math.max(...s);
    const e = s.map((x) => (x === -Infinity ? 0 : Math.exp(x - top)));
    const total = e.reduce((a, b) => a + b, 0);
    const w = e.map((x) => (total === 0 ? 0 : x / total));
    result.scores.push(s);
    result.weights.push(w);
    result.lse.push(total === 0 ? -Infinity : top + Math.log(total));
    result.out.push(
      Array.from({ length: width }, (_, c) =>
        w.reduce((sum, p, j) => sum + (p === 0 ? 0 : p * (v[j]![c]! + (valueTerm?.(i, j)[c] ?? 0))), 0),
      ),
    );
  });
  return result;
}

/** Row t of a sinusoidal table, sine beside cosine, in double. */
export function sinusoid(t: number, dim: number, base = 10000): number[] {
  return Array.from({ length: dim }, (_, c) => {
    const angle = t * base ** (-(2 * Math.floor(c / 2)) / dim);
    return c % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  });
}

/** x turned by t: pair i by t * base^(-2i/dim). */
export function turned(x: readonly number[], t: number, layout: "interleaved" | "half", base = 10000): number[] {
  const y = [...x];
  const half = x.length / 2;
  for (let i = 0; i < half; i++) {
    const [a, b] = layout === "interleaved" ? [2 * i, 2 * i + 1] : [i, i + half];
    const angle = t * base ** ((-2 * i) / x.length);
    y[a] = x[a]! * Math.cos(angle) - x[b]! * Math.sin(angle);
    y[b] = x[a]! * Math.sin(angle) + x[b]! * Math.cos(angle);
  }
  return y;
}

/** Numbers in [-1, 1), the same for the same seed (Weyl sequence through a mixer). */
export function numbers(count: number, seed = 1): number[] {
  return Array.from({ length: count }, (_, n) => {
    let x = (n * 0x9e3779b9 + seed * 0x85ebca6b) | 0;
    x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
    x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
    return Math.fround(((x ^ (x >>> 16)) >>> 0) / 2 ** 31 - 1);
  });
}

/** A matrix of such numbers. */
export function matrix(rows: number, columns: number, seed = 1): number[][] {
  const flat = numbers(rows * columns, seed);
  return Array.from({ length: rows }, (_, i) => flat.slice(i * columns, (i + 1) * columns));
}

/** The largest |a - b| over nested arrays of one shape; infinite where the shapes differ. */
export function gap(a: unknown, b: unknown): number {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length !== b.length ? Infinity : a.reduce((worst: number, x, i) => Math.max(worst, gap(x, b[i])), 0);
  }
  if (a === b) return 0;
  const difference = Math.abs((a as number) - (b as number));
  return Number.isNaN(difference) ? Infinity : difference;
}
