// What the playground says of figures that cannot draw a scheme: every one of them, and every reason once.
import { beforeAll, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { allFields, completeValues } from "../../../web/figures/figure.js";
import { figures } from "../../../web/figures/index.js";
import { figureState } from "../../../web/figures/render.js";
import { refusedSentences } from "../../../web/site/refused.js";

beforeAll(() => ready());

it("says nothing where nothing is refused", () => {
  expect(refusedSentences([])).toEqual([]);
});

it("names each figure once with its reason, as one sentence", () => {
  const odd = "rope: dim must be even, got 7";
  const even = "dim must be divisible by 4.";
  const all = [["posenc-a", odd], ["posenc-b", even], ["posenc-c", odd], ["posenc-a", odd]] as const;
  expect(refusedSentences(all)).toEqual([`Not drawn by posenc-a and posenc-c: ${odd}.`, "Not drawn by posenc-b: dim must be divisible by 4."]);
  expect(refusedSentences([["posenc-a", "Did you mean \u201crope\u201d?"]])).toEqual([
    "Not drawn by posenc-a: Did you mean \u201crope\u201d?",
  ]);
  const three = ["a", "b", "c"].map((name) => [name, "No."] as const);
  expect(refusedSentences(three)).toEqual(["Not drawn by a, b and c: No."]);
});

it("tells every figure that cannot draw RoPE of an odd width", () => {
  const offered = figures.filter((figure) => {
    const fields = allFields(figure, completeValues(figure, () => undefined));
    const scheme = fields.find(({ name }) => name === "scheme");
    return scheme?.kind === "choice" && scheme.choices.some(({ value }) => value === "rope");
  });
  const refused: [string, string][] = [];
  for (const { name } of offered) {
    try {
      figureState(name, { scheme: "rope", dim: 7 });
    } catch (error) {
      refused.push([`posenc-${name}`, (error as Error).message]);
    }
  }
  expect(refused.length).toBeGreaterThan(2);
  const words = refusedSentences(refused).join(" ");
  for (const [name, refusal] of refused) {
    expect(words).toContain(name);
    expect(words).toContain(refusal);
  }
});
