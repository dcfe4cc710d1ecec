// Large results go into memory of yours with `out`: filling a new array costs more than computing it.
import { encode, sinusoidal } from "posenc";

const scheme = sinusoidal({ dim: 512 });
const out = new Float32Array(1024 * 512);
for (const first of [0, 1024, 2048]) {
  const positions = Float64Array.from({ length: 1024 }, (_, t) => first + t);
  const table = encode(scheme, positions, { out });
  console.log(table.data === out, out[1].toFixed(6));
}
//> true 1.000000
//> true 0.987354
//> true 0.949734
