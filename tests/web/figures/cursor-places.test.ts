// Wherever the cursor stands, the names that go with it lie on no other label, no upright line goes through words, and
// no plate of paper under words hides a dot: every figure, narrow and wide, in every view, with the cursor brought to
// places all over.
import { beforeAll, describe, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { stateOf } from "../../../web/figures/figure.js";
import { figures } from "../../../web/figures/index.js";
import { figureState } from "../../../web/figures/render.js";
import {
  estimateWidth,
  Surface,
  type BackEnd,
  type Box,
  type Paint,
  type Run,
  type TextStyle,
} from "../../../web/figures/surface.js";
import { makeTheme } from "../../../web/figures/theme.js";

beforeAll(() => ready());

interface Words {
  text: string;
  left: number;
  right: number;
  y: number;
  size: number;
  plate: Box | undefined;
}

interface Upright {
  x: number;
  top: number;
  foot: number;
  paint: string;
}

const covers = (box: Box, x: number, y: number): boolean =>
  x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;

// Hears of words, and of what lies under and over them.
class ListeningBackEnd implements BackEnd {
  readonly all: Words[] = [];
  readonly faults: string[] = [];
  #lines: Upright[] = [];
  #discs: { x: number; y: number }[] = [];
  #plates: Box[] = [];
  rect(box: Box, paint: Paint): void {
    if (paint.fill === "paper") {
      this.#plates.push(box);
      for (const { x, y } of this.#discs) {
        if (covers(box, x, y)) this.faults.push(`a plate hides the dot at ${Math.round(x)}, ${Math.round(y)}`);
      }
      const hidden = ({ x, top, foot }: Upright): boolean => covers(box, x, top) && covers(box, x, foot);
      this.#lines = this.#lines.filter((line) => !hidden(line));
    }
    if (paint.stroke === undefined || paint.stroke === "paper") return;
    for (const x of [box.x, box.x + box.width]) this.#upright(x, box.y, box.y + box.height, paint);
  }
  path(points: ArrayLike<number>, paint: Paint): void {
    if (paint.stroke === undefined || paint.stroke === "paper") return;
    for (let i = 0; i + 3 < points.length; i += 2) {
      const [x, y, u, v] = [points[i]!, points[i + 1]!, points[i + 2]!, points[i + 3]!];
      if (Math.abs(u - x) < 0.01) this.#upright(x, Math.min(y, v), Math.max(y, v), paint);
    }
  }
  disc(x: number, y: number, radius: number): void {
    // Smaller ones are points among many, as of a cloud.
    if (radius >= 3) this.#discs.push({ x, y });
  }
  heatMap(): void {}
  #upright(x: number, top: number, foot: number, paint: Paint): void {
    if (foot - top > 16) this.#lines.push({ x, top, foot, paint: JSON.stringify(paint) });
  }
  // Lines through words, but for those under a plate that the words stand on.
  crossed(): string[] {
    return this.all.flatMap(({ text, left, right, y, plate }) =>
      this.#lines
        .filter(({ x, top, foot }) => x > left + 1 && x < right - 1 && top < y + 3 && foot > y - 3)
        .filter(({ x }) => !plate || !covers(plate, x, y))
        .map(({ x, paint }) => `a line at ${Math.round(x)} through \u201c${text}\u201d, ${paint}`),
    );
  }
  region(): void {}
  textWidth(text: string, style: TextStyle): number {
    return estimateWidth(text, style);
  }
  text(x: number, y: number, given: string | readonly Run[], style: TextStyle): void {
    if (style.turn) return;
    const text = typeof given === "string" ? given : given.map((run) => run.text).join("");
    const wide = estimateWidth(text, style);
    const left = style.align === "end" ? x - wide : style.align === "middle" ? x - wide / 2 : x;
    const plate = this.#plates.find((box) => covers(box, left, y) && covers(box, left + wide, y));
    this.all.push({ text, left, right: left + wide, y, size: style.size ?? 12, plate });
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
          for (const fault of [...overlapsOf(back.all), ...back.faults, ...back.crossed()]) {
            found.add(`${JSON.stringify(view)}, ${width} pixels, ${JSON.stringify(cell)}: ${fault}`);
          }
        }
      }
    }
    expect([...found]).toEqual([]);
  });
});
