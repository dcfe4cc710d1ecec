// A layer of attention in stages, each in blocks: tokens are projected, attended and joined. Rows of a product do not
// depend on one another, so every stage gives the bits of the whole.
import { type MultiHeadAttentionOptions, embedTokens, joinHeads, projectTokens, readCall } from "../multi-head.js";
import { Tensor, type TensorLike, asFloat32, float32Tensor, product } from "../tensor.js";
import { attentionOf } from "../attention.js";
import { attentionParts } from "./attention-blocks.js";
import {
  type Blocks,
  type Cut,
  Joined,
  type Parts,
  type Plan,
  Unfit,
  evenBounds,
  kPerPair,
  readTarget,
  rowsOf,
  snapshot,
} from "./blocks.js";

const kSubject = "multiHeadAttention";
const kLayer = ["wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo", "heads", "kvHeads", "embed", "context", "out"];

// Cuts a call where `plan` asks for more than one block.
const cut: Cut = ([x, options], plan) => {
  const call = readCall(x as TensorLike, options as MultiHeadAttentionOptions);
  const { given, tokens, context, contextWidth, query, key, value, joined, asked, outShape } = call;
  const { batch, heads, kvHeads, queries, keys, width, valueWidth, inWidth } = call;
  if (batch * queries * keys === 0 || tokens.nested || context?.nested === true) return undefined;
  const target = readTarget(given.out, false, product(outShape));
  const work = {
    project: batch * (queries * inWidth * query.columns + keys * contextWidth * (key.columns + value.columns)),
    attend: batch * heads * queries * keys * (width + valueWidth + kPerPair),
    join: batch * queries * joined.rows * joined.columns,
  };
  const total = work.project + work.attend + work.join;
  if (plan(total) < 2) return undefined;
  const lead = tokens.shape.slice(0, -2);
  const { allowNonFinite } = asked;

  // What comes later must not see what becomes of the caller's arrays meanwhile.
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !kLayer.includes(name)));
  const side = (name: "q" | "k" | "v" | "o", { weights, bias, rows, columns }: typeof query): object => ({
    [`w${name}`]: float32Tensor(weights, [rows, columns]),
    ...(bias === undefined ? {} : { [`b${name}`]: float32Tensor(bias, [columns]) }),
  });
  const later = snapshot({ rest, join: { ...side("o", joined), allowNonFinite } });
  const inward = { ...side("q", query), ...side("k", key), ...side("v", value), heads, kvHeads, allowNonFinite };

  // Rows of tokens, a share for each block.
  const rows = (tensor: Tensor, axis: number, bounds: readonly number[], b: number): Tensor => {
    const shape = [...tensor.shape];
    const [outer, length, inner] = [product(shape.slice(0, axis)), shape[axis]!, product(shape.slice(axis + 1))];
    const [start, end] = [bounds[b]!, bounds[b + 1]!];
    shape[axis] = end - start;
    return float32Tensor(rowsOf(tensor.data as Float32Array, outer, length, inner, start, end), shape);
  };
  type Stage = Omit<Blocks, "name" | "work" | "total">;
  const stage = (name: string, amount: number, count: number, blocks: Stage): Blocks => ({
    name,
    work: Array<number>(count).fill(amount / count),
    total,
    ...blocks,
  });
  const none = (): never => {
    throw new Unfit();
  };

  const project = (embedded: Tensor, others: Tensor | undefined, weights: typeof inward): Blocks => {
    const count = Math.max(1, Math.min(plan(work.project), queries, keys));
    const [ofQueries, ofKeys] = [evenBounds(queries, count), evenBounds(keys, count)];
    const axis = lead.length;
    const [q, kv] = [ofQueries, ofKeys].map((bounds) => new Joined(kSubject, bounds, axis + 1)) as [Joined, Joined];
    const fresh = new Set<ArrayBufferLike>();
    const own = (tensor: Tensor, bounds: readonly number[], b: number): Tensor => {
      const part = rows(tensor, axis, bounds, b);
      fresh.add(part.data.buffer);
      return part;
    };
    return stage("projectTokens", work.project, count, {
      args: ofQueries
        .slice(1)
        .map((_, b) => () => [own(embedded, ofQueries, b), others && own(others, ofKeys, b), weights]),
      shared: tensorsOf(weights),
      fresh,
      take(block, result) {
        const parts = result as Readonly<Record<"q" | "k" | "v", Tensor>>;
        q.take(block, { q: parts.q });
        kv.take(block, { k: parts.k, v: parts.v });
      },
      result: none,
      next: () => attend({ ...q.result(), ...kv.result() } as Readonly<Record<"q" | "k" | "v", Tensor>>),
    });
  };
  const attend = ({ q, k, v }: Readonly<Record<"q" | "k" | "v", Tensor>>): Blocks => {
    const args = [q, k, v, later.rest];
    const blocks = cutOr(args, plan, work.attend);
    const next = (): Blocks => join(blocks.result() as Readonly<Record<string, Tensor>>);
    return { ...blocks, total, next };
  };
  const join = ({ out: attended, ...results }: Readonly<Record<string, Tensor>>): Blocks => {
    const count = Math.max(1, Math.min(plan(work.join), queries));
    const bounds = evenBounds(queries, count);
    const whole = new Joined(kSubject, bounds, lead.length, target);
    const fresh = new Set<ArrayBufferLike>();
    return stage("joinHeads", work.join, count, {
      args: bounds.slice(1).map((_, b) => () => {
        const part = rows(attended!, lead.length + 1, bounds, b);
        fresh.add(part.data.buffer);
        return [part, later.join];
      }),
      shared: tensorsOf(later.join),
      fresh,
      take: (block, result) => whole.take(block, result),
      result: () => ({ ...whole.result(), ...results }),
    });
  };

  const xs = float32Tensor(asFloat32(kSubject, "x", tokens.data), tokens.shape);
  const others = context && float32Tensor(asFloat32(kSubject, "context", context.data), context.shape);
  if (given.embed === undefined) return project(xs, others, inward);
  const { embed, length } = given;
  const [kept, keptWeights] = [snapshot(others), snapshot(inward)];
  let embedded: Tensor | undefined;
  return stage("embedTokens", 0, 1, {
    args: [() => [xs, { embed, length }, asked.places.query, allowNonFinite]],
    shared: [],
    fresh: new Set(),
    take: (_, result) => (embedded = result as Tensor),
    result: none,
    next: () => project(embedded!, kept, keptWeights),
  });
};

/** multiHeadAttention() in blocks. */
export const multiHeadParts: Parts = { cut, functions: { embedTokens, projectTokens, attentionOf, joinHeads } };

function tensorsOf(options: object): Tensor[] {
  return (Object.values(options) as unknown[]).filter((option) => option instanceof Tensor);
}

// A call of attention in blocks, or in one.
function cutOr(args: readonly unknown[], plan: Plan, work: number): Blocks {
  let blocks: Blocks | undefined;
  try {
    blocks = attentionParts.cut(args, plan);
  } catch {
    // in one
  }
  let whole: unknown;
  return (
    blocks ?? {
      name: "attentionOf",
      args: [() => args],
      shared: [],
      fresh: new Set((args.slice(0, 3) as Tensor[]).map(({ data }) => data.buffer)),
      work: [work],
      take: (_, result) => (whole = result),
      result: () => whole,
    }
  );
}
