// Numbers as a book writes them: a true minus sign, thin spaces in thousands, no more digits than asked for.

const minus = "\u2212";
// Narrow and not to be broken at: a number stays in its line.
const thinSpace = "\u202f";
// The decimal sign. Thin spaces in thousands are read in every language.
let point = ".";

/** Numbers have the decimal sign of a language while `work` runs; outside, where data and code are made, a point. */
export function inLanguage<T>(language: string, work: () => T): T {
  const before = point;
  try {
    // The first of a browser's formats takes longer than a figure, and these languages write as we do.
    if (/^en(-(US|GB))?$/i.test(language)) point = ".";
    else point = (0.5).toLocaleString(language, { numberingSystem: "latn" }).charAt(1);
  } catch {
    // No language that browsers know.
  }
  try {
    return work();
  } finally {
    point = before;
  }
}

export interface NumberStyle {
  /** Digits after the point. */
  decimals?: number;
  /** Significant digits (used where `decimals` is absent). */
  significant?: number;
  /** Write the plus sign too. */
  signed?: boolean;
}

/** `book(-12345.678, {decimals: 1})` is "−12 345.7"; NaN is an en dash, infinity its sign. */
export function book(value: number, style: NumberStyle = {}): string {
  if (Number.isNaN(value)) return "\u2013";
  const size = value < 0 ? -value : value;
  let digits: string;
  if (size === Infinity) digits = "\u221e";
  else if (style.decimals !== undefined) digits = grouped(size.toFixed(style.decimals));
  else if (Number.isInteger(size) && size <= Number.MAX_SAFE_INTEGER) digits = grouped(String(size));
  else digits = significant(size, style.significant ?? 4);
  const isZero = !/[1-9\u221e]/.test(digits.replace(/\u00d7.*/, ""));
  if (value < 0 && !isZero) return minus + digits;
  return style.signed === true && !isZero ? `+${digits}` : digits;
}

/** A round value at an axis, without zeros at its end: "0.5", "0.01", "10⁻³", "5×10⁻⁴". */
export function tickText(value: number): string {
  const size = value < 0 ? -value : value;
  if (size >= 0.01 || size === 0) return short(value);
  return (value < 0 ? minus : "") + trimmed(scientific(size, 4)).replace(/^1\u00d7/, "");
}

/** "1 token", "96 tokens". */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${book(value)} ${value === 1 ? one : many}`;
}

/** "3 of 8", in one line. */
export function outOf(part: number, whole: number): string {
  return `${book(part)}\u00a0of\u00a0${book(whole)}`;
}

/** With a capital, as a sentence begins. */
export function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A title within a line: "learned table", but "2-D sinusoidal", "RoPE" and names of people and models as they are. */
export function lowered(title: string): string {
  return /^(?!Fourier|Shaw|Swin|Toeplitz|Transformer)[A-Z][a-z]+($|[ -])/.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title;
}

/** At most four significant digits, or as many as asked for, without zeros at the end: 0.5, 0.03125 and 2×10⁻⁵. */
export function short(value: number, significant = 4): string {
  return trimmed(book(value, { significant }));
}

/** "10⁷"; 1 for exponent 0. */
export function powerOfTen(exponent: number): string {
  return exponent === 0 ? "1" : `10${superscript(exponent)}`;
}

function significant(size: number, digits: number): string {
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return scientific(size, digits);
  // Digits before the point are all written: 47 117, not 47 120.
  return grouped(size >= 10 ** digits ? size.toFixed(0) : size.toPrecision(digits));
}

function scientific(size: number, digits: number): string {
  const [mantissa = "", exponent] = size.toExponential(digits - 1).split("e");
  return `${grouped(mantissa)}\u00d710${superscript(Number(exponent))}`;
}

// Without zeros behind the decimal sign that say nothing.
function trimmed(written: string): string {
  return written.includes(point) ? written.replace(/\D?0+(?=\u00d7|$)/, "") : written;
}

function grouped(digits: string): string {
  const [whole = "", part] = digits.split(".");
  const spaced = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, thinSpace) : whole;
  return part === undefined ? spaced : spaced + point + part;
}

/** "⁻³". */
export function superscript(exponent: number): string {
  const raised = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
  return [...String(exponent)].map((c) => (c === "-" ? "\u207b" : (raised[Number(c)] ?? c))).join("");
}
