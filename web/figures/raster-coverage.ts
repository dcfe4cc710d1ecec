// Which share of each pixel a shape covers: sixteen lines a row of pixels, exact along each line, by the nonzero
// winding rule. Sums and products in a fixed order only, so every engine finds the same bits.

const linesPerRow = 16;

/** Receives one row: coverage of the pixels from `left` to before `right`, indexed by pixel. */
export type Shade = (row: number, left: number, right: number, coverage: Float64Array) => void;

/** Collects the edges of closed contours, in pixels, and scans them over a picture of width x height. */
export class Coverage {
  private top = new Float64Array(256);
  private left = new Float64Array(256);
  private slope = new Float64Array(256);
  private first = new Int32Array(256);
  private end = new Int32Array(256);
  private sign = new Int8Array(256);
  private count = 0;
  private readonly partial: Float64Array;
  private readonly steps: Float64Array;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.partial = new Float64Array(width + 2);
    this.steps = new Float64Array(width + 2);
  }

  /** A closed contour through x0, y0, x1, y1, …; the last point is joined to the first. */
  contour(points: ArrayLike<number>): void {
    const n = points.length;
    if (n < 6) return;
    let x = points[n - 2] as number;
    let y = points[n - 1] as number;
    for (let i = 0; i < n; i += 2) {
      const nextX = points[i] as number;
      const nextY = points[i + 1] as number;
      this.edge(x, y, nextX, nextY);
      x = nextX;
      y = nextY;
    }
  }

  private edge(x0: number, y0: number, x1: number, y1: number): void {
    if (y0 === y1) return;
    const down = y0 < y1;
    const top = (down ? y0 : y1) * linesPerRow;
    const bottom = (down ? y1 : y0) * linesPerRow;
    // Lines lie at k + 1/2; those outside of the picture are never looked at.
    const first = Math.max(0, Math.ceil(top - 0.5));
    const end = Math.min(this.height * linesPerRow, Math.ceil(bottom - 0.5));
    if (!(first < end)) return;
    if (this.count === this.top.length) this.grow();
    const at = this.count++;
    this.top[at] = top;
    this.left[at] = down ? x0 : x1;
    this.slope[at] = (down ? x1 - x0 : x0 - x1) / (bottom - top);
    this.first[at] = first;
    this.end[at] = end;
    this.sign[at] = down ? 1 : -1;
  }

  private grow(): void {
    const longer = <T extends Float64Array | Int32Array | Int8Array>(old: T, fresh: T): T => {
      fresh.set(old);
      return fresh;
    };
    const size = 2 * this.top.length;
    this.top = longer(this.top, new Float64Array(size));
    this.left = longer(this.left, new Float64Array(size));
    this.slope = longer(this.slope, new Float64Array(size));
    this.first = longer(this.first, new Int32Array(size));
    this.end = longer(this.end, new Int32Array(size));
    this.sign = longer(this.sign, new Int8Array(size));
  }

  /** Hands every row that the contours touch to `shade` and forgets the contours. */
  fill(shade: Shade): void {
    const { first, end, top, left, slope, sign, count } = this;
    this.count = 0;
    const order = new Int32Array(count);
    for (let i = 0; i < count; i++) order[i] = i;
    order.sort((a, b) => (first[a] as number) - (first[b] as number) || a - b);
    const active = new Int32Array(count);
    const x = new Float64Array(count);
    let busy = 0;
    let next = 0;
    let line = count > 0 ? (first[order[0] as number] as number) : 0;
    while (busy > 0 || next < count) {
      if (busy === 0) line = Math.max(line, first[order[next] as number] as number);
      const row = Math.floor(line / linesPerRow);
      this.begin();
      for (const last = (row + 1) * linesPerRow; line < last; line++) {
        let kept = 0;
        for (let i = 0; i < busy; i++) {
          const edge = active[i] as number;
          if ((end[edge] as number) > line) active[kept++] = edge;
        }
        busy = kept;
        while (next < count && (first[order[next] as number] as number) <= line) {
          active[busy++] = order[next++] as number;
        }
        // Nearly sorted from the line before.
        for (let i = 0; i < busy; i++) {
          const edge = active[i] as number;
          const place = (left[edge] as number) + (line + 0.5 - (top[edge] as number)) * (slope[edge] as number);
          let k = i;
          for (; k > 0 && (x[k - 1] as number) > place; k--) {
            x[k] = x[k - 1] as number;
            active[k] = active[k - 1] as number;
          }
          x[k] = place;
          active[k] = edge;
        }
        for (let i = 0, winding = 0, from = 0; i < busy; i++) {
          if (winding === 0) from = x[i] as number;
          winding += sign[active[i] as number] as number;
          if (winding === 0) this.span(from, x[i] as number);
        }
      }
      this.hand(row, shade);
    }
  }

  private low = 0;
  private high = 0;

  private begin(): void {
    this.low = this.width;
    this.high = 0;
  }

  // Adds one line's stretch from a to b.
  private span(a: number, b: number): void {
    const from = Math.max(0, a);
    const to = Math.min(this.width, b);
    if (!(from < to)) return;
    const i = Math.floor(from);
    const k = Math.floor(to);
    if (i < this.low) this.low = i;
    if (k + 1 > this.high) this.high = k + 1;
    const { partial, steps } = this;
    if (i === k) partial[i] = (partial[i] as number) + to - from;
    else {
      partial[i] = (partial[i] as number) + (i + 1 - from);
      partial[k] = (partial[k] as number) + (to - k);
      steps[i + 1] = (steps[i + 1] as number) + 1;
      steps[k] = (steps[k] as number) - 1;
    }
  }

  private hand(row: number, shade: Shade): void {
    const { partial, steps, low } = this;
    const high = Math.min(this.high, this.width);
    if (low >= this.high) return;
    let whole = 0;
    for (let i = low; i < high; i++) {
      whole += steps[i] as number;
      partial[i] = Math.min(1, ((partial[i] as number) + whole) / linesPerRow);
    }
    shade(row, low, high, partial);
    partial.fill(0, low, this.high + 1);
    steps.fill(0, low, this.high + 1);
  }
}
