// Wherever the cursor stands, the names that go with it lie on no other label: every figure, narrow and wide, in every
// view, with the cursor brought to places all over.
import { beforeAll, describe, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { stateOf } from "../../../web/figures/figure.js";
import { figures } from "../../../web/figures/index.js";
import { figureState } from "../../../web/figures/render.js";
import { estimateWidth, Surface, type BackEnd, type Run, type TextStyle } from "../../../web/figures/surface.js";
import { makeTheme } from "../../../web/figures/theme.js";

beforeAll(() => ready());

interface Words {
  text: string;
  left: number;
  right: number;
  y: number;
  size: number;
}

// Hears of nothing but words.
class ListeningBackEnd implements BackEnd {
  readonly all: Words[] = [];
  rect(): void {}
  path(): void {}
  disc(): void {}
  heatMap(): void {}
  region(): void {}
  textWidth(text: string, style: TextStyle): number {
    return estimateWidth(text, style);
  }
  text(x: number, y: number, given: string | readonly Run[], style: TextStyle): void {
    if (style.turn) return;
    const text = typeof given === "string" ? given : given.map((run) => run.text).join("");
    const wide = estimateWidth(text, style);
    const left = style.align === "end" ? x - wide : style.align === "middle" ? x - wide / 2 : x;
    this.all.push({ text, left, right: left + wide, y, size: style.size ?? 12 });
  }
}

function overlapsOf(all: readonly Words[]): string[] {
  return all.flatMap((a, i) =>
    all
      .slice(i + 1)
      .filter((b) => a.text.trim() && b.text.trim() && a.left < b.right + 3 && b.left < a.right + 3)
      // Small letters are about half as tall as their size, capitals and digits three quarters.
      .filter((b) => Math.abs(a.y - b.y) < 0.35 * (a.size + b.size))
      .map((b) => `\u201c${a.text}\u201d at ${Math.round(a.left)} on \u201c${b.text}\u201d at ${Math.round(b.left)}`),
  );
}

// At most `most` of the indices below `count`, the ends among them, in steps that no tick has.
function places(count: number, most: number): number[] {
  const step = Math.max(1, (count - 1) / (most - 1));
  return [...new Set(Array.from({ length: Math.min(count, most) }, (_, k) => Math.round(k * step)))];
}

describe("wherever the cursor stands", () => {
  it.each(figures)("posenc-$name lays no label on another", (figure) => {
    const { name } = figure;
    const theme = makeTheme(false);
    const first = figureState(name);
    const tabs = figure.tabs?.(first.values, first.model);
    const views = tabs?.choices.map(({ value }) => ({ [tabs.name]: value })) ?? [{}];
    const found = new Set<string>();
    for (const view of views) {
      const { values, model, ...start } = figureState(name, view);
      const { row, column } = figure.cells?.({ values, model, ...start }) ?? {};
      const at = [
        ...places(column?.count ?? 1, 25).map((c) => ({ row: start.row, column: c })),
        ...places(row?.count ?? 1, 7).map((r) => ({ row: r, column: start.column })),
      ];
      for (const width of [296, 880]) {
        for (const cell of at) {
          const state = stateOf(figure, values, model, cell);
          const back = new ListeningBackEnd();
          figure.draw(new Surface(back, theme, width, figure.height(state, width)), state);
          for (const fault of overlapsOf(back.all)) {
            found.add(`${JSON.stringify(view)}, ${width} pixels, ${JSON.stringify(cell)}: ${fault}`);
          }
        }
      }
    }
    expect([...found]).toEqual([]);
  });
});
