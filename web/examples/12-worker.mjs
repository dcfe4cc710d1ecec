// The same functions as promises, off the main thread: a long attention is shared among workers, tells how far it is,
// and can be cancelled.
import { attention as atOnce } from "posenc";
import { attention, randomNormal, rope } from "posenc/worker";

const [q, k, v] = await Promise.all([1, 2, 3].map((seed) => randomNormal([8, 1024, 64], { seed })));
const options = { causal: true, rotate: rope({ dim: 64 }) };

let share = 0;
const { out } = await attention(q, k, v, { ...options, onProgress: ({ done, total }) => (share = done / total) });
const here = atOnce(q, k, v, options).out;
console.log(share, out.data.every((value, i) => value === here.data[i]));
//> 1 true

const controller = new AbortController();
const long = attention(q, k, v, { ...options, signal: controller.signal });
controller.abort(new Error("another picture is wanted"));
console.log(await long.catch((error) => error.message));
//> another picture is wanted
