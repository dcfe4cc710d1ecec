// What is said to a program that asks a figure for what it does not have.

/** Throws unless `value` is an object with named entries. */
export function requireObject(what: string, value: unknown): asserts value is Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  const given = Array.isArray(value) ? "an array" : typeof value === "string" ? `\u201c${value}\u201d` : String(value);
  throw new TypeError(`${what} must be an object, got ${given}.`);
}

/** Throws at a name that is not among the known ones, naming the nearest of them. */
export function requireKnown(what: string, names: readonly string[], known: readonly string[]): void {
  for (const name of names) {
    if (known.includes(name)) continue;
    const guess = nearestOf(name, known);
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

/** The known name that is nearest by letters inserted, left out, replaced or swapped; none where all are far. */
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  const plain = (text: string): string => text.slice(0, 64).toLowerCase().replace(/[-_.]/g, "");
  const wish = plain(name);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(wish.length / 3)) + 1;
  for (const candidate of known) {
    const other = plain(candidate);
    const begun = wish.length >= 3 && (other.startsWith(wish) || wish.startsWith(other));
    const edits = begun ? Math.min(1, editsBetween(wish, other)) : editsBetween(wish, other);
    if (edits < least) [best, least] = [candidate, edits];
  }
  return best;
}

function editsBetween(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (above[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = swap ? (before[j - 2] as number) + 1 : replaced;
      row.push(Math.min(replaced, swapped, (above[j] as number) + 1, (row[j - 1] as number) + 1));
    }
    [before, above] = [above, row];
  }
  return above[b.length] as number;
}
