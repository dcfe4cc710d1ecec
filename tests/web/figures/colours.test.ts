// Nobody needs colours to read a figure: forced colours, print and many eyes have others, or none. No text names one,
// and what a drawing tells apart differs in its mark or stands beside its name.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { config } from "../../../web/figures/config.js";
import { extrapolation } from "../../../web/figures/extrapolation.js";
import { allFields, completeValues } from "../../../web/figures/figure.js";
import { grid } from "../../../web/figures/grid.js";
import { figures } from "../../../web/figures/index.js";
import { figureState } from "../../../web/figures/render.js";
import { rotate } from "../../../web/figures/rotate.js";
import { record, textsOf } from "./drawn.js";

beforeAll(() => ready());

const named =
  /\b(red|orange|yellow|green|blue|cyan|violet|purple|pink|brown|black|white|gr[ae]y|viridis|(?:re|un)?colou?r\w*)\b/i;

describe("no text names a colour", () => {
  it.each(figures.map((figure) => [figure.name, figure] as const))("of posenc-%s", (name, figure) => {
    const tabs = figure.tabs?.({}, undefined);
    const views = tabs ? tabs.choices.map(({ value }) => ({ [tabs.name]: value })) : [{}];
    for (const view of views as Record<string, string>[]) {
      const state = figureState(name, view);
      const drawn = [764, 300].flatMap((width) => textsOf(record(figure, state, width)).map(({ words }) => words));
      const told = [figure.title(state), figure.caption(state), figure.summary(state), ...figure.table(state).header];
      const read = figure.readout(state).flatMap(({ label, value, unit = "" }) => [label, value, unit]);
      const fields = allFields(figure, completeValues(figure, (key) => view[key])).flatMap((field) => [
        ...[field.label, field.sentence ?? ""],
        ...(field.kind === "choice" ? field.choices.map(({ label }) => label) : []),
      ]);
      const all = [...drawn, ...told, ...read, ...fields, ...Object.values(figure.attributes)];
      expect(all.filter((words) => named.test(words))).toEqual([]);
    }
  });

  // Those said only at some values too. Roles of ink are single words; style sheets are no text.
  it("in any sentence of the sources", () => {
    const folder = join(import.meta.dirname, "../../../web/figures");
    const found: string[] = [];
    let sentences = 0;
    for (const file of readdirSync(folder).filter((each) => !["style.ts", "stand-alone.ts"].includes(each))) {
      const source = ts.createSourceFile(file, readFileSync(join(folder, file), "utf8"), ts.ScriptTarget.Latest);
      const visit = (node: ts.Node): void => {
        if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
          if (/\S\s+\S/.test(node.text)) sentences++;
          if (/\s/.test(node.text) && named.test(node.text)) found.push(`${file}: ${node.text}`);
        }
        ts.forEachChild(node, visit);
      };
      visit(source);
    }
    expect(sentences).toBeGreaterThan(500);
    // What matchMedia is asked.
    expect(found.filter((words) => !/\((?:prefers-color-scheme: dark|forced-colors: active)\)/.test(words))).toEqual([]);
  });
});

describe("marks differ", () => {
  it("of phases met in training and of those met for the first time", () => {
    const state = figureState("extrapolation", { view: "phases", trained: 101, factor: 4, dim: 8 });
    const arcs = record(extrapolation, state).operations.filter((op) => /^path .*stroke=(cool|accent)/.test(op));
    const widths = (ink: string): Set<string> =>
      new Set(arcs.filter((op) => op.includes(`stroke=${ink}`)).map((op) => /width=([\d.]+)/.exec(op)![1]!));
    expect([widths("cool").size, widths("accent").size]).toEqual([1, 1]);
    expect(Number([...widths("accent")][0])).toBeGreaterThanOrEqual(2 * Number([...widths("cool")][0]));
    expect(extrapolation.caption(state)).toMatch(/thin arc .* training, the thick one .* first time/);
  });

  it("of scores under a rule and before it", () => {
    const state = figureState("extrapolation", { view: "rules", rule: 1 });
    const back = record(extrapolation, state);
    expect(textsOf(back).map(({ words }) => words)).toContain("score by distance, linear scaling; dashed, as it was");
    const dashed = back.operations.filter((op) => op.startsWith("path") && op.includes("dash="));
    expect(dashed.length).toBe(1);
    expect(dashed[0]).toContain("stroke=grey");
  });

  it("of pairs kept, ramped and scaled, and before their names", () => {
    const back = record(config, figureState("config"));
    const marks = (pattern: RegExp): number => back.operations.filter((op) => pattern.test(op)).length;
    // Dots of the pairs, one larger under the cursor, one in the legend.
    const { band } = (figureState("config").model as { turnings: { band: readonly string[] }[] }).turnings[0]!;
    const of = (name: string): number => band.filter((own) => own === name).length;
    expect(of("kept") + of("ramped") + of("scaled")).toBe(64);
    expect(marks(/^disc .*fill=paper.*stroke=accent/)).toBe(of("ramped") + 2);
    expect(marks(/^disc .*fill=ink/)).toBe(of("kept") + 1);
    expect(marks(/^rect .*fill=cool/)).toBe(of("scaled") + 1);
  });

  it("of the three axes of a sequence, and beside their names", () => {
    const back = record(grid, figureState("grid", { scheme: "mrope", view: "sequence" }));
    const lines = back.operations.filter((op) => /^path .*stroke=(ink|accent|cool)/.test(op));
    const marks = lines.map((op) => /width=[\d.]+|dash=\S+/g[Symbol.match](op)!.join(" "));
    // Drawn from the last to the first, named from the first to the last.
    expect(new Set(marks).size).toBe(3);
    expect(marks.slice(0, 3).reverse()).toEqual(marks.slice(3));
    expect(marks.filter((mark) => mark.includes("dash"))).toHaveLength(2);
  });

  it("of the query's hands and the key's", () => {
    const back = record(rotate, figureState("rotate"));
    const tips = back.operations.filter((op) => op.startsWith("disc") && /(fill|stroke)=(accent|cool)/.test(op));
    const solid = tips.filter((op) => !op.includes("alpha"));
    // Four pairs and the legend.
    expect(solid.filter((op) => op.includes("fill=accent"))).toHaveLength(5);
    expect(solid.filter((op) => /fill=paper.*stroke=cool|stroke=cool.*fill=paper/.test(op))).toHaveLength(5);
  });
});
