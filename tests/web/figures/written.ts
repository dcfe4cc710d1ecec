// A drawing as text that a person can read and compare: what recording.ts leaves out of long paths and of heat maps is
// sampled, and operations of one kind and paint share a line.
import { entryOf } from "../../../web/figures/colour.js";
import type { Figure, State } from "../../../web/figures/figure.js";
import { readingText } from "../../../web/figures/page.js";
import {
  estimateWidth,
  Surface,
  type BackEnd,
  type Box,
  type HeatMap,
  type Locate,
  type Paint,
  type Run,
  type TextStyle,
} from "../../../web/figures/surface.js";
import { makeTheme } from "../../../web/figures/theme.js";

const lineLength = 110;
const mostSamples = 12;

const tenth = (value: number): string => String(Math.round(value * 10) / 10 + 0);
const at = (x: number, y: number): string => `${tenth(x)},${tenth(y)}`;
const inBox = ({ x, y, width, height }: Box): string => `${at(x, y)} ${tenth(width)}x${tenth(height)}`;

function painted(paint: Paint): string {
  return Object.entries(paint)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${Array.isArray(value) ? value.join("/") : String(value)}`)
    .join("");
}

// At most `most` indices below `total`, evenly, the first and the last among them.
function sampled(total: number, most: number): number[] {
  const step = Math.max(1, (total - 1) / Math.max(1, most - 1));
  return Array.from({ length: Math.min(total, most) }, (_, k) => Math.round(k * step));
}

class WritingBackEnd implements BackEnd {
  readonly lines: string[] = [];
  private open: { head: string; items: string[] } | undefined;

  rect(box: Box, paint: Paint): void {
    this.add(`rect${painted(paint)}`, inBox(box));
  }

  path(points: ArrayLike<number>, paint: Paint): void {
    const total = points.length / 2;
    const some = sampled(total, mostSamples).map((k) => at(points[2 * k] as number, points[2 * k + 1] as number));
    this.add(`path${painted(paint)}`, `${total > mostSamples ? `${total} points ` : ""}${some.join(" ")}`);
  }

  disc(x: number, y: number, radius: number, paint: Paint): void {
    this.add(`disc${painted(paint)}`, `${at(x, y)} r ${tenth(radius)}`);
  }

  text(x: number, y: number, text: string | readonly Run[], style: TextStyle): void {
    const runs = typeof text === "string" ? [{ text }] : text;
    const words = runs.map((run) => JSON.stringify(run.text) + ("ink" in run && run.ink ? ` ${run.ink}` : ""));
    const { ink = "grey", align = "start", size = 12, bold = false, base, turn } = style;
    const head = ["text", ink, align, size];
    if (bold) head.push("bold");
    if (base === "line") head.push("on the line");
    if (turn !== undefined) head.push(`turn=${turn}`);
    this.add(head.join(" "), `${at(x, y)} ${words.join(" ")}`);
  }

  heatMap(box: Box, { values, rows, columns, scale }: HeatMap): void {
    const ends = scale.kind === "signed" ? `\u00b1${scale.extent.toPrecision(6)}` : `${scale.min} to ${scale.max}`;
    if (rows * columns === 1) {
      this.add(`cell ${scale.kind} ${ends}`, `${inBox(box)} ${entryOf(scale, values[0] as number)}`);
      return;
    }
    // Entries of the colour table, of rows and columns spread over the map.
    const columnsShown = sampled(columns, 10);
    for (const r of sampled(rows, 6)) {
      const entries = columnsShown.map((c) => entryOf(scale, values[r * columns + c] as number));
      this.add(`heat map ${inBox(box)}, ${rows} x ${columns} ${scale.kind} ${ends}`, `row ${r}: ${entries.join(" ")}`);
    }
  }

  region(box: Box, locate: Locate): void {
    const corners = [locate(0, 0), locate(0.999, 0.999)].map((cell) => JSON.stringify(cell).replaceAll('"', ""));
    this.add("region", `${inBox(box)} ${corners.join(" to ")}`);
  }

  textWidth(text: string, style: TextStyle): number {
    return estimateWidth(text, style);
  }

  end(): readonly string[] {
    const { head, items } = this.open ?? { head: "", items: [] };
    if (items.length > 0) {
      this.lines.push(head);
      let line = "";
      for (const item of items) {
        if (line !== "" && line.length + item.length + 5 > lineLength) {
          this.lines.push(`  ${line}`);
          line = "";
        }
        line += line === "" ? item : ` | ${item}`;
      }
      this.lines.push(`  ${line}`);
    }
    this.open = undefined;
    return this.lines;
  }

  private add(head: string, item: string): void {
    if (this.open?.head !== head) {
      this.end();
      this.open = { head, items: [] };
    }
    this.open?.items.push(item);
  }
}

/** The words of a figure and every operation of its drawing at a width, as lines. */
export function written(figure: Figure, state: State<unknown>, width: number): string {
  const back = new WritingBackEnd();
  const height = figure.height(state, width);
  figure.draw(new Surface(back, makeTheme(false), width, height), state);
  return [
    `== ${state.view === "" ? "" : `${state.view}, `}${tenth(width)} x ${tenth(height)}`,
    `title: ${figure.title(state)}`,
    `caption: ${figure.caption(state)}`,
    `read-out: ${figure.readout(state).map(readingText).join(" | ")}`,
    `summary: ${figure.summary(state)}`,
    ...back.end(),
    "",
  ].join("\n");
}
