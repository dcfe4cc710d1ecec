/** The largest magnitude among numbers, 0 of none; NaN, a masked cell, counts for nothing. */
export function magnitude(values: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) {
    const size = Math.abs(values[i] as number);
    if (size > most) most = size;
  }
  return most;
}
