// <posenc-shift>: moving every position by k is one matrix. One pair on its circle with its 2 x 2 part, how exactly the
// matrix moves all positions, and the whole of it.
import { readAll } from "../src/error.js";
import { shiftError, shiftMatrix } from "../src/analysis/index.js";
import { arange, encode, frequencies, rotate, tensor, type RotateScheme } from "../src/core.js";
import { inSteps } from "./background.js";
import { drawChart } from "./chart.js";
import {
  choice,
  cursorField,
  defineFigure,
  range,
  type Code,
  type Reading,
  type State,
  type Values,
} from "./figure.js";
import { book, count, lowered, tickText } from "./format.js";
import { brokenLines, labelSize } from "./marks.js";
import { drawMatrix, matrixHeight } from "./matrix.js";
import { refuseValue, requireWithin } from "./refusal.js";
import { schemeFields, type ChosenScheme } from "./scheme-fields.js";
import type { Ink, Surface } from "./surface.js";
import { chosenTurning, turningChooser, turningDescriptor, type Turning } from "./turning.js";

export interface Model {
  chosen: ChosenScheme<Turning>;
  title: string;
  k: number;
  positions: number;
  dim: number;
  /** The two columns of each pair. */
  pairs: readonly (readonly [number, number])[];
  wavelengths: ArrayLike<number>;
  /** The blocks of M(k), [pairs, 2, 2]; all else of it is the identity. */
  blocks: Float64Array;
  /** M(k), [dim, dim]; of the whole matrix's view. */
  matrix: Float64Array | undefined;
  /** p at t, and at t + k, [dim] each. */
  at: (t: number) => { row: Float64Array; moved: Float64Array };
  /** The largest entry of |M p(t) - p(t + k)|, by t. */
  errors: Float64Array;
  worst: number;
  /** The length of a hand. */
  reach: number;
  /** Tokens in all, for rules that depend on it. */
  length: number;
}

type Drawn = State<Model>;

const mostPositions = 4096;
const lastBit = 2 ** -52;
const traceSteps = 96;

const mostDim = 8192;
// Of a wider matrix a pixel would show the mean of a block and the zeros around it: the paper.
const mostDrawn = 2048;

// Numbers of p that take longer than a page should wait, and those of one slice.
const muchWork = 2 ** 17;
const blockWork = 2 ** 16;

const isLong = ({ dim, positions }: Values, data: unknown): boolean =>
  Number((data as { dim?: unknown } | undefined)?.dim ?? dim) * Number(positions) > muchWork;

export const shift = defineFigure<Model>({
  name: "shift",
  attributes: {
    scheme: 'The scheme: "sinusoidal" (the default) or "rope".',
    dim: "The width, two columns a pair, at most 8192, of the whole matrix 2048; 16 by default.",
    base: "The base of the wavelengths.",
    offset: "By how many positions k all is moved, from -2^53 to 2^53 - positions; 5 by default.",
    positions: "For how many positions the error is drawn, 1 to 4096; 256 by default.",
    view: "pair or matrix.",
    position: "The position t under the cursor.",
    pair: "The pair on the circle, from 0.",
    row: "The row of the matrix under the cursor.",
    column: "The column of the matrix under the cursor.",
  },

  tabs: () =>
    choice("view", "view", "pair", [
      { value: "pair", label: "one pair" },
      { value: "matrix", label: "whole matrix" },
    ]),

  fields: (values) => {
    // The view says how wide a scheme may be.
    if (values.view === undefined) return [];
    const positions = Number(values.positions ?? 256);
    const onePair = values.view !== "matrix";
    const pairs = Math.floor(Number(values.dim ?? 16) / 2);
    const where = { integer: true, least: null, most: null };
    const write = (value: number): string => book(value);
    return [
      range("offset", "moved by k", 5, -64, 64, {
        step: 1,
        least: -(2 ** 53),
        most: 2 ** 53,
        format: write,
      }),
      ...(onePair
        ? [
            range("position", "position t", undefined, 0, positions - 1, { ...where, play: true, format: write }),
            range("pair", "pair", undefined, 0, Math.max(1, pairs - 1), where),
          ]
        : [cursorField("position", "The position."), cursorField("pair", "The pair.")]),
      turningChooser("shift", "sinusoidal", (scheme) => void shiftMatrix(scheme, 1)),
      ...schemeFields(turningDescriptor(String(values.scheme ?? "sinusoidal")), {
        values,
        row: ["dim", "base"],
        start: { dim: 16 },
        change: { dim: { label: "dimensions", max: 64, step: 2, most: onePair ? mostDim : mostDrawn } },
      }),
      range("positions", "positions", 256, 16, 1024, { integer: true, least: 1, most: mostPositions, place: "more" }),
      cursorField("row", "The row of the matrix."),
      cursorField("column", "The column of the matrix."),
    ];
  },

  ...inSteps(function* (values, data) {
    const chosen = chosenTurning(values, data);
    const { scheme } = chosen;
    const k = Number(values.offset);
    const positions = Number(values.positions);
    requireWithin("offset", k, positions);
    const length = Math.max(1, positions, positions + k);
    const blocks = shiftMatrix(scheme, k, { length, blocks: true }).data as Float64Array;
    const dim = widthOf(scheme);
    const whole = values.view === "matrix";
    if (whole && dim > mostDrawn) {
      refuseValue("too-large", "data", `of at most ${mostDrawn} columns where the whole matrix is drawn`, dim);
    }
    const matrix = whole ? (shiftMatrix(scheme, k, { length }).data as Float64Array) : undefined;
    const pairs = pairsOf(scheme, dim);
    const errors = new Float64Array(positions);
    const some = Math.max(1, Math.floor(blockWork / dim));
    for (let first = 0; first < positions; first += some) {
      yield { done: first, total: positions };
      const places = arange(first, Math.min(positions, first + some));
      errors.set(shiftError(scheme, k, places, { length }).data as Float64Array, first);
    }
    let last: ReturnType<Model["at"]> & { t: number } | undefined;
    const at: Model["at"] = (t) => {
      if (last?.t === t) return last;
      const rows = rowsAt(scheme, Float64Array.of(t, t + k), dim, length);
      return (last = { t, row: rows.subarray(0, dim), moved: rows.subarray(dim) });
    };
    const { row } = at(0);
    const [a, b] = pairs[0] as readonly [number, number];
    return {
      chosen,
      title: chosen.title,
      k,
      positions,
      dim,
      pairs,
      wavelengths: frequencies(scheme, { length }).wavelength,
      blocks,
      matrix,
      at,
      errors,
      worst: errors.reduce((most, error) => Math.max(most, error), 0),
      reach: Math.sqrt((row[a] as number) ** 2 + (row[b] as number) ** 2) || 1,
      length,
    };
  }, isLong),

  cells: ({ view, model }) =>
    view === "matrix"
      ? {
          row: { name: "row", count: model.dim, start: Math.min(2, model.dim - 1) },
          column: { name: "column", count: model.dim, start: Math.min(3, model.dim - 1) },
        }
      : {
          row: { name: "position", count: model.positions, start: Math.min(3, model.positions - 1) },
          column: { name: "pair", count: model.pairs.length, start: Math.min(1, model.pairs.length - 1) },
          transposed: true,
        },

  height: ({ view }, width) => (view === "matrix" ? matrixHeight(width, 0.62) : sheetOf(width).height),

  draw: (surface, state) => {
    if (state.view === "matrix") drawWhole(surface, state);
    else drawPair(surface, state);
  },

  title: ({ model, view }) => {
    const by = `${model.title}, every position moved by ${book(model.k, { signed: true })}`;
    const size = `${model.dim}\u00a0\u00d7\u00a0${model.dim}`;
    return view === "matrix" ? `${by}: the matrix M(k), ${size}` : `${by}: p(t\u2009+\u2009k) = M(k)\u2009p(t)`;
  },

  caption: ({ view, model }) => {
    if (view === "matrix") {
      return (
        "Two columns mix only with each other: the matrix is a turn of each pair by k times its frequency, and " +
        `nothing else. The same ${book(model.dim ** 2)} numbers move every position.`
      );
    }
    return (
      "M(k) turns the hand at t to the hand at t\u00a0+\u00a0k; t does not stand in it, so the same numbers move every " +
      "position. Below, what is left for each of them: the rounding of doubles, at\u00a0any\u00a0t."
    );
  },

  readout: (state) => (state.view === "matrix" ? matrixReadings(state) : pairReadings(state)),

  summary: ({ model, view }) =>
    view === "matrix"
      ? `Heat map of the matrix that moves ${lowered(model.title)} by ${book(model.k)} positions, ${count(model.dim, "row")} ` +
        "and columns: zero but for a block of two by two for each pair."
      : `A circle with the hand of one pair at t and at t ${model.k < 0 ? "\u2212" : "+"} ${book(Math.abs(model.k))}, the two by two matrix that turns one to ` +
        `the other, and the error of the whole matrix at ${count(model.positions, "position")}, at most ` +
        `${book(model.worst, { significant: 2 })}.`,

  table: ({ model, column }) => {
    const { dim, positions, matrix } = model;
    if (matrix) {
      return {
        header: ["row", ...Array.from({ length: dim }, (_, c) => `column ${c}`)],
        rows: dim,
        cell: (r, c) => (c === 0 ? r : (matrix[r * dim + c - 1] as number)),
      };
    }
    const [a, b] = model.pairs[column] as readonly [number, number];
    return {
      header: ["t", `p(t) ${a}`, `p(t) ${b}`, `p(t + k) ${a}`, `p(t + k) ${b}`, "largest error"],
      rows: positions,
      cell: (r, c) => {
        if (c === 0) return r;
        if (c === 5) return model.errors[r] as number;
        const { row, moved } = model.at(r);
        return [row[a], row[b], moved[a], moved[b]][c - 1] as number;
      },
    };
  },

  array: ({ model: { matrix, dim, errors, positions } }) =>
    matrix ? { data: matrix, shape: [dim, dim] } : { data: errors, shape: [positions] },

  code: ({ model }) => codeOf(model),
});

// ---------------------------------------------------------------- the numbers

// The columns that the scheme has: one more than its dim where that is odd and rounded up.
function widthOf(scheme: Turning): number {
  return scheme.slot === "embed" ? (encode(scheme, 1).shape[1] as number) : Number((scheme as { dim?: unknown }).dim);
}

function pairsOf(scheme: Turning, dim: number): [number, number][] {
  const { layout, rotaryDim } = readAll(scheme) as Turning & { layout?: string; rotaryDim?: number };
  const pairs = Math.floor((rotaryDim ?? dim) / 2);
  return Array.from({ length: pairs }, (_, i) => (layout === "half" ? [i, pairs + i] : [2 * i, 2 * i + 1]));
}

// p at the positions; of a rotation, what it makes of a vector of ones.
function rowsAt(scheme: Turning, positions: Float64Array, dim: number, length: number): Float64Array {
  if (scheme.slot === "embed") return encode(scheme, positions, { dtype: "float64" }).data as Float64Array;
  const ones = tensor(new Float64Array(positions.length * dim).fill(1), [positions.length, dim], "float64");
  return rotate(ones, scheme as RotateScheme, { positions, length }).data as unknown as Float64Array;
}

function pairReadings({ model, row, column }: Drawn): readonly Reading[] {
  const wavelength = model.wavelengths[column] as number;
  return [
    { label: "t", value: book(row) },
    { label: "t + k", value: book(row + model.k) },
    { label: "pair", value: book(column) },
    { label: "turned by", value: turnsText(model.k / wavelength, true), unit: "turns" },
    { label: "error at t", value: book(model.errors[row] as number, { significant: 2 }) },
    { label: "largest at any t", value: book(model.worst, { significant: 2 }), constant: true },
  ];
}

// Of very many turns the part of the last one is no number to be read.
function turnsText(turns: number, signed: boolean): string {
  return book(turns, Math.abs(turns) < 1e4 ? { decimals: 4, signed } : { significant: 4, signed });
}

function matrixReadings({ model, row, column }: Drawn): readonly Reading[] {
  const pair = model.pairs.findIndex((columns) => columns.includes(row));
  return [
    { label: "row", value: book(row), ...(pair < 0 ? {} : { unit: `(pair ${pair})` }) },
    { label: "column", value: book(column) },
    { label: "value", value: book(model.matrix?.[row * model.dim + column] as number, { decimals: 4, signed: true }) },
  ];
}

// ---------------------------------------------------------------- one pair

interface Sheet {
  circle: { x: number; y: number; radius: number };
  equation: { x: number; y: number; width: number };
  chart: { y: number; height: number };
  height: number;
}

function sheetOf(width: number): Sheet {
  if (width < 500) {
    const radius = Math.min(96, width * 0.3);
    const below = 2 * radius + 112;
    return {
      circle: { x: width / 2, y: radius + 26, radius },
      equation: { x: 0, y: below, width },
      chart: { y: below + 42, height: 170 },
      height: below + 214,
    };
  }
  const radius = Math.min(130, width * 0.165);
  const left = 2 * radius + 108;
  return {
    circle: { x: radius + 56, y: radius + 26, radius },
    equation: { x: left, y: radius + 26, width: width - left },
    chart: { y: 2 * radius + 78, height: 180 },
    height: 2 * radius + 260,
  };
}

function drawPair(surface: Surface, state: Drawn): void {
  const sheet = sheetOf(surface.width);
  drawCircle(surface, state, sheet.circle);
  drawEquation(surface, state, sheet.equation);
  drawErrors(surface, state, sheet.chart);
}

function drawCircle(surface: Surface, { model, row, column }: Drawn, { x, y, radius }: Sheet["circle"]): void {
  const { dim, reach, k, length, chosen, wavelengths } = model;
  const { row: own, moved } = model.at(row);
  const [a, b] = model.pairs[column] as readonly [number, number];
  const tip = (of: Float64Array, start: number, share = 1): [number, number] => [
    x + (share * radius * (of[start + a] as number)) / reach,
    y - (share * radius * (of[start + b] as number)) / reach,
  ];
  surface.disc(x, y, radius, { stroke: "faint" });
  surface.path([x - radius, y, x + radius, y], { stroke: "faint" });
  surface.path([x, y - radius, x, y + radius], { stroke: "faint" });
  // The way from t to t + k, inside the circle; all of an inner one where that is a turn or more.
  if (Math.abs(k) >= (wavelengths[column] as number)) {
    surface.disc(x, y, 0.45 * radius, { stroke: "grey", width: 1.2 });
  } else {
    const steps = Float64Array.from({ length: traceSteps + 1 }, (_, i) => row + (k * i) / traceSteps);
    const way = rowsAt(chosen.scheme, steps, dim, length);
    const trace = new Float64Array(2 * steps.length);
    steps.forEach((_, i) => trace.set(tip(way, i * dim, 0.45), 2 * i));
    surface.path(trace, { stroke: "grey", width: 1.2 });
  }
  surface.disc(...tip(moved, 0, 0.45), 2.2, { fill: "grey" });
  const hands: [Float64Array, string, Ink][] = [
    [moved, "t + k", "cool"],
    [own, "t", "accent"],
  ];
  const places = hands.map(([of]) => tip(of, 0));
  const out = hands.map(([of]) => tip(of, 0, 1 + 14 / radius));
  // Two hands at one place have their names beside each other.
  const near = Math.abs(out[0]![0] - out[1]![0]) < 40 && Math.abs(out[0]![1] - out[1]![1]) < 13;
  hands.forEach(([, name, ink], n) => {
    const place = places[n]!;
    surface.path([x, y, ...place], { stroke: ink, width: 2 });
    surface.disc(...place, 3.6, { fill: ink });
    // Names go outwards from the ends of their hands.
    const side = out[n]![0] < x - 0.3 * radius ? -1 : out[n]![0] > x + 0.3 * radius ? 1 : 0;
    const aside = near && n === 0 ? (side === 0 ? 26 : 14 * side) : 0;
    const align = side === 0 ? "middle" : side > 0 ? "start" : "end";
    surface.text(out[n]![0] - 4 * side + aside, out[n]![1], name, { ink, align, size: labelSize });
  });
  surface.text(x, y + radius + 26, `pair ${column}: dimensions ${a} and ${b}`, {
    align: "middle",
    size: labelSize,
  });
}

// p(t + k) = M(k) p(t), with the numbers of the pair.
function drawEquation(surface: Surface, { model, row, column }: Drawn, box: Sheet["equation"]): void {
  const { row: own, moved } = model.at(row);
  const pair = model.pairs[column] as readonly [number, number];
  const decimals = surface.narrow ? 3 : 4;
  const gap = surface.narrow ? 8 : 14;
  const write = (value: number): string => book(value, { decimals, signed: true });
  const measure = (size: number): { size: number; wide: number; equals: number; whole: number } => {
    const wide = surface.textWidth(write(-0.8888), { size });
    const equals = surface.textWidth("=", { size }) + 2 * gap;
    return { size, wide, equals, whole: 4 * wide + 2 * gap + 3 * 14 + equals };
  };
  // As large as there is room for.
  const sizes = [15, 14, 13, 12, 11].map(measure);
  const { size, wide, equals, whole } = sizes.find((one) => one.whole <= box.width - 4) ?? sizes[4]!;
  const line = surface.narrow ? 11 : 14;
  let x = box.x + Math.max(0, Math.min((box.width - whole) / 2, 40));
  const middle = x + whole / 2;
  const block = (name: string, columns: number[][], ink: Ink): void => {
    const width = columns.length * wide + (columns.length - 1) * gap + 14;
    for (const [edge, way] of [
      [x, 1],
      [x + width, -1],
    ] as const) {
      const inner = edge + 4 * way;
      surface.path([inner, box.y - 2 * line, edge, box.y - 2 * line, edge, box.y + 2 * line, inner, box.y + 2 * line], {
        stroke: "grey",
      });
    }
    columns.forEach((values, c) => {
      values.forEach((value, r) => {
        const right = x + 7 + (c + 1) * wide + c * gap;
        surface.text(right, box.y + (2 * r - 1) * line * 0.85, write(value), { align: "end", ink, size });
      });
    });
    surface.text(x + width / 2, box.y - 2 * line - 14, name, { align: "middle", ink, size: labelSize });
    x += width;
  };
  const entry = (r: number, c: number): number => model.blocks[4 * column + 2 * r + c] as number;
  const vector = (of: Float64Array): number[] => pair.map((c) => of[c] as number);
  block("p(t + k)", [vector(moved)], "cool");
  surface.text(x + equals / 2, box.y, "=", { align: "middle", ink: "ink", size });
  x += equals;
  block(
    "M(k)",
    [0, 1].map((c) => [entry(0, c), entry(1, c)]),
    "ink",
  );
  x += gap;
  block("p(t)", [vector(own)], "accent");
  if (surface.narrow) return;
  const wavelength = model.wavelengths[column] as number;
  const turns = turnsText(model.k / wavelength, false);
  const takes = `a turn takes ${book(wavelength, { significant: 4 })} positions`;
  // The last words go together to a second line.
  const told = brokenLines(surface, `${takes}: k = ${book(model.k)} is ${turns}\u00a0of\u00a0one`, whole);
  told.forEach((words, at) => {
    surface.text(middle, box.y + 2 * line + 26 + 16 * at, words, { align: "middle", size: labelSize });
  });
}

function drawErrors(surface: Surface, { model, row }: Drawn, { y, height }: Sheet["chart"]): void {
  const { errors, positions } = model;
  const unit = 1e-16;
  const left = "|M(k) p(t) \u2212 p(t + k)|";
  const what = surface.narrow ? left : `largest ${left} over all dimensions`;
  const max = 1.12 * Math.max(model.worst, lastBit);
  const at = Array.from({ length: positions }, (_, t) => t);
  const radius = Math.max(0.9, Math.min(2.2, (0.3 * surface.width) / positions));
  drawChart(surface, {
    box: { x: 0, y, width: surface.width, height },
    x: { min: 0, max: Math.max(1, positions - 1), wish: surface.narrow ? 4 : 8 },
    y: {
      min: 0,
      max,
      wish: 3,
      label: `${what}, \u00d7\u200910\u207b\u00b9\u2076`,
      tick: (value) => tickText(Number((value / unit).toPrecision(3))),
    },
    lines: [
      { x: [0, positions - 1], y: [lastBit, lastBit], ink: "grey", dash: [3, 3], name: "2\u207b\u2075\u00b2" },
      { x: at, y: errors, ink: "ink", width: 0.6, alpha: 0.35, dots: radius },
    ],
    cursor: { at: row, name: `t = ${book(row)}`, ink: "accent", dots: [{ y: errors[row] as number, ink: "accent" }] },
    locate: (t) => ({ row: Math.max(0, Math.min(positions - 1, Math.round(t))) }),
  });
}

// ---------------------------------------------------------------- the whole matrix

function drawWhole(surface: Surface, { model, row, column }: Drawn): void {
  drawMatrix(surface, {
    values: model.matrix as Float64Array,
    rows: model.dim,
    columns: model.dim,
    row,
    column,
    scale: { kind: "signed", extent: 1 },
    rowAxis: { label: "dimension of p(t + k)", name: `row ${row}` },
    columnAxis: { name: `column ${column}`, binary: true },
  });
}

// ---------------------------------------------------------------- code

function codeOf(model: Model): Code {
  const { chosen, k, positions, length } = model;
  const javascript =
    `import { ${[chosen.name, "shiftError", "shiftMatrix"].join(", ")} } from "posenc";\n\n` +
    `const scheme = ${chosen.code};\n` +
    `const matrix = shiftMatrix(scheme, ${k}, { length: ${length} });\n` +
    `const error = shiftError(scheme, ${k}, ${positions}, { length: ${length} });\n`;
  return {
    javascript,
    numpy: async () => {
      const { shiftNumpy } = await import("./numpy-programs.js");
      return shiftNumpy(model);
    },
  };
}
