// What all charts are held to, on a narrow screen as on a wide one, wherever the cursor is.
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ready } from "../../../web/src/index.js";
import { drawChart } from "../../../web/figures/chart.js";
import { stateOf } from "../../../web/figures/figure.js";
import { figures } from "../../../web/figures/index.js";
import { figureState } from "../../../web/figures/render.js";
import { spectrum } from "../../../web/figures/spectrum.js";
import { record, textsOf } from "./drawn.js";

vi.mock("../../../web/figures/chart.js", { spy: true });
beforeAll(() => ready());
beforeEach(() => void vi.mocked(drawChart).mockClear());

const places = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1];

it.each(figures)("leaves the axis two numbers beside the cursor's name: $name", (figure) => {
  const first = figureState(figure.name);
  const tabs = figure.tabs?.(first.values, first.model);
  for (const { value } of tabs?.choices ?? [{ value: "" }]) {
    const open = figureState(figure.name, tabs ? { [tabs.name]: value } : {});
    const cells = figure.cells?.(open) ?? {};
    for (const share of [undefined, ...places]) {
      const at = (way: "row" | "column"): { row?: number; column?: number } =>
        share === undefined || !cells[way] ? {} : { [way]: Math.round(share * (cells[way].count - 1)) };
      const state = stateOf(figure, open.values, open.model, { ...at("row"), ...at("column") });
      vi.mocked(drawChart).mockClear();
      const texts = textsOf(record(figure, state, 300));
      vi.mocked(drawChart).mock.settledResults.forEach(({ value: charted }, k) => {
        const { box, x, cursor } = vi.mocked(drawChart).mock.calls[k]![1];
        const line = charted.plot.y + charted.plot.height + 15;
        const numbers = texts
          .filter((text) => Math.abs(text.y - line) < 0.1 && text.x >= box.x - 1 && text.x <= box.x + box.width + 1)
          .filter(({ words }) => words !== cursor?.name && words !== x.label && words !== "");
        expect(numbers.length, `${value} ${cursor?.name}`).toBeGreaterThanOrEqual(2);
      });
    }
  }
});

describe("the words at the line of the context", () => {
  const numbersOf = (operation: string): number[] => (operation.match(/-?[\d.]+/g) ?? []).map(Number);

  it.each([264, 300, 764])("lie on no pair, whichever cross it, %d pixels wide", (width) => {
    const rule = { "scaling-type": "linear", "scaling-factor": 32 };
    for (const attributes of [{ dim: 8 }, { dim: 64 }, { dim: 256 }, { dim: 64, ...rule }]) {
      for (const context of [1, 8, 64, 200, 1000, 4096, 10_000, 30_000, 100_000, 2 ** 20]) {
        const { operations } = record(spectrum, figureState("spectrum", { ...attributes, context }), width);
        const plates = operations.filter((line) => /^rect .*alpha=0.85/.test(line)).map(numbersOf);
        expect(plates.length).toBeGreaterThan(0);
        const pairs = operations.filter((line) => line.startsWith("disc")).map(numbersOf);
        const covered = pairs.filter(([x, y]) =>
          plates.some(([left, top, wide, high]) => x! > left! && x! < left! + wide! && y! > top! && y! < top! + high!),
        );
        expect(covered, JSON.stringify({ ...attributes, context })).toEqual([]);
      }
    }
  });
});
