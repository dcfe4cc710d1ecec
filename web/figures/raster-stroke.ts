// Lines with a width as contours to fill: a rectangle for each piece, a fan for the outside of each bend. All contours
// wind the same way, so that they unite under the nonzero rule however they overlap.

// How far a chord may lie from its arc, in pixels.
const tolerance = 0.03;
const mostDashes = 100_000;

export type Emit = (contour: number[]) => void;

/** Points x, y, … of a circle. */
export function circle(x: number, y: number, radius: number): number[] {
  const points: number[] = [];
  const corners = [1, 0, 0, 1, -1, 0, 0, -1];
  for (let k = 0; k < 8; k += 2) {
    const [ax, ay] = [corners[k] as number, corners[k + 1] as number];
    const [bx, by] = [corners[(k + 2) % 8] as number, corners[(k + 3) % 8] as number];
    points.push(x + radius * ax, y + radius * ay);
    arc(points, x, y, radius, ax, ay, bx, by);
  }
  return points;
}

// Puts points of an arc between two unit vectors less than half a turn apart, without its ends, by halving: no sine
// needed, and square roots are the same everywhere.
function arc(
  points: number[],
  x: number,
  y: number,
  radius: number,
  ax: number,
  ay: number,
  bx: number,
  by: number,
): void {
  const [sx, sy] = [ax + bx, ay + by];
  const length = Math.sqrt(sx * sx + sy * sy);
  if (length === 0 || radius * (1 - length / 2) < tolerance) return;
  const [mx, my] = [sx / length, sy / length];
  arc(points, x, y, radius, ax, ay, mx, my);
  points.push(x + radius * mx, y + radius * my);
  arc(points, x, y, radius, mx, my, bx, by);
}

/** The contours of a line of some width through `line` (x, y, …): butt ends, round bends. */
export function strokeContours(line: ArrayLike<number>, width: number, emit: Emit): void {
  const half = width / 2;
  let [lastX, lastY] = [0, 0];
  let pieces = 0;
  let x = line[0] as number;
  let y = line[1] as number;
  for (let i = 2; i + 1 < line.length; i += 2) {
    const nextX = line[i] as number;
    const nextY = line[i + 1] as number;
    const length = Math.sqrt((nextX - x) * (nextX - x) + (nextY - y) * (nextY - y));
    if (!(length > 0)) continue;
    const ux = (nextX - x) / length;
    const uy = (nextY - y) / length;
    if (pieces++ > 0) bend(x, y, half, lastX, lastY, ux, uy, emit);
    const [nx, ny] = [-uy * half, ux * half];
    emit([x + nx, y + ny, x - nx, y - ny, nextX - nx, nextY - ny, nextX + nx, nextY + ny]);
    [lastX, lastY, x, y] = [ux, uy, nextX, nextY];
  }
}

// The fan on the outside of a bend from direction a to direction b.
function bend(
  x: number,
  y: number,
  half: number,
  ax: number,
  ay: number,
  bx: number,
  by: number,
  emit: Emit,
): void {
  const turn = ax * by - ay * bx;
  if (turn === 0 && ax * bx + ay * by > 0) return;
  // Unit normals on the outer side, ordered so that the fan winds like the rectangles.
  const [px, py, qx, qy] = turn > 0 ? [ay, -ax, by, -bx] : [-by, bx, -ay, ax];
  const fan = [x, y, x + half * px, y + half * py];
  if (ax * bx + ay * by < 0) {
    // More than a right angle: by way of the middle, which for a reversal is straight ahead.
    let [mx, my] = [ax - bx, ay - by];
    const length = Math.sqrt(mx * mx + my * my);
    [mx, my] = [mx / length, my / length];
    arc(fan, x, y, half, px, py, mx, my);
    fan.push(x + half * mx, y + half * my);
    arc(fan, x, y, half, mx, my, qx, qy);
  } else arc(fan, x, y, half, px, py, qx, qy);
  fan.push(x + half * qx, y + half * qy);
  emit(fan);
}

/** The drawn stretches of a dashed line; the line itself where the pattern says nothing or would take for ever. */
export function dashed(line: ArrayLike<number>, pattern: readonly number[]): ArrayLike<number>[] {
  const dashes = pattern.length % 2 === 0 ? pattern : [...pattern, ...pattern];
  const period = dashes.reduce((sum, dash) => sum + dash, 0);
  if (!(period > 0) || dashes.some((dash) => !(dash >= 0))) return [line];
  let total = 0;
  for (let i = 2; i + 1 < line.length; i += 2) total += distance(line, i);
  if (!(total / period < mostDashes)) return [line];
  const stretches: number[][] = [];
  let stretch: number[] | undefined = [line[0] as number, line[1] as number];
  let index = 0;
  let left = dashes[0] as number;
  for (let i = 2; i + 1 < line.length; i += 2) {
    const length = distance(line, i);
    let done = 0;
    while (length - done > left) {
      done += left;
      const share = done / length;
      const x = (line[i - 2] as number) + share * ((line[i] as number) - (line[i - 2] as number));
      const y = (line[i - 1] as number) + share * ((line[i + 1] as number) - (line[i - 1] as number));
      if (stretch) {
        stretch.push(x, y);
        stretches.push(stretch);
        stretch = undefined;
      } else stretch = [x, y];
      index = (index + 1) % dashes.length;
      left = dashes[index] as number;
    }
    left -= length - done;
    stretch?.push(line[i] as number, line[i + 1] as number);
  }
  if (stretch) stretches.push(stretch);
  return stretches;
}

function distance(line: ArrayLike<number>, i: number): number {
  const dx = (line[i] as number) - (line[i - 2] as number);
  const dy = (line[i + 1] as number) - (line[i - 1] as number);
  return Math.sqrt(dx * dx + dy * dy);
}
