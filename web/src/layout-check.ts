// The alarm for pairs mixed up: rows that somebody rotated, against a rotate scheme.
import { fromJSON } from "./catalogue.js";
import { printedShape, readAll, refuse, verbatim } from "./error.js";
import { frequencies } from "./frequencies.js";
import { Frame } from "./module.js";
import { readChoice, readOptions, readPositive } from "./options.js";
import type { PositionsLike } from "./positions.js";
import { type RotateOptions, convertLayout, rotate } from "./rotate.js";
import { type RotateScheme, readScheme } from "./scheme.js";
import { served } from "./served.js";
import { Tensor, type TensorLike, allowedSize, asFloat64, product, readNumbers } from "./tensor.js";

/** Options of {@link layoutCheck}. */
export interface LayoutCheckOptions {
  /** Positions of the T rows; default 0 … T - 1. Row 0 turns by nothing and tells nothing. */
  readonly positions?: PositionsLike;
  readonly side?: "query" | "key";
  readonly length?: number;
  /** The largest relative error that still counts as equal. Default 0.02, above the rounding of bfloat16. */
  readonly tolerance?: number;
}

/** What the rows were done to, where it can be told. */
export type LayoutFinding =
  | "as asked"
  | "pairs of the other layout"
  | "table of the other layout"
  | "table of this layout, pairs of the other"
  | "columns in the order of the other layout"
  | "turned backwards"
  | "pairs of the other layout, turned backwards"
  | "not turned";

/** What {@link layoutCheck} returns. Errors are relative to the lengths of the rows. */
export interface LayoutCheck {
  /** The rows are those of the scheme, to within the tolerance. */
  readonly ok: boolean;
  /** The length of a row changed: table and pairs are of two layouts. */
  readonly normAlarm: boolean;
  /** Scores between rows are others than the scheme's: queries and keys rotated so attend elsewhere. */
  readonly scoreAlarm: boolean;
  readonly normError: number;
  readonly scoreError: number;
  readonly valueError: number;
  /** float64 [..., T]: the length of each row, as the scheme leaves it and as found. */
  readonly norms: { readonly expected: Tensor<"float64">; readonly found: Tensor<"float64"> };
  /** Null where nothing tried explains the rows. */
  readonly finding: LayoutFinding | null;
}

/**
 * Holds `rotated`, which somebody made of x [..., T, dim], against `rotate(x, scheme)`: by the lengths of the rows, by
 * the scores between them (T^2 dim products) and by value; and says what was done instead, if it is one of the usual
 * faults. In float64. Errors: `shape-mismatch` where the two differ in shape, `not-finite`.
 */
export function layoutCheck(
  x: TensorLike,
  rotated: TensorLike,
  scheme: RotateScheme,
  options?: LayoutCheckOptions,
): LayoutCheck {
  const subject = "layoutCheck";
  readScheme(subject, "scheme", scheme, ["rotate"]);
  const given = readOptions(subject, options, ["positions", "side", "length", "tolerance"]) as LayoutCheckOptions;
  const tolerance = readPositive(subject, "tolerance", given.tolerance) ?? 0.02;
  const [source, found] = [wide(subject, "x", x), wide(subject, "rotated", rotated)];
  if (printedShape(source.shape) !== printedShape(found.shape)) {
    const allowed = `of x's shape ${printedShape(source.shape)}`;
    refuse("shape-mismatch", subject, "rotated", allowed, verbatim(printedShape(found.shape)));
  }
  const { positions, length } = given;
  const how: RotateOptions = {
    side: readChoice<"query" | "key">(subject, "side", given.side, ["query", "key"], "query"),
    ...(positions === undefined ? {} : { positions }),
    ...(length === undefined ? {} : { length }),
  };
  const expected = served(subject, {}, () => rotate(source, scheme, how));
  const leading = source.shape.slice(0, -1);
  const rows = product(leading);
  const compare = (wanted: Tensor<"float64">, alone: boolean): { errors: Float64Array; norms: Float64Array } => {
    const frame = new Frame(subject);
    const [norms, errors] = [frame.output(rows * 16), frame.output(24)];
    const tokens = leading[leading.length - 1]!;
    frame.run("layout_check", {
      found: frame.input(found.data, "rotated", found.size),
      expected: frame.input(wanted.data, "x", wanted.size),
      batch: alone ? rows : product(leading.slice(0, -1)),
      tokens: alone ? 1 : tokens,
      width: source.shape[leading.length]!,
      norms,
      errors,
    });
    return { errors: frame.float64(errors, 3), norms: frame.float64(norms, rows * 2) };
  };
  const { errors, norms } = compare(expected, false);
  const [normError, scoreError, valueError] = errors as unknown as [number, number, number];
  let finding: LayoutFinding | null = null;
  let least = tolerance;
  for (const [name, wanted] of candidates(source, expected, scheme, how)) {
    const error = compare(wanted(), true).errors[2]!;
    if (!(error <= tolerance) || (finding !== null && error >= least)) continue;
    finding = name;
    least = error;
    if (name === "as asked") break;
  }
  return {
    ok: valueError <= tolerance,
    normAlarm: normError > tolerance,
    scoreAlarm: scoreError > tolerance,
    normError,
    scoreError,
    valueError,
    norms: {
      expected: new Tensor(norms.slice(0, rows), leading, "float64"),
      found: new Tensor(norms.slice(rows), leading, "float64"),
    },
    finding,
  };
}

function wide(subject: string, argument: string, value: unknown): Tensor<"float64"> {
  const { data, shape, shaped } = readNumbers(subject, argument, value);
  if (!shaped || shape.length < 2) {
    refuse("shape-mismatch", subject, argument, "of shape [..., T, dim]", verbatim(printedShape(shape)));
  }
  allowedSize(subject, argument, shape, 8);
  return new Tensor(asFloat64(data), shape, "float64");
}

type Layout = "interleaved" | "half";
type Candidate = readonly [LayoutFinding, () => Tensor<"float64">];

function candidates(
  x: Tensor<"float64">,
  expected: Tensor<"float64">,
  scheme: RotateScheme,
  how: RotateOptions,
): readonly Candidate[] {
  const back: RotateOptions = { ...how, inverse: true };
  const list: Candidate[] = [
    ["as asked", () => expected],
    ["not turned", () => x],
    ["turned backwards", () => rotate(x, scheme, back)],
  ];
  const { layout, rotaryDim, dim } = readAll(scheme) as { layout?: Layout; rotaryDim?: number; dim?: number };
  if (layout === undefined) return list;
  const from = layout;
  const to = layout === "half" ? "interleaved" : "half";
  const other = fromJSON({ ...scheme.toJSON(), layout: to }) as RotateScheme;
  list.push(
    ["pairs of the other layout", () => rotate(x, other, how)],
    ["pairs of the other layout, turned backwards", () => rotate(x, other, back)],
  );
  const columns = rotaryDim ?? dim ?? 0;
  if (columns === x.shape.at(-1)) {
    const permuted = (): Tensor<"float64"> => convertLayout(expected, { from, to }) as Tensor<"float64">;
    list.push(["columns in the order of the other layout", permuted]);
  }
  if (scheme.name === "rope") {
    list.push(
      ["table of the other layout", () => mixed(x, scheme, from, columns, how)],
      ["table of this layout, pairs of the other", () => mixed(x, scheme, to, columns, how)],
    );
  }
  return list;
}

// Pairs of one layout that meet a table of the other. The two columns of a pair then turn by two angles: each column is
// taken from a turn of all pairs by its own.
function mixed(
  x: Tensor<"float64">,
  scheme: RotateScheme,
  pairs: Layout,
  columns: number,
  how: RotateOptions,
): Tensor<"float64"> {
  const { inverse, attentionFactor } = frequencies(scheme, how.length === undefined ? {} : { length: how.length });
  const half = columns / 2;
  const width = x.shape.at(-1)!;
  const first = (i: number): number => (pairs === "half" ? i : 2 * i);
  const second = (i: number): number => (pairs === "half" ? i + half : 2 * i + 1);
  const angle = (c: number): number => inverse[pairs === "half" ? c >> 1 : c % half]!;
  const turned = [first, second].map((column) => {
    const angles = Array.from({ length: half }, (_, i) => angle(column(i)));
    const own = fromJSON({
      slot: "rotate",
      name: "rope",
      dim: width,
      rotaryDim: columns,
      layout: pairs,
      frequencies: angles,
    });
    return rotate(x, own as RotateScheme, how).data;
  }) as [Float64Array, Float64Array];
  const data = turned[0].map((value, n) => {
    const c = n % width;
    if (c >= columns) return value;
    const isSecond = pairs === "half" ? c >= half : c % 2 === 1;
    return (isSecond ? turned[1][n]! : value) * attentionFactor;
  });
  return new Tensor(data, x.shape, "float64");
}
