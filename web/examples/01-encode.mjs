// The encodings of positions: one row a position, sines and cosines side by side.
import { encode, sinusoidal } from "posenc";

const table = encode(sinusoidal({ dim: 4 }), 4);
console.log(table);
//> Tensor float32 [4, 4]
//> [[0, 1, 0, 1],
//>  [0.841471, 0.5403023, 0.009999833, 0.99995],
//>  [0.9092974, -0.4161468, 0.01999867, 0.9998],
//>  [0.14112, -0.9899925, 0.0299955, 0.99955]]

// Positions are data: any real numbers, in any order, as far as 2^53.
console.log(encode(sinusoidal({ dim: 2 }), [-3, 2.5, 1e15]).tolist());
//> [
//>   [ -0.14112000167369843, -0.9899924993515015 ],
//>   [ 0.5984721183776855, -0.8011435866355896 ],
//>   [ 0.8582727909088135, -0.5131937265396118 ]
//> ]
