// Schemes are values: frozen, readable, and the same again after a journey through JSON.
import { fromJSON, rope } from "posenc";

const scheme = rope({ dim: 128, base: 500000, layout: "half", scaling: { type: "linear", factor: 4 } });
console.log(String(scheme));
//> rope({dim: 128, base: 500000, layout: "half", scaling: {type: "linear", factor: 4}})
console.log(scheme.rotaryDim, Object.isFrozen(scheme));
//> 128 true

const text = JSON.stringify(scheme);
console.log(JSON.parse(text));
//> {
//>   slot: 'rotate',
//>   name: 'rope',
//>   dim: 128,
//>   base: 500000,
//>   layout: 'half',
//>   rotaryDim: 128,
//>   scaling: { type: 'linear', factor: 4 }
//> }
console.log(String(fromJSON(JSON.parse(text))) === String(scheme));
//> true
