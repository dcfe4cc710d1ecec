// What the core and the readers of configs say in plain ASCII, as a book sets it.

/** Apostrophes, minus signs and the dashes of ranges in place of the keyboard's; quoted names of options stay. */
export function typeset(words: string): string {
  return words
    .replace(/(?<=[A-Za-z])'/g, "\u2019")
    .replace(/(?<=^|[\s([])-(?=[\d(])| - /g, (sign) => sign.replace("-", "\u2212"))
    .replace(/(?<=\s\d+)-(?=\d+\b)/g, "\u2013");
}

/** The name of a law: "non_positive" reads "non-positive", "identity_at_zero" "identity at zero". */
export function lawWords(law: string): string {
  return law.replace(/^non_/, "non-").replaceAll("_", " ");
}
