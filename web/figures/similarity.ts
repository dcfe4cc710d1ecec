// <posenc-similarity>: every position compared with every other one, and what that says of their distance alone.
import { offsetProfile, similarity as similarityOf, toeplitzGap, type OffsetProfile } from "../src/analysis/index.js";
import { tensor, type Tensor } from "../src/core.js";
import { inSteps, type Step } from "./background.js";
import type { ColourScale } from "./colour.js";
import { choice, cursorField, defineFigure, type Code, type Figure, type State } from "./figure.js";
import { book, count, lowered, short } from "./format.js";
import { drawCell, drawFrames, hasRoom, indexTicks, labelSize, legend, valueTicks, wholeTicks } from "./marks.js";
import { shortened } from "./sentence.js";
import type { Box, Run, Surface } from "./surface.js";
import { tableFiles } from "./table-file.js";
import { compareSentence, tableFields, tablesOf, type PositionTable } from "./tables.js";

type Metric = "dot" | "cosine" | "euclidean";

interface Side extends PositionTable {
  /** [rows, rows]. */
  values: Float64Array;
  profile: OffsetProfile;
  scale: ColourScale;
  /** Least and most of the values, 0 among them. */
  low: number;
  high: number;
  /** The largest difference of two values at one offset. */
  gap: number;
  /** That is no more than the rounding of the table. */
  level: boolean;
}

interface Model {
  metric: Metric;
  sides: readonly Side[];
  rows: number;
}

type Drawn = State<Model>;

const names: Readonly<Record<Metric, string>> = {
  dot: "Dot products",
  cosine: "Cosine similarity",
  euclidean: "Distances",
};

export const similarity: Figure = defineFigure<Model>({
  name: "similarity",
  attributes: {
    scheme: 'The embed scheme, "sinusoidal" by default.',
    positions: "How many positions, 1 to 1024; 64 by default.",
    dim: "The width of the encoding.",
    base: "The base of the wavelengths.",
    compare: `${compareSentence.slice(0, -1)}; "nothing" by default.`,
    metric: "dot, cosine or euclidean.",
    m: "The position of the cursor's row.",
    n: "The position of the cursor's column.",
  },

  tabs: () =>
    choice("metric", "metric", "dot", [
      { value: "dot", label: "dot product" },
      { value: "cosine", label: "cosine" },
      { value: "euclidean", label: "distance" },
    ]),

  fields: (values) => [
    ...tableFields(values, 64, "nothing"),
    cursorField("m", "The position of the cursor's row."),
    cursorField("n", "The position of the cursor's column."),
  ],

  ...inSteps(
    function* (values, data) {
      const metric = String(values.metric) as Metric;
      const sides: Side[] = [];
      for (const table of tablesOf(values, data)) sides.push(yield* sideOf(table, metric));
      return { metric, sides, rows: Math.max(...sides.map(({ rows }) => rows)) };
    },
    (values, data) => tablesOf(values, data).some(({ table }) => table.size * (table.shape[0] ?? 0) > muchWork),
  ),

  files: tableFiles(() => similarity),

  cells: ({ model }) => ({
    row: { name: "m", count: model.rows, start: Math.floor(0.375 * model.rows) },
    column: { name: "n", count: model.rows, start: Math.floor(0.6 * model.rows) },
  }),

  height: ({ model }, width) => layoutOf(model, width).height,

  draw: (surface, state) => {
    const { blocks } = layoutOf(state.model, surface.width);
    state.model.sides.forEach((side, k) => drawSide(surface, state, side, blocks[k] as Block));
  },

  title: ({ model }) =>
    `${names[model.metric]} of ${count(model.rows, "position")}: ` +
    model.sides.map(({ title, columns }) => `${shortened(lowered(title))} (${count(columns, "dimension")})`).join(" and "),

  caption: ({ model }) => {
    const first = model.sides[0] as Side;
    return (
      `${levelSentence(model)} The thin curve is the average along each diagonal` +
      `${model.sides.every(({ level }) => level) ? "" : ", in the band from its least to its greatest number"}; ` +
      `the broad one is the row of the cursor.${farSentence(model, first)}`
    );
  },

  readout: ({ model, row, column }) => [
    { label: "positions", value: `${row} and ${column}` },
    { label: "offset", value: book(column - row, { signed: true }) },
    ...model.sides.map((side, k) => ({
      label: model.sides.length === 1 ? word[model.metric] : shortened(lowered(side.title)),
      value: written(model, valueAt(side, row, column), k),
    })),
    {
      label: "average at this offset",
      value: model.sides.map((side, k) => written(model, meanAt(side, row, column), k)).join(" and "),
    },
  ],

  summary: (state) =>
    state.model.sides
      .map(
        (side) =>
          `Heat map of the ${names[state.model.metric].toLowerCase()} of ${count(side.rows, "position")} in ${side.phrase} of ` +
          `${count(side.columns, "dimension")}, from ` +
          `${book(side.low)} to ${book(side.high)}, and its average by offset. ` +
          `Two numbers at one offset differ by at most ${book(side.gap, { significant: 2 })}.`,
      )
      .join(" "),

  table: ({ model }) => {
    const { rows, values } = model.sides[0] as Side;
    return {
      header: ["position", ...Array.from({ length: rows }, (_, j) => `position ${j}`)],
      rows,
      cell: (r, c) => (c === 0 ? r : (values[r * rows + c - 1] as number)),
    };
  },

  array: ({ model }) => {
    const { rows, values } = model.sides[0] as Side;
    return { data: values, shape: [rows, rows] };
  },

  code: ({ model }) => codeOf(model),
});

const word: Readonly<Record<Metric, string>> = { dot: "dot product", cosine: "cosine", euclidean: "distance" };

// Products of numbers: more are made block by block, and each block in a few milliseconds.
const muchWork = 2 ** 28;
const blockWork = 2 ** 24;

// The same numbers as of all rows at once. Two blocks of rows are compared as one table, which holds their pairs.
function* similarities({ table }: PositionTable, metric: Metric): Generator<Step, Tensor> {
  const [rows = 0, columns = 0] = table.shape;
  const options = { metric, dtype: "float64" } as const;
  if (table.size * rows <= muchWork) return similarityOf(table, options);
  const size = Math.max(8, Math.floor(Math.sqrt(blockWork / columns) / 2));
  const values = new Float64Array(rows * rows);
  const all = Array.from({ length: rows }, (_, row) => row);
  for (let low = 0; low < rows; low += size) {
    for (let high = low; high < rows; high += size) {
      const places = [...new Set([low, high])].flatMap((start) => all.slice(start, start + size));
      const { data } = similarityOf(places.map((row) => table.row(row)), options);
      places.forEach((row, i) => {
        places.forEach((column, j) => (values[row * rows + column] = data[i * places.length + j] as number));
      });
      yield { done: low * (2 * rows - low), total: rows * rows };
    }
  }
  return tensor(values, [rows, rows], "float64");
}

function* sideOf(table: PositionTable, metric: Metric): Generator<Step, Side> {
  const matrix = yield* similarities(table, metric);
  const values = matrix.data as Float64Array;
  const profile = offsetProfile(matrix);
  const gap = toeplitzGap(matrix).data[0] as number;
  const low = (profile.lowest.data as Float64Array).reduce((least, v) => (v < least ? v : least), 0);
  const high = (profile.highest.data as Float64Array).reduce((most, v) => (v > most ? v : most), 0);
  const extent = Math.max(high, -low) || 1;
  const scale: ColourScale =
    metric === "euclidean" ? { kind: "amount", min: 0, max: extent } : { kind: "signed", extent };
  // Tables are float32: their products are that far off, distances of near rows farther.
  return { ...table, values, profile, scale, low, high, gap, level: gap <= 1e-5 * extent };
}

// Undefined where the table has no such row.
function valueAt({ values, rows }: Side, row: number, column: number): number {
  return row < rows && column < rows ? (values[row * rows + column] as number) : Number.NaN;
}

function meanAt({ profile, rows }: Side, row: number, column: number): number {
  return (profile.mean.data[column - row + rows - 1] as number | undefined) ?? Number.NaN;
}

function written({ metric, sides }: Model, value: number, side: number): string {
  const { scale } = sides[side] as Side;
  // Products of small numbers keep their digits.
  const small = scale.kind === "signed" && scale.extent < 0.5;
  return book(value, small ? { significant: 3, signed: true } : { decimals: 4, signed: metric !== "euclidean" });
}

function levelSentence({ sides }: Model): string {
  const [first, second] = sides as readonly [Side, Side | undefined];
  const untrained = sides.find((side) => side.untrained);
  const name = (side: Side): string => side.phrase;
  const seeded = untrained ? ` Numbers of ${name(untrained)} are seeded, as before training.` : "";
  const places = "where two positions are counts, not only how far apart they are";
  if (!second) {
    if (first.level) return "Only the offset counts: along each diagonal the number is the same.";
    return `Along a diagonal of ${name(first)} the numbers differ: ${places}.${seeded}`;
  }
  if (first.level && second.level) return "In both, only the offset counts: along each diagonal the number is the same.";
  const [even, odd] = first.level ? [first, second] : [second, first];
  if (!even.level) return `In both, ${places}.${seeded}`;
  return `In ${name(even)} only the offset counts: each diagonal is level. In ${name(odd)} it is not.${seeded}`;
}

// How soon near positions are told from far ones.
function farSentence({ metric, sides }: Model, { level, profile, rows, phrase }: Side): string {
  if (!level || rows < 4) return "";
  const where = sides.length > 1 ? `In ${phrase} a` : "A";
  const at = (offset: number): string => book(profile.mean.data[rows - 1 + offset] as number, { significant: 3 });
  const last = rows - 1;
  return ` ${where} ${word[metric]} is ${at(0)} at offset 0, ${at(1)} at 1 and ${at(last)} at ${last}.`;
}

// ---------------------------------------------------------------- where things are

interface Block {
  /** Base line of the side's name, where there are two. */
  heading: number | undefined;
  map: Box;
  legend: { x: number; y: number; length: number };
  profile: Box;
}

const tickRoom = 34;
const headRoom = 22;

function layoutOf({ sides }: Model, width: number): { blocks: Block[]; height: number } {
  const narrow = width < 500;
  const pair = sides.length > 1;
  const beside = !narrow && !pair;
  const across = pair && !narrow ? (width - 40) / 2 : width;
  const side = beside ? Math.min(380, 0.46 * width) : across - tickRoom - 4;
  let top = 0;
  const blocks = sides.map((_, k) => {
    const left = pair && !narrow ? k * (across + 40) : 0;
    const y = narrow ? top : 0;
    const heading = pair ? y + 8 : undefined;
    const map = { x: left + tickRoom, y: y + headRoom + (pair ? 18 : 0), width: side, height: side };
    const foot = map.y + map.height + 44;
    const profile = beside
      ? { x: map.x + side + 76, y: map.y + 6, width: width - map.x - side - 94, height: side - 6 }
      : { x: map.x + 12, y: foot + 58, width: across - tickRoom - 28, height: narrow ? 150 : 160 };
    top = beside ? foot : profile.y + profile.height + 40;
    return { heading, map, legend: { x: map.x, y: foot - 6, length: Math.min(170, side) }, profile };
  });
  return { blocks, height: Math.round(top) };
}

// ---------------------------------------------------------------- drawing

function drawSide(surface: Surface, { model, row, column }: Drawn, side: Side, block: Block): void {
  const { rows, values, scale } = side;
  const { map, heading } = block;
  const cell = map.width / rows;
  if (heading !== undefined) {
    surface.text(map.x, heading, shortened(side.title, 44), { bold: true, ink: "ink", size: labelSize });
  }
  surface.heatMap(map, { values, rows, columns: rows, scale });
  surface.region(map, (u, v) => ({ row: Math.floor(v * rows), column: Math.floor(u * rows) }));
  const here = row < rows && column < rows;
  for (const i of indexTicks(rows, map.height, 30)) {
    const place = (i + 0.5) * cell;
    if (Math.abs(i - row) * cell > 15) surface.text(map.x - 8, map.y + place, String(i), { align: "end" });
    if (hasRoom(surface, String(i), place, String(column), (column + 0.5) * cell)) {
      surface.text(map.x + place, map.y - 10, String(i), { align: "middle" });
    }
  }
  if (here) {
    surface.text(map.x - 8, map.y + (row + 0.5) * cell, String(row), { align: "end", ink: "accent" });
    const half = surface.textWidth(String(column)) / 2;
    const x = Math.min(map.x + (column + 0.5) * cell, surface.width - half - 1);
    surface.text(x, map.y - 10, String(column), { align: "middle", ink: "ink" });
    drawCursor(surface, side, map, row, column);
  }
  const half = side.low === 0 ? "above" : side.high === 0 ? "below" : undefined;
  legend(surface, scale, block.legend.x, map.y + map.height + 16, block.legend.length, false, half);
  drawProfile(surface, model, side, block.profile, row, column);
}

// The row of the cursor, its cell, and the diagonal that the cell is on.
function drawCursor(surface: Surface, { rows }: Side, map: Box, row: number, column: number): void {
  const cell = map.width / rows;
  const frame = Math.max(5, cell);
  const y = map.y + (row + 0.5) * cell - frame / 2;
  drawFrames(surface, [{ x: map.x - 0.5, y, width: map.width + 1, height: frame }], 1, "accent");
  const from = Math.max(0, row - column);
  const to = Math.min(rows, rows + row - column);
  const diagonal = [from, to].flatMap((i) => [map.x + (i + column - row) * cell, map.y + i * cell]);
  surface.path(diagonal, { stroke: "paper", width: 3.4, alpha: 0.7 });
  surface.path(diagonal, { stroke: "cool", width: 1.6 });
  drawCell(surface, map, rows, row, column);
}

function drawProfile(surface: Surface, model: Model, side: Side, box: Box, row: number, column: number): void {
  const { rows, profile, low, high } = side;
  const offsets = 2 * rows - 1;
  const room = high - low || 1;
  const step = box.width / Math.max(1, offsets - 1);
  const x = (offset: number): number => box.x + (rows > 1 ? (offset + rows - 1) * step : box.width / 2);
  const y = (value: number): number => box.y + ((high - value) * box.height) / room;
  const curve = (values: ArrayLike<number>, first: number): Float64Array =>
    Float64Array.from({ length: 2 * values.length }, (_, at) =>
      at % 2 === 0 ? x(first + at / 2) : y(values[(at - 1) / 2] as number),
    );
  for (const value of valueTicks(low, high, box.height > 200 ? 5 : 4)) {
    surface.path([box.x, y(value), box.x + box.width, y(value)], { stroke: "faint" });
    surface.text(box.x - 8, y(value), short(value), { align: "end", size: labelSize });
  }
  const offset = column - row;
  const here = row < rows && column < rows;
  if (here) surface.path([x(offset), box.y, x(offset), box.y + box.height], { stroke: "cool" });
  if (!side.level) {
    const edge = curve(profile.highest.data, 1 - rows);
    const back = curve(profile.lowest.data, 1 - rows);
    const outline = [...edge];
    for (let at = back.length - 2; at >= 0; at -= 2) outline.push(back[at] as number, back[at + 1] as number);
    surface.path(outline, { fill: "grey", alpha: 0.22 });
  }
  // Where all rows are the same, the row lies wide under the average, so that one sees both.
  const average = (): void => surface.path(curve(profile.mean.data, 1 - rows), { stroke: "ink", width: 1.3 });
  if (!side.level) average();
  if (row < rows) {
    const own = curve(side.values.subarray(row * rows, (row + 1) * rows), -row);
    surface.path(own, side.level ? { stroke: "accent", width: 5, alpha: 0.45 } : { stroke: "accent", width: 2.4 });
  }
  if (side.level) average();
  if (here) surface.disc(x(offset), y(valueAt(side, row, column)), 3.4, { fill: "accent" });

  const foot = box.y + box.height + 16;
  const name = `offset ${book(offset, { signed: true })}`;
  const half = surface.textWidth(name, { size: labelSize }) / 2;
  const middle = Math.max(box.x - 20 + half, Math.min(box.x + box.width + 4 - half, x(offset)));
  for (const tick of wholeTicks(1 - rows, rows - 1, box.width > 300 ? 8 : 4)) {
    const label = book(tick, { signed: true });
    if (!here || hasRoom(surface, label, x(tick), name, middle))
      surface.text(x(tick), foot, label, { align: "middle", size: labelSize });
  }
  if (here) surface.text(middle, foot, name, { ink: "cool", align: "middle", size: labelSize });
  const runs: Run[] = [
    { text: "average", ink: "ink" },
    { text: " and " },
    { text: row < rows ? `row ${row}` : "rows", ink: "accent" },
    { text: " by offset" },
  ];
  surface.text(box.x - 8, box.y - 16, runs, { size: labelSize });
  surface.region(box, (u) => {
    const to = Math.round(u * (offsets - 1)) + 1 - rows;
    return { column: Math.max(0, Math.min(model.rows - 1, row + to)) };
  });
}

// ---------------------------------------------------------------- code

function codeOf({ sides, metric }: Model): Code {
  const { made, rows, columns } = sides[0] as Side;
  const named = made as NonNullable<typeof made>;
  const javascript =
    `import { ${["encode", named.name, "offsetProfile", "similarity"].join(", ")} } from "posenc";\n\n` +
    `const table = encode(${named.code}, ${rows});  // [${rows}, ${columns}]\n` +
    `const s = similarity(table, { metric: "${metric}" });  // [${rows}, ${rows}]\n` +
    "const profile = offsetProfile(s);  // by key - query: offsets, mean, lowest, highest\n";
  return {
    javascript,
    numpy: async () => {
      const { similarityNumpy } = await import("./numpy-programs.js");
      return similarityNumpy(named.scheme, rows, metric);
    },
  };
}
