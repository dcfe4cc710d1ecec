// The gradient of attention in pieces: each some queries of one head. The core adds up what pieces give in their order,
// and so does this: the sums are the same numbers.
import { gradientOf } from "../analysis/attention-gradient.js";
import { type Blocks, Call, type Cut, type Parts, Unfit, kExactly, kPerPair, sameArray } from "./blocks.js";
import { Tensor, asFloat32, product, readNumbers } from "../tensor.js";

const kSubject = "attentionGradient";
// Queries of a piece: kGradientPiece of the core.
const kPiece = 64;
// Steps backwards for one forwards.
const kBack = 3;

type Learned = Readonly<Record<string, Readonly<Record<string, Tensor>>>>;
interface Gradient {
  readonly dq: Tensor;
  readonly dk: Tensor;
  readonly dv: Tensor;
  readonly dsinks?: Tensor;
  readonly parameters: Learned;
}

// Cuts a call where `plan` asks for more than one block: into as many as there are pieces.
const cut: Cut = ([q, k, v, dOut, options], plan) => {
  const perPairOf = ({ width, valueWidth }: Call): number => (width + valueWidth + kPerPair) * kExactly * kBack;
  const worth = (call: Call): boolean =>
    plan(call.batch * call.heads * call.queries * call.keys * perPairOf(call)) > 1;
  const call = new Call(kSubject, [q, k, v, options], worth, ["weights", "trace", "out"]);
  const { batch, heads, kvHeads, group, queries, keys, width, valueWidth, rank, given, query, key, value, seen } = call;
  const perPair = perPairOf(call);
  if (plan(batch * heads * seen[queries]! * perPair) < 2 || given.allowNonFinite === true) return undefined;
  const { dtype = query.data instanceof Float64Array ? "float64" : "float32" } = given;
  if (dtype !== "float64" && dtype !== "float32") return undefined;
  const upstream = readNumbers(kSubject, "dOut", dOut);
  const outShape = [...query.shape.slice(0, -1), valueWidth];
  const fits = upstream.shaped ? upstream.shape.join() === outShape.join() : upstream.data.length === product(outShape);
  if (!fits || upstream.nested) return undefined;
  const ofOut = { ...upstream, shape: outShape };

  const { options: alike, shared } = call.alike();
  const pairs = (part: typeof key): object[] =>
    Array.from({ length: batch * kvHeads }, (_, at) => {
      const [b, h] = [Math.floor(at / kvHeads), at % kvHeads];
      return call.part(part, [[b, b + 1], [h, h + 1], undefined, undefined].slice(-rank) as never);
    });
  const keyRows = pairs(key);
  const valueRows = sameArray(key, value) ? keyRows : pairs(value);
  const blocks: { b: number; h: number; start: number; end: number }[] = [];
  for (let b = 0; b < batch; b++) {
    for (let h = 0; h < heads; h++) {
      for (let start = 0; start < queries; start += kPiece) {
        blocks.push({ b, h, start, end: Math.min(queries, start + kPiece) });
      }
    }
  }
  const args = blocks.map(({ b, h, start, end }) => (): unknown[] => {
    const [ofB, ofH, rows] = [[b, b + 1], [h, h + 1], [start, end]] as const;
    const spans = [ofB, ofH, rows, undefined].slice(-rank);
    const at = b * kvHeads + Math.floor(h / group);
    const own = {
      ...alike,
      ...call.ofQueries(rows),
      ...call.ofMask(ofB, ofH, rows),
      ...call.ofBatch(b),
      ...call.ofSinks(ofH),
      dtype: "float64",
    };
    const part = (array: typeof query): object => call.part(array, spans);
    return [part(query), keyRows[at], valueRows[at], part(ofOut), own, { first: h, all: heads }];
  });

  const zeros = (shape: readonly number[]): Tensor<"float64"> =>
    new Tensor(new Float64Array(product(shape)), shape, "float64");
  const sums = {
    dq: zeros(query.shape),
    dk: zeros(key.shape),
    dv: zeros(value.shape),
    ...(given.sinks === undefined ? {} : { dsinks: zeros([heads]) }),
  };
  let parameters: Record<string, Record<string, Tensor<"float64">>> | undefined;
  const addTo = (sum: Tensor, at: number, part: Tensor): void => {
    const into = sum.data as Float64Array;
    const from = part.data as Float64Array;
    for (let i = 0; i < from.length; i++) into[at + i]! += from[i]!;
  };
  const add = ({ b, h, start }: (typeof blocks)[0], part: Gradient): void => {
    sums.dq.data.set(part.dq.data as Float64Array, ((b * heads + h) * queries + start) * width);
    const row = (b * kvHeads + Math.floor(h / group)) * keys;
    addTo(sums.dk, row * width, part.dk);
    addTo(sums.dv, row * valueWidth, part.dv);
    if (sums.dsinks !== undefined) addTo(sums.dsinks, h, part.dsinks!);
    parameters ??= mapped(part.parameters, ({ shape }) => zeros(shape));
    mapped(part.parameters, (learned, scheme, name) => addTo(parameters![scheme]![name]!, 0, learned));
  };
  const waiting = new Map<number, Gradient>();
  let taken = 0;
  const result = (): unknown => {
    const finished = (name: string, sum: Tensor): Tensor => {
      const data = sum.data as Float64Array;
      if (!data.every(Number.isFinite)) throw new Unfit();
      return dtype === "float64" ? sum : new Tensor(asFloat32(kSubject, name, data), sum.shape, "float32");
    };
    const results = Object.entries(sums).map(([name, sum]) => [name, finished(name, sum)]);
    const learned = mapped(parameters!, (sum, _, name) => finished(name, sum));
    return { ...(Object.fromEntries(results) as object), parameters: learned };
  };
  return {
    name: "gradientOf",
    args,
    shared: [...new Set([...keyRows, ...valueRows, ...shared])],
    fresh: call.fresh,
    work: blocks.map(({ start, end }) => perPair * (seen[end]! - seen[start]!)),
    take(block, part) {
      waiting.set(block, part as Gradient);
      for (let next; (next = waiting.get(taken)) !== undefined; taken++) {
        waiting.delete(taken);
        add(blocks[taken]!, next);
      }
    },
    result,
  } satisfies Blocks;
};

/** attentionGradient() in blocks. */
export const gradientParts: Parts = { cut, functions: { gradientOf } };

function mapped<T extends Tensor, R>(
  learned: Readonly<Record<string, Readonly<Record<string, T>>>>,
  map: (tensor: T, scheme: string, name: string) => R,
): Record<string, Record<string, R>> {
  const entries = Object.entries(learned).map(([scheme, params]) => [
    scheme,
    Object.fromEntries(Object.entries(params).map(([name, tensor]) => [name, map(tensor, scheme, name)])),
  ]);
  return Object.fromEntries(entries) as Record<string, Record<string, R>>;
}
