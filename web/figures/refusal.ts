// What is said to a program that asks a figure for what it does not have.
import { type ErrorCode, isRecord, nearest, printed, refusal } from "../src/error.js";

/**
 * Throws a PosencError that says in one sentence which attribute or argument must be what: `sentence`, where the usual
 * one, "positions must be at most 8, got 9.", would read badly.
 */
export function refuseValue(
  code: ErrorCode,
  argument: string,
  allowed: string,
  given: unknown,
  sentence = `${argument} must be ${allowed}, got ${quoted(given)}.`,
  options?: ErrorOptions,
): never {
  throw refusal({ code, subject: "", argument, allowed, given: printed(given) }, sentence, options);
}

function quoted(given: unknown): string {
  return typeof given === "string" ? `\u201c${given}\u201d` : printed(given);
}

/** Throws unless `value` is an object with named entries. */
export function requireObject(what: string, value: unknown): asserts value is Readonly<Record<string, unknown>> {
  if (isRecord(value)) return;
  refuseValue("not-a-number", what, "an object", value, `${what} must be an object, got ${printed(value)}.`);
}

/** Throws at a name that is not among the known ones, naming the nearest of them. */
export function requireKnown(what: string, names: readonly string[], known: readonly string[]): void {
  for (const name of names) {
    if (known.includes(name)) continue;
    const guess = nearest(name, known);
    const hint = guess === undefined ? `there are ${known.join(", ")}` : `did you mean \u201c${guess}\u201d?`;
    const sentence = `${what} \u201c${name}\u201d is not known; ${hint.endsWith("?") ? hint : `${hint}.`}`;
    refuseValue("unknown-option", name, `one of ${known.join(", ")}`, name, sentence);
  }
}

/** What an error says, ended as a sentence. */
export function sentenceOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/[^.?!]$/, "$&.");
}

/** Throws where so many positions from `from` on go beyond 2^53; `name` is the attribute that says where they begin. */
export function requireWithin(name: string, from: number, positions: number): void {
  const most = 2 ** 53 - positions;
  if (!(from <= most)) refuseValue("out-of-range", name, `at most ${most}, 2^53 - positions`, from);
}
