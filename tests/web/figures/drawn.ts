// What tests of figures read: a drawing as recorded, its texts, and the numbers a figure's own program gives.
import * as posenc from "../../../web/src/index.js";
import type { Figure, State } from "../../../web/figures/figure.js";
import { RecordingBackEnd } from "../../../web/figures/recording.js";
import { Surface } from "../../../web/figures/surface.js";
import { makeTheme } from "../../../web/figures/theme.js";

export function record(figure: Figure, state: State<unknown>, width = 764): RecordingBackEnd {
  const back = new RecordingBackEnd();
  figure.draw(new Surface(back, makeTheme(false), width, figure.height(state, width)), state);
  return back;
}

export interface DrawnText {
  x: number;
  y: number;
  words: string;
  /** Ink, alignment and what else. */
  how: string;
}

export function textsOf(back: RecordingBackEnd): DrawnText[] {
  return back.operations.flatMap((operation) => {
    const match = /^text ([-\d.]+),([-\d.]+) (".*") (.*)$/.exec(operation);
    if (!match) return [];
    return [{ x: Number(match[1]), y: Number(match[2]), words: JSON.parse(match[3]!) as string, how: match[4]! }];
  });
}

/** Texts whose boxes, as wide as a common face makes them, lie on one another. */
export function overlaps(back: RecordingBackEnd): string[] {
  const boxes = textsOf(back)
    .filter(({ how }) => !how.includes("turn"))
    .map(({ x, y, words, how }) => {
      const wide = 0.92 * back.textWidth(words, { size: 11 });
      const left = how.includes("middle") ? x - wide / 2 : how.includes("end") ? x - wide : x;
      return { words, left, right: left + wide, y };
    });
  return boxes.flatMap((a, i) =>
    boxes
      .slice(i + 1)
      .filter((b) => a.left < b.right && b.left < a.right && Math.abs(a.y - b.y) < 10)
      .map((b) => `${a.words} / ${b.words}`),
  );
}

/** What `work` refuses: the PosencError that it throws. */
export function refusedBy(work: () => unknown): posenc.PosencError {
  try {
    work();
  } catch (error) {
    if (error instanceof posenc.PosencError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** Runs the JavaScript that a figure offers and gives the value it names. */
export function runCode(program: string, name: string): posenc.Tensor {
  const body = program.replace(/import \{ (.*) \} from "posenc";/, "const { $1 } = posenc;");
  return new Function("posenc", `${body}\nreturn ${name};`)(posenc) as posenc.Tensor;
}
