// A closer look at drawings of more cells than a screen has room for: which of them are seen. The reader turns the
// wheel with Ctrl, presses plus and minus or the buttons, drags, or moves the cursor beyond the edge.
import { make } from "./controls.js";
import type { Cells, CursorAxis } from "./figure.js";
import { book } from "./format.js";
import type { Cell, Part } from "./surface.js";

// Drawings with more cells along an axis than this can be seen closer; the closest look shows so many.
const roomy = 256;
const fewest = 12;
// Pixels a pointer moves before it drags.
const slack = 4;

/** What the lens asks of the figure it belongs to. */
export interface Seen {
  /** The element that is drawn on. */
  drawing: HTMLElement;
  cellUnder: (event: MouseEvent) => Cell | undefined;
  cursor: () => Cell;
  /** Another part is to be drawn. */
  changed: () => void;
}

interface Axis {
  total: number;
  first: number;
  /** As it was drawn last, which is what a pointer points at. */
  drawn: { first: number; count: number };
}

function axis(): Axis {
  return { total: 1, first: 0, drawn: { first: 0, count: 1 } };
}

export class Lens {
  /** Buttons, and how much is seen; hidden where there is no need. */
  readonly root: HTMLElement;
  readonly #told = make("span");
  #level = 1;
  readonly #rows = axis();
  readonly #columns = axis();
  readonly #seen: Seen;

  constructor(seen: Seen) {
    this.#seen = seen;
    const button = (textContent: string, title: string, press: () => void): HTMLButtonElement => {
      const made = make("button", { type: "button", textContent }, { title, part: "action" });
      made.addEventListener("click", press);
      return made;
    };
    this.root = make("div", { class: "lens", hidden: true }, { part: "lens", role: "group", "aria-label": "zoom" }, [
      button("closer", "See fewer cells, larger, about the cursor (key +)", () => this.#zoom(2)),
      button("wider", "See more cells (key \u2212)", () => this.#zoom(0.5)),
      button("whole", "See all cells (key 0)", () => this.#zoom(0)),
      this.#told,
    ]);
    this.#listen();
  }

  /** True where the drawing has a lens. */
  get open(): boolean {
    return !this.root.hidden;
  }

  /** The part that is seen of a drawing with these cells; undefined for all of them. */
  part({ row, column, zoom = false }: Cells): Part | undefined {
    const count = (axis: CursorAxis | undefined): number => axis?.count ?? 1;
    [this.#rows.total, this.#columns.total] = [count(row), count(column)];
    const fits = zoom && this.#most > 1;
    this.root.hidden = !fits;
    this.#level = fits ? Math.min(this.#level, this.#most) : 1;
    this.#seen.drawing.classList.toggle("closer", this.#level > 1);
    const [rows, columns] = [this.#bring(this.#rows), this.#bring(this.#columns)];
    const whole = `${book(count(row))} \u00d7\u00a0${book(count(column))} cells`;
    const seen = `${book(rows)} \u00d7\u00a0${book(columns)} of`;
    this.#told.textContent = `${this.#level === 1 ? "all" : seen} ${whole}`;
    if (this.#level === 1) return undefined;
    return { row: this.#rows.first, rows, column: this.#columns.first, columns };
  }

  /** Moves so that a cell is seen. */
  follow(cell: Cell): void {
    for (const [axis, at] of [
      [this.#rows, cell.row],
      [this.#columns, cell.column],
    ] as const) {
      if (at === undefined) continue;
      axis.first = Math.max(at - this.#countOf(axis) + 1, Math.min(at, axis.first));
    }
  }

  get #most(): number {
    const longest = Math.max(this.#rows.total, this.#columns.total);
    return longest > roomy ? longest / fewest : 1;
  }

  #countOf({ total }: Axis): number {
    return Math.max(Math.min(total, fewest), Math.round(total / this.#level));
  }

  // Brings the first cell within bounds; gives how many are seen.
  #bring(axis: Axis): number {
    const count = this.#countOf(axis);
    axis.first = Math.max(0, Math.min(axis.total - count, Math.round(axis.first)));
    axis.drawn = { first: axis.first, count };
    return count;
  }

  // A cell keeps its place while what is round it grows or shrinks; a factor of 0 shows all.
  #zoom(factor: number, at: Cell = this.#seen.cursor()): void {
    this.#level = factor === 0 ? 1 : Math.max(1, Math.min(this.#most, this.#level * factor));
    for (const [axis, cell] of [
      [this.#rows, at.row],
      [this.#columns, at.column],
    ] as const) {
      const { first, count } = axis.drawn;
      const middle = cell === undefined ? first + count / 2 : cell + 0.5;
      const place = (middle - first) / count;
      // What is out of sight comes to the middle.
      axis.first = middle - (place >= 0 && place <= 1 ? place : 0.5) * this.#countOf(axis);
    }
    this.#seen.changed();
  }

  #listen(): void {
    const { drawing, cellUnder, changed } = this.#seen;
    drawing.addEventListener(
      "wheel",
      (event) => {
        // Without Ctrl (which a pinch on a touchpad sends) the wheel is the page's.
        if (!this.open || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        const lines = event.deltaMode === 0 ? 1 : 16;
        this.#zoom(2 ** (-Math.max(-200, Math.min(200, event.deltaY * lines)) / 160), cellUnder(event));
      },
      { passive: false, capture: true },
    );
    // Before the figure hears them, which reads what this leaves.
    const listen = <K extends keyof HTMLElementEventMap>(
      type: K,
      hear: (event: HTMLElementEventMap[K]) => void,
    ): void => drawing.addEventListener(type, hear, { capture: true });
    listen("keydown", (event) => {
      const factor = { "+": 2, "=": 2, "-": 0.5, "0": 0 }[event.key];
      if (!this.open || factor === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.#zoom(factor);
    });
    let held: { x: number; y: number; cell: Cell } | undefined;
    let dragged = false;
    listen("pointerdown", (event) => {
      const cell = this.#level > 1 && event.button === 0 && event.isPrimary ? cellUnder(event) : undefined;
      held = cell && { x: event.clientX, y: event.clientY, cell };
      dragged = false;
    });
    listen("pointermove", (event) => {
      if (!held) return;
      const far = Math.abs(event.clientX - held.x) + Math.abs(event.clientY - held.y);
      if (!dragged && far <= slack) return;
      if (!dragged) drawing.setPointerCapture(event.pointerId);
      dragged = true;
      // The cursor stays while the drawing moves under it.
      event.stopImmediatePropagation();
      const under = cellUnder(event);
      const shift = (axis: Axis, from: number | undefined, to: number | undefined): void => {
        if (from !== undefined && to !== undefined) axis.first = axis.drawn.first + from - to;
      };
      shift(this.#rows, held.cell.row, under?.row);
      shift(this.#columns, held.cell.column, under?.column);
      changed();
    });
    const drop = (event: Event): void => {
      held = undefined;
      if (dragged) event.stopImmediatePropagation();
    };
    listen("pointerup", drop);
    listen("pointercancel", drop);
    listen("click", (event) => {
      if (dragged) event.stopImmediatePropagation();
      dragged = false;
    });
  }
}
