// Tokens and the words' seeded vectors.
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import {
  isolated,
  mostTokens,
  seedOf,
  shortened,
  spelled,
  tokensOf,
  vectorsOf,
} from "../../../web/figures/sentence.js";

beforeAll(() => ready());

describe("tokens", () => {
  it.each<[string, string[]]>([
    ["The cat sat.", ["The", "cat", "sat", "."]],
    ["  ", []],
    ["don't well-known 3.14, e.g.", ["don't", "well-known", "3.14", ",", "e.g", "."]],
    ["東京abcは", ["東", "京", "abc", "は"]],
    ["hi\u{1F469}\u200D\u{1F680}\u{1F44D}\u{1F3FD}!", ["hi", "\u{1F469}\u200D\u{1F680}", "\u{1F44D}\u{1F3FD}", "!"]],
    ["\u{1F1EB}\u{1F1F7}\u{1F1E9}\u{1F1EA}", ["\u{1F1EB}\u{1F1F7}", "\u{1F1E9}\u{1F1EA}"]],
    ["שָׁלוֹם عالم", ["שָׁלוֹם".normalize("NFC"), "عالم"]],
    ["e\u0301te\u0301", ["\u00e9t\u00e9"]],
    ["a\n\tb", ["a", "b"]],
  ])("splits %j", (sentence, tokens) => expect(tokensOf(sentence)).toEqual(tokens));
  it("splits a text in ASCII as it would with other letters beside it", () => {
    const character = fc.nat({ max: 127 }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.array(fc.oneof(character, fc.constantFrom(..."a'-.B9_ "))), (characters) => {
        const text = characters.join("");
        expect([...tokensOf(text), "\u00e9"]).toEqual(tokensOf(`${text} \u00e9`));
      }),
    );
  });

  it("stops at the most there may be", () => {
    expect(tokensOf("word ".repeat(1000))).toHaveLength(mostTokens);
  });
});

describe("vectors", () => {
  it("are a word's own: the same at every place and in either case, another for another word", () => {
    const rows = vectorsOf(["The", "cat", "the", "act"], 32);
    expect(rows.slice(64, 96)).toEqual(rows.slice(0, 32));
    expect(rows.slice(32, 64)).not.toEqual(rows.slice(0, 32));
    expect(rows.slice(96)).not.toEqual(rows.slice(32, 64));
    expect(vectorsOf(["cat"], 32)).toEqual(rows.slice(32, 64));
    expect(vectorsOf(["cat"], 8)).toEqual(rows.slice(32, 40));
  });

  it("differ by purpose and seed, and have the mean and deviation asked for", () => {
    const words = Array.from({ length: 400 }, (_, i) => `word${i}`);
    const plain = vectorsOf(words, 50);
    for (const other of [vectorsOf(words, 50, { purpose: 1 }), vectorsOf(words, 50, { seed: 1 })]) {
      const correlation = plain.reduce((sum, x, i) => sum + x * other[i]!, 0) / plain.length;
      // Four standard errors of 20,000 products.
      expect(Math.abs(correlation)).toBeLessThan(4 / Math.sqrt(plain.length));
    }
    const moved = vectorsOf(words, 50, { mean: 0.6, std: 0.8 });
    const mean = moved.reduce((sum, x) => sum + x, 0) / moved.length;
    const deviation = Math.sqrt(moved.reduce((sum, x) => sum + (x - mean) ** 2, 0) / moved.length);
    expect(mean).toBeCloseTo(0.6, 1);
    expect(deviation).toBeCloseTo(0.8, 1);
  });

  it("have seeds of their own among many words", () => {
    const seeds = new Set(Array.from({ length: 20_000 }, (_, i) => seedOf(i.toString(36))));
    expect(seeds.size).toBe(20_000);
    for (const seed of seeds) expect(Number.isSafeInteger(seed) && seed >= 0 && seed < 2 ** 50).toBe(true);
  });
});

it("writes small counts in words and keeps a line's direction", () => {
  expect([0, 3, 10, 11].map(spelled)).toEqual(["no", "three", "ten", "11"]);
  expect(shortened("unbeabsichtigterweise")).toBe("unbeabsichtigterweise");
  expect(shortened("x\u{1F469}\u200D\u{1F680}".repeat(20), 4)).toBe("x\u{1F469}\u200D\u{1F680}x\u2026");
  expect(isolated("cat")).toBe("cat");
  expect(isolated("שלום")).toBe("\u2068שלום\u2069");
});
