// What the parts of posenc/onnx share: a graph under construction, and the attention that it is of.
import type { Causal } from "./attention.js";
import type { Attribute, Initializer, Node } from "./onnx-proto.js";
import type { Positions } from "./positions.js";
import { Tensor, product } from "./tensor.js";

/** The name of the function in errors. */
export const kSubject = "toOnnx";

/** A model's operations and tables as they are added. */
export class Graph {
  readonly nodes: Node[] = [];
  readonly initializers: Initializer[] = [];
  readonly #small = new Map<string, string>();

  /** Adds an operation; its output. A word in `inputs` may be empty: an input left out. */
  add(
    op: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>> = {},
    name?: string,
  ): string {
    const output = name ?? `${op}_${this.nodes.length}`;
    this.nodes.push({ op, inputs, outputs: [output], attributes });
    return output;
  }

  /** A table of the model's own. */
  table(name: string, data: Initializer["data"], shape: readonly number[]): string {
    this.initializers.push({ name, data, shape });
    return name;
  }

  /** A whole number (shape []) or a list of them, int64. */
  whole(value: number | readonly number[]): string {
    const list = typeof value === "number" ? [value] : value;
    const shape = typeof value === "number" ? [] : [list.length];
    const name = `int_${list.join("_")}${typeof value === "number" ? "" : "_list"}`;
    return this.#once(name, () => this.table(name, BigInt64Array.from(list, BigInt), shape));
  }

  /** A float32 scalar. */
  real(value: number): string {
    const name = `float_${value}`;
    return this.#once(name, () => this.table(name, Float32Array.of(value), []));
  }

  #once(key: string, make: () => string): string {
    const known = this.#small.get(key);
    if (known !== undefined) return known;
    const name = make();
    this.#small.set(key, name);
    return name;
  }

  /** The length of an axis, a scalar. */
  lengthOf(value: string, axis: number): string {
    return this.add("Gather", [this.add("Shape", [value]), this.whole(axis)], { axis: 0 });
  }

  /** A shape out of lengths: numbers, and [value, axis] for those of arrays. */
  shape(...parts: readonly (number | readonly [string, number])[]): string {
    const lists = parts.map((part) =>
      typeof part === "number"
        ? this.whole([part])
        : this.add("Gather", [this.add("Shape", [part[0]]), this.whole([part[1]])], { axis: 0 }),
    );
    return this.add("Concat", lists, { axis: 0 });
  }
}

/** Where tokens stand: counted in the graph up to a length, or given. */
export interface Tokens {
  readonly positions: Positions;
  /** The number of tokens as the model's interface says it. */
  readonly count: number | string;
}

/** Positions as those functions take them that users call. */
export const asTensor = ({ data, axes, count }: Positions): Tensor =>
  new Tensor(data, axes === 1 ? [count] : [axes, count], "float64");

/** The attention that a model is of. */
export interface Setup {
  readonly heads: number;
  readonly kvHeads: number;
  readonly dim: number;
  readonly valueDim: number;
  readonly query: Tokens;
  readonly key: Tokens;
  /** Positions are counted in the graph, up to this length; else they are given. */
  readonly counted: number | undefined;
  readonly length: number | undefined;
  readonly causal: Causal;
  readonly given: Readonly<Record<string, unknown>>;
}

/** Noughts, float32. */
export const zeros = (...shape: number[]): Tensor => new Tensor(new Float32Array(product(shape)), shape, "float32");

/** Where tokens of a run stand, values of the graph. */
export interface Places {
  /** int64 [queries] and [keys]: the token's position, which is its row of a table. */
  readonly query: string;
  readonly key: string;
  /** int64 [queries, keys]: key - query. */
  readonly offset: string;
  /** int64 [queries, keys]: the offset's place among -(length - 1) … length - 1. */
  readonly offsetRow: string;
}

/** At most `most` of the positions, evenly, the last among them. */
export function spreadOver({ data, axes, count }: Positions, most: number): Positions {
  if (count <= most) return { data, axes, count };
  const chosen = Array.from({ length: most }, (_, n) => count - 1 - ((n * count) / most - (((n * count) / most) % 1)));
  const picked = Float64Array.from({ length: axes * most }, (_, n) => {
    const axis = (n - (n % most)) / most;
    return data[axis * count + chosen[n % most]!]!;
  });
  return { data: picked, axes, count: most };
}
