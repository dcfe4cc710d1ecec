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

// Formulas get room for the widest root sign of the font (MathML Core: the preferred inline size of a glyph stretched
// along the block axis), a gap behind one that takes the narrowest. Over a letter or a few no other is taken.
const kTallRoot = /<m(?:sqrt|root)>(?:(?!<\/m(?:sqrt|root)>).)*<m(?:frac|table|under|over|sup|sqrt|root)/s;

// The font, as bare sfnt, with one size of the root sign (OpenType: cmap format 12, MATH's MathVariants).
function withOneRoot(font) {
  const bytes = Uint8Array.from(font);
  const { buffer } = bytes;
  const view = new DataView(buffer);
  const [u16, u32] = [(at) => view.getUint16(at), (at) => view.getUint32(at)];
  const range = (count) => Array.from({ length: count }, (_, i) => i);
  const table = (tag) => {
    const at = range(u16(4)).map((i) => 12 + 16 * i);
    return u32(at.find((record) => String.fromCharCode(...bytes.subarray(record, record + 4)) === tag) + 8);
  };
  const cmap = table("cmap");
  const subtables = range(u16(cmap + 2)).map((i) => cmap + u32(cmap + 8 + 8 * i));
  const full = subtables.find((at) => u16(at) === 12);
  const groups = range(u32(full + 12)).map((i) => full + 16 + 12 * i);
  const group = groups.find((at) => u32(at) <= 0x221a && 0x221a <= u32(at + 4));
  const root = u32(group + 8) + 0x221a - u32(group);

  const math = table("MATH");
  const variants = math + u16(math + 8);
  const coverage = variants + u16(variants + 2);
  const ranged = u16(coverage) === 2;
  const place = range(u16(coverage + 2))
    .map((i) => coverage + 4 + (ranged ? 6 : 2) * i)
    .map((at) => (ranged ? [u16(at), u16(at + 2), u16(at + 4)] : [u16(at), u16(at), (at - coverage - 4) / 2]))
    .find(([first, last]) => first <= root && root <= last);
  const construction = variants + u16(variants + 10 + 2 * (place[2] + root - place[0]));
  view.setUint16(construction, 0); // no assembly of parts
  view.setUint16(construction + 2, 1);
  return Buffer.from(buffer);
}

/** A woff2 with what these formulas need and no more. */
export async function mathFont(mathml) {
  const { default: subset } = await import("subset-font");
  const whole = readFileSync(join(kFolder, "files/stix-two-math-latin-400-normal.woff2"));
  const characters = charactersOf(mathml);
  const small = await subset(whole, characters, { targetFormat: "sfnt" });
  const narrow = characters.includes("√") && !kTallRoot.test(mathml) ? withOneRoot(small) : small;
  return subset(narrow, characters, { targetFormat: "woff2" });
}
