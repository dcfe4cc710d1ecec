// What is drawn on the cells of a heat map can be told from any of them, and what is counted is labelled in whole
// numbers: every figure in every view, as it comes and with few positions.
import { beforeAll, describe, expect, it } from "vitest";
import { PosencError, ready } from "../../../web/src/index.js";
import { figures } from "../../../web/figures/index.js";
import { figureState } from "../../../web/figures/render.js";
import { Surface, type Box, type HeatMap, type Paint, type Run, type TextStyle } from "../../../web/figures/surface.js";
import { RecordingBackEnd } from "../../../web/figures/recording.js";
import { makeTheme } from "../../../web/figures/theme.js";

beforeAll(() => ready());

// Hears which lines lie on cells, and whether lines of paper lie beside them.
class LayeredBackEnd extends RecordingBackEnd {
  readonly bare: string[] = [];
  /** Numbers with decimals that stand in the middle of their places, but for those of a lying legend. */
  readonly parts: string[] = [];
  readonly #legends: Box[] = [];
  readonly #maps: Box[] = [];
  readonly #paper: Box[] = [];

  // Cells that stand apart have paper between them.
  override heatMap(box: Box, map: HeatMap): void {
    if (map.rows * map.columns > 1) this.#maps.push(box);
    if (map.rows === 1 && box.height < 8) this.#legends.push(box);
  }

  #line(box: Box, paint: Paint): void {
    const { stroke, fill } = paint;
    if (stroke === "paper") this.#paper.push(box);
    if (!stroke || fill || ["paper", "faint"].includes(stroke)) return;
    const near = (a: number, b: number): boolean => Math.abs(a - b) <= 2;
    const beside = this.#paper.some(
      ({ x, y, width, height }) =>
        near(x, box.x) && near(y, box.y) && near(x + width, box.x + box.width) && near(y + height, box.y + box.height),
    );
    if (!beside) this.bare.push(this.operations[this.operations.length - 1] ?? "");
  }

  override rect(box: Box, paint: Paint): void {
    super.rect(box, paint);
    const [right, foot] = [box.x + box.width, box.y + box.height];
    const crosses = this.#maps.some((map) => {
      const across = (y: number): boolean => y > map.y + 1 && y < map.y + map.height - 1;
      const along = (x: number): boolean => x > map.x + 1 && x < map.x + map.width - 1;
      const wide = Math.min(right, map.x + map.width) - Math.max(box.x, map.x);
      const tall = Math.min(foot, map.y + map.height) - Math.max(box.y, map.y);
      return wide > 1 && tall > 1 && ([box.y, foot].some(across) || [box.x, right].some(along));
    });
    if (crosses) this.#line(box, paint);
  }

  override text(x: number, y: number, words: string | readonly Run[], style: TextStyle): void {
    if (style.align !== "middle" || typeof words !== "string" || !/^[\u2212+]?\d+\.\d+$/.test(words)) return;
    if (!this.#legends.some((box) => y > box.y && y < box.y + 20)) this.parts.push(words);
  }

  override path(points: ArrayLike<number>, paint: Paint): void {
    super.path(points, paint);
    const of = (first: number): number[] =>
      Array.from(points).filter((at, i) => i % 2 === first && Number.isFinite(at));
    const [xs, ys] = [of(0), of(1)];
    const [x, y] = [Math.min(...xs), Math.min(...ys)];
    const box = { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
    const inside = this.#maps.some(
      (map) =>
        x >= map.x - 1 &&
        y >= map.y - 1 &&
        x + box.width <= map.x + map.width + 1 &&
        y + box.height <= map.y + map.height + 1,
    );
    if (inside) this.#line(box, paint);
  }
}

const few = [{}, { positions: 2 }, { tokens: 3 }, { dim: 2 }];

function* drawnBy(figure: (typeof figures)[number], only?: string): Generator<[string, LayeredBackEnd]> {
  const first = figureState(figure.name);
  const tabs = figure.tabs?.(first.values, first.model);
  for (const view of tabs?.choices.map(({ value }) => value) ?? [undefined]) {
    if (only !== undefined && view !== only) continue;
    for (const some of few.filter((of) => Object.keys(of).every((name) => name in first.values))) {
      const asked = { ...(tabs && { [tabs.name]: view }), ...some };
      let state: ReturnType<typeof figureState>;
      try {
        state = figureState(figure.name, asked);
      } catch (error) {
        // Some schemes want more.
        if (some !== few[0] && error instanceof PosencError) continue;
        throw error;
      }
      for (const width of [296, 880]) {
        const back = new LayeredBackEnd();
        const surface = new Surface(back, makeTheme(false), width, figure.height(state, width));
        figure.draw(surface, state);
        yield [`${JSON.stringify(asked)}, ${width} pixels`, back];
      }
    }
  }
}

describe.each(figures)("posenc-$name", (figure) => {
  it("draws its cursor on lines of paper", () => {
    for (const [said, { bare }] of drawnBy(figure)) expect(bare, said).toEqual([]);
  });
});

// Views with an axis of positions or offsets at their foot.
const counted =
  "embed waves, rotate layouts, bias profiles, shift pair, similarity, expansion parts, extrapolation schemes, " +
  "extrapolation rules, decay short";

it.each(counted.split(", "))("%s labels no part of one", (at) => {
  const [name, view] = at.split(" ");
  const figure = figures.find((each) => each.name === name)!;
  for (const [said, { parts }] of drawnBy(figure, view)) expect(parts, said).toEqual([]);
});
