// "The cat sat": what the Transformer reads is embedding plus position.
import { embed, sinusoidal } from "posenc";

const words = [
  [0.2, -0.5, 0.8, 0.1],   // The
  [-0.3, 0.4, 0.2, -0.6],  // cat
  [0.7, 0.1, -0.4, 0.3],   // sat
];
const scheme = sinusoidal({ dim: 4 });

console.log(embed(words, scheme));
//> Tensor float32 [3, 4]
//> [[0.2, 0.5, 0.8, 1.1],
//>  [0.5414709, 0.9403023, 0.2099998, 0.39995],
//>  [1.609297, -0.3161469, -0.3800013, 1.2998]]

// The paper scales embeddings by the square root of the width first.
console.log(embed(words, scheme, { scale: "sqrt" }).row(1));
//> Float32Array(4) [
//>   0.24147093296051025,
//>   1.3403022289276123,
//>   0.4099998474121094,
//>   -0.20005005598068237
//> ]
