// ALiBi takes away a little for every step of distance, each head at its own rate.
import { alibi, bias } from "posenc";

const scheme = alibi({ heads: 8 });
console.log(bias(scheme, { queries: 4, keys: 4, heads: [0] }));
//> Tensor float32 [1, 4, 4]
//> [[[0, -0.5, -1, -1.5],
//>   [-0.5, 0, -0.5, -1],
//>   [-1, -0.5, 0, -0.5],
//>   [-1.5, -1, -0.5, 0]]]

const step = bias(scheme, { queries: [1], keys: [0] });
console.log([...step.data].join(" "));
//> -0.5 -0.25 -0.125 -0.0625 -0.03125 -0.015625 -0.0078125 -0.00390625
