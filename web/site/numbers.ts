// Numbers in the text, as the figures beside it write them, with the decimal sign of the page's language.
import { book, inLanguage } from "../figures/format.js";

/** How the pages write numbers. */
export interface Numbers {
  /** With so many decimals. */
  fixed(value: number, decimals: number): string;
  /** Short where it is short (0.2), else with so many decimals. */
  short(value: number, decimals: number): string;
  /** A whole number. */
  whole(value: number): string;
  /** With so many significant digits, as a power of ten where it is small. */
  significant(value: number, digits: number): string;
  /** Tokens a turn takes: two decimals below a hundred, else whole. */
  tokens(value: number): string;
  /** [a, b, …], each by `short`; `decimals` may differ by column. */
  vector(values: Iterable<number>, decimals: number | readonly number[]): string;
}

// Asking a browser for its decimal sign is slow, and the page has hundreds of numbers.
const languages = new Map<string, Numbers>();

/** The numbers of a language, such as "en" or "de-CH"; English where the browser does not know it. */
export function numbersOf(language: string): Numbers {
  const numbers = languages.get(language) ?? numbersIn(language);
  languages.set(language, numbers);
  return numbers;
}

function numbersIn(language: string): Numbers {
  const comma = inLanguage(language, () => book(0.5)).includes(",");
  // The sign is asked for once, and put in here.
  const written = (text: string): string => (comma ? text.replace(".", ",") : text);
  const fixed = (value: number, decimals: number): string => written(book(value, { decimals }));
  const short = (value: number, decimals: number): string => {
    const brief = Number(value.toFixed(1));
    const gap = value - brief;
    if ((gap < 0 ? -gap : gap) < 1e-7) return fixed(brief, Number.isInteger(brief) ? 0 : 1);
    // Zeros from the fifth decimal on say nothing.
    return fixed(value, decimals).replace(/(\D\d{4}\d*?)0+$/, "$1");
  };
  return {
    fixed,
    short,
    whole: (value) => fixed(value, 0),
    significant: (value, digits) => written(book(value, { significant: digits })),
    tokens: (value) => fixed(value, value < 100 ? 2 : 0),
    vector: (values, decimals) => {
      const places = (c: number): number => (typeof decimals === "number" ? decimals : (decimals[c] ?? 4));
      const parts = Array.from(values, (v, c) => short(v, places(c)));
      return `[${parts.join(comma ? "; " : ", ")}]`;
    },
  };
}

/** The language an element is written in: its own, or the nearest one around it. */
export function languageOf(element: Element): string {
  return element.closest("[lang]")?.getAttribute("lang") || "en";
}
