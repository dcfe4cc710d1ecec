// What an encoding tells apart, how it turns, and whether attention notices the order of its tokens.
import { alibi, bias, closestPair, permutationGap, radix, randomNormal, rope, shiftMatrix, sinusoidal } from "posenc";
import { spectrum, toeplitzGap, translationGap } from "posenc";

console.log(closestPair(sinusoidal({ dim: 2 }), { length: 100000 }).j, "positions on, two columns are nearly the same");
console.log(closestPair(sinusoidal({ dim: 64 }), { length: 100000 }).j, "position on, with 64 columns");
//> 710 positions on, two columns are nearly the same
//> 1 position on, with 64 columns

const { wavelength, neverTurn } = spectrum(rope({ dim: 128 }), { context: 4096 });
console.log(wavelength.at(-1).toFixed(0), "positions a turn;", neverTurn.length, "of 64 pairs never make one");
console.log(...radix(sinusoidal({ dim: 8 }), 4321).digits, "in four pairs of base 10000");
console.log(shiftMatrix(sinusoidal({ dim: 2 }), 1).toString());
//> 54410 positions a turn; 18 of 64 pairs never make one
//> 1 2 3 4 in four pairs of base 10000
//> Tensor float64 [2, 2]
//> [[0.5403023058681398, 0.8414709848078965],
//>  [-0.8414709848078965, 0.5403023058681398]]

const x = randomNormal([5, 8]);
const order = [3, 1, 4, 0, 2];
console.log(permutationGap(x, order, { sum: "sorted" }), permutationGap(x, order, { causal: true }) > 0.1);
console.log(toeplitzGap(bias(alibi({ heads: 2 }), { queries: 9, keys: 9 })).tolist());
console.log(translationGap(alibi({ heads: 2 }), { shift: 1000 }).gap);
//> 0 true
//> [ 0, 0 ]
//> 0
