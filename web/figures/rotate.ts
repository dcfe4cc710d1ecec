// <posenc-rotate>: a query and a key turned pair by pair, their score over all positions, and what mixed layouts do.
import {
  attention,
  convertLayout,
  frequencies,
  fromJSON,
  randomNormal,
  rotate as rotateBy,
  tensor,
  type RotateScheme,
} from "../src/core.js";
import { outlineOf } from "../src/outline.js";
import type { ColourScale } from "./colour.js";
import {
  choice,
  defineFigure,
  range,
  text,
  type Code,
  type Reading,
  type State,
  type Values,
} from "./figure.js";
import { book, count } from "./format.js";
import { magnitude } from "./magnitude.js";
import {
  brokenLines,
  drawCell,
  drawDiagonal,
  indexTicks,
  labelSize,
  legend,
  spread,
  valueTicks,
  wholeTicks,
} from "./marks.js";
import { drawMatrix, matrixHeight } from "./matrix.js";
import { refuseValue } from "./refusal.js";
import { chosenScheme, descriptorOf, schemeChooser, schemeFields, type ChosenScheme } from "./scheme-fields.js";
import type { Box, Surface } from "./surface.js";

type Layout = "interleaved" | "half";

/** The scores and norms of one way to rotate. */
interface Outcome {
  /** [positions, positions]: query position down, key position across. */
  scores: Float32Array;
  /** Of the rotated query, by position. */
  norms: Float64Array;
}

interface MixUp {
  right: Outcome;
  mixed: Outcome;
  /** What stands over the two matrices. */
  names: readonly [string, string];
  /** Largest distance between scores of one diagonal: right, mixed. */
  spreads: readonly [number, number];
  /** Largest distance of a score from the right one. */
  gap: number;
  /** The norm of [1, 2, 3, 4] at position 1: right, mixed. Where the table is what is mixed up. */
  classic: readonly [number, number] | undefined;
}

export interface Model {
  chosen: ChosenScheme<RotateScheme>;
  title: string;
  layout: Layout | undefined;
  positions: number;
  dim: number;
  /** The two columns of every pair that turns. */
  pairs: readonly (readonly [number, number])[];
  wavelengths: readonly number[];
  q: Float32Array;
  k: Float32Array;
  /** Rotated to every position: [positions, dim]. */
  queries: Float32Array;
  keys: Float32Array;
  scores: Float32Array;
  /** Each pair's part of the scores: [pairs, positions, positions]; none where there are too many. */
  parts: Float32Array | undefined;
  extent: number;
  /** The longest hand. */
  reach: number;
  mixUp: MixUp | undefined;
}

type Drawn = State<Model>;

const mostCircles = 48;
const mostParts = 400_000;
const mixes = [
  { value: "table", label: "the table" },
  { value: "sides", label: "the keys" },
  { value: "both", label: "both sides" },
];

// Pairs are found by turning as many vectors as there are dimensions.
const mostWidth = 4096;

export const rotate = defineFigure<Model>({
  name: "rotate",
  attributes: {
    scheme: 'The rotate scheme, "rope" by default.',
    positions: "How many positions, 2 to 256; 32 by default.",
    m: "The position of the query.",
    n: "The position of the key.",
    dim: "The width of query and key, at most 4096.",
    base: "The base of the wavelengths.",
    layout: "Which columns make a pair: interleaved or half.",
    mix: "What is mixed up in the layouts view: table, sides or both.",
    q: 'The query, such as "1 2 3 4"; seeded normal numbers by default.',
    k: "The key, likewise.",
    tokenSeed: "Seed of query and key.",
    view: "pairs, scores or layouts.",
  },

  tabs: (values) => {
    const layouts = hasLayouts(String(values.scheme ?? "rope")) ? ["layouts"] : [];
    return choice("view", "view", "pairs", ["pairs", "scores", ...layouts]);
  },

  fields: (values) => {
    const scheme = String(values.scheme ?? "rope");
    const last = Number(values.positions ?? 32) - 1;
    const where = { integer: true, least: null, most: null };
    const layouts = [
      { value: "interleaved", label: "interleaved" },
      { value: "half", label: "halves" },
    ];
    return [
      range("m", "query at m", undefined, 0, last, { ...where, play: true }),
      range("n", "key at n", undefined, 0, last, { ...where, play: true }),
      schemeChooser("rotate", "rope", {
        draws: (found) => turnsPairs(found) && (values.view !== "layouts" || hasLayouts(found.name)),
      }),
      ...schemeFields(descriptorOf("rotate", scheme), {
        values,
        row: ["dim", "base", "layout"],
        start: { dim: 8 },
        change: { dim: { label: "dimensions", max: 64, step: 2 }, layout: { choices: layouts } },
      }),
      ...(values.view === "layouts" ? [choice("mix", "in the other layout", "table", mixes)] : []),
      range("positions", "positions", 32, 8, 96, { integer: true, least: 2, most: 256, place: "more" }),
      range("tokenSeed", "seed of query and key", 0, 0, 99, { integer: true, least: 0, most: 2 ** 53, place: "more" }),
      text("q", "query", "", { place: "more", maxLength: 2000 }),
      text("k", "key", "", { place: "more", maxLength: 2000 }),
    ];
  },

  compute: (values, data) => {
    const chosen = chosenScheme("rotate", values, data);
    const { scheme, title } = chosen;
    const positions = Number(values.positions);
    if (values.view === "layouts" && !hasLayouts(chosen.name)) {
      const why = `${title} takes no list of frequencies, so its layouts cannot be mixed up here`;
      const sentence = `${why}; choose another view or scheme.`;
      refuseValue("unsupported", "view", "pairs or scores", values.view, sentence);
    }
    const dim = Number((scheme as unknown as { dim?: unknown }).dim ?? values.dim ?? 8);
    if (dim > mostWidth) refuseValue("too-large", "dim", `at most ${mostWidth} here`, dim);
    const seeded = randomNormal([2, dim], { seed: Number(values.tokenSeed ?? 0) });
    const q = vectorOf("q", "query", values.q, dim) ?? seeded.row(0);
    const k = vectorOf("k", "key", values.k, dim) ?? seeded.row(1);
    const [manyQ, manyK] = [everywhere(q, positions), everywhere(k, positions)];
    const queries = rotateBy(manyQ, scheme, { side: "query" }).data as Float32Array;
    const keys = rotateBy(manyK, scheme, { side: "key" }).data as Float32Array;
    const scores = scoresOf(manyQ, manyK, scheme);
    const pairs = pairsOf(scheme, dim);
    if (pairs.length === 0) {
      const sentence = `${title} turns no pairs, so there is nothing to draw.`;
      refuseValue("unsupported", "data", "a scheme that turns pairs", title, sentence);
    }
    // Some schemes stretch what they turn.
    let reach = 0;
    for (const of of [q, k, queries, keys]) {
      for (let start = 0; start < of.length; start += dim) {
        for (const [a, b] of pairs) {
          reach = Math.max(reach, Math.hypot(of[start + a] as number, of[start + b] as number));
        }
      }
    }
    return {
      chosen,
      title,
      layout: layoutOf(scheme),
      positions,
      dim,
      pairs,
      wavelengths: wavelengthsOf(scheme, pairs.length),
      q,
      k,
      queries,
      keys,
      scores,
      parts: pairs.length * positions ** 2 <= mostParts ? partsOf(q, k, positions, pairs, scheme) : undefined,
      extent: magnitude(scores) || 1,
      reach: reach || 1,
      mixUp: values.view === "layouts" ? mixUpOf(scheme, values, q, k, positions, pairs) : undefined,
    };
  },

  cells: ({ model }) => ({
    row: { name: "m", count: model.positions, start: Math.min(9, model.positions - 1) },
    column: { name: "n", count: model.positions, start: Math.min(4, model.positions - 1) },
  }),

  height: ({ view, model }, width) => {
    if (view === "pairs") return dialsOf(model, width).height;
    if (view === "layouts" && model.mixUp) return sheetOf(width).height;
    return matrixHeight(width, 0.62);
  },

  draw: (surface, state) => {
    if (state.view === "pairs") drawPairs(surface, state);
    else if (state.view === "layouts" && state.model.mixUp) drawMixUp(surface, state, state.model.mixUp);
    else drawScores(surface, state);
  },

  title: ({ model, view }) => {
    const [shown, total] = [shownOf(model).length, model.pairs.length];
    const what = {
      pairs: `query and key in ${shown < total ? `${shown}\u00a0of\u00a0` : ""}${count(total, "pair")}`,
      layouts: "right and mixed layouts",
    }[view];
    return `${model.title}, ${what ?? `scores of one query and one key at ${count(model.positions, "position")}`}`;
  },

  caption: ({ view, model }) => {
    if (view === "layouts" && model.mixUp) return mixUpWords(model.mixUp);
    if (view === "pairs") {
      const turns = model.wavelengths.length > 0 ? "how many positions a turn takes" : "";
      const said = [turns, model.parts ? "what the pair adds to the score" : ""].filter(Boolean);
      const told = said.length > 0 ? ` Under a circle stands ${said.join(", and below it ")}.` : "";
      return (
        "Every pair of columns is a hand that its position turns, the query\u2019s by m and the key\u2019s by n. Move " +
        "both by one and the angle between them stays, pair by pair: so does the score. " +
        `A pointer that goes across turns both so.${told}`
      );
    }
    return (
      "The same query and key at every pair of positions. The score sees m\u00a0\u2212\u00a0n only: along each diagonal it is " +
      "the same, as the dashed one through the cursor shows."
    );
  },

  readout: (state) => {
    const { model, view, row, column } = state;
    const where: Reading[] = [
      { label: "m", value: book(row) },
      { label: "n", value: book(column) },
      { label: "m \u2212 n", value: book(row - column, { signed: true }) },
    ];
    if (view === "layouts" && model.mixUp) {
      const { right, mixed } = model.mixUp;
      const at = row * model.positions + column;
      const write = (value: number | undefined): string => book(value ?? Number.NaN, { decimals: 6 });
      return [
        ...where,
        { label: "score", value: book(right.scores[at] as number, { decimals: 4, signed: true }) },
        { label: "mixed score", value: book(mixed.scores[at] as number, { decimals: 4, signed: true }) },
        { label: "norm of q", value: write(right.norms[row]) },
        { label: "mixed norm", value: write(mixed.norms[row]) },
      ];
    }
    const score = (r: number, c: number): string =>
      book(model.scores[r * model.positions + c] as number, { decimals: 4, signed: true });
    const [r, c] = neighbour(state);
    return [
      ...where,
      { label: "score", value: score(row, column) },
      ...(r === row ? [] : [{ label: `score at (${book(r)}, ${book(c)})`, value: score(r, c) }]),
    ];
  },

  summary: (state) => {
    const { model, view } = state;
    const who = `${model.title} with ${count(model.dim, "dimension")}`;
    if (view === "layouts" && model.mixUp) {
      return `Two heat maps of scores, ${model.mixUp.names.join(" and ")}, for ${who}. ${mixUpWords(model.mixUp)}`;
    }
    if (view === "pairs") {
      const [first, last] = [model.wavelengths[0], model.wavelengths[model.wavelengths.length - 1]];
      const turns =
        first === undefined || last === undefined
          ? ""
          : ` The first pair turns once in ${book(first, { significant: 4 })} tokens, the last in ` +
            `${book(last, { significant: 4 })}.`;
      return `Circles, one a pair of columns, with the hands of a query and a key before and after ${who}.${turns}`;
    }
    return (
      `Heat map of the score of one query and one key at ${count(model.positions, "position")} each, under ${who}. ` +
      `Scores of one offset differ by at most ${book(spreadOf(model.scores, model.positions), { significant: 2 })}.`
    );
  },

  table: ({ model, view }) => {
    const { positions, mixUp } = model;
    if (view === "pairs") {
      return {
        header: ["position", ...["q", "k"].flatMap((x) => Array.from({ length: model.dim }, (_, c) => `${x}${c}`))],
        rows: positions,
        cell: (r, c) => {
          if (c === 0) return r;
          const of = c <= model.dim ? model.queries : model.keys;
          return of[r * model.dim + ((c - 1) % model.dim)] as number;
        },
      };
    }
    const values = view === "layouts" && mixUp ? mixUp.mixed.scores : model.scores;
    return {
      header: ["m", ...Array.from({ length: positions }, (_, n) => `n ${n}`)],
      rows: positions,
      cell: (r, c) => (c === 0 ? r : (values[r * positions + c - 1] as number)),
    };
  },

  array: ({ model, view }) => {
    const { positions, dim, mixUp } = model;
    if (view === "pairs") {
      const both = new Float32Array(2 * positions * dim);
      both.set(model.queries);
      both.set(model.keys, positions * dim);
      return { data: both, shape: [2, positions, dim] };
    }
    return { data: view === "layouts" && mixUp ? mixUp.mixed.scores : model.scores, shape: [positions, positions] };
  },

  code: ({ values, model, view }) => codeOf(values, model, view),
});

// ---------------------------------------------------------------- the numbers

// What turns pairs says of how many columns.
function turnsPairs({ params }: { params: readonly { name: string }[] }): boolean {
  return params.some(({ name }) => name === "dim");
}

// Of layouts that are mixed up, each column turns by a frequency of its own.
function hasLayouts(name: string): boolean {
  const found = outlineOf("rotate", name);
  return ["layout", "frequencies"].every((param) => found?.params.some((p) => p.name === param));
}

function layoutOf(scheme: RotateScheme): Layout | undefined {
  const { layout } = scheme as unknown as { layout?: unknown };
  return layout === "interleaved" || layout === "half" ? layout : undefined;
}

function vectorOf(name: string, what: string, given: unknown, dim: number): Float32Array | undefined {
  const words = String(given ?? "")
    .split(/[\s,;[\]]+/)
    .filter((word) => word !== "");
  if (words.length === 0) return undefined;
  const values = words.map(Number);
  if (values.length !== dim || !values.every(Number.isFinite)) {
    const code = values.every(Number.isFinite) ? "shape-mismatch" : "not-a-number";
    const [allowed, shown] = [`${dim} numbers, one a dimension`, words.join(" ")];
    refuseValue(code, name, allowed, shown, `The ${what} must be ${allowed}, got \u201c${shown}\u201d.`);
  }
  return Float32Array.from(values);
}

// The same vector in every row, one a position.
function everywhere(vector: Float32Array, positions: number): ReturnType<typeof tensor> {
  const rows = new Float32Array(vector.length * positions);
  for (let t = 0; t < positions; t++) rows.set(vector, t * vector.length);
  return tensor(rows, [positions, vector.length]);
}

type Rows = ReturnType<typeof everywhere>;

function scoresOf(queries: Rows, keys: Rows, scheme?: RotateScheme): Float32Array {
  const { trace } = attention(queries, keys, keys, { ...(scheme ? { rotate: scheme } : {}), trace: true });
  return trace?.content.data as Float32Array;
}

// Pairs as the core has them: what a turn of one column alone spills into.
function pairsOf(scheme: RotateScheme, dim: number): [number, number][] {
  const unit = new Float64Array(dim * dim);
  for (let c = 0; c < dim; c++) unit[c * dim + c] = 1;
  const turned = rotateBy(tensor(unit, [dim, dim], "float64"), scheme, { positions: Array<number>(dim).fill(1) }).data;
  const pairs: [number, number][] = [];
  for (let c = 0; c < dim; c++) {
    for (let other = c + 1; other < dim; other++) if (turned[c * dim + other] !== 0) pairs.push([c, other]);
  }
  return pairs;
}

function wavelengthsOf(scheme: RotateScheme, pairs: number): number[] {
  try {
    const all = Array.from(frequencies(scheme).wavelength);
    return all.length === pairs ? all : [];
  } catch {
    return [];
  }
}

// Each pair's part of the scores: attention with all other columns at zero, one head a pair.
function partsOf(
  q: Float32Array,
  k: Float32Array,
  positions: number,
  pairs: readonly (readonly [number, number])[],
  scheme: RotateScheme,
): Float32Array {
  const dim = q.length;
  const alone = (vector: Float32Array): Rows => {
    const heads = new Float32Array(pairs.length * positions * dim);
    pairs.forEach((pair, p) => {
      for (let t = 0; t < positions; t++) {
        for (const c of pair) heads[(p * positions + t) * dim + c] = vector[c] as number;
      }
    });
    return tensor(heads, [pairs.length, positions, dim]);
  };
  return scoresOf(alone(q), alone(k), scheme);
}

// The largest distance between two scores of one diagonal.
function spreadOf(scores: Float32Array, positions: number): number {
  let most = 0;
  for (let offset = 1 - positions; offset < positions; offset++) {
    const line = Array.from(diagonal(scores, positions, offset));
    most = Math.max(most, Math.max(...line) - Math.min(...line));
  }
  return most;
}

// The scores of all (m, n) with m - n = offset.
function diagonal(scores: Float32Array, positions: number, offset: number): Float32Array {
  const first = Math.max(0, offset);
  return Float32Array.from({ length: positions - Math.abs(offset) }, (_, t) => {
    const m = first + t;
    return scores[m * positions + m - offset] as number;
  });
}

// The next cell of the cursor's diagonal, or the one before at the edge.
function neighbour({ model, row, column }: Drawn): [number, number] {
  const last = model.positions - 1;
  if (row < last && column < last) return [row + 1, column + 1];
  return row > 0 && column > 0 ? [row - 1, column - 1] : [row, column];
}

// ---------------------------------------------------------------- mixed layouts

const other = (layout: Layout): Layout => (layout === "half" ? "interleaved" : "half");
const called = { interleaved: "interleaved", half: "in halves" } as const;

type Turn = (rows: Rows) => Rows;

function mixUpOf(
  scheme: RotateScheme,
  values: Values,
  q: Float32Array,
  k: Float32Array,
  positions: number,
  pairs: Model["pairs"],
): MixUp | undefined {
  const layout = layoutOf(scheme);
  if (!layout) return undefined;
  const inverse = Float64Array.from(frequencies(scheme).inverse);
  const plain = madeWith(scheme, layout, inverse);
  const swapped = madeWith(scheme, other(layout), inverse);
  const by =
    (s: RotateScheme): Turn =>
    (rows) =>
      rotateBy(rows, s) as Rows;
  const mix = String(values.mix ?? "table");
  const [turnQ, turnK]: [Turn, Turn] =
    mix === "sides"
      ? [by(plain), by(swapped)]
      : mix === "both"
        ? [by(swapped), by(swapped)]
        : [byWrongTable(scheme, layout, inverse, pairs), byWrongTable(scheme, layout, inverse, pairs)];
  const [manyQ, manyK] = [everywhere(q, positions), everywhere(k, positions)];
  const outcome = (tq: Turn, tk: Turn): Outcome => {
    const turned = tq(manyQ);
    return { scores: scoresOf(turned, tk(manyK)), norms: normsOf(turned) };
  };
  const right = outcome(by(plain), by(plain));
  const mixed = outcome(turnQ, turnK);
  const [own, wrong] = [called[layout], called[other(layout)]];
  const names: Record<string, [string, string]> = {
    table: [`all ${own}`, `table ${wrong}`],
    sides: [`all ${own}`, `keys ${wrong}`],
    both: [`all ${own}`, `all ${wrong}`],
  };
  const gaps = Array.from(right.scores, (score, at) => score - (mixed.scores[at] as number));
  return {
    right,
    mixed,
    names: names[mix] ?? [own, wrong],
    spreads: [spreadOf(right.scores, positions), spreadOf(mixed.scores, positions)],
    gap: magnitude(gaps),
    classic: mix === "table" ? classicNorms(scheme) : undefined,
  };
}

// The scheme's pairs and frequencies alone, in a layout.
function madeWith(scheme: RotateScheme, layout: Layout, inverse: Float64Array): RotateScheme {
  const { name, dim, rotaryDim } = scheme.toJSON() as Record<string, unknown>;
  const size = { dim, ...(typeof rotaryDim === "number" ? { rotaryDim } : {}) };
  return fromJSON({ slot: "rotate", name: String(name), ...size, layout, frequencies: inverse }) as RotateScheme;
}

// The frequency a column finds in a table for the other layout: the pair index, laid out as the table is.
function placesIn(layout: Layout, half: number): ArrayLike<number> {
  const indices = Float32Array.from({ length: 2 * half }, (_, c) => c % half);
  return convertLayout(tensor(indices, [1, 2 * half]), { from: "half", to: other(layout) }).data;
}

// A table of cosines and sines laid out for the other layout, used with this layout's pairs: the two columns of a pair
// turn by different frequencies. Each column is taken from a rotation in which its pair has the frequency it reads.
function byWrongTable(scheme: RotateScheme, layout: Layout, inverse: Float64Array, pairs: Model["pairs"]): Turn {
  const places = placesIn(layout, inverse.length);
  const reading = (side: 0 | 1): RotateScheme =>
    madeWith(
      scheme,
      layout,
      Float64Array.from(pairs, (pair) => inverse[places[pair[side]] as number] as number),
    );
  const [first, second] = [reading(0), reading(1)];
  return (rows) => {
    const turned = [rotateBy(rows, first), rotateBy(rows, second)] as const;
    const data = (turned[0].data as Float32Array).slice();
    const width = turned[0].shape[1] as number;
    for (let start = 0; start < data.length; start += width) {
      for (const [, b] of pairs) data[start + b] = turned[1].data[start + b] as number;
    }
    return tensor(data, turned[0].shape as [number, number]) as Rows;
  };
}

// The norm of every row, from the row's product with itself.
function normsOf(rows: Rows): Float64Array {
  const [tokens = 0, width = 0] = rows.shape;
  const each = tensor(rows.data as Float32Array, [tokens, 1, width]);
  const { trace } = attention(each, each, each, { scale: 1, trace: true });
  return Float64Array.from(trace?.content.data as Float32Array, Math.sqrt);
}

function classicNorms(scheme: RotateScheme): [number, number] {
  const small = fromJSON({ slot: "rotate", name: scheme.name, dim: 4 }) as RotateScheme;
  const { inverse } = frequencies(small);
  const two = tensor(Float32Array.of(0, 0, 0, 0, 1, 2, 3, 4), [2, 4]) as Rows;
  const wrong = byWrongTable(small, "interleaved", inverse, pairsOf(small, 4));
  return [normsOf(rotateBy(two, small) as Rows)[1] as number, normsOf(wrong(two))[1] as number];
}

function mixUpWords({ right, mixed, spreads, gap, classic }: MixUp): string {
  const norm = right.norms[0] as number;
  const [low, high] = [Math.min(...mixed.norms), Math.max(...mixed.norms)];
  const keeps = high - low <= 1e-5 * norm && Math.abs(low - norm) <= 1e-5 * norm;
  const size = magnitude(right.scores) || 1;
  const steady = spreads[1] < 1e-5 * size;
  const write = (value: number): string => book(value, { decimals: 2 });
  const norms = keeps
    ? `the norm of the query stays ${write(norm)}`
    : `the norm of the query, ${write(norm)} when right, runs from ${write(low)} to ${write(high)}`;
  // A single pair lies alike in both layouts.
  const scores =
    gap < 1e-5 * size
      ? "every score is the right one"
      : steady
        ? `every diagonal is constant, yet scores differ from the right ones by up to ${write(gap)}: only ` +
          "the right scores tell"
        : `scores of one m\u00a0\u2212\u00a0n differ by up to ${write(spreads[1])}, so the offset alone no longer ` +
          "decides";
  const known = classic
    ? ` The known case: [1,\u00a02,\u00a03,\u00a04] at position 1 keeps its norm ${book(classic[0], { decimals: 6 })}, mixed it has ` +
      `${book(classic[1], { decimals: 6 })}.`
    : "";
  const alarm = keeps && steady ? "No alarm goes off: " : "Mixed up: ";
  return `${alarm}${norms}, ${steady === keeps ? "and" : "but"} ${scores}.${known}`;
}

// ---------------------------------------------------------------- circles

interface Dials {
  shown: readonly number[];
  perRow: number;
  side: number;
  /** Height of the words under a circle. */
  foot: number;
  height: number;
}

const legendHeight = 26;

// As many pairs as there are circles, evenly.
function shownOf({ pairs }: Model): number[] {
  const step = Math.ceil(pairs.length / mostCircles);
  return pairs.flatMap((_, p) => (p % step === 0 ? [p] : []));
}

function dialsOf(model: Model, width: number): Dials {
  const shown = shownOf(model);
  const least = width < 500 ? 72 : 84;
  const most = Math.max(1, Math.floor(width / (shown.length <= 4 && width < 500 ? 140 : least)));
  const rows = Math.max(1, Math.ceil(shown.length / most));
  const perRow = Math.max(1, Math.ceil(shown.length / rows));
  const side = Math.min(width / perRow, 210);
  const foot = model.parts ? 38 : 20;
  return { shown, perRow, side, foot, height: Math.round(legendHeight + rows * (side + foot)) + 4 };
}

function drawPairs(surface: Surface, { model, row, column }: Drawn): void {
  const { shown, perRow, side, foot } = dialsOf(model, surface.width);
  drawHandsLegend(surface, row, column);
  // Across the drawing both are moved, as far apart as they are.
  const offset = row - column;
  const [low, high] = [Math.max(0, offset), model.positions - 1 + Math.min(0, offset)];
  const { width, height } = surface;
  surface.region({ x: 0, y: legendHeight, width, height: height - legendHeight }, (u) => {
    const m = low + Math.round(u * (high - low));
    return { row: m, column: m - offset };
  });
  const indent = (surface.width - perRow * side) / 2;
  const radius = side / 2 - (side >= 100 ? 14 : 7);
  const words = shown.map((p) => dialWords(model, p, row, column));
  // As much as all of them have room for.
  const fits = (of: (one: (typeof words)[number]) => string): boolean =>
    words.every((one) => surface.textWidth(of(one), { size: 11 }) < side - 6);
  const [named, said] = [fits(({ name }) => name), fits(({ part }) => `${part}${toScore}`)];
  shown.forEach((p, place) => {
    const left = indent + (place % perRow) * side;
    const top = legendHeight + Math.floor(place / perRow) * (side + foot);
    const middle: [number, number] = [left + side / 2, top + side / 2];
    surface.disc(...middle, radius, { stroke: "faint" });
    drawHand(surface, model, p, middle, radius, { rotated: model.keys, at: column, before: model.k, ink: "cool" });
    drawHand(surface, model, p, middle, radius, { rotated: model.queries, at: row, before: model.q, ink: "accent" });
    const { turn, name, part } = words[place] as (typeof words)[number];
    // Small circles leave less room below them.
    const below = top + side + (side >= 100 ? 2 : 5);
    surface.text(middle[0], below, named ? name : turn, { align: "middle", size: 11 });
    if (part === "") return;
    const value = said ? `${part}${toScore}` : part;
    surface.text(middle[0], below + 16, value, { align: "middle", size: 11, ink: "ink" });
  });
}

const toScore = " to the score";

// What stands under a circle: how long a turn takes, and the pair's part of the score.
function dialWords(
  model: Model,
  pair: number,
  row: number,
  column: number,
): { turn: string; name: string; part: string } {
  const { positions } = model;
  const wavelength = model.wavelengths[pair];
  const turn = wavelength === undefined ? `pair ${pair}` : book(wavelength, { significant: 3 });
  const part = model.parts?.[(pair * positions + row) * positions + column];
  return {
    turn,
    name: wavelength === undefined ? turn : `pair ${pair}, turns in ${turn}`,
    part: part === undefined ? "" : book(part, { decimals: 3, signed: true }),
  };
}

function drawHandsLegend(surface: Surface, m: number, n: number): void {
  const words: [string, "accent" | "cool" | "grey", number][] = [
    [`query at ${m}`, "accent", 2],
    [`key at ${n}`, "cool", 2],
    [surface.narrow ? "unturned" : "thin: before they are turned", "grey", 1],
  ];
  const [line, gap] = surface.narrow ? [12, 12] : [18, 24];
  let x = 0;
  for (const [label, ink, width] of words) {
    surface.path([x, 9, x + line, 9], { stroke: ink, width });
    if (ink !== "grey") drawTip(surface, x + line - 3, 9, 3, ink);
    surface.text(x + line + 6, 9, label, { ink, size: labelSize });
    x += line + 6 + surface.textWidth(label, { size: labelSize }) + gap;
  }
}

interface Hand {
  rotated: Float32Array;
  at: number;
  before: Float32Array;
  ink: "accent" | "cool";
}

// The key's is a ring, so that query and key differ without their colours too.
function drawTip(surface: Surface, x: number, y: number, radius: number, ink: Hand["ink"]): void {
  surface.disc(x, y, radius, ink === "cool" ? { fill: "paper", stroke: ink, width: 2 } : { fill: ink });
}

// The hand before (thin) and after, with the places of the positions before it, fading.
function drawHand(
  surface: Surface,
  model: Model,
  pair: number,
  [x, y]: readonly [number, number],
  radius: number,
  hand: Hand,
): void {
  const [a, b] = model.pairs[pair] as readonly [number, number];
  const { dim, reach } = model;
  const tip = (of: Float32Array, start: number): [number, number] => [
    x + (radius * (of[start + a] as number)) / reach,
    y - (radius * (of[start + b] as number)) / reach,
  ];
  const [bx, by] = tip(hand.before, 0);
  surface.path([x, y, bx, by], { stroke: hand.ink, width: 1, alpha: 0.5 });
  for (let back = Math.min(hand.at, 8); back > 0; back--) {
    surface.disc(...tip(hand.rotated, (hand.at - back) * dim), 1.6, { fill: hand.ink, alpha: 0.6 - 0.065 * back });
  }
  const [hx, hy] = tip(hand.rotated, hand.at * dim);
  surface.path([x, y, hx, hy], { stroke: hand.ink, width: 2 });
  drawTip(surface, hx, hy, radius > 40 ? 3.6 : 2.6, hand.ink);
}

// ---------------------------------------------------------------- scores

function drawScores(surface: Surface, { model, row, column }: Drawn): void {
  const { positions } = model;
  const map = drawMatrix(surface, {
    values: model.scores,
    rows: positions,
    columns: positions,
    row,
    column,
    scale: { kind: "signed", extent: model.extent },
    rowAxis: { label: "query at m", name: `query at\u00a0${row}` },
    columnAxis: { name: `key at ${column}`, binary: true },
  });
  drawDiagonal(surface, map, positions, row - column);
}

// ---------------------------------------------------------------- right and mixed, side by side

interface Sheet {
  maps: readonly [Box, Box];
  /** The scores of the cursor's diagonal, and the norms. */
  plots: readonly [Box, Box];
  legend: { x: number; y: number; length: number };
  height: number;
}

function sheetOf(width: number): Sheet {
  const left = 30;
  if (width < 500) {
    const side = Math.min(width - left - 2, 300);
    const map = (y: number): Box => ({ x: left, y, width: side, height: side });
    const plot = (y: number): Box => ({ x: 44, y, width: width - 44 - 50, height: 84 });
    const second = 24 + side + 50;
    const below = second + side + 26;
    return {
      maps: [map(24), map(second)],
      legend: { x: left, y: below, length: 140 },
      plots: [plot(below + 82), plot(below + 224)],
      height: below + 336,
    };
  }
  const side = Math.min(290, Math.floor(0.31 * width));
  const gap = 18;
  const map = (x: number): Box => ({ x, y: 24, width: side, height: side });
  const x = left + 2 * side + gap + 62;
  const tall = (side - 62) / 2;
  const plot = (y: number): Box => ({ x, y, width: width - x - 50, height: tall });
  return {
    maps: [map(left), map(left + side + gap)],
    legend: { x: left, y: 24 + side + 28, length: 140 },
    plots: [plot(28), plot(28 + tall + 62)],
    height: 24 + side + 56,
  };
}

function drawMixUp(surface: Surface, { model, row, column }: Drawn, mixUp: MixUp): void {
  const { positions } = model;
  const { maps, plots, legend: place } = sheetOf(surface.width);
  const outcomes = [mixUp.right, mixUp.mixed] as const;
  const extent = Math.max(...outcomes.map(({ scores }) => magnitude(scores))) || 1;
  const scale: ColourScale = { kind: "signed", extent };
  maps.forEach((map, side) => {
    const { scores } = outcomes[side as 0 | 1];
    const cell = map.width / positions;
    const name = brokenLines(surface, `${side === 0 ? "right" : "mixed"}: ${mixUp.names[side]}`, map.width)[0] ?? "";
    surface.text(map.x, map.y - 12, name, { ink: side === 0 ? "ink" : "accent", size: labelSize });
    surface.heatMap(map, { values: scores, rows: positions, columns: positions, scale });
    drawDiagonal(surface, map, positions, row - column);
    drawCell(surface, map, positions, row, column);
    for (const t of indexTicks(positions, map.width, 60)) {
      surface.text(map.x + (t + 0.5) * cell, map.y + map.height + 12, String(t), { align: "middle", size: 11 });
      if (map.x < 40) surface.text(map.x - 7, map.y + (t + 0.5) * cell, String(t), { align: "end", size: 11 });
    }
    surface.region(map, (u, v) => ({ row: Math.floor(v * positions), column: Math.floor(u * positions) }));
  });
  legend(surface, scale, place.x, place.y, place.length, false);
  const axes = "down: query at m, across: key at n";
  if (surface.narrow) surface.text(place.x, place.y + 36, axes, { size: 11 });
  else surface.text(maps[1].x + maps[1].width, place.y + 4, axes, { size: 11, align: "end" });
  const offset = row - column;
  drawTwo(surface, plots[0], {
    name: `score along m \u2212 n = ${book(offset)}`,
    lines: outcomes.map(({ scores }) => diagonal(scores, positions, offset)),
    from: Math.max(0, offset),
    positions,
    at: row,
    fromZero: false,
    along: offset,
  });
  drawTwo(surface, plots[1], {
    name: "norm of the query at m",
    lines: outcomes.map(({ norms }) => norms),
    from: 0,
    positions,
    at: row,
    fromZero: true,
  });
}

interface TwoLines {
  name: string;
  /** Right and mixed. */
  lines: readonly ArrayLike<number>[];
  /** The position of their first point. */
  from: number;
  positions: number;
  at: number;
  fromZero: boolean;
  /** The lines run along m - n = this; else along m alone. */
  along?: number;
}

// Two lines over m with their names at their ends.
function drawTwo(surface: Surface, box: Box, { name, lines, from, positions, at, fromZero, along }: TwoLines): void {
  const all = lines.flatMap((line) => Array.from(line));
  let [low, high] = [Math.min(...all, ...(fromZero ? [0] : [])), Math.max(...all)];
  // A line that does not move is drawn as one, not as its last bits.
  const least = 0.2 * Math.max(Math.abs(low), Math.abs(high)) || 2;
  if (high - low < least) [low, high] = [(low + high - least) / 2, (low + high + least) / 2];
  const x = (m: number): number => box.x + (m * box.width) / Math.max(1, positions - 1);
  const y = (value: number): number => box.y + ((high - value) * box.height) / (high - low);
  const left = Math.min(box.x, surface.width - surface.textWidth(name, { size: labelSize }) - 1);
  surface.text(left, box.y - 14, name, { size: labelSize });
  for (const value of valueTicks(low, high, 3)) {
    surface.path([box.x, y(value), box.x + box.width, y(value)], { stroke: "faint" });
    surface.text(box.x - 7, y(value), book(value, { significant: 2 }), { align: "end", size: 11 });
  }
  const inks = ["ink", "accent"] as const;
  lines.forEach((line, side) => {
    const points = new Float64Array(2 * line.length);
    for (let t = 0; t < line.length; t++) points.set([x(from + t), y(line[t] as number)], 2 * t);
    surface.path(points, { stroke: inks[side as 0 | 1], width: 1.6 });
    surface.disc(x(at), y(line[at - from] as number), 3, { fill: inks[side as 0 | 1] });
  });
  const wishes = lines.map((line) => y(line[line.length - 1] as number));
  const places = spread(wishes, 13, box.y, box.y + box.height);
  lines.forEach((line, side) => {
    const end = x(from + line.length - 1);
    surface.text(end + 8, places[side] as number, side === 0 ? "right" : "mixed", {
      ink: inks[side as 0 | 1],
      size: 11,
    });
  });
  for (const m of wholeTicks(0, positions - 1, 4)) {
    surface.text(x(m), box.y + box.height + 13, book(m), { align: "middle", size: 11 });
  }
  surface.region(box, (u) => {
    const m = Math.max(from, Math.min(from + (lines[0]?.length ?? 1) - 1, Math.round(u * (positions - 1))));
    return along === undefined ? { row: m } : { row: m, column: m - along };
  });
}

// ---------------------------------------------------------------- code

function codeOf(values: Values, model: Model, view: string): Code {
  const { name: scheme, code: made } = model.chosen;
  const { positions, dim, mixUp } = model;
  const given = [values.q, values.k].map((vector) => String(vector ?? "").trim() !== "");
  const list = (vector: ArrayLike<number>): string => `[${Array.from(vector).join(", ")}]`;
  const seed = Number(values.tokenSeed ?? 0);
  const needs = new Set(given.some(Boolean) ? [scheme] : ["randomNormal", scheme]);
  const begin = (...more: string[]): string =>
    `import { ${[...more, ...needs].sort().join(", ")} } from "posenc";\n\n` +
    (given.some(Boolean)
      ? `const [q, k] = [${list(model.q)}, ${list(model.k)}];\n`
      : `const [q, k] = randomNormal([2, ${dim}], { seed: ${seed} }).tolist();\n`) +
    `const everywhere = (vector) => Array(${positions}).fill(vector);\n`;
  const numpy = async () => {
    const { rotateNumpy } = await import("./numpy-programs.js");
    return rotateNumpy(values, model, view, layoutOf(model.chosen.scheme) === "half");
  };
  if (view === "pairs") {
    const javascript =
      `${begin("rotate")}const scheme = ${made};\n` +
      `const queries = rotate(everywhere(q), scheme, { side: "query" });  // [${positions}, ${dim}]\n` +
      'const keys = rotate(everywhere(k), scheme, { side: "key" });\n';
    return { javascript, numpy };
  }
  if (view === "layouts" && mixUp) {
    const javascript =
      `${begin("attention", "frequencies", "rotate")}${mixedCode(values, model)}` +
      "const { trace } = attention(turnQuery(everywhere(q)), turnKey(everywhere(k)), everywhere(k), { trace: true });\n" +
      `const scores = trace.content;  // [${positions}, ${positions}], mixed\n`;
    return { javascript, numpy };
  }
  const javascript =
    `${begin("attention")}` +
    `const { trace } = attention(everywhere(q), everywhere(k), everywhere(k), { rotate: ${made}, trace: true });\n` +
    `const scores = trace.content;  // [${positions}, ${positions}], q at m and k at n\n`;
  return { javascript, numpy };
}

// turnQuery and turnKey, as mixUpOf() mixes them.
function mixedCode(values: Values, { chosen, pairs }: Model): string {
  const layout = layoutOf(chosen.scheme) as Layout;
  const { dim, rotaryDim } = chosen.scheme.toJSON() as Record<string, unknown>;
  const size = `dim: ${String(dim)}${typeof rotaryDim === "number" ? `, rotaryDim: ${rotaryDim}` : ""}`;
  const turn = (to: Layout): string => `(x) => rotate(x, laid("${to}", inverse))`;
  const shared =
    `const { inverse } = frequencies(${chosen.code});\n` +
    `const laid = (layout, frequencies) => ${chosen.name}({ ${size}, layout, frequencies });\n`;
  const mix = String(values.mix ?? "table");
  if (mix !== "table") {
    const query = mix === "sides" ? layout : other(layout);
    return `${shared}const turnQuery = ${turn(query)};\nconst turnKey = ${turn(other(layout))};\n`;
  }
  const places = placesIn(layout, frequencies(chosen.scheme).inverse.length);
  const reads = ([0, 1] as const).map((side) => `[${pairs.map((pair) => places[pair[side]]).join(", ")}]`);
  return (
    `${shared}// The two columns of a pair read different rows of the table: its frequencies by these numbers.\n` +
    `const reads = [${reads.join(", ")}];\n` +
    `const seconds = [${pairs.map(([, second]) => second).join(", ")}];  // the second column of each pair\n` +
    "const turnQuery = (x) => {\n" +
    `  const by = (numbers) => rotate(x, laid("${layout}", numbers.map((i) => inverse[i]))).tolist();\n` +
    "  const [first, second] = reads.map(by);\n" +
    "  return first.map((row, t) => row.map((value, c) => (seconds.includes(c) ? second[t][c] : value)));\n" +
    "};\nconst turnKey = turnQuery;\n"
  );
}
