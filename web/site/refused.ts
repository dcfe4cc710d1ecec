// What the playground says of figures that cannot draw what it was asked for.

/** "a, b and c". */
export function listed(words: Iterable<string>): string {
  const list = [...words];
  const last = list.pop() ?? "";
  return list.length === 0 ? last : `${list.join(", ")} and ${last}`;
}

/** A sentence for each refusal, with the figures that gave it in the order they did. */
export function refusedSentences(
  refused: Iterable<readonly [figure: string, refusal: string]>,
  what = "Not drawn by",
): string[] {
  const figures = new Map<string, Set<string>>();
  for (const [figure, refusal] of refused) figures.set(refusal, (figures.get(refusal) ?? new Set()).add(figure));
  return [...figures].map(([refusal, names]) => `${what} ${listed(names)}: ${refusal.replace(/[^.?!]$/, "$&.")}`);
}
