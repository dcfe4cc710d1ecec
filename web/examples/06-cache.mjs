// Decoding with a cache: the new token's query meets all keys so far, at its true position.
import { attention, randomNormal, rope } from "posenc";

const rotate = rope({ dim: 16 });
const x = randomNormal([51, 16]);
const whole = attention(x, x, x, { causal: true, rotate });

// "bottom-right": the queries are the last of the keys, so this one stands at position 50.
const last = attention(x.slice(50), x, x, { causal: "bottom-right", rotate });
console.log(last.out.row(0).every((value, c) => value === whole.out.at(50, c)));
//> true

// The same, with the position said outright.
const said = attention(x.slice(50), x, x, { causal: true, queryPositions: [50], rotate });
console.log(said.out.row(0).every((value, c) => value === whole.out.at(50, c)));
//> true
