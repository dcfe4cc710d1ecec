// The programs in NumPy of <posenc-expansion>.
import type { Model } from "./expansion.js";
import { normalNumpy, numpyProgram, pairsNumpy, sinusoidalNumpy } from "./numpy.js";

// The numbers of H are written out, where they are not too many.
export function partsNumpy({ chosen: { scheme }, positions, dim, kind, h }: Model): string | undefined {
  const table = sinusoidalNumpy(scheme, positions, 0, "");
  if (!table || kind === "own" || h.length > 1024) return undefined;
  const { layout, order } = scheme.toJSON() as { layout?: string; order?: string };
  const list = `[${Array.from(h).join(", ")}]`;
  const made: Record<string, string> = {
    identity: `H = np.eye(${dim})`,
    general: `H = np.array(${list}).reshape(${dim}, ${dim})`,
  };
  return numpyProgram(
    made[kind] ?? `H = np.diag(${list})`,
    table,
    pairsNumpy(layout === "half", dim / 2),
    `sine, cosine = ${order === "sin-cos" ? "first, second" : "second, first"}`,
    "m, p, d = positions[:, 0], table, np.diag(H)",
    "value = p @ H @ p.T",
    "turns = lambda k: np.cos(k[..., None] * omega)",
    "relative = (turns(m[:, None] - m) * (d[cosine] + d[sine]) / 2).sum(-1)",
    "absolute = (turns(m[:, None] + m) * (d[cosine] - d[sine]) / 2).sum(-1)",
    "rest = p @ (H - np.diag(d)) @ p.T",
  );
}

// f is one head of attention whose outputs are read out and averaged.
export function seriesNumpy(model: Model, seed: number): string | undefined {
  const { chosen: { scheme }, positions, dim, tokens: [m, n] } = model;
  const table = sinusoidalNumpy(scheme, positions, 0, "");
  return (
    table &&
    numpyProgram(
      normalNumpy,
      table,
      `x = normal((${positions}, ${dim}), ${seed})`,
      `q, k, v = (normal((${dim}, ${dim}), ${seed}, std=${dim}**-0.5, stream=s) for s in (1, 2, 3))`,
      `read = v @ normal(${dim}, ${seed}, std=${dim}**-0.5, stream=4)`,
      "",
      "def f(a, b):",
      "    y = x.astype(complex)",
      `    y[${m}] += a * table[${m}]`,
      `    y[${n}] += b * table[${n}]`,
      `    s = y @ q @ (y @ k).T / ${dim}**0.5`,
      "    e = np.exp(s - s.real.max(-1, keepdims=True))",
      "    return (e @ (y @ read) / e.sum(-1)).mean()",
      "",
      "# The coefficients of a^j b^k, by Cauchy's integrals along circles.",
      "radius, points = 0.1, 16",
      "circle = radius * np.exp(2j * np.pi * np.arange(points) / points)",
      "c = np.fft.fft2([[f(a, b) for b in circle] for a in circle]).real / points**2",
      'scales = [float(f"{scale:.2e}") for scale in np.logspace(-3, 1, 81)]',
      "degrees = [(0, 0), (1, 0), (0, 1), (2, 0), (0, 2), (1, 1)]",
      "terms = [[c[j, k] * (scale / radius) ** (j + k) for j, k in degrees] for scale in scales]",
    )
  );
}
