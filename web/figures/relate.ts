// <posenc-relate>: which row of a table each pair of tokens falls on, and what that row adds to scores and outputs.
import { readAll, verbatim } from "../src/error.js";
import {
  attention,
  PosencError,
  randomNormal,
  relativeIndex,
  tensor,
  type AttentionResult,
  type BiasScheme,
  type RelateScheme,
} from "../src/core.js";
import type { ColourScale } from "./colour.js";
import {
  choice,
  cursorField,
  defineFigure,
  flag,
  range,
  type Code,
  type State,
} from "./figure.js";
import { book, capital, count, outOf } from "./format.js";
import { givenScheme, refuseData } from "./given-data.js";
import { magnitude } from "./magnitude.js";
import { drawFrames, indexTicks, inkOf, inkOn, labelSize } from "./marks.js";
import { drawMatrix, matrixHeight } from "./matrix.js";
import { refuseValue } from "./refusal.js";
import {
  chosenScheme,
  descriptorOf,
  headFields,
  headOf,
  schemeFields,
  schemeFrom,
  schemesOf,
  type ChosenScheme,
} from "./scheme-fields.js";
import { causalOnly, seededWords } from "./sized-schemes.js";
import type { Box, Run, Surface } from "./surface.js";

/** One row of the scheme's table as far as these tokens reach it. */
interface TableRow {
  row: number;
  /** The least and the largest offset (key - query) that falls on it. */
  from: number;
  to: number;
}

type Scheme = RelateScheme | BiasScheme;
type Descriptor = ReturnType<typeof descriptorOf>;

export interface Model {
  chosen: ChosenScheme<Scheme>;
  title: string;
  tokens: number;
  heads: number;
  head: number;
  causal: boolean;
  /** [tokens, tokens]; none for schemes without a table of offsets. */
  index: Int32Array | undefined;
  /** The rows met, ascending, and the place among them of every pair, NaN where masked. */
  rows: readonly TableRow[];
  ranks: Float32Array;
  /** [tokens, tokens]: what is added to the scores, NaN where masked. */
  terms: Float32Array;
  /** The largest magnitude among them. */
  extent: number;
  /** [tokens, width]: what is added to the outputs; none where the scheme leaves them alone. */
  added: Float32Array | undefined;
  width: number;
}

type Drawn = State<Model>;

const mostTokens = 128;
// Wider, its tables and tokens would be millions of random numbers, which look like any others.
const mostWidth = 2048;
const takes = "a relate scheme, a bias scheme of rows that offsets share, or its JSON";

export const relate = defineFigure<Model>({
  name: "relate",
  attributes: {
    scheme: 'The relate scheme, "shaw" by default, or a bias scheme of rows that offsets share: "t5".',
    tokens: "How many tokens, 1 to 128; 10 by default.",
    clip: "The distance from which on all keys of a side share one row.",
    dim: "The width of queries and keys; times heads at most 2048.",
    causal: "Masks the keys after a query.",
    tokenSeed: "Seed of the queries and keys, which are normal numbers; from 0 to 2^52 - 1.",
    view: "rows or terms.",
    query: "The query under the cursor.",
    key: "The key under the cursor.",
  },

  tabs: (_, model) => {
    const terms = { value: "terms", label: "score terms" };
    const views = model && !model.index ? [terms] : [{ value: "rows", label: "table rows" }, terms];
    return choice("view", "view", "rows", views);
  },

  fields: (values) => {
    const descriptor = described(String(values.scheme ?? "shaw"));
    // With few tokens the usual buckets would share next to nothing.
    const few: Readonly<Record<string, number>> = descriptor.slot === "bias" ? { buckets: 8, maxDistance: 20 } : {};
    return [
      choice("scheme", "scheme", "shaw", schemes().map(({ name, title }) => ({ value: name, label: title })), {
        place: "row",
      }),
      range("tokens", "tokens", 10, 2, 32, { integer: true, least: 1, most: mostTokens }),
      ...headFields(descriptor, values),
      ...schemeFields(descriptor, {
        values,
        start: { dim: 16, clip: 3, ...few },
        change: { dim: { label: "dimensions", max: 64 }, clip: { max: 16 }, maxDistance: { min: 17, max: 128 } },
      }),
      range("tokenSeed", "seed of the tokens", 0, 0, 99, { integer: true, least: 0, most: 2 ** 52 - 1, place: "more" }),
      flag("causal", "causal", false, { place: causalOnly(descriptor) ? "none" : "row" }),
      cursorField("query", "The query under the cursor."),
      cursorField("key", "The key under the cursor."),
    ];
  },

  compute: (values, data) => {
    const given = givenScheme(data, ["relate", "bias"], takes);
    if (given && !schemes().some(({ slot, name }) => slot === given.slot && name === given.name)) {
      refuseData(takes, verbatim(`the ${given.slot} scheme ${given.name}`), "wrong-slot");
    }
    const { slot } = given ?? described(String(values.scheme));
    if (!given) requireNarrow(Number(values.heads ?? 1), Number(values.dim ?? 1), "dim");
    const chosen = chosenScheme(slot === "bias" ? slot : "relate", values, given);
    const { scheme, title } = chosen;
    const tokens = Number(values.tokens);
    const { heads, width, valueWidth } = sizesOf(scheme);
    if (given) requireNarrow(heads, width, "data");
    const head = headOf(values, heads);
    const seed = Number(values.tokenSeed ?? 0);
    const q = randomNormal([heads, tokens, width], { seed: 2 * seed });
    const k = randomNormal([heads, tokens, width], { seed: 2 * seed + 1 });
    // With values of zero the output is what the scheme mixes into it.
    const none = tensor(new Float32Array(heads * tokens * valueWidth), [heads, tokens, valueWidth]);
    const attend = (causal: boolean): AttentionResult<"float32", false, true> =>
      attention(q, k, none, { [scheme.slot]: scheme, causal, trace: true });
    let causal = values.causal === true;
    let attended: ReturnType<typeof attend>;
    try {
      attended = attend(causal);
    } catch (error) {
      // A scheme that knows no keys ahead.
      if (!(error instanceof PosencError) || error.code !== "unsupported" || causal) throw error;
      causal = true;
      attended = attend(causal);
    }
    const { trace, out } = attended;
    const pairs = tokens * tokens;
    const terms = (trace[scheme.slot].data as Float32Array).slice(head * pairs, (head + 1) * pairs);
    const masked = trace.masked.data as Uint8Array;
    for (let at = 0; at < pairs; at++) if (masked[head * pairs + at]) terms[at] = Number.NaN;
    const extent = magnitude(terms) || 1;
    const mixed = (out.data as Float32Array).slice(head * tokens * valueWidth, (head + 1) * tokens * valueWidth);
    const added = mixed.some((value) => value !== 0) ? mixed : undefined;
    return {
      chosen,
      title,
      tokens,
      heads,
      head,
      causal,
      ...rowsOf(scheme, tokens, terms),
      terms,
      extent,
      added,
      width: valueWidth,
    };
  },

  cells: ({ model }) => ({
    row: { name: "query", count: model.tokens, start: Math.floor(0.6 * model.tokens) },
    column: { name: "key", count: model.tokens, start: Math.floor(0.4 * model.tokens) },
  }),

  height: (state, width) => (showsRows(state) ? layoutOf(state.model, width).height : matrixHeight(width, 0.62)),

  draw: (surface, state) => {
    if (showsRows(state)) {
      drawRows(surface, state);
      return;
    }
    const { model, row, column } = state;
    drawMatrix(surface, {
      values: model.terms,
      rows: model.tokens,
      columns: model.tokens,
      row,
      column,
      scale: { kind: "signed", extent: model.extent },
      rowAxis: { label: "query", name: `query ${row}` },
      columnAxis: { name: `key ${column}` },
    });
  },

  title: (state) => {
    const { model } = state;
    const who = model.heads === 1 ? "" : `, head ${outOf(model.head + 1, model.heads)}`;
    const what = showsRows(state) ? "rows of the table" : "terms of the scores";
    return `${model.title}, ${what}${who}, ${count(model.tokens, "token")}${model.causal ? ", causal" : ""}`;
  },

  caption: (state) => {
    const { model } = state;
    if (!showsRows(state)) {
      const counts = `${model.title} counts the keys up to the query, so later ones are masked.`;
      return (
        "What the scheme adds to the score of each pair, for random queries and keys. The bars are the row of the " +
        `query, the curve the column of the key. ${seededWords(model.chosen)}`.trimEnd() +
        (causalOnly(described(model.chosen.name)) ? ` ${counts}` : "")
      );
    }
    const shared = model.rows
      .filter(({ from, to }) => from !== to)
      .map(
        ({ row, from, to }) =>
          `row ${row} stands for offsets ${book(from, { signed: true })} to ${book(to, { signed: true })}`,
      );
    const which =
      shared.length === 0
        ? "Every offset here has a row of its own. "
        : shared.length <= 2
          ? `${capital(shared.join(", "))}. `
          : `${shared.length} of the ${model.rows.length} rows stand for several offsets. `;
    return `${which}Keys on one row add the same to the scores of a query, however far apart they are.`;
  },

  readout: ({ model, row, column }) => {
    const at = row * model.tokens + column;
    const term = model.terms[at] as number;
    const place = model.rows[model.ranks[at] as number];
    return [
      { label: "query", value: String(row) },
      { label: "key", value: String(column) },
      { label: "key \u2212 query", value: book(column - row, { signed: true }) },
      ...(place === undefined ? [] : [{ label: "table row", value: String(place.row), unit: offsetsIn(place) }]),
      { label: "adds to the score", value: Number.isNaN(term) ? "masked" : book(term, { decimals: 4, signed: true }) },
    ];
  },

  summary: (state) => {
    const { model } = state;
    const { tokens, rows } = model;
    const index = model.index ? `${count(rows.length, "row")} of the table are met. ` : "";
    return (
      `${showsRows(state) ? "Matrix of table rows" : "Heat map of score terms"} of ${model.title} for ` +
      `${count(tokens, "token")}, queries down, keys across${model.causal ? ", keys after the query masked" : ""}. ` +
      `${index}The terms added to the scores reach ${book(model.extent, { significant: 3 })} either way` +
      `${model.added ? "; the outputs of the tokens change too" : ""}.`
    );
  },

  table: (state) => {
    const { model } = state;
    const { tokens } = model;
    const values = showsRows(state) ? (model.index as Int32Array) : model.terms;
    return {
      header: ["query", ...Array.from({ length: tokens }, (_, j) => `key ${j}`)],
      rows: tokens,
      cell: (r, c) => {
        const at = r * tokens + c - 1;
        return c === 0 ? r : Number.isNaN(model.terms[at]) ? Number.NaN : (values[at] as number);
      },
    };
  },

  array: (state) => ({
    // Nothing is added to a masked score.
    data: showsRows(state)
      ? (state.model.index as Int32Array)
      : state.model.terms.map((term) => (Number.isNaN(term) ? 0 : term)),
    shape: [state.model.tokens, state.model.tokens],
  }),

  code: (state) => codeOf(state),
});

let offered: readonly Descriptor[] | undefined;

// Those of the slot, and schemes of numbers on one axis that offsets share as rows of a table.
function schemes(): readonly Descriptor[] {
  return (offered ??= [...schemesOf("relate"), ...schemesOf("bias").filter(hasRows)]);
}

function described(name: string): Descriptor {
  return schemes().find((scheme) => scheme.name === name) ?? descriptorOf("relate", name);
}

function hasRows({ slot, name, params }: Descriptor): boolean {
  try {
    const values = Object.fromEntries(params.flatMap(({ name: key, shown }) => (shown ? [[key, shown.value]] : [])));
    relativeIndex(schemeFrom(slot, name, values) as Scheme, { queries: [0], keys: mostTokens });
    return true;
  } catch {
    return false;
  }
}

function showsRows({ view }: Drawn): boolean {
  return view === "rows";
}

function requireNarrow(heads: number, width: number, argument: string): void {
  if (heads * width <= mostWidth) return;
  const allowed = `at most ${Math.floor(mostWidth / heads)} for ${heads} heads: more numbers show no more`;
  refuseValue("too-large", argument, allowed, width);
}

function sizesOf(scheme: Scheme): { heads: number; width: number; valueWidth: number } {
  const read = (name: string): number | undefined => {
    const value = (readAll(scheme) as unknown as Record<string, unknown>)[name];
    return typeof value === "number" ? value : undefined;
  };
  const width = read("dim") ?? 16;
  return { heads: read("heads") ?? 1, width, valueWidth: read("valueDim") ?? width };
}

// Which row of the table each pair falls on, and which offsets each row stands for.
function rowsOf(scheme: Scheme, tokens: number, terms: Float32Array): Pick<Model, "index" | "rows" | "ranks"> {
  let index: Int32Array;
  try {
    index = relativeIndex(scheme, { queries: tokens, keys: tokens }).data as Int32Array;
  } catch (error) {
    if (error instanceof PosencError && error.code === "unsupported") {
      return { index: undefined, rows: [], ranks: new Float32Array() };
    }
    throw error;
  }
  const spans = new Map<number, TableRow>();
  index.forEach((row, at) => {
    if (Number.isNaN(terms[at])) return;
    const offset = (at % tokens) - Math.floor(at / tokens);
    const span = spans.get(row) ?? { row, from: offset, to: offset };
    spans.set(row, { row, from: Math.min(span.from, offset), to: Math.max(span.to, offset) });
  });
  const rows = [...spans.values()].sort((a, b) => a.row - b.row);
  const rank = new Map(rows.map(({ row }, place) => [row, place]));
  const ranks = Float32Array.from(index, (row, at) =>
    Number.isNaN(terms[at]) ? Number.NaN : (rank.get(row) as number),
  );
  return { index, rows, ranks };
}

function offsetsIn({ from, to }: TableRow): string {
  return from === to
    ? `(offset ${book(from, { signed: true })})`
    : `(offsets ${book(from, { signed: true })} to ${book(to, { signed: true })})`;
}

// ---------------------------------------------------------------- the matrix of rows

interface Layout {
  map: Box;
  swatches: Box;
  /** For the bars of the query: of its scores and, if any, of its output. */
  panels: readonly Box[];
  height: number;
}

const panelHeight = 118;

function layoutOf(model: Model, width: number): Layout {
  const narrow = width < 500;
  const left = narrow ? 26 : 40;
  const side = narrow ? width - left - 2 : Math.min(380, Math.floor(0.47 * width));
  const map = { x: left, y: 22, width: side, height: side };
  const swatches = { x: left, y: map.y + side + 30, width: side, height: 10 };
  const below = swatches.y + 38;
  const number = model.added ? 2 : 1;
  const x = narrow ? left + 30 : left + side + 92;
  const top = narrow ? below + 34 : map.y + 18;
  const step = narrow ? panelHeight + 66 : Math.max(panelHeight + 58, (side + 40) / 2);
  const panels = Array.from({ length: number }, (_, k) => {
    // Alone it may be as tall as the matrix, nearly.
    const height = narrow || number > 1 ? panelHeight : Math.min(240, side - 60);
    return { x, y: top + step * k, width: width - x - 2, height };
  });
  const last = panels[number - 1] as Box;
  return { map, swatches, panels, height: Math.ceil(Math.max(below, last.y + last.height + 24)) };
}

function stepScale(model: Model): ColourScale {
  return { kind: "amount", min: 0, max: Math.max(1, model.rows.length - 1) };
}

function drawRows(surface: Surface, state: Drawn): void {
  const { model, row, column } = state;
  const { tokens } = model;
  const { map, swatches, panels } = layoutOf(model, surface.width);
  const scale = stepScale(model);
  const cell = map.width / tokens;
  const index = model.index as Int32Array;

  surface.heatMap(map, { values: model.ranks, rows: tokens, columns: tokens, scale });
  surface.region(map, (u, v) => ({ row: Math.floor(v * tokens), column: Math.floor(u * tokens) }));
  if (cell >= 21) {
    for (let at = 0; at < tokens * tokens; at++) {
      const rank = model.ranks[at] as number;
      if (Number.isNaN(rank)) continue;
      const x = map.x + ((at % tokens) + 0.5) * cell;
      const y = map.y + (Math.floor(at / tokens) + 0.5) * cell;
      surface.text(x, y, String(index[at]), {
        align: "middle",
        size: cell < 28 ? 10 : 11,
        ink: inkOn(surface.theme, scale, rank),
      });
    }
  }
  // The cursor's takes the place of those near to it.
  const ticks = indexTicks(tokens, map.height, 20).filter((i) => Math.abs(i - row) * cell >= 14);
  for (const i of [...ticks, row]) {
    tick(surface, map.x - 8, map.y + Math.max(5, (i + 0.5) * cell), i, "end", i === row ? "accent" : "grey");
  }
  drawKeyTicks(surface, map.x, map.y - 11, cell, state);
  if (!surface.narrow) {
    surface.text(map.x - 8, map.y - 11, "key", { align: "end", size: labelSize });
    surface.text(7, map.y + map.height / 2, "query", { align: "middle", turn: -90, size: labelSize });
  }
  const outline = Math.max(cell, 4);
  const from = (i: number): number => i * cell + (cell - outline) / 2;
  drawFrames(surface, [
    { x: map.x - 0.5, y: map.y + from(row), width: map.width + 1, height: outline },
    { x: map.x + from(column), y: map.y - 0.5, width: outline, height: map.height + 1 },
  ]);

  drawSwatches(surface, state, swatches, scale);
  drawTerms(surface, state, panels[0] as Box, scale);
  if (panels[1]) drawAdded(surface, state, panels[1]);
}

function tick(
  surface: Surface,
  x: number,
  y: number,
  value: number,
  align: "middle" | "end",
  ink: "grey" | "accent" | "cool",
): void {
  const words = String(value);
  const edge = align === "end" ? x : surface.width - 1 - surface.textWidth(words, { size: labelSize }) / 2;
  surface.text(Math.min(x, edge), y, words, { align, ink, size: labelSize });
}

// Keys along the top of the matrix or the foot of the bars, the cursor's in its colour.
function drawKeyTicks(surface: Surface, left: number, y: number, cell: number, { model, column }: Drawn): void {
  for (const j of indexTicks(model.tokens, cell * model.tokens, 22)) {
    if (j !== column && Math.abs(j - column) * cell >= 18)
      tick(surface, left + (j + 0.5) * cell, y, j, "middle", "grey");
  }
  tick(surface, left + (column + 0.5) * cell, y, column, "middle", "cool");
}

// One swatch for each row of the table, with the offsets it stands for.
function drawSwatches(surface: Surface, { model, row, column }: Drawn, box: Box, scale: ColourScale): void {
  const { rows, tokens } = model;
  const chosen = model.ranks[row * tokens + column] as number;
  const ranks = Float32Array.from(rows, (_, place) => place);
  surface.heatMap(box, { values: ranks, rows: 1, columns: rows.length, scale });
  const cell = box.width / rows.length;
  const label = ({ from, to }: TableRow): string => {
    if (from === to) return book(from, { signed: true });
    if (from === 1 - tokens) return `\u2264 ${book(to, { signed: true })}`;
    if (to === tokens - 1) return `\u2265 ${book(from, { signed: true })}`;
    return `${book(from, { signed: true })} \u2026 ${book(to, { signed: true })}`;
  };
  surface.text(box.x, box.y - 10, "offsets (key \u2212 query) on each row", { size: 11 });
  if (!Number.isNaN(chosen)) {
    drawFrames(surface, [{ x: box.x + chosen * cell - 1, y: box.y - 2, width: cell + 2, height: box.height + 4 }], 1.5);
  }
  // The chosen row's label first, the ends next; others where there is room.
  const last = rows.length - 1;
  const order = [...new Set([chosen, 0, last, rows.findIndex(({ from }) => from === 0), ...rows.keys()])];
  const taken: [number, number][] = [];
  for (const place of order) {
    const entry = rows[place];
    if (!entry) continue;
    const half = surface.textWidth(label(entry), { size: 11 }) / 2;
    const wish = box.x + (place + 0.5) * cell;
    const end = Math.min(surface.width - 1, box.x + box.width + 6);
    const middle = Math.max(box.x - 6 + half, Math.min(end - half, wish));
    if (taken.some(([from, to]) => middle + half + 6 > from && middle - half - 6 < to)) continue;
    taken.push([middle - half, middle + half]);
    surface.text(middle, box.y + box.height + 12, label(entry), {
      align: "middle",
      size: 11,
      ink: place === chosen ? "ink" : "grey",
    });
  }
}

// ---------------------------------------------------------------- bars of one query

function drawTerms(surface: Surface, state: Drawn, box: Box, scale: ColourScale): void {
  const { model, row, column } = state;
  const { tokens } = model;
  const own = (of: Float32Array): Float32Array => of.subarray(row * tokens, (row + 1) * tokens);
  const ranks = own(model.ranks);
  const words = [{ text: "added to the scores of " }, { text: `query ${row}`, ink: "accent" }] as const;
  heading(surface, box, words, ", key by key");
  const cell = drawBars(surface, box, own(model.terms), {
    extent: model.extent,
    colour: (j) => inkOf(surface.theme, scale, ranks[j] as number),
    chosen: column,
  });
  drawKeyTicks(surface, box.x, box.y + box.height + 12, cell, state);
  surface.region(box, (u) => ({ column: Math.floor(u * tokens) }));
}

function drawAdded(surface: Surface, { model, row }: Drawn, box: Box): void {
  const added = model.added as Float32Array;
  const { width } = model;
  const extent = magnitude(added) || 1;
  heading(surface, box, [{ text: "mixed into its output" }], ", channel by channel");
  const own = added.subarray(row * width, (row + 1) * width);
  const cell = drawBars(surface, box, own, { extent, colour: () => "grey", chosen: -1 });
  for (const c of indexTicks(width, box.width, 34)) {
    tick(surface, box.x + (c + 0.5) * cell, box.y + box.height + 12, c, "middle", "grey");
  }
}

// `more` stands behind it where there is room.
function heading(surface: Surface, box: Box, runs: readonly Run[], more: string): void {
  const words = runs.map(({ text }) => text).join("") + more;
  const fits = !surface.narrow && surface.textWidth(words, { size: labelSize }) <= surface.width - box.x;
  surface.text(box.x, box.y - 18, fits ? [...runs, { text: more }] : runs, { size: labelSize });
}

interface BarStyle {
  extent: number;
  colour: (place: number) => Parameters<Surface["rect"]>[4]["fill"] & string;
  /** The place that is framed; none if negative. */
  chosen: number;
}

// Bars about a line of zero with the ends of their scale at the left; returns the width of a place.
function drawBars(surface: Surface, box: Box, values: Float32Array, style: BarStyle): number {
  const cell = box.width / values.length;
  const base = box.y + box.height / 2;
  const gap = cell > 4 ? Math.min(4, 0.25 * cell) : 0;
  surface.path([box.x, base, box.x + box.width, base], { stroke: "faint" });
  for (const u of [-1, 0, 1]) {
    const number = book(u * style.extent, { significant: 2, signed: true });
    surface.text(box.x - 8, base - (u * box.height) / 2 + 4 * u, number, { align: "end", size: 11 });
  }
  values.forEach((value, place) => {
    const x = box.x + place * cell;
    if (place === style.chosen) {
      surface.rect(x, box.y, cell, box.height, { stroke: "faint" });
    }
    const tall = (value / style.extent) * (box.height / 2);
    if (Number.isNaN(tall) || tall === 0) return;
    const top = tall > 0 ? base - tall : base;
    const bar = [x + gap / 2, top, Math.max(cell - gap, 0.75), Math.abs(tall)] as const;
    surface.rect(...bar, { fill: style.colour(place) });
    // The ends of the colours are near the paper: a hairline keeps them apart from it.
    if (gap > 0) surface.rect(...bar, place === style.chosen ? { stroke: "ink" } : { stroke: "grey", alpha: 0.6 });
  });
  return cell;
}

// ---------------------------------------------------------------- code

function codeOf(state: Drawn): Code {
  const { model, values } = state;
  const { name: scheme, code: made } = model.chosen;
  const { slot } = model.chosen.scheme;
  if (showsRows(state)) {
    return {
      javascript:
        `import { relativeIndex, ${scheme} } from "posenc";\n\n` +
        `const rows = relativeIndex(${made}, { queries: ${model.tokens}, keys: ${model.tokens} });\n`,
      numpy: async () => {
        const { rowsNumpy } = await import("./numpy-programs.js");
        return rowsNumpy(model);
      },
    };
  }
  const width = Number(values.dim ?? 16);
  const seed = 2 * Number(values.tokenSeed ?? 0);
  const shape = `[${model.heads}, ${model.tokens}, ${width}]`;
  const causal = model.causal ? "causal: true, " : "";
  return {
    javascript:
      `import { attention, randomNormal, ${scheme}, tensor } from "posenc";\n\n` +
      `const q = randomNormal(${shape}, { seed: ${seed} });\n` +
      `const k = randomNormal(${shape}, { seed: ${seed + 1} });\n` +
      `const { trace } = attention(q, k, k, { ${slot}: ${made}, ${causal}trace: true });\n` +
      `const [added, masked] = [trace.${slot}, trace.masked].map((of) => of.slice(${model.head}, ${model.head + 1}).data);\n` +
      "// Nothing is added to a masked score.\n" +
      `const terms = tensor(added.map((term, n) => (masked[n] ? 0 : term)), [${model.tokens}, ${model.tokens}]);\n`,
    numpy: async () => {
      const { termsNumpy } = await import("./numpy-programs.js");
      return termsNumpy(model, width, seed, Number(values.seed ?? 0));
    },
  };
}
