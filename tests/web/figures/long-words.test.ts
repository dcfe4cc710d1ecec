// Words that no column is wide enough for: cut so that they stay on the page, bold under the cursor too.
import { describe, expect, it } from "vitest";
import { drawPage, pageHeight } from "../../../web/figures/page.js";
import { RasterBackEnd } from "../../../web/figures/raster.js";
import { figureNamed, figureState } from "../../../web/figures/render.js";
import { Surface, type BackEnd, type Run, type TextStyle } from "../../../web/figures/surface.js";
import { makeTheme } from "../../../web/figures/theme.js";

const theme = makeTheme(false);
const letters = new RasterBackEnd(theme, 1, 1, 1);

// Every lying line of text of a page, measured by the letters of the PNG back end, that is not within its width.
function overhangs(name: string, attributes: Record<string, unknown>, width: number): { lines: number; out: string[] } {
  const figure = figureNamed(name);
  const state = figureState(name, attributes);
  const out: string[] = [];
  let lines = 0;
  const none = (): void => {};
  const back: BackEnd = {
    rect: none,
    path: none,
    disc: none,
    heatMap: none,
    region: none,
    textWidth: (text, style) => letters.textWidth(text, style),
    text: (x: number, _: number, text: string | readonly Run[], style: TextStyle) => {
      if (style.turn !== undefined) return;
      lines++;
      const runs: readonly Run[] = typeof text === "string" ? [{ text }] : text;
      const wide = runs.reduce((sum, run) => sum + letters.textWidth(run.text, { ...style, ...run }), 0);
      const left = style.align === "end" ? x - wide : style.align === "middle" ? x - wide / 2 : x;
      if (left < -0.5 || left + wide > width + 0.5) out.push(runs.map((run) => run.text).join(""));
    },
  };
  const height = pageHeight(figure, state, theme, width, letters);
  drawPage(new Surface(back, theme, width, height), figure, state);
  return { lines, out };
}

describe.each(["addition", "attention"])("posenc-%s", (name) => {
  it.each([
    `a ${"x".repeat(300)}`,
    "Donaudampfschifffahrtselektrizit\u00e4tenhauptbetriebswerkbauunterbeamtengesellschaft f\u00e4hrt",
    "a Donaudampfschifffahrtselektrizit\u00e4tenhauptbetriebswerk b",
    "WWWWWWWWWWWWWWWWWWWW b",
  ])("keeps %s on the page", (sentence) => {
    for (const width of [320, 480, 560, 640, 760, 860, 1040]) {
      for (const at of [0, 1]) {
        const attributes = name === "addition" ? { sentence, position: at } : { sentence, query: at, key: 0 };
        const { lines, out } = overhangs(name, attributes, width);
        expect(lines).toBeGreaterThan(8);
        expect(out, `${width} pixels, cursor ${at}`).toEqual([]);
      }
    }
  });
});
