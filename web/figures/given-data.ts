// What a program hands a figure as its data: schemes, of this copy of the package, of another, or as JSON, and numbers.
// Anything else is refused: a reader would take the figure's own picture for that of their data.
import { fromJSON, tensor, Tensor, type AnyScheme, type TensorLike } from "../src/core.js";
import { type ErrorCode, PosencError, isList, isRecord, printed, printedShape, verbatim } from "../src/error.js";
import { isOwnScheme, isScheme } from "../src/scheme.js";
import { refuseValue } from "./refusal.js";

type Slot = AnyScheme["slot"];

export const anySlot: readonly Slot[] = ["embed", "rotate", "bias", "relate"];

/** Throws the sentence of data that a figure does not take; `takes` are the words of what it does. */
export function refuseData(takes: string, given: unknown, code: ErrorCode = "not-a-number"): never {
  return refuseValue(code, "data", takes, given, `data must be ${takes}, got ${printed(given)}.`);
}

// What the core says of it, inside a sentence of what the figure takes.
function refuseWith(takes: string, given: unknown, cause: unknown): never {
  const code = cause instanceof PosencError ? cause.code : "not-a-number";
  return refuseValue(code, "data", takes, given, `data must be ${takes}; ${(cause as Error).message}.`, { cause });
}

/** True for what can only be meant as a scheme, whether it is one or not. */
function namesScheme(data: unknown): boolean {
  return isRecord(data) && (isScheme(data) || "slot" in data);
}

/**
 * The scheme that `data` is, or is the JSON of; undefined for none. Throws what the figure takes where it is a scheme
 * of another slot or no scheme.
 */
export function givenScheme<S extends Slot>(
  data: unknown,
  slots: readonly S[],
  takes = `${slots.length === anySlot.length ? "a" : `${slots[0] === "embed" ? "an" : "a"} ${slots.join(" or ")}`} ` +
    "scheme or its JSON",
): Extract<AnyScheme, { slot: S }> | undefined {
  if (data === undefined || data === null) return undefined;
  if (!namesScheme(data)) refuseData(takes, data, "wrong-slot");
  let scheme: AnyScheme;
  try {
    scheme = isOwnScheme(data) ? (data as AnyScheme) : fromJSON(data as Parameters<typeof fromJSON>[0]);
  } catch (error) {
    return refuseWith(takes, data, error);
  }
  const { slot, name } = scheme;
  if (!(slots as readonly Slot[]).includes(slot)) {
    refuseData(takes, verbatim(`the ${slot} scheme ${name}`), "wrong-slot");
  }
  return scheme as Extract<AnyScheme, { slot: S }>;
}

/** As {@link givenScheme}, of a figure that takes numbers too: undefined where `data` is meant as those. */
export function schemeAmong<S extends Slot>(
  data: unknown,
  slots: readonly S[],
  takes: string,
): Extract<AnyScheme, { slot: S }> | undefined {
  return namesScheme(data) ? givenScheme(data, slots, takes) : undefined;
}

/** The numbers that `data` is, of as many axes as one of `axes` and none of them empty; undefined for none. */
export function givenNumbers(data: unknown, axes: readonly number[], takes: string): Tensor | undefined {
  if (data === undefined || data === null) return undefined;
  let numbers: Tensor;
  try {
    numbers = data instanceof Tensor ? data : tensor(data as TensorLike);
  } catch (error) {
    // What is wrong with a list of numbers is in no word for it.
    return isList(data) ? refuseWith(takes, data, error) : refuseData(takes, data);
  }
  const { shape } = numbers;
  if (shape.length === 0) refuseData(takes, data, "shape-mismatch");
  if (!axes.includes(shape.length) || shape.includes(0)) {
    refuseData(takes, verbatim(`shape ${printedShape(shape)}`), "shape-mismatch");
  }
  return numbers;
}

/** A table, with its name where it has one. */
export interface GivenTable {
  /** [rows, columns]. */
  table: Tensor;
  name: string | undefined;
}

/** The table that `data` is, or holds as `{table, name}`; undefined for none. */
export function givenTable(data: unknown, takes: string): GivenTable | undefined {
  const held = isRecord(data) && "table" in data;
  const { table, name } = held ? (data as { table: unknown; name?: unknown }) : { table: data, name: undefined };
  if (held && (table === undefined || table === null)) refuseData(takes, data);
  const numbers = givenNumbers(table, [2], takes);
  return numbers && { table: numbers, name: typeof name === "string" ? name : undefined };
}
