// The program in NumPy of <posenc-bias>.
import type { Model } from "./bias.js";
import { numpyProgram } from "./numpy.js";

// Straight lines by their slopes, where both sides of the query are known to be.
export function biasNumpy(model: Model, profiles: boolean): string | undefined {
  const { slopes, positions, causal, shifts, offsets, heads } = model;
  if (!slopes || !shifts) return undefined;
  const mirrored = (h: number): boolean => {
    const at = (offset: number): number => model.profiles[h * offsets + positions - 1 + offset] as number;
    return Array.from({ length: positions }, (_, k) => at(k) === at(-k)).every(Boolean);
  };
  if (!causal && !Array.from({ length: heads }, (_, h) => mirrored(h)).every(Boolean)) return undefined;
  const given = `slopes = np.array([${slopes.map(String).join(", ")}])`;
  if (profiles) {
    return numpyProgram(
      given,
      `offset = np.arange(${offsets}) - ${positions - 1}  # key - query`,
      "b = -slopes[:, None] * np.abs(offset)",
    );
  }
  return numpyProgram(
    given,
    `i, j = np.arange(${positions})[:, None], np.arange(${positions})[None, :]`,
    "b = -slopes[:, None, None] * np.abs(j - i)",
    causal ? ["b = np.where(j <= i, b, -np.inf)"] : [],
  );
}
