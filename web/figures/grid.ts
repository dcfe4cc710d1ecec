// <posenc-grid>: encodings of the patches of an image: how like one patch is to all others, what each dimension does
// over the grid, and where text and image stand in one sequence.
import {
  encode,
  grid as gridPositions,
  multimodalPositions,
  rotate,
  tensor,
  type EmbedScheme,
  type RotateScheme,
  type Tensor,
} from "../src/core.js";
import { similarity } from "../src/analysis/index.js";
import type { ColourScale } from "./colour.js";
import {
  choice,
  cursorField,
  defineFigure,
  range,
  type Code,
  type Figure,
  type State,
  type Values,
} from "./figure.js";
import { book, count } from "./format.js";
import { givenTable, schemeAmong, type GivenTable } from "./given-data.js";
import { magnitude } from "./magnitude.js";
import { brokenLines, drawPlate, indexTicks, labelSize, legend, valueTicks } from "./marks.js";
import { drawBars, drawMatrix } from "./matrix.js";
import { refuseValue } from "./refusal.js";
import { chosenScheme, descriptorOf, schemeFields, type ChosenScheme } from "./scheme-fields.js";
import { estimateWidth, type Ink, type Surface } from "./surface.js";
import { tableFiles } from "./table-file.js";

export interface Model {
  /** Undefined where the table is the reader's. */
  chosen: ChosenScheme<EmbedScheme | RotateScheme> | undefined;
  title: string;
  rows: number;
  columns: number;
  /** [tokens, width]: all tokens, those before and after the image among them. */
  table: Tensor;
  width: number;
  /** Tokens before the first patch; in all. */
  first: number;
  tokens: number;
  /** [axes, tokens], where positions have axes. */
  positions: Tensor | undefined;
  /** [tokens, tokens]. */
  alike: Float64Array;
  scale: Extract<ColourScale, { kind: "amount" }>;
  metric: string;
  dimension: number;
  /** The largest magnitude of the table. */
  extent: number;
}

type Drawn = State<Model>;

// What each scheme takes for the place of a patch.
const placesOf: Readonly<Record<string, "line" | "grid" | "sequence">> = {
  sinusoidal2d: "grid",
  fourier: "grid",
  axialRope: "grid",
  mrope: "sequence",
  sinusoidal: "line",
  rope: "line",
};

const mostTiles = 64;
const mapHeight = 420;
const axisNames = ["time", "height", "width"];
const axisLines: readonly { stroke: Ink; width: number; dash?: readonly number[] }[] = [
  { stroke: "ink", width: 2.2 },
  { stroke: "accent", width: 1.4, dash: [5, 2] },
  { stroke: "cool", width: 1 },
];

const metricWords: Readonly<Record<string, string>> = {
  cosine: "cosine",
  dot: "dot product",
  euclidean: "distance",
};

export const grid: Figure = defineFigure<Model>({
  name: "grid",
  attributes: {
    scheme:
      'sinusoidal2d, fourier, axialRope, mrope, or sinusoidal and rope, which count row by row; "sinusoidal2d" by default.',
    rows: "Rows of patches, 2 to 32; 14 by default.",
    columns: "Columns of patches, 2 to 32; 14 by default.",
    dim: "The width of the encoding.",
    base: "The base of the wavelengths.",
    metric: "cosine, dot or euclidean.",
    text: "Tokens of text before the image and after it, for mrope; 6 by default.",
    dimension: "The dimension drawn beside the map, from 0.",
    view: "similarity, dimensions or, for mrope, sequence.",
    row: "The row of the patch under the cursor, from 0.",
    column: "Its column, from 0.",
    token: "The token under the cursor, in the sequence.",
  },

  tabs: (_, model) => {
    const sequence = model === undefined || model.positions?.shape[0] === 3;
    return choice("view", "view", "similarity", [
      "similarity",
      "dimensions",
      ...(sequence ? ["sequence"] : []),
    ]);
  },

  files: tableFiles(() => grid),

  fields: (values) => {
    const name = String(values.scheme ?? "sinusoidal2d");
    const descriptor = descriptorOf(slotOf(name), name);
    const width = name === "fourier" ? 4 * Number(values.levels ?? 4) : Number(values.dim ?? 64);
    const side = { integer: true, least: 2, most: 32 } as const;
    const sequence = values.view === "sequence" && placesOf[name] === "sequence";
    return [
      choice(
        "scheme",
        "scheme",
        "sinusoidal2d",
        Object.entries(placesOf).map(([value, places]) => {
          const { title } = descriptorOf(slotOf(value), value);
          return { value, label: places === "line" ? `${title}, row by row` : title };
        }),
      ),
      range("rows", "rows", 14, 4, 24, side),
      range("columns", "columns", 14, 4, 24, side),
      ...schemeFields(descriptor, {
        values,
        without: ["axes"],
        row: ["dim", "base", "levels"],
        start: { dim: 64 },
        change: { dim: { label: "dimensions", min: 8, max: 128, step: 4 } },
      }),
      choice(
        "metric",
        "compared by",
        "cosine",
        Object.entries(metricWords).map(([value, label]) => ({ value, label })),
        { place: values.view === "dimensions" ? "none" : "row" },
      ),
      ...(sequence || values[name === "fourier" ? "levels" : "dim"] === undefined
        ? []
        : [range("dimension", "dimension", 0, 0, width - 1, { integer: true })]),
      range("text", "tokens of text", 6, 0, 24, {
        integer: true,
        most: 64,
        place: name === "mrope" ? "row" : "none",
      }),
      cursorField("row", "The row of the patch under the cursor."),
      cursorField("column", "The column of the patch under the cursor."),
      cursorField("token", "The token under the cursor."),
    ];
  },

  compute: (values, data) => {
    const metric = String(values.metric) as "cosine" | "dot" | "euclidean";
    const shown = shownOf(values, data);
    const alike = similarity(shown.table, { metric, dtype: "float64" }).data as Float64Array;
    const width = shown.table.shape[1] ?? 0;
    const extent = magnitude(shown.table.data as ArrayLike<number>) || 1;
    const tokens = shown.table.shape[0] ?? 0;
    return {
      ...shown,
      width,
      tokens,
      alike,
      // One for all patches, so that colours stay under the cursor.
      scale: rangeOf(alike, tokens, shown.first, shown.first + shown.rows * shown.columns),
      metric,
      dimension: Math.min(width - 1, Number(values.dimension ?? 0)),
      extent,
    };
  },

  cells: ({ model, view }) =>
    view === "sequence"
      ? {
          column: {
            name: "token",
            count: model.tokens,
            start: model.first + Math.floor((model.rows * model.columns) / 2),
          },
        }
      : {
          row: { name: "row", count: model.rows, start: Math.floor(0.43 * model.rows) },
          column: { name: "column", count: model.columns, start: Math.floor(0.36 * model.columns) },
        },

  height: (state, width) => {
    const { model, view } = state;
    if (view === "dimensions") return tilesOf(model, width).height;
    if (view === "sequence") return width < 500 ? 320 : 350;
    return mapOf(model, width).total;
  },

  draw: (surface, state) => {
    if (state.view === "dimensions") drawTiles(surface, state);
    else if (state.view === "sequence") drawSequence(surface, state);
    else drawAlike(surface, state);
  },

  title: (state) => {
    const { model, view } = state;
    const where = `${book(model.rows)}\u00a0\u00d7\u00a0${book(model.columns)} patches`;
    if (view === "sequence") return `${model.title}, text and an image of ${where} in one sequence`;
    if (view === "dimensions") return `${model.title}, each dimension over ${where}`;
    return `${model.title}, one of ${where} compared with all`;
  },

  caption: (state) => {
    const { model, view } = state;
    if (view === "dimensions") {
      return (
        "Each tile is one dimension over the image. Stripes across it follow the row, upright ones the column: its " +
        "axis is what a dimension knows. The dot is the patch under the cursor."
      );
    }
    if (view === "sequence") {
      return (
        "Text counts on all three axes alike. The patches of an image stand at one time, at their rows and columns; " +
        "text after it goes on beyond the largest of them. Below, the token under the cursor compared with all others."
      );
    }
    const rotated = model.chosen?.scheme.slot === "rotate" ? " Vectors of ones were turned." : "";
    if (model.chosen && placesOf[model.chosen.name] === "line") {
      return `Patches are counted row by row: what lies above and below is as far as a whole row.${rotated}`;
    }
    return (
      "Each cell says how like the patch under the cursor is to the one there; the bars are its row, the curve its " +
      `column.${rotated}`
    );
  },

  readout: (state) => {
    const { model, row, column, view } = state;
    const write = (a: number, b: number): string => book(model.alike[a * model.tokens + b] as number, { decimals: 4 });
    if (view === "sequence") {
      const place = Array.from({ length: model.positions?.shape[0] ?? 0 }, (_, axis) => placeAt(model, axis, column));
      return [
        { label: "token", value: book(column) },
        { label: "is", value: kindOf(model, column) },
        ...place.map((value, axis) => ({ label: axisNames[axis] as string, value: book(value) })),
        ...(column + 1 < model.tokens
          ? [{ label: `${metricWords[model.metric]} with the next`, value: write(column, column + 1) }]
          : []),
      ];
    }
    const own = patch(model, row, column);
    const value = book(Number(model.table.at(own, model.dimension)), { decimals: 4, signed: true });
    return [
      { label: "row", value: book(row) },
      { label: "column", value: book(column) },
      ...(view === "dimensions"
        ? []
        : [
            ...(column + 1 < model.columns
              ? [
                  {
                    label: `${metricWords[model.metric]} to the right`,
                    value: write(own, patch(model, row, column + 1)),
                  },
                ]
              : []),
            ...(row + 1 < model.rows
              ? [
                  {
                    label: `${column + 1 < model.columns ? "" : `${metricWords[model.metric]} `}to below`,
                    value: write(own, patch(model, row + 1, column)),
                  },
                ]
              : []),
          ]),
      { label: `dimension ${model.dimension}`, value },
    ];
  },

  summary: (state) => {
    const { model, row, column, view } = state;
    const where = `an image of ${book(model.rows)} by ${count(model.columns, "patch", "patches")}`;
    if (view === "sequence") {
      return (
        `Lines of the positions on three axes of ${count(model.tokens, "token")}: ${book(model.first)} of text, ${where}, ` +
        `and ${book(model.tokens - model.first - model.rows * model.columns)} of text.`
      );
    }
    if (view === "dimensions") {
      const along = (axis: "row" | "column"): number =>
        Array.from({ length: model.width }, (_, d) => d).filter((d) => followed(model, d) === axis).length;
      return (
        `Tiles of the ${count(model.width, "dimension")} of ${model.title} over ${where}: ${book(along("row"))} follow the ` +
        `row alone, ${book(along("column"))} the column alone.`
      );
    }
    const own = patch(model, row, column);
    const farthest = patch(
      model,
      row < model.rows / 2 ? model.rows - 1 : 0,
      column < model.columns / 2 ? model.columns - 1 : 0,
    );
    return (
      `Heat map of ${where}: the ${metricWords[model.metric]} of the patch in row ${row}, column ${column} with each, by ` +
      `${model.title}. With itself it is ${book(model.alike[own * model.tokens + own] as number)}, with the far corner ` +
      `${book(model.alike[own * model.tokens + farthest] as number, { significant: 3 })}.`
    );
  },

  table: (state) => {
    const { model, row, column, view } = state;
    if (view === "sequence") {
      return {
        header: ["token", "kind", ...axisNames, metricWords[model.metric] as string],
        rows: model.tokens,
        cell: (r, c) => {
          if (c === 0) return r;
          if (c === 1) return kindOf(model, r);
          return c < 5 ? placeAt(model, c - 2, r) : (model.alike[column * model.tokens + r] as number);
        },
      };
    }
    const values = view === "dimensions" ? overGrid(model, model.dimension) : alikeTo(model, row, column);
    return {
      header: ["row", ...Array.from({ length: model.columns }, (_, c) => `column ${c}`)],
      rows: model.rows,
      cell: (r, c) => (c === 0 ? r : (values[r * model.columns + c - 1] as number)),
    };
  },

  array: ({ model, view, row, column }) =>
    view === "similarity"
      ? { data: alikeTo(model, row, column), shape: [model.rows, model.columns] }
      : { data: model.table.data as Float32Array, shape: model.table.shape },

  code: codeOf,
});

// ---------------------------------------------------------------- the numbers

function slotOf(name: string): "embed" | "rotate" {
  return ["axialRope", "mrope", "rope"].includes(name) ? "rotate" : "embed";
}

type Shown = Pick<Model, "chosen" | "title" | "rows" | "columns" | "table" | "first" | "positions">;

function shownOf(values: Values, data: unknown): Shown {
  const takes = "an embed or rotate scheme, its JSON or a table with a row for each patch";
  const scheme = schemeAmong(data, ["embed", "rotate"], takes);
  const given = scheme ? undefined : givenTable(data, takes);
  return given ? ofTable(values, given) : ofScheme(values, scheme);
}

function ofScheme(values: Values, given: EmbedScheme | RotateScheme | undefined): Shown {
  const slot = given?.slot ?? slotOf(String(values.scheme));
  const chosen = chosenScheme(slot, twoAxes(values), given) as NonNullable<Model["chosen"]>;
  const { scheme, title } = chosen;
  const [rows, columns] = [Number(values.rows), Number(values.columns)];
  const places = placesOf[chosen.name] ?? "line";
  const text = Number(values.text ?? 0);
  const positions =
    places === "grid"
      ? gridPositions(rows, columns)
      : places === "sequence"
        ? sequenceOf(rows, columns, text)
        : undefined;
  const tokens = positions?.shape[1] ?? rows * columns;
  const table =
    scheme.slot === "embed"
      ? encode(scheme, positions ?? tokens)
      : rotate(
          onesOf(tokens, Number((scheme as unknown as { dim: number }).dim)),
          scheme,
          positions ? { positions } : {},
        );
  return { chosen, title, rows, columns, table, first: places === "sequence" ? text : 0, positions };
}

// The schemes of several axes are made for two here.
function twoAxes(values: Values): Values {
  const name = String(values.scheme);
  const { params } = descriptorOf(slotOf(name), name);
  return params.some((param) => param.name === "axes") ? { ...values, axes: 2 } : values;
}

function sequenceOf(rows: number, columns: number, text: number): Tensor {
  const words = text > 0 ? [{ text }] : [];
  return multimodalPositions([...words, { image: [1, rows, columns] }, ...words]);
}

// Whatever is turned, the score of two places is the same for all of it but a scale: ones show it.
function onesOf(tokens: number, dim: number): Tensor {
  return tensor(new Float32Array(tokens * dim).fill(1), [tokens, dim]);
}

// A Vision Transformer's table; one row more than patches is the class token's, which stands first.
function ofTable(values: Values, { table, name = "the given table" }: GivenTable): Shown {
  const total = table.shape[0] ?? 0;
  const [rows, columns] = [Number(values.rows), Number(values.columns)];
  const sides = [total, total - 1].map((cells) => {
    if (rows * columns === cells) return [rows, columns] as const;
    const side = Math.round(Math.sqrt(cells));
    return side * side === cells && side >= 2 && side <= 32 ? ([side, side] as const) : undefined;
  });
  const at = sides.findIndex((side) => side !== undefined);
  const found = sides[at];
  if (!found) {
    const sentence =
      `${name} has ${count(total, "row")}, which are no square grid of at most 32 by 32 patches, nor ` +
      `${rows} by ${columns}; set rows and columns`;
    return refuseValue("shape-mismatch", "data", "a row a patch", total, sentence);
  }
  return {
    chosen: undefined,
    title: name,
    rows: found[0],
    columns: found[1],
    table: table.slice(at, total),
    first: 0,
    positions: undefined,
  };
}

function patch(model: Model, row: number, column: number): number {
  return model.first + row * model.columns + column;
}

// From the least to the largest of the tokens from `first` to `end`, compared with each other.
function rangeOf(alike: Float64Array, tokens: number, first: number, end: number): Model["scale"] {
  let [min, max] = [Infinity, -Infinity];
  for (let a = first; a < end; a++) {
    for (const value of alike.subarray(a * tokens + first, a * tokens + end)) {
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  return { kind: "amount", min, max };
}

// How like a patch is to each: [rows, columns].
function alikeTo(model: Model, row: number, column: number): Float64Array {
  const from = patch(model, row, column) * model.tokens + model.first;
  return model.alike.slice(from, from + model.rows * model.columns);
}

// One dimension over the patches: [rows, columns].
function overGrid(model: Model, dimension: number): Float64Array {
  const values = model.table.data;
  return Float64Array.from({ length: model.rows * model.columns }, (_, cell) =>
    Number(values[(model.first + cell) * model.width + dimension]),
  );
}

// The axis that a dimension follows alone.
function followed(model: Model, dimension: number): "row" | "column" | "both" | "neither" {
  const values = overGrid(model, dimension);
  const { columns } = model;
  let [down, across] = [false, false];
  values.forEach((value, cell) => {
    if (cell >= columns && value !== values[cell - columns]) down = true;
    if (cell % columns > 0 && value !== values[cell - 1]) across = true;
  });
  return down && across ? "both" : down ? "row" : across ? "column" : "neither";
}

function followedWords(model: Model, dimension: number): string {
  const axis = followed(model, dimension);
  if (axis === "neither") return "the same everywhere";
  return axis === "both" ? "follows row and column" : `follows the ${axis} alone`;
}

function placeAt(model: Model, axis: number, token: number): number {
  return Number(model.positions?.data[axis * model.tokens + token]);
}

function kindOf(model: Model, token: number): string {
  const inside = token - model.first;
  if (inside < 0 || inside >= model.rows * model.columns) return "text";
  return `patch (${Math.floor(inside / model.columns)}, ${inside % model.columns})`;
}

// ---------------------------------------------------------------- similarity

interface MapPlace {
  /** Of the surface that the matrix takes. */
  width: number;
  height: number;
  /** Longer side and place of the map of one dimension: beside the matrix, or below it at the matrix' own left. */
  one: { x: number | undefined; y: number; side: number };
  /** Of all. */
  total: number;
}

// What drawMatrix leaves round its map.
const around = { wide: { x: 188, y: 118 }, narrow: { x: 84, y: 148 } };

function mapOf(model: Model, width: number): MapPlace {
  const narrow = width < 500;
  const margin = narrow ? around.narrow : around.wide;
  // Beside an image that is not flat there is room for one dimension too.
  const kept = width >= 720 && model.columns <= 2 * model.rows ? 218 : 0;
  const cell = Math.min((width - margin.x - kept) / model.columns, mapHeight / model.rows);
  // Patches are square; a surface that turned narrow would have other margins.
  const wanted = Math.round(cell * model.columns + margin.x);
  const own = narrow ? width : Math.max(500, wanted);
  // Flat images leave room for the legend.
  const height = Math.round(Math.max(130, cell * model.rows) + margin.y);
  const room = width - own - 38;
  const beside = room >= 176;
  const side = beside ? Math.min(room, 300) : Math.min(220, width - 60);
  const y = beside ? 0 : height + 14;
  const lines = brokenLines({ textWidth: estimateWidth }, oneWords(model), 0.9 * side).length;
  const tall = y + 20 + (side * model.rows) / Math.max(model.rows, model.columns) + 8 + 16 * lines;
  const one = { x: beside ? own + 36 : undefined, y, side };
  return { width: own, height, one, total: Math.round(Math.max(height, tall)) };
}

function drawAlike(surface: Surface, state: Drawn): void {
  const { model, row, column } = state;
  const place = mapOf(model, surface.width);
  const map = drawMatrix(surface.inset(0, 0, place.width, place.height), {
    values: alikeTo(model, row, column),
    rows: model.rows,
    columns: model.columns,
    row,
    column,
    scale: model.scale,
    rowAxis: { label: "row", name: `row ${book(row)}` },
    columnAxis: { name: `column ${book(column)}` },
  });
  drawOne(surface, state, place.one, place.one.x ?? map.x);
}

// The ends of its colours are whole in their line: "from −1 to 1".
function oneWords(model: Model): string {
  const end = book(model.extent, { significant: 3 });
  const words = followedWords(model, model.dimension);
  return followed(model, model.dimension) === "neither" ? words : `${words}, from\u00a0\u2212${end}\u00a0to\u00a0${end}`;
}

// One dimension over the grid.
function drawOne(surface: Surface, { model, row, column }: Drawn, { y, side }: MapPlace["one"], x: number): void {
  const cell = side / Math.max(model.rows, model.columns);
  const box = { x, y: y + 20, width: cell * model.columns, height: cell * model.rows };
  surface.text(x, y + 9, `dimension ${model.dimension} over the image`, { size: labelSize });
  drawTile(surface, model, model.dimension, box);
  surface.rect(box.x - 1, box.y - 1, box.width + 2, box.height + 2, { stroke: "faint" });
  drawDot(surface, model, box, row, column);
  brokenLines(surface, oneWords(model), side).forEach((line, k) => {
    surface.text(x, box.y + box.height + 14 + 16 * k, line, { size: labelSize });
  });
  surface.region(box, (u, v) => ({ row: Math.floor(v * model.rows), column: Math.floor(u * model.columns) }));
}

function drawTile(
  surface: Surface,
  model: Model,
  dimension: number,
  box: { x: number; y: number; width: number; height: number },
): void {
  const { rows, columns } = model;
  surface.heatMap(box, {
    values: overGrid(model, dimension),
    rows,
    columns,
    scale: { kind: "signed", extent: model.extent },
  });
}

function drawDot(
  surface: Surface,
  model: Model,
  box: { x: number; y: number; width: number; height: number },
  row: number,
  column: number,
): void {
  const x = box.x + ((column + 0.5) * box.width) / model.columns;
  const y = box.y + ((row + 0.5) * box.height) / model.rows;
  surface.disc(x, y, 3.4, { fill: "paper" });
  surface.disc(x, y, 2.2, { fill: "ink" });
}

// ---------------------------------------------------------------- dimensions

interface Tiles {
  dimensions: readonly number[];
  perRow: number;
  wide: number;
  tall: number;
  height: number;
}

const tileLabel = 18;
const legendHeight = 36;

function tilesOf(model: Model, width: number): Tiles {
  const step = Math.max(1, Math.ceil(model.width / mostTiles));
  const dimensions = Array.from({ length: Math.ceil(model.width / step) }, (_, k) => k * step);
  if (!dimensions.includes(model.dimension)) dimensions[Math.floor(model.dimension / step)] = model.dimension;
  const least = width < 500 ? 50 : 76;
  const perRow = Math.min(dimensions.length, Math.max(2, Math.floor((width + 8) / (least + 8))));
  const wide = Math.min(150, (width - 8 * (perRow - 1)) / perRow);
  const tall = Math.min(1.5 * wide, (wide * model.rows) / model.columns);
  const lines = Math.ceil(dimensions.length / perRow);
  return { dimensions, perRow, wide, tall, height: Math.round(lines * (tall + tileLabel + 6)) + legendHeight };
}

function drawTiles(surface: Surface, { model, row, column }: Drawn): void {
  const { dimensions, perRow, wide, tall, height } = tilesOf(model, surface.width);
  legend(surface, { kind: "signed", extent: model.extent }, 0, height - 26, 130, false);
  dimensions.forEach((dimension, k) => {
    const x = (k % perRow) * (wide + 8);
    const y = Math.floor(k / perRow) * (tall + tileLabel + 6);
    const own = dimension === model.dimension;
    const box = { x: x + 1, y: y + 1, width: wide - 2, height: tall - 2 };
    drawTile(surface, model, dimension, box);
    surface.rect(x, y, wide, tall, { stroke: own ? "accent" : "faint", width: own ? 2 : 1 });
    drawDot(surface, model, box, row, column);
    surface.text(x + wide / 2, y + tall + 9, String(dimension), {
      align: "middle",
      size: 11,
      ink: own ? "accent" : "grey",
      bold: own,
    });
    surface.region({ x, y, width: wide, height: tall + tileLabel }, (u, v) => {
      const at = Math.min(1, (v * (tall + tileLabel)) / tall);
      return {
        row: Math.min(model.rows - 1, Math.floor(at * model.rows)),
        column: Math.floor(u * model.columns),
        choose: { dimension },
      };
    });
  });
}

// ---------------------------------------------------------------- sequence

function drawSequence(surface: Surface, { model, column }: Drawn): void {
  const { narrow, width, height } = surface;
  const { tokens, first } = model;
  const last = first + model.rows * model.columns;
  const most = Math.max(1, magnitude(model.positions?.data as Float64Array));
  const ticks = valueTicks(0, most, 4);
  const { min, max } = rangeOf(model.alike, tokens, 0, tokens);
  const ends = [max, min].map((value) => book(value, { significant: 3 }));
  const numbers = [...ticks.map((value) => book(value)), ...ends];
  const left = 12 + Math.max(28, ...numbers.map((words) => surface.textWidth(words)));
  const [right, top] = [narrow ? 8 : 88, 24];
  const bars = 70;
  const foot = height - bars - 64;
  const plot = width - left - right;
  const cell = plot / tokens;
  const x = (token: number): number => left + (token + 0.5) * cell;
  const y = (value: number): number => foot - ((foot - top) * value) / most;
  surface.rect(left + first * cell, top, (last - first) * cell, foot - top, { fill: "blank" });
  surface.text(left + ((first + last) / 2) * cell, top - 12, "image", { align: "middle", size: labelSize });
  if (first * cell > 30)
    surface.text(left + (first / 2) * cell, top - 12, "text", { align: "middle", size: labelSize });
  if ((tokens - last) * cell > 30) {
    surface.text(left + ((last + tokens) / 2) * cell, top - 12, "text", { align: "middle", size: labelSize });
  }
  for (const value of ticks) {
    surface.path([left, y(value), left + plot, y(value)], { stroke: "faint" });
    surface.text(left - 8, y(value), book(value), { align: "end", size: labelSize });
  }
  const at = x(column);
  surface.path([at, top, at, height - 26], { stroke: "grey" });
  // Widths run fastest: drawn first, under the others.
  for (const axis of [2, 1, 0]) {
    const points = new Float64Array(4 * tokens);
    for (let t = 0; t < tokens; t++) {
      points.set([x(t) - cell / 2, y(placeAt(model, axis, t)), x(t) + cell / 2, y(placeAt(model, axis, t))], 4 * t);
    }
    const mark = axisLines[axis] as (typeof axisLines)[number];
    surface.path(points, mark);
    surface.disc(at, y(placeAt(model, axis, column)), 3, { fill: mark.stroke });
  }
  let from = left + 4;
  axisNames.forEach((name, axis) => {
    const mark = axisLines[axis] as (typeof axisLines)[number];
    const style = { ink: mark.stroke, size: labelSize };
    const [start, middle] = narrow ? [from, foot + 14] : [left + plot + 10, top + 10 + 17 * axis];
    surface.path([start, middle, start + 14, middle], mark);
    drawPlate(surface, start + 19, middle, name, style);
    from += 19 + surface.textWidth(name, style) + 12;
  });

  // The token's likeness to all, from the least there is.
  const base = height - 30;
  const reach = base - (foot + 24);
  ends.forEach((words, k) => {
    surface.text(left - 8, k === 0 ? base - reach + 4 : base - 4, words, { align: "end", size: 11 });
  });
  const tall = (t: number): number =>
    (reach * ((model.alike[column * tokens + t] as number) - min)) / (max - min || 1);
  const line = { x: left, y: base, width: plot, height: 0 };
  drawBars(surface, line, { column: 0, columns: tokens, chosen: column, tall });
  if (!narrow)
    surface.text(left + plot + 12, base - reach / 2, metricWords[model.metric] as string, {
      ink: "accent",
      size: labelSize,
    });
  const name = `token ${book(column)}`;
  const half = surface.textWidth(name, { size: labelSize }) / 2;
  const middle = Math.max(half, Math.min(width - half, at));
  for (const t of indexTicks(tokens, plot, narrow ? 40 : 70)) {
    if (Math.abs(x(t) - middle) > half + 14)
      surface.text(x(t), height - 12, String(t), { align: "middle", size: labelSize });
  }
  surface.text(middle, height - 12, name, { ink: "ink", align: "middle", size: labelSize });
  surface.region({ x: left, y: top, width: plot, height: height - top }, (u) => ({ column: Math.floor(u * tokens) }));
}

// ---------------------------------------------------------------- code

function codeOf({ model, row, column, values, view }: Drawn): Code {
  const { rows, columns, chosen, metric } = model;
  const own = view === "sequence" ? column : patch(model, row, column);
  const compared = [
    `const alike = similarity(table, { metric: ${JSON.stringify(metric)} }).row(${own});  // of one ${view === "sequence" ? "token" : "patch"} with all`,
    "",
  ];
  if (!chosen) {
    return {
      javascript: [
        'import { similarity } from "posenc";',
        'import { readNpy } from "posenc/files";',
        "",
        `const table = await readNpy(file);  // ${model.title}; without the row of a class token`,
        ...compared,
      ].join("\n"),
    };
  }
  const { name, code, scheme } = chosen;
  const places = placesOf[name] ?? "line";
  const text = Number(values.text ?? 0);
  const part = text > 0 ? [`{ text: ${text} }`] : [];
  const where =
    places === "grid"
      ? `grid(${rows}, ${columns})`
      : places === "sequence"
        ? `multimodalPositions([${[...part, `{ image: [1, ${rows}, ${columns}] }`, ...part].join(", ")}])`
        : String(model.tokens);
  const called = { grid: ["grid"], sequence: ["multimodalPositions"], line: [] }[places];
  const turned = scheme.slot === "rotate";
  const names = [...(turned ? ["rotate", "tensor"] : ["encode"]), ...called, name, "similarity"];
  return {
    javascript: [
      `import { ${[...new Set(names)].join(", ")} } from "posenc";`,
      "",
      ...(turned
        ? [
            `const ones = tensor(new Float32Array(${model.tokens * model.width}).fill(1), [${model.tokens}, ${model.width}]);`,
            `const table = rotate(ones, ${code}${places === "line" ? "" : `, { positions: ${where} }`});`,
          ]
        : [`const table = encode(${code}, ${where});  // [${model.tokens}, ${model.width}]`]),
      ...compared,
    ].join("\n"),
    numpy: async () => {
      const { gridNumpy } = await import("./numpy-programs.js");
      return gridNumpy(model, view, own, text);
    },
  };
}
