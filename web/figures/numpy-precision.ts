// The program in NumPy of <posenc-precision>.
import type { Values } from "./figure.js";
import { numpyProgram } from "./numpy.js";
import type { Model } from "./precision.js";

// The common recipe of frameworks: steps in float64, which has room for their results, each rounded to the format.
export function precisionNumpy(
  values: Values,
  model: Model,
  where: string,
  waves: boolean,
  formats: string,
): string | undefined {
  const { chosen, recipe, pairs, pair } = model;
  const plain =
    ["sinusoidal", "rope"].includes(chosen.name) &&
    !chosen.given &&
    (values["scaling.type"] ?? "none") === "none" &&
    (values.spacing ?? "paper") === "paper" &&
    Number(values.rotaryDim ?? 2 * pairs) === 2 * pairs;
  if (!plain || recipe !== "power" || Number(values.dim) !== 2 * pairs) return undefined;
  const base = Number(values.base ?? 10000);
  return numpyProgram(
    `p = np.asarray(${where}, np.float64)[:, None]`,
    `i = np.arange(0, ${2 * pairs}, 2)`,
    "",
    "def float64(x): return x",
    "def float32(x): return np.float32(x).astype(np.float64)",
    "def float16(x): return np.float16(x).astype(np.float64)",
    "def bfloat16(x):",
    "    mantissa, exponent = np.frexp(x)",
    "    return np.ldexp(np.round(mantissa * 256) / 256, exponent)",
    "",
    "# Frequencies are made in float32 at least; every step is rounded to the format.",
    "def made(r):",
    "    wide = float64 if r is float64 else float32",
    `    omega = r(wide(1 / wide(${base} ** wide(i / ${2 * pairs}))))`,
    "    angle = r(r(p) * omega)",
    "    return r(np.stack([np.sin(angle), np.cos(angle)], -1))",
    "",
    "long = np.longdouble  # on most machines wider than float64",
    `turned = p * long(${base}) ** (-i.astype(long) / ${2 * pairs})`,
    "exact = np.stack([np.sin(turned), np.cos(turned)], -1)",
    `formats = [${formats}]`,
    waves
      ? `sines = [exact[:, ${pair}, 0]] + [made(r)[:, ${pair}, 0] for r in formats]`
      : "worst = [np.abs(made(r) - exact).max((1, 2)) for r in formats]",
  );
}
