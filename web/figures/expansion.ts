// <posenc-expansion>: p(m)^T H p(n) taken apart into what sees m - n, what sees m + n and the rest, and the six terms
// of the expansion that it comes from, as p is scaled.
import { bilinear, taylor, type Bilinear, type Taylor } from "../src/analysis/index.js";
import { arange, randomNormal, tensor, type EmbedScheme, type TensorLike } from "../src/core.js";
import { inSteps } from "./background.js";
import { drawChart, type ChartLine } from "./chart.js";
import type { ColourScale } from "./colour.js";
import {
  choice,
  cursorField,
  defineFigure,
  range,
  type Code,
  type DataTable,
  type Reading,
  type State,
  type Values,
} from "./figure.js";
import { book, count, tickText } from "./format.js";
import { givenNumbers, schemeAmong } from "./given-data.js";
import { magnitude } from "./magnitude.js";
import {
  drawCell,
  drawDashes,
  drawDiagonal,
  drawPlate,
  indexTicks,
  labelSize,
  legend,
  scaleOf,
} from "./marks.js";
import { refuseValue } from "./refusal.js";
import { chosenScheme, descriptorOf, schemeFields, type ChosenScheme } from "./scheme-fields.js";
import type { Box, Ink, Surface } from "./surface.js";

type Part = keyof Bilinear;

export interface Model {
  chosen: ChosenScheme<EmbedScheme>;
  positions: number;
  dim: number;
  /** "own" where H was handed over. */
  kind: string;
  /** [dim] of a diagonal one, [dim, dim] of others. */
  h: ArrayLike<number>;
  /** Each [positions, positions]; none in the terms view. */
  parts: Readonly<Record<Part, Float64Array>> | undefined;
  extent: number;
  expansion: Taylor | undefined;
  /** The two positions of the expansion. */
  tokens: readonly [number, number];
}

type Drawn = State<Model>;

const mostPositions = 256;
// What a page computes within about a second: the width of H, and the numbers of the tokens in the terms view.
const mostDim = 1024;
const mostNumbers = 8192;
// Multiply-adds of one slice, each of which has H handed over anew; more take a page long.
const blockWork = 2 ** 25;
// Scales of one slice of the terms view, each of which differentiates the model anew.
const someScales = 20;

const stepsPerDecade = 20;
const [leastScale, mostScale] = [1e-3, 10];
const scales = Float64Array.from({ length: 4 * stepsPerDecade + 1 }, (_, i) =>
  Number(scaleOf(leastScale, mostScale, 0, 1, true).value(i / (4 * stepsPerDecade)).toPrecision(3)),
);
const leastShown = 1e-13;

const partNames: Readonly<Record<Part, string>> = {
  value: "p(m)\u1d40\u2009H\u2009p(n)",
  relative: "m \u2212 n part",
  absolute: "m + n part",
  rest: "the rest",
};
const partInks: Readonly<Record<Part, Ink>> = { value: "ink", relative: "accent", absolute: "cool", rest: "grey" };
const partOrder = ["value", "relative", "absolute", "rest"] as const;
const kinds = [
  { value: "identity", label: "the identity" },
  { value: "paired", label: "diagonal, equal in pairs" },
  { value: "diagonal", label: "diagonal" },
  { value: "general", label: "general" },
];
const termNames = [
  "f",
  "p(m) f\u2032",
  "p(n) f\u2032",
  "p(m)\u00b2 f\u2033/2",
  "p(n)\u00b2 f\u2033/2",
  "p(m) p(n) f\u2033",
];

const takes = "an embed scheme, its JSON or a matrix H: numbers of shape [d, d], or [d] for its diagonal";

export const expansion = defineFigure<Model>({
  name: "expansion",
  attributes: {
    h: 'The matrix H: "identity", "paired" (diagonal, equal in pairs), "diagonal" (the default) or "general".',
    seed: "Deals the numbers of H, and of the model in the terms view, anew; 0 by default.",
    spread: "The standard deviation of the diagonal of H about 1; 1 by default.",
    off: "The standard deviation of a general H off its diagonal; 0.3 by default.",
    dim: "The width of the encoding, at most 1024; 16 by default. In the terms view, times positions at most 8192.",
    base: "The base of the wavelengths.",
    positions:
      "How many positions, 2 to 256; 32 by default. In the terms view, how many tokens the model has: times dim at " +
      "most 8192.",
    view: "parts or terms.",
    m: "The position m.",
    n: "The position n.",
    step: "The scale under the cursor of the terms view: 0 for 0.001, 20 more for ten times that, to 80 for 10.",
  },

  tabs: () =>
    choice("view", "view", "parts", [
      { value: "parts", label: "the parts" },
      { value: "terms", label: "the six terms" },
    ]),

  fields: (values) => {
    // The view says where m and n start.
    if (values.view === undefined) return [];
    const terms = values.view === "terms";
    // They end at the last position, so they wait for it to be known.
    const last = Number(values.positions) - 1;
    const where = { integer: true, ...(terms ? {} : { least: null, most: null }) };
    const diagonal = values.h !== "identity" && !terms;
    const real = { least: 0, most: null, format: (value: number): string => tickText(Number(value.toPrecision(3))) };
    return [
      choice("h", "H", "diagonal", kinds, { place: terms ? "none" : "row" }),
      // The cursor holds them where it is at (m, n).
      ...(values.positions === undefined
        ? []
        : ["m", "n"].map((name, i) => range(name, name, terms ? startOf(last + 1)[i] : undefined, 0, last, where))),
      range("spread", "spread of diagonal", 1, 0, 2, { ...real, step: 0.05, place: diagonal ? "row" : "none" }),
      range("off", "spread off diagonal", 0.3, 0, 1, {
        ...real,
        step: 0.05,
        place: values.h === "general" && !terms ? "row" : "none",
      }),
      range("seed", "seed", 0, 0, 99, { integer: true, least: 0, most: 2 ** 53 - 1, place: "more" }),
      ...schemeFields(descriptorOf("embed", "sinusoidal"), {
        values,
        row: ["dim"],
        start: { dim: 16 },
        change: { dim: { label: "dimensions", max: 64, most: mostDim, step: 2 } },
      }),
      range("positions", terms ? "tokens" : "positions", 32, 8, 96, {
        integer: true,
        least: 2,
        most: mostPositions,
        place: "more",
      }),
      cursorField("step", "The scale under the cursor."),
    ];
  },

  ...inSteps(function* (values, data) {
    const given = schemeAmong(data, ["embed"], takes);
    const matrix = given ? undefined : givenNumbers(data, [1, 2], takes);
    const chosen = chosenScheme("embed", { ...values, scheme: "sinusoidal" }, given);
    const { scheme } = chosen;
    const positions = Number(values.positions);
    const dim = Number((scheme as unknown as { dim?: unknown }).dim ?? values.dim);
    const tokens = twoTokens(values, positions);
    if (values.view === "terms") {
      if (positions * dim > mostNumbers) {
        const sentence =
          `positions times dim must be at most ${book(mostNumbers)} in the terms view, ` +
          `got ${book(positions)} \u00d7 ${book(dim)}.`;
        refuseValue("too-large", "positions", `at most ${Math.floor(mostNumbers / dim)}`, positions, sentence);
      }
      const seed = Number(values.seed);
      const options = { tokens: positions, dim, seed, positions: tokens, scheme };
      const made: Taylor[] = [];
      for (let first = 0; first < scales.length; first += someScales) {
        yield { done: first, total: scales.length };
        made.push(taylor({ ...options, scales: scales.subarray(first, first + someScales) }));
      }
      const joined = (part: "terms" | "value" | "remainder"): Taylor["value"] =>
        tensor(made.flatMap((one) => [...one[part].data]), undefined, "float64");
      const [terms, value, remainder] = [joined("terms"), joined("value"), joined("remainder")];
      const expansion = { terms, value, remainder, norms: (made[0] as Taylor).norms };
      return { chosen, positions, dim, kind: "", h: [], parts: undefined, extent: 1, expansion, tokens };
    }
    const own = matrix !== undefined;
    const kind = own ? "own" : String(values.h);
    const h = own ? (data as TensorLike) : matrixOf(kind, values, dim, scheme);
    const parts = Object.fromEntries(partOrder.map((part) => [part, new Float64Array(positions ** 2)]));
    // Each row is of its own m alone.
    const some = Math.max(1, Math.floor((positions * blockWork) / workOf(positions, dim)));
    for (let first = 0; first < positions; first += some) {
      yield { done: first, total: positions };
      const queries = arange(first, Math.min(positions, first + some));
      const found = bilinear(scheme, h, { queries, keys: positions });
      for (const part of partOrder) parts[part]?.set(found[part].data, first * positions);
    }
    const extent = Math.max(...partOrder.map((part) => magnitude(parts[part] ?? []))) || 1;
    const numbers = own ? [] : (h as Tensorless);
    const all = parts as Record<Part, Float64Array>;
    return { chosen, positions, dim, kind, h: numbers, parts: all, extent, expansion: undefined, tokens };
  }, ({ view, positions, dim }, data) => {
    const width = Number((data as { dim?: unknown } | undefined)?.dim ?? dim);
    const rows = Number(positions);
    return view === "terms" ? rows * rows * width > 2 ** 20 : workOf(rows, width) > blockWork;
  }),

  cells: ({ model, view }) =>
    view === "terms"
      ? { column: { name: "step", count: scales.length, start: 2 * stepsPerDecade } }
      : {
          row: { name: "m", count: model.positions, start: startOf(model.positions)[0] },
          column: { name: "n", count: model.positions, start: startOf(model.positions)[1] },
        },

  height: ({ view }, width) => {
    if (view === "terms") return width < 500 ? 360 : Math.min(440, Math.round(0.54 * width));
    return sheetOf(width).height;
  },

  draw: (surface, state) => {
    if (state.model.expansion) drawTerms(surface, state, state.model.expansion);
    else if (state.model.parts) drawParts(surface, state, state.model.parts);
  },

  title: ({ model, view }) => {
    if (view === "terms") {
      const [m, n] = model.tokens;
      const tokens = count(model.positions, "token").replace(" ", "\u00a0");
      return `The six terms of f as p is scaled: ${tokens}, p at ${m} and ${n}, d\u00a0=\u00a0${model.dim}`;
    }
    const named: Record<string, string> = {
      own: "your own H",
      identity: "H\u00a0=\u00a0I",
      paired: "a diagonal H, equal in pairs",
    };
    return `${partNames.value} for ${named[model.kind] ?? `a ${model.kind} H`}, d\u00a0=\u00a0${model.dim}`;
  },

  caption: ({ model, view }) => (view === "terms" ? termsCaption(model) : partsCaption(model)),

  readout: (state) => (state.model.expansion ? termReadings(state, state.model.expansion) : partReadings(state)),

  summary: ({ model, view }) =>
    view === "terms"
      ? "Lines of the sizes of the six terms of the expansion and of what they leave, over the scale of p from 0.001 " +
        `to 10, both on log axes. ${termsCaption(model)}`
      : `Four heat maps over m down and n across, ${count(model.positions, "position")} each: the value is the sum of ` +
        "a part that sees m\u00a0\u2212\u00a0n, one that sees m\u00a0+\u00a0n, and the rest; curves of the row of m below. " +
        partsCaption(model),

  table: ({ model }) => tableOf(model),

  array: ({ model }) => {
    if (model.expansion) return { data: model.expansion.terms.data as Float64Array, shape: [scales.length, 6] };
    const size = model.positions ** 2;
    const all = new Float64Array(4 * size);
    partOrder.forEach((part, i) => all.set(model.parts?.[part] ?? [], i * size));
    return { data: all, shape: [4, model.positions, model.positions] };
  },

  code: ({ model, values }) => codeOf(model, values),
});

// ---------------------------------------------------------------- the numbers

const workOf = (positions: number, dim: number): number => positions * dim * (dim + positions);

type Tensorless = readonly number[] | Float64Array;

// The diagonal in its seeded numbers, and around it those of a general matrix.
function matrixOf(kind: string, values: Values, dim: number, scheme: EmbedScheme): number[] | Float64Array {
  if (kind === "identity") return Array<number>(dim).fill(1);
  const seed = Number(values.seed);
  const diagonal = Array.from(randomNormal(dim, { seed, mean: 1, std: Number(values.spread) }).data as Float32Array);
  if (kind === "diagonal") return diagonal;
  if (kind === "paired") return pairOf(scheme, dim).map((pair) => diagonal[pair] as number);
  const whole = Float64Array.from(randomNormal([dim, dim], { seed: seed + 1, std: Number(values.off) }).data);
  diagonal.forEach((value, i) => (whole[i * dim + i] = value));
  return whole;
}

// The pair of each column.
function pairOf(scheme: EmbedScheme, dim: number): number[] {
  const half = (scheme as { layout?: unknown }).layout === "half";
  return Array.from({ length: dim }, (_, c) => (half ? c % (dim / 2) : Math.floor(c / 2)));
}

function startOf(positions: number): [number, number] {
  return [Math.min(positions - 1, Math.floor(0.6 * positions)), Math.floor(0.25 * positions)];
}

// Two different ones: where m and n are the same, n gives way.
function twoTokens(values: Values, positions: number): [number, number] {
  const [m, n] = [Number(values.m), Number(values.n)];
  return [m, m !== n ? n : m + 1 < positions ? m + 1 : m - 1];
}

function tableOf({ parts, expansion, positions }: Model): DataTable {
  if (expansion) {
    return {
      header: ["scale", ...termNames, "model", "remainder"],
      rows: scales.length,
      cell: (r, c) => {
        if (c === 0) return scales[r] as number;
        if (c <= 6) return expansion.terms.data[6 * r + c - 1] as number;
        return (c === 7 ? expansion.value : expansion.remainder).data[r] as number;
      },
    };
  }
  return {
    header: ["m", "n", ...partOrder],
    rows: positions ** 2,
    cell: (r, c) => {
      if (c < 2) return c === 0 ? Math.floor(r / positions) : r % positions;
      return parts?.[partOrder[c - 2] as Part][r] as number;
    },
  };
}

// ---------------------------------------------------------------- words

function partReadings({ model, row, column }: Drawn): Reading[] {
  const at = row * model.positions + column;
  return [
    { label: "m", value: book(row) },
    { label: "n", value: book(column) },
    { label: "m \u2212 n", value: book(row - column, { signed: true }) },
    ...partOrder.map((part) => ({
      label: partNames[part],
      value: book(model.parts?.[part][at] ?? Number.NaN, { decimals: 4, signed: true }),
    })),
  ];
}

function termReadings({ column }: Drawn, { terms, remainder }: Taylor): Reading[] {
  const write = (value: number): string => book(value, { significant: 3, signed: true });
  return [
    { label: "scale", value: tickText(scales[column] as number) },
    ...termNames.map((label, i) => ({ label, value: write(terms.data[6 * column + i] as number) })),
    { label: "left over", value: write(remainder.data[column] as number) },
  ];
}

function partsCaption({ kind, parts, positions }: Model): string {
  const sizes = partOrder.map((part) => magnitude(parts?.[part] ?? []));
  const [, relative = 0, absolute = 0, rest = 0] = sizes;
  const write = (value: number): string => book(value, { significant: 3 });
  const none = (value: number): boolean => value <= 1e-12 * (sizes[0] || 1);
  const still =
    none(absolute) && none(rest)
      ? "Only m\u00a0\u2212\u00a0n counts: the product of two absolute encodings is a relative one. "
      : "";
  const words: Record<string, string> = {
    identity: `${still}Each diagonal has one value, as the dashed one through the cursor shows.`,
    paired: `${still}It is enough that H weighs the sine and the cosine of a pair alike.`,
    diagonal:
      "A diagonal H sees m\u00a0\u2212\u00a0n by the sums of its pairs and m\u00a0+\u00a0n by their differences: along the dashed lines " +
      "the parts stay the same.",
  };
  const general =
    "What stands off the diagonal of H sees neither m\u00a0\u2212\u00a0n nor m\u00a0+\u00a0n. Only where the diagonal is much the larger " +
    "does the relative part prevail.";
  const first = words[kind] ?? general;
  return (
    `${first} At ${count(positions, "position")} the m\u00a0\u2212\u00a0n part is at most ${write(relative)}, the m\u00a0+\u00a0n part ` +
    `${write(none(absolute) ? 0 : absolute)}, the rest ${write(none(rest) ? 0 : rest)}.`
  );
}

function termsCaption({ expansion, tokens }: Model): string {
  if (!expansion) return "";
  const { norms } = expansion;
  const write = (value: number): string => book(value, { significant: 3 });
  return (
    `f is one head of attention, read out as one number, with p(${tokens[0]}) and p(${tokens[1]}) added to two of ` +
    "its tokens. Only the last of the six terms sees both positions. What they leave falls with the cube of the " +
    `scale: the expansion holds where p is small, yet at scale 1 p is ${write(norms.pM)} long and a token ` +
    `${write(norms.tokens)}.`
  );
}

// ---------------------------------------------------------------- the parts

interface Sheet {
  maps: readonly Box[];
  legend: { x: number; y: number; length: number };
  chart: { y: number; height: number };
  height: number;
}

function sheetOf(width: number): Sheet {
  const narrow = width < 500;
  const left = 30;
  const gap = narrow ? 22 : 30;
  const perRow = narrow ? 2 : 4;
  const side = Math.min(240, (width - left - 2 - (perRow - 1) * gap) / perRow);
  const rowHeight = side + 44;
  const maps = partOrder.map((_, i) => ({
    x: left + (i % perRow) * (side + gap),
    y: 26 + Math.floor(i / perRow) * rowHeight,
    width: side,
    height: side,
  }));
  const below = 26 + Math.ceil(4 / perRow) * rowHeight;
  return {
    maps,
    legend: { x: left, y: below - 6, length: Math.min(140, side) },
    chart: { y: below + (narrow ? 44 : 34), height: narrow ? 190 : 200 },
    height: below + 236,
  };
}

function drawParts(surface: Surface, { model, row, column }: Drawn, parts: NonNullable<Model["parts"]>): void {
  const { positions, extent } = model;
  const { maps, legend: place, chart } = sheetOf(surface.width);
  const scale: ColourScale = { kind: "signed", extent };
  partOrder.forEach((part, i) => {
    const map = maps[i] as Box;
    const cell = map.width / positions;
    surface.text(map.x, map.y - 13, partNames[part], { ink: partInks[part], size: labelSize });
    // The sign of the sum stands between two maps, and beside the name of one that begins a row: there are its numbers.
    const first = map.x < 40;
    if (i > 0) {
      const y = first ? map.y - 13 : map.y + map.height / 2;
      const style = { ink: "ink", align: "middle", size: 14 } as const;
      surface.text(map.x - (surface.narrow ? 11 : 15), y, i === 1 ? "=" : "+", style);
    }
    surface.heatMap(map, { values: parts[part], rows: positions, columns: positions, scale });
    surface.rect(map.x - 0.5, map.y - 0.5, map.width + 1, map.height + 1, { stroke: "faint" });
    if (part === "relative") drawDiagonal(surface, map, positions, row - column);
    if (part === "absolute") drawAcross(surface, map, positions, row + column);
    drawCell(surface, map, positions, row, column);
    for (const t of indexTicks(positions, map.width, surface.narrow ? 45 : 50)) {
      surface.text(map.x + (t + 0.5) * cell, map.y + map.height + 12, String(t), { align: "middle", size: 11 });
      if (first) surface.text(map.x - 7, map.y + (t + 0.5) * cell, String(t), { align: "end", size: 11 });
    }
    surface.region(map, (u, v) => ({ row: Math.floor(v * positions), column: Math.floor(u * positions) }));
  });
  legend(surface, scale, place.x, place.y, place.length, false);
  const axes = "down: m, across: n";
  surface.text(surface.width - 2, place.y + 4, axes, { align: "end", size: 11 });
  drawRow(surface, model, parts, { row, column, ...chart });
}

// All (m, n) with this m + n.
function drawAcross(surface: Surface, map: Box, positions: number, sum: number): void {
  const first = Math.max(0, sum - positions + 1);
  const last = Math.min(positions - 1, sum);
  const cell = map.width / positions;
  const x = (n: number): number => map.x + n * cell;
  const y = (m: number): number => map.y + m * cell;
  drawDashes(surface, [x(first), y(sum - first + 1), x(last + 1), y(sum - last)]);
}

interface RowPlace {
  row: number;
  column: number;
  y: number;
  height: number;
}

// The row of m in all four, over n.
function drawRow(surface: Surface, model: Model, parts: NonNullable<Model["parts"]>, place: RowPlace): void {
  const { positions } = model;
  const { row, column } = place;
  const n = Array.from({ length: positions }, (_, i) => i);
  const of = (part: Part): Float64Array => parts[part].subarray(row * positions, (row + 1) * positions);
  const all = partOrder.flatMap((part) => Array.from(of(part)));
  let [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
  if (high - low < 1e-9) [low, high] = [-1, 1];
  const pad = 0.06 * (high - low);
  const shownParts = [...partOrder].reverse();
  drawChart(surface, {
    box: { x: 0, y: place.y, width: surface.width, height: place.height },
    x: { min: 0, max: positions - 1, wish: surface.narrow ? 4 : 8 },
    y: { min: low - pad, max: high + pad, wish: 4, label: `along the row m = ${book(row)}` },
    lines: shownParts.map(
      (part): ChartLine => ({
        x: n,
        y: of(part),
        ink: partInks[part],
        width: part === "value" ? 2 : 1.4,
        ...(part === "rest" ? { dash: [4, 3] } : {}),
        name: part === "value" ? "sum" : partNames[part],
      }),
    ),
    cursor: {
      at: column,
      name: `n = ${book(column)}`,
      ink: "ink",
      dots: shownParts.map((part) => ({ y: of(part)[column] as number, ink: partInks[part] })),
    },
    locate: (at) => ({ column: Math.max(0, Math.min(positions - 1, Math.round(at))) }),
  });
}

// ---------------------------------------------------------------- the six terms

const termInks: readonly Ink[] = ["grey", "cool", "cool", "cool", "cool", "accent"];
const termDashes: readonly (readonly number[] | undefined)[] = [undefined, undefined, [6, 3], [2, 2], [6, 2, 2, 2]];

function drawTerms(surface: Surface, { column }: Drawn, { terms, remainder, norms }: Taylor): void {
  const line = (term: number): Float64Array => Float64Array.from(scales, (_, r) => terms.data[6 * r + term] as number);
  const sizes = (values: ArrayLike<number>): number[] =>
    Array.from(values, (value) => (value === 0 ? Number.NaN : Math.max(leastShown, Math.abs(value))));
  const left = sizes(remainder.data as Float64Array);
  const lines: ChartLine[] = termNames.map((name, term) => {
    const dash = termDashes[term];
    return {
      x: scales,
      y: sizes(line(term)),
      ink: termInks[term] as Ink,
      width: term === 5 ? 2.2 : 1.3,
      ...(dash ? { dash } : {}),
      name,
    };
  });
  lines.push({ x: scales, y: left, ink: "ink", width: 1.6, dash: [1, 3], name: "left over" });
  const seen = lines.flatMap(({ y }) => Array.from(y)).filter(Number.isFinite);
  const mixed = Math.abs(terms.data[6 * column + 5] as number);
  const { plot, x } = drawChart(surface, {
    box: { x: 0, y: 0, width: surface.width, height: surface.height },
    x: { min: leastScale, max: mostScale, log: true, wish: 5 },
    y: { min: Math.min(...seen) / 2, max: 2 * Math.max(...seen), log: true, wish: 6, label: "size" },
    lines,
    cursor: {
      at: scales[column] as number,
      name: `scale ${tickText(scales[column] as number)}`,
      ink: "ink",
      dots: [
        ...(mixed > 0 ? [{ y: mixed, ink: "accent" as const }] : []),
        ...(Number.isFinite(left[column]) ? [{ y: left[column] as number, ink: "ink" as const }] : []),
      ],
    },
    locate: (at) => {
      const place = scaleOf(leastScale, mostScale, 0, scales.length - 1, true);
      return { column: Math.max(0, Math.min(scales.length - 1, Math.round(place.place(at)))) };
    },
  });
  // Where p(m) is as long as a token.
  const equal = norms.tokens / norms.pM;
  const at = x.place(equal);
  if (!(at > plot.x && at < plot.x + plot.width)) return;
  surface.path([at, plot.y, at, plot.y + plot.height], { stroke: "grey", dash: [2, 3] });
  drawPlate(surface, at - 6, plot.y + 10, "p as long as a token", { align: "end", size: labelSize });
}

// ---------------------------------------------------------------- code

function codeOf(model: Model, values: Values): Code {
  const { chosen, positions, dim, kind, tokens } = model;
  const seed = Number(values.seed);
  if (model.expansion) {
    return {
      javascript:
        `import { ${chosen.name}, taylor } from "posenc";\n\n` +
        `const scales = [${Array.from(scales).join(", ")}];\n` +
        `const { terms, value, remainder } = taylor({ tokens: ${positions}, dim: ${dim}, seed: ${seed}, scales, ` +
        `positions: [${tokens.join(", ")}], scheme: ${chosen.code} });\n`,
      numpy: async () => {
        const { seriesNumpy } = await import("./numpy-programs.js");
        return seriesNumpy(model, seed);
      },
    };
  }
  const random = kind !== "identity" && kind !== "own";
  const lines: Record<string, string> = {
    own: "// h: the matrix [d, d], or the diagonal [d], that was handed to the figure\n",
    identity: `const h = Array(${dim}).fill(1);\n`,
    diagonal: "const h = diagonal;\n",
    paired:
      `const pairs = [${pairOf(chosen.scheme, dim).join(", ")}];\n` +
      "const h = pairs.map((pair) => diagonal[pair]);\n",
    general:
      `const around = randomNormal([${dim}, ${dim}], { seed: ${seed + 1}, std: ${Number(values.off)} }).tolist();\n` +
      "const h = around.map((row, i) => row.map((value, j) => (i === j ? diagonal[i] : value)));\n",
  };
  const names = ["bilinear", ...(random ? ["randomNormal"] : []), chosen.name].join(", ");
  const dealt = `randomNormal(${dim}, { seed: ${seed}, mean: 1, std: ${Number(values.spread)} }).tolist();\n`;
  const javascript =
    `import { ${names} } from "posenc";\n\n` +
    `${random ? `const diagonal = ${dealt}` : ""}${lines[kind] ?? ""}` +
    `const { value, relative, absolute, rest } = bilinear(${chosen.code}, h, ` +
    `{ queries: ${positions}, keys: ${positions} });\n`;
  return {
    javascript,
    numpy: async () => {
      const { partsNumpy } = await import("./numpy-programs.js");
      return partsNumpy(model);
    },
  };
}
