// Each question of the chapter, answered right and wrong in several ways; which is which was worked out by hand or by a
// formula beside it, not by the judge.
import { describe, expect, it } from "vitest";
import * as api from "../../../web/src/index.js";
import { numbersOf } from "../../../web/site/numbers.js";
import { questions, type Values } from "../../../web/site/questions.js";

const write = numbersOf("en");

interface Answers {
  right: readonly Values[];
  /** With what the verdict has to say. */
  wrong: readonly (readonly [Values, RegExp])[];
}

const embed = { scheme: "sinusoidal", dim: 64, base: 10000, layout: "interleaved", position: 3 };
const spectrum = { scheme: "sinusoidal", dim: 64, base: 10000, context: 512 };
const shift = { scheme: "sinusoidal", dim: 16, base: 10000 };
const precision = { scheme: "rope", dim: 64, base: 10000 };
const extrapolation = { trained: 512, factor: 4, dim: 64, base: 10000 };
// How many of 32 pairs sweep more of their circle in 2048 positions at this base than in 512 at the old one.
const beyond = (base: number): number =>
  Array.from({ length: 32 }, (_, i) => {
    const swept = (steps: number, of: number): number => Math.min(1, (steps * of ** (-i / 32)) / (2 * Math.PI));
    return swept(2047, base) - swept(511, 10000);
  }).filter((share) => share > 0.01).length;
const projection = { scheme: "sinusoidal", dim: 64, base: 10000, positions: 128, horizontal: 1, vertical: 2 };
const rotate = { scheme: "rope", dim: 8, base: 10000, m: 20, n: 16 };
const bias = { scheme: "alibi", heads: 8, head: 3 };

const answers: Readonly<Record<string, Answers>> = {
  // Pair i of 32 turns in 2 pi 10^(i/8) positions: pairs 10, 11 and 12 in 111.7, 149.0 and 198.7.
  stripes: {
    right: [
      { ...embed, dimension: 21 },
      { ...embed, dimension: 23 },
      { ...embed, dimension: 25 },
      { ...embed, layout: "half", dimension: 32 + 11 },
      { ...embed, order: "cos-sin", dimension: 22 },
    ],
    wrong: [
      [{ ...embed, dimension: 22 }, /sine of 149 .*neighbour/],
      [{ ...embed, dimension: 19 }, /83\.79.*too fast/],
      [{ ...embed, dimension: 27 }, /265 .*too slow/],
      [{ ...embed, layout: "half", dimension: 11 }, /neighbour/],
      [{ ...embed, scheme: "learned", dimension: 23 }, /sinusoidal/],
      [{ ...embed, dim: 63, dimension: 23 }, /even/],
    ],
  },
  // 8 of 32 never turn while 2 pi 10^(23/8) = 4711.7 <= context < 2 pi 10^(24/8) = 6283.2; at 512, while base^(23/32)
  // <= 81.5 < base^(24/32).
  clocks: {
    right: [
      { ...spectrum, context: 4712 },
      { ...spectrum, context: 6283 },
      { ...spectrum, context: 512, base: 400 },
    ],
    wrong: [
      [spectrum, /16 of 32 never turn in 512.*too many/],
      [{ ...spectrum, context: 4711 }, /9 of 32.*too many/],
      [{ ...spectrum, context: 6284 }, /7 of 32.*too few/],
      [{ ...spectrum, scheme: "rope", context: 5000 }, /sinusoidal/],
      [{ ...spectrum, dim: 60, context: 5000 }, /divisible/],
    ],
  },
  // Only the mask knows places.
  order: {
    right: [{ scheme: "none", causal: true }],
    wrong: [
      [{ scheme: "none", causal: false }, /no difference at all/],
      [{ scheme: "sinusoidal", causal: true }, /should be none/],
    ],
  },
  // 44 is seven turns and 0.0177, whose cosine is 0.99984; 25 is four turns less 0.133, cosine 0.9912; 22 is half a
  // turn off.
  shift: {
    right: [
      { ...shift, offset: 44 },
      { ...shift, offset: -44 },
      { ...shift, offset: 710 },
    ],
    wrong: [
      [{ ...shift, offset: 5 }, /0\.2837\. One turn/],
      [{ ...shift, offset: 25 }, /0\.9912/],
      [{ ...shift, offset: 22 }, /\u22121\.0000/],
      [{ ...shift, offset: 0 }, /hardly a shift/],
      [{ ...shift, scheme: "rope", offset: 44 }, /sinusoidal/],
    ],
  },
  // A million is a float32; a sine that is rounded once is right to 2^-25; a frequency or an angle rounded to 24 bits
  // is off by up to 0.03 after a million positions.
  further: {
    right: [
      { ...precision, recipe: "table" },
      { ...precision, recipe: "positions" },
    ],
    wrong: [
      ...["power", "exponential", "upcast", "angle", "frequencies"].map(
        (recipe) => [{ ...precision, recipe }, /off by 0\.0\d+ there\. Which/] as const,
      ),
      [{ ...precision, scheme: "xpos", recipe: "table" }, /RoPE/],
    ],
  },
  // A fourth of the speed keeps every pair within its old range but for three quarters of a step, at most 0.75 / 2 pi
  // / 4 of the fast pairs, which turned fully anyway; NTK's base slows the pairs between by less than they need.
  longer: {
    right: [
      { ...extrapolation, scaling: "linear" },
      { ...extrapolation, scaling: "yarn" },
      { ...extrapolation, scaling: "llama3" },
    ],
    wrong: [
      [{ ...extrapolation, scaling: "none" }, /16 of 32 pairs .* 0\.74/],
      [{ ...extrapolation, scaling: "ntk" }, new RegExp(`^${beyond(10000 * 4 ** (64 / 62))} of 32 pairs`)],
      [{ ...extrapolation, factor: 8, scaling: "linear" }, /four times/],
    ],
  },
  // Few positions are a short piece of a smooth curve; no base makes 128 of them one.
  tables: {
    right: [
      { ...projection, positions: 8 },
      { ...projection, positions: 12 },
      { ...projection, positions: 8, horizontal: 2, vertical: 1 },
    ],
    wrong: [
      [projection, /1 and 2 hold 0\.30 of/],
      [{ ...projection, positions: 64 }, /directions of its own/],
      [{ ...projection, base: 1e6 }, /directions of its own/],
      [{ ...projection, positions: 8, horizontal: 3, vertical: 4 }, /3 and 4 hold 0\.0/],
      [{ ...projection, positions: 8, horizontal: 2, vertical: 2 }, /2 and 2/],
      [{ ...projection, dim: 4 }, /64/],
    ],
  },
  origin: {
    right: [
      { law: "10000^-t", dim: 512 },
      { law: "10000^-t", dim: 1024 },
    ],
    wrong: [
      [{ law: "10000^-t", dim: 32 }, /more terms/],
      [{ law: "10000^-t", dim: 64 }, /64 dimensions .* more terms/],
      [{ law: "1000^-t", dim: 1024 }, /first law/],
    ],
  },
  // 3 is four behind 7.
  turning: {
    right: [rotate, { ...rotate, m: 31, n: 27 }, { ...rotate, dim: 16, base: 500, m: 25, n: 21 }],
    wrong: [
      [{ ...rotate, m: 7, n: 3 }, /at 7; it should be at 20/],
      [{ ...rotate, n: 24 }, /4 ahead/],
      [{ ...rotate, n: 15 }, /5 behind/],
      [{ ...rotate, n: 20 }, /at the query itself/],
      [{ ...rotate, scheme: "xpos" }, /RoPE/],
    ],
  },
  // The slope of head h of 8 is 2^-h; eight tokens cost 8 / 2^h.
  pairs: {
    right: [bias],
    wrong: [
      [{ ...bias, head: 1 }, /costs 4: too much/],
      [{ ...bias, head: 4 }, /costs 0\.5: too little/],
      [{ ...bias, head: 8 }, /0\.03125/],
      [{ ...bias, heads: 16, head: 6 }, /16 heads/],
      [{ ...bias, scheme: "kerple" }, /ALiBi/],
    ],
  },
};

describe("the questions", () => {
  it("have answers here, all of them", () => {
    expect(questions.map(({ name }) => name).sort()).toEqual(Object.keys(answers).sort());
  });

  it.each(questions.map((question) => [question.name, question] as const))("%s", (name, { holds, text }) => {
    expect(text.length).toBeGreaterThan(20);
    const { right, wrong } = answers[name]!;
    for (const value of right) {
      const verdict = holds(value, api, write);
      expect(verdict.right, `${JSON.stringify(value)}: ${verdict.words}`).toBe(true);
      expect(verdict.words).toMatch(/\.$/);
    }
    for (const [value, words] of wrong) {
      const verdict = holds(value, api, write);
      expect(verdict.right, JSON.stringify(value)).toBe(false);
      expect(verdict.words).toMatch(words);
    }
  });
});
