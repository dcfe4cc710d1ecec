// What is written about the elements is what they are: docs/figures.md and the types of their tag names.
import { describe, expect, it } from "vitest";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { attributeName } from "../../../web/figures/figure.js";
import { figures } from "../../../web/figures/index.js";
import { figureFiles } from "../../../web/figures/later.js";
import { paletteNames } from "../../../web/figures/theme.js";
import type { PosencElements } from "../../../web/src/elements.js";

const root = join(import.meta.dirname, "../../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const guide = read("docs/figures.md");
const between = (name: string): string => {
  const block = guide.split(`<!-- ${name}:begin -->`)[1]?.split(`<!-- ${name}:end -->`)[0];
  if (block === undefined) throw new Error(`docs/figures.md has no block ${name}`);
  return block;
};

describe("docs/figures.md", () => {
  const named = figures.map((figure) => [figure.name, figure] as const);
  it.each(named)("has the attributes of posenc-%s", (name, figure) => {
    const sections = between("attributes").split("### ");
    const section = sections.find((part) => part.startsWith(`\`<posenc-${name}>\``)) ?? "";
    const rows = section.split("\n").filter((line) => line.startsWith("| `"));
    const expected = Object.entries(figure.attributes).map(([key, text]) => `| \`${attributeName(key)}\` | ${text} |`);
    expect(rows).toEqual(expected);
  });

  it("has no element that there is not", () => {
    const told = [...between("attributes").matchAll(/### `<posenc-(.*)>`/g)].map((match) => match[1]);
    expect(told).toEqual(figures.map((figure) => figure.name));
  });

  it("names every part and every custom property, and no other", () => {
    const files = ["element", "controls", "file-control", "lens", "background"];
    const source = files.map((name) => read(`web/figures/${name}.ts`)).join("");
    const parts = new Set([...source.matchAll(/\bpart: "([a-z]+)"/g)].map((match) => match[1]!));
    const told = [...between("parts").matchAll(/`([a-z]+)`/g)].map((match) => match[1]!);
    expect(parts.size).toBeGreaterThan(15);
    expect([...told].sort()).toEqual([...parts].sort());
    const properties = new Set([...guide.matchAll(/`--posenc-([a-z]+)`/g)].map((match) => match[1]));
    expect(properties).toEqual(new Set(["font", "size", ...paletteNames]));
  });
});

it("each figure has a file of its own, which brings it", async () => {
  expect(Object.keys(figureFiles)).toEqual(figures.map((figure) => figure.name));
  for (const figure of figures) expect(await figureFiles[figure.name as keyof typeof figureFiles]()).toBe(figure);
});

describe("types", () => {
  it("know each element by its tag name, with a property for each attribute", () => {
    const source = read("web/figures/element-types.ts");
    const typed = [...source.matchAll(/"posenc-([a-z]+)": ElementOf<([^>]*)>/g)].map(([, name, names]) => [
      name,
      [...names!.matchAll(/"(\w+)"/g)].map((match) => match[1]),
    ]);
    expect(typed).toEqual(figures.map((figure) => [figure.name, Object.keys(figure.attributes)]));
  });

  it("reach the DOM's own functions", () => {
    // For the compiler, which checks tests too: a type that were missing would be an error here.
    const asked = (page: Document): PosencElements["posenc-embed"] => {
      const figure = page.createElement("posenc-embed");
      figure.dim = 8;
      figure.value = { positions: 3 };
      void figure.drawn.then(() => figure.toSvg());
      // @ts-expect-error -- no attribute of it
      figure.clip = 3;
      return page.querySelector("posenc-embed") ?? figure;
    };
    expect(asked).toBeTypeOf("function");
  });
});
