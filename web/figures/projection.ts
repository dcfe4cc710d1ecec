// <posenc-projection>: a table of positions as a path in two dimensions, coloured from the first position to the last;
// a formula beside a table of free parameters.
import { pca, similarity } from "../src/analysis/index.js";
import { tsneInSlices } from "../src/analysis/tsne-slices.js";
import { inSteps, type Step } from "./background.js";
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
import { book, count, lowered } from "./format.js";
import { brokenLines, inkOf, labelSize } from "./marks.js";
import { refuseValue } from "./refusal.js";
import { shortened } from "./sentence.js";
import type { Box, Surface } from "./surface.js";
import { tableFiles } from "./table-file.js";
import { compareSentence, tableFields, tablesOf, type PositionTable } from "./tables.js";

interface Side extends PositionTable {
  /** [rows, 2]. */
  points: Float64Array;
  /** Of components: the variance along each of the first ones, and of the whole table. */
  explained: ArrayLike<number>;
  total: number;
  /** Of a t-SNE map: KL(P | Q), in nats. */
  divergence: number | undefined;
}

interface Model {
  sides: readonly Side[];
  rows: number;
  /** The components along the axes, from 0. */
  axes: readonly [number, number];
  map: Readonly<Record<"perplexity" | "iterations" | "seed", number | undefined>> | undefined;
}

type Drawn = State<Model>;

const mostComponents = 16;
const mostMapped = 512;
// What components are found of in a second or two.
const mostNumbers = 2 ** 23;
// Multiply-adds that hold no page up, and those of one slice of a map.
const muchWork = 2 ** 25;
const mapSlice = 2 ** 22;
// Columns that a file may have: nobody has asked it.
const givenColumns = 1024;

const isLong = ({ view, positions, iterations, dim }: Values, data: unknown): boolean => {
  const [rows, columns] = [Number(positions), Number(data === undefined ? dim : givenColumns)];
  return view === "tsne" && rows * rows * (columns / 2 + Number(iterations)) > muchWork;
};

export const projection: Figure = defineFigure<Model>({
  name: "projection",
  attributes: {
    scheme: 'The embed scheme, "sinusoidal" by default.',
    positions: "How many positions, 2 to 1024, of a t-SNE map 4 to 512; 128 by default.",
    dim: "The width of the encoding.",
    base: "The base of the wavelengths.",
    compare: `${compareSentence.slice(0, -1)}; "learned" by default, beside that "sinusoidal", "nothing" for none.`,
    view: "components or tsne.",
    horizontal: "The principal component along the horizontal axis, from 1; 1 by default.",
    vertical: "The principal component along the vertical axis; 2 by default.",
    perplexity: "About how many neighbours count in a t-SNE map; 15 by default, and at most a third of the others.",
    iterations: "Steps of t-SNE, 1 to 2000; 500 by default.",
    mapSeed: "Seed of the points that t-SNE starts from; 0 by default.",
    position: "The position under the cursor.",
  },

  tabs: () =>
    choice("view", "view", "components", [
      { value: "components", label: "principal components" },
      { value: "tsne", label: "t-SNE" },
    ]),

  fields: (values) => {
    const map = values.view === "tsne";
    const whole = { integer: true } as const;
    const axis = {
      ...whole,
      most: mostComponents,
      place: map ? "none" : "row",
      format: (value: number) => `PC ${value}`,
    } as const;
    return [
      ...tableFields(values, 128, "learned"),
      range("horizontal", "across", 1, 1, 8, { ...axis, sentence: "The principal component along the horizontal axis." }),
      range("vertical", "upwards", 2, 1, 8, { ...axis, sentence: "The principal component along the vertical axis." }),
      range("perplexity", "perplexity", 15, 2, 50, { least: 1, most: 200, place: map ? "row" : "none" }),
      range("iterations", "steps", 500, 50, 1000, { ...whole, least: 1, most: 2000, place: map ? "more" : "none" }),
      range("mapSeed", "seed of the map", 0, 0, 99, { ...whole, most: 2 ** 32, place: map ? "more" : "none" }),
      cursorField("position", "The position under the cursor."),
    ];
  },

  ...inSteps(function* (values, data) {
    const tables = tablesOf(values, data);
    const rows = Math.max(...tables.map((table) => table.rows));
    const axes = [Number(values.horizontal) - 1, Number(values.vertical) - 1] as const;
    const numbers = Math.max(...tables.map((table) => table.rows * table.columns));
    const many = data ? "data" : "positions";
    if (numbers > mostNumbers) {
      const sentence = `a table of more than ${book(mostNumbers)} numbers takes too long here, got ${book(numbers)}.`;
      refuseValue("too-large", many, `at most ${mostNumbers} numbers`, numbers, sentence);
    }
    if (values.view !== "tsne") {
      return { sides: tables.map((table) => components(table, axes)), rows, axes, map: undefined };
    }
    if (rows > mostMapped) {
      const sentence = `a t-SNE map of more than ${mostMapped} positions takes too long here, got ${book(rows)}.`;
      refuseValue("too-large", many, `at most ${mostMapped} rows`, rows, sentence);
    }
    const { perplexity, iterations, mapSeed } = values;
    const map = { perplexity: Number(perplexity), iterations: Number(iterations), seed: Number(mapSeed) };
    const sides: Side[] = [];
    for (const table of tables) {
      const making = mapped(table, map);
      let step = making.next();
      for (; !step.done; step = making.next()) {
        const { done, total } = step.value;
        yield { done: sides.length * total + done, total: tables.length * total };
      }
      sides.push(step.value);
    }
    return { sides, rows, axes, map };
  }, isLong),

  // One step of a map shows as well whether there can be one.
  files: tableFiles(() => projection, { iterations: 1 }),

  cells: ({ model }) => ({
    column: { name: "position", count: model.rows, start: Math.floor(0.3 * model.rows) },
  }),

  height: ({ model }, width) => layoutOf(model, width).height,

  draw: (surface, state) => {
    const { panels, legend: place } = layoutOf(state.model, surface.width);
    state.model.sides.forEach((side, k) => drawSide(surface, state, side, panels[k] as Panel));
    drawLegend(surface, state.model.rows, place);
  },

  title: ({ model, view }) => {
    const what = view === "tsne" ? "t-SNE map" : "Principal components";
    const names = model.sides.map(({ title }) => shortened(lowered(title), 44));
    return `${what} of ${count(model.rows, "position")}: ${names.join(" and ")}`;
  },

  caption: ({ model, view }) => {
    const untrained = model.sides.some((side) => side.untrained);
    const how =
      view === "tsne"
        ? "Near points are positions with like vectors; how far apart groups lie, and how wide they are, mean little."
        : "Each table is seen along the directions in which its rows differ most; bars are the share of the variance " +
          "along each.";
    return (
      `${how} A path of neighbours without jumps is an order that can be read off the vectors.` +
      (untrained
        ? " The learned table is seeded numbers, as before training, so its path jumps: take a model\u2019s own from " +
          "a file, .npy or .safetensors."
        : "")
    );
  },

  readout: ({ model, view, column }) => {
    const pair = (side: Side): string => {
      if (column >= side.rows) return "\u2013";
      const at = (axis: 0 | 1): string => book(side.points[2 * column + axis] as number, { significant: 3 });
      return `(${at(0)}, ${at(1)})`;
    };
    const name = (side: Side): string => shortened(lowered(side.title));
    const only = model.sides.length === 1;
    const each = (of: (side: Side) => string): string => model.sides.map(of).join(" and ");
    return [
      { label: "position", value: book(column) },
      ...model.sides.map((side) => ({ label: only ? "at" : name(side), value: pair(side) })),
      ...(column + 1 < model.rows
        ? [{ label: "distance to the next one", value: each((side) => toNext(side, column)) }]
        : []),
      {
        constant: true,
        ...(view === "tsne"
          ? { label: "divergence", value: each((side) => book(side.divergence!, { decimals: 3 })), unit: "nats" }
          : { label: "variance shown", value: each((side) => shareText(side, model.axes)) }),
      },
    ];
  },

  summary: ({ model, view }) =>
    model.sides
      .map((side) => {
        const what =
          view === "tsne"
            ? `t-SNE map of ${side.phrase}, divergence ${book(side.divergence!, { decimals: 3 })} nats`
            : `Principal components ${model.axes[0] + 1} and ${model.axes[1] + 1} of ${side.phrase}, ` +
              `${shareText(side, model.axes)} of its variance`;
        return `${what}: a path through ${count(side.rows, "position")}, from the first to the last.`;
      })
      .join(" "),

  table: ({ model }) => ({
    header: [
      "position",
      ...model.sides.flatMap(({ title }) => [`${lowered(title)}, across`, `${lowered(title)}, upwards`]),
    ],
    rows: model.rows,
    cell: (r, c) => {
      if (c === 0) return r;
      const { points } = model.sides[Math.floor((c - 1) / 2)] as Side;
      return points[2 * r + ((c - 1) % 2)] ?? Number.NaN;
    },
  }),

  array: ({ model }) => {
    const { points, rows } = model.sides[0] as Side;
    return { data: points, shape: [rows, 2] };
  },

  code: ({ values, model }) => codeOf(model),
});

function components(table: PositionTable, axes: readonly [number, number]): Side {
  const shown = Math.max(axes[0] + 1, axes[1] + 1, Math.min(mostComponents, table.columns));
  const { scores, explained, total } = pca(table.table, { components: shown });
  const points = Float64Array.from({ length: 2 * table.rows }, (_, n) => scores.at(n >> 1, axes[n % 2] as number));
  return { ...table, points, explained: explained.data, total, divergence: undefined };
}

function* mapped(table: PositionTable, map: NonNullable<Model["map"]>): Generator<Step, Side> {
  const { points, divergence } = yield* tsneInSlices(table.table, mapOptions(map, table.rows), mapSlice);
  return { ...table, points: points.data as Float64Array, explained: [], total: 0, divergence };
}

// Of few positions fewer are neighbours: the core knows how many.
function mapOptions({ perplexity, ...rest }: NonNullable<Model["map"]>, rows: number): Record<string, number> {
  const fits = (perplexity as number) <= (rows - 1) / 3;
  return { ...(fits ? { perplexity: perplexity as number } : {}), ...(rest as Record<string, number>) };
}

function shareText({ explained, total }: Side, axes: readonly [number, number]): string {
  const share = axes.reduce((sum, axis, k) => sum + (axes.indexOf(axis) === k ? (explained[axis] as number) : 0), 0);
  return `${book(total > 0 ? (100 * share) / total : 0, { decimals: 0 })}\u00a0%`;
}

function toNext({ table, rows }: Side, position: number): string {
  if (position + 1 >= rows) return "\u2013";
  const two = similarity(table.slice(position, position + 2), { metric: "euclidean" });
  return book(two.at(0, 1), { significant: 3 });
}

// Without the end of the map that is near the paper: thin lines have to stand out from it.
function colours(rows: number): ColourScale {
  const last = Math.max(1, rows - 1);
  return { kind: "amount", min: -last / 4, max: last };
}

// ---------------------------------------------------------------- where things are

interface Panel {
  /** Middle of the line of the table's name. */
  heading: number;
  plot: Box;
  /** Of the bars; none of a map. */
  bars: Box | undefined;
}

const barsHeight = 44;

function layoutOf({ sides, map }: Model, width: number): {
  panels: Panel[];
  legend: { x: number; y: number; length: number };
  height: number;
} {
  const narrow = width < 500;
  const pair = sides.length > 1 && !narrow;
  const across = pair ? (width - 36) / 2 : width;
  const side = Math.min(across - 22, narrow ? across - 22 : pair ? across - 22 : 420);
  let top = 0;
  const panels = sides.map((_, k): Panel => {
    const left = pair ? k * (across + 36) : 0;
    const y = pair ? 0 : top;
    const plot = { x: left + 20, y: y + 24, width: side, height: pair || narrow ? side * 0.92 : side * 0.82 };
    const below = plot.y + plot.height + 24;
    const beside = !pair && !narrow && sides.length === 1;
    const bars = map
      ? undefined
      : beside
        ? { x: plot.x + side + 60, y: plot.y + 30, width: width - plot.x - side - 64, height: 120 }
        : { x: plot.x, y: below + 24, width: side, height: barsHeight };
    top = bars && !beside ? bars.y + bars.height + 34 : below + 14;
    return { heading: y + 8, plot, bars };
  });
  const length = Math.min(180, width - 140);
  return { panels, legend: { x: 20, y: top + 4, length }, height: top + 18 };
}

// ---------------------------------------------------------------- drawing

function drawLegend(surface: Surface, rows: number, { x, y, length }: { x: number; y: number; length: number }): void {
  surface.text(x, y + 4, "position 0", { size: 11 });
  const left = x + surface.textWidth("position 0", { size: 11 }) + 8;
  const values = Float64Array.from({ length: 128 }, (_, k) => (k * (rows - 1)) / 127);
  const map = { values, rows: 1, columns: values.length, scale: colours(rows) };
  surface.heatMap({ x: left, y, width: length, height: 7 }, map);
  surface.text(left + length + 8, y + 4, book(rows - 1), { size: 11 });
}

function drawSide(surface: Surface, { model, column, view }: Drawn, side: Side, panel: Panel): void {
  const { points, rows } = side;
  const { plot, heading, bars } = panel;
  const name = { text: shortened(side.title, 30), bold: true, ink: "ink" } as const;
  surface.text(plot.x, heading, [name, { text: `, ${count(side.columns, "dimension")}` }], { size: labelSize });
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let t = 0; t < rows; t++) {
    const [across, up] = [points[2 * t] as number, points[2 * t + 1] as number];
    [left, right, low, high] = [Math.min(left, across), Math.max(right, across), Math.min(low, up), Math.max(high, up)];
  }
  // One scale for both axes: distances on the paper are distances.
  const room = { width: plot.width - 28, height: plot.height - 28 };
  const zoom = Math.min(room.width / (right - left || 1e-9), room.height / (high - low || 1e-9));
  const [middleX, middleY] = [plot.x + plot.width / 2, plot.y + plot.height / 2];
  const flat = !(right > left) && !(high > low);
  const x = (t: number): number => middleX + (flat ? 0 : ((points[2 * t] as number) - (left + right) / 2) * zoom);
  const y = (t: number): number => middleY - (flat ? 0 : ((points[2 * t + 1] as number) - (low + high) / 2) * zoom);

  const bottom = plot.y + plot.height;
  surface.path([plot.x, plot.y, plot.x, bottom, plot.x + plot.width, bottom], { stroke: "faint" });
  const foot = plot.y + plot.height + 13;
  if (view === "tsne") surface.text(plot.x, foot, "the axes have no meaning of their own", { size: 11 });
  else {
    const share = (axis: number): string => shareText(side, [axis, axis]);
    const [across, up] = model.axes;
    surface.text(plot.x, foot, `component ${across + 1}, ${share(across)}`, { size: 11 });
    surface.text(plot.x - 11, bottom, `component ${up + 1}, ${share(up)}`, { size: 11, turn: -90 });
  }
  drawPath(surface, model.rows, rows, x, y);
  if (column < rows) {
    surface.disc(x(column), y(column), 5.5, { fill: "paper" });
    surface.disc(x(column), y(column), 5.5, { stroke: "ink", width: 1.6 });
    surface.disc(x(column), y(column), 3, { fill: inkOf(surface.theme, colours(model.rows), column) });
  }
  drawNumbers(surface, rows, x, y, plot, column);
  surface.region(plot, (u, v) => {
    const [px, py] = [plot.x + u * plot.width, plot.y + v * plot.height];
    let [nearest, least] = [0, Infinity];
    for (let t = 0; t < rows; t++) {
      const far = (x(t) - px) ** 2 + (y(t) - py) ** 2;
      if (far < least) [nearest, least] = [t, far];
    }
    return { column: nearest };
  });
  if (bars) drawBars(surface, model, side, bars);
}

type Place = (position: number) => number;

// Pieces of one colour each, the points on top while they are apart.
function drawPath(surface: Surface, total: number, rows: number, x: Place, y: Place): void {
  const scale = colours(total);
  const piece = Math.max(1, Math.floor(rows / 255));
  for (let from = 0; from + 1 < rows; from += piece) {
    const to = Math.min(rows - 1, from + piece);
    const line: number[] = [];
    for (let t = from; t <= to; t++) line.push(x(t), y(t));
    surface.path(line, { stroke: inkOf(surface.theme, scale, from), width: 1.5, alpha: 0.8 });
  }
  if (rows > 300) return;
  const radius = rows > 100 ? 2.1 : 2.8;
  for (let t = 0; t < rows; t++) surface.disc(x(t), y(t), radius, { fill: inkOf(surface.theme, scale, t) });
}

// The cursor's number beside its point, and those of the ends where they do not meet it; each where it hides the fewest
// points, with paper behind it.
function drawNumbers(surface: Surface, rows: number, x: Place, y: Place, plot: Box, column: number): void {
  const taken: { left: number; middle: number; wide: number }[] = [];
  for (const t of new Set([column, 0, rows - 1].filter((t) => t < rows))) {
    const words = String(t);
    const wide = surface.textWidth(words, { size: labelSize, bold: true });
    const ways = [x(t) + 9, x(t) - 9 - wide];
    const sides = [y(t) - 9, y(t) + 9].flatMap((at) => ways.map((from) => ({ from, at })));
    const inside = sides.filter(({ from, at }) => {
      const across = from > plot.x + 2 && from + wide + 1 < plot.x + plot.width;
      return across && at > plot.y + 7 && at < plot.y + plot.height - 7;
    });
    let [left, middle, fewest] = [x(t) + 9, y(t) - 9, Infinity];
    for (const { from, at } of inside) {
      let hidden = 0;
      for (let k = 0; k < rows; k++) {
        if (x(k) > from - 4 && x(k) < from + wide + 4 && Math.abs(y(k) - at) < 9) hidden++;
      }
      if (hidden < fewest) [left, middle, fewest] = [from, at, hidden];
    }
    const meets = (other: (typeof taken)[number]): boolean =>
      Math.abs(other.middle - middle) < 15 && left < other.left + other.wide + 6 && other.left < left + wide + 6;
    if (taken.some(meets)) continue;
    taken.push({ left, middle, wide });
    surface.rect(left - 2, middle - 7, wide + 4, 14, { fill: "paper", alpha: 0.8 });
    surface.text(left, middle, words, { size: labelSize, bold: t === column, ink: "ink" });
  }
}

// The share of the variance along each of the first components.
function drawBars(surface: Surface, { axes }: Model, side: Side, box: Box): void {
  const { explained, total } = side;
  const shown = explained.length;
  let most = 0;
  for (let k = 0; k < shown; k++) most = Math.max(most, explained[k] as number);
  const cell = Math.min(26, box.width / shown);
  const first = total > 0 ? book((100 * most) / total, { decimals: 0 }) : "0";
  const words = `variance along each component, at most ${first}\u00a0%`;
  brokenLines(surface, words, surface.width - box.x, 11).forEach((line, k, { length }) => {
    surface.text(box.x, box.y - 14 * (length - k), line, { size: 11 });
  });
  for (let k = 0; k < shown; k++) {
    const tall = most > 0 ? ((explained[k] as number) / most) * box.height : 0;
    const chosen = axes.includes(k);
    const bar = { fill: chosen ? "accent" : "grey", alpha: chosen ? 1 : 0.45 } as const;
    surface.rect(box.x + k * cell + 1, box.y + box.height - tall, Math.max(1, cell - 2), Math.max(0.5, tall), bar);
    const every = cell < 17 ? 2 : 1;
    if (k % every === 0) {
      surface.text(box.x + (k + 0.5) * cell, box.y + box.height + 11, String(k + 1), {
        align: "middle",
        size: 11,
        ink: chosen ? "accent" : "grey",
      });
    }
  }
  surface.path([box.x, box.y + box.height, box.x + shown * cell, box.y + box.height], { stroke: "faint" });
}

// ---------------------------------------------------------------- code

function codeOf({ sides, axes, map }: Model): Code {
  const { made, rows, columns, explained } = sides[0] as Side;
  const named = made as NonNullable<typeof made>;
  const table = `const table = encode(${named.code}, ${rows});  // [${rows}, ${columns}]\n`;
  if (map) {
    const options = Object.entries(mapOptions(map, rows)).map(([name, value]) => `${name}: ${value}`);
    return {
      javascript:
        `import { encode, ${named.name}, tsne } from "posenc";\n\n${table}` +
        `const { points, divergence } = tsne(table, { ${options.join(", ")} });\n`,
    };
  }
  const javascript =
    `import { encode, pca, ${named.name}, tensor } from "posenc";\n\n${table}` +
    `const { scores, explained, total } = pca(table, { components: ${explained.length} });\n` +
    "const points = tensor(Array.from({ length: table.shape[0] }, (_, t) =>\n" +
    `  [scores.at(t, ${axes[0]}), scores.at(t, ${axes[1]})]), undefined, "float64");\n`;
  return {
    javascript,
    numpy: async () => {
      const { projectionNumpy } = await import("./numpy-programs.js");
      return projectionNumpy(named.scheme, rows, axes);
    },
  };
}
