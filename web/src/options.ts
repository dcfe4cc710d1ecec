// How options are read: every key known, every value of its kind. What range a value must lie in, the core says.
import {
  Said,
  isRecord,
  kindOf,
  readProperties,
  refuse,
  refuseMissing,
  refuseShape,
  refuseUnknown,
} from "./error.js";
import { readArray } from "./tensor.js";

/** The largest position, and the largest number an option may be: whole numbers are exact up to it. */
export const kLimit = 2 ** 53;

/** {@link readProperties} of an argument that must be an object. */
export function readRecord(
  subject: string,
  argument: string,
  allowed: string,
  value: unknown,
  known: readonly string[],
  unknown: (name: string) => never,
): Record<string, unknown> {
  if (!isRecord(value)) refuse("not-a-number", subject, argument, allowed, value);
  const read = readProperties(value, known, unknown);
  // A Date, a Map or a Promise says nothing but has methods (keys), and was meant for something else.
  const says = Object.values(read).some((one) => typeof one !== "function");
  if (!says && kindOf(value) !== "Object") refuse("not-a-number", subject, argument, allowed, value);
  return read;
}

/** A copy of an options object whose every key is known, each read once; an empty one where it was not given. */
export function readOptions(
  subject: string,
  options: unknown,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  if (options === undefined) return new Said();
  const unknown = (name: string): never => refuseUnknown(subject, name, known);
  return readRecord(subject, "options", "an object of options", options, known, unknown);
}

/** What follows the arguments of a function that has no options: nothing, or an object that says nothing. */
export function readNoOptions(subject: string, args: ArrayLike<unknown>, count: number): void {
  readOptions(subject, args[count], []);
}

function readNumber(subject: string, argument: string, value: unknown, allowed: string): number {
  if (value === undefined) refuseMissing(subject, argument, allowed);
  if (typeof value !== "number" || Number.isNaN(value)) refuse("not-a-number", subject, argument, allowed, value);
  if (!Number.isFinite(value)) refuse("not-finite", subject, argument, allowed, value);
  return value;
}

/** A whole number from 0 to `limit`; the fallback where not given. */
export function readWhole(
  subject: string,
  argument: string,
  value: unknown,
  allowed = "a whole number from 0 to 2^32",
  limit = 2 ** 32,
  fallback?: number,
): number {
  const number = readNumber(subject, argument, value === undefined ? fallback : value, allowed);
  if (!Number.isInteger(number)) refuse("not-integer", subject, argument, allowed, value);
  if (number < 0 || number > limit) refuse("out-of-range", subject, argument, allowed, value);
  return number;
}

/** A seed: a whole number from 0 to 2^53, by default 0. */
export function readSeed(subject: string, value: unknown): number {
  return readWhole(subject, "seed", value, "a whole number from 0 to 2^53", kLimit, 0);
}

/** A finite number of at most 2^53 in magnitude; the fallback where not given. */
export function readFinite(
  subject: string,
  argument: string,
  value: unknown,
  fallback?: number,
  allowed = "a number of at most 2^53 in magnitude",
): number {
  const number = readNumber(subject, argument, value === undefined ? fallback : value, allowed);
  if (number > kLimit || number < -kLimit) refuse("out-of-range", subject, argument, allowed, value);
  return number;
}

/** A finite number above 0, or undefined where not given. */
export function readPositive(
  subject: string,
  argument: string,
  value: unknown,
  allowed = "a number above 0 and at most 2^53",
): number | undefined {
  if (value === undefined) return undefined;
  const number = readFinite(subject, argument, value, undefined, allowed);
  if (!(number > 0)) refuse("out-of-range", subject, argument, allowed, value);
  return number;
}

/** A finite number of at least 0; the fallback where not given. */
export function readLeast0(subject: string, argument: string, value: unknown, fallback: number): number {
  const allowed = "a number from 0 to 2^53";
  const number = readFinite(subject, argument, value, fallback, allowed);
  if (number < 0) refuse("out-of-range", subject, argument, allowed, value);
  return number;
}

/** True or false. */
export function readFlag(subject: string, argument: string, value: unknown, fallback = false): boolean {
  if (value === undefined) return fallback;
  if (typeof value !== "boolean") refuse("unknown-choice", subject, argument, "true or false", value);
  return value;
}

/** One of some words. */
export function readChoice<T extends string>(
  subject: string,
  argument: string,
  value: unknown,
  choices: readonly T[],
  fallback: T,
): T {
  if (value === undefined) return fallback;
  if (!choices.includes(value as T)) {
    const quoted = choices.map((choice) => JSON.stringify(choice));
    refuse(
      "unknown-choice",
      subject,
      argument,
      quoted.length === 1 ? quoted[0]! : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)!}`,
      value,
    );
  }
  return value as T;
}

/** A mask of true and false, or 1 and 0, with at most `maxRank` axes: 1 = there. */
export function readMask(
  subject: string,
  argument: string,
  value: unknown,
  maxRank: number,
): { data: Uint8Array; shape: readonly number[] } {
  const allowed =
    maxRank === 1 ? "true or false (or 1 or 0) for each token, [T]" : "true or false (or 1 or 0), [Tk] or [B, Tk]";
  const read = readArray(subject, argument, value, Number);
  // A tokenizer gives one sequence as a batch of one.
  const shape = maxRank === 1 && read.shape.length === 2 && read.shape[0] === 1 ? read.shape.slice(1) : read.shape;
  if (shape.length < 1 || shape.length > maxRank) refuseShape(subject, argument, allowed, shape);
  const data = new Uint8Array(read.data.length);
  for (let t = 0; t < data.length; t++) {
    const entry = read.data[t]!;
    if (entry !== 0 && entry !== 1) {
      refuse(Number.isNaN(entry) ? "not-a-number" : "out-of-range", subject, argument, allowed, entry);
    }
    data[t] = entry;
  }
  return { data, shape };
}
