// A reader's sentence: its tokens, and seeded vectors for its words. Nothing here is trained: a word's numbers are
// drawn from the core's normal generator under a seed that the word itself gives, so a word is the same in every
// figure, at every place and on every machine.
import { randomNormal } from "../src/core.js";
import { charactersOf } from "./cut-word.js";
import { book, count } from "./format.js";
import { refuseValue } from "./refusal.js";

/** The most tokens that figures take of a sentence, unless they say more. */
export const mostTokens = 256;

// One token each: a character of a script that is written without spaces, a flag, an emoji with what is joined to it, a
// word (with apostrophes, hyphens and points inside it), any other sign.
function patternOf(unspaced: string, emoji: string, letter: string): RegExp {
  const word = `${letter}+(?:['\u2019.\\-\u2010]${letter}+)*`;
  return new RegExp([unspaced, emoji, word, "\\S"].filter(Boolean).join("|"), "gu");
}

const plainPattern = patternOf("", "", "[A-Za-z0-9_]");
let pattern: RegExp | undefined;

// Engines take a millisecond or two over the classes of Unicode, of which a text in ASCII has no need.
function patternFor(sentence: string): RegExp {
  if (/^[\0-\x7f]*$/.test(sentence)) return plainPattern;
  const unspaced = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}";
  const emoji = "\\p{Extended_Pictographic}[\\p{Emoji_Modifier}\\uFE0F]*";
  return (pattern ??= patternOf(
    `[${unspaced}]\\p{M}*`,
    `\\p{Regional_Indicator}{2}|${emoji}(?:\\u200D${emoji})*`,
    `(?:(?![${unspaced}])[\\p{L}\\p{N}\\p{M}_\\u200C])`,
  ));
}

/** The tokens of a sentence: words and signs, as they are written; the first `most` of them. */
export function tokensOf(sentence: string, most = mostTokens): string[] {
  const text = sentence.normalize("NFC");
  return (text.match(patternFor(text)) ?? []).slice(0, most);
}

/** As {@link tokensOf}; a PosencError where there is none. */
export function someTokensOf(sentence: string, most = mostTokens): string[] {
  const words = tokensOf(sentence, most);
  const empty = "the sentence is empty; type a word or more";
  return words.length > 0 ? words : refuseValue("out-of-range", "sentence", "a word or more", sentence, empty);
}

/**
 * "Drawn are the first 48 of 60 tokens of the sentence." where a text has more than the first `most` tokens, or as many
 * characters as its field takes; else nothing.
 */
export function cutWords(text: string, most: number, characters: number, name: string): string {
  const total = tokensOf(text, Infinity).length;
  const long = text.length >= characters;
  if (total <= most && !long) return "";
  const drawn = total > most ? `the first ${book(most)} of ${count(total, "token")}` : `the ${count(total, "token")}`;
  return `Drawn are ${drawn} of ${long ? `the first ${book(characters)} characters of ` : ""}${name}. `;
}

/**
 * The seed of a word: a whole number below 2^50, the same for upper and lower case. `purpose` (0 to 15) tells a word's
 * vectors apart; `seed` deals all of them anew.
 */
export function seedOf(word: string, purpose = 0, seed = 0): number {
  // Two runs of FNV-1a over the characters, 23 bits of each.
  let low = 0x811c9dc5;
  let high = 0x01234567;
  for (const character of `${seed === 0 ? "" : `${seed} `}${word.toLowerCase()}`) {
    const code = character.codePointAt(0) as number;
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x01000193) ^ (low >>> 15);
  }
  return ((low >>> 9) * 2 ** 23 + (high >>> 9)) * 16 + purpose;
}

export interface VectorOptions {
  purpose?: number;
  seed?: number;
  mean?: number;
  std?: number;
}

/** One seeded normal vector a word, [tokens, width] row-major. */
export function vectorsOf(words: readonly string[], width: number, options: VectorOptions = {}): Float32Array {
  const { purpose = 0, seed = 0, mean = 0, std = 1 } = options;
  const rows = new Float32Array(words.length * width);
  const known = new Map<number, Float32Array>();
  words.forEach((word, t) => {
    const own = seedOf(word, purpose, seed);
    const row = known.get(own) ?? randomNormal(width, { seed: own, mean, std }).data;
    known.set(own, row);
    rows.set(row, t * width);
  });
  return rows;
}

/** [tokens, heads x width] to [heads, tokens, width]. */
export function byHead(rows: Float32Array, heads: number, width: number): Float32Array {
  const tokens = rows.length / (heads * width);
  const parts = new Float32Array(rows.length);
  for (let t = 0; t < tokens; t++) {
    for (let h = 0; h < heads; h++) {
      const from = (t * heads + h) * width;
      parts.set(rows.subarray(from, from + width), (h * tokens + t) * width);
    }
  }
  return parts;
}

/** Words in a comment of a program: some characters end its line. */
export function onOneLine(words: readonly string[]): string {
  return words.join(" ").replace(/[\u2028\u2029]/g, " ");
}

const numbers = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** Small counts in words, as a book writes them: "three", "12". */
export function spelled(value: number): string {
  return numbers[value] ?? String(value);
}

/** A word for a line of text: a very long one ends in an ellipsis. */
export function shortened(word: string, most = 24): string {
  if (word.length <= most) return word;
  const characters = charactersOf(word.slice(0, 64 * most));
  return characters.length <= most ? word : `${characters.slice(0, most - 1).join("")}\u2026`;
}

/** A word inside a line of text, kept from turning the line round where it is written from right to left. */
export function isolated(word: string): string {
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(word) ? `\u2068${word}\u2069` : word;
}
