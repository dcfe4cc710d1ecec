// <posenc-permutation>: the same words in two orders. Without positions attention gives each word the same output,
// wherever it stands; what is pooled from them is the same for both sentences, until a position or a mask tells places.
import { permutationGap, similarity, sortedAttention } from "../src/analysis/index.js";
import {
  attention,
  embed,
  fromJSON,
  outlines,
  randomNormal,
  tensor,
  type AnyScheme,
  type AttentionOptions,
  type EmbedScheme,
  type Tensor,
} from "../src/core.js";
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
  type State,
  type Values,
} from "./figure.js";
import { book, capital, lowered } from "./format.js";
import { anySlot, givenScheme } from "./given-data.js";
import { magnitude } from "./magnitude.js";
import { brokenLines, drawFrames, labelSize, legend } from "./marks.js";
import { refuseValue } from "./refusal.js";
import { schemeText } from "./scheme-fields.js";
import {
  byHead,
  cutWords,
  isolated,
  onOneLine,
  seedOf,
  shortened,
  someTokensOf,
  tokensOf,
  vectorsOf,
} from "./sentence.js";
import {
  causalOnly,
  descriptorNamed,
  headShown,
  headsFields,
  noPosition,
  optionsFor,
  schemeChoices,
  seesBackOnly,
  sizedCode,
  sizedFields,
  sizesFor,
  slopesOf,
  titleOf,
  type Descriptor,
  type Size,
} from "./sized-schemes.js";
import { estimateWidth, type Box, type Surface } from "./surface.js";

/** float64 where sums are sorted. */
type Numbers = Float32Array | Float64Array;

interface Sentence {
  words: readonly string[];
  /** Of the head shown, [tokens, width]. */
  outputs: Numbers;
  /** The mean over the tokens, of the same head, [width]. */
  mean: Numbers;
  /** [classes]. */
  logits: Float64Array;
}

export interface Model {
  /** What is said of a sentence too long, if it is. */
  cut: string;
  descriptor: Descriptor | undefined;
  given: AnyScheme | undefined;
  scheme: AnyScheme | undefined;
  heads: number;
  width: number;
  head: number;
  causal: boolean;
  sorted: boolean;
  /** Where in the first sentence each word of the second stands. */
  permutation: readonly number[];
  /** The reverse: where a word of the first sentence has gone. */
  places: readonly number[];
  /** Of both sentences, [2, tokens, width]. */
  outputs: Numbers;
  sentences: readonly [Sentence, Sentence];
  /** Of each word of the first sentence, the distance of its two outputs. */
  apart: readonly number[];
  /** max |Attn(PX) - P Attn(X)| over all heads. */
  gap: number;
  /** The distance of the two vectors of logits. */
  logitGap: number;
  /** No more apart than rounding makes them. */
  same: boolean;
  scale: ColourScale;
}

type Drawn = State<Model>;

const mostWords = 48;
const mostCharacters = 1000;
// As they are dealt, a word looks at itself and at others about alike.
const wordDeviation = 0.6;
const classNames = ["A", "B", "C"];
const classDeviation = 0.4;

// Names of the figure's own fields: a scheme's param of the same name is set by the figure.
const defaultSentence = "dog bites man";
const ownNames = ["sentence", "order", "scheme", "head", "heads", "headWidth", "causal", "sum", "seed", "fixed", "dim"];

export const permutation = defineFigure<Model>({
  name: "permutation",
  attributes: {
    sentence: 'The sentence, "dog bites man" by default; its words and signs are the tokens, at most 48.',
    order: "The same words in another order; from last to first where it is empty, as by default.",
    scheme: 'The name of any scheme of the catalogue but fourier, or "none", the default, for the words alone.',
    causal: "Tokens see only themselves and what came before; false by default, always true under CoPE.",
    sum: 'How sums over the keys are taken: "index", in the order of the keys, or "sorted", in an order of their own.',
    head: "The head shown, from 1.",
    heads: "How many heads, 1 to 16; 8 by default.",
    headWidth: "The width of a head, 2 to 64; 16 by default.",
    seed: "Deals the words' vectors and the classifier anew; 0 by default.",
    fixed: "Leaves out the figure's own inputs for the sentences.",
    token: "The word under the cursor, by its place in the first sentence.",
    channel: "The channel of the outputs under the cursor.",
  },

  fields: (values) => {
    const descriptor = descriptorNamed(String(values.scheme ?? noPosition));
    const place = values.fixed === true ? "none" : "row";
    const sums = [
      { value: "index", label: "by place, as usual" },
      { value: "sorted", label: "sorted" },
    ];
    const sorted = descriptor?.slot !== "relate";
    return [
      flag("fixed", "fixed sentences", false, { place: "none" }),
      text("sentence", "sentence", defaultSentence, { place, maxLength: mostCharacters }),
      text("order", "its words in another order", "", {
        place,
        maxLength: mostCharacters,
        placeholder: tokensOf(String(values.sentence ?? defaultSentence), mostWords).reverse().join(" "),
        sentence: "Left empty, they go from last to first.",
      }),
      choice("scheme", "scheme", noPosition, schemeChoices(), { sentence: "Where positions come in." }),
      choice("sum", "sums over keys", "index", sums, {
        place: sorted ? "row" : "none",
        sentence: "Sums in another order round otherwise; sorted ones do not know the order.",
      }),
      ...headsFields(values, [values.scheme], { heads: 16, width: 64 }),
      flag("causal", "causal mask", false, { place: descriptor && causalOnly(descriptor) ? "none" : "row" }),
      range("seed", "seed", 0, 0, 99, { integer: true, most: 2 ** 32, place: "more" }),
      ...sizedFields(descriptor, values, ownNames),
      cursorField("token", "The word under the cursor."),
      cursorField("channel", "The channel under the cursor."),
    ];
  },

  compute: (values, data) => modelOf(values, givenScheme(data, anySlot)),

  cells: ({ model }) => ({
    row: { name: "token", count: model.places.length },
    column: { name: "channel", count: model.width, start: Math.floor(0.4 * model.width) },
  }),

  height: ({ model }, width) => layoutOf(model, width).height,

  draw,

  title: ({ model }) => {
    const { sentences, causal } = model;
    const [first, second] = sentences.map(({ words }) => `\u201c${shortened(words.join(" "), 28)}\u201d`);
    return `Attention on ${first} and ${second}, ${lowered(titleOf(model.descriptor))}${causal ? ", causal" : ""}`;
  },

  caption: ({ model }) => {
    const seeded = `${model.cut}Nothing here is trained: words and classes are seeded normal numbers.`;
    if (model.same) return `${sameSentence(model)} ${roundingSentence(model)} ${seeded}`;
    const causes = [
      ...(model.descriptor ? [`${titleOf(model.descriptor)} tells attention where a word stands`] : []),
      ...(model.causal ? ["the causal mask hides from a word what comes after it"] : []),
    ];
    const why = causes.length > 0 ? causes.join(", and ") : "it goes by places";
    return (
      `${capital(why)}: a word\u2019s output changes with its place, the means differ, and ` +
      `a classifier can tell the sentences apart. ${seeded}`
    );
  },

  readout: ({ model, row, column }) => {
    const { sentences, places, width, apart, gap, logitGap } = model;
    const [first, second] = sentences;
    const place = places[row] as number;
    const value = (outputs: Numbers, at: number): string =>
      book(outputs[at * width + column] as number, { decimals: 4, signed: true });
    return [
      { label: "word", value: shortened(isolated(first.words[row] ?? "")) },
      { label: "places", value: `${row} and ${place}` },
      { label: `channel ${column}`, value: `${value(first.outputs, row)} and ${value(second.outputs, place)}` },
      { label: "distance", value: small(apart[row] as number) },
      { label: "largest |Attn(PX) \u2212 P Attn(X)|", value: small(gap), constant: true },
      { label: "distance of the logits", value: small(logitGap), constant: true },
    ];
  },

  summary: ({ model }) => {
    const [first, second] = model.sentences;
    const list = (values: Float64Array): string => [...values].map((v) => book(v, { decimals: 3 })).join(", ");
    return (
      `Outputs of head ${model.head + 1} of ${model.heads} for \u201c${isolated(first.words.join(" "))}\u201d and ` +
      `\u201c${isolated(second.words.join(" "))}\u201d under ${titleOf(model.descriptor)}` +
      `${model.causal ? ", causal" : ""}, side by side, lines joining the same words. The largest difference of ` +
      `Attn(PX) and P Attn(X) is ${small(model.gap)}. From the mean of the outputs a classifier makes the logits ` +
      `${list(first.logits)} and ${list(second.logits)}: it ` +
      `${model.same ? "cannot tell the sentences apart" : "tells the sentences apart"}.`
    );
  },

  table: ({ model }) => {
    const { sentences, width, places } = model;
    const tokens = places.length;
    return {
      header: ["sentence", "word", "place", ...Array.from({ length: width }, (_, c) => `channel ${c}`)],
      rows: 2 * tokens,
      cell: (r, c) => {
        const { words, outputs } = sentences[r < tokens ? 0 : 1];
        const at = r % tokens;
        if (c < 3) return [r < tokens ? 1 : 2, words[at] ?? "", at][c] as number | string;
        return outputs[at * width + c - 3] as number;
      },
    };
  },

  array: ({ model }) => {
    return { data: model.outputs, shape: [2, model.places.length, model.width] };
  },

  code: ({ values, model }) => codeOf(values, model),
});

// A difference that may be rounding.
function small(value: number): string {
  return value >= 0.01 ? book(value, { decimals: 4 }) : book(value, { significant: 2 });
}

function sameSentence({ descriptor, causal, permutation: order }: Model): string {
  const title = titleOf(descriptor);
  if (order.every((from, to) => from === to)) return "Both orders are the same: write another one.";
  if (!descriptor && !causal) {
    return (
      "Each word has the same output in both sentences, only its place has changed: Attn(PX)\u00a0=\u00a0P\u00a0Attn(X). So the mean " +
      "is the same, and a classifier that reads it cannot tell the sentences apart. Choose a scheme, or the causal " +
      "mask, and it can."
    );
  }
  if (order.every((from, to) => from === order.length - 1 - to)) {
    return (
      `Under ${title} too each word has the same output: it sees how far apart words are, not which comes first, and ` +
      "the second sentence is the first one read backwards. Another order, or the causal mask, tells them apart."
    );
  }
  return `Under ${title} this order makes no difference: each word has the same output in both sentences.`;
}

function roundingSentence({ gap }: Model): string {
  return gap === 0
    ? "With sorted sums not one bit differs."
    : `The gap of ${small(gap)} is rounding, for sums are taken in another order.`;
}

// ---------------------------------------------------------------- the model

// Which word of `words` stands at each place of `other`; throws where they are not the same words.
function permutationTo(words: readonly string[], other: readonly string[], cut: string): number[] {
  const free = new Map<string, number[]>();
  words.forEach((word, t) => {
    const places = free.get(word.toLowerCase()) ?? [];
    places.push(t);
    free.set(word.toLowerCase(), places);
  });
  const order = other.map((word) => free.get(word.toLowerCase())?.shift());
  const missing = [...free].find(([, places]) => places.length > 0)?.[0];
  const extra = other.find((_, t) => order[t] === undefined);
  if (extra !== undefined || missing !== undefined) {
    const what = extra !== undefined ? `\u201c${extra}\u201d is too much` : `\u201c${missing}\u201d is missing`;
    const allowed = "the words of the sentence, each as often";
    const sentence = `order must have ${allowed}: ${what}. ${cut}`.trimEnd();
    refuseValue("out-of-range", "order", allowed, other.join(" "), sentence);
  }
  return order as number[];
}

function modelOf(values: Values, given: AnyScheme | undefined): Model {
  const words = someTokensOf(String(values.sentence), mostWords);
  const cut = cutWords(String(values.sentence), mostWords, mostCharacters, "the sentence");
  const asked = tokensOf(String(values.order ?? ""));
  const order = asked.length === 0 ? words.map((_, t) => words.length - 1 - t) : permutationTo(words, asked, cut);
  const places = order.map((_, t) => order.indexOf(t));
  const tokens = words.length;
  const { heads, width } = sizesFor(given, Number(values.heads), Number(values.headWidth), true);
  const head = headShown(values, heads);
  const descriptor = given
    ? outlines.find(({ slot, name }) => slot === given.slot && name === given.name)
    : descriptorNamed(String(values.scheme));
  const size = sizeFor(descriptor, heads, width, tokens);
  const scheme = given ?? (descriptor && made(descriptor, values, size));
  const causal = values.causal === true || (scheme !== undefined && seesBackOnly(scheme, heads, width));
  const sorted = values.sum === "sorted" && descriptor?.slot !== "relate";
  const options: AttentionOptions = { ...(scheme && scheme.slot !== "embed" ? { [scheme.slot]: scheme } : {}), causal };
  const added = scheme?.slot === "embed" ? (scheme as EmbedScheme) : undefined;

  const seed = Number(values.seed);
  const ordered = order.map((t) => words[t] as string);
  const [x, permutedX] = [words, ordered].map((list) => {
    const vectors = vectorsOf(list, heads * width, { purpose: 3, seed, std: wordDeviation });
    return tensor(byHead(vectors, heads, width), [heads, tokens, width]);
  }) as [Tensor, Tensor];
  const attend: Attend = sorted ? sortedAttention : (...asked) => attention(...asked).out;
  const straight = outputsOf(x, added, attend, options);
  const permuted = outputsOf(permutedX, added, attend, options);
  const whole = { ...options, ...(added ? { embed: added } : {}) };
  const gap = permutationGap(x, order, { ...whole, sum: sorted ? "sorted" : "index" });

  const means = [straight, permuted].map((out) => meanOf(out, attend)) as [Tensor, Tensor];
  const logits = logitsOf(means, seed);
  const sentences = [straight, permuted].map((out, s) => ({
    words: s === 0 ? words : ordered,
    outputs: out.data.slice(head * tokens * width, (head + 1) * tokens * width),
    mean: means[s]!.data.slice(head * width, (head + 1) * width),
    logits: logits[s],
  })) as unknown as [Sentence, Sentence];

  const both = new (sorted ? Float64Array : Float32Array)(2 * tokens * width);
  both.set(sentences[0].outputs);
  both.set(sentences[1].outputs, tokens * width);
  const distances = similarity(tensor(both, [2 * tokens, width]), { metric: "euclidean" });
  const apart = places.map((place, t) => distances.at(t, tokens + place));
  const logitGap = similarity(tensor(sentences.map((s) => [...s.logits]), undefined, "float64"), {
    metric: "euclidean",
  }).at(0, 1);
  const extent = magnitude(both) || 1;
  return {
    cut,
    ...{ descriptor, given, scheme, heads, width, head, causal, sorted, permutation: order },
    ...{ places, sentences, apart, gap },
    outputs: both,
    logitGap,
    same: gap <= 1e-5 * extent,
    scale: { kind: "signed", extent },
  };
}

function made(descriptor: Descriptor, values: Values, size: Size): AnyScheme {
  const { slot, name } = descriptor;
  return fromJSON({ slot, name, ...optionsFor(descriptor, values, size, ownNames) });
}

// What is added to words has the width of a head.
function sizeFor(descriptor: Descriptor | undefined, heads: number, width: number, tokens: number): Size {
  return { heads: descriptor?.slot === "embed" ? 1 : heads, width, tokens };
}

type Attend = (q: Tensor, k: Tensor, v: Tensor, options?: Omit<AttentionOptions, "dtype">) => Tensor;

function outputsOf(x: Tensor, added: EmbedScheme | undefined, attend: Attend, options: AttentionOptions): Tensor {
  const input = added ? embed(x, added) : x;
  return attend(input, input, input, options);
}

// The mean over the tokens of all heads, [heads, 1, width]: attention whose scores are all 0.
function meanOf(out: Tensor, attend: Attend): Tensor {
  const [heads = 0, tokens = 0] = out.shape;
  const nothing = (rows: number): Tensor => tensor(new Float32Array(heads * rows), [heads, rows, 1]);
  return attend(nothing(1), nothing(tokens), out);
}

// Each mean's products with a seeded vector a class.
function logitsOf(means: readonly Tensor[], seed: number): Float64Array[] {
  const width = means[0]!.size;
  const classes = randomNormal([classNames.length, width], { seed: seedOf("class", 4, seed), std: classDeviation });
  const rows = new Float64Array((means.length + classNames.length) * width);
  [...means, classes].forEach(({ data }, at) => rows.set(data, at * width));
  const products = similarity(tensor(rows, [means.length + classNames.length, width]));
  return means.map((_, s) => Float64Array.from(products.row(s).subarray(means.length)));
}

// ---------------------------------------------------------------- where things are

interface Layout {
  /** Where the strips begin, and how wide they are. */
  lefts: readonly [number, number];
  strip: number;
  top: number;
  row: number;
  /** Room of the words at the left, and at the right. */
  words: readonly [number, number];
  mean: number;
  classes: number;
  /** The legend stands between the means, not at the foot. */
  between: boolean;
  height: number;
}

const classRow = 19;

function layoutOf({ sentences, places }: Model, width: number): Layout {
  const narrow = width < 500;
  const tokens = places.length;
  const widest = sentences[0].words.reduce((most, word) => Math.max(most, 1.2 * estimateWidth(word, {})), 0);
  // "mean" and "class A" stand under the words.
  const left = Math.max(54, Math.min(narrow ? 66 : 96, widest + 10));
  const right = narrow ? 6 : left;
  const numbers = narrow ? 48 : 62;
  const middle = narrow ? 50 : Math.max(90, 0.15 * width);
  const strip = (width - left - right - numbers - middle) / 2;
  const row = Math.max(7, Math.min(28, Math.floor(336 / tokens)));
  const top = 44;
  const mean = top + tokens * row + 24;
  const classes = mean + 44;
  const between = middle >= 125;
  const height = classes + 12 + classNames.length * classRow + (between ? 4 : 38);
  const lefts = [left, left + strip + middle] as const;
  return { lefts, strip, top, row, words: [left, right], mean, classes, between, height };
}

// ---------------------------------------------------------------- drawing

function draw(surface: Surface, state: Drawn): void {
  const { model, row, column } = state;
  const layout = layoutOf(model, surface.width);
  const { lefts, strip, top, mean } = layout;
  const { sentences, places, width, scale, apart } = model;
  const tokens = places.length;
  const cursors = [row, places[row] as number];
  sentences.forEach((sentence, s) => {
    const left = lefts[s] as number;
    const start = surface.narrow && s === 0 ? 0 : left;
    const end = s === 0 ? lefts[1] - 14 : surface.width;
    const heading = cutWord(surface, sentence.words.join(" "), end - start, labelSize);
    surface.text(start, 8, heading, { ink: s === 0 ? "accent" : "cool", bold: true, size: labelSize });
    const [what, short] = [`outputs of head ${model.head + 1}`, `head ${model.head + 1}`];
    const fits = surface.textWidth(what, { size: 11 }) <= strip;
    surface.text(left, 27, fits ? what : short, { size: 11 });
    const box = { x: left, y: top, width: strip, height: tokens * layout.row };
    surface.heatMap(box, { values: sentence.outputs, rows: tokens, columns: width, scale });
    drawRowLines(surface, box, tokens);
    const cursor = cursors[s] as number;
    drawFrames(surface, [{ x: left - 0.5, y: top + cursor * layout.row, width: strip + 1, height: layout.row }], 1.5);
    drawChannel(surface, { ...box, width: strip }, width, column);
    drawWords(surface, layout, sentence.words, s, cursor);
    const token = (v: number): number => {
      const at = Math.floor(v * tokens);
      return s === 0 ? at : (model.permutation[at] as number);
    };
    const beside = s === 0 ? { x: 0, width: left } : { x: left + strip, width: surface.width - left - strip };
    surface.region({ ...box, ...beside }, (_, v) => ({ row: token(v) }));
    surface.region(box, (u, v) => ({ row: token(v), column: Math.floor(u * width) }));
    const pooled = { x: left, y: mean, width: strip, height: Math.min(18, layout.row) };
    surface.heatMap(pooled, { values: sentence.mean, rows: 1, columns: width, scale });
    drawChannel(surface, pooled, width, column);
  });
  drawLinks(surface, model, layout, row);
  drawDistances(surface, layout, places, apart, row);
  const middle = mean + Math.min(18, layout.row) / 2;
  surface.text(lefts[0] - 8, middle, "mean", { align: "end", size: labelSize, ink: "ink" });
  drawClasses(surface, model, layout);
  drawLegend(surface, model, layout);
}

// Between the means where there is room, at the foot where it is narrow.
function drawLegend(surface: Surface, { scale }: Model, { lefts, strip, mean, between, height }: Layout): void {
  const [from, to] = [lefts[0] + strip, lefts[1]];
  if (!between) {
    surface.text(lefts[0], height - 22, "outputs", { size: 11 });
    legend(surface, scale, lefts[0] + surface.textWidth("outputs", { size: 11 }) + 24, height - 26, 120, false);
  } else {
    const long = Math.min(120, to - from - 36);
    legend(surface, scale, (from + to - long) / 2, mean, long, false);
  }
}

// Rows are vectors of their own.
function drawRowLines(surface: Surface, box: Box, rows: number): void {
  const step = box.height / rows;
  for (let r = 1; r < rows; r++) {
    surface.rect(box.x - 0.5, box.y + r * step - 1, box.width + 1, step > 12 ? 2 : 1, { fill: "paper" });
  }
}

function drawChannel(surface: Surface, box: Box, channels: number, column: number): void {
  const cell = box.width / channels;
  const wide = Math.max(4, cell);
  const x = box.x + (column + 0.5) * cell - wide / 2;
  drawFrames(surface, [{ x, y: box.y - 0.5, width: wide, height: box.height + 1 }], 0.75);
}

function drawWords(surface: Surface, layout: Layout, words: readonly string[], s: number, cursor: number): void {
  const { lefts, strip, top, row } = layout;
  const room = (layout.words[s] as number) - 10;
  if (room < 20) return;
  const step = Math.ceil(13 / row);
  words.forEach((word, t) => {
    if (t !== cursor && (t % step !== 0 || (step > 1 && Math.abs(t - cursor) * row < 13))) return;
    const shown = cutWord(surface, word, room, labelSize);
    const x = (lefts[s] as number) + (s === 0 ? -8 : strip + 8);
    const style = { align: s === 0 ? "end" : "start", size: labelSize, ink: "ink", bold: t === cursor } as const;
    surface.text(x, top + (t + 0.5) * row, shown, style);
  });
}

// From each word to itself in the other order.
function drawLinks(surface: Surface, { places }: Model, { lefts, strip, top, row }: Layout, cursor: number): void {
  const [from, to] = [lefts[0] + strip + 5, lefts[1] - 5];
  const stub = Math.min(12, 0.16 * (to - from));
  const order = places.map((_, t) => t).filter((t) => t !== cursor);
  for (const t of [...order, cursor]) {
    const [a, b] = [top + (t + 0.5) * row, top + ((places[t] as number) + 0.5) * row];
    const own = t === cursor;
    const line = [from, a, from + stub, a, to - stub, b, to, b];
    surface.path(line, own ? { stroke: "ink", width: 2 } : { stroke: "grey", width: 1, alpha: 0.7 });
  }
}

function drawDistances(
  surface: Surface,
  { lefts, strip, top, row, words }: Layout,
  places: readonly number[],
  apart: readonly number[],
  cursor: number,
): void {
  const x = surface.width - 2;
  const step = Math.ceil(13 / row);
  const at = places[cursor] as number;
  surface.text(x, 27, "distance", { align: "end", size: 11 });
  places.forEach((place, t) => {
    if (t !== cursor && (place % step !== 0 || (step > 1 && Math.abs(place - at) * row < 13))) return;
    const own = t === cursor;
    const value = apart[t] as number;
    const written = value >= 0.01 ? book(value, { decimals: 3 }) : value === 0 ? "0" : book(value, { significant: 1 });
    const room = x - (lefts[1] + strip + words[1]) + 4;
    const fits = surface.textWidth(written, { size: labelSize }) <= room ? written : book(value, { decimals: 2 });
    surface.text(x, top + (place + 0.5) * row, fits, {
      align: "end",
      size: labelSize,
      bold: own,
      ink: value >= 0.01 ? "accent" : "grey",
    });
  });
}

// Logits of both sentences, class by class, as bars about zero.
function drawClasses(surface: Surface, model: Model, { lefts, strip, classes, words }: Layout): void {
  const { sentences } = model;
  const most = Math.max(...sentences.flatMap(({ logits }) => [...logits].map(Math.abs))) || 1;
  const heading = "logits of a classifier that reads the mean of all heads";
  const lines = brokenLines(surface, heading, surface.width - lefts[0], 11);
  const brief = "logits of a classifier of the mean";
  surface.text(lefts[0], classes - 4, lines.length === 1 ? heading : brief, { size: 11 });
  classNames.forEach((name, c) => {
    const y = classes + 12 + (c + 0.5) * classRow;
    surface.text(lefts[0] - 8, y, `class ${name}`, { align: "end", size: labelSize, ink: "ink" });
    sentences.forEach(({ logits }, s) => {
      const value = logits[c] as number;
      const zero = (lefts[s] as number) + strip / 2;
      const long = (Math.abs(value) / most) * (strip / 2);
      const bar = [value < 0 ? zero - long : zero, y - 6, Math.max(long, 0.75), 12] as const;
      surface.rect(...bar, { fill: s === 0 ? "accent" : "cool" });
      surface.path([zero, y - classRow / 2, zero, y + classRow / 2], { stroke: "grey" });
      const x = (lefts[s] as number) + strip + 6;
      const room = Math.min(lefts[1] - lefts[0] - strip - 6, words[1] + 50);
      const number = book(value, { decimals: room < 52 ? 2 : 3, signed: true });
      surface.text(x, y, number, { size: labelSize, ink: s === 0 ? "accent" : "cool" });
    });
  });
}

// ---------------------------------------------------------------- code

function codeOf(values: Values, model: Model): Code {
  const { descriptor, given, heads, width, sentences, causal, sorted, permutation: order } = model;
  const size = sizeFor(descriptor, heads, width, order.length);
  const made = given ? schemeText(given) : descriptor && sizedCode(descriptor, values, size, ownNames);
  const added = descriptor?.slot === "embed";
  const options = [
    ...(descriptor ? [`${descriptor.slot}: scheme`] : []),
    ...(causal ? ["causal: true"] : []),
  ];
  const attending = options.filter((option) => !option.startsWith("embed"));
  const called = (of: string): string => {
    const x = added ? `embed(${of}, scheme)` : of;
    const rest = attending.length > 0 ? `, { ${attending.join(", ")} }` : "";
    return `attend(${x}${rest})`;
  };
  const own = [...(added ? ["embed"] : []), "permutationGap", "randomNormal", descriptor?.name];
  const names = [sorted ? "sortedAttention" : "attention", ...own, "tensor"];
  const seeds = sentences[0].words.map((word) => seedOf(word, 3, Number(values.seed)));
  const measured = [...options, ...(sorted ? ['sum: "sorted"'] : [])];
  return {
    javascript: [
      `import { ${names.filter((name) => name !== undefined).join(", ")} } from "posenc";`,
      "",
      ...(made ? [`const scheme = ${made};`] : []),
      `const [heads, width] = [${heads}, ${width}];`,
      `// One seeded vector a word: ${onOneLine(sentences[0].words)}`,
      `const words = [${seeds.join(", ")}].map((seed) =>`,
      `  randomNormal([heads, width], { seed, std: ${wordDeviation} }));`,
      "// [heads, tokens, width], in an order of the words",
      "const ordered = (order) => tensor(Array.from({ length: heads }, (_, h) =>",
      "  order.map((t) => [...words[t].row(h)])));",
      sorted
        ? "const attend = (x, options) => sortedAttention(x, x, x, options);"
        : "const attend = (x, options) => attention(x, x, x, options).out;",
      "",
      `const permutation = [${order.join(", ")}];`,
      `const [x, px] = [ordered(words.map((_, t) => t)), ordered(permutation)];`,
      `const outputs = [${called("x")}, ${called("px")}];`,
      `const gap = permutationGap(x, permutation${measured.length > 0 ? `, { ${measured.join(", ")} }` : ""});`,
      "",
    ].join("\n"),
    numpy: async () => {
      const { permutationNumpy } = await import("./numpy-programs.js");
      return permutationNumpy(model, seeds, { mean: 0, std: wordDeviation, line: onOneLine, slopes: slopesOf });
    },
  };
}
