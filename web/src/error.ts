// What the package throws: one name, PosencError, over two classes, so that a RangeError is a RangeError and a
// TypeError a TypeError. Messages about values come from the core; those about shapes and kinds are made here.

/** The stable words of {@link PosencError.code}. */
export type ErrorCode =
  | "not-a-number"
  | "not-integer"
  | "not-finite"
  | "out-of-range"
  | "shape-mismatch"
  | "missing-option"
  | "unknown-option"
  | "unknown-choice"
  | "wrong-slot"
  | "too-large"
  | "detached"
  | "invalid-file"
  | "unsupported"
  | "out-of-memory"
  | "worker-lost"
  | "internal";

/** What is known of a refusal; all but `code` may be empty where there is nothing to say. */
export interface Refusal {
  readonly code: ErrorCode;
  /** Who speaks: a function or a scheme, `"alibi"`. */
  readonly subject: string;
  /** The argument at fault, `"heads"`; a nested option is written `"scaling.factor"`. */
  readonly argument: string;
  /** What would have been right, `"an integer from 1 to 1024"`. */
  readonly allowed: string;
  /** What came instead, printed: `"0"`. */
  readonly given: string;
}

/**
 * The one error of this package: a RangeError for `out-of-range`, `too-large` and `out-of-memory`, else a TypeError,
 * and in both cases `instanceof PosencError`. After it the next valid call works.
 */
export interface PosencError extends Error, Refusal {
  readonly name: "PosencError";
}

const kRangeCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["out-of-range", "too-large", "out-of-memory"]);
// A registered symbol, so that two copies of the package on one page know each other's errors.
const kBrand: symbol = Symbol.for("posenc.error");

function message({ code, subject, argument, allowed, given }: Refusal): string {
  const who = subject === "" ? "" : `${subject}: `;
  if (argument === "") return who + allowed;
  if (code === "missing-option") return `${who}${argument} is missing, it must be ${allowed}`;
  return `${who}${argument} must be ${allowed}${given === "" ? "" : `, got ${given}`}`;
}

// The name by which errors and their classes go: where it stands before an error is made, the head of its stack has
// it, and consoles do not print what a minifier made of the class's.
function christen(Kind: { readonly prototype: object }): void {
  const name = { value: "PosencError", configurable: true, writable: true };
  Object.defineProperty(Kind, "name", name);
  Object.defineProperty(Kind.prototype, "name", name);
}

function brand(error: Error, refusal: Refusal): void {
  Object.defineProperty(error, kBrand, { value: true });
  for (const key of ["code", "subject", "argument", "allowed", "given"] as const) {
    Object.defineProperty(error, key, { value: refusal[key], enumerable: true });
  }
}

class PosencRangeError extends RangeError {
  static {
    christen(this);
  }

  constructor(refusal: Refusal, text: string, options?: ErrorOptions) {
    super(text, options);
    brand(this, refusal);
  }
}

class PosencTypeError extends TypeError {
  static {
    christen(this);
  }

  constructor(refusal: Refusal, text: string, options?: ErrorOptions) {
    super(text, options);
    brand(this, refusal);
  }
}

/** The class of {@link PosencError} as a value. */
export interface PosencErrorClass {
  readonly prototype: PosencError;
  /** Always throws: the package alone makes instances. */
  new (...args: never[]): PosencError;
  [Symbol.hasInstance](value: unknown): value is PosencError;
}

/** The value behind the name: `error instanceof PosencError` holds for both classes. */
export const PosencError = class PosencError {
  static {
    christen(this);
  }

  constructor() {
    throw new TypeError("PosencError is thrown by posenc, not made by its users");
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[kBrand] === true;
  }
} as unknown as PosencErrorClass;

/** Makes the error of a refusal. `text` replaces the usual sentence where it would read badly. */
export function refusal(what: Refusal, text: string = message(what), options?: ErrorOptions): PosencError {
  const made = kRangeCodes.has(what.code)
    ? new PosencRangeError(what, text, options)
    : new PosencTypeError(what, text, options);
  return made as unknown as PosencError;
}

/** Throws `subject: argument must be allowed, got given`. */
export function refuse(code: ErrorCode, subject: string, argument: string, allowed: string, given: unknown): never {
  throw refusal({ code, subject, argument, allowed, given: printed(given) });
}

/** Throws `shape-mismatch` for an array of that shape. */
export function refuseShape(subject: string, argument: string, allowed: string, shape: readonly unknown[]): never {
  refuse("shape-mismatch", subject, argument, allowed, verbatim(`shape ${printedShape(shape)}`));
}

/** Throws `subject: argument is missing, it must be allowed`. */
export function refuseMissing(subject: string, argument: string, allowed: string): never {
  throw refusal({ code: "missing-option", subject, argument, allowed, given: "undefined" });
}

/** Throws for an option nobody reads, naming the nearest that exists. */
export function refuseUnknown(subject: string, given: string, known: readonly string[]): never {
  const option = given === "" ? '""' : cut(given);
  const guess = nearest(option, known);
  const allowed = known.length === 0 ? "no option" : `one of ${known.join(", ")}`;
  const hint =
    guess === undefined ? `it takes ${known.length === 0 ? "none" : known.join(", ")}` : `did you mean ${guess}?`;
  throw refusal(
    { code: "unknown-option", subject, argument: option, allowed, given: option },
    `${subject}: there is no option ${option}, ${hint}`,
  );
}

// Text that errors print as it stands, where the value itself would say less.
class Verbatim {
  constructor(readonly text: string) {}
}

/** Marks text to be printed without quotes. */
export function verbatim(text: string): object {
  return new Verbatim(text);
}

/** A value as an error prints it: short, and never an error of its own: proxies and getters may throw. */
export function printed(value: unknown): string {
  try {
    return described(value);
  } catch {
    return isRevoked(value) ? "a revoked proxy" : "an object";
  }
}

const cut = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

function described(value: unknown): string {
  if (value instanceof Verbatim) return value.text;
  switch (typeof value) {
    case "string":
      return JSON.stringify(cut(value));
    case "bigint":
      return `${value}n`;
    case "number":
      return Object.is(value, -0) ? "0" : String(value);
    case "function":
      return "a function";
    case "symbol":
      return "a symbol";
    case "object":
      break;
    default:
      return String(value);
  }
  if (value === null) return "null";
  if (Array.isArray(value)) return `an array of length ${value.length}`;
  if (ArrayBuffer.isView(value)) {
    return `${articled(kindOf(value))}${value instanceof DataView ? "" : ` of length ${(value as Uint8Array).length}`}`;
  }
  return kindOf(value) === "Object" ? "an object" : articled(kindOf(value));
}

/** Whether it is a proxy whose object was taken away: to look at it in any way is an error. */
export function isRevoked(value: unknown): boolean {
  try {
    Array.isArray(value);
    return false;
  } catch {
    return true;
  }
}

/** Array.isArray, which of a revoked proxy is false. */
export function isList(value: unknown): value is unknown[] {
  return !isRevoked(value) && Array.isArray(value);
}

/** Whether it is an object that may say things by name: no array and no view. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || isRevoked(value)) return false;
  return !isList(value) && !ArrayBuffer.isView(value);
}

// A proxy may say of itself that it inherits without end.
const kDeepest = 100_000;

// True for the Object.prototype of any realm: what it holds is no one's option.
function isRoot(level: object): boolean {
  return Object.getPrototypeOf(level) === null && Object.hasOwn(level, "hasOwnProperty");
}

/**
 * What an object says under the names it may use, and under others by `unknown`. Its own properties count, and those of
 * a class it was made by or an object it inherits from, but none of Object.prototype's. Each is read once. Without
 * `known` all listed ones are.
 */
export function readProperties(
  value: object,
  known?: readonly string[],
  unknown?: (name: string) => never,
): Record<string, unknown> {
  const read = new Said();
  let left = kDeepest;
  for (let level: object | null = value; level !== null && !isRoot(level); level = Object.getPrototypeOf(level)) {
    if (left-- === 0) break;
    const listed = Object.keys(level);
    for (const name of listed) if (known?.includes(name) === false) unknown!(name);
    // A class has its getters unlisted.
    for (const name of known ? Object.getOwnPropertyNames(level) : listed) {
      if (known?.includes(name) === false || name in read) continue;
      read[name] = (value as Record<string, unknown>)[name];
    }
  }
  return read;
}

/**
 * Its instances inherit nothing. Those of Object.create(null) are dictionaries, slower by a microsecond a call.
 */
export const Said = function () {} as unknown as new () => Record<string, unknown>;
Said.prototype = Object.create(null);

/**
 * A copy of all that an object lists under any name, its own and what it inherits, but nothing of Object.prototype:
 * what it does not say is not found in the copy either.
 */
export function readAll<T extends object>(value: T): T {
  return readProperties(value) as T;
}

/** `[2, 3]`, as errors print shapes. */
export function printedShape(shape: readonly unknown[]): string {
  return `[${shape.map(printed).join(", ")}]`;
}

/** What an object calls itself: `"Object"`, `"Date"`. */
export function kindOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

function articled(noun: string): string {
  return `${/^[AEIOU]/.test(noun) && !noun.startsWith("Uint") ? "an" : "a"} ${noun}`;
}

/** The nearest known word, by edits (swaps of neighbours count one), if it is near enough to be meant. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestEdits = Infinity;
  const lower = word.slice(0, 64).toLowerCase().replace(/[_-]/g, "");
  for (const candidate of known) {
    const other = candidate.toLowerCase();
    const tail = other.slice(other.lastIndexOf(".") + 1);
    const edits = Math.min(distance(lower, other), distance(lower, tail));
    const prefix = lower.length >= 3 && (other.startsWith(lower) || lower.startsWith(other) || tail.startsWith(lower));
    const cost = prefix ? Math.min(edits, 1) : edits;
    if (cost < bestEdits) {
      best = candidate;
      bestEdits = cost;
    }
  }
  return bestEdits <= Math.max(1, Math.floor(lower.length / 3)) ? best : undefined;
}

function distance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      row[j] = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    before = above;
    above = row;
  }
  return above[b.length]!;
}
