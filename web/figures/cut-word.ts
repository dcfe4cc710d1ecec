// Words that must fit: apart from what draws tokens, because every element's title is cut so.
import { labelSize } from "./marks.js";
import type { Surface } from "./surface.js";

/** What a reader takes for the characters of a word: an emoji of several parts is one. */
export function charactersOf(word: string): string[] {
  if (typeof Intl === "undefined" || !("Segmenter" in Intl)) return Array.from(word);
  return Array.from(new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(word), (part) => part.segment);
}

/**
 * A word of at most `width` pixels, with an ellipsis where it was cut. Measured bold unless told otherwise: words turn
 * bold under the cursor and must not grow out of their room, nor be cut elsewhere.
 */
export function cutWord(surface: Surface, word: string, width: number, size = labelSize, bold = true): string {
  if (surface.textWidth(word, { size, bold }) <= width) return word;
  // No room is longer, and each cut is measured.
  const characters = charactersOf(word.slice(0, 512));
  for (let kept = characters.length - 1; kept > 0; kept--) {
    const short = `${characters.slice(0, kept).join("")}\u2026`;
    if (surface.textWidth(short, { size, bold }) <= width) return short;
  }
  return "\u2026";
}
