// Pieces of the programs in NumPy that stand beside figures. Programs need nothing but NumPy.
import type { AnyScheme } from "../src/core.js";

/** The program of these lines. */
export function numpyProgram(...lines: readonly (string | readonly string[])[]): string {
  return ["import numpy as np", "", ...lines.flat(), ""].join("\n");
}

/** `normal(shape, seed, mean, std, stream)`: the core's seeded numbers before they are rounded. */
export const normalNumpy: readonly string[] = [
  "# Seeded normal numbers: Philox4x32-10, then Box and Muller.",
  "def normal(shape, seed, mean=0, std=1, stream=0):",
  "    size, low = np.prod(shape), 0xFFFFFFFF",
  "    n = np.arange((size + 1) // 2, dtype=np.uint64)",
  "    w = [n & low, n >> 32, n * 0 + stream, n * 0]",
  "    for r in range(10):",
  "        a, b = w[0] * 0xD2511F53, w[2] * 0xCD9E8D57",
  "        k = [(seed + r * 0x9E3779B9) & low, ((seed >> 32) + r * 0xBB67AE85) & low]",
  "        w = [b >> 32 ^ w[1] ^ k[0], b & low, a >> 32 ^ w[3] ^ k[1], a & low]",
  "    u, v = ((w[i] >> 11 | w[i + 1] << 21) / 2**53 for i in (0, 2))",
  "    z = np.sqrt(-2 * np.log(1 - u)) * np.exp(2j * np.pi * v)",
  "    return mean + std * z.view(float)[:size].reshape(shape)",
  "",
];

/** The numbers as a list; as many digits as float32 has. */
export function listNumpy(numbers: ArrayLike<number>): string {
  return `[${Array.from(numbers, (value) => Number(value.toPrecision(9))).join(", ")}]`;
}

interface Turning {
  name: string;
  base: number;
  dim: number;
  rotaryDim?: number;
  frequencies?: unknown;
  spacing?: string;
  layout: string;
  order?: string;
  scale?: number;
  padIndex?: number | null;
  scaling?: Readonly<Record<string, number | string | boolean | null>>;
}

function turningOf(scheme: AnyScheme): Turning {
  return scheme.toJSON() as unknown as Turning;
}

function powerLaw(base: number | string, dim: number): string {
  return `omega = ${base} ** (-np.arange(0, ${dim}, 2) / ${dim})`;
}

/**
 * `omega` of a sinusoidal or a rotary scheme in a call of `length` tokens; `before` stands between the paper's law and
 * a scaling rule. Undefined where that is no matter of a few lines.
 */
export function frequenciesNumpy(scheme: AnyScheme, length: number, before: string[] = []): string[] | undefined {
  const { name, base, dim, rotaryDim: wide = dim, frequencies, spacing = "paper", scaling } = turningOf(scheme);
  const plain = ["rope", "sinusoidal"].includes(name) && !frequencies && spacing === "paper" && wide % 2 === 0;
  if (!plain) return undefined;
  const rule = ruleNumpy(base, wide, scaling ?? { type: "none" }, length);
  if (!rule || rule.length === 0) return rule && [powerLaw(base, wide)];
  // Some rules take another base, and begin anew.
  const anew = before.length === 0 && rule.at(-1)?.includes(" ** (-np");
  return [...(anew ? [] : [powerLaw(base, wide), ...before]), ...rule];
}

function ruleNumpy(
  base: number,
  dim: number,
  scaling: NonNullable<Turning["scaling"]>,
  length: number,
): string[] | undefined {
  const { type, factor } = scaling;
  const stretched = (by: unknown): string => powerLaw(`(${base} * ${by} ** (${dim} / ${dim - 2}))`, dim);
  const dynamic = (over: unknown): string[] => [`stretch = ${factor} * ${over} - ${factor} + 1`, stretched("stretch")];
  const over = (trained: unknown): string => `max(1, ${length} / ${trained})`;
  const original = scaling.originalMaxPositionEmbeddings;
  const rules: Record<string, () => string[]> = {
    none: () => [],
    linear: () => [`omega = omega / ${factor}`],
    ntk: () => [stretched(factor)],
    dynamic: () => dynamic(over(scaling.maxPositionEmbeddings)),
    "dynamic-static": () => dynamic(factor),
    qwen: () => [`stretch = 2 ** np.ceil(np.log2(${over(scaling.trainLength)}) + 1) - 1`, stretched("stretch")],
    yarn: () => [
      `turns = np.array([${scaling.betaFast}, ${scaling.betaSlow}])`,
      `low, high = ${dim} * np.log(${original} / (2 * np.pi * turns)) / (2 * np.log(${base}))`,
      ...(scaling.truncate === false ? [] : ["low, high = np.floor(low), np.ceil(high)"]),
      `low, high = np.clip([low, high], 0, ${dim - 1})`,
      `ramp = np.clip((np.arange(${dim / 2}) - low) / max(high - low, 0.001), 0, 1)`,
      `omega = (1 - ramp) * omega + ramp * omega / ${factor}`,
    ],
    llama3: () => [
      `turns = ${original} * omega / (2 * np.pi)`,
      `low, high = ${scaling.lowFreqFactor}, ${scaling.highFreqFactor}`,
      "keep = np.clip((turns - low) / (high - low), 0, 1)",
      `omega = keep * omega + (1 - keep) * omega / ${factor}`,
    ],
    proportional: () => [
      `turned = int(${scaling.partialRotaryFactor} * ${dim} / 2)`,
      `omega = np.where(np.arange(${dim / 2}) < turned, omega${factor === undefined ? "" : ` / ${factor}`}, 0)`,
    ],
  };
  return rules[String(type)]?.();
}

/** `first` and `second`: the columns of each of so many pairs. */
export function pairsNumpy(half: boolean, pairs: number): string[] {
  return half
    ? [`first = np.arange(${pairs})`, `second = first + ${pairs}`]
    : [`first = np.arange(0, ${2 * pairs}, 2)`, "second = first + 1"];
}

/** `table`: the paper's, in float32 unless `type` is empty; undefined for options it is not usually written with. */
export function sinusoidalNumpy(
  scheme: AnyScheme,
  rows: number,
  start = 0,
  type = ", np.float32",
): string[] | undefined {
  const { name, dim, order, layout, scale, padIndex = null } = turningOf(scheme);
  const omega = name === "sinusoidal" && scale === 1 && padIndex === null && frequenciesNumpy(scheme, rows);
  if (!omega) return undefined;
  const [one, other] = order === "cos-sin" ? ["cos", "sin"] : ["sin", "cos"];
  const [left, right] = layout === "half" ? [`:${dim / 2}`, `${dim / 2}:`] : ["0::2", "1::2"];
  return [
    `positions = np.arange(${start}, ${start + rows})[:, None]`,
    ...omega,
    `table = np.empty((${rows}, ${dim})${type})`,
    `table[:, ${left}] = np.${one}(positions * omega)`,
    `table[:, ${right}] = np.${other}(positions * omega)`,
  ];
}

/** `angle` of each of `tokens` and column, after `omega`. */
export function anglesNumpy(half: boolean, pairs: number, dim: number, tokens: number): string[] {
  return [
    ...pairsNumpy(half, pairs),
    `table = np.zeros(${dim})`,
    "table[first] = table[second] = omega",
    `angle = np.arange(${tokens})[:, None] * table`,
  ];
}

/** `turned(x)`: x, one vector or one a token, at every token's `angle`. */
export const turnedNumpy: readonly string[] = [
  "",
  "def turned(x):",
  "    crossed = np.zeros_like(x)",
  "    crossed[..., first], crossed[..., second] = -x[..., second], x[..., first]",
  "    return x * np.cos(angle) + crossed * np.sin(angle)",
  "",
];

/** RoPE of so many tokens as `omega`, `angle` and `turned`; undefined where that is no matter of a few lines. */
export function ropeNumpy(scheme: AnyScheme, tokens: number): string[] | undefined {
  const { name, dim, rotaryDim = dim, layout, scaling } = turningOf(scheme);
  // These change what is turned in length too.
  const omega = name === "rope" && scaling?.type !== "yarn" && frequenciesNumpy(scheme, tokens);
  return omega ? [...omega, ...anglesNumpy(layout === "half", rotaryDim / 2, dim, tokens), ...turnedNumpy] : undefined;
}

/** `attend(q, k, added)`: the weights of each head; `seen` says which pairs of `i` and `j` are. */
export function attendNumpy(queries: number, keys: number, seen: readonly string[]): string[] {
  return [
    `i, j = np.arange(${queries})[:, None], np.arange(${keys})`,
    `seen = ${seen.join(" & ") || "True"}`,
    "",
    "def attend(q, k, added=0):  # [heads, tokens, width]",
    "    scores = np.where(seen, q @ k.swapaxes(1, 2) / np.sqrt(width) + added, -np.inf)",
    "    e = np.exp(scores - scores.max(-1, keepdims=True, initial=-1e300))",
    "    return e / np.maximum(e.sum(-1, keepdims=True), 1e-300)  # a query that sees nothing weighs nothing",
    "",
  ];
}

/** What a figure of attention knows of its words: how they are dealt; what else a program needs of the core. */
export interface Dealt {
  mean: number;
  std: number;
  /** Words in a comment. */
  line: (words: readonly string[]) => string;
  /** ALiBi's, a head each. */
  slopes: (scheme: AnyScheme) => ArrayLike<number>;
}

/** How a scheme comes into `attend`: lines before, what is added to words, what is done to q and k, and to scores. */
export interface Attending {
  before: readonly string[];
  words: (x: string, tokens: number) => string;
  arguments: (q: string, k: string) => string;
}

/** The way of a scheme, or of none. Undefined where that is no matter of a few lines. */
export function attendingNumpy(
  scheme: AnyScheme | undefined,
  tokens: number,
  square: boolean,
  slopes: Dealt["slopes"],
): Attending | undefined {
  const plain: Attending = { before: [], words: (x) => x, arguments: (q, k) => `${q}, ${k}` };
  if (scheme === undefined) return plain;
  const table = sinusoidalNumpy(scheme, tokens);
  if (table) return { ...plain, before: table, words: (x, count) => `${x} + table[:${count}]` };
  const rope = square ? ropeNumpy(scheme, tokens) : undefined;
  if (rope) return { ...plain, before: rope, arguments: (q, k) => `turned(${q}), turned(${k})` };
  if (scheme.name !== "alibi") return undefined;
  const apart = (scheme.toJSON() as { symmetric?: boolean }).symmetric ? "np.abs(j - i)" : "np.maximum(i - j, 0)";
  return {
    ...plain,
    before: [`slopes = np.array(${listNumpy(slopes(scheme))})`],
    arguments: (q, k) => `${q}, ${k}, -slopes[:, None, None] * ${apart}`,
  };
}
