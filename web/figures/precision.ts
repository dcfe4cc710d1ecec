// <posenc-precision>: the same positions in four arithmetics against the exact sines and cosines: how far off, and from
// where on.
import { arange, frequencies, outlines, type EmbedScheme, type RotateScheme } from "../src/core.js";
import { precision as precisionOf, type Arithmetic, type PrecisionRecipe } from "../src/analysis/index.js";
import { inSteps, type Step } from "./background.js";
import { drawChart } from "./chart.js";
import {
  choice,
  cursorField,
  defineFigure,
  range,
  type Code,
  type State,
  type Values,
} from "./figure.js";
import { book, count, powerOfTen, short, tickText } from "./format.js";
import { givenScheme } from "./given-data.js";
import { drawPlate, indexTicks } from "./marks.js";
import {
  chosenScheme,
  descriptorOf,
  schemeFields,
  schemeFrom,
  type ChosenScheme,
} from "./scheme-fields.js";
import type { Ink, Surface } from "./surface.js";

interface First {
  position: number;
  error: number;
  pair: number;
  /** Every position before it was tried and found within the tolerance. */
  certain: boolean;
}

/** One arithmetic at the positions of the view. */
interface Line {
  arithmetic: Arithmetic;
  /** The largest error of each position; Infinity where the format overflowed. */
  worst: Float64Array;
  /** And the pair that has it. */
  pairs: Int32Array;
  /** [positions, pairs, 2]. */
  values: Float64Array;
  first: First | undefined;
}

export interface Model {
  chosen: ChosenScheme<EmbedScheme | RotateScheme>;
  recipe: PrecisionRecipe;
  tolerance: number;
  positions: Float64Array;
  lines: readonly Line[];
  exact: Float64Array;
  pairs: number;
  /** The pair of the waves. */
  pair: number;
  wavelengths: Float64Array;
}

type Drawn = State<Model>;

const arithmetics: readonly Arithmetic[] = ["float64", "float32", "bfloat16", "float16"];
const inks: readonly Ink[] = ["grey", "cool", "accent", "ink"];
const perDecade = 24;
const waveLength = 64;
// Positions times pairs that are tried one by one to find the first position beyond the tolerance.
const mostTried = 2 ** 16;

const recipes: readonly { value: PrecisionRecipe; label: string }[] = [
  { value: "power", label: "all of it, frequency by a power" },
  { value: "exponential", label: "all of it, frequency by an exponential" },
  { value: "upcast", label: "the table, formed in float32" },
  { value: "table", label: "the table only" },
  { value: "angle", label: "the angle" },
  { value: "frequencies", label: "the frequency only" },
  { value: "positions", label: "the position only" },
];

// Wider schemes take longer than a page should wait.
const isWide = ({ dim }: Values, data: unknown): boolean =>
  Number((givenScheme(data, ["embed", "rotate"]) as { dim?: unknown } | undefined)?.dim ?? dim) > 96;

export const precision = defineFigure<Model>({
  name: "precision",
  attributes: {
    scheme: 'A scheme whose pairs turn on one axis, "rope" by default.',
    dim: "The width of the encoding, at most 512; 64 by default.",
    base: "The base of the wavelengths.",
    recipe: "What is rounded: power, exponential, upcast, table, angle, frequencies or positions.",
    decades: "The axis ends at 10 to this power, 2 to 15; 9 by default.",
    tolerance: "The error that the first position beyond it is looked for; 0.001 by default.",
    view: "errors or waves.",
    start: "The first position of the waves; 1\u202f000\u202f000 by default.",
    pair: "The pair of the waves, from 0; 1 by default.",
    format: "The line of the cursor: 1 is float64, 2 float32, 3 bfloat16, 4 float16.",
    place: "The cursor among the errors: places 0 to 9 are positions 1 to 10, then there are 24 a decade.",
    offset: "The cursor among the waves: how many positions after the first.",
  },

  tabs: () => choice("view", "view", "errors", ["errors", "waves"]),

  fields: (values) => {
    const name = String(values.scheme ?? "rope");
    const waves = values.view === "waves";
    const last = Math.max(0, Math.floor(Number(values.dim) / 2) - 1);
    return [
      choice(
        "scheme",
        "scheme",
        "rope",
        turning().map(({ name: value, title: label }) => ({ value, label })),
      ),
      ...schemeFields(descriptorOf(slotOf(name), name), {
        values,
        row: ["dim", "base"],
        change: { dim: { label: "dimensions", max: 128, most: 512, step: 2 } },
      }),
      choice("recipe", "rounded", "power", recipes),
      ...(waves
        ? [
            range("start", "from", 1e6, 1, 1e9, {
              least: 0,
              most: 2 ** 53 - waveLength,
              log: true,
              integer: true,
            }),
            // It waits for what its end depends on.
            ...(values.dim === undefined ? [] : [range("pair", "pair", Math.min(1, last), 0, last, { integer: true })]),
          ]
        : [
            range("decades", "up to", 9, 3, 15, { integer: true, least: 2, format: powerOfTen }),
            range("tolerance", "tolerance", 0.001, 1e-6, 0.5, {
              log: true,
              least: 1e-15,
              most: 2,
              format: toleranceText,
            }),
          ]),
      cursorField("format", "The line of the cursor, from 1."),
      cursorField("place", "The place of the cursor among the errors."),
      cursorField("offset", "The place of the cursor among the waves."),
    ];
  },

  ...inSteps(function* (values, data) {
    const waves = values.view === "waves";
    const given = givenScheme(data, ["embed", "rotate"]);
    const slot = given?.slot ?? slotOf(String(values.scheme));
    const chosen = chosenScheme(slot, values, given) as Model["chosen"];
    const { scheme } = chosen;
    const recipe = values.recipe as PrecisionRecipe;
    const tolerance = Number(values.tolerance ?? 0.001);
    const start = Math.round(Number(values.start ?? 0));
    const positions = waves
      ? Float64Array.from({ length: waveLength }, (_, t) => start + t)
      : logPlaces(Number(values.decades));
    const wavelengths = frequencies(scheme).wavelength;
    const pairs = wavelengths.length;
    let exact = new Float64Array();
    const lines: Line[] = [];
    for (const arithmetic of arithmetics) {
      yield { done: lines.length, total: arithmetics.length };
      const options = { arithmetic, recipe, tolerance };
      const report = precisionOf(scheme, positions, options);
      exact = report.exact.data as Float64Array<ArrayBuffer>;
      const error = report.error.data;
      const worst = report.worst.data as Float64Array;
      const half = { done: lines.length + 0.5, total: arithmetics.length };
      yield half;
      const first = waves ? undefined : yield* firstBeyond(scheme, options, pairs, report.first, half);
      lines.push({
        arithmetic,
        worst,
        pairs: Int32Array.from(worst, (most, t) => {
          const row = error.subarray(2 * pairs * t, 2 * pairs * (t + 1)) as Float64Array;
          return Math.max(0, Math.floor(row.indexOf(most) / 2));
        }),
        values: report.values.data as Float64Array,
        first,
      });
    }
    const pair = Math.min(pairs - 1, Number(values.pair ?? 0));
    return { chosen, recipe, tolerance, positions, lines, exact, pairs, pair, wavelengths };
  }, isWide),

  cells: ({ model, view }) => ({
    row: { name: "format", count: arithmetics.length, start: 1, from: 1 },
    column:
      view === "waves"
        ? { name: "offset", count: model.positions.length, start: 21 }
        : { name: "place", count: model.positions.length, start: nearestTo(model.positions, 1e6) },
  }),

  height: ({ view }, width) => (view === "waves" ? 4 * bandHeight(width) + 34 : width < 500 ? 330 : 390),

  draw: (surface, state) => (state.view === "waves" ? drawWaves : drawErrors)(surface, state),

  title: ({ model, view }) =>
    view === "waves"
      ? `${model.chosen.title}, pair ${model.pair}: ${count(waveLength, "position")} from ${book(model.positions[0] as number)}`
      : `How far ${model.chosen.title} is off in four arithmetics, up to position ` +
        book(model.positions[model.positions.length - 1] as number),

  caption: ({ view, model }) => {
    const what = roundedWords(model.recipe);
    if (view === "waves") {
      return (
        `The sine of one pair as it is, a line, and as each arithmetic has it, dots; ${what}. Where a format cannot ` +
        "tell neighbouring positions apart, the dots stand still and jump."
      );
    }
    return (
      `The largest error over all pairs, ${what}. Sines and cosines lie between \u22121\u00a0and\u00a01: an error of 1 is noise. ` +
      growthWords(model.recipe)
    );
  },

  readout: (state) => {
    const { model, view, row, column } = state;
    const line = model.lines[row] as Line;
    const pair = view === "waves" ? model.pair : (line.pairs[column] as number);
    const part = 2 * (column * model.pairs + pair);
    const [value, exact] = [line.values[part] as number, model.exact[part] as number];
    const where = [
      { label: "position", value: book(model.positions[column] as number) },
      { label: "in", value: line.arithmetic },
    ];
    const sine = [
      { label: "sine", value: Number.isNaN(value) ? "overflowed" : book(value, { decimals: 4, signed: true }) },
      { label: "exact", value: book(exact, { decimals: 4, signed: true }) },
    ];
    if (view === "waves") return [...where, ...sine];
    return [
      ...where,
      { label: "largest error", value: errorText(line.worst[column] as number) },
      { label: "in pair", value: String(pair), unit: `(${book(model.wavelengths[pair] as number)} tokens a turn)` },
      { label: `exceeds ${toleranceText(model.tolerance)}`, value: line.first ? since(line.first) : "nowhere here" },
    ];
  },

  summary: ({ model, view }) => {
    const last = model.positions.length - 1;
    if (view === "waves") {
      return (
        `Four strips with the sine of pair ${model.pair} of ${model.chosen.title} at positions ` +
        `${book(model.positions[0] as number)} to ${book(model.positions[last] as number)}. Its largest error in ` +
        `${model.lines.map((line) => `${line.arithmetic} is ${errorText(pairWorst(model, line))}`).join(", in ")}.`
      );
    }
    return (
      `Lines of the largest error of ${model.chosen.title} over the position, both on log scales, up to position ` +
      `${book(model.positions[last] as number)}. ` +
      model.lines
        .map(({ arithmetic, first }) => {
          const what = toleranceText(model.tolerance);
          return first ? `${arithmetic} exceeds ${what} ${since(first)}.` : `${arithmetic} stays within ${what}.`;
        })
        .join(" ")
    );
  },

  table: ({ model, view }) => {
    const waves = view === "waves";
    const at = (values: Float64Array, t: number): number => values[2 * (t * model.pairs + model.pair)] as number;
    return {
      header: ["position", ...(waves ? ["exact"] : []), ...arithmetics],
      rows: model.positions.length,
      cell: (r, c) => {
        if (c === 0) return model.positions[r] as number;
        if (!waves) return model.lines[c - 1]?.worst[r] as number;
        return c === 1 ? at(model.exact, r) : at((model.lines[c - 2] as Line).values, r);
      },
    };
  },

  array: ({ model, view }) => {
    const { exact, lines, pair, pairs, positions } = model;
    if (view === "waves") {
      // The sines that are drawn: as they are, then in each format.
      const sines = [exact, ...lines.map(({ values }) => values)];
      const data = Float64Array.from({ length: sines.length * positions.length }, (_, n) => {
        const t = n % positions.length;
        return sines[Math.floor(n / positions.length)]?.[2 * (t * pairs + pair)] as number;
      });
      return { data, shape: [sines.length, positions.length] };
    }
    const all = new Float64Array(model.lines.length * model.positions.length);
    model.lines.forEach((line, k) => all.set(line.worst, k * model.positions.length));
    return { data: all, shape: [model.lines.length, model.positions.length] };
  },

  code: codeOf,
});

// ---------------------------------------------------------------- the numbers

let known: readonly { slot: "embed" | "rotate"; name: string; title: string }[] | undefined;

// Schemes with frequencies on one axis, found by asking for them.
function turning(): NonNullable<typeof known> {
  known ??= outlines.flatMap(({ slot, name, title, params }) => {
    if (slot !== "embed" && slot !== "rotate") return [];
    try {
      const values = Object.fromEntries(
        params.map((param) => [param.name, param.required ? param.shown?.value : undefined]),
      );
      precisionOf(schemeFrom(slot, name, values) as RotateScheme, [0]);
      return [{ slot, name, title }];
    } catch {
      return [];
    }
  });
  return known;
}

function slotOf(name: string): "embed" | "rotate" {
  return turning().find((scheme) => scheme.name === name)?.slot ?? "rotate";
}

// Whole positions from 1 to 10^decades, each once and else evenly on a log axis; from mantissas of four digits, the
// same everywhere.
function logPlaces(decades: number): Float64Array {
  const mantissas = Array.from({ length: perDecade }, (_, k) => Math.round(1000 * 10 ** (k / perDecade)));
  const places = Array.from({ length: perDecade * decades + 1 }, (_, k) => {
    const power = Number(`1e${Math.floor(k / perDecade)}`);
    return Math.round(((mantissas[k % perDecade] as number) * power) / 1000);
  });
  return Float64Array.from(new Set(places));
}

// The place of the position that is nearest to a wish.
function nearestTo(positions: Float64Array, wish: number, along: (position: number) => number = (p) => p): number {
  const far = (t: number): number => Math.abs(along(positions[t] as number) - wish);
  return positions.reduce((best, _, t) => (far(t) < far(best) ? t : best), 0);
}

// The first position beyond the tolerance: for certain where few come before the first one drawn that is, else the
// first of finer and finer samples. Pauses between searches, at `step`.
function* firstBeyond(
  scheme: Model["chosen"]["scheme"],
  options: { arithmetic: Arithmetic; recipe: PrecisionRecipe; tolerance: number },
  pairs: number,
  drawn: Omit<First, "certain"> | null,
  step: Step,
): Generator<Step, First | undefined> {
  if (!drawn) return undefined;
  const certain = drawn.position * pairs <= mostTried;
  let found = drawn;
  const search = (begin: number, end: number, step: number): boolean => {
    if (end <= begin) return false;
    const { first } = precisionOf(scheme, arange(begin, end, step), options);
    if (first) found = first;
    return first !== null;
  };
  if (certain) {
    let begin = 0;
    while (begin < drawn.position && !search(begin, Math.min(begin + 256, drawn.position), 1)) {
      begin += 256;
      yield step;
    }
  } else {
    // Odd steps: multiples of powers of two are rounded less than others.
    const finer = (): boolean => search(0, found.position, 2 * Math.floor(found.position / 768) + 1);
    for (let round = 0; round < 4 && finer(); round++) yield step;
  }
  return { ...found, certain };
}

function pairWorst(model: Model, line: Line): number {
  let most = 0;
  model.positions.forEach((_, t) => {
    const at = 2 * (t * model.pairs + model.pair);
    const error = Math.abs((line.values[at] as number) - (model.exact[at] as number));
    most = Number.isNaN(error) ? Infinity : Math.max(most, error);
  });
  return most;
}

// ---------------------------------------------------------------- words

// 0.001, and 10⁻⁶ where zeros would be many.
function toleranceText(value: number): string {
  return value >= 1e-3 ? short(value) : tickText(value);
}

function errorText(error: number): string {
  return error === Infinity ? "overflowed" : error === 0 ? "0" : book(error, { significant: 3 });
}

function roundedWords(recipe: PrecisionRecipe): string {
  switch (recipe) {
    case "power":
    case "exponential":
      return "with position, frequency, angle and sine all rounded to the format";
    case "upcast":
      return "with all of it formed in float32 at most and the table rounded to the format";
    case "table":
      return "with nothing but the finished table rounded to the format";
    case "angle":
      return "with the angle rounded to the format before its sine is taken";
    case "frequencies":
      return "with nothing but the frequencies rounded to the format";
    case "positions":
      return "with nothing but the positions rounded to the format";
  }
}

function growthWords(recipe: PrecisionRecipe): string {
  if (recipe === "table") return "It does not grow with the position: a table may be rounded, an angle may not.";
  if (recipe === "positions")
    return "All is well until whole numbers no longer fit the format; from there on it is noise.";
  return "What is rounded errs in proportion to the position, so the lines climb; formats differ in where they start.";
}

// ---------------------------------------------------------------- errors

const lowest = 1e-17;
const highest = 3;

function drawErrors(surface: Surface, { model, row, column }: Drawn): void {
  const { narrow, width, height } = surface;
  const { positions, lines, tolerance } = model;
  const end = positions[positions.length - 1] as number;
  const at = positions[column] as number;
  // A line ends where its format overflows; beyond its ends an error lies on them.
  const errors = (line: Line): number[] =>
    Array.from(line.worst, (error) => (error < Infinity ? Math.max(lowest, Math.min(highest, error)) : Number.NaN));
  const order = [...lines.keys()].filter((k) => k !== row).concat(row);
  const here = errors(lines[row] as Line)[column] as number;
  const { plot, x, y } = drawChart(surface, {
    box: { x: 0, y: 6, width, height: height - 8 },
    x: { min: 1, max: end, log: true, wish: narrow ? 5 : 9, tick: powerText },
    y: {
      min: lowest,
      max: highest,
      log: true,
      wish: narrow ? 5 : 9,
      tick: (v) => powerOfTen(Math.round(exponentOf(v))),
    },
    lines: [
      {
        x: [1, end],
        y: [tolerance, tolerance],
        ink: "ink",
        dash: [4, 3],
        alpha: 0.7,
        name: narrow ? "tolerance" : `tolerance ${toleranceText(tolerance)}`,
      },
      ...order.map((k) => ({
        x: positions,
        y: errors(lines[k] as Line),
        ink: inks[k] as Ink,
        width: k === row ? 2.2 : 1.3,
        // Where two colours are nearly one, on paper and where the reader forces them.
        ...(inks[k] === "ink" ? { dash: [6, 2] } : {}),
        name: narrow ? (lines[k] as Line).arithmetic : nameOf(lines[k] as Line),
      })),
    ],
    cursor: {
      at,
      name: narrow ? book(at) : `position ${book(at)}`,
      ink: "ink",
      dots: [{ y: here, ink: inks[row] as Ink }],
    },
  });
  for (const k of order) {
    const { worst, first } = lines[k] as Line;
    const ink = inks[k] as Ink;
    const lost = worst.findIndex((error) => error === Infinity);
    if (lost > 0)
      drawCross(
        surface,
        x.place(positions[lost - 1] as number),
        y.place(errors(lines[k] as Line)[lost - 1] as number),
        ink,
      );
    // Where it leaves the tolerance behind.
    if (first) surface.disc(x.place(Math.max(1, first.position)), y.place(tolerance), k === row ? 4 : 3, { fill: ink });
  }
  surface.region(plot, (u, v) => {
    const c = nearestTo(positions, plot.x + u * plot.width, x.place);
    const py = plot.y + v * plot.height;
    const far = (k: number): number => {
      const place = y.place(errors(lines[k] as Line)[c] as number);
      return Number.isNaN(place) ? 1e6 : Math.abs(place - py);
    };
    const nearest = [...lines.keys()].reduce((best, k) => (far(k) < far(best) ? k : best));
    return { row: nearest, column: c };
  });
}

function exponentOf(power: number): number {
  return Number(power.toExponential().split("e")[1]);
}

function powerText(value: number): string {
  return value < 1e4 ? book(value) : powerOfTen(exponentOf(value));
}

function since({ position, certain }: First): string {
  return `from ${certain ? "" : "about "}${book(position)}`;
}

// "It" is the tolerance, a line among these names.
function nameOf({ arithmetic, first }: Line): string {
  return `${arithmetic} ${first ? `above it at ${book(first.position)}` : "below it"}`;
}

function drawCross(surface: Surface, x: number, y: number, ink: Ink): void {
  surface.path([x - 4, y - 4, x + 4, y + 4, Number.NaN, Number.NaN, x - 4, y + 4, x + 4, y - 4], {
    stroke: ink,
    width: 1.5,
  });
}

// ---------------------------------------------------------------- waves

function bandHeight(width: number): number {
  return width < 500 ? 74 : 82;
}

function drawWaves(surface: Surface, { model, row, column }: Drawn): void {
  const { narrow, width } = surface;
  const { positions, lines, exact, pairs, pair } = model;
  const [left, right] = [26, narrow ? 8 : 150];
  const plot = width - left - right;
  const band = bandHeight(width);
  const reach = band / 2 - 13;
  const total = positions.length;
  const x = (t: number): number => left + (t * plot) / (total - 1);
  const part = (t: number): number => 2 * (t * pairs + pair);
  const foot = band * lines.length + 4;
  surface.path([x(column), 6, x(column), foot], { stroke: "faint" });
  lines.forEach((line, k) => {
    const middle = band * k + band / 2 + 7;
    const [own, ink] = [k === row, inks[k] as Ink];
    const y = (value: number): number => middle - reach * value;
    surface.path([left, middle, left + plot, middle], { stroke: "faint" });
    const curve = new Float64Array(2 * total);
    for (let t = 0; t < total; t++) curve.set([x(t), y(exact[part(t)] as number)], 2 * t);
    surface.path(curve, { stroke: "grey", alpha: 0.6 });
    for (let t = 0; t < total; t++) {
      const value = line.values[part(t)] as number;
      if (Number.isNaN(value)) continue;
      surface.disc(x(t), y(value), t === column && own ? 4 : 2, { fill: ink });
    }
    const worst = pairWorst(model, line);
    const words = worst === Infinity ? "overflows" : `off by ${errorText(worst)}`;
    if (narrow) {
      drawPlate(surface, left, band * k + 8, line.arithmetic, { ink, bold: own, size: 11 });
      drawPlate(surface, left + plot, band * k + 8, words, { align: "end", size: 11 });
    } else {
      surface.text(left + plot + 16, middle - 8, line.arithmetic, { ink, bold: own });
      surface.text(left + plot + 16, middle + 8, words);
    }
    if (k === 0) for (const u of [-1, 1]) surface.text(left - 8, y(u), book(u), { align: "end", size: 11 });
    surface.region({ x: left, y: band * k + 4, width: plot, height: band }, (u) => ({
      row: k,
      column: Math.round(u * (total - 1)),
    }));
  });
  const name = `${narrow ? "" : "position "}${book(positions[column] as number)}`;
  const half = surface.textWidth(name) / 2;
  const at = Math.max(half, Math.min(width - half, x(column)));
  for (const t of indexTicks(total, plot, narrow ? 100 : 150)) {
    const label = book(positions[t] as number);
    const wide = surface.textWidth(label) / 2;
    const place = Math.max(wide, x(t));
    if (Math.abs(place - at) > half + wide + 8 && place + wide < width) {
      surface.text(place, foot + 16, label, { align: "middle" });
    }
  }
  surface.text(at, foot + 16, name, { ink: "ink", align: "middle" });
}

// ---------------------------------------------------------------- code

function codeOf({ values, model, view }: Drawn): Code {
  const { name, code: made } = model.chosen;
  const { positions, recipe, tolerance, pair } = model;
  const waves = view === "waves";
  const [start, end] = [positions[0] as number, (positions[0] as number) + positions.length];
  const list = waves ? undefined : `[${Array.from(positions).join(", ")}]`;
  const names = [...(waves ? ["arange"] : []), "precision", name].join(", ");
  const options = [
    "arithmetic",
    ...(recipe === "power" ? [] : [`recipe: ${JSON.stringify(recipe)}`]),
    ...(tolerance === 0.001 || waves ? [] : [`tolerance: ${tolerance}`]),
  ];
  const javascript = [
    `import { ${names} } from "posenc";`,
    "",
    `const positions = ${list ?? `arange(${start}, ${end})`};`,
    `const reports = ${JSON.stringify(arithmetics).replace(/,/g, ", ")}.map((arithmetic) =>`,
    `  precision(${made}, positions, { ${options.join(", ")} }));`,
    ...(waves
      ? [
          `const sine = (of) => [...positions].map((_, t) => of.at(t, ${pair}, 0));`,
          "const sines = [sine(reports[0].exact), ...reports.map((report) => sine(report.values))];",
        ]
      : [
          "const worst = reports.map((report) => report.worst);  // the largest error of each position",
          "const first = reports.map((report) => report.first);  // of these, the first beyond the tolerance",
        ]),
    "",
  ].join("\n");
  const where = list ?? `np.arange(${start}, ${end})`;
  return {
    javascript,
    numpy: async () => {
      const { precisionNumpy } = await import("./numpy-programs.js");
      return precisionNumpy(values, model, where, waves, arithmetics.join(", "));
    },
  };
}
