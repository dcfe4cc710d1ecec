// A catalogue of twenty schemes: every scheme is in attention's list.
import { beforeAll, expect, it, vi } from "vitest";

const catalogue = vi.hoisted(() => ({ outlines: [] as readonly Outline[] }));

vi.mock("../../../web/src/outline.js", async (original) => ({
  ...(await original<typeof import("../../../web/src/outline.js")>()),
  outlineOf: (slot: string, name: string) => entryOf(catalogue.outlines, slot, name),
}));

vi.mock("../../../web/src/core.js", async (original) => {
  const real = await original<typeof import("../../../web/src/core.js")>();
  const alibi = real.outlines.find((scheme) => scheme.name === "alibi")!;
  const more = Array.from({ length: 20 }, (_, i) => ({ ...alibi, name: `alibi${i}`, title: `Bias number ${i}` }));
  catalogue.outlines = [...real.outlines, ...more];
  return {
    ...real,
    outlines: catalogue.outlines,
    fromJSON: (spec: Parameters<typeof real.fromJSON>[0]) =>
      real.fromJSON({ ...spec, name: spec.name.replace(/^alibi\d+$/, "alibi") }),
  };
});

import { outlines, ready } from "../../../web/src/core.js";
import { entryOf } from "../../../web/src/outline.js";
import type { Outline } from "../../../web/src/scheme.js";
import { attention } from "../../../web/figures/attention.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";

beforeAll(() => ready());

it("offers every scheme in a list", () => {
  const field = attention.fields({}).find(({ name }) => name === "scheme")!;
  const values = field.kind === "choice" ? field.choices.map(({ value }) => value) : [];
  // Fourier features have no width of their own, so they cannot be added to words.
  expect(values).toEqual(["none", ...outlines.map(({ name }) => name).filter((name) => name !== "fourier")]);
  expect(attention.title(figureState("attention", { scheme: "alibi17" }))).toContain("bias number 17");
  expect(renderSVG("attention", { scheme: "alibi3" })).toContain("Bias number 3");
});
