// Attention in blocks of heads, which bring their own keys along, or of queries.
import { attentionOf } from "../attention.js";
import {
  type Blocks,
  Call,
  type Cut,
  Joined,
  type Parts,
  evenBounds,
  kExactly,
  kPerPair,
  readTarget,
  sameArray,
  wrapped,
} from "./blocks.js";
import { bufferOf, isWorthKeeping } from "./spares.js";
import { Tensor, kindOfArray, product } from "../tensor.js";

// Queries that the core takes at a time: a block that is no multiple of them wastes lanes.
const kStep = 8;
// Blocks of heads may differ by so much in size.
const kUneven = 1.1;

// Cuts a call where `plan` asks for more than one block.
const cut: Cut = (args, plan) => {
  const perPairOf = ({ batch, heads, width, valueWidth }: Call): number =>
    batch * heads * (width + valueWidth + kPerPair) * kExactly;
  const call = new Call("attention", args, (sizes) => plan(perPairOf(sizes) * sizes.queries * sizes.keys) > 1);
  const { batch, heads, queries, valueWidth, seen, given } = call;
  const wide = given.dtype === "float64";
  const perPair = perPairOf(call) / (wide ? 1 : kExactly);
  const target = readTarget(given.out, wide, batch * heads * queries * valueWidth);
  const work = perPair * seen[queries]!;
  const count = plan(work);
  if (count < 2) return undefined;
  return byHeads(call, target, count, work) ?? byQueries(call, target, count, perPair);
};

/** attention() in blocks. */
export const attentionParts: Parts = { cut, functions: { attentionOf } };

// Room for a block's result, for the core to fill on the other thread: memory that has been there before.
function roomFor(call: Call, shape: readonly number[]): Tensor {
  const wide = call.given.dtype === "float64";
  const buffer = bufferOf(product(shape) * (wide ? 8 : 4));
  call.fresh.add(buffer);
  return wide
    ? new Tensor(new Float64Array(buffer), shape, "float64")
    : new Tensor(new Float32Array(buffer), shape, "float32");
}

function byHeads(call: Call, target: unknown, count: number, work: number): Blocks | undefined {
  const { query, key, value, rank, given, group, heads, kvHeads, fresh } = call;
  const axis = rank - 3;
  if (axis < 0 || count > kvHeads) return undefined;
  if (Math.ceil(kvHeads / count) > (kUneven * kvHeads) / count) return undefined;
  const { out: _, ...rest } = given;
  const bounds = evenBounds(kvHeads, count);
  const made: (readonly Tensor[])[] = [];
  const args = bounds.slice(1).map((end, b) => (): unknown[] => {
    const [ofKeys, ofQueries] = [[bounds[b]!, end] as const, [bounds[b]! * group, end * group] as const];
    const keys = call.part(key, [ofKeys, undefined, undefined]);
    const values = sameArray(key, value) ? keys : call.part(value, [ofKeys, undefined, undefined]);
    const same = sameArray(query, key) && group === 1;
    const queries = (same ? keys : call.part(query, [ofQueries, undefined, undefined])) as Tensor;
    const out = roomFor(call, [...queries.shape.slice(0, -1), call.valueWidth]);
    made[b] = [queries, keys, values] as Tensor[];
    const own = { ...rest, ...call.ofMask(undefined, ofQueries, undefined), ...call.ofSinks(ofQueries), out };
    return [queries, keys, values, own, { first: bounds[b]! * group, all: heads }];
  });
  const joined = new Joined("attention", bounds.map((bound) => bound * group), axis, target);
  const share = bounds.slice(1).map((end, b) => (work * (end - bounds[b]!)) / kvHeads);
  const blocks: Blocks = { name: "attentionOf", args, shared: [], fresh, work: share, ...ends(joined) };
  // Small buffers do not come back, and arrays of other libraries are no tensors.
  const least = Math.min(...bounds.slice(1).map((end, b) => end - bounds[b]!)) / kvHeads;
  const comeBack = [query, key, value].every(
    ({ data }) => isWorthKeeping({ byteLength: data.byteLength * least }) && /^Float(32|64)/.test(kindOfArray(data)!),
  );
  if (!comeBack) return blocks;
  return {
    ...blocks,
    restored: (back) =>
      [group, 1, 1].map((each, n) => {
        const whole = new Joined("attention", bounds.map((bound) => bound * each), axis);
        made.forEach((parts, b) => {
          const { data, shape, dtype } = parts[n]!;
          const revived = new (data.constructor as new (buffer: ArrayBufferLike) => Float32Array)(back(data.buffer));
          whole.take(b, { whole: new Tensor(revived, shape, dtype as "float32") });
        });
        return whole.result().whole;
      }),
  };
}

function byQueries(call: Call, target: unknown, wanted: number, perPair: number): Blocks | undefined {
  const { query, key, value, rank, queries, seen, mask, fresh } = call;
  const count = Math.min(wanted, Math.floor(queries / kStep));
  if (count < 2) return undefined;
  const bounds = boundaries(seen, queries, count);
  if (bounds.length < 3) return undefined;
  const maskRows = mask !== undefined && mask.shape.length >= 2 ? mask.shape[mask.shape.length - 2]! : 1;
  if (maskRows !== 1 && maskRows !== queries) return undefined;

  const keyTensor = wrapped(key, key.data, key.shape);
  const valueTensor = sameArray(key, value) ? keyTensor : wrapped(value, value.data, value.shape);
  const { options: alike, shared } = call.alike();
  const row = mask !== undefined && maskRows === 1 ? { mask: wrapped(mask, mask.data, mask.shape) } : undefined;
  const options = { ...alike, ...row };
  const args = bounds.slice(1).map((end, b) => (): unknown[] => {
    const rows = [bounds[b]!, end] as const;
    const out = roomFor(call, [...query.shape.slice(0, -2), end - bounds[b]!, call.valueWidth]);
    const masked = row ?? call.ofMask(undefined, undefined, rows);
    const own = { ...options, ...call.ofQueries(rows), ...masked, out };
    return [call.part(query, [rows, undefined]), keyTensor, valueTensor, own];
  });
  const joined = new Joined("attention", bounds, rank - 2, target);
  const work = bounds.slice(1).map((end, b) => perPair * (seen[end]! - seen[bounds[b]!]!));
  const all = [keyTensor, valueTensor, ...shared, ...Object.values(row ?? {})];
  return { name: "attentionOf", args, shared: all, fresh, work, ...ends(joined) };
}

function ends(joined: Joined): Pick<Blocks, "take" | "result"> {
  return { take: (block, result) => joined.take(block, result), result: () => joined.result() };
}

// Rows between which blocks of about the same work lie.
function boundaries(seen: Float64Array, queries: number, count: number): number[] {
  const bounds = [0];
  let at = 0;
  for (let b = 1; b < count; b++) {
    const wanted = (seen[queries]! * b) / count;
    while (at < queries && seen[at]! < wanted) at++;
    const row = Math.round(at / kStep) * kStep;
    if (row > bounds[bounds.length - 1]! && row < queries) bounds.push(row);
  }
  bounds.push(queries);
  return bounds;
}
