// The program in NumPy of <posenc-shift>.
import { frequenciesNumpy, numpyProgram, pairsNumpy } from "./numpy.js";
import type { Model } from "./shift.js";

export function shiftNumpy({ chosen: { scheme }, k, dim, length }: Model): string | undefined {
  const omega = frequenciesNumpy(scheme, length);
  const { layout, rotaryDim = dim, order } = scheme.toJSON() as { layout?: string; rotaryDim?: number; order?: string };
  if (!omega || rotaryDim !== dim) return undefined;
  return numpyProgram(
    omega,
    pairsNumpy(layout === "half", dim / 2),
    `cos, sin = np.cos(omega * ${k}), np.sin(omega * ${k})`,
    `matrix = np.zeros((${dim}, ${dim}))`,
    "matrix[first, first] = matrix[second, second] = cos",
    `matrix[first, second], matrix[second, first] = ${order === "sin-cos" ? "sin, -sin" : "-sin, sin"}`,
  );
}
