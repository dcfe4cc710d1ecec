// The first call of a fresh process: node tests/bench/cold.mjs times it once and prints JSON. Decoding, unpacking,
// compiling and the self-test happen in it.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const start = performance.now();
const posenc = await import(pathToFileURL(join(import.meta.dirname, "../../dist/index.js")).href);
const imported = performance.now();
const numbers = Float32Array.from({ length: 128 * 64 }, (_, i) => Math.sin(i));
const x = { shape: [128, 64], data: numbers };
const ready = performance.now();
posenc.attention(x, x, x);
const first = performance.now();
posenc.attention(x, x, x);
const second = performance.now();
console.log(JSON.stringify({ imported: imported - start, first: first - ready, second: second - first }));
