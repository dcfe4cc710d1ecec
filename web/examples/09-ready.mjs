// Everything is synchronous. Where a page's policy forbids WebAssembly, await ready() once: it loads the same C++ as
// plain JavaScript, and the numbers keep their bits. Here that build is asked for.
import { encode, info, init, ready, sinusoidal } from "posenc";

init({ backend: "js" });
await ready();
console.log(info().backend, encode(sinusoidal({ dim: 2 }), [1]).tolist());
//> js [ [ 0.8414709568023682, 0.5403022766113281 ] ]
