// What is said to a program that asks a figure for what it does not have.
import { isRecord, nearest, printed } from "../src/error.js";

/** Throws unless `value` is an object with named entries. */
export function requireObject(what: string, value: unknown): asserts value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new TypeError(`${what} must be an object, got ${printed(value)}.`);
}

/** Throws at a name that is not among the known ones, naming the nearest of them. */
export function requireKnown(what: string, names: readonly string[], known: readonly string[]): void {
  for (const name of names) {
    if (known.includes(name)) continue;
    const guess = nearest(name, known);
    const hint = guess === undefined ? `there are ${known.join(", ")}` : `did you mean \u201c${guess}\u201d?`;
    throw new RangeError(`${what} \u201c${name}\u201d is not known; ${hint.endsWith("?") ? hint : `${hint}.`}`);
  }
}

/** What an error says, ended as a sentence. */
export function sentenceOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/[^.?!]$/, "$&.");
}

/** Throws where so many positions from `from` on go beyond 2^53; `name` is the attribute that says where they begin. */
export function requireWithin(name: string, from: number, positions: number): void {
  if (from <= 2 ** 53 - positions) return;
  throw new RangeError(`${name} must be at most ${2 ** 53 - positions}, 2^53 - positions, got ${from}.`);
}
