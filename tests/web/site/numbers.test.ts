// Numbers of the text in several languages, and in the pages as built.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { book } from "../../../web/figures/format.js";
import { numbersOf } from "../../../web/site/numbers.js";

it("writes numbers as the language of the page does", () => {
  const [english, german] = [numbersOf("en"), numbersOf("de")];
  expect(english.whole(60611.2)).toBe("60\u202f611");
  expect(german.whole(60611.2)).toBe("60\u202f611");
  expect(english.whole(1024)).toBe("1024");
  expect(english.fixed(-0.98999, 4)).toBe("\u22120.9900");
  expect(german.fixed(-0.98999, 4)).toBe("\u22120,9900");
  expect(english.fixed(-0.00001, 2)).toBe("0.00");
  expect(english.tokens(6.283)).toBe("6.28");
  expect(english.tokens(584.7)).toBe("585");
  expect(english.tokens(19869.2)).toBe("19\u202f869");
  expect(english.vector([0.5, -0.41615, 1], 3)).toBe("[0.5, \u22120.416, 1]");
  expect(german.vector([0.5, -0.41615, 1], 3)).toBe("[0,5; \u22120,416; 1]");
  expect(english.significant(6.0288e-5, 2)).toBe("6.0\u00d710\u207b\u2075");
  expect(english.significant(0.79439, 3)).toBe("0.794");
  expect(english.significant(0.0304, 1)).toBe("0.03");
  expect(english.significant(12.34, 3)).toBe("12.3");
  expect(english.significant(0, 1)).toBe("0");
});

it("falls back to English where the language is not one", () => {
  expect(numbersOf("no such language").whole(60611)).toBe("60\u202f611");
});

it("writes numbers as the figures do, in every page", () => {
  for (const value of [12.34, 9999, 10000, -60611.2, 6.0288e-5])
    expect(numbersOf("en").significant(value, 3)).toBe(book(value, { significant: 3 }));
  const folder = join(import.meta.dirname, "../../../dist/site");
  const pages = readdirSync(folder).filter((name) => name.endsWith(".html"));
  expect(pages.length).toBeGreaterThan(3);
  for (const page of pages) {
    const html = readFileSync(join(folder, page), "utf8");
    const text = html.replace(/<(script|style|pre|code|math)\b[\s\S]*?<\/\1>|<[^>]*>/g, " ");
    // A number is not torn from what it numbers.
    expect(text.match(/\b(section|equation|eq\.|table|pair|position|row) \d.{0,9}/g), page).toBeNull();
    // Thousands apart by a comma, or not apart at all; what is typed in stands in quotes.
    expect(text.match(/.{0,20}(\d,\d{3}(?!\d)|(?<![\d."])\d{5}).{0,9}/g), page).toBeNull();
  }
});
