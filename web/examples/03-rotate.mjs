// RoPE turns queries and keys; their product then depends on how far apart they are, not on where.
import { rope, rotate } from "posenc";

const scheme = rope({ dim: 4 });
const q = [[0.3, -1.2, 0.7, 0.5]];
const k = [[-0.6, 0.8, 0.1, 1]];

const score = (i, j) => {
  const a = rotate(q, scheme, { positions: [i] }).row(0);
  const b = rotate(k, scheme, { positions: [j], side: "key" }).row(0);
  return a.reduce((sum, x, c) => sum + x * b[c], 0);
};

console.log(score(5, 2).toFixed(5), score(1005, 1002).toFixed(5), score(6, 3).toFixed(5));
//> 1.65009 1.65009 1.65009

// Two layouts are in use: pairs of neighbours, and pairs half the width apart. They give different numbers.
const x = [[1, 2, 3, 4]];
for (const layout of ["interleaved", "half"]) {
  const turned = rotate(x, rope({ dim: 4, layout }), { positions: [1] });
  console.log(layout, Array.from(turned.row(0), (y) => y.toFixed(4)).join(" "));
}
//> interleaved -1.1426 1.9221 2.9599 4.0298
//> half -1.9841 1.9599 2.4624 4.0198
