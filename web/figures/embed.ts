// <posenc-embed>: an embedding table as the stripes of a heat map, as waves over position, as clock hands.
import { arange, encode, frequencies, fromJSON, type EmbedScheme } from "../src/core.js";
import {
  choice,
  cursorField,
  defineFigure,
  range,
  text,
  type Code,
  type State,
  type Values,
} from "./figure.js";
import { book, count, lowered } from "./format.js";
import { givenScheme } from "./given-data.js";
import { gridField, gridOf, gridSentence, type Grid } from "./grid-cells.js";
import { Lens } from "./lens.js";
import { magnitude } from "./magnitude.js";
import { drawPlate, hasRoom, wholeTicks } from "./marks.js";
import { drawMatrix, matrixHeight } from "./matrix.js";
import { refuseValue, requireWithin } from "./refusal.js";
import {
  chosenScheme,
  descriptorOf,
  schemeChooser,
  schemeFields,
  type ChosenScheme,
} from "./scheme-fields.js";
import { seededWords } from "./sized-schemes.js";
import type { Surface } from "./surface.js";

/** What a column of a table of sines and cosines holds. */
interface Role {
  pair: number;
  part: "sine" | "cosine";
}

interface Model {
  chosen: ChosenScheme<EmbedScheme>;
  values: Float32Array;
  rows: number;
  columns: number;
  /** Position of row 0. */
  start: number;
  /** The end of the colour map: the largest magnitude, 1 where sines and cosines come near it. */
  extent: number;
  /** Whose cells the positions are. */
  grid: Grid | undefined;
  /** Tokens a pair takes for one turn; none for schemes without frequencies. */
  wavelengths: readonly number[];
  /** By column; undefined where a column belongs to no pair. */
  roles: readonly (Role | undefined)[];
}

type Drawn = State<Model>;

const mostCircles = 48;
const mostWaves = 12;
const mostPositions = 8192;
// What a page makes and draws within about a second.
const mostCells = 2 ** 24;
// Positions from here on have no room at an axis: they are told from the first one.
const longPositions = 1e9;

export const embed = defineFigure<Model>({
  name: "embed",
  attributes: {
    scheme: 'The embed scheme, "sinusoidal" by default.',
    positions: "How many positions, 1 to 8192; 96 by default.",
    start: "The first position, from -2^53 to 2^53 - positions; 0 by default.",
    dim: "The width of the encoding; positions times dim at most 2^24.",
    base: "The base of the wavelengths.",
    layout: "How the columns are laid out.",
    cells: gridSentence,
    view: "heatmap, waves or circle.",
    waves: 'Dimensions drawn as waves, such as "0 4 8 12", at most 12; four of them, evenly spaced, by default.',
    position: "The position of the cursor.",
    dimension: "The dimension of the cursor.",
  },

  tabs: (_, model) => {
    const views = [
      { value: "heatmap", label: "heat map" },
      { value: "waves", label: "waves" },
    ];
    const pairs = !model || model.roles.some((role) => role !== undefined);
    return choice(
      "view",
      "view",
      "heatmap",
      pairs ? [...views, { value: "circle", label: "circles" }] : views,
    );
  },

  fields: (values) => {
    const scheme = String(values.scheme ?? "sinusoidal");
    const positions = Number(values.positions ?? 96);
    const start = Number(values.start ?? 0);
    const order = values.order === "cos-sin" ? "cos\u2013sin" : "sin\u2013cos";
    const layouts = [
      { value: "interleaved", label: `interleaved, ${order}` },
      { value: "half", label: `halves, ${order}` },
    ];
    return [
      values.view === "circle"
        ? range("position", "position", undefined, start, start + positions - 1, {
            integer: true,
            least: null,
            most: null,
            play: true,
          })
        : cursorField("position", "The position of the cursor."),
      schemeChooser("embed", "sinusoidal"),
      range("positions", "positions", 96, 8, 256, {
        integer: true,
        least: 1,
        most: mostPositions,
        place: String(values.cells ?? "") === "" ? "row" : "none",
      }),
      gridField(),
      ...schemeFields(descriptorOf("embed", scheme), {
        values,
        row: ["dim", "base", "layout"],
        change: { dim: { label: "dimensions" }, layout: { choices: layouts } },
      }),
      range("start", "first position", 0, 0, 1e6, { least: -(2 ** 53), most: 2 ** 53, place: "none" }),
      text("waves", "dimensions shown", "", { place: values.view === "waves" ? "more" : "none", maxLength: 200 }),
      cursorField("dimension", "The dimension of the cursor."),
    ];
  },

  compute: (values, data) => {
    const cells = gridOf(values, mostPositions);
    const start = cells ? 0 : Number(values.start ?? 0);
    const listed = listedWaves(values);
    requireWithin("start", start, cells ? 0 : Number(values.positions));
    const made = longEnough(values);
    const given = givenScheme(data, ["embed"]);
    requireFew(made, cells?.cells ?? Number(values.positions), given);
    const chosen = chosenScheme("embed", made, given);
    const { scheme } = chosen;
    const table = encode(scheme, cells?.positions ?? arange(start, start + Number(values.positions)));
    const [rows = 0, columns = 0] = table.shape;
    const beyond = values.view === "waves" ? listed.find((c) => c >= columns) : undefined;
    if (beyond !== undefined)
      refuseValue("out-of-range", "waves", `dimensions from 0 to ${columns - 1}`, String(beyond));
    const data32 = table.data as Float32Array;
    const most = magnitude(data32) || 1;
    const extent = most > 0.9 && most < 1 ? 1 : most;
    return { chosen, values: data32, rows, columns, start, extent, grid: cells, ...pairsOf(scheme, columns) };
  },

  lens: Lens,

  cells: ({ view, model }) => ({
    row: { name: "position", count: model.rows, start: Math.floor(0.39 * model.rows), from: model.start },
    column: { name: "dimension", count: model.columns, start: Math.floor(0.35 * model.columns) },
    transposed: view === "waves",
    zoom: view === "heatmap",
    below: view === "circle" ? (column, by, width) => dialBelow(model, column, by, width) : undefined,
  }),

  height: ({ view, values, model, column }, width) => {
    if (view === "waves") return 30 + bandHeight(width) * chosenWaves(values, model, column).length;
    if (view === "circle") return dials(model, width).height;
    return matrixHeight(width);
  },

  draw: (surface, state) => {
    if (state.view === "waves") drawWaves(surface, state);
    else if (state.view === "circle") drawCircles(surface, state);
    else {
      const { model, row, column, part } = state;
      drawMatrix(surface, {
        part,
        values: model.values,
        rows: model.rows,
        columns: model.columns,
        row,
        column,
        scale: { kind: "signed", extent: model.extent },
        rowAxis: {
          label: far(model) ? "after the first position" : "position",
          name: nameOf(model, row),
          tick: (i) => placeOf(model, i),
        },
        columnAxis: { name: `dimension ${column}`, binary: true },
      });
    }
  },

  title: ({ model }) =>
    `${model.chosen.title} encoding, ${count(model.rows, "position")}` +
    `${model.start === 0 ? " " : ` from ${book(model.start)}\u00a0`}\u00d7\u00a0${count(model.columns, "dimension")}`,

  caption: ({ view, model }) => {
    if (view === "waves")
      return "Each band is one dimension over position: neighbours differ in the fast ones, far places in slow ones.";
    const total = model.wavelengths.length;
    if (view === "circle") {
      const shown = shownPairs(model).length;
      return (
        "Each pair of dimensions is a clock hand, sine to the right and cosine upwards; the number below is how many " +
        `tokens it takes for one turn.${shown < total ? ` Drawn are ${book(shown)} of ${count(total, "pair")}.` : ""}`
      );
    }
    const { grid } = model;
    const what = grid
      ? `The positions are the cells of a grid of ${grid.height} by ${grid.width}, row by row. `
      : total > 0
        ? `Sines and cosines of ${count(total, "wavelength")}. `
        : "";
    const keys = "Arrow keys move the cross-hair; the column at the right and the row below are read out along it.";
    return `${seededWords(model.chosen)}${what}${keys}`;
  },

  readout: ({ model, row, column }) => {
    const role = model.roles[column];
    const wavelength = role && model.wavelengths[role.pair];
    const { grid } = model;
    return [
      { label: "position", value: book(model.start + row) },
      ...(grid ? [{ label: "cell", value: `(${Math.floor(row / grid.width)}, ${row % grid.width})` }] : []),
      { label: "dimension", value: String(column), ...(role ? { unit: `(${role.part} of pair ${role.pair})` } : {}) },
      ...(wavelength === undefined
        ? []
        : [{ label: "wavelength", value: book(wavelength, { significant: 4 }), unit: "tokens" }]),
      { label: "value", value: book(valueAt(model, row, column), { decimals: 4, signed: true }) },
    ];
  },

  summary: ({ values, model, view }) => {
    const drawing =
      view === "waves"
        ? "Waves over position"
        : view === "circle"
          ? "Clock hands, one a pair of dimensions,"
          : "Heat map";
    const first = model.wavelengths[0];
    const last = model.wavelengths[model.wavelengths.length - 1];
    const turns =
      first === undefined || last === undefined
        ? ""
        : ` The first pair of dimensions turns once in ${book(first, { significant: 4 })} tokens, the last in ` +
          `${book(last, { significant: 4 })}.`;
    return (
      `${drawing} of the ${lowered(model.chosen.title)} encoding of positions ` +
      `${book(model.start)} to ${book(model.start + model.rows - 1)} in ${count(model.columns, "dimension")}.${turns}`
    );
  },

  table: ({ model }) => ({
    header: ["position", ...Array.from({ length: model.columns }, (_, c) => `d${c}`)],
    rows: model.rows,
    cell: (r, c) => (c === 0 ? model.start + r : valueAt(model, r, c - 1)),
  }),

  array: ({ model }) => ({ data: model.values, shape: [model.rows, model.columns] }),

  code: ({ values, model }) => codeOf(values, model),
});

function valueAt(model: Model, row: number, column: number): number {
  return model.values[row * model.columns + column] as number;
}

function far({ start, rows }: Model): boolean {
  return Math.max(Math.abs(start), Math.abs(start + rows)) > longPositions;
}

// A position as the drawing has room for it.
function placeOf(model: Model, row: number): string {
  return far(model) ? book(row, { signed: true }) : book(model.start + row);
}

function nameOf(model: Model, row: number): string {
  return far(model) ? `first position ${row === 0 ? "" : placeOf(model, row)}`.trimEnd() : `position ${placeOf(model, row)}`;
}

// A table has a row for each position drawn.
function requireFew(values: Values, positions: number, given: EmbedScheme | undefined): void {
  const dim = Number((given as { dim?: unknown } | undefined)?.dim ?? values.dim);
  // A table of the figure's own is made from position 0 on, drawn or not.
  const rows = given ? positions : Math.max(positions, Number(values.length ?? 0));
  if (!(rows * dim > mostCells)) return;
  const drawn = rows === positions ? "" : ", for its table begins at position 0";
  const got = `${book(rows)} \u00d7 ${book(dim)}${drawn}`;
  const sentence = `positions times dim must be at most ${book(mostCells)}, got ${got}.`;
  refuseValue("too-large", "positions", `at most ${Math.floor(mostCells / dim)}`, rows, sentence);
}

function longEnough(values: Values): Values {
  const { params } = descriptorOf("embed", String(values.scheme));
  if (!params.some(({ name }) => name === "length")) return values;
  const rows = Math.ceil(Number(values.start ?? 0) + Number(values.positions));
  return { ...values, length: Math.max(rows, Number(values.length ?? 0)) };
}

// Which column is whose sine or cosine, read off the table itself: at position 0 a sine is 0 and a cosine is not, and
// the k-th of either belongs to pair k in every layout.
function pairsOf(scheme: EmbedScheme, columns: number): Pick<Model, "wavelengths" | "roles"> {
  let wavelengths: number[];
  try {
    wavelengths = Array.from(frequencies(scheme).wavelength as Iterable<number>);
  } catch {
    return { wavelengths: [], roles: [] };
  }
  const { padIndex: _, ...unpadded } = scheme.toJSON();
  const origin = encode(fromJSON(unpadded) as EmbedScheme, [0]).data;
  const seen = { sine: 0, cosine: 0 };
  const roles = Array.from({ length: columns }, (_, c): Role | undefined => {
    const part = origin[c] === 0 ? "sine" : "cosine";
    const pair = seen[part]++;
    return pair < wavelengths.length ? { pair, part } : undefined;
  });
  return { wavelengths, roles };
}

// ---------------------------------------------------------------- waves

function bandHeight(width: number): number {
  return width < 500 ? 70 : 76;
}

// The dimensions that the attribute lists; throws at what is none.
function listedWaves(values: Values): number[] {
  const words = String(values.waves ?? "")
    .split(/[\s,]+/)
    .filter((word) => word !== "");
  if (words.length > mostWaves) {
    const allowed = `at most ${mostWaves} dimensions`;
    refuseValue("too-large", "waves", allowed, words.length, `waves must be ${allowed}.`);
  }
  return words.map((word) => {
    if (/^\d+$/.test(word)) return Number(word);
    return refuseValue("not-integer", "waves", "dimensions such as \u201c0 4 8 12\u201d", word);
  });
}

// The dimensions drawn, the cursor's among them, in order.
function chosenWaves(values: Values, model: Model, column: number): number[] {
  const listed = listedWaves(values);
  const quarter = Math.max(1, Math.floor(model.columns / 4));
  const even = [0, 1, 2, 3].map((k) => k * quarter).filter((c) => c < model.columns);
  return [...new Set([...(listed.length > 0 ? listed : even), column])].sort((a, b) => a - b);
}

function drawWaves(surface: Surface, { model, values, row, column }: Drawn): void {
  const { narrow, width } = surface;
  const ends = [-1, 1].map((u) => ({ u, text: book(u * model.extent, { significant: 3 }) }));
  const left = Math.max(26, 10 + Math.max(...ends.map(({ text }) => surface.textWidth(text, { size: 11 }))));
  const right = narrow ? 8 : 150;
  const plot = width - left - right;
  const chosen = chosenWaves(values, model, column);
  const band = bandHeight(width);
  const reach = band / 2 - (narrow ? 16 : 10);
  const x = (i: number): number => left + (model.rows > 1 ? (i * plot) / (model.rows - 1) : plot / 2);
  const foot = band * chosen.length;
  surface.path([x(row), 0, x(row), foot], { stroke: "accent" });
  chosen.forEach((c, k) => {
    const middle = band * k + band / 2 + (narrow ? 8 : 0);
    const own = c === column;
    const ink = own ? "cool" : "ink";
    const y = (i: number): number => middle - (reach * valueAt(model, i, c)) / model.extent;
    surface.path([left, middle, left + plot, middle], { stroke: "faint" });
    for (const { u, text } of k === 0 ? ends : []) {
      surface.text(left - 8, middle - reach * u, text, { align: "end", size: 11 });
    }
    const points = new Float64Array(2 * model.rows);
    for (let i = 0; i < model.rows; i++) points.set([x(i), y(i)], 2 * i);
    surface.path(points, { stroke: ink, width: own ? 1.8 : 1.2, alpha: own ? 1 : 0.75 });
    if (plot / model.rows > 7) {
      for (let i = 0; i < model.rows; i++) surface.disc(x(i), y(i), 1.8, { fill: ink });
    }
    surface.disc(x(row), y(row), 3.4, { fill: own ? "cool" : "accent" });
    const wavelength = model.wavelengths[model.roles[c]?.pair ?? -1];
    const turn = wavelength === undefined ? "" : `${book(wavelength, { significant: 4 })} tokens`;
    if (narrow) {
      drawPlate(surface, left, band * k + 9, `dimension ${c}`, { ink: own ? "cool" : "ink", size: 11 });
      drawPlate(surface, left + plot, band * k + 9, turn, { align: "end", size: 11 });
    } else {
      surface.text(left + plot + 16, middle - 8, `dimension ${c}`, { ink: own ? "cool" : "ink" });
      surface.text(left + plot + 16, middle + 8, turn);
    }
    surface.region({ x: left, y: band * k, width: plot, height: band }, (u) => ({
      row: Math.round(u * (model.rows - 1)),
      column: c,
    }));
  });
  const name = nameOf(model, row);
  const half = surface.textWidth(name) / 2;
  const middle = Math.max(half, Math.min(width - half, x(row)));
  const from = far(model) ? 0 : model.start;
  const widest = surface.textWidth(placeOf(model, model.rows - 1));
  for (const value of wholeTicks(from, from + model.rows - 1, Math.min(8, Math.floor(plot / (widest + 24))))) {
    const [place, label] = [x(value - from), placeOf(model, value - from)];
    // The name of the cursor's position stands among the ticks; those under it give way.
    if (hasRoom(surface, label, place, name, middle)) surface.text(place, foot + 14, label, { align: "middle" });
  }
  surface.text(middle, foot + 14, name, { ink: "accent", align: "middle" });
}

// ---------------------------------------------------------------- circles

interface Dials {
  /** Pairs shown: all, or evenly spaced ones. */
  pairs: readonly number[];
  perRow: number;
  side: number;
  height: number;
}

// All pairs, or evenly spaced ones with `own` in place of its neighbour.
function shownPairs({ wavelengths }: Model, own?: number): number[] {
  const total = wavelengths.length;
  const step = Math.max(1, Math.ceil(total / mostCircles));
  const pairs = Array.from({ length: Math.ceil(total / step) }, (_, k) => k * step);
  if (own !== undefined) pairs[Math.floor(own / step)] = own;
  return pairs;
}

function dials(model: Model, width: number, own?: number): Dials {
  const pairs = shownPairs(model, own);
  const most = Math.max(1, Math.floor(width / (width < 500 ? 58 : 68)));
  const rows = Math.max(1, Math.ceil(pairs.length / most));
  const perRow = Math.max(1, Math.ceil(pairs.length / rows));
  const side = Math.min(width / perRow, 150);
  return { pairs, perRow, side, height: Math.round(rows * (side + 16)) + 4 };
}

// The same part of the pair that stands below, or above; undefined past the first and the last line.
function dialBelow(model: Model, column: number, by: number, width: number): number | undefined {
  const role = model.roles[column];
  const { pairs, perRow } = dials(model, width, role?.pair);
  const pair = pairs[pairs.findIndex((one) => one === role?.pair) + by * perRow];
  const to = model.roles.findIndex((one) => one?.part === role?.part && one?.pair === pair);
  return role && pair !== undefined ? to : undefined;
}

function drawCircles(surface: Surface, { model, row, column }: Drawn): void {
  const chosen = model.roles[column]?.pair;
  const { pairs, perRow, side } = dials(model, surface.width, chosen);
  const radius = side / 2 - 7;
  const columnsOf = (pair: number): [number, number] => [
    model.roles.findIndex((role) => role?.pair === pair && role.part === "sine"),
    model.roles.findIndex((role) => role?.pair === pair && role.part === "cosine"),
  ];
  pairs.forEach((pair, k) => {
    const [sine, cosine] = columnsOf(pair);
    const left = (k % perRow) * side;
    const top = Math.floor(k / perRow) * (side + 16);
    const [x, y] = [left + side / 2, top + side / 2];
    const own = pair === chosen;
    surface.disc(x, y, radius, { stroke: own ? "cool" : "faint" });
    surface.path([x, y - radius, x, y - radius + 4], { stroke: "grey" });
    if (sine >= 0 && cosine >= 0) {
      const at = (r: number): [number, number] => [
        x + (radius * valueAt(model, r, sine)) / model.extent,
        y - (radius * valueAt(model, r, cosine)) / model.extent,
      ];
      // The last places of the hand, fading.
      for (let back = Math.min(row, 8); back > 0; back--) {
        const [px, py] = at(row - back);
        surface.disc(px, py, 1.6, { fill: own ? "cool" : "accent", alpha: 0.62 - 0.065 * back });
      }
      const [hx, hy] = at(row);
      surface.path([x, y, hx, hy], { stroke: own ? "cool" : "ink", width: own ? 2 : 1.4 });
      surface.disc(hx, hy, own ? 3.4 : 2.8, { fill: own ? "cool" : "accent" });
    }
    const wavelength = book(model.wavelengths[pair] ?? Number.NaN, { significant: 3 });
    surface.text(x, top + side + 5, wavelength, { align: "middle", size: 11, ink: own ? "cool" : "grey" });
    surface.region({ x: left, y: top, width: side, height: side + 16 }, () => ({
      column: own ? column : Math.max(sine, 0),
    }));
  });
}

// ---------------------------------------------------------------- code

function codeOf(values: Values, model: Model): Code {
  const { name: scheme, code: made } = model.chosen;
  const cells = gridOf(values, mostPositions);
  const counted = model.start === 0 ? String(model.rows) : `arange(${model.start}, ${model.start + model.rows})`;
  const positions = cells?.code ?? counted;
  const names = [scheme, "encode", ...(/^[a-z]+/.exec(positions) ?? [])].join(", ");
  const javascript =
    `import { ${names} } from "posenc";\n\n` +
    `const table = encode(${made}, ${positions});  // [${model.rows}, ${model.columns}]\n`;
  return {
    javascript,
    numpy: async () => {
      const { tableNumpy } = await import("./numpy-programs.js");
      return cells ? undefined : tableNumpy(model.chosen.scheme, model.rows, model.start);
    },
  };
}
