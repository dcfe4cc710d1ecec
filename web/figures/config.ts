// <posenc-config>: what a model's config.json says of positions: schemes in facts, its frequencies before and after
// scaling, its layers, and where frameworks disagree.
import { readAll } from "../src/error.js";
import {
  bias,
  fromJSON,
  frequencies,
  relativeIndex,
  type AnyScheme,
  type BiasScheme,
  type RotateScheme,
} from "../src/core.js";
import { fromConfig, type LayerPositions, type ModelPositions, type PartPositions } from "../src/config.js";
import { drawChart } from "./chart.js";
import { attachFiles } from "./file-control.js";
import {
  choice,
  cursorField,
  defineFigure,
  range,
  text,
  type Code,
  type Reading,
  type State,
} from "./figure.js";
import { book, count, powerOfTen, short } from "./format.js";
import { refuseData } from "./given-data.js";
import { jsonFault } from "./json-fault.js";
import { lengthsOf, type NamedLength } from "./lengths.js";
import { drawPlate, indexTicks, labelSize, paragraph, scaleOf, spread } from "./marks.js";
import { refuseValue } from "./refusal.js";
import { estimateWidth, type Ink, type Surface } from "./surface.js";
import { typeset } from "./typeset.js";

type Band = "kept" | "ramped" | "scaled";

/** The rotation of one kind of layer. */
interface Turning {
  kind: string;
  scheme: RotateScheme;
  wavelengths: Float64Array;
  /** Without the scaling rule; the same where there is none. */
  plain: Float64Array;
  /** Frequency after over before. */
  ratio: Float64Array;
  band: readonly Band[];
  attentionFactor: number;
  scaled: boolean;
}

/** Curves over the distance, one a head: of ALiBi, or the one staircase of buckets. */
interface Profile {
  what: string;
  lines: readonly Float64Array[];
  /** Of index 0. */
  first: number;
  /** Whole numbers, drawn as a staircase. */
  stepped: boolean;
  /** The function that makes the lines. */
  call: "bias" | "relativeIndex";
}

type Fact = readonly [label: string, words: string];

interface Model {
  text: string;
  read: ModelPositions;
  facts: readonly Fact[];
  turnings: readonly Turning[];
  profile: Profile | undefined;
  /** Tokens that rules of the length were asked for. */
  length: number;
  /** Lengths that the config names, with what they are. */
  lengths: readonly NamedLength[];
}

type Drawn = State<Model>;

const example = `{
  "model_type": "llama",
  "hidden_size": 4096,
  "num_hidden_layers": 32,
  "num_attention_heads": 32,
  "num_key_value_heads": 8,
  "max_position_embeddings": 131072,
  "rope_theta": 500000.0,
  "rope_scaling": {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192
  }
}`;

const mostCharacters = 2_000_000;
const farthest = 64;

export const config = defineFigure<Model>({
  name: "config",
  attributes: {
    config: "The text of a config.json, or of its rope_parameters with head_dim beside; a Llama 3.1 by default.",
    length: "Tokens of the call, for scaling rules that depend on it; what the config reaches by default.",
    view: "pairs, layers, distances or facts, where the config has them.",
    kind: "The kind of layer under the cursor, from 0.",
    pair: "The pair of columns under the cursor.",
    layer: "The layer under the cursor, from 0.",
    offset: "The offset (key - query) under the cursor.",
  },

  tabs: (_, model) => choice("view", "view", undefined, model ? viewsOf(model) : views),

  files: {
    label: "a model\u2019s config.json",
    accept: ".json,application/json",
    attach: attachFiles,
    read: async (file) => {
      if (file.size > mostCharacters) {
        const sentence = "a config.json is no larger than two million bytes";
        refuseValue("too-large", "file", `at most ${mostCharacters} bytes`, file.size, sentence);
      }
      const words = await file.text();
      // Refused here, the figure stays as it is.
      fromConfig(parsed(words));
      return { values: { config: words }, data: undefined };
    },
  },

  fields: (values) => [
    text("config", "config.json", example, { lines: 8, maxLength: mostCharacters }),
    range("length", "tokens of the call", undefined, 512, 2 ** 20, {
      integer: true,
      log: true,
      least: 1,
      most: 2 ** 30,
      place: /"(dynamic|longrope|su)"|use_dynamic_ntk/.test(String(values.config ?? "")) ? "row" : "none",
    }),
    cursorField("kind", "The kind of layer under the cursor, from 0."),
    cursorField("pair", "The pair of columns under the cursor."),
    cursorField("layer", "The layer under the cursor."),
    cursorField("offset", "The offset (key - query) under the cursor."),
  ],

  compute: (values, data) => {
    const given = data ?? undefined;
    if (given !== undefined && (typeof given !== "object" || Array.isArray(given))) {
      refuseData("a parsed config.json", given);
    }
    const raw = given ?? parsed(String(values.config));
    const made = fromConfig(raw);
    const read = readAll({ ...made, notes: made.notes.map(typeset) });
    const lengths = lengthsOf(raw, read);
    const length = Number(values.length ?? Math.max(1, ...lengths.map(({ tokens }) => tokens)));
    return {
      text: given ? JSON.stringify(given, null, 2) : String(values.config),
      read,
      facts: factsOf(read),
      turnings: turningsOf(read, length),
      profile: profileOf(read),
      length,
      lengths,
    };
  },

  cells: (state) => {
    const { model } = state;
    switch (state.view) {
      case "pairs": {
        const { band } = (model.turnings.find(({ scaled }) => scaled) ?? model.turnings[0]) as Turning;
        return {
          row: {
            name: "kind",
            count: model.turnings.length,
            start: Math.max(
              0,
              model.turnings.findIndex(({ scaled }) => scaled),
            ),
          },
          column: { name: "pair", count: band.length, start: Math.max(0, band.indexOf("ramped")) },
        };
      }
      case "layers":
        return { column: { name: "layer", count: model.read.layers?.length ?? 1 } };
      case "distances": {
        const { lines, first } = model.profile as Profile;
        const total = lines[0]?.length ?? 1;
        return { column: { name: "offset", count: total, from: first, start: Math.max(0, -first - 16) } };
      }
      default:
        return {};
    }
  },

  height: (state, width) => layoutOf(state, width).height,

  draw: (surface, state) => {
    const layout = layoutOf(state, surface.width);
    drawLines(surface, layout.facts, 4);
    const chart = surface.inset(0, layout.chartTop, surface.width, layout.chart);
    if (state.view === "pairs") drawPairs(chart, state);
    else if (state.view === "layers") drawLayers(chart, state);
    else if (state.view === "distances") drawProfile(chart, state);
    drawLines(surface, layout.notes, layout.notesTop);
  },

  title: ({ model }) => `Positions of \u201c${model.read.model}\u201d, as its config.json has them`,

  caption: (state) => {
    const { model } = state;
    switch (state.view) {
      case "pairs":
        return model.turnings.some(({ scaled }) => scaled)
          ? "How many tokens each pair of columns takes for one turn, as trained (thin) and as the scaling rule leaves it. " +
              "Fast pairs tell neighbours apart and are kept; slow ones are stretched over the longer context."
          : "How many tokens each pair of columns takes for one turn. Pairs above a length never turn once within it.";
      case "layers":
        return "Layers differ: each column is one, marked in the row of its kind.";
      case "distances":
        return `${model.profile?.what ?? ""} over the offset from the query to the key, by the config alone.`;
      default:
        return "The schemes that the config asks for, and the options of attention.";
    }
  },

  readout: (state) => {
    const { model, row, column } = state;
    switch (state.view) {
      case "pairs": {
        const turning = model.turnings[row] as Turning;
        const tokens = (values: Float64Array): string => book(values[column] as number);
        return [
          ...(model.turnings.length > 1 ? [{ label: "in", value: kindWords(turning.kind) }] : []),
          { label: "pair", value: String(column) },
          { label: "wavelength", value: tokens(turning.wavelengths), unit: "tokens" },
          ...(turning.scaled
            ? [
                { label: "as trained", value: tokens(turning.plain), unit: "tokens" },
                { label: "speed \u00d7", value: short(turning.ratio[column] as number) },
                { label: "band", value: turning.band[column] as string },
              ]
            : []),
          ...(turning.attentionFactor === 1
            ? []
            : [
                {
                  label: "attention factor",
                  value: book(turning.attentionFactor, { significant: 5 }),
                  constant: model.turnings.length === 1,
                },
              ]),
        ];
      }
      case "layers": {
        const layer = model.read.layers?.[column] ?? {};
        return [
          { label: "layer", value: book(column) },
          { label: "kind", value: kindWords(model.read.layerTypes?.[column] ?? "") },
          ...layerReadings(layer),
        ];
      }
      case "distances": {
        const { lines, first, what } = model.profile as Profile;
        const at = lines.map((line) => book(line[column] as number, { significant: 4 }));
        return [
          { label: "key \u2212 query", value: book(column + first, { signed: true }) },
          ...(at.length === 1
            ? [{ label: what.toLowerCase(), value: at[0] as string }]
            : [
                { label: "bias of head 1", value: at[0] as string },
                { label: `of head ${at.length}`, value: at[at.length - 1] as string },
              ]),
        ];
      }
      default:
        return [{ label: "model", value: model.read.model }];
    }
  },

  summary: (state) => {
    const { facts, read, turnings } = state.model;
    const bands = turnings.map(
      (turning) => `${turnings.length > 1 ? `${kindWords(turning.kind)}: ` : ""}${bandWords(turning)}.`,
    );
    return [
      `What a config.json of ${read.model} says of positions.`,
      ...facts.map(([label, words]) => `${label}: ${words}.`),
      ...bands,
      ...read.notes,
    ].join(" ");
  },

  table: (state) => {
    const { model, row } = state;
    switch (state.view) {
      case "pairs": {
        const { wavelengths, plain, ratio, band } = model.turnings[row] as Turning;
        return {
          header: ["pair", "wavelength", "as trained", "speed", "band"],
          rows: band.length,
          cell: (r, c) => [r, wavelengths[r], plain[r], ratio[r], band[r]][c] as number | string,
        };
      }
      case "layers":
        return {
          header: ["layer", "kind", "window", "rotation", "scale"],
          rows: model.read.layers?.length ?? 0,
          cell: (r, c) => {
            const { rotate, window, scale } = model.read.layers?.[r] ?? {};
            return [
              r,
              kindWords(model.read.layerTypes?.[r] ?? ""),
              window ?? Number.NaN,
              rotate === undefined ? "none" : schemesText(rotate),
              scale ?? Number.NaN,
            ][c] as number | string;
          },
        };
      case "distances": {
        const { lines, first, what } = model.profile as Profile;
        return {
          header: ["offset", ...lines.map((_, h) => (lines.length === 1 ? what.toLowerCase() : `head ${h + 1}`))],
          rows: lines[0]?.length ?? 0,
          cell: (r, c) => (c === 0 ? r + first : (lines[c - 1]?.[r] as number)),
        };
      }
      default: {
        const rows = [...model.facts, ...model.read.notes.map((note): Fact => ["note", note])];
        return { header: ["what", "says"], rows: rows.length, cell: (r, c) => rows[r]?.[c as 0 | 1] ?? "" };
      }
    }
  },

  // What only adds a learned table has no numbers here.
  hasArray: ({ model }) => model.turnings.length > 0 || model.profile !== undefined,

  array: ({ model, row, view }) => {
    const { turnings, profile } = model;
    const distances = view === "distances";
    const chosen = distances ? undefined : (turnings[row] ?? turnings[0]);
    if (chosen) return { data: chosen.wavelengths, shape: [chosen.wavelengths.length] };
    const lines = profile?.lines ?? [];
    const wide = lines[0]?.length ?? 0;
    const all = new Float64Array(lines.length * wide);
    lines.forEach((line, h) => all.set(line, h * wide));
    return { data: all, shape: [lines.length, wide] };
  },

  code: codeOf,
});

// ---------------------------------------------------------------- reading

// An object out of a text; says where a text is none.
function parsed(words: string): object {
  const allowed = "a config.json";
  if (words.trim() === "") {
    refuseValue("invalid-file", "config", allowed, words, "there is no config; paste a model\u2019s config.json");
  }
  let value: unknown;
  try {
    value = JSON.parse(words);
  } catch {
    const sentence = `the text is not JSON: ${jsonFault(words) ?? "it is too deep"}`;
    return refuseValue("invalid-file", "config", allowed, words, sentence);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const sentence = "a config.json is an object, {\u2026}, with keys such as \u201cmodel_type\u201d";
    return refuseValue("invalid-file", "config", allowed, words, sentence);
  }
  return value;
}

function turningsOf(read: ModelPositions, length: number): Turning[] {
  const kinds = Object.entries(read.byLayerType ?? {});
  const all: [string, LayerPositions][] = kinds.length > 0 ? kinds : [["", read]];
  return all.flatMap(([kind, { rotate }]) => {
    for (const scheme of [rotate ?? []].flat() as RotateScheme[]) {
      const { scaling, ...rest } = scheme.toJSON() as { scaling?: { type?: string } } & Record<string, unknown>;
      const rule = scaling?.type ?? "none";
      const scaled = rule !== "none";
      try {
        const now = frequencies(scheme, { length });
        const before = scaled ? (fromJSON(rest as never) as RotateScheme) : scheme;
        const was = frequencies(before);
        return [
          {
            kind,
            scheme,
            wavelengths: now.wavelength,
            plain: was.wavelength,
            ratio: now.inverse.map((omega, pair) => omega / (was.inverse[pair] as number)),
            band: now.band,
            attentionFactor: now.attentionFactor,
            scaled,
          },
        ];
      } catch {
        // It turns no pairs: a scale of the queries.
      }
    }
    return [];
  });
}

// What a bias or a table of relations does over the distance.
function profileOf(read: ModelPositions): Profile | undefined {
  const [scheme] = [read.bias, read.relate].filter((made) => made !== undefined);
  if (!scheme) return undefined;
  const causal = read.attention.causal === true;
  const past = 2 * farthest;
  const keys = causal ? past + 1 : 2 * past + 1;
  const places = { queries: [past], keys };
  const stairs = { stepped: true, call: "relativeIndex" } as const;
  try {
    const index = relativeIndex(scheme as BiasScheme, places).data;
    return { what: "Row of the learned table", lines: [Float64Array.from(index)], first: -past, ...stairs };
  } catch {
    // It has no table of offsets.
  }
  try {
    const { data, shape } = bias(scheme as BiasScheme, places);
    const lines = Array.from({ length: shape[0] ?? 1 }, (_, h) =>
      Float64Array.from(data.slice(h * keys, (h + 1) * keys)),
    );
    return { what: "The bias of each head", lines, first: -past, stepped: false, call: "bias" };
  } catch {
    return undefined;
  }
}

const views = ["pairs", "layers", "distances", "facts"];

function viewsOf(model: Model): string[] {
  const has = {
    pairs: model.turnings.length > 0,
    layers: (model.read.layers?.length ?? 0) > 0,
    distances: model.profile !== undefined,
  };
  const found = views.filter((view) => has[view as keyof typeof has]);
  return found.length > 0 ? found : ["facts"];
}

// ---------------------------------------------------------------- words

function schemeWords(scheme: AnyScheme): string {
  return String(scheme).replace(/\[[^[\]]{48,}\]/g, (list) => `[\u2026 ${list.split(",").length} numbers]`);
}

function schemesText(schemes: AnyScheme | readonly AnyScheme[]): string {
  return [schemes]
    .flat()
    .map((scheme) => schemeWords(scheme as AnyScheme))
    .join(", then ");
}

function kindWords(kind: string): string {
  return kind.replace(/_/g, " ");
}

function bandWords({ band, scaled, wavelengths }: Turning): string {
  const never = wavelengths.filter((length) => length === Infinity).length;
  const still = never > 0 ? `, ${book(never)} of them never` : "";
  if (!scaled) return `${count(band.length, "pair")} turn${band.length === 1 ? "s" : ""} as trained${still}`;
  const total = (name: Band): number => band.filter((own) => own === name).length;
  const parts = (["kept", "ramped", "scaled"] as const).filter((name) => total(name) > 0);
  return `Of ${count(band.length, "pair")} ${parts.map((name) => `${book(total(name))} ${total(name) === 1 ? "is" : "are"} ${name}`).join(", ")}${still}`;
}

function partFacts(part: PartPositions, before: string): Fact[] {
  const label = (word: string): string => (before === "" ? word : `${before} ${word}`);
  const facts: Fact[] = [];
  for (const slot of ["embed", "rotate", "bias", "relate"] as const) {
    const schemes = part[slot];
    if (schemes !== undefined) facts.push([label(slot), schemesText(schemes)]);
  }
  return facts;
}

function factsOf(read: ModelPositions): Fact[] {
  const kinds = Object.entries(read.byLayerType ?? {});
  const facts: Fact[] = [];
  if (read.parts) {
    for (const name of ["encoder", "decoder", "cross"] as const) {
      const part = read.parts[name];
      if (part) facts.push(...partFacts(part, name));
    }
  } else if (kinds.length === 0) facts.push(...partFacts(read, ""));
  else {
    if (read.embed) facts.push(["embed", schemeWords(read.embed)]);
    for (const [kind, own] of kinds) {
      const layer = readAll(own);
      const total = read.layerTypes?.filter((one) => one === kind).length ?? 0;
      const schemes = partFacts({ ...layer, attention: read.attention }, "").map(([, words]) => words);
      if (layer.window !== undefined) schemes.push(`a window of ${book(layer.window)} tokens`);
      const layers = total > 0 ? ` in ${count(total, "layer")}` : "";
      facts.push([kindWords(kind), `${schemes.join(", ") || "no positions"}${layers}`]);
    }
  }
  if (read.segments) facts.push(["segments", schemeWords(read.segments)]);
  if (read.firstPosition !== undefined) facts.push(["first token", `row ${book(read.firstPosition)} of the table`]);
  if (read.grid) facts.push(["grid", `${read.grid[0]} by ${read.grid[1]} patches`]);
  if (read.chunkSize !== undefined) facts.push(["chunks", `of ${count(read.chunkSize, "token")}`]);
  facts.push(["attention", attentionWords(read)]);
  return facts;
}

function attentionWords({ attention: options, heads, kvHeads, headDim }: ModelPositions): string {
  const attention = readAll(options);
  const many = typeof heads === "number" ? heads : undefined;
  const width = headDim === undefined ? "" : ` of ${count(headDim, "column")}`;
  return [
    ...(many === undefined ? [] : [`${count(many, "head")}${width}`]),
    ...(many === undefined || kvHeads === undefined || kvHeads === many ? [] : [`${book(kvHeads)} of keys and values`]),
    `scores times ${short(attention.scale)}`,
    ...(attention.causal === true ? ["causal"] : []),
    ...(attention.window === undefined ? [] : [`a window of ${book(attention.window)} tokens`]),
    ...(attention.softcap === undefined ? [] : [`soft cap ${book(attention.softcap)}`]),
  ].join(", ");
}

function layerReadings({ rotate, window, scale }: LayerPositions): Reading[] {
  const schemes = [rotate ?? []].flat() as RotateScheme[];
  const base = schemes.map((scheme) => (scheme as { base?: unknown }).base).find((value) => typeof value === "number");
  return [
    { label: "rotation", value: schemes.length === 0 ? "none" : schemes.map(({ name }) => name).join(", ") },
    ...(base === undefined ? [] : [{ label: "base", value: book(base as number) }]),
    {
      label: "sees",
      value: window === undefined ? "all" : book(window),
      ...(window === undefined ? {} : { unit: "tokens" }),
    },
    ...(scale === undefined ? [] : [{ label: "scale", value: book(scale) }]),
  ];
}

// ---------------------------------------------------------------- layout

const line = 17;
const measure = { textWidth: estimateWidth };

/** A line of words at x, or a label. */
interface Line {
  x: number;
  y: number;
  words: string;
  ink: Ink;
}

interface Layout {
  facts: readonly Line[];
  chartTop: number;
  chart: number;
  notes: readonly Line[];
  notesTop: number;
  height: number;
}

// Labels in a column at the left, words in another; a label that is too long has a line to itself.
function linesOf(rows: readonly Fact[], width: number, indent: number, gap: number): { lines: Line[]; height: number } {
  const lines: Line[] = [];
  let y = 4;
  for (const [label, words] of rows) {
    if (label !== "") lines.push({ x: 0, y, words: label, ink: "grey" });
    if (estimateWidth(label, { size: labelSize }) > indent - 6) y += line;
    for (const part of paragraph(measure, words, 0.9 * (width - indent))) {
      lines.push({ x: indent, y, words: part, ink: "ink" });
      y += line;
    }
    y += gap;
  }
  return { lines, height: y - 4 - gap };
}

function layoutOf(state: Drawn, width: number): Layout {
  const { model } = state;
  const narrow = width < 500;
  const labels = model.facts.map(([label]) => 12 + 1.16 * estimateWidth(label, { size: labelSize }));
  const indent = narrow ? 66 : Math.min(150, Math.max(92, ...labels));
  const facts = linesOf(model.facts, width, indent, 2);
  const notes = linesOf(
    model.read.notes.map((note, k): Fact => [k === 0 ? "notes" : "", note]),
    width,
    indent,
    4,
  );
  const { view } = state;
  const kinds = Object.keys(model.read.byLayerType ?? {}).length;
  const chart =
    view === "facts" ? 0 : view === "layers" ? layerRow(width) * Math.max(1, kinds) + 22 : narrow ? 250 : 270;
  const chartTop = facts.height + (chart === 0 ? 4 : 22);
  const notesTop = chartTop + chart + (notes.lines.length > 0 ? 14 : 0);
  return {
    facts: facts.lines,
    chartTop,
    chart,
    notes: notes.lines,
    notesTop,
    height: Math.round(notesTop + notes.height + 6),
  };
}

function drawLines(surface: Surface, lines: readonly Line[], top: number): void {
  for (const { x, y, words, ink } of lines) surface.text(x, top + y, words, { ink, size: labelSize });
}

// ---------------------------------------------------------------- pairs

const bandInks: Readonly<Record<Band, Ink>> = { kept: "ink", ramped: "accent", scaled: "cool" };

function drawPairs(surface: Surface, { model, row, column }: Drawn): void {
  const { narrow, width, height } = surface;
  const { turnings, lengths } = model;
  const chosen = turnings[row] as Turning;
  const names = turnings.map(({ kind }) => kindWords(kind));
  const several = turnings.length > 1;
  const room = narrow
    ? 8
    : 24 +
      Math.max(
        60,
        ...lengths.map(({ tokens, name }) => surface.textWidth(`${name} ${book(tokens)}`, { size: labelSize })),
        ...names.map((name) => surface.textWidth(name, { size: labelSize, bold: true })),
      );
  const [left, right, top, foot] = [40, room, 30, height - 34];
  const plot = width - left - right;
  const finite = turnings
    .flatMap(({ wavelengths, plain }) => [...wavelengths, ...plain])
    .filter((length) => length < Infinity);
  const most = Math.max(10, ...finite, ...lengths.map(({ tokens }) => tokens));
  const end = 1.25 * most;
  const total = Math.max(...turnings.map(({ band }) => band.length));
  const x = (pair: number): number => left + (total > 1 ? (pair * plot) / (total - 1) : plot / 2);
  const y = scaleOf(1, end, foot, top, true).place;

  for (let d = 0; 10 ** d <= end; d += end > 1e5 ? 2 : 1) {
    surface.path([left, y(10 ** d), left + plot, y(10 ** d)], { stroke: "faint" });
    const label = d < 4 ? book(10 ** d) : powerOfTen(d);
    surface.text(left - 8, y(10 ** d), label, { align: "end", size: labelSize });
  }
  if (!narrow) surface.text(0, top - 22, "tokens a turn", { size: 11 });
  drawBandNames(surface, chosen, narrow ? 0 : left + 60, top - 22);
  // Where no name fits beside its line, the kind of the dots is told above them.
  if (narrow && several && !chosen.scaled) {
    surface.text(0, top - 22, names[row] as string, { ink: "accent", bold: true, size: 11 });
  }

  for (const { tokens } of lengths) {
    surface.path([left, y(tokens), left + plot, y(tokens)], { stroke: "ink", dash: [4, 3], alpha: 0.6 });
  }
  const at = x(column);
  surface.path([at, top, at, foot], { stroke: "faint" });
  const order = [...turnings.keys()].filter((k) => k !== row).concat(row);
  for (const k of order) {
    const { wavelengths, plain, band, scaled } = turnings[k] as Turning;
    const own = k === row;
    const curve = (values: Float64Array): Float64Array => {
      const points = new Float64Array(2 * values.length);
      values.forEach((tokens, pair) => points.set([tokens < Infinity ? x(pair) : Number.NaN, y(tokens)], 2 * pair));
      return points;
    };
    if (scaled && own) surface.path(curve(plain), { stroke: "grey" });
    if (!own) surface.path(curve(wavelengths), { stroke: "grey", alpha: 0.55 });
    else {
      const radius = plot / total < 5 ? 1.7 : 2.4;
      wavelengths.forEach((tokens, pair) => {
        const own = scaled ? (band[pair] as Band) : "kept";
        // A pair that never turns stands at the upper edge.
        if (tokens === Infinity) surface.rect(x(pair) - 1, top - 2, 2, 5, { fill: bandInks[own] });
        else drawBand(surface, x(pair), y(tokens), radius, own);
      });
    }
  }
  const here = chosen.wavelengths[column] as number;
  if (here < Infinity) {
    const was = chosen.plain[column] as number;
    if (chosen.scaled && was < Infinity) surface.path([at, y(was), at, y(here)], { stroke: "accent", width: 1.5 });
    if (chosen.scaled) drawBand(surface, at, y(here), 4, chosen.band[column] as Band);
    else surface.disc(at, y(here), 4, { fill: "accent" });
  }
  drawEnds(surface, model, row, { left, plot, top, foot, y });

  const name = `pair ${column}`;
  const half = surface.textWidth(name, { size: labelSize }) / 2;
  const middle = Math.max(half, Math.min(width - half, at));
  for (const pair of indexTicks(total, plot, narrow ? 40 : 60, true)) {
    const wide = surface.textWidth(String(pair), { size: labelSize }) / 2;
    if (Math.abs(x(pair) - middle) > half + 18)
      surface.text(Math.min(x(pair), width - wide - 1), foot + 16, String(pair), { align: "middle", size: labelSize });
  }
  surface.text(middle, foot + 16, name, { ink: "accent", align: "middle", size: labelSize });
  surface.region({ x: left, y: top, width: plot, height: foot - top }, (u, v) => {
    const pair = Math.round(u * (total - 1));
    const py = top + v * (foot - top);
    const far = (k: number): number => {
      const tokens = turnings[k]?.wavelengths[pair] ?? Infinity;
      return tokens < Infinity ? Math.abs(y(tokens) - py) : 1e6;
    };
    const nearest = [...turnings.keys()].reduce((best, k) => (far(k) < far(best) ? k : best));
    return several ? { row: nearest, column: pair } : { column: pair };
  });
}

// The pairs of a band have a mark of their own: a dot, a ring, a square.
function drawBand(surface: Surface, x: number, y: number, radius: number, band: Band): void {
  const ink = bandInks[band];
  if (band === "scaled") surface.rect(x - radius, y - radius, 2 * radius, 2 * radius, { fill: ink });
  else surface.disc(x, y, radius, band === "kept" ? { fill: ink } : { fill: "paper", stroke: ink, width: 1.2 });
}

// The names of the bands after their marks, with how many pairs each has.
function drawBandNames(surface: Surface, turning: Turning, left: number, y: number): void {
  if (!turning.scaled) return;
  let x = left;
  for (const name of ["kept", "ramped", "scaled"] as const) {
    const total = turning.band.filter((own) => own === name).length;
    if (total === 0) continue;
    const words = `${total} ${name}`;
    drawBand(surface, x + 3, y, 2.6, name);
    surface.text(x + 11, y, words, { ink: bandInks[name], size: 11, bold: true });
    x += surface.textWidth(words, { size: 11, bold: true }) + 25;
  }
}

// Names of lengths and kinds at the right; over their lines where it is narrow.
function drawEnds(
  surface: Surface,
  { lengths, turnings }: Model,
  row: number,
  {
    left,
    plot,
    top,
    foot,
    y,
  }: { left: number; plot: number; top: number; foot: number; y: (tokens: number) => number },
): void {
  const several = turnings.length > 1;
  const last = ({ wavelengths }: Turning): number =>
    y([...wavelengths].reverse().find((tokens) => tokens < Infinity) ?? 1);
  const labels = [
    ...lengths.map(({ tokens, name }) => ({
      wish: y(tokens),
      words: `${name} ${book(tokens)}`,
      ink: "ink" as Ink,
      bold: false,
    })),
    ...(several
      ? turnings.map((turning, k) => ({
          wish: last(turning),
          words: kindWords(turning.kind),
          ink: (k === row ? "accent" : "grey") as Ink,
          bold: k === row,
        }))
      : []),
  ];
  if (surface.narrow) {
    for (const { wish, words, ink } of labels.slice(0, lengths.length)) {
      drawPlate(surface, left + 4, wish - 8, words, { ink, size: 11 });
    }
    return;
  }
  const ys = spread(
    labels.map(({ wish }) => wish),
    15,
    top,
    foot,
  );
  labels.forEach(({ words, ink, bold }, k) => {
    surface.text(left + plot + 12, ys[k] as number, words, { ink, bold, size: labelSize });
  });
}

// ---------------------------------------------------------------- layers

function layerRow(width: number): number {
  return width < 500 ? 44 : 28;
}

function drawLayers(surface: Surface, { model, column }: Drawn): void {
  const { narrow, width, height } = surface;
  const { layerTypes = [], byLayerType = {} } = model.read;
  const kinds = Object.keys(byLayerType);
  const total = layerTypes.length;
  const left = narrow ? 0 : 132;
  const right = narrow ? 0 : 6;
  const plot = width - left - right;
  const cell = plot / Math.max(1, total);
  const row = layerRow(width);
  kinds.forEach((kind, k) => {
    const own = layerTypes[column] === kind;
    const y = row * k + (narrow ? 20 : 4);
    const style = { ink: own ? "accent" : "ink", bold: own, size: labelSize } as const;
    if (narrow) surface.text(0, row * k + 10, kindWords(kind), style);
    else surface.text(0, y + 9, kindWords(kind), style);
    layerTypes.forEach((type, layer) => {
      const marked = type === kind;
      const gap = cell > 4 ? 1.5 : 0;
      surface.rect(left + layer * cell + gap / 2, marked ? y : y + 7, Math.max(0.75, cell - gap), marked ? 17 : 2, {
        fill: marked ? (layer === column ? "accent" : "cool") : "faint",
      });
    });
  });
  const foot = row * kinds.length + (narrow ? 4 : 0);
  const name = `layer ${column}`;
  const half = surface.textWidth(name, { size: labelSize }) / 2;
  const middle = Math.max(half, Math.min(width - half, left + (column + 0.5) * cell));
  for (const layer of indexTicks(total, plot, narrow ? 36 : 50)) {
    const wide = surface.textWidth(String(layer), { size: labelSize }) / 2;
    const place = Math.min(width - wide, left + (layer + 0.5) * cell);
    if (Math.abs(place - middle) > half + 12)
      surface.text(place, foot + 10, String(layer), { align: "middle", size: labelSize });
  }
  surface.text(middle, foot + 10, name, { ink: "accent", align: "middle", size: labelSize });
  surface.region({ x: left, y: 0, width: plot, height }, (u) => ({ column: Math.floor(u * total) }));
}

// ---------------------------------------------------------------- distances

function drawProfile(surface: Surface, { model, column }: Drawn): void {
  const { lines, first, what, stepped } = model.profile as Profile;
  const total = lines[0]?.length ?? 1;
  const [low, high] = [0, 0].map((_, k) => {
    const pick = k === 0 ? Math.min : Math.max;
    return lines.reduce((end, values) => values.reduce((a, b) => pick(a, b), end), 0);
  }) as [number, number];
  // Buckets are steps, penalties are lines.
  const half = stepped ? 0.5 : 0;
  const twice = (of: (at: number, side: number) => number): number[] =>
    Array.from({ length: 2 * total }, (_, k) => of(Math.floor(k / 2), k % 2 === 0 ? -half : half));
  const x = twice((at, side) => at + first + side);
  drawChart(surface, {
    box: { x: 0, y: 0, width: surface.width, height: surface.height },
    x: { min: first, max: first + total - 1, wish: surface.narrow ? 4 : 8, tick: (v) => book(v, { signed: true }) },
    y: { min: low, max: high, label: what.toLowerCase() },
    lines: lines.map((values) => ({
      x,
      y: twice((at) => values[at] as number),
      ink: "ink",
      width: lines.length === 1 ? 1.5 : 1,
      alpha: lines.length === 1 ? 1 : 0.6,
    })),
    cursor: {
      at: column + first,
      name: `${surface.narrow ? "offset" : "key \u2212 query"} ${book(column + first, { signed: true })}`,
      ink: "accent",
      dots: lines.map((values) => ({ y: values[column] as number, ink: "accent" })),
    },
    locate: (offset) => ({ column: Math.max(0, Math.min(total - 1, Math.round(offset - first))) }),
  });
}

// ---------------------------------------------------------------- code

const longestListed = 4000;

function codeOf({ model, row, view }: Drawn): Code {
  const { text: words, turnings, length, profile } = model;
  const drawn = view === "distances" ? profile : undefined;
  const slot = model.read.bias === undefined ? "relate" : "bias";
  const turning = turnings[row] ?? turnings[0];
  const inline = words.length <= longestListed;
  const several = turnings.length > 1 || model.read.byLayerType !== undefined;
  const from = several ? `model.byLayerType.${turning?.kind}.rotate` : "model.rotate";
  const javascript = [
    ...(turning ? ['import { frequencies } from "posenc";'] : []),
    ...(drawn ? [`import { ${drawn.call} } from "posenc";`] : []),
    'import { fromConfig } from "posenc/config";',
    "",
    inline ? `const config = ${words.trim()};` : "const config = JSON.parse(text);  // of the model's config.json",
    "const model = fromConfig(config);  // schemes, options of attention, notes",
    ...(turning ? [`const { wavelength, band } = frequencies([${from}].flat().at(-1), { length: ${length} });`] : []),
    ...(drawn
      ? [
          `const places = { queries: [${-drawn.first}], keys: ${drawn.lines[0]?.length} };  // of one query`,
          `const lines = ${drawn.call}(model.${slot}, places);`,
        ]
      : []),
    "",
  ].join("\n");
  const numpy =
    turning &&
    (async (): Promise<string | undefined> => {
      const { wavelengthsNumpy } = await import("./numpy-programs.js");
      return wavelengthsNumpy(turning.scheme, length);
    });
  return { javascript, numpy };
}
