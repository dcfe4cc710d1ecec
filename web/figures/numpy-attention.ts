// The program in NumPy of <posenc-attention>.
import type { Model } from "./attention.js";
import { attendingNumpy, attendNumpy, normalNumpy, numpyProgram, type Dealt } from "./numpy.js";

/** `seeds` writes the list of the words' seeds. */
export function attentionNumpy(
  model: Model,
  seeds: (words: readonly string[], purpose: number) => string,
  { mean, std, line, slopes }: Dealt,
): string | undefined {
  const { queries, keys, heads, width, causal, window, realKeys, sides } = model;
  const tokens = Math.max(queries.length, keys.length);
  const each = sides.map(({ scheme }) => attendingNumpy(scheme, tokens, queries.length === keys.length, slopes));
  const seen = [
    ...(causal ? ["(j <= i)"] : []),
    ...(window > 0 ? [`(${causal ? "i - j" : "np.abs(i - j)"} < ${window})`] : []),
    ...(realKeys < keys.length ? [`(j < ${realKeys})`] : []),
  ];
  const lines = each.map((attending, k): string[] | undefined => {
    if (!attending) return undefined;
    const split = (x: string, count: number): string => `split(${attending.words(x, count)})`;
    const [q, key] = [split("asking", queries.length), split("answering", keys.length)];
    const weights = k === 0 ? "weights" : "compared";
    return [
      "",
      ...attending.before,
      `q, k = ${q}, ${key}`,
      `${weights} = attend(${attending.arguments("q", "k")})  # [${heads}, ${queries.length}, ${keys.length}]`,
    ];
  });
  if (lines.includes(undefined)) return undefined;
  const vectors = `normal(heads * width, seed, ${mean}, ${std})`;
  return numpyProgram(
    normalNumpy,
    `heads, width = ${heads}, ${width}`,
    attendNumpy(queries.length, keys.length, seen),
    "def split(x):  # [heads, tokens, width]",
    "    return x.reshape(len(x), heads, width).swapaxes(0, 1)",
    "",
    "def vectors(seeds):",
    `    return np.stack([${vectors} for seed in seeds])`,
    "",
    `# One seed a word: ${line(queries)}`,
    `asking = vectors(${seeds(queries, 1)})`,
    model.cross ? [`# ${line(keys)}`] : [],
    `answering = vectors(${seeds(keys, 2)})`,
    ...(lines as string[][]),
  );
}
