// Schemes as JavaScript sees them: frozen objects made by factories, typed by slot. schemes.gen.ts has a factory for
// each scheme of the catalogue; all of them call makeScheme, which knows schemes only by their descriptors.
import { fromBase64, toBase64 } from "./base64.js";
import {
  type ErrorCode,
  PosencError,
  isList,
  isRevoked,
  printedShape,
  refuse,
  refuseMissing,
  refuseShape,
  refuseUnknown,
  verbatim,
} from "./error.js";
import { Frame, type SpecCells, schemeIndex } from "./module.js";
import { readRecord } from "./options.js";
import { Tensor, allowedSize, asFloat32, asFloat64, product, readArray, readNumbers } from "./tensor.js";

/**
 * Where a scheme acts: a vector added to the token, an operator on q and k, a number added to the score, or vectors
 * that meet q, k and v.
 */
export type Slot = "embed" | "rotate" | "bias" | "relate";

export type ParamKind = "real" | "integer" | "flag" | "choice" | "list" | "table";

/** One parameter of a scheme, as programs need it. */
export interface ParamOutline {
  /** The option's name; a dot makes a nested object: `"scaling.factor"`. */
  readonly name: string;
  readonly kind: ParamKind;
  /** What a value may be, in the words of errors: `"an integer from 1 to 1024"`. */
  readonly allowed: string;
  readonly required: boolean;
  /** Null where there is none. */
  readonly default: number | boolean | string | null;
  /** The parameter whose value is the default. */
  readonly defaultParam?: string;
  readonly min?: number | null;
  readonly max?: number | null;
  readonly aboveMin?: boolean;
  readonly choices?: readonly string[];
  /** It belongs to some values of this choice, which stands before it; elsewhere it must be left out. */
  readonly where?: string;
  /** The values of `where` that need it. */
  readonly neededBy?: readonly string[];
  /** The values of `where` that may have it. */
  readonly takenBy?: readonly string[];
  readonly shape?: string;
  /** Entries of the table are 1 and 0, or true and false. */
  readonly flags?: boolean;
  readonly canOmit?: boolean;
  /** attentionGradient has a derivative for it; not for tables that are added to tokens before attention. */
  readonly differentiable?: boolean;
  /** Where a figure's slider starts, and its range. */
  readonly shown?: {
    readonly value: number;
    readonly min: number;
    readonly max: number;
    readonly log: boolean;
    /** Steps of the slider from `min`; absent: 1 for integers, else none. */
    readonly step?: number;
  };
}

/** One parameter of a scheme, as the core describes it. */
export interface Param extends ParamOutline {
  /** One sentence of documentation. */
  readonly sentence: string;
}

/** A property that a scheme claims, and the tests prove. */
export interface Claim {
  readonly law: string;
  readonly sentence: string;
  /** Holds only under this condition. */
  readonly when?: { readonly param?: string; readonly value?: number | boolean | string; readonly text: string };
  readonly length?: number;
}

/** What programs need to know of a scheme. */
export interface Outline {
  readonly slot: Slot;
  readonly name: string;
  /** As papers print it. */
  readonly title: string;
  readonly params: readonly ParamOutline[];
}

/** All that is known of a scheme. */
export interface Descriptor extends Outline {
  readonly summary: string;
  /** TeX. */
  readonly formula: string;
  readonly reference: string;
  readonly params: readonly Param[];
  readonly laws: readonly Claim[];
}

/** A param as schemes.gen.ts has it: without what follows from the rest. */
export type BriefParam = Omit<ParamOutline, "allowed" | "required" | "default"> & Partial<ParamOutline>;

/** Outlines out of brief ones: `allowed` in the words of the core's, not required, with null for a default. */
export function outlined(
  brief: readonly (Omit<Outline, "params"> & { readonly params: readonly BriefParam[] })[],
): readonly Outline[] {
  return brief.map((outline) => {
    const params = outline.params.map((param) => {
      const bound = param.min == null ? {} : { aboveMin: false };
      // What one leaves out is nobody's: it inherits nothing.
      return { __proto__: null, required: false, default: null, ...bound, allowed: allowedOf(param), ...param };
    });
    return { ...outline, params };
  });
}

function allowedOf({ kind, min, max, aboveMin, shape, choices }: BriefParam): string {
  const range = aboveMin === true ? `above ${min} and at most ${max}` : `from ${min} to ${max}`;
  if (kind === "integer") return `an integer ${range}`;
  if (kind === "real") return `a number ${range}`;
  if (kind === "list") return `a list ${shape} of numbers ${range}`;
  if (kind === "table") return `a table ${shape} of finite numbers`;
  if (kind === "flag") return "true or false";
  const words = choices!.map((choice) => `"${choice}"`);
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

/** Outlines, the sentences of their params, and what else Descriptor adds, put together. */
export function withProse(
  outlines: readonly Outline[],
  sentences: readonly (readonly string[])[],
  prose: readonly Omit<Descriptor, keyof Outline>[],
): readonly Descriptor[] {
  return outlines.map((outline, i) => {
    const params = outline.params.map((param, n) => ({ ...param, sentence: sentences[i]![n]! }));
    return { ...outline, ...prose[i]!, params };
  });
}

/** A table or list in JSON. */
export interface TableJSON {
  readonly shape: readonly number[];
  readonly dtype: "float32" | "float64";
  /** Little-endian elements in base64. */
  readonly data: string;
}

/** What {@link Scheme.toJSON} gives: the slot, the name and the parameters. */
export interface SchemeJSON {
  readonly slot: Slot;
  readonly name: string;
  readonly [param: string]: unknown;
}

/**
 * A positional scheme: frozen, its parameters readable as properties; what was not given and has no default is null.
 */
export interface Scheme<S extends Slot = Slot> {
  readonly slot: S;
  readonly name: string;
  /** `{slot, name, ...params}`; {@link fromJSON} rebuilds the scheme from it. */
  toJSON(): SchemeJSON;
  /** As one would write it: `alibi({heads: 8})`. */
  toString(): string;
}

/** A vector p(i) of one position, added to the token before attention. */
export type EmbedScheme = Scheme<"embed">;
/** An operator R(i) of one position, applied to queries and keys. */
export type RotateScheme = Scheme<"rotate">;
/** A number b(i, j) of a pair, added to the score. */
export type BiasScheme = Scheme<"bias">;
/** Vectors a(i, j) of a pair, met by queries, keys and values. */
export type RelateScheme = Scheme<"relate">;

/** A key of types only: whether the pairs of a scheme fall on rows of a table of its own. */
export declare const hasRows: unique symbol;

/** A scheme of pairs that {@link relativeIndex} may be asked of: any whose type does not say that it has no rows. */
export type IndexedScheme = (BiasScheme | RelateScheme) & { readonly [hasRows]?: true };

/** Options that do not go with the others. */
export type Absent<Names extends string> = { readonly [Name in Names]?: undefined };

/** A scheme of any slot; `scheme.slot` tells which. */
export type AnyScheme = EmbedScheme | RotateScheme | BiasScheme | RelateScheme;

/** What the rest of the package knows of a scheme. */
export interface Spec extends SpecCells {
  readonly descriptor: Outline;
  /** Heads it is made for; 0: any number. */
  readonly heads: number;
  /** Axes of positions it reads. */
  readonly axes: number;
  /** embed: columns of p; rotate and relate: the head width; 0: any. */
  readonly width: number;
}

// Keyed by the frozen objects themselves: nobody else can make one.
const specs = new WeakMap<object, Spec>();
const kInspect: unique symbol = Symbol.for("nodejs.util.inspect.custom") as never;
const kDenoInspect: unique symbol = Symbol.for("Deno.customInspect") as never;

interface TableValue {
  readonly shape: readonly number[];
  readonly data: Float32Array | Float64Array;
}

/**
 * Makes a scheme from its descriptor and the caller's options. The core checks values and their relations at once, so a
 * scheme that exists is a valid one.
 */
export function makeScheme(descriptor: Outline, options: unknown): AnyScheme {
  const subject = descriptor.name;
  const index = schemeIndex(descriptor.slot, descriptor.name);
  const given = flatOptions(descriptor, options);
  const cells: number[] = [];
  const tables: (TableValue | undefined)[] = [];
  const values: unknown[] = []; // as properties show them
  // The first value of a wrong kind. The core says what would be right, so it is shown an infinite number there, unless
  // it finds fault with an earlier parameter.
  let wrong: { code: ErrorCode; param: ParamOutline; value: unknown } | undefined;

  for (const param of descriptor.params) {
    const value = given.get(param.name);
    let cell = NaN;
    let table: TableValue | undefined;
    let shown: unknown = null;
    const valueOf = (name: string): unknown => values[descriptor.params.findIndex((other) => other.name === name)];
    if (value === undefined || wrong !== undefined) {
      if (!applies(param, valueOf)) shown = undefined;
      else shown = param.defaultParam === undefined ? param.default : valueOf(param.defaultParam);
    } else if (param.kind === "list" || param.kind === "table") {
      if (value === false && param.canOmit === true) {
        cell = 0;
        shown = false;
      } else {
        table = readTable(subject, param, value);
        shown = table;
      }
    } else {
      const code = numberOf(param, value);
      if (typeof code === "string") {
        wrong = { code, param, value };
        cell = Infinity;
      } else {
        cell = code;
        shown = param.kind === "choice" ? param.choices![code] : value;
      }
    }
    cells.push(cell);
    tables.push(table);
    values.push(shown);
  }

  const facts = checked(subject, { index, cells, tables }, wrong);
  const spec: Spec = { index, cells, tables, descriptor, ...facts };
  const scheme = Object.freeze(Object.create(kPrototype, properties(descriptor, values))) as AnyScheme;
  specs.set(scheme, spec);
  return scheme;
}

// Builds the scheme once in the core: all its faults come out here, and a few facts that shapes are checked with.
function checked(
  subject: string,
  spec: SpecCells,
  wrong: { code: ErrorCode; param: ParamOutline; value: unknown } | undefined,
): { heads: number; axes: number; width: number } {
  const frame = new Frame(subject);
  try {
    frame.run("check", { scheme: frame.scheme(spec), heads: 0, axes: 0, width: 0 });
  } catch (error) {
    if (wrong !== undefined && error instanceof PosencError && error.argument === wrong.param.name) {
      refuse(wrong.code, subject, wrong.param.name, error.allowed, wrong.value);
    }
    throw error;
  }
  if (wrong !== undefined) refuse(wrong.code, subject, wrong.param.name, wrong.param.allowed, wrong.value);
  return { heads: frame.answer("heads"), axes: frame.answer("axes"), width: frame.answer("width") };
}

/** Whether a param belongs to the value that its `where` has; `value` tells the value of a choice by its name. */
export function applies(param: ParamOutline, value: (choice: string) => unknown): boolean {
  if (param.where === undefined) return true;
  const choice = value(param.where) as string;
  return param.neededBy!.includes(choice) || param.takenBy!.includes(choice);
}

// Dotted names collected from nested option objects; every key must be a parameter.
function flatOptions(descriptor: Outline, options: unknown): Map<string, unknown> {
  const flat = new Map<string, unknown>();
  const subject = descriptor.name;
  if (options === undefined) return flat;
  const names = descriptor.params.map(({ name }) => name);
  const collect = (value: unknown, prefix: string, argument: string): void => {
    const inner = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
    const known = [...new Set(inner.map((name) => name.split(".")[0]!))];
    const unknown = (key: string): never => refuseUnknown(subject, prefix + key, names);
    for (const [key, entry] of Object.entries(readRecord(subject, argument, "an object", value, known, unknown))) {
      const name = prefix + key;
      if (entry === undefined) continue;
      if (names.includes(name)) flat.set(name, entry);
      else collect(entry, `${name}.`, name);
    }
  };
  collect(options, "", "options");
  return flat;
}

function numberOf(param: ParamOutline, value: unknown): number | ErrorCode {
  switch (param.kind) {
    case "flag":
      return typeof value === "boolean" ? Number(value) : "unknown-choice";
    case "choice": {
      const choice = param.choices!.indexOf(isList(value) ? joined(param.choices!, value) : (value as string));
      return choice < 0 ? "unknown-choice" : choice;
    }
    // NaN means absent to the core.
    default:
      return typeof value !== "number" || Number.isNaN(value) ? "not-a-number" : value;
  }
}

// ["p2c", "c2p"] is the choice "c2p+p2c".
function joined(choices: readonly string[], parts: readonly unknown[]): string {
  const among = choices.find((choice) => {
    const own = choice.split("+");
    return own.length === parts.length && own.every((part) => parts.includes(part));
  });
  return among ?? "";
}

// A copy, so that the scheme stays what it is when the caller's array changes.
function readTable(subject: string, param: ParamOutline, value: unknown): TableValue {
  const wide = param.kind === "list";
  if (Number.isFinite(value) && param.shape?.endsWith("or [1]")) value = [value]; // one for all heads
  const parsed = isTableJSON(value) ? fromTableJSON(subject, param, value) : undefined;
  if (parsed === undefined && (typeof value !== "object" || value === null)) {
    refuse("not-a-number", subject, param.name, param.allowed, value);
  }
  const { data, shape } =
    parsed ??
    (param.flags ? readArray(subject, param.name, value, Number) : readNumbers(subject, param.name, value));
  if (wide ? shape.length !== 1 : shape.length < 1 || shape.length > 3) {
    refuseShape(subject, param.name, param.allowed, shape);
  }
  allowedSize(subject, param.name, shape, wide ? 8 : 4);
  const own = wide ? asFloat64(data) : asFloat32(subject, param.name, data);
  return { shape, data: (own as unknown) === data ? own.slice() : own };
}

function isTableJSON(value: unknown): value is TableJSON {
  if (typeof value !== "object" || value === null || isRevoked(value)) return false;
  return typeof (value as Partial<TableJSON>).data === "string";
}

function fromTableJSON(subject: string, param: ParamOutline, { shape, dtype, data }: TableJSON): TableValue {
  if (dtype !== "float32" && dtype !== "float64") {
    refuse("unknown-choice", subject, `${param.name}.dtype`, '"float32" or "float64"', dtype);
  }
  const allowed = "a list of whole numbers from 0";
  if (!isList(shape) || !shape.every((length) => Number.isInteger(length) && length >= 0)) {
    const given: unknown = isList(shape) ? verbatim(printedShape(shape)) : shape;
    refuse("shape-mismatch", subject, `${param.name}.shape`, allowed, given);
  }
  const bytes = fromBase64(data);
  if (bytes === undefined) {
    refuse("shape-mismatch", subject, `${param.name}.data`, "the little-endian elements in base64", data);
  }
  const width = dtype === "float32" ? 4 : 8;
  const size = product(shape) * width;
  if (bytes.length !== size) {
    const wanted = `${size} bytes of ${dtype} in base64 for the shape ${printedShape(shape)}`;
    refuse("shape-mismatch", subject, `${param.name}.data`, wanted, verbatim(`${bytes.length} bytes`));
  }
  return { shape: [...shape], data: width === 4 ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer) };
}

// A table as a property: a copy made at the first reading, so that writing into it changes no scheme.
function tableProperty(table: TableValue): () => Tensor {
  let copy: Tensor | undefined;
  return () =>
    (copy ??=
      table.data instanceof Float32Array
        ? new Tensor(table.data.slice(), table.shape, "float32")
        : new Tensor(table.data.slice(), table.shape, "float64"));
}

function isTable(value: unknown): value is TableValue {
  return typeof value === "object" && value !== null;
}

function properties(descriptor: Outline, values: readonly unknown[]): PropertyDescriptorMap {
  // Defined, not assigned: a name may be read-only on Object.prototype.
  const map: [string, PropertyDescriptor][] = [
    ["slot", { value: descriptor.slot, enumerable: true }],
    ["name", { value: descriptor.name, enumerable: true }],
  ];
  const nested = new Map<string, [string, PropertyDescriptor][]>();
  descriptor.params.forEach(({ name }, i) => {
    const value = values[i];
    const dot = name.indexOf(".");
    if (value === undefined && dot > 0) return; // of another choice
    const property: PropertyDescriptor = isTable(value)
      ? { get: tableProperty(value), enumerable: true }
      : { value: value ?? null, enumerable: true };
    if (dot < 0) {
      map.push([name, property]);
      return;
    }
    const outer = name.slice(0, dot);
    nested.set(outer, [...(nested.get(outer) ?? []), [name.slice(dot + 1), property]]);
  });
  for (const [name, inner] of nested)
    map.push([name, { value: Object.freeze(Object.create(null, Object.fromEntries(inner))), enumerable: true }]);
  return Object.fromEntries(map);
}

// The parameters that say something, in the form a factory takes; tables by `table`.
function plainParams(
  scheme: object,
  table: (value: TableValue) => unknown,
  defaults: boolean,
): Record<string, unknown> {
  const { descriptor, tables } = specs.get(scheme)!;
  const plain = new Map<string, unknown>();
  descriptor.params.forEach((param, i) => {
    const [outer, inner] = param.name.split(".") as [string, string?];
    const holder = (scheme as Record<string, unknown>)[outer];
    const value =
      tables[i] !== undefined
        ? table(tables[i] as TableValue)
        : inner === undefined
          ? holder
          : (holder as Record<string, unknown>)[inner];
    if (value === null || value === undefined) return;
    if (!defaults && value === defaultOf(scheme, descriptor, param)) return;
    plain.set(outer, inner === undefined ? value : { ...(plain.get(outer) as object | undefined), [inner]: value });
  });
  return Object.fromEntries(plain);
}

function defaultOf(scheme: object, descriptor: Outline, param: ParamOutline): unknown {
  if (param.required) return undefined;
  return param.defaultParam === undefined ? param.default : (scheme as Record<string, unknown>)[param.defaultParam];
}

function toTableJSON({ shape, data }: TableValue): TableJSON {
  const dtype = data instanceof Float32Array ? "float32" : "float64";
  return { shape, dtype, data: toBase64(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)) };
}

// A table as printed: its numbers where they are few, else its shape.
class Abridged {
  constructor(readonly text: string) {}
}

function abridged({ shape, data }: TableValue): Abridged {
  return new Abridged(shape.length === 1 && data.length <= 8 ? `[${data.join(", ")}]` : `<${shape.join(" x ")}>`);
}

// Registered, so that copies of the package on one page know each other's schemes.
const kBrand: symbol = Symbol.for("posenc.scheme");

/** True for a scheme of this copy of the package, which its functions take. */
export function isOwnScheme(value: object): value is AnyScheme {
  return specs.has(value);
}

/** `{slot, name, ...params}` as fromJSON() takes it, with the scheme's own tables. Nobody may write into those. */
export function paramsOf(scheme: Scheme): object {
  const asTensor = ({ shape, data }: TableValue): Tensor =>
    data instanceof Float32Array ? new Tensor(data, shape, "float32") : new Tensor(data, shape, "float64");
  return { slot: scheme.slot, name: scheme.name, ...plainParams(scheme, asTensor, true) };
}

/** Something that functions refuse as they would this scheme of another copy of the package. */
export function strangeScheme(slot: unknown, name: unknown): object {
  return { [kBrand]: true, slot, name };
}

/** True for a scheme of any copy of the package. */
export function isScheme(value: unknown): value is Scheme {
  if (typeof value !== "object" || value === null || isRevoked(value)) return false;
  return (value as Record<symbol, unknown>)[kBrand] === true;
}

const kPrototype: object = {
  [kBrand]: true,
  toJSON(this: Scheme): SchemeJSON {
    return { slot: this.slot, name: this.name, ...plainParams(this, toTableJSON, true) };
  },
  toString(this: Scheme): string {
    const written = (value: unknown): string => {
      if (value instanceof Abridged) return value.text;
      if (typeof value !== "object" || value === null)
        return typeof value === "string" ? JSON.stringify(value) : String(value);
      return `{${Object.entries(value)
        .map(([key, entry]) => `${key}: ${written(entry)}`)
        .join(", ")}}`;
    };
    const params = plainParams(this, abridged, false);
    return `${this.name}(${Object.keys(params).length === 0 ? "" : written(params)})`;
  },
  [kInspect](this: Scheme): string {
    return this.toString();
  },
  [kDenoInspect](this: Scheme): string {
    return this.toString();
  },
};

// ---------------------------------------------------------------- schemes as arguments

const kArticle: Readonly<Record<Slot, string>> = {
  embed: "an embed",
  rotate: "a rotate",
  bias: "a bias",
  relate: "a relate",
};

/** The spec of a scheme of one of these slots; anything else is `wrong-slot`. */
export function readScheme(subject: string, argument: string, value: unknown, slots: readonly Slot[]): Spec {
  const allowed = `${slots.map((slot) => kArticle[slot]).join(" or ")} scheme`;
  if (value === undefined) refuseMissing(subject, argument, allowed);
  const spec = typeof value === "object" && value !== null ? specs.get(value) : undefined;
  if (spec === undefined && isScheme(value)) {
    const { slot, name } = value;
    const given = verbatim(`the ${slot} scheme ${name} of another copy of posenc: fromJSON(scheme) takes it over`);
    refuse("wrong-slot", subject, argument, `${allowed} of this copy of posenc`, given);
  }
  if (spec === undefined) refuse("wrong-slot", subject, argument, allowed, value);
  if (!slots.includes(spec.descriptor.slot)) {
    refuse(
      "wrong-slot",
      subject,
      argument,
      allowed,
      verbatim(`the ${spec.descriptor.slot} scheme ${spec.descriptor.name}`),
    );
  }
  return spec;
}

/** The specs of one scheme or a list of them; none where not given. */
export function readSchemes(subject: string, argument: string, value: unknown, slot: Slot): Spec[] {
  if (value === undefined) return [];
  if (!isList(value)) return [readScheme(subject, argument, value, [slot])];
  // Array.from sees what map leaves out: a hole is a scheme that is missing.
  return Array.from(value, (scheme, i) => readScheme(subject, `${argument}[${i}]`, scheme, [slot]));
}
