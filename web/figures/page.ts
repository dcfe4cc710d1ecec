// A figure on paper: rule, title, drawing, read-out and caption on one surface, for pictures that leave the page.
import { cutWord } from "./cut-word.js";
import type { Figure, Reading, State } from "./figure.js";
import { brokenLines, paragraph } from "./marks.js";
import { estimateWidth, Surface, type BackEnd, type Run } from "./surface.js";
import { SvgBackEnd } from "./svg.js";
import type { Theme } from "./theme.js";

/** Pixels of paper round a page. */
export const pageMargin = 20;
const firstTitleHeight = 44;
const titleLine = 16;
const readoutHeight = 34;
const captionLine = 17;
const captionWidth = 560;

/** "position 37", "wavelength 149.0 tokens". */
export function readingText(reading: Reading): string {
  return [reading.label, reading.value, reading.unit].filter((part) => part !== undefined && part !== "").join(" ");
}

function titleLines(surface: Surface, figure: Figure, state: State<unknown>): string[] {
  return brokenLines(surface, figure.title(state), surface.width * 0.9, 14).slice(0, 2);
}

function titleSpace(surface: Surface, figure: Figure, state: State<unknown>): number {
  return firstTitleHeight + titleLine * (titleLines(surface, figure, state).length - 1);
}

function captionLines(surface: Surface, figure: Figure, state: State<unknown>): string[] {
  return paragraph(surface, figure.caption(state), Math.min(0.94 * surface.width, captionWidth));
}

/** Height of the whole page at a width, with the lines that `letters` make. */
export function pageHeight(
  figure: Figure,
  state: State<unknown>,
  theme: Theme,
  width: number,
  letters: Pick<BackEnd, "textWidth"> = { textWidth: estimateWidth },
): number {
  // Nothing is drawn on it.
  const measuring = new Surface(letters as BackEnd, theme, width, 0);
  const rows = readoutRows(measuring, figure.readout(state)).length;
  const lines = captionLines(measuring, figure, state).length;
  const space = titleSpace(measuring, figure, state) + figure.height(state, width) + readoutHeight;
  return space + 18 * rows + captionLine * lines;
}

/** Draws the whole page; the surface is as high as pageHeight() says. */
export function drawPage(surface: Surface, figure: Figure, state: State<unknown>): void {
  const { width } = surface;
  surface.rect(0, 0, width, 1, { fill: "ink" });
  titleLines(surface, figure, state).forEach((line, k) => {
    surface.text(0, 18 + titleLine * k, line, { ink: "ink", bold: true, size: 13.5 });
  });
  const titleHeight = titleSpace(surface, figure, state);
  const height = figure.height(state, width);
  figure.draw(surface.inset(0, titleHeight, width, height), state);
  let y = titleHeight + height + 10;
  surface.rect(0, y, width, 1, { fill: "faint" });
  y += 16;
  for (const row of readoutRows(surface, figure.readout(state))) {
    surface.text(0, y, row, { size: 12 });
    y += 18;
  }
  y += 4;
  for (const line of captionLines(surface, figure, state)) {
    surface.text(0, y, line, { size: 12 });
    y += captionLine;
  }
}

// The read-out as lines of runs, as many as it needs.
function readoutRows(surface: Surface, readings: readonly Reading[]): Run[][] {
  const rows: Run[][] = [[]];
  let x = 0;
  const widthOf = (text: string): number => surface.textWidth(text, { size: 12, bold: true });
  for (const { label: whole, value, unit } of readings) {
    const rest = ` ${value} ${unit ?? ""}`;
    // Words of the reader's may make a label longer than any line.
    const fits = widthOf(whole + rest) <= surface.width;
    const label = fits ? whole : cutWord(surface, whole, surface.width - widthOf(rest), 12);
    const wide = widthOf(label + rest) + 18;
    if (x > 0 && x + wide > surface.width) {
      rows.push([]);
      x = 0;
    }
    x += wide;
    const row = rows[rows.length - 1] as Run[];
    row.push({ text: `${row.length > 0 ? "\u2003\u2002" : ""}${label} ` });
    row.push({ text: value, bold: true, ink: "ink" }, { text: unit === undefined ? "" : ` ${unit}` });
  }
  return rows;
}

/** The whole page as SVG. */
export function pageSvg(figure: Figure, state: State<unknown>, theme: Theme, width: number): string {
  const backEnd = new SvgBackEnd(theme);
  const height = pageHeight(figure, state, theme, width);
  drawPage(new Surface(backEnd, theme, width, height, pageMargin, pageMargin), figure, state);
  const [wide, high] = [width + 2 * pageMargin, height + 2 * pageMargin];
  return backEnd.document(wide, high, figure.title(state), figure.summary(state));
}
