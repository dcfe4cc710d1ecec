// The font of the formulas: MathML needs one with an OpenType MATH table, which many machines do not have; without it
// indices stand on the line and roots are drawn by hand. STIX Two Math, of it only what the pages write.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { kRoot } from "../tools/process.mjs";

const kPackage = "@fontsource/stix-two-math";
const kFolder = join(kRoot, "node_modules", kPackage);
/** Its licence, for the folder that holds it. */
export const mathFontNotice = () => `${kPackage}\n\n${readFileSync(join(kFolder, "LICENSE"), "utf8").trim()}`;

// A letter alone in <mi> is set in italics: browsers take it from the mathematical alphabets (MathML Core, 4.2).
const kItalics = [
  ["A", "Z", 0x1d434],
  ["a", "z", 0x1d44e],
  ["Α", "Ω", 0x1d6e2],
  ["α", "ω", 0x1d6fc],
];
function italic(letter) {
  // The one that was there before the alphabets.
  if (letter === "h") return "ℎ";
  const [first, , to] = kItalics.find(([from, last]) => from <= letter && letter <= last) ?? [];
  return to === undefined ? "" : String.fromCodePoint(to + letter.codePointAt(0) - first.codePointAt(0));
}

/** The characters that browsers draw for MathML: its text, its italics, and the root of a root. */
export function charactersOf(mathml) {
  const text = mathml
    .replace(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
  const letters = Array.from(mathml.matchAll(/<mi\b[^>]*>(.)<\/mi>/gu), ([, letter]) => italic(letter));
  const roots = /<m(sqrt|root)\b/.test(mathml) ? "√" : "";
  return [...new Set([...text, ...letters, ...roots])].sort().join("");
}

/** A woff2 with what these formulas need and no more. */
export async function mathFont(mathml) {
  const { default: subset } = await import("subset-font");
  const whole = readFileSync(join(kFolder, "files/stix-two-math-latin-400-normal.woff2"));
  return subset(whole, charactersOf(mathml), { targetFormat: "woff2" });
}
