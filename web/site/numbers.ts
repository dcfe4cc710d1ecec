// Numbers in the text, as the language of the page writes them.

const kMinus = "\u2212";

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

// Formats are slow to make, and the page has hundreds of numbers.
const formats = new Map<string, Intl.NumberFormat>();
const languages = new Map<string, Numbers>();

/** The numbers of a language, such as "en" or "de-CH"; English where the browser does not know it. */
export function numbersOf(language: string): Numbers {
  const numbers = languages.get(language) ?? numbersIn(known(language));
  languages.set(language, numbers);
  return numbers;
}

function numbersIn(locale: string): Numbers {
  const format = (value: number, least: number, most: number): string => {
    const size = value < 0 ? -value : value;
    const options = { minimumFractionDigits: least, maximumFractionDigits: most, useGrouping: size >= 9999.5 };
    const key = [locale, ...Object.values(options)].join();
    const made = formats.get(key) ?? new Intl.NumberFormat(locale, options);
    formats.set(key, made);
    const digits = made.format(size);
    return value < 0 && /[1-9]/.test(digits) ? kMinus + digits : digits;
  };
  const comma = format(0.5, 1, 1).includes(",");
  const fixed = (value: number, decimals: number): string => format(value, decimals, decimals);
  const short = (value: number, decimals: number): string => {
    const brief = Number(value.toFixed(1));
    const gap = value - brief;
    return (gap < 0 ? -gap : gap) < 1e-7 ? format(brief, 0, 1) : format(value, decimals > 4 ? 4 : decimals, decimals);
  };
  return {
    fixed,
    short,
    whole: (value) => format(value, 0, 0),
    significant: (value, digits) => {
      const [mantissa = "", exponent = "0"] = value.toExponential(digits - 1).split("e");
      const power = Number(exponent);
      if (power >= -3) return fixed(value, power < digits ? digits - 1 - power : 0);
      return `${fixed(Number(mantissa), digits - 1)}\u202f·\u202f10${raised(power)}`;
    },
    tokens: (value) => (value < 100 ? fixed(value, 2) : fixed(value, 0)),
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

function known(language: string): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? "en";
  } catch {
    return "en";
  }
}

function raised(power: number): string {
  const digits = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
  return [...String(power)].map((c) => (c === "-" ? "\u207b" : (digits[Number(c)] ?? c))).join("");
}
