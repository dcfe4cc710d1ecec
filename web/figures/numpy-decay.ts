// The program in NumPy of <posenc-decay>.
import { numpyProgram } from "./numpy.js";

/** `theta` of t, in NumPy, at `offsets`: how many, or a list. */
export function decayNumpy(theta: string, offsets: string, dim: number): string {
  return numpyProgram(
    `k = ${offsets}`,
    "",
    "def mean_cosine(t, offset):",
    `    theta = ${theta}`,
    "    return np.cos(offset * theta).mean()",
    "",
    `pairs = np.arange(${dim / 2}) / ${dim / 2}`,
    "total = np.array([mean_cosine(pairs, offset) for offset in k])  # g(k) / (d/2)",
    "",
    "# By midpoints: the faster the cosine, the more of them.",
    "def integral_at(offset):",
    "    points = 8 * offset + int(2000 * (1 + offset) ** 0.5)",
    "    return mean_cosine((np.arange(points) + 0.5) / points, offset)",
    "",
    "integral = np.array([integral_at(offset) for offset in k])",
  );
}
