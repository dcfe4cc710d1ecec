// Words as a book sets them: by the one function for what others wrote, and in all that figures say themselves.
import { beforeAll, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { figures } from "../../../web/figures/index.js";
import { paragraph } from "../../../web/figures/marks.js";
import { figureNamed, figureState } from "../../../web/figures/render.js";
import { estimateWidth } from "../../../web/figures/surface.js";
import { lawWords, typeset } from "../../../web/figures/typeset.js";
import { kStates } from "../../browser/states.mjs";
import { record, textsOf } from "./drawn.js";

beforeAll(() => ready());

it("turns the keyboard's signs into a book's", () => {
  expect(typeset("Hugging Face's format, transformers' masks")).toBe(
    "Hugging Face\u2019s format, transformers\u2019 masks",
  );
  expect(typeset("made for -1 to 1, from -(length - 1)")).toBe("made for \u22121 to 1, from \u2212(length \u2212 1)");
  expect(typeset("Representations, eq. 3-5")).toBe("Representations, eq. 3\u20135");
  for (const kept of ["ChatGLM2-6B-32k", "GPT-2", "2-D, log-n", '"dynamic"', "1e-6"]) expect(typeset(kept)).toBe(kept);
  expect(["non_positive", "identity_at_zero", "bounded"].map(lawWords)).toEqual([
    "non-positive",
    "identity at zero",
    "bounded",
  ]);
});

it("leaves no word alone on a paragraph's last line", () => {
  const measure = { textWidth: estimateWidth };
  for (const figure of figures) {
    const { values, model } = figureState(figure.name);
    const tabs = figure.tabs?.(values, model);
    for (const { value } of tabs?.choices ?? [{ value: "" }]) {
      const caption = figure.caption(figureState(figure.name, tabs ? { [tabs.name]: value } : {}));
      for (let width = 240; width <= 560; width += 20) {
        const lines = paragraph(measure, caption, width);
        expect(lines.join(" ")).toBe(caption);
        for (const line of lines) expect(estimateWidth(line, { size: 12 }), line).toBeLessThanOrEqual(width);
        if (lines.length > 1) expect(lines.at(-1), `${figure.name}, ${width}: ${lines.at(-2)}`).toContain(" ");
      }
    }
  }
  // What cannot be helped: the word before would not fit beside it, or would be alone itself.
  expect(paragraph(measure, "a whole internationalization misunderstandings", 170).length).toBe(2);
  expect(paragraph(measure, "internationalization misunderstandings", 130)).toHaveLength(2);
  // Drawn paragraphs are such, too.
  const cross = figureState("attention", { context: "Le chat dort", scheme: "sinusoidal" });
  const drawn = textsOf(record(figureNamed("attention"), cross, 300)).map(({ words }) => words);
  expect(drawn.filter((words) => /^be 0\.\d+\.$/.test(words))).toHaveLength(1);
});

it("breaks no line between a number and what it belongs to", () => {
  for (const figure of figures) {
    const { values, model } = figureState(figure.name);
    const tabs = figure.tabs?.(values, model);
    const views = tabs?.choices.map(({ value }) => ({ [tabs.name]: value })) ?? [{}];
    for (const attributes of [...views, ...(kStates[figure.name] ?? [])]) {
      const state = figureState(figure.name, attributes);
      // Lists in brackets, ranges of signed numbers, counts of what has just been named, and formulas.
      for (const words of [figure.title(state), figure.caption(state)])
        expect(words).not.toMatch(/\[\d+, |\u2212\d+ (and|to) \d|\d of them|\b\w [+\u2212=] \w/);
    }
  }
});

it.each(figures)("has no typewriter's apostrophe in $name", (figure) => {
  const { name } = figure;
  const state = figureState(name, {});
  const tabs = figure.tabs?.(state.values, state.model);
  for (const view of tabs?.choices ?? [{ value: undefined }]) {
    const shown = figureState(name, view.value === undefined ? {} : { [tabs!.name]: view.value });
    const said = [figure.title(shown), figure.caption(shown), figure.summary(shown)];
    const labels = figure.fields(shown.values).map(({ label }) => label);
    const drawn = textsOf(record(figure, shown)).map(({ words }) => words);
    for (const words of [...said, ...labels, ...drawn]) expect(words).not.toMatch(/[A-Za-z]'/);
  }
});
