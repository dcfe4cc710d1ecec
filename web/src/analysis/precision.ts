// What tables of sines become in the arithmetic that frameworks form them in.
import { readAll } from "../error.js";
import { analysisFrame } from "../analysis-part.js";
import type { Place } from "../module.js";
import { readChoice, readLeast0, readOptions } from "../options.js";
import type { PositionsLike } from "../positions.js";
import { Tensor, allowedSize } from "../tensor.js";
import { type TurningScheme, readLine, turnedPairs } from "./turned-pairs.js";

const arithmetics = ["float64", "float32", "float16", "bfloat16"] as const;
const recipes = ["table", "angle", "frequencies", "positions", "upcast", "power", "exponential"] as const;

/** A floating-point format. */
export type Arithmetic = (typeof arithmetics)[number];

/**
 * What is rounded to the arithmetic, r. Four round in one place: `table` r(sin(p ω)), `angle` r(sin(r(p ω))),
 * `frequencies` r(sin(p r(ω))), `positions` r(sin(r(p) ω)). Three are whole computations, with w = float32 for the
 * formats of 16 bits: `upcast` forms all in w and casts the table; `power` and `exponential` cast
 * ω = w(1 / w(base^w(2i/d))) or ω = w(exp(w(2i w(-ln base / d)))) and positions to r, and round angle and sine too.
 */
export type PrecisionRecipe = (typeof recipes)[number];

/** Options of {@link precision}. */
export interface PrecisionOptions {
  /** The format. Default `"float32"`. */
  readonly arithmetic?: Arithmetic;
  /** Default `"power"`. */
  readonly recipe?: PrecisionRecipe;
  /** The error that `first` looks for the first position beyond. Default 0.001. */
  readonly tolerance?: number;
  /** Tokens in all, for scaling rules that depend on it. */
  readonly length?: number;
}

/** What {@link precision} returns; [T, pairs, 2] holds the sine and the cosine of each pair. */
export interface Precision {
  /** As the recipe has them, [T, pairs, 2]; NaN where an angle or a position overflowed the format. */
  readonly values: Tensor<"float64">;
  /** As they are, [T, pairs, 2]. */
  readonly exact: Tensor<"float64">;
  /** |values - exact|, [T, pairs, 2]; Infinity where values are NaN. */
  readonly error: Tensor<"float64">;
  /** The largest error of each position, [T]. */
  readonly worst: Tensor<"float64">;
  /** The first of the positions with an error above the tolerance, and the pair that has its largest; null: none. */
  readonly first: { readonly position: number; readonly pair: number; readonly error: number } | null;
}

// The base where base^(-2i/dim) makes the frequencies, else 0.
function plainLaw(scheme: TurningScheme, base: number | null): { base: number; dim: number } {
  const { name, frequencies, spacing, dim, rotaryDim, scaling } = readAll(scheme) as TurningScheme & {
    readonly frequencies?: unknown;
    readonly spacing?: string;
    readonly dim: number;
    readonly rotaryDim?: number;
    readonly scaling?: { readonly type?: string };
  };
  const columns = rotaryDim ?? dim;
  const other = { base: 0, dim: 0 };
  if (!["sinusoidal", "rope", "xpos", "mrope"].includes(name) || base === null) return other;
  if ((frequencies ?? null) !== null || (spacing ?? "paper") !== "paper" || columns % 2 !== 0) return other;
  return ["none", "ntk", "dynamic"].includes(scaling?.type ?? "none") ? { base, dim: columns } : other;
}

/**
 * What a scheme's sines and cosines at these positions become in an arithmetic, by one of the ways frameworks go, and
 * how far that is from the truth. Each operation is rounded correctly, where a framework's own may be a unit off.
 */
export function precision(scheme: TurningScheme, positions: PositionsLike, options?: PrecisionOptions): Precision {
  const subject = "precision";
  const given = readOptions(subject, options, ["arithmetic", "recipe", "tolerance", "length"]);
  const arithmetic = readChoice(subject, "arithmetic", given.arithmetic, arithmetics, "float32");
  const recipe = readChoice(subject, "recipe", given.recipe, recipes, "power");
  const tolerance = readLeast0(subject, "tolerance", given.tolerance, 0.001);
  const { parts, pairs, base } = turnedPairs(subject, "scheme", scheme, given.length);
  const places = readLine(subject, "positions", positions);
  const count = places.length;
  const shape = [count, pairs, 2];
  const size = allowedSize(subject, "positions x pairs", [...shape, 3], 8) / 3;
  const frame = analysisFrame(subject);
  const [values, exact, error] = [0, 1, 2].map(() => frame.output(size * 8)) as [Place, Place, Place];
  const worst = frame.output(count * 8);
  frame.run("precision", {
    frequencies: frame.input(parts, "scheme", pairs * 3),
    pairs,
    ...plainLaw(scheme, base),
    arithmetic: arithmetics.indexOf(arithmetic),
    recipe: recipes.indexOf(recipe),
    positions: frame.input(places, "positions", count),
    count,
    tolerance,
    values,
    exact,
    error,
    worst,
    first: 0,
    first_pair: 0,
  });
  const first = frame.answer("first");
  const pair = frame.answer("first_pair");
  const largest = frame.float64(worst, count);
  return {
    values: new Tensor(frame.float64(values, size), shape, "float64"),
    exact: new Tensor(frame.float64(exact, size), shape, "float64"),
    error: new Tensor(frame.float64(error, size), shape, "float64"),
    worst: new Tensor(largest, [count], "float64"),
    first: first === count ? null : { position: places[first]!, pair, error: largest[first]! },
  };
}
