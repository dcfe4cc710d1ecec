// What the playground says of figures that cannot draw what it was asked for.

/** A sentence for each refusal, with the figures that gave it in the order they did. */
export function refusedSentences(refused: Iterable<readonly [figure: string, refusal: string]>): string[] {
  const figures = new Map<string, Set<string>>();
  for (const [figure, refusal] of refused) figures.set(refusal, (figures.get(refusal) ?? new Set()).add(figure));
  return [...figures].map(([refusal, names]) => {
    const said = refusal.replace(/[^.?!]$/, "$&.");
    const list = [...names];
    const last = list.pop() ?? "";
    const all = list.length === 0 ? last : `${list.join(", ")} and ${last}`;
    return `Not drawn by ${all}: ${said}`;
  });
}
