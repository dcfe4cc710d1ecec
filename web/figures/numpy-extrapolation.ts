// The programs in NumPy of <posenc-extrapolation>.
import type { RotateScheme } from "../src/core.js";
import type { Model } from "./extrapolation.js";
import { frequenciesNumpy, normalNumpy, numpyProgram } from "./numpy.js";

function seenIn(trained: number): string {
  return `seen = ${trained - 1} * omega / (2 * np.pi)  # turns`;
}

export function phasesNumpy(model: Model, scheme: RotateScheme): string | undefined {
  const { length, trained } = model;
  const seen = seenIn(trained);
  const omega = frequenciesNumpy(scheme, length, [seen]);
  return (
    omega &&
    numpyProgram(
      omega,
      omega.includes(seen) ? [] : [seen],
      `reached = ${length - 1} * omega / (2 * np.pi)`,
      "unseen = np.maximum(0, np.minimum(1, reached) - np.minimum(1, seen))",
    )
  );
}

export function rulesNumpy({ rules, length, trained }: Model): string | undefined {
  const seen = seenIn(trained);
  const made = rules.map(({ scheme, name }, k) => {
    const omega = frequenciesNumpy(scheme, length, k === 0 ? [seen] : []);
    const first = k === 0 && !omega?.includes(seen) ? [seen] : [];
    return omega && [`# ${name}`, ...omega, ...first, "unseen.append(share(omega))", ""];
  });
  if (made.includes(undefined)) return undefined;
  return numpyProgram(
    "def share(omega):  # of its circle that a pair meets for the first time",
    `    reached = ${length - 1} * omega / (2 * np.pi)`,
    "    return np.maximum(0, np.minimum(1, reached) - np.minimum(1, seen))",
    "",
    "unseen = []",
    "",
    ...(made as string[][]),
  );
}

/** `factor` multiplies queries and keys. */
export function schemesNumpy(model: Model, scheme: RotateScheme, heads: number, factor: number): string | undefined {
  const { length, step, head } = model;
  const omega = frequenciesNumpy(scheme, length);
  return (
    omega &&
    numpyProgram(
      normalNumpy,
      `distance = np.arange(0, ${length}, ${step})`,
      `alibi = -(2.0 ** -${head + 1}) * distance`,
      "# T5: a bucket for each of eight distances, then wider and wider ones to 128.",
      "wide = 8 + np.floor(np.log(np.maximum(distance, 8) / 8) / np.log(16) * 8)",
      "bucket = np.where(distance < 8, distance, np.minimum(wide, 15)).astype(int)",
      `t5 = np.float32(normal((32, ${heads}), seed=1))[bucket, ${head}]  # as models hold it`,
      omega,
      `score = ${factor === 1 ? "" : `${factor ** 2} * `}np.cos(distance[:, None] * omega).mean(-1)`,
      "lines = [alibi, t5, score]",
    )
  );
}
