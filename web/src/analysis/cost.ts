// What schemes cost beside the models they serve, and a table of schemes.
import { analysisFrame } from "../analysis-part.js";
import { bias } from "../bias.js";
import { encode } from "../embed.js";
import { PosencError, isList, readAll, refuse, verbatim } from "../error.js";
import { readFinite, readNoOptions, readOptions } from "../options.js";
import { fullDescriptor } from "../prose.js";
import { type AnyScheme, type ParamOutline, type Slot, type Spec, readScheme } from "../scheme.js";

const kCount = "a whole number from 1 to 2147483648";

const slots: readonly Slot[] = ["embed", "rotate", "bias", "relate"];

/** Options of {@link cost}. */
export interface CostOptions {
  /** Tokens T. */
  readonly length: number;
  /** Columns d. */
  readonly dim: number;
  /** Heads H, a divisor of dim. Default: the scheme's, else 1. */
  readonly heads?: number;
  /** Layers L. Default 1. */
  readonly layers?: number;
  /** Width k of the convolution. Default 3. */
  readonly kernelWidth?: number;
  /** No scheme costs nothing. */
  readonly scheme?: AnyScheme;
}

/** A count of each kind, and how it comes about in words. */
export interface Cost {
  /** Learned numbers. */
  readonly parameters: number;
  /** Multiply-adds of one call. */
  readonly multiplyAdds: number;
  /** Of the parameters, and of a scheme's table, in float32. */
  readonly bytes: number;
  readonly words: { readonly parameters: string; readonly multiplyAdds: string };
}

/** A way of reading a sequence; feed-forward parts, the same for all, are left out. */
export interface ModelCost extends Cost {
  /** Steps of a layer that wait for each other. */
  readonly sequentialSteps: number;
  /** The longest way between two tokens: layers, or steps of a recurrence. */
  readonly pathLength: number;
}

/** What {@link cost} returns. */
export interface Costs {
  /** The scheme alone. Its parameters are counted once: models that hold one a layer have `layers` times as many. */
  readonly scheme: Cost;
  readonly rnn: ModelCost;
  readonly cnn: ModelCost;
  readonly transformer: ModelCost;
  /** The Transformer with the table of an embed scheme added to its tokens, or put beside them; null elsewhere. */
  readonly adding: Cost | null;
  readonly concatenating: Cost | null;
}

// The number of elements of a shape text: "[2 clip + 1, dim] or …"; letters stand for the scheme's own numbers.
function sizeOf(shape: string, value: (name: string) => number): number {
  const tokens = /^\[([^\]]*)\]/.exec(shape)![1]!.match(/[A-Za-z]+|\d+|[-+/(),]/g)!;
  let at = 0;
  const factor = (): number => {
    const token = tokens[at++]!;
    if (token !== "(") return /^\d/.test(token) ? Number(token) : value(token);
    const inner = sum();
    at++;
    return inner;
  };
  const term = (): number => {
    let result = factor();
    while (at < tokens.length && /^[A-Za-z\d(]/.test(tokens[at]!)) result *= factor();
    return result;
  };
  function sum(): number {
    let result = term();
    while (tokens[at] === "+" || tokens[at] === "-") result += tokens[at++] === "-" ? -term() : term();
    return result;
  }
  let size = sum();
  while (tokens[at++] === ",") size *= sum();
  return size;
}

// DeBERTa has the tables of the terms it was asked for; what replaces a fixed rule is learned only where it is given.
function isUsed(scheme: AnyScheme, table: string): boolean {
  if (table === "slopes" || table === "frequencies") {
    return (scheme as unknown as Readonly<Record<string, unknown>>)[table] !== null;
  }
  if (scheme.name !== "deberta") return true;
  const { terms } = scheme as unknown as { readonly terms: string };
  return terms.includes(table === "keys" ? "c2p" : "p2c");
}

// The learned numbers of a scheme: the numbers, lists and tables that have gradients in attention, and the tables of
// what is added before it.
function parametersOf(scheme: AnyScheme, spec: Spec, dim: number): { count: number; words: string } {
  const property = (name: string): unknown => (scheme as unknown as Record<string, unknown>)[name];
  const value = (name: string): number => (name === "dModel" ? dim : (property(name) as number));
  const learned = spec.descriptor.params.filter(
    ({ name, kind, flags, differentiable }) =>
      (differentiable === true || (scheme.slot === "embed" && kind === "table" && flags !== true)) &&
      property(name) !== false &&
      isUsed(scheme, name),
  );
  const count = (param: ParamOutline): number => {
    const table = spec.tables[spec.descriptor.params.indexOf(param)];
    if (table !== undefined) return table.data.length;
    return param.shape === undefined ? 1 : sizeOf(param.shape, value);
  };
  const named = ({ name, shape = "" }: ParamOutline): string => `${name} ${shape.split(" or ")[0]!}`.trim();
  const words = learned.map(named).join(" + ");
  return { count: learned.reduce((sum, param) => sum + count(param), 0), words: words === "" ? "none" : words };
}

interface Work {
  readonly embed_columns: number;
  readonly turned_columns: number;
  readonly bias_heads: number;
  readonly pair_dots: number;
  readonly query_rows: number;
  readonly projected_rows: number;
  readonly table_numbers: number;
  readonly words: string;
}

const kNoWork: Work = {
  embed_columns: 0,
  turned_columns: 0,
  bias_heads: 0,
  pair_dots: 0,
  query_rows: 0,
  projected_rows: 0,
  table_numbers: 0,
  words: "none",
};

// What a call does for the scheme, in the terms of cpp/analysis/cost.h.
function workOf(scheme: AnyScheme, spec: Spec, length: number, heads: number, headWidth: number): Work {
  const { name } = scheme;
  const has = readAll(scheme) as unknown as Readonly<Record<string, number>>;
  switch (scheme.slot) {
    case "embed":
      return {
        ...kNoWork,
        embed_columns: spec.width,
        table_numbers: name === "learned" ? 0 : length * spec.width,
        words: "T d: one addition to each number of the tokens",
      };
    case "rotate":
      if (name === "queryScale") {
        const words = "L T d: one product for each number of the queries";
        return { ...kNoWork, turned_columns: headWidth / 4, table_numbers: length, words };
      }
      return {
        ...kNoWork,
        turned_columns: has.rotaryDim ?? spec.width,
        table_numbers: length * (has.rotaryDim ?? spec.width),
        words: "4 L H T r: two products for each of r columns of queries and of keys",
      };
    case "bias": {
      const words = "L H T^2: one addition to each score";
      return { ...kNoWork, bias_heads: heads, table_numbers: name === "swin" ? 0 : heads * (2 * length - 1), words };
    }
    default:
      break;
  }
  switch (name) {
    case "shaw": {
      const sides = ["keys", "values"].filter((side) => (has[side] as unknown) !== false);
      const words = `${sides.length} L T^2 d: a dot product for each pair, for ${sides.join(" and ")}`;
      return { ...kNoWork, pair_dots: sides.length, words };
    }
    case "transformerXL": {
      const words = "L (T^2 d + T d + (2 T - 1) d^2): q and v meet each offset, u each key, offsets are projected";
      const projected = 2 * length - 1;
      const table = (2 * length - 1) * spec.width * heads;
      return { ...kNoWork, pair_dots: 1, query_rows: 1, projected_rows: projected, table_numbers: table, words };
    }
    case "deberta": {
      const terms = ["keys", "queries"].filter((table) => isUsed(scheme, table)).length;
      const words = `${terms} L T 2 s d: each token meets the 2 s rows of a table, for ${terms} of two terms`;
      return { ...kNoWork, query_rows: terms * 2 * has.span!, words };
    }
    case "cope":
      return { ...kNoWork, query_rows: has.maxPosition!, words: "L T p d: each query meets the p rows of its table" };
    default:
      return { ...kNoWork, pair_dots: 1, words: "L T^2 d: a dot product for each pair" };
  }
}

/**
 * Parameters, multiply-adds and bytes of a scheme, and of the layers of a recurrent, a convolutional and an attention
 * model of that size, with the words behind each number (note 001, section 1.3; Vaswani et al. 2017, table 1), and of
 * adding a table against concatenating it (note 004). One call on T tokens; counts are exact to 2^53.
 * Errors: heads that do not divide dim; a scheme made for other heads or another head width.
 */
export function cost(options: CostOptions): Costs {
  const subject = "cost";
  const given = readOptions(subject, options, ["length", "dim", "heads", "layers", "kernelWidth", "scheme"]);
  const scheme = given.scheme as AnyScheme | undefined;
  const spec = scheme === undefined ? undefined : readScheme(subject, "scheme", scheme, slots);
  const length = readFinite(subject, "length", given.length, undefined, kCount);
  const dim = readFinite(subject, "dim", given.dim, undefined, kCount);
  const own = spec === undefined || spec.heads === 0 ? 1 : spec.heads;
  const heads = readFinite(subject, "heads", given.heads, own, kCount);
  if (spec !== undefined && spec.heads !== 0 && spec.heads !== heads) {
    refuse("shape-mismatch", subject, "heads", `${spec.heads}, which the scheme is made for`, heads);
  }
  const headed = spec !== undefined && ["rotate", "relate"].includes(scheme!.slot) && spec.width > 0;
  if (headed && spec.width * heads !== dim) {
    const heard = verbatim(`a scheme of head width ${spec.width}`);
    refuse("shape-mismatch", subject, "scheme", `of head width dim / heads, ${dim / heads}`, heard);
  }
  const learned = spec === undefined ? { count: 0, words: "none" } : parametersOf(scheme!, spec, dim);
  const { words, ...work } = spec === undefined ? kNoWork : workOf(scheme!, spec, length, heads, dim / heads);
  const frame = analysisFrame(subject);
  const out = frame.output(24 * 8);
  frame.run("cost", {
    length,
    dim,
    heads,
    layers: readFinite(subject, "layers", given.layers, 1, kCount),
    kernel_width: readFinite(subject, "kernelWidth", given.kernelWidth, 3, kCount),
    parameters: learned.count,
    ...work,
    out,
  });
  const counts = frame.float64(out, 24);
  const entry = (n: number, parameters: string, multiplyAdds: string): Cost => ({
    parameters: counts[3 * n]!,
    multiplyAdds: counts[3 * n + 1]!,
    bytes: counts[3 * n + 2]!,
    words: { parameters, multiplyAdds },
  });
  const model = (n: number, parameters: string, multiplyAdds: string): ModelCost => ({
    ...entry(n, parameters, multiplyAdds),
    sequentialSteps: counts[16 + 2 * n]!,
    pathLength: counts[17 + 2 * n]!,
  });
  const embeds = scheme?.slot === "embed";
  return {
    scheme: entry(0, learned.words, words),
    rnn: model(1, "L (2 d^2 + d): W_h, W_x and b", "2 L T d^2: one step after another"),
    cnn: model(2, "L (k d^2 + d): k matrices and b", "k L T d^2: all positions at once"),
    transformer: model(3, "4 L d^2: four projections", "L (4 T d^2 + 2 T^2 d): projections, scores and mixtures"),
    adding:
      embeds && spec!.width === dim
        ? entry(4, "4 L d^2: the width stays", "L (4 T d^2 + 2 T^2 d) + T d: one addition more for each number")
        : null,
    concatenating: embeds
      ? entry(5, "4 L (d + p)^2: p columns wider throughout", "L (4 T (d + p)^2 + 2 T^2 (d + p))")
      : null,
  };
}

/** A law of a scheme, and the condition it holds under where it has one. */
export interface ComparedLaw {
  readonly law: string;
  /** What the law says of this slot. */
  readonly sentence: string;
  /** Null where it holds as the scheme was made. */
  readonly when: string | null;
}

/** A row of {@link compare}: note 002's table, computed. */
export interface ComparedScheme {
  readonly name: string;
  readonly title: string;
  readonly slot: Slot;
  /** As one would write it. */
  readonly scheme: string;
  /** Where it acts, in words. */
  readonly where: string;
  /** Learned numbers. */
  readonly parameters: number;
  readonly parametersInWords: string;
  /** The first position, counted from 0, that it refuses: the longest sequence; Infinity where none is. */
  readonly maxLength: number;
  /** What it tells of positions, in words. */
  readonly encodes: string;
  /** Its laws, but those whose condition this scheme does not meet. */
  readonly laws: readonly ComparedLaw[];
}

const kWhere: Readonly<Record<Slot, string>> = {
  embed: "added to the input",
  rotate: "applied to queries and keys",
  bias: "added to attention scores",
  relate: "met by queries, keys and values in attention",
};

// True where the scheme takes positions 0 and n - 1 together.
function takes(scheme: AnyScheme, n: number): boolean {
  try {
    if (scheme.slot === "embed") encode(scheme, [0, n - 1]);
    if (scheme.slot === "bias") bias(scheme, { queries: [0, n - 1], keys: [0, n - 1] });
    return true;
  } catch (error) {
    if (error instanceof PosencError && error.code === "out-of-range") return false;
    throw error;
  }
}

function maxLengthOf(scheme: AnyScheme): number {
  if (takes(scheme, 2 ** 30)) return Infinity;
  // As a rule the length that it was made for; each question costs a scheme that is made anew.
  const { length } = scheme as unknown as { readonly length?: unknown };
  if (typeof length === "number" && takes(scheme, length) && !takes(scheme, length + 1)) return length;
  let [low, high] = [1, 2 ** 30];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (takes(scheme, middle)) low = middle;
    else high = middle;
  }
  return low;
}

// Extrapolation is not taken from the claim: the scheme was asked.
function lawsOf(scheme: AnyScheme, spec: Spec, maxLength: number): ComparedLaw[] {
  const property = (name: string): unknown => (scheme as unknown as Record<string, unknown>)[name];
  return fullDescriptor(spec.descriptor).laws.flatMap(({ law, sentence, when }) => {
    if (law === "extrapolates") return maxLength === Infinity ? [{ law, sentence, when: null }] : [];
    if (when?.param === undefined) return [{ law, sentence, when: when?.text ?? null }];
    return property(when.param) === when.value ? [{ law, sentence, when: null }] : [];
  });
}

function encodes(scheme: AnyScheme, laws: readonly ComparedLaw[]): string {
  const { slot, name } = scheme;
  if (name === "cope") return "position counted by the content";
  const shifts = laws.some(({ law }) => law === "shift_invariant");
  if (slot === "embed") return shifts ? "absolute position, with shift structure" : "absolute position";
  if (slot === "rotate") return shifts ? "relative offset in the dot product" : "absolute position";
  return shifts ? "relative offset" : "relative offset and absolute position";
}

/**
 * A table of schemes, one row each: where it acts, its parameters, the longest sequence it takes (found by asking it),
 * what it encodes and the laws it keeps, from the schemes themselves.
 */
export function compare(schemes: readonly AnyScheme[]): ComparedScheme[] {
  const subject = "compare";
  readNoOptions(subject, arguments, 1);
  if (!isList(schemes)) refuse("not-a-number", subject, "schemes", "a list of schemes", schemes);
  return Array.from(schemes, (scheme: AnyScheme, n) => {
    const spec = readScheme(subject, `schemes[${n}]`, scheme, slots);
    const learned = parametersOf(scheme, spec, spec.width * (spec.heads === 0 ? 1 : spec.heads));
    const maxLength = maxLengthOf(scheme);
    const laws = lawsOf(scheme, spec, maxLength);
    return {
      name: scheme.name,
      title: spec.descriptor.title,
      slot: scheme.slot,
      scheme: scheme.toString(),
      where: kWhere[scheme.slot],
      parameters: learned.count,
      parametersInWords: learned.words,
      maxLength,
      encodes: encodes(scheme, laws),
      laws,
    };
  });
}
