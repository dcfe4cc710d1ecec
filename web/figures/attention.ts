// <posenc-attention>: who looks at whom in a sentence under any scheme of the catalogue, and why: the chosen cell's
// score taken apart.
import {
  arange,
  attention as attend,
  attentionDistance,
  embed,
  encode,
  entropy,
  fromJSON,
  tensor,
  type AnyScheme,
  type AskedOf,
  type AttentionOptions,
  type AttentionResult,
  type AttentionTrace,
  type EmbedScheme,
  type Tensor,
} from "../src/core.js";
import { outlineOf } from "../src/outline.js";
import { inSteps } from "./background.js";
import type { ColourScale } from "./colour.js";
import { cutWord } from "./cut-word.js";
import {
  choice,
  cursorField,
  defineFigure,
  flag,
  range,
  text,
  type Code,
  type Reading,
  type State,
  type Values,
} from "./figure.js";
import { book, lowered, outOf, superscript } from "./format.js";
import { anySlot, givenScheme } from "./given-data.js";
import { Lens } from "./lens.js";
import { legend, paragraph } from "./marks.js";
import { refuseValue } from "./refusal.js";
import { schemeText } from "./scheme-fields.js";
import { meansOf } from "./shrink.js";
import {
  byHead,
  cutWords,
  isolated,
  onOneLine,
  seedOf,
  shortened,
  someTokensOf,
  spelled,
  tokensOf,
  vectorsOf,
} from "./sentence.js";
import {
  causalOnly,
  descriptorNamed,
  headShown,
  headsFields,
  optionsFor,
  schemeChoices,
  seesBackOnly,
  sizedCode,
  sizedFields,
  sizesFor,
  slopesOf,
  titleOf,
  type Descriptor,
} from "./sized-schemes.js";
import { estimateWidth, type HeatMap, type Ink, type Part, type Run, type Surface } from "./surface.js";
import { drawTokenMatrix, tokenLayout, type TokenLayout } from "./token-matrix.js";

type Scheme = ReturnType<typeof fromJSON>;

/** What one query of all heads has to do with the keys; arrays are [heads, keys]. */
interface Row {
  trace: AttentionTrace;
  weights: Float32Array;
  /** One number a head. */
  entropy: ArrayLike<number>;
  distance: ArrayLike<number>;
}

/** Attention of all heads under one scheme. */
interface Side {
  descriptor: Descriptor | undefined;
  title: string;
  scheme: Scheme | undefined;
  /** The scheme, where it was handed over and not made from the values. */
  given: AnyScheme | undefined;
  /** Queries and keys, [heads, tokens, width], and what attention is told of them. */
  q: Float32Array;
  k: Float32Array;
  options: Omit<AttentionOptions, "dtype" | "weights" | "trace">;
  /** Rows that were looked at. */
  rows: Map<number, Row>;
  /** [heads, queries, keys]; NaN where masked. Empty where only rows are looked at. */
  weights: Float32Array;
  /** Views of `weights`, one a head. */
  heads: readonly Float32Array[];
  /** The same shrunk for the small maps. */
  small: readonly HeatMap["values"][];
  /** [tokens, heads x width], where the scheme is added to the words. */
  encoding: { queries: Float32Array; keys: Float32Array } | undefined;
}

export interface Model {
  queries: readonly string[];
  keys: readonly string[];
  /** Of them, those that are not padding. */
  realQueries: number;
  realKeys: number;
  /** What is said of texts too long, if there are any. */
  cut: string;
  heads: number;
  width: number;
  cross: boolean;
  causal: boolean;
  /** 0: open. */
  window: number;
  /** The words' own vectors, [tokens, heads x width]. */
  words: { queries: Float32Array; keys: Float32Array };
  /** Attention by the words alone. */
  plain: Side;
  /** The chosen scheme, then the one it is compared with. */
  sides: readonly Side[];
  scale: ColourScale;
}

type Drawn = State<Model>;

const defaultSentence = "The cat sat on the mat";
const defaultScheme = "alibi";
const nothing = "nothing";
const padding = "[pad]";

// Entries of queries and keys are normal with this mean and deviation. As in trained models they share a mean: it is
// what rotations turn so that near tokens score higher. With these, what words and what positions say are of one size.
const sharedMean = 0.6;
const wordDeviation = 0.8;

// Under it the default sentence tells a story: "mat" looks at "sat" by its words, and a bias takes some of that away.
const defaultSeed = 91;

// Tokens of a text, and how many of them are done without giving the page its turn.
const mostTokens = 2048;
const atOnce = 256;
const mostCharacters = 40_000;
// Beyond so many characters a line is no place to read a text in.
const longLine = 240;
// Weights that fit into a page's memory: eight heads of 2,048 tokens and some padding, under two schemes.
const mostWeights = 72_000_000;
// Weights between two turns of the page.
const someWeights = 2 ** 19;
const someWords = 128;
// Cells along a side of a small map, at most.
const smallSide = 256;
const mostRows = 64;

// Names of this figure's own fields: a scheme's param of the same name is set by the figure.
const ownNames = [
  "sentence",
  "context",
  "scheme",
  "compare",
  "head",
  "heads",
  "headWidth",
  "causal",
  "window",
  "padding",
  "seed",
  "query",
  "key",
  "fixed",
  "dim",
];


// ---------------------------------------------------------------- the figure

export const attention = defineFigure<Model>({
  name: "attention",
  attributes: {
    sentence: "The sentence or text; its words and signs are the tokens, at most 2048.",
    context: "A second sentence: the first one looks at it (cross-attention).",
    scheme: 'The name of any scheme of the catalogue but fourier, or "none" for the words alone.',
    compare: 'A second scheme, drawn beside the first; "nothing" by default.',
    head: "The head shown, from 1.",
    heads:
      "How many heads, 1 to 32; 8 by default. Heads times queries times keys, with padding and for both schemes, at most " +
      "72\u202f000\u202f000.",
    headWidth: "The width of a head, 2 to 128; 16 by default.",
    causal: "Tokens see only themselves and what came before; true by default, always under CoPE, and never with context.",
    window: "How many tokens far a token sees; 0, the default, is all.",
    padding: "How many padding tokens follow the sentence; none by default.",
    seed: "Deals the words' vectors anew; 91 by default.",
    fixed: "Leaves out the figure's own input for the sentence.",
    query: "The row of the cursor, from 0.",
    key: "The column of the cursor, from 0.",
  },

  fields: (values) => {
    const sentence = String(values.sentence ?? defaultSentence);
    const total = tokensOf(sentence, mostTokens).length;
    const cross = tokensOf(String(values.context ?? "")).length > 0;
    const lines = sentence.length > longLine ? 4 : 1;
    const descriptor = descriptorNamed(String(values.scheme ?? defaultScheme));
    const fixed = values.fixed === true;
    const spoken = (value: number): string => (value === 0 ? "all" : `${value} token${value === 1 ? "" : "s"}`);
    return [
      flag("fixed", "fixed sentence", false, { place: "none" }),
      text("sentence", lines > 1 ? "text" : "sentence", defaultSentence, {
        place: fixed ? "none" : "row",
        maxLength: mostCharacters,
        lines,
      }),
      choice("scheme", "scheme", defaultScheme, schemeChoices(), { sentence: "Where positions come in." }),
      text("context", "a second sentence to look at", "", {
        place: fixed ? "none" : "more",
        maxLength: mostCharacters,
      }),
      ...headsFields(values, [values.scheme, values.compare], { heads: 32, width: 128 }),
      range("window", "window", 0, 0, Math.max(1, Math.min(total, 32)), { integer: true, most: 4096, format: spoken }),
      range("padding", "padding", 0, 0, 8, { integer: true, most: 64 }),
      choice("compare", "compare with", nothing, [{ value: nothing, label: nothing }, ...schemeChoices()]),
      flag("causal", "causal", true, { place: cross || looksBack(values) ? "none" : "row" }),
      range("seed", "seed of the words", defaultSeed, 0, 99, { integer: true, most: 2 ** 32, place: "more" }),
      ...sizedFields(descriptor, values, ownNames),
      cursorField("query", "The row of the cursor."),
      cursorField("key", "The column of the cursor."),
    ];
  },

  ...inSteps(
    (values, data) => modelOf(values, givenScheme(data, anySlot)),
    (values) => {
      const texts = [values.sentence, values.context];
      return texts.some((text) => tokensOf(String(text ?? ""), mostTokens).length > atOnce);
    },
  ),

  lens: Lens,

  cells: ({ model }) => ({
    row: { name: "query", count: model.queries.length, start: model.realQueries - 1 },
    column: { name: "key", count: model.keys.length, start: Math.max(0, model.realKeys - 4) },
    zoom: true,
  }),

  height: (state, width) => layoutOf(state, width).height,

  draw: (surface, state) => {
    const layout = layoutOf(state, surface.width);
    state.model.sides.forEach((side, k) => drawBlock(surface, state, side, layout.blocks[k] as Block));
  },

  title: ({ values, model }) => {
    const named = model.sides.map((side) => lowered(side.title)).join(" and ");
    return [
      model.cross ? "Cross-attention weights" : "Attention weights",
      `head ${outOf(headShown(values, model.heads) + 1, model.heads)}`,
      named,
      ...(model.causal ? ["causal"] : []),
      ...(model.window > 0 ? [`window of ${model.window}`] : []),
    ].join(", ");
  },

  caption: ({ model }) => {
    const what = model.cross
      ? "Each row is a word of the first sentence and spreads a weight of 1 over all of the second: there is no causal mask."
      : "A clicked cell takes its score apart: what the words say, what the positions say, and what is left after " +
        "the softmax.";
    return (
      `${model.cut}${what} Nothing here is trained: queries and keys are seeded normal numbers, one pair a word, ` +
      "so the same word asks and answers alike wherever it stands."
    );
  },

  readout: (state) => readingsOf(state),

  summary: (state) => {
    const { values, model, row, column } = state;
    const h = headShown(values, model.heads);
    const pairs = model.sides.map((side) => {
      const weights = side.heads[h] as Float32Array;
      const at = row * model.keys.length;
      let most = -1;
      for (let j = 0; j < model.keys.length; j++) {
        if ((weights[at + j] as number) > (most < 0 ? -1 : (weights[at + most] as number))) most = j;
      }
      const query = `\u201c${isolated(model.queries[row] ?? "")}\u201d`;
      const looks =
        most < 0
          ? `${query} sees no token`
          : `${query} looks most at \u201c${isolated(model.keys[most] ?? "")}\u201d, with a weight of ` +
            weightText(weights[at + most] as number);
      return `Under ${side.title}, ${looks}.`;
    });
    return (
      `A matrix of attention weights, ${model.queries.length} queries by ${model.keys.length} keys. ` +
      `${pairs.join(" ")} ` +
      `The cursor is on \u201c${isolated(model.queries[row] ?? "")}\u201d and ` +
      `\u201c${isolated(model.keys[column] ?? "")}\u201d.` +
      (model.heads > 1 ? ` Small maps show all ${model.heads} heads.` : "")
    );
  },

  table: ({ values, model }) => {
    const { queries, keys, sides } = model;
    const h = headShown(values, model.heads);
    // Of two schemes the second's rows follow the first's, each with its scheme before it.
    const lead = sides.length > 1 ? ["scheme"] : [];
    return {
      header: [...lead, "query", ...keys],
      rows: sides.length * queries.length,
      cell: (r, c) => {
        const side = sides[Math.floor(r / queries.length)] as Side;
        const row = r % queries.length;
        const key = c - lead.length - 1;
        if (key >= 0) return side.heads[h]?.[row * keys.length + key] as number;
        return key === -1 ? (queries[row] ?? "") : side.title;
      },
    };
  },

  array: ({ model: { sides, heads, queries, keys } }) => {
    const each = heads * queries.length * keys.length;
    const data = new Float32Array(sides.length * each);
    // A masked weight is 0, as the code gives it; only drawings tell it from a weight of nought.
    sides.forEach(({ weights }, k) =>
      weights.forEach((weight, n) => (data[k * each + n] = Number.isNaN(weight) ? 0 : weight)),
    );
    return { data, shape: [...(sides.length > 1 ? [sides.length] : []), heads, queries.length, keys.length] };
  },

  code: ({ values, model }) => codeOf(values, model),
});

// Three decimals; a weight that they would make nought is told from one that is.
function weightText(weight: number): string {
  return weight > 0 && weight < 0.0005 ? "<\u20090.001" : book(weight, { decimals: 3 });
}

// ---------------------------------------------------------------- the model

// Whether one of the schemes knows no keys ahead, so that both are drawn with a causal mask.
function looksBack(values: Values, given?: AnyScheme, { heads, width } = { heads: 1, width: 1 }): boolean {
  if (given && seesBackOnly(given, heads, width)) return true;
  return [...(given ? [] : [values.scheme]), values.compare].some((name) => {
    const descriptor = descriptorNamed(String(name));
    return descriptor !== undefined && causalOnly(descriptor);
  });
}

interface Progress {
  done: number;
  total: number;
}

// A given scheme stands in place of the chosen one, and says how many heads and how wide they are where it knows. Stops
// wherever the page might have its turn.
function* modelOf(values: Values, given: AnyScheme | undefined): Generator<Progress, Model> {
  const sentence = someTokensOf(String(values.sentence), mostTokens);
  const context = tokensOf(String(values.context ?? ""), mostTokens);
  const cross = context.length > 0;
  const pads = Array.from({ length: Number(values.padding) }, () => padding);
  const keys = [...(cross ? context : sentence), ...pads];
  const queries = cross ? sentence : keys;
  const { heads, width } = sizesFor(given, Number(values.heads), Number(values.headWidth));
  const deal = { seed: Number(values.seed), mean: sharedMean, std: wordDeviation };
  const vectors = function* (words: readonly string[], purpose: number): Generator<Progress, Float32Array> {
    const rows = new Float32Array(words.length * heads * width);
    for (let first = 0; first < words.length; first += someWords) {
      const some = words.slice(first, first + someWords);
      rows.set(vectorsOf(some, heads * width, { ...deal, purpose }), first * heads * width);
      if (words.length > someWords) yield { done: 0, total: 1 };
    }
    return rows;
  };
  const base = {
    queries,
    keys,
    realQueries: sentence.length,
    realKeys: keys.length - pads.length,
    cut: [values.sentence, ...(cross ? [values.context] : [])]
      .map((text, k) => cutWords(String(text), mostTokens, mostCharacters, k === 0 ? "the text" : "the second text"))
      .join(""),
    heads,
    width,
    cross,
    causal: !cross && (values.causal === true || looksBack(values, given, { heads, width })),
    window: Number(values.window),
    words: { queries: yield* vectors(queries, 1), keys: yield* vectors(keys, 2) },
  };
  const compared = String(values.compare) === nothing ? 1 : 2;
  const cells = heads * queries.length * keys.length;
  if (cells * compared > mostWeights) {
    const sentence = `${book(cells * compared)} weights do not fit into a page; choose fewer heads or a shorter text`;
    refuseValue("too-large", "sentence", `at most ${mostWeights} weights`, cells * compared, sentence);
  }
  const plain = sideOf(base, undefined, values);
  const first = given && outlineOf(given.slot, given.name);
  const sides = [String(values.scheme), String(values.compare)]
    .filter((name, k) => k === 0 || name !== nothing)
    .map((name, k) => {
      if (k === 0 && first) return sideOf(base, first, values, given);
      const descriptor = descriptorNamed(name);
      // The controls hold the first scheme's params.
      return descriptor ? sideOf(base, descriptor, k === 0 ? values : { seed: values.seed }) : plain;
    });
  const shown = [...new Set(sides)];
  const total = shown.length * queries.length;
  const large = new LargeWeights();
  for (const [n, side] of shown.entries()) {
    for (const done of weigh(side, base, large)) yield { done: n * queries.length + done, total };
  }
  return { ...base, plain, sides, scale: { kind: "amount", min: 0, max: keys.length > 16 ? large.most : 1 } };
}

type Base = Omit<Model, "plain" | "sides" | "scale">;

function sideOf(base: Base, descriptor: Descriptor | undefined, values: Values, given?: AnyScheme): Side {
  const { queries, keys, heads, width, words } = base;
  let scheme: Scheme | undefined = given;
  if (descriptor && !given) {
    const { slot, name } = descriptor;
    const tokens = Math.max(queries.length, keys.length);
    scheme = fromJSON({ slot, name, ...optionsFor(descriptor, values, { heads, width, tokens }, ownNames) });
  }
  if (base.cross && scheme && seesBackOnly(scheme, heads, width)) {
    const sentence =
      `${titleOf(descriptor)} counts the keys up to the query, so it does not go with a second sentence; ` +
      "leave that empty or choose another scheme.";
    refuseValue("unsupported", "context", "empty", values.context, sentence);
  }
  const added = descriptor?.slot === "embed" ? (scheme as EmbedScheme) : undefined;
  const place = (rows: Float32Array): Float32Array =>
    added ? (embed(tensor(rows, [rows.length / (heads * width), heads * width]), added).data as Float32Array) : rows;
  return {
    descriptor,
    title: titleOf(descriptor),
    scheme,
    given,
    q: byHead(place(words.queries), base.heads, base.width),
    k: byHead(place(words.keys), base.heads, base.width),
    options: {
      ...(scheme && !added ? ({ [scheme.slot]: scheme } as Pick<AttentionOptions, "bias">) : {}),
      ...visibility(base),
    },
    rows: new Map(),
    weights: new Float32Array(),
    heads: [],
    small: [],
    encoding: added && { queries: encode(added, queries.length).data, keys: encode(added, keys.length).data },
  };
}

// Who may see whom.
function visibility(base: Base): Side["options"] {
  return {
    causal: base.causal,
    ...(base.window > 0 ? { window: base.window } : {}),
    ...(base.realKeys < base.keys.length ? { keyLengths: base.realKeys } : {}),
  };
}

// Rows `first` to `end` of each of `outer` matrices of `rows` x `width`.
function rowsOf(data: Float32Array, outer: number, width: number, first: number, end: number): Tensor {
  const rows = data.length / (outer * width);
  if (first === 0 && end === rows) return tensor(data, [outer, rows, width]);
  const part = new Float32Array(outer * (end - first) * width);
  for (let o = 0; o < outer; o++) {
    const from = (o * rows + first) * width;
    part.set(data.subarray(from, from + (end - first) * width), o * (end - first) * width);
  }
  return tensor(part, [outer, end - first, width]);
}

// Queries `first` to `end` at their places in the whole: a query's results depend on nothing but it and the keys.
function attendRows<W extends boolean, T extends boolean = false>(
  side: Side,
  base: Base,
  first: number,
  end: number,
  more: Pick<AskedOf<W, T>, "weights" | "trace">,
): AttentionResult<"float32", W, T> {
  const { heads, width } = base;
  const keys = tensor(side.k, [heads, base.keys.length, width]);
  const places = { queryPositions: arange(first, end), keyPositions: base.keys.length };
  return attend(rowsOf(side.q, heads, width, first, end), keys, keys, { ...side.options, ...places, ...more });
}

// Fills in the weights of a side, some rows at a time; gives how many are done.
function* weigh(side: Side, base: Base, large: LargeWeights): Generator<number> {
  const { heads, queries, keys } = base;
  const cells = queries.length * keys.length;
  side.weights = new Float32Array(heads * cells);
  side.heads = Array.from({ length: heads }, (_, h) => side.weights.subarray(h * cells, (h + 1) * cells));
  const some = Math.max(8, Math.floor(someWeights / (heads * keys.length)));
  // Where all keys score alike, only those that are masked weigh nothing.
  const alike = tensor(new Float32Array(keys.length), [1, keys.length, 1]);
  for (let first = 0; first < queries.length; first += some) {
    const end = Math.min(queries.length, first + some);
    const { weights } = attendRows(side, base, first, end, { weights: true });
    const seen = attend(tensor(new Float32Array(end - first), [1, end - first, 1]), alike, alike, {
      ...visibility(base),
      queryPositions: arange(first, end),
      keyPositions: keys.length,
      weights: true,
    });
    const [from, visible] = [weights, seen.weights.data];
    const size = (end - first) * keys.length;
    side.heads.forEach((head, h) => {
      const part = from.data.subarray(h * size, (h + 1) * size) as Float32Array;
      for (let n = 0; n < size; n++) {
        if (visible[n] === 0) part[n] = Number.NaN;
        else large.count(part[n] as number);
      }
      head.set(part, first * keys.length);
    });
    yield end;
  }
  const [height, width] = smallSize(base);
  const small: HeatMap["values"][] = [];
  for (const head of side.heads) {
    const map = { values: head, rows: queries.length, columns: keys.length };
    small.push(head.length === height * width ? head : meansOf(map, width, height));
    yield queries.length;
  }
  side.small = small;
}

function smallSize({ queries, keys }: Pick<Base, "queries" | "keys">): [number, number] {
  return [Math.min(queries.length, smallSide), Math.min(keys.length, smallSide)];
}

/** All about the query of a row; rows are kept while the reader goes from one to the next. */
function rowOf(model: Base, side: Side, row: number): Row {
  let known = side.rows.get(row);
  if (!known) {
    const result = attendRows(side, model, row, row + 1, { weights: true, trace: true });
    const { weights } = result;
    const places = { queryPositions: [row], keyPositions: model.keys.length };
    known = {
      trace: result.trace,
      weights: weights.data,
      entropy: entropy(weights).data,
      distance: attentionDistance(weights, places).data,
    };
    if (side.rows.size >= mostRows) side.rows.clear();
    side.rows.set(row, known);
  }
  return known;
}

// Weights up to 1 while the cells carry their numbers; in long sentences up to a round number that few weights pass.
class LargeWeights {
  readonly #ends = [1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01];
  // Weights above an end and no larger one.
  readonly #above = this.#ends.map(() => 0);
  #all = 0;

  count(weight: number): void {
    this.#all++;
    if (weight <= 0.01) return;
    const end = this.#ends.findIndex((least) => weight > least);
    if (end > 0) this.#above[end] = (this.#above[end] as number) + 1;
  }

  /** The least of these ends that no more than one weight in fifty is above. */
  get most(): number {
    let [most, total] = [1, 0];
    for (let e = 1; e < this.#ends.length; e++) {
      total += this.#above[e] as number;
      if (total > 0.02 * this.#all) break;
      most = this.#ends[e] as number;
    }
    return most;
  }
}

// ---------------------------------------------------------------- one cell taken apart

interface Term {
  label: string;
  value: number;
  /** What the words say, what positions say, or a number beside the sum. */
  from: "words" | "positions" | "aside";
}

// A signed offset, key minus query.
function offsetText(row: number, column: number): string {
  return book(column - row, { signed: true });
}

function distanceText(model: Model, row: number, column: number): string {
  if (model.cross) return `positions ${row} and ${column}`;
  const apart = Math.abs(column - row);
  if (apart === 0) return "itself";
  return `${spelled(apart)} token${apart === 1 ? "" : "s"} ${column < row ? "back" : "ahead"}`;
}

/** The terms whose sum is the score, in order. */
function termsOf(model: Model, side: Side, head: number, row: number, column: number): Term[] {
  const n = head * model.keys.length + column;
  const { trace } = rowOf(model, side, row);
  const at = (term: AttentionTrace["content"]): number => term.data[n] as number;
  const content: Term = { label: "content \u27e8q, k\u27e9 / \u221ad", value: at(trace.content), from: "words" };
  switch (side.descriptor?.slot) {
    case "embed": {
      const { words, width, heads } = model;
      const slice = (rows: Float32Array, t: number): Float32Array =>
        rows.subarray((t * heads + head) * width, (t * heads + head + 1) * width);
      const encoding = side.encoding as NonNullable<Side["encoding"]>;
      const meet = (q: Float32Array, k: Float32Array): number => {
        const key = tensor(slice(k, column), [1, width]);
        const met = attend(tensor(slice(q, row), [1, width]), key, key, { trace: true }).trace;
        return met.content.data[0] as number;
      };
      return [
        { label: "word with word", value: meet(words.queries, words.keys), from: "words" },
        { label: "word with position", value: meet(words.queries, encoding.keys), from: "positions" },
        { label: "position with word", value: meet(encoding.queries, words.keys), from: "positions" },
        { label: "position with position", value: meet(encoding.queries, encoding.keys), from: "positions" },
      ];
    }
    case "rotate":
      return [
        { label: "before turning \u27e8q, k\u27e9 / \u221ad", value: at(trace.unrotated), from: "aside" },
        { label: "turned \u27e8Rq, Rk\u27e9 / \u221ad", value: at(trace.content), from: "positions" },
      ];
    case "bias":
      return [content, { label: `bias, offset ${offsetText(row, column)}`, value: at(trace.bias), from: "positions" }];
    case "relate":
      return [
        content,
        { label: `relative term, offset ${offsetText(row, column)}`, value: at(trace.relate), from: "positions" },
      ];
    default:
      return [content];
  }
}

// The largest term among a row's scores: the length of the longest bar, the same for all cells of the row.
function extentOf({ trace }: Row, keys: number, head: number): number {
  let most = 0;
  for (let n = head * keys; n < (head + 1) * keys; n++) {
    if (trace.masked.data[n]) continue;
    for (const term of [trace.content, trace.unrotated, trace.relate, trace.bias]) {
      most = Math.max(most, Math.abs(term.data[n] as number));
    }
  }
  return most || 1;
}

const termCount: Readonly<Record<string, number>> = { embed: 4, rotate: 2, bias: 2, relate: 2 };

const missing: Readonly<Record<string, string>> = {
  embed: "the encoding",
  rotate: "the turning",
  bias: "the bias",
  relate: "the relative term",
};

// 0.5 as 2⁻¹; anything else as a number.
function powerText(value: number): string {
  let exponent = 0;
  for (let rest = value; rest > 0 && rest < 1 && exponent < 60; rest *= 2) exponent++;
  if (value !== 2 ** -exponent || exponent === 0) return book(value, { significant: 4 });
  return `2${superscript(-exponent)}`;
}

/** What there is to say about a cell beside its numbers. */
function remark(model: Model, side: Side, head: number, row: number, column: number): string {
  const n = head * model.keys.length + column;
  const { trace } = rowOf(model, side, row);
  if (trace.masked.data[n]) {
    if (column >= model.realKeys) return "Padding: masked, so it gets no weight.";
    if (model.causal && column > row) return "Masked: a causal model does not look ahead.";
    return "Masked: it lies outside the window.";
  }
  const slot = side.descriptor?.slot;
  if (slot === undefined) return "Only the words count: the same two words score alike at any distance.";
  let first = "";
  if (side.descriptor?.name === "alibi" && column !== row) {
    const apart = Math.abs(column - row);
    const slope = -(trace.bias.data[n] as number) / apart;
    if (slope > 0) first = `Slope m = ${powerText(slope)}. `;
  } else if (slot === "embed" && model.heads > 1) {
    const from = head * model.width;
    first = `This head has dimensions ${from} to ${from + model.width - 1} of ${model.heads * model.width}. `;
  }
  const plain = rowOf(model, model.plain, row).weights[n] as number;
  return `${first}Without ${missing[slot]} this weight would be ${weightText(plain)}.`;
}

function readingsOf({ values, model, row, column }: Drawn): Reading[] {
  const h = headShown(values, model.heads);
  const n = (h * model.queries.length + row) * model.keys.length + column;
  const word = (given: string | undefined): string => isolated(shortened(given ?? ""));
  const pair = `${word(model.queries[row])} \u2192 ${word(model.keys[column])}`;
  const rows = model.sides.map((side) => rowOf(model, side, row));
  const weights = model.sides.map((side) => side.weights[n] as number);
  return [
    {
      label: pair,
      // By all schemes alike.
      value: Number.isNaN(weights[0]) ? "masked" : weights.map(weightText).join(" and "),
    },
    {
      label: "entropy",
      value: rows.map((of) => book(of.entropy[h] as number, { decimals: 2 })).join(" and "),
      unit: "nats",
    },
    ...(model.cross
      ? []
      : [
          {
            label: "mean distance",
            value: rows.map((of) => book(of.distance[h] as number, { decimals: 2 })).join(" and "),
            unit: "tokens",
          },
        ]),
  ];
}

// ---------------------------------------------------------------- layout

interface Block {
  x: number;
  y: number;
  width: number;
  heading: boolean;
  matrix: TokenLayout & { x: number; y: number };
  legendY: number | undefined;
  panel: { x: number; y: number; width: number; height: number };
  thumbs: Thumbs & { x: number; y: number };
  height: number;
}

interface Thumbs {
  perRow: number;
  width: number;
  height: number;
  step: number;
  rows: number;
}

const rowHeight = 26;
const headingHeight = 24;
const legendHeight = 36;

// The frame of the chosen one lies around it.
function thumbsOf(model: Model, space: number): Thumbs {
  const [room, gap] = [space - 3, 9];
  const perRow = Math.max(1, Math.min(model.heads, Math.floor((room + gap) / (36 + gap))));
  const rows = Math.ceil(model.heads / perRow);
  const even = Math.ceil(model.heads / rows);
  const width = Math.min(52, (room + gap) / even - gap);
  const height = Math.max(8, Math.min(52, (width * model.queries.length) / model.keys.length));
  return { perRow: even, rows, width, height, step: width + gap };
}

function thumbsHeight(thumbs: Thumbs): number {
  return 20 + thumbs.rows * (thumbs.height + 22);
}

// Broken without a font at hand, as the layout has none; with room for faces wider than the common one.
function remarkLines(text: string, width: number): string[] {
  return paragraph({ textWidth: estimateWidth }, text, 0.9 * width);
}

// The same for all that stand side by side.
function panelHeight(model: Model, sides: readonly Side[], width: number): number {
  return Math.max(...sides.map((side) => panelRoom(model, side, width)));
}

// Room for the longest remark there may be, so that nothing moves with the cursor: the corners and, where padding and a
// window mask those, the words beside the first and the last have all kinds of them.
function panelRoom(model: Model, side: Side, width: number): number {
  const terms = termCount[side.descriptor?.slot ?? ""] ?? 1;
  const last = model.realKeys - 1;
  const cells = [
    [model.queries.length - 1, 0],
    [0, model.keys.length - 1],
    [0, Math.min(last, 1)],
    [model.realQueries - 1, Math.max(0, Math.min(last, model.realQueries - 1) - 1)],
  ] as const;
  const heads = Array.from({ length: model.heads }, (_, h) => h);
  const remarks = heads.flatMap((h) => cells.map(([row, column]) => remark(model, side, h, row, column)));
  const lines = remarks.map((text) => remarkLines(text, width).length);
  return 26 + rowHeight * (terms + 2) + 12 + 17 * Math.max(...lines);
}

function layoutOf({ model, part }: Drawn, width: number): { blocks: Block[]; height: number } {
  const beside = model.sides.length > 1 && width >= 620;
  const gap = 44;
  const each = beside ? (width - gap) / 2 : width;
  const blocks: Block[] = [];
  let y = 0;
  model.sides.forEach((side, k) => {
    // Side by side, they are alike.
    const block = blockOf(model, beside ? model.sides : [side], each, part);
    if (beside) block.x = k * (each + gap);
    else block.y = y;
    y += block.height + 22;
    blocks.push(block);
  });
  const height = Math.max(...blocks.map((block) => block.y + block.height));
  return { blocks, height: Math.ceil(height) };
}

function blockOf(model: Model, level: readonly Side[], width: number, part: Part | undefined): Block {
  const heading = model.sides.length > 1;
  const top = heading ? headingHeight : 0;
  const gap = 40;
  // The panel stands beside the matrix while cells keep their numbers, or nearly.
  const half = width >= 620 ? tokenLayout(model.queries, model.keys, 0.55 * width, 460, part) : undefined;
  const beside = half && half.side >= 15 ? half : undefined;
  const grid = beside ?? tokenLayout(model.queries, model.keys, width, 620, part);
  const legendRoom = grid.side < 31 ? legendHeight : 0;
  const matrix = { ...grid, x: 0, y: top };
  const foot = top + grid.height;
  const legendY = legendRoom > 0 ? foot + 10 : undefined;
  let panel = { x: 1, y: foot + legendRoom + 22, width: width - 1, height: 0 };
  let place: { x: number; y?: number; room: number };
  const x = grid.width + gap;
  const rest = width - x;
  if (beside) {
    panel = { ...panel, x, y: top + Math.min(grid.top - 12, 24), width: rest };
    place = { x, room: rest };
  } else if (rest >= 120) {
    panel = { ...panel, x: 0, width: Math.min(width, 520) };
    place = { x, y: top + grid.top - 20, room: rest };
  } else if (width >= 620) {
    panel.width = 0.5 * width - 1;
    place = { x: 0.5 * width + gap, y: panel.y - 6, room: 0.5 * width - gap };
  } else place = { x: 2, room: width - 2 };
  panel.height = panelHeight(model, level, panel.width);
  const below = panel.y + panel.height;
  const thumbs = { y: below + (beside ? 10 : 6), ...place, ...thumbsOf(model, place.room) };
  const height = Math.max(foot + legendRoom, below, thumbs.y + thumbsHeight(thumbs)) + (beside ? 2 : 0);
  return { x: 0, y: 0, width, heading, matrix, legendY, panel, thumbs, height };
}

// ---------------------------------------------------------------- drawing

function drawBlock(whole: Surface, state: Drawn, side: Side, block: Block): void {
  const { model, values, row, column, part } = state;
  const h = headShown(values, model.heads);
  const surface = whole.inset(block.x, block.y, block.width, block.height);
  if (block.heading) surface.text(0, 8, side.title, { ink: "ink", bold: true, size: 12.5 });
  const { matrix } = block;
  const place = surface.inset(matrix.x, matrix.y, matrix.width, matrix.height);
  drawTokenMatrix(
    place,
    {
      values: side.heads[h] as Float32Array,
      rows: model.queries,
      columns: model.keys,
      scale: model.scale,
      part,
      row,
      column,
      greyRow: model.realQueries,
      greyColumn: model.realKeys,
    },
    matrix,
  );
  if (block.legendY !== undefined) {
    const max = model.scale.kind === "amount" ? model.scale.max : 1;
    const start = block.width < 500 ? 0 : matrix.left;
    surface.text(start, block.legendY + 3, "weight", { size: 11 });
    const x = start + surface.textWidth("weight", { size: 11 }) + 12;
    legend(surface, model.scale, x, block.legendY, 120, false);
    if (max < 1) surface.text(x + 128, block.legendY + 3, "and more", { size: 11 });
  }
  drawPanel(surface, state, side, block);
  drawThumbs(surface, state, side, block);
}

function drawPanel(surface: Surface, { model, values, row, column }: Drawn, side: Side, { panel }: Block): void {
  const h = headShown(values, model.heads);
  const { x, width } = panel;
  const end = x + width;
  const n = h * model.keys.length + column;
  const own = rowOf(model, side, row);
  const masked = own.trace.masked.data[n] !== 0;
  let y = panel.y + 6;
  const runs = headRuns(surface, model, row, column, width);
  surface.text(x, y, runs, { ink: "ink" });
  y += 16;
  const rule = (at: number): void => surface.path([x, at, end, at], { stroke: "faint" });
  const terms = masked ? [] : termsOf(model, side, h, row, column);
  const numberRoom = 58;
  const labels = Math.max(96, ...terms.map((term) => surface.textWidth(term.label))) + 14;
  const barRoom = Math.max(30, Math.min(150, width - labels - numberRoom));
  const zero = end - numberRoom - barRoom / 2;
  // In a long row what far keys are given would leave no bar to be seen.
  const alone = model.keys.length > atOnce;
  const most = alone
    ? terms.map(({ value }) => Math.abs(value))
    : model.sides.map((other) => extentOf(rowOf(model, other, row), model.keys.length, h));
  const extent = Math.max(...most) || 1;
  for (const term of terms) {
    const middle = y + rowHeight / 2;
    surface.text(x, middle, term.label);
    const share = Math.max(-1, Math.min(1, term.value / extent));
    const long = Math.abs((share * barRoom) / 2);
    const ink: Ink = term.from === "words" ? "cool" : term.from === "positions" ? "accent" : "grey";
    surface.path([zero, y + 5, zero, y + rowHeight - 5], { stroke: "faint" });
    const bar = { fill: ink, ...(term.from === "aside" ? { alpha: 0.45 } : {}) };
    surface.rect(share < 0 ? zero - long : zero, middle - 4.5, long, 9, bar);
    const value = book(term.value, { decimals: 3, signed: true });
    surface.text(end, middle, value, { align: "end", ink: term.from === "aside" ? "grey" : "ink" });
    y += rowHeight;
    rule(y);
  }
  if (!masked) {
    const score = own.trace.scores.data[n] as number;
    surface.text(x, y + rowHeight / 2, "score", { bold: true });
    surface.text(end, y + rowHeight / 2, book(score, { decimals: 3, signed: true }), {
      align: "end",
      bold: true,
      ink: "ink",
    });
    y += rowHeight;
    surface.text(x, y + rowHeight / 2, "weight after softmax");
    surface.text(end, y + rowHeight / 2, weightText(own.weights[n] as number), {
      align: "end",
      ink: "ink",
    });
    y += rowHeight;
    rule(y);
  }
  y += 18;
  for (const line of remarkLines(remark(model, side, h, row, column), width)) {
    surface.text(x, y, line);
    y += 17;
  }
}

// "score of mat → sat, three tokens back"; the words are cut where they are too long.
function headRuns(surface: Surface, model: Model, row: number, column: number, width: number): Run[] {
  const rest = `, ${distanceText(model, row, column)}`;
  const room = Math.max(40, (width - surface.textWidth(`score of  \u2192 ${rest}`) - 8) / 2);
  const word = (given: string): Run => ({ text: cutWord(surface, given, 0.92 * room), bold: true, ink: "ink" });
  return [
    { text: "score of ", ink: "ink" },
    word(model.queries[row] ?? ""),
    { text: " \u2192 ", ink: "ink" },
    word(model.keys[column] ?? ""),
    { text: rest, ink: "ink" },
  ];
}

function drawThumbs(surface: Surface, { model, values }: Drawn, side: Side, { thumbs }: Block): void {
  if (model.heads < 2) return;
  const chosen = headShown(values, model.heads);
  surface.text(thumbs.x, thumbs.y + 6, "every head", { size: 11 });
  const [rows, columns] = smallSize(model);
  side.small.forEach((weights, h) => {
    const x = thumbs.x + (h % thumbs.perRow) * thumbs.step;
    const y = thumbs.y + 20 + Math.floor(h / thumbs.perRow) * (thumbs.height + 22);
    const box = { x, y, width: thumbs.width, height: thumbs.height };
    surface.heatMap(box, {
      values: weights,
      rows,
      columns,
      scale: model.scale,
    });
    const own = h === chosen;
    if (own) surface.rect(x - 2, y - 2, thumbs.width + 4, thumbs.height + 4, { stroke: "accent", width: 1.5 });
    const style = { align: "middle", size: 11, ink: own ? "accent" : "grey", bold: own } as const;
    surface.text(x + thumbs.width / 2, y + thumbs.height + 10, String(h + 1), style);
    surface.region({ x, y, width: thumbs.step, height: thumbs.height + 20 }, () => ({ choose: { head: h + 1 } }));
  });
}

// ---------------------------------------------------------------- code

function codeOf(values: Values, model: Model): Code {
  const { sides } = model;
  const tokens = Math.max(model.queries.length, model.keys.length);
  const size = { heads: model.heads, width: model.width, tokens };
  const seeds = (words: readonly string[], purpose: number): string =>
    `[${words.map((word) => seedOf(word, purpose, Number(values.seed))).join(", ")}]`;
  const has = (slot: string): boolean => sides.some(({ descriptor }) => descriptor?.slot === slot);
  const schemes = sides.flatMap(({ descriptor }) => (descriptor ? [descriptor.name] : []));
  const names = new Set(["attention", ...(has("embed") ? ["embed"] : []), "randomNormal", ...schemes, "tensor"]);
  const attending = ({ descriptor, given }: Side, k: number): string[] => {
    const own = k === 0 ? values : { seed: values.seed };
    const made = given ? schemeText(given) : descriptor && sizedCode(descriptor, own, size, ownNames);
    const [scheme, q, key, weights] =
      k === 0 ? ["scheme", "q", "k", "weights"] : ["other", "q2", "k2", "weights: compared"];
    const added = descriptor?.slot === "embed";
    const place = (rows: string): string => `split(${added ? `embed(${rows}, ${scheme})` : rows})`;
    const options = [
      ...(descriptor && !added ? [`${descriptor.slot}: ${scheme}`] : []),
      ...(model.causal ? ["causal: true"] : []),
      ...(model.window > 0 ? [`window: ${model.window}`] : []),
      ...(model.realKeys < model.keys.length ? [`keyLengths: ${model.realKeys}`] : []),
      "weights: true",
    ];
    return [
      "",
      ...(made ? [`const ${scheme} = ${made};`] : []),
      `const [${q}, ${key}] = [${place("asking")}, ${place("answering")}];`,
      `const { ${weights} } = attention(${q}, ${key}, ${key}, { ${options.join(", ")} });  ` +
        `// [${model.heads}, ${model.queries.length}, ${model.keys.length}]`,
    ];
  };
  return {
    javascript: [
      `import { ${[...names].join(", ")} } from "posenc";`,
      "",
      `const [heads, width] = [${model.heads}, ${model.width}];`,
      "// One seeded vector a word, [tokens, heads x width].",
      "const vectors = (seeds) => tensor(seeds.map((seed) =>",
      `  [...randomNormal(heads * width, { seed, mean: ${sharedMean}, std: ${wordDeviation} }).data]));`,
      "// [heads, tokens, width]",
      "const split = (x) => tensor(Array.from({ length: heads }, (_, h) =>",
      "  Array.from(x, (row) => [...row.data.slice(h * width, (h + 1) * width)])));",
      "",
      `// One seed a word: ${onOneLine(model.queries)}`,
      `const asking = vectors(${seeds(model.queries, 1)});`,
      ...(model.cross ? [`// ${onOneLine(model.keys)}`] : []),
      `const answering = vectors(${seeds(model.keys, 2)});`,
      ...sides.flatMap(attending),
      "",
    ].join("\n"),
    numpy: async () => {
      const { attentionNumpy } = await import("./numpy-programs.js");
      return attentionNumpy(model, seeds, { mean: sharedMean, std: wordDeviation, line: onOneLine, slopes: slopesOf });
    },
  };
}
