// Words as a book sets them: by the one function for what others wrote, and in all that figures say themselves.
import { beforeAll, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { figures } from "../../../web/figures/index.js";
import { figureState } from "../../../web/figures/render.js";
import { lawWords, typeset } from "../../../web/figures/typeset.js";
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
