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

/** Options of {@link sortedAttention}: attention's own, without its other results and what has no order to sort by. */
export type SortedAttentionOptions = Omit<
  AttentionOptions,
  "relate" | "sinks" | "out" | "weights" | "trace" | "dtype" | "allowNonFinite"
>;

const kOwn = ["out", "weights", "trace", "allowNonFinite"];
const kShared = kAttentionOptions.filter((name) => !kOwn.includes(name));
const kKnown = ["sum", "embed", ...kShared];
const kSorted = kShared.filter((name) => name !== "relate" && name !== "sinks");

/**
 * softmax(scores) v in float64 over {@link attention}'s own scores, q, k and v shaped as there, with every sum over the
 * keys taken in an order of their scores and values alone: keys in another order change no bit (002). A query that sees
 * nothing has zeros. Keeps all scores at once, [..., Tq, Tk]. Errors: attention's own.
 */
export function sortedAttention(
  q: TensorLike,
  k: TensorLike,
  v: TensorLike,
  options?: SortedAttentionOptions,
): Tensor<"float64"> {
  const subject = "sortedAttention";
  const given = readOptions(subject, options, kSorted) as SortedAttentionOptions;
  const read = readNumbers(subject, "v", v);
  const data = asFloat32(subject, "v", read.data);
  const { out, trace } = served(subject, {}, () => {
    // Read once: a bare array has one axis now, which attention refuses as it does any other shape.
    return attention(q, k, new Tensor(data, read.shape, "float32"), { ...given, trace: true });
  });
  const scores = trace.scores;
  const [queries, keys] = scores.shape.slice(-2) as [number, number];
  const width = out.shape.at(-1)!;
  const batch = product(scores.shape.slice(0, -2));
  const frame = analysisFrame(subject);
  const place = frame.output(out.size * 8);
  frame.run("sorted_attention", {
    scores: frame.input(scores.data, "scores", scores.size),
    values: frame.input(data, "v", data.length),
    batch,
    groups: batch / product(read.shape.slice(0, -2)),
    queries,
    keys,
    width,
    out: place,
  });
  return new Tensor(frame.float64(place, out.size), out.shape, "float64");
}

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
  const { sum, embed, relate, sinks, ...rest } = readOptions(subject, options, kKnown) as PermutationGapOptions;
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
  if (sorted && relate !== undefined) {
    refuse("unsupported", subject, "relate", 'left out with sum: "sorted"', verbatim("a relate scheme"));
  }
  if (sorted && sinks !== undefined) {
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
      const rows = [tokensIn, tokensIn, tokensIn] as const;
      if (sorted) return sortedAttention(...rows, rest).data;
      return Float64Array.from(attention(...rows, { ...rest, relate, sinks }).out.data);
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
