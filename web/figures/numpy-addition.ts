// The program in NumPy of <posenc-addition>.
import type { Model } from "./addition.js";
import type { Values } from "./figure.js";
import { listNumpy, normalNumpy, numpyProgram, sinusoidalNumpy } from "./numpy.js";

// Few vectors are written out.
export function additionNumpy(
  values: Values,
  model: Model,
  seeds: string,
  line: string,
  vectors: () => Float32Array,
): string | undefined {
  const { scale, alpha, deviation: std } = values;
  const { chosen, words, dim } = model;
  const table = sinusoidalNumpy(chosen.scheme, words.length);
  if (!table) return undefined;
  const few = words.length * dim <= 64;
  const rows = few ? vectors() : new Float32Array();
  const said = `# ${line}: one seeded normal vector a word`;
  return numpyProgram(
    ...(few
      ? [
          [said, "x = np.array(["],
          words.map((_, t) => `    ${listNumpy(rows.subarray(t * dim, (t + 1) * dim))},`),
          ["])", ""],
        ]
      : [normalNumpy, [said, `x = np.stack([normal(${dim}, seed, std=${std}) for seed in [${seeds}]])`, ""]]),
    table,
    `inputs = ${scale === "sqrt" ? `np.sqrt(${dim}) * x` : "x"} + ${Number(alpha) === 1 ? "" : `${alpha} * `}table`,
  );
}
