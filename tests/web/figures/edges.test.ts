// Nothing is cut by the edge of a drawing: frames, discs and upright words of every figure, with the cursor in the
// corners and the last head chosen.
import { beforeAll, describe, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { stateOf, type Values } from "../../../web/figures/figure.js";
import { figures } from "../../../web/figures/index.js";
import { figureState } from "../../../web/figures/render.js";
import { RecordingBackEnd } from "../../../web/figures/recording.js";
import { Surface, type Box, type Paint, type Run, type TextStyle } from "../../../web/figures/surface.js";
import { makeTheme } from "../../../web/figures/theme.js";

beforeAll(() => ready());

class EdgeBackEnd extends RecordingBackEnd {
  readonly cut: string[] = [];
  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    super();
  }

  // Half of a line may be: that of what is as wide as the drawing.
  #inside(x: number, y: number, right: number, foot: number): void {
    const room = 1;
    if (x < -room || y < -room || right > this.width + room || foot > this.height + room) {
      this.cut.push(this.operations[this.operations.length - 1] ?? "");
    }
  }

  override rect(box: Box, paint: Paint): void {
    super.rect(box, paint);
    // Lines of paper are not missed.
    if (!paint.stroke || paint.stroke === "paper") return;
    const half = (paint.width ?? 1) / 2;
    this.#inside(box.x - half, box.y - half, box.x + box.width + half, box.y + box.height + half);
  }

  override disc(x: number, y: number, radius: number, paint: Paint): void {
    super.disc(x, y, radius, paint);
    if (paint.fill === "paper") return;
    this.#inside(x - radius, y - radius, x + radius, y + radius);
  }

  override text(x: number, y: number, words: string | readonly Run[], style: TextStyle): void {
    super.text(x, y, words, style);
    const half = 0.46 * (style.size ?? 12);
    if (style.turn === -90) this.#inside(x - half, y, x + half, y);
  }
}

const cutBy = (name: string, asked: Values, widths: readonly number[]): string[] => {
  const figure = figures.find((each) => each.name === name)!;
  const { values, model, ...at } = figureState(name, asked);
  const { row, column } = figure.cells?.({ values, model, ...at }) ?? {};
  const [last, end] = [(row?.count ?? 1) - 1, (column?.count ?? 1) - 1];
  return widths.flatMap((width) =>
    [{ row: 0, column: 0 }, { row: last, column: end }, { row: 0, column: end }].flatMap((cell) => {
      const state = stateOf(figure, values, model, cell);
      const height = figure.height(state, width);
      const back = new EdgeBackEnd(width, height);
      figure.draw(new Surface(back, makeTheme(false), width, height), state);
      return back.cut.map((line) => `${JSON.stringify(asked).slice(0, 80)} ${width} pixels: ${line}`);
    }),
  );
};

describe.each(figures)("posenc-$name", (figure) => {
  it("is cut nowhere", () => {
    const first = figureState(figure.name);
    const tabs = figure.tabs?.(first.values, first.model);
    const head = "head" in first.values && "heads" in first.values ? { head: Number(first.values.heads) } : {};
    for (const { value } of tabs?.choices ?? [{ value: "" }]) {
      const asked = { ...(tabs && { [tabs.name]: value }), ...head };
      expect(cutBy(figure.name, asked, [296, 640, 764, 880, 1050])).toEqual([]);
    }
  });
});

const many = Array.from({ length: 400 }, (_, t) => `w${t}`).join(" ");

it.each([
  ["many heads", { heads: 32, head: 32 }],
  ["two schemes", { compare: "rope", head: 8 }],
  ["a long text under two schemes", { sentence: many, compare: "rope", heads: 2, head: 2 }],
])("posenc-attention is cut nowhere with %s", (_, asked) => {
  expect(cutBy("attention", asked as Values, [296, 640, 764, 880, 1000, 1050, 1100])).toEqual([]);
});
