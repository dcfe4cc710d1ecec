// Every figure in every view draws what drawings/<name>.txt says it draws: the numbers have the same bits everywhere, so
// the drawing has the same lines. POSENC_UPDATE_DRAWINGS=1 writes the files anew; the difference is to be read.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { figures } from "../../../web/figures/index.js";
import { figureState } from "../../../web/figures/render.js";
import { kStates } from "../../browser/states.mjs";
import { written } from "./written.js";

const folder = join(import.meta.dirname, "drawings");
const update = process.env.POSENC_UPDATE_DRAWINGS === "1";

beforeAll(() => ready());

describe("drawings", () => {
  it.each(figures.map((figure) => [figure.name, figure] as const))("of posenc-%s", (name, figure) => {
    const { values, model } = figureState(name);
    const tabs = figure.tabs?.(values, model);
    const views = tabs?.choices.map(({ value }) => ({ [tabs.name]: value })) ?? [{}];
    const text = views
      .flatMap((view) => [760, 320].map((width) => written(figure, figureState(name, view), width)))
      .join("\n");
    const file = join(folder, `${name}.txt`);
    if (update) writeFileSync(file, text);
    expect(existsSync(file), `${file}: write it with POSENC_UPDATE_DRAWINGS=1`).toBe(true);
    expect(text).toBe(readFileSync(file, "utf8"));
  });

  it.each(figures)("of posenc-$name have no number in a line and what it is multiplied by or out of in the next", (figure) => {
    const { values, model } = figureState(figure.name);
    const tabs = figure.tabs?.(values, model);
    const views = tabs?.choices.map(({ value }) => ({ [tabs.name]: value })) ?? [{}];
    for (const attributes of [...views, ...(kStates[figure.name] ?? [])]) {
      // None is a space to break at, but for one between words: 96 positions \u00d7 64 dimensions.
      expect(figure.title(figureState(figure.name, attributes))).not.toMatch(/\d[ \u2009](\u00d7|of \d)|\u00d7[ \u2009]/);
    }
  });

  it("are of figures that there are", () => {
    const files = readdirSync(folder).map((file) => file.replace(/\.txt$/, ""));
    expect(files.sort()).toEqual(figures.map(({ name }) => name).sort());
  });
});
