// <posenc-bias>: the matrix b(i, j) that a bias scheme adds to the scores of one head, and its profile for all heads.
import { readAll } from "../src/error.js";
import { bias as biasOf, type BiasScheme } from "../src/core.js";
import {
  choice,
  cursorField,
  defineFigure,
  flag,
  range,
  type Code,
  type State,
} from "./figure.js";
import { book, count, outOf, short } from "./format.js";
import { gridField, gridOf, gridSentence, type Grid } from "./grid-cells.js";
import { Lens } from "./lens.js";
import { hasRoom, labelSize, spread, valueTicks, wholeTicks } from "./marks.js";
import { drawMatrix, matrixHeight } from "./matrix.js";
import {
  descriptorOf,
  headFields,
  headOf,
  schemeChooser,
  schemeFields,
  type ChosenScheme,
} from "./scheme-fields.js";
import { canBeMade, chosenSeeded, seededWords, seedFields } from "./sized-schemes.js";
import type { Surface } from "./surface.js";

export interface Model {
  chosen: ChosenScheme<BiasScheme>;
  title: string;
  heads: number;
  /** The head of the matrix, from 0. */
  head: number;
  positions: number;
  causal: boolean;
  /** Whose cells the positions are. */
  grid: Grid | undefined;
  /** [positions, positions] of one head, NaN where masked. Empty in the profiles view. */
  matrix: Float32Array;
  /** [heads, offsets], as the query at `positions - 1` sees keys before and, unless causal, after it. */
  profiles: Float32Array;
  offsets: number;
  /** The largest magnitude shown. */
  extent: number;
  /** Where all values lie on one side of zero. */
  side: "below" | "above" | undefined;
  /** Of every head, where one step back costs the same everywhere. */
  slopes: readonly number[] | undefined;
  /** The matrix is constant along its diagonals. */
  shifts: boolean;
  /** The least and the greatest value of the matrix. */
  ends: readonly [number, number];
}

type Drawn = State<Model>;

const mostPositions = 4096;
const mostCells = 256;
const profilesHeight = { wide: 380, narrow: 340 };

export const bias = defineFigure<Model>({
  name: "bias",
  attributes: {
    scheme: 'The bias scheme, "alibi" by default.',
    positions: "How many positions, 1 to 4096; 32 by default.",
    head: "The head, from 1.",
    heads: "How many heads.",
    seed: "Deals numbers anew that a model would have learned.",
    causal: "Masks the keys after a query.",
    common: "One scale of values for all heads, true by default.",
    cells: `${gridSentence.slice(0, -1)}; those of their window by default.`,
    view: "matrix or profiles.",
    query: "The position of the query under the cursor.",
    key: "The position of the key under the cursor.",
    offset: "The offset (key - query) under the cursor, in the profiles.",
  },

  // Distances on a grid are no line.
  tabs: ({ cells }, model) =>
    choice("view", "view", "matrix", (model ? model.grid : cells) ? ["matrix"] : ["matrix", "profiles"]),

  fields: (values) => {
    const scheme = String(values.scheme ?? "alibi");
    const descriptor = descriptorOf("bias", scheme);
    const grid = values.cells || values.window;
    return [
      ...headFields(descriptor, values),
      schemeChooser("bias", "alibi", { draws: canBeMade }),
      range("positions", "positions", 32, 4, 128, {
        integer: true,
        least: 1,
        most: mostPositions,
        place: grid ? "none" : "row",
      }),
      gridField(),
      ...schemeFields(descriptor, { values }),
      ...seedFields(descriptor),
      flag("causal", "causal", false),
      flag("common", "one scale for all heads", true, { place: values.view === "profiles" && !grid ? "none" : "more" }),
      cursorField("query", "The position of the query under the cursor."),
      cursorField("key", "The position of the key under the cursor."),
      cursorField("offset", "The offset, key - query, under the cursor."),
    ];
  },

  compute: (values, data) => {
    const chosen = chosenSeeded("bias", values, data, Number(values.positions));
    const { scheme, title } = chosen;
    const grid = gridOf(values, mostCells) ?? windowOf(scheme);
    const positions = grid?.cells ?? Number(values.positions);
    const where = grid?.positions ?? positions;
    const causal = values.causal === true;
    const offsets = causal ? positions : 2 * positions - 1;
    // On a grid no one query sees every offset.
    const seen = biasOf(scheme, grid ? { queries: where, keys: where } : { queries: [positions - 1], keys: offsets });
    const profiles = seen.data as Float32Array;
    const heads = seen.shape[0] ?? 1;
    const head = headOf(values, heads);
    let matrix = new Float32Array();
    if (grid || values.view !== "profiles") {
      matrix = biasOf(scheme, { queries: where, keys: where, heads: [head] }).data as Float32Array<ArrayBuffer>;
    }
    const own = profiles.subarray(head * offsets, (head + 1) * offsets);
    const shifts = !grid && isShifted(matrix, own, positions, causal);
    if (causal) {
      for (let i = 0; i < positions; i++) matrix.fill(Number.NaN, i * positions + i + 1, (i + 1) * positions);
    }
    const ends = [endsOf(matrix), endsOf(profiles)] as const;
    const far = (of: readonly [number, number]): number => Math.max(0, -of[0], of[1]);
    const extent = Math.max(values.common === false ? 0 : far(ends[1]), far(ends[0])) || 1;
    const slopes = grid ? undefined : slopesOf(profiles, heads, offsets, positions);
    const side = ends.every(([, high]) => !(high > 0))
      ? ("below" as const)
      : ends.every(([low]) => !(low < 0))
        ? ("above" as const)
        : undefined;
    const seenBy = { matrix, profiles, offsets, extent, side, slopes, shifts, ends: ends[0] };
    return { chosen, title, heads, head, positions, causal, grid, ...seenBy };
  },

  lens: Lens,

  cells: (state) => {
    const { model } = state;
    return showsProfiles(state)
      ? {
          row: { name: "head", count: model.heads, from: 1 },
          column: {
            name: "offset",
            count: model.offsets,
            start: Math.floor(0.7 * (model.positions - 1)),
            from: 1 - model.positions,
          },
        }
      : {
          row: { name: "query", count: model.positions, start: Math.floor(0.64 * model.positions) },
          column: { name: "key", count: model.positions, start: Math.floor(0.4 * model.positions) },
          zoom: true,
        };
  },

  height: (state, width) => {
    if (showsProfiles(state)) return width < 500 ? profilesHeight.narrow : profilesHeight.wide;
    return matrixHeight(width, 0.62);
  },

  draw: (surface, state) => {
    if (showsProfiles(state)) {
      drawProfiles(surface, state);
      return;
    }
    const { model, row, column, part } = state;
    drawMatrix(surface, {
      part,
      values: model.matrix,
      rows: model.positions,
      columns: model.positions,
      row,
      column,
      scale: { kind: "signed", extent: model.extent },
      side: model.side,
      rowAxis: { label: "query", name: `query ${book(row)}` },
      columnAxis: { name: `key ${book(column)}`, binary: true },
    });
  },

  title: (state) => {
    const { model, row } = state;
    const profiles = showsProfiles(state);
    const head = profiles ? row : model.head;
    const who =
      model.heads === 1 ? "" : profiles ? `, ${model.heads} heads` : `, head ${outOf(head + 1, model.heads)}`;
    // "T5 relative bias" says it already.
    const named = model.title.endsWith(" bias") ? model.title : `${model.title} bias`;
    return `${named}${profiles ? " by distance" : ""}${who}, ${count(model.positions, "position")}${model.causal ? ", causal" : ""}`;
  },

  caption: (state) => {
    const { model } = state;
    const caption = showsProfiles(state) ? profilesCaption(model) : matrixCaption(model);
    return `${seededWords(model.chosen)}${caption}`;
  },

  readout: (state) => {
    const { model, row, column } = state;
    const profiles = showsProfiles(state);
    const head = profiles ? row : model.head;
    const slope = model.slopes?.[head];
    const value = { label: "bias", value: book(valueAt(state), { decimals: 4, signed: true }) };
    if (Number.isNaN(valueAt(state))) value.value = "masked";
    return [
      ...(profiles
        ? [{ label: "head", value: `${row + 1}` }]
        : [
            { label: "query", value: book(row) },
            { label: "key", value: book(column) },
          ]),
      { label: "key \u2212 query", value: offsetText(state) },
      value,
      ...(slope === undefined ? [] : [{ label: "slope", value: short(slope), unit: "a token" }]),
    ];
  },

  summary: (state) => {
    const { model } = state;
    return showsProfiles(state)
      ? `Curves of the ${model.title} bias over the offset from query to key, one for each of ` +
        `${count(model.heads, "head")}. ${profilesCaption(model)}`
      : `Heat map of the ${model.title} bias of head ${model.head + 1} of ${model.heads}: queries down, keys across, ` +
        `${count(model.positions, "position")}${model.causal ? ", keys after the query masked" : ""}. Values run ` +
        `from ${model.ends.map((end) => book(end, { significant: 4 })).join(" to ")}.`;
  },

  table: (state) => {
    const { model } = state;
    const { positions, heads, offsets } = model;
    if (showsProfiles(state)) {
      return {
        header: ["offset", ...Array.from({ length: heads }, (_, h) => `head ${h + 1}`)],
        rows: offsets,
        cell: (r, c) => (c === 0 ? r + 1 - positions : (model.profiles[(c - 1) * offsets + r] as number)),
      };
    }
    return {
      header: ["query", ...Array.from({ length: positions }, (_, j) => `key ${j}`)],
      rows: positions,
      cell: (r, c) => (c === 0 ? r : (model.matrix[r * positions + c - 1] as number)),
    };
  },

  array: (state) => {
    const { model } = state;
    return showsProfiles(state)
      ? { data: model.profiles, shape: [model.heads, model.offsets] }
      : {
          // Masked is minus infinity, which is what a mask adds to a score.
          data: model.matrix.map((value) => (Number.isNaN(value) ? -Infinity : value)),
          shape: [model.positions, model.positions],
        };
  },

  code: (state) => codeOf(state.model, showsProfiles(state)),
});

function showsProfiles({ view }: Pick<Drawn, "view">): boolean {
  return view === "profiles";
}

// Of a scheme of image patches the cells of its window, as many rows and columns as can be drawn.
function windowOf(scheme: BiasScheme): Grid | undefined {
  const { window, windowWidth } = readAll(scheme) as { window?: number; windowWidth?: number | null };
  if (window === undefined) return undefined;
  const side = (length: number): number => Math.min(length, Math.sqrt(mostCells));
  return gridOf({ cells: `${side(window)} ${side(windowWidth ?? window)}` }, mostCells);
}

// The least and the greatest value that are not masked.
function endsOf(values: Float32Array): readonly [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

// True where each diagonal of the matrix holds one value, that of its offset.
function isShifted(matrix: Float32Array, own: Float32Array, positions: number, causal: boolean): boolean {
  if (matrix.length === 0) return true;
  for (let i = 0; i < positions; i++) {
    const end = causal ? i + 1 : positions;
    for (let j = 0; j < end; j++) if (matrix[i * positions + j] !== own[positions - 1 + j - i]) return false;
  }
  return true;
}

// What one step back costs, of every head, if all steps cost the same.
function slopesOf(profiles: Float32Array, heads: number, offsets: number, positions: number): number[] | undefined {
  if (positions < 2) return undefined;
  const slopes: number[] = [];
  for (let h = 0; h < heads; h++) {
    const at = (back: number): number => profiles[h * offsets + positions - 1 - back] as number;
    const slope = at(0) - at(1);
    for (let back = 0; back < positions; back++) {
      if (Math.abs(at(back) + slope * back) > 1e-6 * Math.abs(slope) * back) return undefined;
    }
    slopes.push(slope);
  }
  return slopes;
}

function offsetAt(state: Drawn): number {
  const { model, row, column } = state;
  return showsProfiles(state) ? column + 1 - model.positions : column - row;
}

// On a grid an offset has two parts, rows first.
function offsetText(state: Drawn): string {
  const { grid } = state.model;
  if (!grid) return book(offsetAt(state), { signed: true });
  const apart = (of: (cell: number) => number): string =>
    book(of(state.column) - of(state.row), { signed: true });
  return `(${apart((cell) => Math.floor(cell / grid.width))}, ${apart((cell) => cell % grid.width)})`;
}

function valueAt(state: Drawn): number {
  const { model, row, column } = state;
  return showsProfiles(state)
    ? (model.profiles[row * model.offsets + column] as number)
    : (model.matrix[row * model.positions + column] as number);
}

function matrixCaption({ shifts, causal, slopes, head, grid, profiles, offsets, positions }: Model): string {
  let steady = "The bias changes along the diagonals: not the offset alone counts. ";
  if (grid) steady = `Queries and keys are the cells of a grid of ${grid.height} by ${grid.width}, row by row. `;
  else if (shifts) steady = "Only the offset counts: along each diagonal the bias is the same. ";
  const slope = slopes?.[head];
  const ahead = !causal && (profiles[head * offsets + positions] as number) < 0;
  const falls = slope === undefined || slope <= 0 ? "" : `Each token further ${ahead ? "away" : "back"} costs this head ${short(slope)}. `;
  const masked = causal ? "Keys after the query are masked. " : "";
  return `${steady}${falls}${masked}The bars are the row of the query, the curve the column of the key.`;
}

function profilesCaption({ slopes, heads, positions }: Model): string {
  const one = `One line a head: what it adds to a score at each distance, seen by query ${book(positions - 1)}. `;
  if (!slopes || heads < 2 || !slopes.every((slope) => slope > 0)) return one;
  const [first, last] = [Math.max(...slopes), Math.min(...slopes)];
  const ratio = (slopes[1] as number) / (slopes[0] as number);
  const geometric = slopes.every((slope, h) => h === 0 || Math.abs(slope / (slopes[h - 1] as number) - ratio) < 1e-5);
  const family = geometric
    ? `The slopes are a geometric series: each is ${short(ratio)} times the one before`
    : "The slopes differ from head to head";
  return `${one}${family}, from ${short(first)} to ${short(last)}, so some heads look ` + "near and others far.";
}

// ---------------------------------------------------------------- profiles

function drawProfiles(surface: Surface, state: Drawn): void {
  const { model, row, column } = state;
  const { profiles, heads, offsets, positions } = model;
  const { narrow, width, height } = surface;
  const value = (h: number, at: number): number => profiles[h * offsets + at] as number;
  const low = profiles.reduce((least, v) => (v < least ? v : least), 0);
  const high = profiles.reduce((most, v) => (v > most ? v : most), 0);
  const flat = high - low || 1;

  // Labels stand where the lines are furthest apart, the numbers of the axis at the other end.
  const apart = (at: number): number => {
    const column = Array.from({ length: heads }, (_, h) => value(h, at));
    return Math.max(...column) - Math.min(...column);
  };
  const labelsLeft = apart(0) > 1.001 * apart(offsets - 1);
  const texts = Array.from({ length: heads }, (_, h) => headLabel(model, h, narrow));
  const labelRoom = Math.max(...texts.map((text) => surface.textWidth(text, { size: labelSize }))) + 30;
  const ticks = valueTicks(low, high, 5);
  const tickRoom =
    Math.max(...ticks.map((v) => surface.textWidth(book(v, { significant: 3 }), { size: labelSize }))) + 10;
  const [left, right] = labelsLeft ? [labelRoom, tickRoom] : [tickRoom, labelRoom];
  const [top, foot] = [10, height - (narrow ? 28 : 44)];
  const plot = width - left - right;
  const x = (at: number): number => left + (offsets > 1 ? (at * plot) / (offsets - 1) : plot / 2);
  const y = (v: number): number => top + ((high - v) * (foot - top)) / flat;

  for (const v of ticks) {
    surface.path([left, y(v), left + plot, y(v)], { stroke: "faint" });
    const place = labelsLeft ? left + plot + 8 : left - 8;
    surface.text(place, y(v), book(v, { significant: 3 }), { align: labelsLeft ? "start" : "end", size: labelSize });
  }
  surface.path([x(column), top, x(column), foot], { stroke: "cool" });
  const order = [...Array.from({ length: heads }, (_, h) => h).filter((h) => h !== row), row];
  for (const h of order) {
    const points = new Float64Array(2 * offsets);
    for (let at = 0; at < offsets; at++) points.set([x(at), y(value(h, at))], 2 * at);
    const own = h === row;
    surface.path(points, { stroke: own ? "accent" : "ink", width: own ? 2.2 : 1.1, alpha: own ? 1 : 0.5 });
  }
  for (const h of order) {
    const own = h === row;
    surface.disc(x(column), y(value(h, column)), own ? 3.6 : 2, { fill: own ? "accent" : "cool" });
  }
  drawHeadLabels(surface, texts, row, {
    from: labelsLeft ? left - 3 : left + plot + 3,
    way: labelsLeft ? -1 : 1,
    wishes: texts.map((_, h) => y(value(h, labelsLeft ? 0 : offsets - 1))),
    low: top,
    high: foot,
  });

  const name = `${narrow ? "offset" : "key \u2212 query"} ${book(column + 1 - positions, { signed: true })}`;
  const half = surface.textWidth(name, { size: labelSize }) / 2;
  const middle = Math.max(half, Math.min(width - half, x(column)));
  for (const offset of wholeTicks(1 - positions, offsets - positions, narrow ? 6 : 8)) {
    const [place, label] = [x(offset + positions - 1), book(offset, { signed: true })];
    if (hasRoom(surface, label, place, name, middle)) {
      surface.text(place, foot + 16, label, { align: "middle", size: labelSize });
    }
  }
  surface.text(middle, foot + 16, name, { ink: "cool", align: "middle", size: labelSize });
  if (!narrow) {
    surface.text(left, foot + 34, "\u2190 keys before the query", { size: labelSize });
    if (!model.causal) surface.text(left + plot, foot + 34, "keys after it \u2192", { align: "end", size: labelSize });
  }
  surface.region({ x: left, y: top, width: plot, height: foot - top }, (u, v) => {
    const at = Math.round(u * (offsets - 1));
    const here = high - v * flat;
    let nearest = 0;
    for (let h = 1; h < heads; h++) {
      if (Math.abs(value(h, at) - here) < Math.abs(value(nearest, at) - here)) nearest = h;
    }
    return { row: nearest, column: at };
  });
}

function headLabel(model: Model, head: number, narrow: boolean): string {
  const slope = model.slopes?.[head];
  return slope === undefined || narrow ? `head ${head + 1}` : `head ${head + 1}, slope ${short(slope)}`;
}

interface LabelPlaces {
  from: number;
  /** 1: labels to the right of the lines, -1: to the left. */
  way: 1 | -1;
  wishes: readonly number[];
  low: number;
  high: number;
}

// As many labels as there is room for, the chosen head's among them, each joined to the end of its line.
function drawHeadLabels(surface: Surface, texts: readonly string[], chosen: number, places: LabelPlaces): void {
  const gap = 14;
  const most = Math.max(1, Math.floor((places.high - places.low) / gap));
  const step = Math.ceil(texts.length / most);
  const shown = texts
    .map((_, h) => h)
    .filter((h) => h === chosen || (h % step === 0 && Math.abs(h - chosen) >= step / 2));
  const ys = spread(
    shown.map((h) => places.wishes[h] as number),
    gap,
    places.low,
    places.high,
  );
  shown.forEach((h, k) => {
    const [wish, y] = [places.wishes[h] as number, ys[k] as number];
    const own = h === chosen;
    const { from, way } = places;
    surface.path([from, wish, from + 7 * way, wish, from + 15 * way, y, from + 18 * way, y], {
      stroke: own ? "accent" : "faint",
    });
    surface.text(from + 22 * way, y, texts[h] as string, {
      align: way === 1 ? "start" : "end",
      ink: own ? "accent" : "grey",
      size: labelSize,
    });
  });
}

// ---------------------------------------------------------------- code

function codeOf(model: Model, profiles: boolean): Code {
  const { name: scheme, code: made } = model.chosen;
  const { positions, offsets, heads, head, causal, grid } = model;
  const where = grid?.code ?? positions;
  const call =
    profiles
      ? `bias(${made}, { queries: [${positions - 1}], keys: ${offsets} });  // [${heads}, 1, ${offsets}]`
      : `bias(${made}, { queries: ${where}, keys: ${where}, heads: [${head}] });  // [1, ${positions}, ${positions}]`;
  const masked =
    causal && !profiles
      ? "// Keys after the query are masked.\n" +
        `for (let i = 0; i < ${positions}; i++) b.data.fill(-Infinity, ${positions} * i + i + 1, ${positions} * (i + 1));\n`
      : "";
  const seeded = made.includes("randomNormal(") ? ["randomNormal"] : [];
  const names = ["bias", ...(grid ? ["grid"] : []), ...seeded, scheme].join(", ");
  const javascript = `import { ${names} } from "posenc";\n\nconst b = ${call}\n${masked}`;
  return {
    javascript,
    numpy: async () => {
      const { biasNumpy } = await import("./numpy-programs.js");
      return biasNumpy(model, profiles);
    },
  };
}
