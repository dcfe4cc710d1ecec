import { describe, expect, it } from "vitest";
import { outlines } from "../../../web/src/core.js";
import { book, count, inLanguage, lowered, short, tickText } from "../../../web/figures/format.js";

describe("numbers as a book writes them", () => {
  it.each([
    [0, {}, "0"],
    [-0, { decimals: 2, signed: true }, "0.00"],
    [0.99989, { decimals: 4, signed: true }, "+0.9999"],
    [-0.00001, { decimals: 4, signed: true }, "0.0000"],
    [-1, {}, "\u22121"],
    [1234, {}, "1234"],
    [10000, {}, "10\u202f000"],
    [2 ** 53 - 1, {}, "9\u202f007\u202f199\u202f254\u202f740\u202f991"],
    [2 ** 53, {}, "9.007\u00d710\u00b9\u2075"],
    [-12345.678, { decimals: 1 }, "\u221212\u202f345.7"],
    [149.0456, { significant: 4 }, "149.0"],
    [60611.47, { significant: 4 }, "60\u202f611"],
    [999.96, { significant: 4 }, "1000"],
    [6.283185, { significant: 4 }, "6.283"],
    [0.000012345, { significant: 3 }, "1.23\u00d710\u207b\u2075"],
    [-2.5e12 - 0.5, { significant: 3 }, "\u22122.50\u00d710\u00b9\u00b2"],
    [Number.NaN, {}, "\u2013"],
    [-Infinity, {}, "\u2212\u221e"],
  ])("%d %j is %s", (value, style, text) => expect(book(value, style)).toBe(text));

  it("writes titles within a line, names of people and models with their capitals", () => {
    expect(outlines.map(({ title }) => lowered(title)).filter((title) => /^[a-z]/.test(title)).sort()).toEqual([
      "axial RoPE",
      "inverse-square distance",
      "learned",
      "query scale",
      "sandwich",
      "sinusoidal",
      "xPos",
    ]);
  });

  it("counts in words", () => {
    expect(count(1, "token")).toBe("1 token");
    expect(count(12000, "token")).toBe("12\u202f000 tokens");
    expect(count(2, "index", "indices")).toBe("2 indices");
  });
});

describe("numbers in a language", () => {
  const written = (): string[] => [
    ...[book(-12345.678, { decimals: 1 }), short(0.5), short(2e-5), tickText(0.0025)],
    book(12000),
  ];
  const english = ["\u221212\u202f345.7", "0.5", "2\u00d710\u207b\u2075", "2.5\u00d710\u207b\u00b3", "12\u202f000"];
  const german = ["\u221212\u202f345,7", "0,5", "2\u00d710\u207b\u2075", "2,5\u00d710\u207b\u00b3", "12\u202f000"];

  it("have its decimal sign, and a point outside", () => {
    for (const language of ["en", "EN-us", "en-GB", "ja"]) expect(inLanguage(language, written)).toEqual(english);
    for (const language of ["de", "de-AT", "fr", "pt-BR"]) expect(inLanguage(language, written)).toEqual(german);
    // Digits stay those of the figure's own font.
    expect(inLanguage("fa", () => short(0.25))).toMatch(/^0\D25$/);
    expect(written()).toEqual(english);
  });

  it("are English where the language is none, and what they were after a fault or a figure within a figure", () => {
    for (const language of ["", "no such language", "x"]) expect(inLanguage(language, written)).toEqual(english);
    expect(() =>
      inLanguage("de", () => {
        throw new RangeError("a fault");
      }),
    ).toThrow("a fault");
    expect(written()).toEqual(english);
    const around = inLanguage("de", () => [inLanguage("en", () => short(0.25)), short(0.25)]);
    expect(around).toEqual(["0.25", "0,25"]);
  });
});
