// <posenc-addition>: what enters a Transformer, the words' embeddings plus the encoding of their places: three strips.
import { embed, encode, fromJSON, tensor, type EmbedScheme } from "../src/core.js";
import type { ColourScale } from "./colour.js";
import { cutWord } from "./cut-word.js";
import { choice, cursorField, defineFigure, flag, range, text, type Code, type State, type Values } from "./figure.js";
import { book, count, lowered, short } from "./format.js";
import { givenScheme } from "./given-data.js";
import { magnitude } from "./magnitude.js";
import { inkOn, indexTicks, labelSize, legend } from "./marks.js";
import {
  descriptorOf,
  literal,
  schemeChooser,
  schemeFields,
  schemeOptions,
  schemeText,
  type ChosenScheme,
} from "./scheme-fields.js";
import { cutWords, isolated, mostTokens, onOneLine, seedOf, shortened, someTokensOf, vectorsOf } from "./sentence.js";
import { estimateWidth, type Ink, type Surface } from "./surface.js";

export interface Model {
  chosen: ChosenScheme<EmbedScheme>;
  words: readonly string[];
  /** What is said of a sentence too long, if it is. */
  cut: string;
  dim: number;
  /** [tokens, dim] each: scale x embedding, alpha x encoding, and what the core gives for their sum. */
  embedding: Float32Array;
  encoding: Float32Array;
  input: Float32Array;
  /** How the strips are headed. */
  names: { embedding: string; encoding: string };
  /** The largest magnitude of all three: one colour scale, so that they can be compared. */
  scale: ColourScale;
}

type Drawn = State<Model>;

const mostCharacters = 4000;
const defaultSentence = "The cat sat on the mat";
// Set by the figure: the scheme's own factor would hide behind alpha.
const ownParams = ["dim", "scale", "seed"];

export const addition = defineFigure<Model>({
  name: "addition",
  attributes: {
    sentence: "The sentence; its words and signs are the tokens, at most 256.",
    scheme: 'The embed scheme, "sinusoidal" by default.',
    dim: "The width of the vectors, at most 512; 6 by default.",
    scale: 'What multiplies the embeddings: "1" or "sqrt" for the square root of the width.',
    alpha: "What multiplies the encoding; 1 by default.",
    deviation: "The standard deviation of the embeddings; 0.3 by default.",
    seed: "Deals the embeddings anew; 0 by default.",
    fixed: "Leaves out the figure's own input for the sentence.",
    position: "The row of the cursor.",
    dimension: "The column of the cursor.",
  },

  fields: (values) => [
    flag("fixed", "fixed sentence", false, { place: "none" }),
    text("sentence", "sentence", defaultSentence, {
      place: values.fixed === true ? "none" : "row",
      maxLength: mostCharacters,
    }),
    schemeChooser("embed", "sinusoidal", { draws: fitsWords }),
    range("dim", "dimensions", 6, 2, 32, { integer: true, most: 512, step: 2 }),
    choice("scale", "embeddings times", "1", [
      { value: "1", label: "1" },
      { value: "sqrt", label: "\u221ad, as in the paper" },
    ]),
    range("alpha", "encoding times", 1, 0, 2, { least: -16, most: 16, step: 0.05 }),
    range("deviation", "deviation of embeddings", 0.3, 0.02, 1, { least: 0, most: 100, log: true, place: "more" }),
    range("seed", "seed of the words", 0, 0, 99, { integer: true, most: 2 ** 32, place: "more" }),
    ...schemeFields(descriptorOf("embed", String(values.scheme ?? "sinusoidal")), {
      row: [],
      without: ownParams,
      values,
    }),
    cursorField("position", "The row of the cursor."),
    cursorField("dimension", "The column of the cursor."),
  ],

  compute: (values, data) => {
    const words = someTokensOf(String(values.sentence));
    const given = givenScheme(data, ["embed"]);
    const name = given?.name ?? String(values.scheme);
    const options = optionsOf(values, words.length);
    const scheme = given ?? (fromJSON({ slot: "embed", name, ...options }) as EmbedScheme);
    const chosen = {
      scheme,
      name,
      title: descriptorOf("embed", name).title,
      code: scheme === given ? schemeText(scheme) : `${name}(${literal(options)})`,
      given: scheme === given,
    };
    // Words are as wide as what is added to them.
    const dim = scheme === given ? (encode(scheme, [0]).shape[1] as number) : Number(values.dim);
    const seed = Number(values.seed);
    const x = tensor(vectorsOf(words, dim, { seed, std: Number(values.deviation) }), [words.length, dim]);
    const nothing = tensor(new Float32Array(words.length * dim), [words.length, dim]);
    const scale = values.scale === "sqrt" ? "sqrt" : 1;
    const alpha = Number(values.alpha);
    const parts = {
      embedding: embed(x, scheme, { scale, alpha: 0 }).data as Float32Array,
      encoding: embed(nothing, scheme, { alpha }).data as Float32Array,
      input: embed(x, scheme, { scale, alpha }).data as Float32Array,
    };
    const extent = Math.max(1, ...Object.values(parts).map(magnitude));
    return {
      chosen,
      words,
      cut: cutWords(String(values.sentence), mostTokens, mostCharacters, "the sentence"),
      dim,
      ...parts,
      names: {
        embedding: scale === "sqrt" ? "\u221ad \u00d7 embedding" : "embedding",
        encoding: alpha === 1 ? "encoding" : `${short(alpha)} \u00d7 encoding`,
      },
      scale: { kind: "signed", extent },
    };
  },

  cells: ({ model }) => ({
    row: { name: "position", count: model.words.length, start: Math.min(1, model.words.length - 1) },
    column: { name: "dimension", count: model.dim },
  }),

  height: ({ model }, width) => layoutOf(model, width).height,

  draw: drawStrips,

  title: ({ values, model }) =>
    `Embeddings plus ${lowered(model.chosen.title)} encoding, ` +
    `${count(model.words.length, "token")} \u00d7\u00a0${count(model.dim, "dimension")}`,

  caption: ({ values, model }) =>
    `${model.cut}What enters the model is a plain sum. The embedding knows the word and not its place: ` +
    "equal words have equal rows. The encoding knows the place and not the word. " +
    (values.scale === "sqrt"
      ? "The paper multiplies the embeddings by \u221ad, so that the encoding does not drown them."
      : "The embeddings are seeded normal numbers, not trained."),

  readout: ({ model, row, column }) => {
    const at = row * model.dim + column;
    const number = (part: Float32Array): string => book(part[at] as number, { decimals: 3 });
    const added = number(model.encoding);
    const sum = added.startsWith("\u2212") ? `\u2212 ${added.slice(1)}` : `+ ${added}`;
    return [
      { label: "word", value: isolated(shortened(model.words[row] ?? "")) },
      { label: "position", value: book(row) },
      { label: "dimension", value: String(column) },
      { label: "input", value: `${number(model.embedding)} ${sum} = ${number(model.input)}` },
    ];
  },

  summary: ({ values, model, row, column }) => {
    const at = row * model.dim + column;
    const number = (part: Float32Array): string => book(part[at] as number, { decimals: 3 });
    return (
      `Three heat maps of ${count(model.words.length, "token")} by ${count(model.dim, "dimension")}: the words\u2019 ` +
      `embeddings, the ${lowered(model.chosen.title)} encoding of their ` +
      "positions, and the sum. " +
      `For \u201c${isolated(model.words[row] ?? "")}\u201d at position ${row}, dimension ${column}: ` +
      `${number(model.embedding)} plus ${number(model.encoding)} is ${number(model.input)}.`
    );
  },

  table: ({ model }) => ({
    header: ["word", "position", "dimension", "embedding", "encoding", "input"],
    rows: model.words.length * model.dim,
    cell: (r, c) => {
      const token = Math.floor(r / model.dim);
      const numbers = [token, r % model.dim, model.embedding[r], model.encoding[r], model.input[r]] as number[];
      return c === 0 ? (model.words[token] ?? "") : (numbers[c - 1] as number);
    },
  }),

  array: ({ model }) => ({ data: model.input, shape: [model.words.length, model.dim] }),

  code: ({ values, model }) => codeOf(values, model),
});

// What is added to words has their width, whatever it is.
function fitsWords({ name, params }: { name: string; params: readonly { name: string }[] }): boolean {
  try {
    fromJSON({ slot: "embed", name, ...optionsOf({ scheme: name, dim: 6, seed: 0 }, 1) });
    return params.some((param) => param.name === "dim");
  } catch {
    return false;
  }
}

function optionsOf(values: Values, tokens: number): Record<string, unknown> {
  const name = String(values.scheme);
  const options = schemeOptions("embed", name, values, ownParams);
  const { params } = descriptorOf("embed", name);
  const has = (param: string): boolean => params.some((p) => p.name === param);
  if (has("dim")) options.dim = Number(values.dim);
  if (has("seed") && Number(values.seed) !== 0) options.seed = Number(values.seed);
  if (has("length")) options.length = Math.max(tokens, Number(options.length ?? 0));
  return options;
}

// ---------------------------------------------------------------- layout

interface Strip {
  x: number;
  y: number;
}

interface Layout {
  beside: boolean;
  strips: readonly Strip[];
  cell: number;
  row: number;
  left: number;
  width: number;
  tall: number;
  height: number;
}

const heading = 22;
const signRoom = 46;
const footRoom = 26;
const legendRoom = 34;
// Room for half the number under the last column.
const edge = 8;

function layoutOf(model: Model, width: number): Layout {
  const { words, dim } = model;
  const widest = words.reduce((most, word) => Math.max(most, 1.24 * estimateWidth(word, {})), 0);
  const beside = width >= 560;
  // The sign of a sum stands at the left of a strip where strips are below each other.
  const left = Math.max(Math.min(widest, beside ? 96 : 0.26 * width) + 10, beside ? 0 : 30);
  const room = beside ? (width - left - 2 * signRoom - edge) / 3 : width - left - edge;
  const cell = Math.min(room / dim, 46);
  const most = beside ? 620 : 300;
  const row = Math.max(3, Math.min(28, cell < 14 ? 20 : 28, most / words.length));
  const tall = row * words.length;
  const wide = cell * dim;
  const strips = [0, 1, 2].map((k) =>
    beside ? { x: left + k * (wide + signRoom), y: heading } : { x: left, y: heading + k * (tall + heading + 14) },
  );
  const last = strips[2] as Strip;
  return {
    beside,
    strips,
    cell,
    row,
    left,
    width: wide,
    tall,
    height: Math.ceil(last.y + tall + footRoom + legendRoom),
  };
}

// ---------------------------------------------------------------- drawing

function drawStrips(surface: Surface, { model, row, column }: Drawn): void {
  const layout = layoutOf(model, surface.width);
  const parts: [string, Float32Array, Ink][] = [
    [model.names.embedding, model.embedding, "cool"],
    [model.names.encoding, model.encoding, "accent"],
    ["input", model.input, "ink"],
  ];
  parts.forEach(([name, values, ink], k) => {
    const { x, y } = layout.strips[k] as Strip;
    surface.text(x, y - 12, name, { ink, size: labelSize });
    drawStrip(surface, model, layout, values, x, y);
    // Numbers that are small beside the others leave no trace of where they stand.
    surface.rect(x - 1, y - 1, layout.width + 1, layout.tall + 1, { stroke: "faint" });
    // The encoding knows places, not words.
    if (k === 1) drawPositions(surface, model, layout, x, y, row);
    else if (!layout.beside || k === 0) drawWords(surface, model, layout, x, y, row);
    if (layout.beside || k === 2) drawDimensions(surface, model, layout, x, y, column);
    const frame = { x: x + column * layout.cell, y: y + row * layout.row };
    const wide = Math.max(layout.cell, 6);
    const tall = Math.max(layout.row, 6);
    surface.rect(frame.x - (wide - layout.cell) / 2 - 0.5, frame.y - (tall - layout.row) / 2 - 0.5, wide, tall, {
      stroke: ink,
      width: layout.row < 12 ? 1.5 : 2,
    });
    surface.region({ x, y, width: layout.width, height: layout.tall }, (u, v) => ({
      row: Math.floor(v * model.words.length),
      column: Math.floor(u * model.dim),
    }));
    if (k === 0) return;
    const sign = k === 1 ? "+" : "=";
    if (layout.beside) {
      // In the middle of what the numbers of the positions leave.
      const taken = k === 1 ? 6 + surface.textWidth(String(model.words.length - 1), { size: 11 }) : 0;
      const middle = x - (signRoom + taken) / 2;
      surface.text(middle, y + layout.tall / 2, sign, { ink: "ink", size: 20, align: "middle" });
    } else surface.text(x - 14, y - 12, sign, { ink: "ink", size: 18, align: "end" });
  });
  const first = layout.strips[0] as Strip;
  legend(surface, model.scale, first.x, surface.height - legendRoom + 8, Math.min(140, layout.width), false);
}

function drawStrip(surface: Surface, model: Model, layout: Layout, values: Float32Array, x: number, y: number): void {
  const { words, dim, scale } = model;
  const { cell, row } = layout;
  if (cell < 9 || row < 9) {
    surface.heatMap(
      { x, y, width: layout.width, height: layout.tall },
      { values, rows: words.length, columns: dim, scale },
    );
    return;
  }
  const size = cell < 38 ? 10 : 11;
  // As many decimals as all numbers of a strip have room for.
  const widest = (decimals: number): number => surface.textWidth(book(-8.88, { decimals }), { size });
  const decimals = row < 15 ? -1 : widest(2) <= cell - 4 ? 2 : widest(1) <= cell - 3 ? 1 : -1;
  for (let t = 0; t < words.length; t++) {
    for (let c = 0; c < dim; c++) {
      const value = values[t * dim + c] as number;
      const box = { x: x + c * cell, y: y + t * row, width: cell - 1, height: row - 1 };
      surface.heatMap(box, { values: [value], rows: 1, columns: 1, scale });
      if (decimals < 0) continue;
      surface.text(box.x + box.width / 2, box.y + box.height / 2, book(value, { decimals }), {
        align: "middle",
        size,
        ink: inkOn(surface.theme, scale, value),
      });
    }
  }
}

function drawWords(surface: Surface, model: Model, layout: Layout, x: number, y: number, row: number): void {
  const step = Math.ceil(13 / layout.row);
  model.words.forEach((word, t) => {
    const own = t === row;
    if (!own && (t % step !== 0 || (step > 1 && Math.abs(t - row) * layout.row < 13))) return;
    surface.text(x - 9, y + (t + 0.5) * layout.row, cutWord(surface, word, layout.left - 9), {
      align: "end",
      bold: own,
      ink: "ink",
    });
  });
}

function drawPositions(surface: Surface, model: Model, layout: Layout, x: number, y: number, row: number): void {
  for (const t of indexTicks(model.words.length, layout.tall, 14)) {
    surface.text(x - 6, y + (t + 0.5) * layout.row, String(t), {
      align: "end",
      size: 11,
      ink: t === row ? "accent" : "grey",
    });
  }
}

function drawDimensions(
  surface: Surface,
  model: Model,
  layout: Layout,
  x: number,
  y: number,
  column: number,
): void {
  for (const c of indexTicks(model.dim, layout.width, 20, model.dim > 12)) {
    const ink = c === column ? "ink" : "grey";
    const style = { align: "middle", size: 11, ink } as const;
    const most = surface.width - surface.textWidth(String(c), style) / 2;
    surface.text(Math.min(x + (c + 0.5) * layout.cell, most), y + layout.tall + 12, String(c), style);
  }
}

// ---------------------------------------------------------------- code

function codeOf(values: Values, model: Model): Code {
  const { name, code: made } = model.chosen;
  const seeds = model.words.map((word) => seedOf(word, 0, Number(values.seed))).join(", ");
  const options = [
    ...(values.scale === "sqrt" ? ['scale: "sqrt"'] : []),
    ...(Number(values.alpha) === 1 ? [] : [`alpha: ${Number(values.alpha)}`]),
  ].join(", ");
  const vector = `[...randomNormal(${model.dim}, { seed, std: ${Number(values.deviation)} }).data]`;
  const shape = `[${model.words.length}, ${model.dim}]`;
  return {
    javascript: [
      `import { embed, randomNormal, ${name}, tensor } from "posenc";`,
      "",
      `// ${onOneLine(model.words)}: one seed a word`,
      `const seeds = [${seeds}];`,
      `const x = tensor(seeds.map((seed) => ${vector}));`,
      `const input = embed(x, ${made}${options === "" ? "" : `, { ${options} }`});  // ${shape}`,
      "",
    ].join("\n"),
    numpy: async () => {
      const { additionNumpy } = await import("./numpy-programs.js");
      const dealt = { seed: Number(values.seed), std: Number(values.deviation) };
      const vectors = (): Float32Array => vectorsOf(model.words, model.dim, dealt);
      return additionNumpy(values, model, seeds, onOneLine(model.words), vectors);
    },
  };
}
