// Attention with positions in three slots at once, and a look at what it did.
import { alibi, attention, entropy, randomNormal, rope, shaw } from "posenc";

const [heads, tokens, width] = [2, 6, 8];
const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([heads, tokens, width], { seed }));

const { out, weights, trace } = attention(q, k, v, {
  causal: true,
  rotate: rope({ dim: width }),
  bias: alibi({ heads }),
  relate: shaw({ dim: width, clip: 2, seed: 4 }),
  weights: true,
  trace: true,
});

console.log(out.shape, weights.shape);
//> [ 2, 6, 8 ] [ 2, 6, 6 ]

// Every row sums to one, and nobody looks ahead.
const row = weights.row(0, 2);
console.log(row.reduce((sum, w) => sum + w, 0).toFixed(6), row.slice(3).every((w) => w === 0));
//> 1.000000 true

// A score is the sum of its terms, to the last bit.
const at = [1, 4, 2];
const sum = Math.fround(Math.fround(trace.content.at(...at) + trace.relate.at(...at)) + trace.bias.at(...at));
console.log(sum === trace.scores.at(...at));
//> true

// The first token can only look at itself: no entropy.
console.log(entropy(weights).at(0, 0));
//> 0
