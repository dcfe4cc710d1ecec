// A closer look at drawings of more cells than a screen has room for: which of them are seen. The reader turns the
// wheel with Ctrl, spreads two fingers, presses plus and minus or the buttons, drags, or moves the cursor beyond the
// edge.
import { make } from "./controls.js";
import type { Cells, CursorAxis } from "./figure.js";
import { book } from "./format.js";
import type { Cell, Part } from "./surface.js";

// Drawings with more cells along an axis than this can be seen closer; the closest look shows so many.
const roomy = 256;
const fewest = 12;
// Pixels a pointer moves before it drags.
const slack = 4;

/** A place on the page, as events of pointers have it. */
export interface Point {
  clientX: number;
  clientY: number;
}

/** What the lens asks of the figure it belongs to. */
export interface Seen {
  /** The element that is drawn on. */
  drawing: HTMLElement;
  cellUnder: (at: Point) => Cell | undefined;
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
  readonly #closer: HTMLButtonElement;
  readonly #wider: readonly HTMLButtonElement[];
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
    this.#closer = button("closer", "See fewer cells, larger, about the cursor (key +)", () => this.#zoom(2));
    this.#wider = [
      button("wider", "See more cells (key \u2212)", () => this.#zoom(0.5)),
      button("whole", "See all cells (key 0)", () => this.#zoom(0)),
    ];
    this.root = make("div", { class: "lens", hidden: true }, { part: "lens", role: "group", "aria-label": "zoom" }, [
      this.#closer,
      ...this.#wider,
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
    // They keep the keyboard's focus where there is nothing left for them to do.
    const offer = (one: HTMLButtonElement, use: boolean): void => {
      one.ariaDisabled = String(!use);
      one.style.opacity = use ? "" : "0.5";
    };
    offer(this.#closer, this.#level < this.#most);
    for (const one of this.#wider) offer(one, this.#level > 1);
    const [rows, columns] = [this.#bring(this.#rows), this.#bring(this.#columns)];
    const whole = `${book(count(row))}\u00a0\u00d7\u00a0${book(count(column))} cells`;
    const seen = `${book(rows)}\u00a0\u00d7\u00a0${book(columns)} of`;
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
    this.#show(factor === 0 ? 1 : this.#level * factor, at, at);
  }

  // Brings a cell to the place where another one is.
  #show(level: number, at: Cell, to: Cell): void {
    this.#level = Math.max(1, Math.min(this.#most, level));
    for (const [axis, cell, there] of [
      [this.#rows, at.row, to.row],
      [this.#columns, at.column, to.column],
    ] as const) {
      const { first, count } = axis.drawn;
      const middle = cell === undefined ? first + count / 2 : cell + 0.5;
      const place = ((there === undefined ? middle : there + 0.5) - first) / count;
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
    // Fingers on the drawing; what two of them began with.
    const fingers = new Map<number, Point>();
    let pinch: { span: number; level: number; cell: Cell } | undefined;
    const spread = (): { span: number; middle: Point } => {
      const [a, b] = [...fingers.values()] as [Point, Point];
      const middle = { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 };
      const [dx, dy] = [a.clientX - b.clientX, a.clientY - b.clientY];
      return { span: Math.sqrt(dx * dx + dy * dy), middle };
    };
    // Two fingers are the figure's where it can be seen closer, else the page's.
    for (const type of ["touchstart", "touchmove"] as const) {
      const keep = (event: TouchEvent): void => {
        if (this.open && event.touches.length > 1 && event.cancelable) event.preventDefault();
      };
      drawing.addEventListener(type, keep, { passive: false });
    }
    listen("pointerdown", (event) => {
      if (this.open && event.pointerType === "touch") {
        fingers.set(event.pointerId, event);
        if (fingers.size === 2) {
          const { span, middle } = spread();
          pinch = { span: Math.max(1, span), level: this.#level, cell: cellUnder(middle) ?? this.#seen.cursor() };
          held = undefined;
          dragged = true;
        }
        if (fingers.size > 1) return;
      }
      const cell = this.#level > 1 && event.button === 0 && event.isPrimary ? cellUnder(event) : undefined;
      held = cell && { x: event.clientX, y: event.clientY, cell };
      dragged = false;
    });
    listen("pointermove", (event) => {
      if (fingers.has(event.pointerId)) fingers.set(event.pointerId, event);
      if (pinch && fingers.size === 2) {
        event.stopImmediatePropagation();
        const { span, middle } = spread();
        this.#show((pinch.level * span) / pinch.span, pinch.cell, cellUnder(middle) ?? pinch.cell);
        return;
      }
      // The finger that is left of two reads nothing.
      if (pinch) event.stopImmediatePropagation();
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
    const drop = (event: PointerEvent): void => {
      fingers.delete(event.pointerId);
      if (fingers.size === 0) pinch = undefined;
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
