// Tables of positions, to be looked at as a whole: of the chosen scheme, of a second one beside it, or numbers of the
// reader's own.
import { encode, fromJSON, PosencError, type EmbedScheme, type Tensor } from "../src/core.js";
import { choice, range, type Field, type Values } from "./figure.js";
import { lowered } from "./format.js";
import { givenTable, schemeAmong, type GivenTable } from "./given-data.js";
import { refuseValue, sentenceOf } from "./refusal.js";
import {
  chosenScheme,
  descriptorOf,
  schemeChooser,
  schemeCode,
  schemeFields,
  schemeFrom,
  schemesOf,
  type ChosenScheme,
} from "./scheme-fields.js";

type Descriptor = ReturnType<typeof descriptorOf>;

/** One row a position, [rows, columns]. */
export interface PositionTable {
  title: string;
  /** In a line of text: "the sinusoidal table". */
  phrase: string;
  table: Tensor;
  rows: number;
  columns: number;
  /** How it is made; undefined for numbers that were handed over. */
  made: Pick<ChosenScheme<EmbedScheme>, "scheme" | "name" | "code"> | undefined;
  /** Seeded numbers, as a table is before training. */
  untrained: boolean;
}

export const compareSentence =
  "A second scheme, drawn beside the first; a table from a file, or given as data, takes its place.";
const takesTable = "an embed scheme, its JSON or a table of shape [T, d]";
const nothing = "nothing";
const usual = "sinusoidal";
const mostRows = 1024;

/** The scheme, the number of positions, the scheme's params, the scheme to compare with, which is another one. */
export function tableFields(values: Values, positions: number, compare: string): Field[] {
  const descriptor = descriptorOf("embed", String(values.scheme ?? usual));
  const others = schemesOf("embed").filter(onOneAxis);
  const choices = [nothing, ...others.map(({ name, title }) => ({ value: name, label: title }))];
  return [
    schemeChooser("embed", usual, { draws: onOneAxis }),
    range("positions", "positions", positions, 8, 256, { integer: true, least: 1, most: mostRows }),
    ...schemeFields(descriptor, {
      values,
      row: ["dim", "base"],
      without: ["length", "layout", "order"],
      change: { dim: { label: "dimensions" } },
    }),
    choice("compare", "compare with", values.scheme === compare ? usual : compare, choices, {
      sentence: compareSentence,
    }),
  ];
}

/** The table of the values' scheme, and the one to be drawn beside it if there is one: `data` may be either. */
export function tablesOf(values: Values, data: unknown): PositionTable[] {
  const rows = Number(values.positions);
  const scheme = schemeAmong(data, ["embed"], takesTable);
  const first = tableOf(chosenScheme("embed", atLength(values, rows), scheme), rows);
  const given = scheme ? undefined : givenTable(data, takesTable);
  const other = String(values.compare ?? nothing);
  if (given) return [first, ownTable(given, rows)];
  if (other === nothing) return [first];
  // The controls hold the first scheme's params; the second has its width, and else what it is shown with.
  const own = { ...shownValues(descriptorOf("embed", other)), ...(values.dim ? { dim: values.dim } : {}) };
  const made = atLength({ ...own, scheme: other }, rows);
  const { title } = descriptorOf("embed", other);
  try {
    const second = schemeFrom("embed", other, made) as EmbedScheme;
    const code = schemeCode("embed", other, made);
    return [first, tableOf({ scheme: second, title, name: other, code, given: false }, rows)];
  } catch (error) {
    // The reader has chosen another scheme, and would not know whose refusal it is.
    const code = error instanceof PosencError ? error.code : "unsupported";
    const sentence = `compare cannot be ${other} here: ${sentenceOf(error)}`;
    return refuseValue(code, "compare", "a scheme of these sizes", other, sentence, { cause: error });
  }
}

function tableOf({ scheme, title, name, code }: ChosenScheme<EmbedScheme>, positions: number): PositionTable {
  const table = encode(scheme, positions);
  const [rows = 0, columns = 0] = table.shape;
  const untrained = name === "learned" && !Object.hasOwn(scheme.toJSON(), "table");
  return { title, phrase: phraseOf(title), table, rows, columns, made: { scheme, name, code }, untrained };
}

function phraseOf(title: string): string {
  return `the ${lowered(title)} table`;
}

// From a file, or what a program has at hand.
function ownTable({ table: all, name }: GivenTable, positions: number): PositionTable {
  const [length = 0, columns = 0] = all.shape;
  const rows = Math.min(length, positions);
  const [title, phrase] = name === undefined ? ["Given table", "the given table"] : [name, `the table of ${name}`];
  return { title, phrase, table: all.slice(0, rows), rows, columns, made: undefined, untrained: false };
}

// A table of parameters has a row for each position drawn.
function atLength(values: Values, rows: number): Values {
  const { params } = descriptorOf("embed", String(values.scheme));
  return params.some(({ name }) => name === "length") ? { ...values, length: rows } : values;
}

function shownValues({ params }: Descriptor): Values {
  const shown = params.filter((param) => param.shown && param.where === undefined);
  return Object.fromEntries(shown.map((param) => [param.name, param.shown!.value]));
}

const drawn = new Map<string, boolean>();

// Schemes of two axes have a figure of their own.
function onOneAxis(descriptor: Descriptor): boolean {
  let fits = drawn.get(descriptor.name);
  if (fits === undefined) {
    try {
      const { slot, name } = descriptor;
      encode(fromJSON({ slot, name, ...shownValues(descriptor) }) as EmbedScheme, 2);
      fits = true;
    } catch {
      fits = false;
    }
    drawn.set(descriptor.name, fits);
  }
  return fits;
}
