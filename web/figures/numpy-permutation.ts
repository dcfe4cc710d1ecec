// The program in NumPy of <posenc-permutation>.
import { attendingNumpy, attendNumpy, normalNumpy, numpyProgram, type Dealt } from "./numpy.js";
import type { Model } from "./permutation.js";

// Of the head shown, the outputs; the gap over all of them.
export function permutationNumpy(model: Model, seeds: readonly number[], dealt: Dealt): string | undefined {
  const { scheme, heads, width, head, causal, sentences, permutation: order } = model;
  const attending = attendingNumpy(scheme, order.length, true, dealt.slopes);
  if (!attending) return undefined;
  const { before, words, arguments: called } = attending;
  return numpyProgram(
    normalNumpy,
    `heads, width = ${heads}, ${width}`,
    `# One seed a word: ${dealt.line(sentences[0].words)}`,
    `seeds = [${seeds.join(", ")}]`,
    `x = np.stack([normal((heads, width), seed, std=${dealt.std}) for seed in seeds], axis=1)`,
    `permutation = [${order.join(", ")}]`,
    attendNumpy(order.length, order.length, causal ? ["(j <= i)"] : []),
    before,
    "",
    "def output(x):",
    scheme?.slot === "embed" ? [`    x = ${words("x", order.length)}`] : [],
    `    return attend(${called("x", "x")}) @ x`,
    "",
    "straight, permuted = output(x), output(x[:, permutation])",
    `outputs = np.stack([straight[${head}], permuted[${head}]])  # of head ${head + 1}`,
    "gap = np.abs(permuted - straight[:, permutation]).max()",
  );
}
