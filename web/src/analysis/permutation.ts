// Whether attention notices the order of its tokens.
import { analysisFrame } from "../analysis-part.js";
import { type AttentionOptions, attention, kAttentionOptions } from "../attention.js";
import { embed as embedded } from "../embed.js";
import { refuse, verbatim, printedShape } from "../error.js";
import { kLimit, readChoice, readOptions, readWhole } from "../options.js";
import { type EmbedScheme, readScheme } from "../scheme.js";
import { served } from "../served.js";
import { Tensor, type TensorLike, asFloat32, product, readArray, readNumbers } from "../tensor.js";

/** Options of {@link permutationGap}: attention's own, and two more. */
export interface PermutationGapOptions
  extends Omit<AttentionOptions, "out" | "weights" | "trace" | "dtype" | "allowNonFinite"> {
  /**
   * The order in which sums over the keys are taken. `"index"` (default): attention as it is, in float32, each sum by
   * the key's place. `"sorted"`: from its scores on in float64, each sum by the keys' scores and values alone, so that
   * a permutation leaves every bit as it is.
   */
  readonly sum?: "index" | "sorted";
  /** A position scheme added to x, before and after the permutation. */
  readonly embed?: EmbedScheme;
}

const kOwn = ["out", "weights", "trace", "allowNonFinite"];
const kKnown = ["sum", "embed", ...kAttentionOptions.filter((name) => !kOwn.includes(name))];

/**
 * The largest |Attn(P X) - P Attn(X)| of self-attention with q = k = v = X, X [T, d], [H, T, d] or [B, H, T, d], where
 * (P X)_t = X_permutation[t]. Without positions or a mask of positions attention is permutation-equivariant (002), and
 * the gap is 0 exactly with `sum: "sorted"` and some roundings without; positions in any slot, and a causal mask, break
 * it. Errors: a permutation that is none (`out-of-range`), attention's own; `unsupported` relate schemes and sinks with
 * `sum: "sorted"`.
 */
export function permutationGap(
  x: TensorLike,
  permutation: readonly number[] | TensorLike,
  options?: PermutationGapOptions,
): number {
  const subject = "permutationGap";
  const { sum, embed, ...rest } = readOptions(subject, options, kKnown) as PermutationGapOptions;
  const sorted = readChoice(subject, "sum", sum, ["index", "sorted"], "index") === "sorted";
  if (embed !== undefined) readScheme(subject, "embed", embed, ["embed"]);
  const read = readNumbers(subject, "x", x);
  const rank = read.shape.length;
  if (!read.shaped || rank < 2) {
    const given = verbatim(`shape ${printedShape(read.shape)}`);
    refuse("shape-mismatch", subject, "x", "of shape [T, d], [H, T, d] or [B, H, T, d]", given);
  }
  const [tokens, width] = read.shape.slice(-2) as [number, number];
  const batch = product(read.shape.slice(0, -2));
  const order = readArray(subject, "permutation", permutation);
  if (order.shape.length !== 1 || order.data.length !== tokens) {
    const given = verbatim(`shape ${printedShape(order.shape)}`);
    refuse("shape-mismatch", subject, "permutation", `of ${tokens} numbers, one a token of x`, given);
  }
  const allowed = `whole numbers from 0 to ${tokens - 1}`;
  const from = Float64Array.from(order.data, (t) => {
    const index = readWhole(subject, "permutation", t, allowed, kLimit);
    if (index >= tokens) refuse("out-of-range", subject, "permutation", allowed, index);
    return index;
  });
  if (sorted && rest.relate !== undefined) {
    refuse("unsupported", subject, "relate", 'left out with sum: "sorted"', verbatim("a relate scheme"));
  }
  if (sorted && rest.sinks !== undefined) {
    refuse("unsupported", subject, "sinks", 'left out with sum: "sorted"', verbatim("sinks"));
  }

  const straight = Float32Array.from(asFloat32(subject, "x", read.data));
  const permuted = new Float32Array(straight.length);
  for (let b = 0; b < batch; b++) {
    from.forEach((s, t) => {
      const start = (b * tokens + s) * width;
      permuted.set(straight.subarray(start, start + width), (b * tokens + t) * width);
    });
  }
  const [here, there] = [straight, permuted].map((rows) => {
    const bare = new Tensor(rows, read.shape, "float32");
    const names = { q: "x", k: "x", v: "x", scheme: "embed", positions: "x" };
    return served(subject, names, () => {
      const tokensIn = embed === undefined ? bare : embedded(bare, embed);
      if (!sorted) return Float64Array.from(attention(tokensIn, tokensIn, tokensIn, rest).out.data);
      const { trace } = attention(tokensIn, tokensIn, tokensIn, { ...rest, trace: true });
      return sortedAttention(subject, trace!.scores.data, tokensIn.data, batch, tokens, width);
    });
  }) as [Float64Array, Float64Array];
  const frame = analysisFrame(subject);
  frame.run("permutation_gap", {
    straight: frame.input(here, "x", here.length),
    permuted: frame.input(there, "x", there.length),
    permutation: frame.input(from, "permutation", tokens),
    batch,
    tokens,
    width,
    gap: 0,
  });
  return frame.answer("gap");
}

function sortedAttention(
  subject: string,
  scores: Float32Array,
  values: Float32Array,
  batch: number,
  tokens: number,
  width: number,
): Float64Array {
  const frame = analysisFrame(subject);
  const out = frame.output(batch * tokens * width * 8);
  frame.run("sorted_attention", {
    scores: frame.input(scores, "x", batch * tokens * tokens),
    values: frame.input(values, "x", batch * tokens * width),
    batch,
    queries: tokens,
    keys: tokens,
    width,
    out,
  });
  return frame.float64(out, batch * tokens * width);
}
