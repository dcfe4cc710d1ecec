// <posenc-compare>: the table of schemes, each made and asked: where it acts, its parameters, the longest sequence it
// takes, what it encodes and the laws it keeps.
import { fromJSON, randomNormal, type AnyScheme } from "../src/core.js";
import { compare as compareSchemes, type ComparedLaw, type ComparedScheme } from "../src/analysis/index.js";
import { nearest } from "../src/error.js";
import { inSteps } from "./background.js";
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
import { book, count } from "./format.js";
import { anySlot, givenScheme, refuseData } from "./given-data.js";
import { drawPlate, labelSize, paragraph } from "./marks.js";
import { refuseValue, sentenceOf } from "./refusal.js";
import { descriptorOf, literal, schemesOf } from "./scheme-fields.js";
import { estimateWidth, type Surface } from "./surface.js";
import { cutWord } from "./token-matrix.js";
import { lawWords, typeset } from "./typeset.js";

interface Row extends ComparedScheme {
  /** The call that makes it. */
  code: string;
  /** Why it cannot be made at these sizes: its row is empty then. */
  refusal?: string;
  /** What says so. */
  error?: unknown;
}

interface Model {
  rows: readonly Row[];
  /** The laws that any of them keeps, in the catalogue's order. */
  laws: readonly string[];
  /** Made by the figure, not handed over. */
  own: boolean;
}

type Drawn = State<Model>;
type Slot = ComparedScheme["slot"];

const slots: readonly Slot[] = ["embed", "rotate", "bias", "relate"];

// Schemes so wide, or tables so long, take longer to be made than a page should wait.
const muchWidth = 1024;
const muchLength = 16384;

export const compare = defineFigure<Model>({
  name: "compare",
  attributes: {
    schemes: 'Names of schemes, such as "sinusoidal learned alibi rope"; all of them by default.',
    view: "all, embed, rotate, bias or relate.",
    heads: "How many heads; 12 by default.",
    headWidth: "The width of a head, 2 to 256; 64 by default. Embeddings are as wide as all heads.",
    length: "Rows of learned tables; 512 by default.",
    row: "The scheme under the cursor, from 0.",
    law: "The law under the cursor, from 0.",
  },

  tabs: (values) => {
    const listed = String(values.schemes ?? "").trim() !== "";
    return choice("view", "slot", "all", listed ? ["all"] : ["all", ...slots]);
  },

  fields: (values) => [
    range("heads", "heads", 12, 1, 32, { integer: true, most: 1024, place: has("heads", values) }),
    range("headWidth", "width of a head", 64, 8, 128, {
      integer: true,
      least: 2,
      most: 256,
      step: 2,
      place: has("headWidth", values),
    }),
    range("length", "rows of a learned table", 512, 16, 8192, {
      integer: true,
      log: true,
      least: 1,
      most: 2 ** 20,
      place: has("length", values),
    }),
    text("schemes", "schemes", "", { place: "more", maxLength: 2000 }),
    cursorField("row", "The scheme under the cursor."),
    cursorField("law", "The law under the cursor."),
  ],

  ...inSteps(function* (values, data) {
    const given = givenSchemes(data);
    const asked = given ? compareSchemes(given).map((row, k): Row => ({ ...row, code: String(given[k]) })) : [];
    const names = given ? [] : namesOf(values);
    for (const [slot, name] of names) {
      asked.push(rowOf(slot, name, values));
      yield { done: asked.length, total: names.length };
    }
    const where = new Map(made(asked).map((row) => [row.slot, row.where]));
    const rows = asked
      .map((row): Row => ({ ...row, where: where.get(row.slot) ?? "" }))
      .sort((a, b) => slots.indexOf(a.slot) - slots.indexOf(b.slot));
    if (rows.length === 0) {
      refuseValue("out-of-range", "data", "a scheme or more", data, "there is no scheme to compare");
    }
    if (where.size === 0) throw rows[0]?.error;
    const kept = new Set(rows.flatMap((row) => row.laws.map(({ law }) => law)));
    return { rows, laws: lawOrder.filter((law) => kept.has(law)).concat([...kept].filter(unlisted)), own: !given };
  }, ({ heads, headWidth, length }) => Number(heads) * Number(headWidth) > muchWidth || Number(length) > muchLength),

  cells: ({ model }) => ({
    row: { name: "row", count: model.rows.length },
    column: { name: "law", count: Math.max(1, model.laws.length) },
  }),

  height: ({ model }, width) => layoutOf(model, width).height,

  draw: drawTable,

  title: ({ model, values }) => {
    const all = values.view === "all" || !model.own;
    const what = count(model.rows.length, all ? "scheme" : `${String(values.view)} scheme`);
    return `${what}: ${all ? "where each acts, " : ""}what each costs, what holds`;
  },

  caption: ({ model }) =>
    "A full dot is a law that holds, a ring one that holds on a condition, said below." +
    (model.own ? " Longest is the longest sequence that it takes." : "") +
    gapSentence(model),

  readout: ({ model, row, column }) => {
    const scheme = model.rows[row] as Row;
    const law = model.laws[column];
    const kept = scheme.laws.find((own) => own.law === law);
    if (scheme.refusal !== undefined)
      return [
        { label: "scheme", value: scheme.title },
        { label: "at these sizes", value: "cannot be made" },
      ];
    return [
      { label: "scheme", value: scheme.title },
      { label: "parameters", value: book(scheme.parameters) },
      { label: "longest", value: longest(scheme.maxLength) },
      ...(law === undefined
        ? []
        : [
            {
              label: lawWords(law),
              value: kept ? (kept.when === null ? "holds" : "holds on a condition") : "not claimed",
            },
          ]),
    ];
  },

  summary: ({ model }) => {
    const rows = made(model.rows);
    const most = rows.reduce((best, row) => (row.parameters > best.parameters ? row : best));
    const ending = rows.filter((row) => row.maxLength < Infinity).map((row) => row.title);
    const free = rows.filter((row) => row.parameters === 0).length;
    return (
      `Table of ${count(model.rows.length, "scheme")} by the slot they act in. ${book(free)} of them have no parameters; ` +
      `${most.title} has the most, ${book(most.parameters)}. ` +
      (ending.length === 0
        ? "None ends at a length."
        : `${listed(ending)} ${ending.length === 1 ? "ends" : "end"} at a length; the others take any.`) +
      gapSentence(model)
    );
  },

  table: ({ model }) => ({
    header: [
      "scheme",
      "slot",
      "where applied",
      "parameters",
      "which",
      "longest",
      "encodes",
      ...model.laws.map(lawWords),
    ],
    rows: model.rows.length,
    cell: (r, c) => {
      const row = model.rows[r] as Row;
      if (row.refusal !== undefined) return [row.title, row.slot, row.where, "", "", "", refused(row)][c] ?? "";
      const plain = [
        row.title,
        row.slot,
        row.where,
        row.parameters,
        row.parametersInWords,
        longest(row.maxLength),
        row.encodes,
      ];
      if (c < plain.length) return plain[c] as number | string;
      const kept = row.laws.find(({ law }) => law === model.laws[c - plain.length]);
      return kept ? (kept.when === null ? "yes" : `if ${kept.when}`) : "";
    },
  }),

  code: codeOf,
});

// ---------------------------------------------------------------- the schemes

// Sizes that no scheme of a slot goes by need no control there.
const without: Readonly<Record<string, readonly string[]>> = {
  rotate: ["heads", "length"],
  bias: ["headWidth"],
  relate: ["length"],
};

function has(size: string, { view }: Values): "row" | "none" {
  return without[String(view)]?.includes(size) ? "none" : "row";
}

// In the order of the columns; laws that are none of these follow.
const lawOrder: readonly string[] = [
  "shift_invariant",
  "extrapolates",
  "injective",
  "bounded",
  "isometry",
  "identity_at_zero",
  "symmetric",
  "non_positive",
  "monotone_in_distance",
];

function unlisted(law: string): boolean {
  return !lawOrder.includes(law);
}

function namesOf(values: Values): [Slot, string][] {
  const all = slots.flatMap((slot) => schemesOf(slot).map(({ name }): [Slot, string] => [slot, name]));
  const words = String(values.schemes ?? "")
    .split(/[\s,]+/)
    .filter((word) => word !== "");
  if (words.length === 0) return all.filter(([slot]) => values.view === "all" || slot === values.view);
  return words.map((word) => {
    const found = all.find(([, name]) => name === word);
    if (found) return found;
    const names = all.map(([, name]) => name);
    const guess = nearest(word, names);
    const hint = guess === undefined ? `there are ${names.join(", ")}.` : `did you mean \u201c${guess}\u201d?`;
    const sentence = `There is no scheme \u201c${word}\u201d; ${hint}`;
    return refuseValue("unknown-choice", "schemes", `one of ${names.join(", ")}`, word, sentence);
  });
}

function givenSchemes(data: unknown): readonly AnyScheme[] | undefined {
  const takes = "a list of schemes or their JSON";
  if (data === undefined || data === null) return undefined;
  if (!Array.isArray(data)) refuseData(takes, data);
  return data.map((one: unknown) => {
    return givenScheme(one, anySlot, takes) ?? refuseData(takes, data);
  });
}

// A scheme of the sizes that the values say, and of the catalogue's shown values where they say nothing.
function schemeOf(slot: Slot, name: string, values: Values): { scheme: AnyScheme; code: string } {
  const { params } = descriptorOf(slot, name);
  const [heads, headWidth, length] = [Number(values.heads), Number(values.headWidth), Number(values.length)];
  const has = (param: string): boolean => params.some((own) => own.name === param);
  const options = Object.create(null) as Record<string, unknown>;
  for (const param of params) if (param.required && param.shown) options[param.name] = param.shown.value;
  if (has("dim")) options.dim = slot === "embed" ? heads * headWidth : headWidth;
  if (params.some((own) => own.name === "heads" && own.required)) options.heads = heads;
  if (has("length") && has("table")) options.length = length;
  if (params.some((own) => own.name === "values" && own.kind === "table" && own.required)) {
    // One learned number a head and offset.
    const shape = [heads, 2 * length - 1];
    const table = { slot, name, values: randomNormal(shape, { std: 0.02 }) };
    return {
      scheme: fromJSON(table as unknown as Parameters<typeof fromJSON>[0]) as AnyScheme,
      code: `${name}({ values: randomNormal([${shape.join(", ")}], { std: 0.02 }) })`,
    };
  }
  return { scheme: fromJSON({ slot, name, ...options }) as AnyScheme, code: `${name}(${literal(options)})` };
}

// The scheme as it was asked, or what is known of one that cannot be made.
function rowOf(slot: Slot, name: string, values: Values): Row {
  try {
    const { scheme, code } = schemeOf(slot, name, values);
    return { ...(compareSchemes([scheme])[0] as ComparedScheme), code };
  } catch (error) {
    const { title } = descriptorOf(slot, name);
    const unknown = { parameters: Number.NaN, parametersInWords: "", maxLength: Number.NaN, encodes: "", laws: [] };
    return { slot, name, title, scheme: "", where: "", ...unknown, code: "", refusal: sentenceOf(error), error };
  }
}

function made(rows: readonly Row[]): readonly Row[] {
  return rows.filter(({ refusal }) => refusal === undefined);
}

// ---------------------------------------------------------------- words

function refused(row: Row): string {
  return `cannot be made at these sizes: ${row.refusal ?? ""}`;
}

function gapSentence({ rows }: Model): string {
  const gaps = rows.filter(({ refusal }) => refusal !== undefined).map(({ title }) => title);
  if (gaps.length === 0) return "";
  const cannot = `${listed(gaps)} cannot be made at these sizes`;
  return ` ${cannot}: ${gaps.length === 1 ? "its row is" : "their rows are"} empty, and why is said below.`;
}

function longest(length: number): string {
  return length === Infinity ? "no end" : book(length);
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

// ---------------------------------------------------------------- the table

const rowHeight = 19;
const groupHeight = 26;
const line = 16;
const measure = { textWidth: estimateWidth };

interface Layout {
  narrow: boolean;
  /** Left edges and right edges of the columns. */
  name: number;
  parameters: number;
  longest: number;
  encodes: number | undefined;
  laws: number;
  lawWidth: number;
  /** Where rows begin. */
  top: number;
  /** Middle of each row, by index. */
  rows: readonly number[];
  /** Headings of slots. */
  groups: readonly { y: number; words: string }[];
  detail: number;
  height: number;
}

function layoutOf(model: Model, width: number): Layout {
  const narrow = width < 500;
  const lawWidth = narrow ? Math.min(15, (width - 186) / Math.max(1, model.laws.length)) : width < 700 ? 18 : 20;
  const laws = width - lawWidth * model.laws.length - (narrow ? 2 : 6);
  const wide = width >= 660;
  const tallest = Math.max(0, ...model.laws.map((law) => estimateWidth(lawWords(law), { size: 11, bold: true })));
  const top = Math.round(Math.max(24, 1.12 * tallest + 17));
  const rows: number[] = [];
  const groups: { y: number; words: string }[] = [];
  let y = top;
  model.rows.forEach((row, k) => {
    if (row.slot !== model.rows[k - 1]?.slot) {
      groups.push({ y: y + 14, words: row.where === "" ? row.slot : `${row.slot}: ${row.where}` });
      y += groupHeight;
    }
    rows.push(y + rowHeight / 2);
    y += rowHeight;
  });
  const detail = y + 20;
  // As many lines as the longest detail takes, so that the picture keeps its height under the cursor.
  let lines = 0;
  for (const row of model.rows) {
    for (const law of [undefined, ...row.laws]) lines = Math.max(lines, detailLines(row, law, law?.law, width).length);
  }
  const parameters = narrow ? laws - 44 : wide ? Math.max(190, Math.min(250, laws - 330)) : laws - 76;
  return {
    narrow,
    name: narrow ? 2 : 10,
    parameters,
    longest: narrow ? laws - 6 : parameters + (width < 700 ? 56 : 62),
    encodes: wide ? parameters + (width < 700 ? 68 : 84) : undefined,
    laws,
    lawWidth,
    top,
    rows,
    groups,
    detail,
    height: Math.round(detail + line * lines + 8),
  };
}

function drawTable(surface: Surface, { model, row, column }: Drawn): void {
  const layout = layoutOf(model, surface.width);
  const { narrow, laws, lawWidth, top, rows } = layout;
  const lawX = (k: number): number => laws + (k + 0.5) * lawWidth;
  const end = layout.detail - 20;
  const head = { align: "end", size: 11 } as const;
  surface.text(layout.name, top - 10, "scheme", { size: 11 });
  surface.text(layout.parameters, top - 10, narrow ? "params" : "parameters", head);
  surface.text(layout.longest, top - 10, narrow ? "ends" : "longest", head);
  if (layout.encodes !== undefined) surface.text(layout.encodes, top - 10, "encodes", { size: 11 });
  surface.path([0, top, surface.width, top], { stroke: "grey" });

  // The cross-hair: the row's band and the law's column.
  const at = rows[row] as number;
  surface.rect(0, at - rowHeight / 2, surface.width, rowHeight, { fill: "blank", stroke: "faint" });
  if (model.laws.length > 0) {
    surface.rect(laws + column * lawWidth, top, lawWidth, end - top, { fill: "blank", stroke: "faint" });
  }
  model.laws.forEach((law, k) => {
    const own = k === column;
    surface.text(lawX(k), top - 7, lawWords(law), {
      turn: -90,
      size: narrow ? 10 : 11,
      ink: own ? "cool" : "grey",
      bold: own,
    });
  });

  for (const { y, words } of layout.groups) {
    // Where the law's column is narrow and far left, the words go over it; no wider than the table.
    const size = Math.min(11, (11 * surface.width) / surface.textWidth(words, { size: 11 }));
    if (size > 10) drawPlate(surface, 0, y, words, { size });
    else drawPlate(surface, 0, y, cutWord(surface, words, surface.width, 11, false), { size: 11 });
  }
  model.rows.forEach((scheme, r) => {
    const y = rows[r] as number;
    const own = r === row;
    const ink = own ? "accent" : "ink";
    // Bold letters need room: where there is little, a title must not lose words under the cursor.
    const bold = own && !narrow;
    // Of a title too long for a narrow column, the first words.
    const titled = (room: number): string => {
      const words = scheme.title.split(" ");
      const style = { size: labelSize, bold };
      while (words.length > 1 && surface.textWidth(words.join(" "), style) > room) words.pop();
      return cutWord(surface, words.join(" "), room, labelSize, bold);
    };
    if (scheme.refusal !== undefined) {
      const words = titled(laws - layout.name - 8);
      surface.text(layout.name, y, words, { ink: own ? "accent" : "grey", bold, size: labelSize });
      return;
    }
    const right = { align: "end", size: labelSize, ink: "ink" } as const;
    const parameters = narrow ? shortCount(scheme.parameters) : book(scheme.parameters);
    const room = layout.parameters - surface.textWidth(parameters, { size: labelSize }) - layout.name - 8;
    surface.text(layout.name, y, titled(room), { ink, bold, size: labelSize });
    surface.text(layout.parameters, y, parameters, { ...right, ...(scheme.parameters === 0 ? { ink: "grey" } : {}) });
    const ends = scheme.maxLength < Infinity;
    surface.text(layout.longest, y, ends ? book(scheme.maxLength) : "\u221e", {
      ...right,
      ink: ends ? "accent" : "grey",
    });
    if (layout.encodes !== undefined) {
      const words = cutWord(surface, scheme.encodes, laws - layout.encodes - 8, labelSize, false);
      surface.text(layout.encodes, y, words, { size: labelSize });
    }
    model.laws.forEach((law, k) => {
      const kept = scheme.laws.find((mine) => mine.law === law);
      const marked = own && k === column;
      if (!kept) surface.disc(lawX(k), y, 0.8, { fill: "grey" });
      else if (kept.when === null) surface.disc(lawX(k), y, 4, { fill: marked ? "accent" : "cool" });
      else surface.disc(lawX(k), y, 3.5, { stroke: marked ? "accent" : "cool", width: 1.4 });
    });
  });
  drawDetail(surface, model, row, column, layout.detail);

  // The nearest row; over the laws also the law.
  const nearestRow = (y: number): number =>
    rows.reduce((best, middle, k) => (Math.abs(middle - y) < Math.abs((rows[best] as number) - y) ? k : best), 0);
  surface.region({ x: 0, y: top, width: surface.width, height: end - top }, (_, v) => ({
    row: nearestRow(top + v * (end - top)),
  }));
  if (model.laws.length > 0) {
    surface.region({ x: laws, y: top - 60, width: lawWidth * model.laws.length, height: end - top + 60 }, (u, v) => {
      const law = Math.min(model.laws.length - 1, Math.floor(u * model.laws.length));
      const y = top - 60 + v * (end - top + 60);
      return y < top ? { column: law } : { row: nearestRow(y), column: law };
    });
  }
}

// 263 k in a narrow column.
function shortCount(value: number): string {
  if (value < 10_000) return String(value);
  const [size, unit] = value < 999_500 ? [value / 1000, "k"] : [value / 1_000_000, "M"];
  return `${book(size, { significant: 3 }).replace(/\.0+$/, "")}\u2009${unit}`;
}

interface DetailLine {
  label: string;
  words: string;
}

function detailLines(row: Row, kept: ComparedLaw | undefined, law: string | undefined, width: number): DetailLine[] {
  const indent = detailIndent(width);
  const facts: [string, string][] =
    row.refusal !== undefined
      ? [["gap", refused(row)]]
      : [
          ["made as", row.code],
          [
            width < 500 ? "params" : "parameters",
            row.parameters === 0 ? "none" : `${book(row.parameters)}: ${typeset(row.parametersInWords)}`,
          ],
          ["encodes", row.encodes],
        ];
  if (law !== undefined && row.refusal === undefined) {
    const holds = kept ? `${kept.sentence}${kept.when === null ? "" : ` Holds if ${kept.when}.`}` : "not claimed";
    facts.push([width < 500 ? "law" : "the law", `${lawWords(law)}: ${typeset(holds)}`]);
  }
  return facts.flatMap(([label, words]) =>
    paragraph(measure, words, 0.92 * (width - indent)).map((part, k) => ({
      label: k === 0 ? label : "",
      words: part,
    })),
  );
}

function detailIndent(width: number): number {
  return width < 500 ? 72 : 92;
}

function drawDetail(surface: Surface, model: Model, row: number, column: number, top: number): void {
  const scheme = model.rows[row] as Row;
  const law = model.laws[column];
  const kept = scheme.laws.find((own) => own.law === law);
  const lines = detailLines(scheme, kept, law, surface.width);
  lines.forEach(({ label, words }, k) => {
    surface.text(0, top + line * k, label, { size: labelSize });
    surface.text(detailIndent(surface.width), top + line * k, words, { ink: "ink", size: labelSize });
  });
}

// ---------------------------------------------------------------- code

function codeOf({ model }: Drawn): Code {
  const rows = made(model.rows);
  const names = [...new Set(rows.map(({ name }) => name))];
  const random = rows.some(({ code }) => code.includes("randomNormal(")) ? ["randomNormal"] : [];
  return {
    javascript: [
      `import { ${["compare", ...random, ...names].join(", ")} } from "posenc";`,
      "",
      "const table = compare([",
      ...rows.map(({ code }) => `  ${code},`),
      "]);",
      "",
    ].join("\n"),
  };
}
