// The largest sizes: a figure is there within about a second, or says in a sentence where its limit is.
import { beforeAll, describe, expect, it } from "vitest";
import { fourier, learned, randomNormal, ready, sinusoidal } from "../../../web/src/index.js";
import { embed } from "../../../web/figures/embed.js";
import { expansion } from "../../../web/figures/expansion.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { spectrum } from "../../../web/figures/spectrum.js";
import { record } from "./drawn.js";

beforeAll(() => ready());

// Long beside what they take, and short beside what an unbounded or quadratic figure would.
const patience = 20_000;

describe("posenc-spectrum", () => {
  const discs = (dim: number, attributes: Record<string, unknown> = {}, width = 764): number[][] => {
    const { operations } = record(spectrum, figureState("spectrum", { dim, ...attributes }), width);
    return operations.flatMap((operation) => {
      const match = /^disc ([-\d.]+),([-\d.]+)/.exec(operation);
      return match ? [[Number(match[1]), Number(match[2])]] : [];
    });
  };

  it("draws the widest scheme, with a rule and without, in time", () => {
    for (const scaling of [{}, { "scaling-type": "yarn", "scaling-factor": 4 }]) {
      expect(renderSVG("spectrum", { dim: 65536, ...scaling }).length).toBeLessThan(1_000_000);
    }
    expect(renderSVG("spectrum", { dim: 65536, view: "number" }).length).toBeLessThan(1_000_000);
  }, patience);

  it.each([300, 764])("has a few pairs a pixel at most, the cursor's among them, %d pixels wide", (width) => {
    const pair = 10_001;
    const many = discs(65536, { pair }, width);
    expect(many.length).toBeLessThan(3 * width);
    expect(many.length).toBeGreaterThan(width);
    // As far apart as pixels, so that no gap is seen, and in their order.
    for (let k = 1; k < many.length; k++) {
      const step = many[k]![0]! - many[k - 1]![0]!;
      expect(step).toBeGreaterThanOrEqual(0);
      expect(step).toBeLessThan(1.01);
    }
    // The cursor's own disc stands where it stands without the thinning, at its share of the axis.
    const [left, right] = [many[0]![0]!, many[many.length - 1]![0]!];
    const wish = left + ((right - left) * pair) / 32767;
    expect(many.some(([x]) => Math.abs(x! - wish) < 0.2)).toBe(true);
  }, patience);

  it("leaves none out while there is room for all", () => {
    expect(discs(64)).toHaveLength(32);
    expect(discs(1024)).toHaveLength(512);
  });
});

describe("posenc-embed", () => {
  it.each([
    [{ scheme: "learned", positions: 8192, dim: 8192 }, /^positions times dim .* 16.777.216, got 8192 × 8192\.$/],
    [{ positions: 8192, dim: 2050 }, /^positions times dim must be at most 16.777.216/],
    [{ scheme: "sinusoidal2d", cells: "64 128", dim: 4096 }, /got 8192 × 4096/],
    [{ scheme: "learned", positions: 8, dim: 8192, start: 1e6 }, /got 1.000.008 × 8192, for its table begins/],
    [{ scheme: "learned", length: 1e6, positions: 8, dim: 64 }, /got 1.000.000 × 64/],
  ])("%o says its limit at once", (attributes, sentence) => {
    expect(() => figureState("embed", attributes)).toThrow(sentence);
  }, patience);

  it("bounds schemes that are handed over by their own width", () => {
    expect(() => figureState("embed", { positions: 8192, dim: 64 }, sinusoidal({ dim: 4096 }))).toThrow(/8192 × 4096/);
    const { data } = randomNormal([40, 6]);
    const table = learned({ table: { data, shape: [40, 6] } as never });
    const state = figureState("embed", { positions: 40, dim: 65536 }, table);
    expect(embed.array!(state).shape).toEqual([40, 6]);
    expect(embed.array!(figureState("embed", { positions: 2 }, fourier({}))).shape[0]).toBe(2);
  });

  it("draws as many as it says", () => {
    for (const scheme of ["sinusoidal", "learned"]) {
      expect(renderSVG("embed", { scheme, positions: 2048, dim: 8192 })).toContain("<svg");
      expect(renderSVG("embed", { scheme, positions: 8192, dim: 2048 })).toContain("<svg");
    }
  }, 2 * patience);
});

describe("posenc-expansion", () => {
  it.each([
    [{ view: "terms", positions: 256, dim: 256 }, /^positions times dim .* 8192 in the terms view, got 256/],
    [{ view: "terms", positions: 33, dim: 256 }, /8192/],
    [{ dim: 1026 }, /^dim must be a whole number up to 1024/],
  ])("%o says its limit at once", (attributes, sentence) => {
    expect(() => figureState("expansion", attributes)).toThrow(sentence);
  });

  it("draws as many as it says", () => {
    for (const [positions, dim] of [[256, 32], [32, 256]]) {
      expect(expansion.array!(figureState("expansion", { view: "terms", positions, dim })).shape).toEqual([81, 6]);
    }
    expect(expansion.array!(figureState("expansion", { positions: 256, dim: 1024, h: "general" })).shape[1]).toBe(256);
  }, patience);
});
