// How to write a figure.
//
// A figure is one object, made by defineFigure() in a file of its own (embed.ts is the template) and named in index.ts,
// later.ts and element-types.ts (a line each, which the compiler and the tests hold to each other). It is a model and
// pure functions of it; nothing in it touches a document. From it come the custom element <posenc-NAME> (element.ts),
// the static picture of posenc/render (render.ts) and the recording that tests read.
//
//   fields(values)          the controls, which are also the attributes: range(), choice(), flag(), text();
//                           schemeFields() makes them from a scheme's descriptor. May depend on the values (another
//                           scheme, other controls) and is called again after each change; at first without values.
//   compute(values, data)   the model: every number, from the public API ("../src/core.js"), never a formula here.
//                           Throw an Error with a sentence in it, and the figure says so in its own box. It does not
//                           look at the cursor: it is not called again when only the cursor moves.
//   steps                   where compute() would hold the page up: the same in steps, for a first drawing (steps.ts).
//   later                   where compute() would take long: what makes the model slice by slice, while the figure
//                           shows how far it is and lets the reader cancel (background.ts).
//   cells(state)            how many rows and columns the reader's cursor has and which fields hold it: that gives
//                           pointer, touch, arrow keys, Home and End. `draw` says where the cells lie, with
//                           surface.region(). With `lens` and cells that have
//                           `zoom`, the reader sees many cells closer: draw those of state.part, which
//                           drawMatrix() takes.
//   files                   files that a reader drops on the figure or chooses, and what it makes of them: values of
//                           fields, or its data. tableFiles() (table-file.ts) reads a table of numbers.
//   draw(surface, state)    the drawing, in CSS pixels and roles of colour (ink, grey, faint, accent, cool, paper).
//                           drawMatrix() (matrix.ts) does a heat map with cross-hair, column and row in one call;
//                           axes, legends and curves are in marks.ts.
//   title, caption, readout, summary, table, code, array
//                           the words and the take-aways. Write numbers with book() (format.ts).
//
// `state` is {values, model, row, column, view}: row and column are the cursor, within bounds.

import { readAll } from "../src/error.js";
import { refuseValue } from "./refusal.js";

export type Value = number | string | boolean;

/** The state of a figure's fields by name; a field that has no value yet is absent. */
export type Values = Readonly<Record<string, Value | undefined>>;

interface FieldBase {
  /** Name among the values; the attribute is the same in kebab-case ("rotaryDim", rotary-dim). */
  name: string;
  label: string;
  /** A control in the row, behind "more", or none (the attribute works all the same). "row" by default. */
  place?: "row" | "more" | "none";
  /** One sentence for those who ask. */
  sentence?: string;
}

export interface RangeField extends FieldBase {
  kind: "range";
  value: number | undefined;
  /** Ends of the slider. */
  min: number;
  max: number;
  /** What an attribute may hold; `min` and `max` by default, null where the core alone decides. */
  least?: number | null;
  most?: number | null;
  integer?: boolean;
  step?: number;
  /** The slider moves on a log scale. */
  log?: boolean;
  format?: (value: number) => string;
  /** A button that steps the value along (one step a press where motion is unwelcome). */
  play?: boolean;
}

export interface ChoiceField extends FieldBase {
  kind: "choice";
  value: string | undefined;
  choices: readonly { value: string; label: string }[];
}

export interface FlagField extends FieldBase {
  kind: "flag";
  value: boolean | undefined;
}

export interface TextField extends FieldBase {
  kind: "text";
  value: string | undefined;
  maxLength?: number;
  /** Lines of its control; 1 by default. */
  lines?: number;
  /** What an empty one stands for. */
  placeholder?: string;
}

export type Field = RangeField | ChoiceField | FlagField | TextField;

export interface State<Model> {
  values: Values;
  model: Model;
  /** The cursor. */
  row: number;
  column: number;
  /** The chosen tab (the value of the figure's `tabs` field, where there is one of it), or "". */
  view: string;
  /** The cells that the reader sees, where a figure's cells can be zoomed; undefined for all of them. */
  part?: import("./surface.js").Part | undefined;
}

/** One axis of the cursor: the field that holds it and how many places it has. */
export interface CursorAxis {
  name: string;
  count: number;
  /** Where the cursor stands to begin with, as an index. */
  start?: number;
  /** The field's value at index 0; 0 by default. */
  from?: number;
}

export interface Cells {
  row?: CursorAxis;
  column?: CursorAxis;
  /** The drawing shows the state's part of the cells where there are many: the reader can see them closer. */
  zoom?: boolean;
  /** Arrow keys left and right move along rows, up and down along columns (rows are drawn from left to right). */
  transposed?: boolean;
  /**
   * Where columns are drawn in several lines: the column that lies below another (`by` is 1) or above it (-1) in a
   * drawing this wide, where the arrow keys go; undefined where there is none.
   */
  below?: ((column: number, by: number, width: number) => number | undefined) | undefined;
}

/** `label` value `unit`, as in "wavelength 149.0 tokens". */
export interface Reading {
  label: string;
  value: string;
  unit?: string;
  /** The same wherever the cursor is, so it is not said again at each of its steps. */
  constant?: boolean;
}

/** The data shown, for the reader's table and for CSV. */
export interface DataTable {
  header: readonly string[];
  rows: number;
  cell: (row: number, column: number) => number | string;
}

/** Programs that make the same numbers. */
export interface Code {
  javascript: string;
  /** Comes from a file of its own; none where no short one makes them. */
  numpy?: (() => Promise<string | undefined>) | undefined;
}

/** What a long computation is told and tells. */
export interface Task {
  /** Aborted when the reader cancels it, or asks for something else. */
  signal: AbortSignal;
  /** To be awaited between slices of a few milliseconds: tells how far it is, and gives the page its turn. */
  step: (done: number, total: number) => Promise<void>;
}

/** What a figure makes of a file. */
export interface FileContent {
  /** Fields that it sets. */
  values?: Values;
  /** The figure's data from now on; left as it is where the key is missing. */
  data?: unknown;
}

/** Files that a figure takes. */
export interface Files {
  /** What stands beside the input: "a table from a file". */
  label: string;
  /** The input's `accept`: ".npy,.safetensors". */
  accept: string;
  /** Reads one, at the figure's values; what it throws is told beside the input, and the figure stays as it is. */
  read: (file: File, values?: Values) => Promise<FileContent>;
  /**
   * attachFiles of file-control.ts: listens on the figure's own node and puts an input after another. Named by the
   * figure, so that pages carry it only where a figure takes files.
   */
  attach: (
    files: Files,
    figure: HTMLElement,
    before: HTMLElement,
    take: (file: File) => void,
  ) => (words: string) => void;
}

export interface Figure<Model = unknown> {
  /** "embed" becomes <posenc-embed>. */
  name: string;
  /**
   * The attributes and what each means: for the element's properties of the same names, and for documents (the classic
   * script has the names with empty texts).
   */
  attributes: Readonly<Record<string, string>>;
  /**
   * A choice drawn as tabs beside the title, most often the views; undefined where there are too many for tabs (name it
   * among the fields then). Its name is "view" unless it is another field.
   */
  tabs?: (values: Values, model: Model | undefined) => ChoiceField | undefined;
  fields: (values: Values) => readonly Field[];
  compute: (values: Values, data: unknown) => Model;
  /** The same model in steps of a few milliseconds (steps.ts): a first drawing takes them in turns of the page. */
  steps?: (values: Values, data: unknown) => Generator<unknown, Model>;
  /**
   * In place of compute() where that would hold the page up: `task` gives what makes the model, slice by slice, or
   * undefined where compute() is quick; `background` is that of background.ts, which shows how far it is.
   * posenc/render takes compute() always.
   */
  later?: {
    task: (values: Values, data: unknown) => ((task: Task) => Promise<Model>) | undefined;
    background: typeof import("./background.js").Background;
  };
  /** That of lens.ts, where cells may be so many that a reader wants to see them closer. */
  lens?: typeof import("./lens.js").Lens;
  files?: Files;
  cells?: (state: State<Model>) => Cells;
  height: (state: State<Model>, width: number) => number;
  draw: (surface: import("./surface.js").Surface, state: State<Model>) => void;
  title: (state: State<Model>) => string;
  caption: (state: State<Model>) => string;
  readout: (state: State<Model>) => readonly Reading[];
  summary: (state: State<Model>) => string;
  table: (state: State<Model>) => DataTable;
  code?: (state: State<Model>) => Code;
  /** Whether there is an array, where a figure has one at some settings only. */
  hasArray?: (state: State<Model>) => boolean;
  /** The array shown, for NPY. */
  array?: (state: State<Model>) => { data: Float32Array | Float64Array | Int32Array; shape: readonly number[] };
}

/** Checks the types of a figure and hides its model's, so that figures fit into one list. */
export function defineFigure<Model>(figure: Figure<Model>): Figure {
  return figure as unknown as Figure;
}

type Given<F extends Field> = Partial<Omit<F, "kind" | "name" | "label" | "value">>;

export function range(
  name: string,
  label: string,
  value: number | undefined,
  min: number,
  max: number,
  more: Given<RangeField> = {},
): RangeField {
  return { kind: "range", name, label, value, min, max, ...more };
}

export function choice(
  name: string,
  label: string,
  value: string | undefined,
  choices: readonly (string | { value: string; label: string })[],
  more: Given<ChoiceField> = {},
): ChoiceField {
  const listed = choices.map((c) => (typeof c === "string" ? { value: c, label: c } : c));
  return { kind: "choice", name, label, value, choices: listed, ...more };
}

export function flag(name: string, label: string, value: boolean | undefined, more: Given<FlagField> = {}): FlagField {
  return { kind: "flag", name, label, value, ...more };
}

export function text(name: string, label: string, value: string | undefined, more: Given<TextField> = {}): TextField {
  return { kind: "text", name, label, value, ...more };
}

// ---------------------------------------------------------------- from attributes to a state

/** "rotaryDim" and "scaling.type" become rotary-dim and scaling-type, "style", which is HTML's own, scheme-style. */
export function attributeName(field: string): string {
  return field
    .replace(/\./g, "-")
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    .replace(/^style$/, "scheme-$&");
}

/** All fields of a figure, its tabs first. */
export function allFields(figure: Figure, values: Values, model?: unknown): readonly Field[] {
  const tabs = figure.tabs?.(values, model);
  const fields = figure.fields(values);
  const all = tabs ? [tabs, ...fields.filter((field) => field.name !== tabs.name)] : fields;
  return all.map((field) => readAll(field));
}

/**
 * The value of an attribute's text or a property, checked against its field; a PosencError if it does not fit. One that
 * `follows` did fit till something else moved the ends or the choices: it is brought to them.
 */
export function checkValue(field: Field, given: unknown, follows = false): Value {
  switch (field.kind) {
    case "flag":
      if (typeof given === "boolean") return given;
      // As HTML has it, an attribute that is there without a value, or with its own name for one, is true.
      if (given === "" || given === "true" || given === attributeName(field.name)) return true;
      if (given === "false") return false;
      return refuseValue("unknown-choice", field.name, "true or false", given);
    case "text": {
      const value = String(given);
      return field.maxLength === undefined ? value : value.slice(0, field.maxLength);
    }
    case "choice": {
      const value = String(given);
      if (field.choices.some((c) => c.value === value)) return value;
      if (follows && field.value !== undefined) return field.value;
      return refuseValue("unknown-choice", field.name, `one of ${field.choices.map((c) => c.value).join(", ")}`, given);
    }
    case "range": {
      const text = String(given).trim();
      const value = typeof given === "boolean" || text === "" ? Number.NaN : Number(text);
      const least = field.least === null ? -Infinity : (field.least ?? field.min);
      const most = field.most === null ? Infinity : (field.most ?? field.max);
      const whole = field.integer !== true || Number.isInteger(value);
      const near = Math.max(least, Math.min(most, value));
      if (Number.isFinite(value) && whole && (follows || near === value)) return near;
      const kind = field.integer === true ? "a whole number" : "a number";
      const [low, high] = [least > -Infinity ? ` from ${least}` : "", most < Infinity ? ` to ${most}` : ""];
      const bounds = low && !high ? `${low} on` : high && !low ? ` up${high}` : low + high;
      const code = Number.isNaN(value) ? "not-a-number" : whole ? "out-of-range" : "not-integer";
      return refuseValue(code, field.name, kind + bounds, given);
    }
  }
}

/**
 * Values for all fields of a figure: `given(name)` where it has one (an attribute's text or a value), else the default.
 * Fields may depend on values, so this goes round until no field is new. Those that `follows` names are brought within
 * their bounds; others must fit.
 */
export function completeValues(
  figure: Figure,
  given: (name: string) => unknown,
  follows?: (name: string) => boolean,
): Values {
  // Without ancestors: what a reader leaves out is nowhere else.
  const values = Object.create(null) as Record<string, Value | undefined>;
  for (;;) {
    const fresh = allFields(figure, values).filter(({ name }) => !(name in values));
    if (fresh.length === 0) return values;
    // Scheme and view say which others there are, and where they start.
    const first = fresh.filter(({ name }) => name === "scheme" || name === "view");
    for (const field of first[0] ? first : fresh) {
      const { name, value } = field;
      const own = given(name) ?? undefined;
      values[name] = own === undefined ? value : checkValue(field, own, follows?.(name));
    }
  }
}

/** Every name a value of this figure may have: its attributes, and its fields at these values. */
export function knownNames(figure: Figure, values: Values): readonly string[] {
  const fields = allFields(figure, values).map((field) => field.name);
  return [...new Set([...Object.keys(figure.attributes), ...fields, ...Object.keys(values)])];
}

/** The state of a figure at these values; `model` is what compute() gave for them. */
export function stateOf(
  figure: Figure,
  values: Values,
  model: unknown,
  cursor: { row?: number; column?: number; part?: State<unknown>["part"] } = {},
): State<unknown> {
  const at = readAll(cursor);
  const tabs = figure.tabs?.(values, model);
  // What is asked for may not be there (a view of another model): then the first is shown.
  const { value: view = "" } = tabs?.choices.find(({ value }) => value === values[tabs.name]) ?? tabs?.choices[0] ?? {};
  const open: State<unknown> = { values, model, row: 0, column: 0, view };
  const cells = readAll(figure.cells?.(open) ?? {});
  const placed = Object.assign(Object.create(null), values) as Record<string, Value | undefined>;
  if (tabs) placed[tabs.name] = view;
  const [row, column] = [place(cells.row, placed, at.row), place(cells.column, placed, at.column)];
  return { ...open, values: placed, row, column, part: at.part };
}

// The place on an axis, which the values then hold.
function place(axis: CursorAxis | undefined, values: { [name: string]: Value | undefined }, at?: number): number {
  if (!axis) return 0;
  const { name, count, start = 0, from = 0 } = readAll(axis);
  const given = values[name];
  const wish = at ?? (given === undefined ? start : Number(given) - from);
  const index = Math.max(0, Math.min(count - 1, Number.isFinite(wish) ? Math.round(wish) : 0));
  values[name] = from + index;
  return index;
}

/** A field that holds a coordinate of the cursor: no control, any number (it is brought within bounds). */
export function cursorField(name: string, sentence: string): RangeField {
  return range(name, name, undefined, 0, 1, { place: "none", least: null, most: null, sentence });
}
