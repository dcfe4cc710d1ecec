// <posenc-decay>: the score that turned pairs make of an offset, against the integral it tends to, for several laws of
// their frequencies.
import { oscillatoryIntegral, riemannSum, type FrequencyLaw } from "../src/analysis/index.js";
import type { TensorLike } from "../src/core.js";
import { inSteps } from "./background.js";
import { drawChart, type ChartLine } from "./chart.js";
import { choice, defineFigure, flag, range, type Code, type State, type Values } from "./figure.js";
import { book, count, tickText } from "./format.js";
import { givenNumbers } from "./given-data.js";
import { scaleOf } from "./marks.js";
import { literal } from "./scheme-fields.js";
import type { Surface } from "./surface.js";

interface Law {
  /** As the attribute has it. */
  value: string;
  name: string;
  law: FrequencyLaw;
  /** theta of t in NumPy; none for samples and for laws that midpoints do not do justice to. */
  numpy?: string;
}

interface Model {
  laws: readonly Law[];
  /** The law whose sum is drawn. */
  chosen: number;
  dim: number;
  /** The largest offset. */
  reach: number;
  /** Offsets drawn, rising. */
  offsets: Float64Array;
  /** Places of the whole ones among them. */
  whole: readonly number[];
  /** How many of these are within reach; those beyond are for the largest size to come. */
  shown: number;
  /** Of each law at the offsets. */
  integrals: readonly Float64Array[];
  /** Of the chosen law at the whole offsets. */
  sum: Float64Array;
  /** The largest distance of the sum from the integral. */
  apart: number;
  /** The first offset. */
  from: number;
  /** What is read at a whole offset. */
  read: (offset: number) => Reading;
}

/** The integral of each law and the sum of the chosen one at an offset. */
interface Reading {
  integrals: readonly number[];
  sum: number;
}

type Drawn = State<Model>;

function exponential(base: number): Law {
  const name = `${tickText(base)}\u207b\u1d57`;
  const float = Number.isInteger(base) ? `${base}.0` : String(base);
  const numpy = base >= 2 && base <= 1e6 ? { numpy: `${float} ** -t` } : {};
  return { value: `${base}^-t`, name, law: { law: "exponential", base }, ...numpy };
}

const known: readonly Law[] = [
  exponential(10000),
  exponential(1000),
  { value: "t", name: "t", law: { law: "power", alpha: 1 }, numpy: "t" },
  { value: "t^2", name: "t\u00b2", law: { law: "power", alpha: 2 }, numpy: "t ** 2" },
  { value: "sqrt(t)", name: "\u221at", law: { law: "power", alpha: 0.5 }, numpy: "t ** 0.5" },
];
const ownChoices = [
  { value: "base^-t", label: "a base of your own" },
  { value: "t^alpha", label: "an exponent of your own" },
];
// Offsets of the short range are at least this finely drawn, and those of the long range this many.
const fineSteps = 512;
const longSamples = 1440;
const fineOffsets = 40;
// A sum's frequencies may take longer than its cosines at many offsets: the cursor's neighbours come with it.
const neighbours = 16;
// On a log scale the largest size from each offset on is drawn, as far as this many times the largest offset.
const lookAhead = 3;
const leastShown = 1e-5;
// The sums of wider encodings take a page long; and the cosines of one slice.
const wideDim = 2048;
const blockWork = 2 ** 18;
// Beyond, the midpoints that a program sums are too many.
const mostNumpy = 1e5;

export const decay = defineFigure<Model>({
  name: "decay",
  attributes: {
    law: 'The law: "10000^-t" (the default), "1000^-t", "t", "t^2", "sqrt(t)", "base^-t" or "t^alpha".',
    base: "The base of base^-t, 1e-12 to 1e12; 500 by default.",
    alpha: "The exponent of t^alpha, 1e-6 to 1e6; 1.5 by default.",
    dim: "The width d of the encoding, whose d/2 pairs are the terms of the sum; 32 by default.",
    near: "The largest offset of the short range, 16 to 1024; 128 by default.",
    far: "The largest offset of the long range, 100 to 10\u202f000\u202f000; 100\u202f000 by default.",
    log: "Draws sizes on a log scale in the long range.",
    view: "short or long.",
    offset: "The offset under the cursor.",
  },

  tabs: () =>
    choice("view", "view", "short", [
      { value: "short", label: "short range" },
      { value: "long", label: "long range" },
    ]),

  fields: (values) => {
    const long = values.view === "long";
    const reach = Number(long ? (values.far ?? 1e5) : (values.near ?? 128));
    const laws = [...known.map(({ value, name }) => ({ value, label: name })), ...ownChoices];
    const law = values.law;
    const write = (value: number): string => book(value, { significant: 3 });
    return [
      choice("law", "frequencies \u03b8(t)", "10000^-t", laws),
      ...(law === "base^-t"
        ? [range("base", "base", 500, 2, 1e6, { log: true, least: 1e-12, most: 1e12, format: write })]
        : []),
      ...(law === "t^alpha"
        ? [range("alpha", "exponent", 1.5, 0.1, 8, { log: true, least: 1e-6, most: 1e6, format: write })]
        : []),
      range("dim", "dimensions d", 32, 2, 1024, { log: true, integer: true, step: 2, most: 65536 }),
      range("offset", "offset k", undefined, long ? 1 : 0, reach, {
        integer: true,
        log: long,
        least: null,
        most: null,
        format: (value) => book(value),
      }),
      range("near", "offsets up to", 128, 16, 1024, { log: true, integer: true, place: long ? "none" : "row" }),
      range("far", "offsets up to", 1e5, 100, 1e7, { log: true, integer: true, place: long ? "row" : "none" }),
      ...(long ? [flag("log", "sizes on a log scale", false)] : []),
    ];
  },

  ...inSteps(function* (values, data) {
    const long = values.view === "long";
    const dim = Number(values.dim);
    const reach = Number(long ? values.far : values.near);
    const own = ownLaw(values, data);
    const laws = own ? [...known, own] : known;
    const chosen = own ? laws.length - 1 : Math.max(0, known.findIndex(({ value }) => value === values.law));
    const ahead = long && values.log === true ? lookAhead : 1;
    const offsets = long ? spacedOffsets(reach, ahead * reach) : evenOffsets(reach);
    const whole = Array.from(offsets, (_, i) => i).filter((i) => Number.isInteger(offsets[i]));
    const shown = whole.filter((i) => (offsets[i] as number) <= reach).length;
    const integrals = laws.map(({ law }) => oscillatoryIntegral(law, offsets).data as Float64Array);
    const { law } = laws[chosen] as Law;
    const wholeOffsets = Float64Array.from(whole, (i) => offsets[i] as number);
    const sum = new Float64Array(whole.length);
    const some = Math.max(1, Math.floor(blockWork / dim));
    for (let first = 0; first < sum.length; first += some) {
      yield { done: first, total: sum.length };
      sum.set(riemannSum(law, wholeOffsets.subarray(first, first + some), { dim }).data as Float64Array, first);
    }
    const integral = integrals[chosen] as Float64Array;
    const apart = whole
      .slice(0, shown)
      .reduce((most, i, n) => Math.max(most, Math.abs((integral[i] as number) - (sum[n] as number))), 0);
    const drawn = whole.map((i, n) => [offsets[i] as number, readingAt(integrals, i, sum[n] as number)] as const);
    const read = reader(laws, law, dim, new Map(drawn));
    return { laws, chosen, dim, reach, offsets, whole, shown, integrals, sum, apart, from: long ? 1 : 0, read };
  }, ({ dim }) => Number(dim) > wideDim),

  cells: ({ model, view }) => ({
    column: {
      name: "offset",
      count: model.reach + 1 - model.from,
      start: view === "long" ? Math.round(model.reach / 50) - 1 : Math.floor(0.3 * model.reach),
      from: model.from,
    },
  }),

  height: (_, width) => (width < 500 ? 330 : Math.min(420, Math.round(0.5 * width))),

  draw: (surface, state) => drawDecay(surface, state),

  title: ({ model, view }) =>
    `g(k) and its integral for \u03b8(t)\u00a0= ${lawOf(model).name}, d\u00a0=\u00a0${book(model.dim)}, ` +
    `${view === "long" ? "long" : "short"} range`,

  caption: ({ model, view, values }) => {
    const tends =
      `The sum is g(k) / (d/2), the mean of the cosines of ${count(model.dim / 2, "pair")}; the integral is what it ` +
      "tends to as d grows. ";
    if (view !== "long") {
      return (
        `${tends}Thin lines are the integrals of other laws: powers of t fall faster at first, t and \u221at to ` +
        "below 0. An offset \u2212k has the score of k."
      );
    }
    const shape =
      values.log === true
        ? "Drawn is the largest size from k on: what is still to come."
        : "Against the log of k, the integral of an exponential law falls in a straight line to 0 near k\u00a0=\u00a0base.";
    return `${tends}Far away a finite sum stops falling: its cosines never all cancel. ${shape}`;
  },

  readout: (state) => {
    const { model } = state;
    const { offset, integrals, sum } = valuesAt(state);
    const integral = integrals[model.chosen] as number;
    const write = (value: number): string => book(value, { decimals: 4, signed: true });
    return [
      { label: "offset", value: book(offset) },
      { label: "integral", value: write(integral) },
      { label: `sum of ${count(model.dim / 2, "pair")}`, value: write(sum) },
      { label: "apart", value: book(Math.abs(integral - sum), { significant: 2 }) },
      { label: "largest difference drawn", value: book(model.apart, { significant: 2 }), constant: true },
    ];
  },

  summary: ({ model, view }) =>
    `Curves over the offset, ${book(model.from)} to ${book(model.reach)}` +
    `${view === "long" ? " on a log axis" : ""}, of the integral of cos(k \u03b8(t)) for ` +
    `${model.laws.map(({ name }) => name).join(", ")}, and for ` +
    `${lawOf(model).name} the sum of ${count(model.dim / 2, "pair")}, which differs from its integral by at most ` +
    `${book(model.apart, { significant: 2 })}.`,

  table: ({ model }) => ({
    header: ["offset", "sum", ...model.laws.map(({ value }) => `integral ${value}`)],
    rows: model.shown,
    cell: (r, c) => {
      const i = model.whole[r] as number;
      if (c === 0) return model.offsets[i] as number;
      return (c === 1 ? model.sum[r] : model.integrals[c - 2]?.[i]) as number;
    },
  }),

  array: ({ model }) => {
    const size = model.shown;
    const both = new Float64Array(2 * size);
    both.set(model.whole.slice(0, size).map((i) => (model.integrals[model.chosen] as Float64Array)[i] as number));
    both.set(model.sum.subarray(0, size), size);
    return { data: both, shape: [2, size] };
  },

  code: ({ model, view }) => codeOf(model, view === "long"),
});

function lawOf(model: Model): Law {
  return model.laws[model.chosen] as Law;
}

// The reader's law: samples handed over, or a base or exponent of their own.
function ownLaw(values: Values, data: unknown): Law | undefined {
  if (givenNumbers(data, [1], "samples of a law, a list of numbers")) {
    return { value: "samples", name: "the samples", law: { samples: data as TensorLike } };
  }
  if (values.law === "base^-t") {
    const base = Number(values.base);
    return exponential(base);
  }
  if (values.law === "t^alpha") {
    const alpha = Number(values.alpha);
    const name = `t^${tickText(alpha)}`;
    const plain = alpha >= 0.1 && alpha <= 8;
    return { value: `t^${alpha}`, name, law: { law: "power", alpha }, ...(plain ? { numpy: `t ** ${alpha}` } : {}) };
  }
  return undefined;
}

// From 0 to the last, whole offsets among them.
function evenOffsets(reach: number): Float64Array {
  const parts = Math.max(1, Math.ceil(fineSteps / reach));
  return Float64Array.from({ length: reach * parts + 1 }, (_, i) => i / parts);
}

// From 1 to the last, evenly on a log scale; whole ones but for the first few, between which the curves are drawn too.
function spacedOffsets(reach: number, last: number): Float64Array {
  const { value } = scaleOf(1, last, 0, 1, true);
  const places = Array.from({ length: longSamples }, (_, i) => Math.round(value(i / (longSamples - 1))));
  places.push(reach);
  const first = Array.from({ length: fineOffsets * 8 }, (_, i) => 1 + i / 8);
  return Float64Array.from(new Set([...first, ...places])).sort();
}

// At offsets that are drawn, what was computed for the drawing; between those, a few at a time.
function reader(laws: readonly Law[], law: FrequencyLaw, dim: number, drawn: Map<number, Reading>): Model["read"] {
  let near = new Map<number, Reading>();
  return (offset) => {
    const found = drawn.get(offset) ?? near.get(offset);
    if (found) return found;
    const first = offset - (offset % neighbours);
    const block = Float64Array.from({ length: neighbours }, (_, i) => first + i);
    const integrals = laws.map((one) => oscillatoryIntegral(one.law, block).data as Float64Array);
    const sum = riemannSum(law, block, { dim }).data as Float64Array;
    near = new Map(Array.from(block, (at, i) => [at, readingAt(integrals, i, sum[i] as number)]));
    return near.get(offset) as Reading;
  };
}

function readingAt(integrals: readonly Float64Array[], i: number, sum: number): Reading {
  return { integrals: integrals.map((values) => values[i] as number), sum };
}

function valuesAt({ model, column }: Drawn): Reading & { offset: number } {
  const offset = model.from + column;
  return { offset, ...model.read(offset) };
}

// ---------------------------------------------------------------- the drawing

const dashes: readonly (readonly number[] | undefined)[] = [undefined, [7, 3], [2, 2.5], [5, 2, 1.5, 2], [9, 4, 2, 4]];

function drawDecay(surface: Surface, state: Drawn): void {
  const { model, view, values } = state;
  const { offsets, integrals, sum, whole, chosen } = model;
  const long = view === "long";
  const log = long && values.log === true;
  const at = valuesAt(state);
  // On a log scale the dots are on what is drawn there: the largest size from the cursor on.
  const sized = (value: number, x: ArrayLike<number>, y: ArrayLike<number>): number => {
    if (!log) return value;
    const later = Array.from(y).filter((_, i) => (x[i] as number) >= at.offset);
    return later.reduce((most, one) => Math.max(most, Math.abs(one)), Math.max(Math.abs(value), leastShown));
  };
  const wholeOffsets = whole.map((i) => offsets[i] as number);
  const line = (x: ArrayLike<number>, y: ArrayLike<number>): Pick<ChartLine, "x" | "y"> => {
    const seen = Array.from(x).filter((offset) => offset <= model.reach);
    return { x: seen, y: (log ? largestFrom(y) : y) as Float64Array };
  };
  const others = model.laws.map((law, n): ChartLine => {
    const own = n === chosen;
    const dash = dashes[n];
    return {
      ...line(offsets, integrals[n] as Float64Array),
      ink: own ? "accent" : "ink",
      width: own ? 2.2 : 1.1,
      ...(own ? {} : { alpha: 0.6, ...(dash ? { dash } : {}) }),
      name: law.name,
      choose: { law: n < known.length ? law.value : String(values.law) },
    };
  });
  const step = surface.width / (whole.length || 1);
  const dotted: ChartLine = {
    ...line(wholeOffsets, sum),
    ink: "cool",
    width: long ? 1.2 : 1,
    alpha: log ? 1 : 0.55,
    ...(long || step < 3 ? {} : { dots: step > 8 ? 2.4 : 1.7 }),
    name: `sum, d\u2009=\u2009${model.dim}`,
  };
  const low = Math.min(0, ...sum, ...integrals.flatMap((values) => Array.from(values)));
  drawChart(surface, {
    box: { x: 0, y: 0, width: surface.width, height: surface.height },
    x: {
      min: model.from,
      max: model.reach,
      log: long,
      // With fewer the cursor's name may leave one number alone.
      wish: surface.narrow ? 5 : 8,
    },
    y: log
      ? { min: leastShown, max: 1, log, wish: 6 }
      : { min: low < -0.02 ? 1.05 * low : low, max: 1, wish: 6 },
    lines: [...others.filter((_, n) => n !== chosen), dotted, others[chosen] as ChartLine],
    cursor: {
      at: at.offset,
      name: `k = ${book(at.offset)}`,
      ink: "ink",
      dots: [
        { y: sized(at.integrals[chosen] as number, offsets, integrals[chosen] as Float64Array), ink: "accent" },
        { y: sized(at.sum, wholeOffsets, sum), ink: "cool" },
      ],
    },
    locate: (offset) => ({ column: Math.round(offset) - model.from }),
  });
}

// The largest size from each point on.
function largestFrom(y: ArrayLike<number>): Float64Array {
  const sizes = new Float64Array(y.length);
  let most = leastShown;
  for (let i = y.length - 1; i >= 0; i--) sizes[i] = most = Math.max(most, Math.abs(y[i] as number));
  return sizes;
}

// ---------------------------------------------------------------- code

function codeOf(model: Model, long: boolean): Code {
  const { law, numpy } = lawOf(model);
  const { dim, reach, whole, shown, offsets } = model;
  const made = "samples" in law ? "{ samples }" : literal(law);
  const places = whole.slice(0, shown).map((i) => offsets[i] as number);
  const listed = long ? `[${places.join(", ")}]` : `${reach + 1}`;
  const samples =
    "samples" in law ? `const samples = [${Array.from(law.samples as ArrayLike<number>).join(", ")}];\n` : "";
  const javascript =
    'import { oscillatoryIntegral, riemannSum } from "posenc";\n\n' +
    `${samples}const law = ${made};\nconst offsets = ${listed};\n` +
    "const integral = oscillatoryIntegral(law, offsets);\n" +
    `const sum = riemannSum(law, offsets, { dim: ${dim} });  // g(k) / (d/2)\n`;
  if (numpy === undefined || reach > mostNumpy) return { javascript };
  return {
    javascript,
    numpy: async () => {
      const { decayNumpy } = await import("./numpy-programs.js");
      return decayNumpy(numpy, `np.${long ? "array" : "arange"}(${listed})`, dim);
    },
  };
}
