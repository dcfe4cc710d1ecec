// A long sequence on one page: 32,768 causal tokens, one head, and the memory it takes. Nothing of Node in here.

/** One row, `mib` the call's arrays and the module's heap together. Runs before anything else has used the module. */
export function measureLong(posenc) {
  const memories = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = class extends Instance {
    constructor(...given) {
      super(...given);
      if (this.exports.memory) memories.push(this.exports.memory);
    }
  };
  const [n, d] = [32768, 64];
  let ms;
  let arrays;
  try {
    const [q, k, v] = [1, 2, 3].map((seed) => posenc.randomNormal([n, d], { seed }));
    const out = new Float32Array(n * d);
    arrays = [q.data, k.data, v.data, out];
    const start = performance.now();
    posenc.attention(q, k, v, { causal: true, out });
    ms = performance.now() - start;
    if (!out.every(Number.isFinite)) throw new Error("a result is not finite");
  } finally {
    WebAssembly.Instance = Instance;
  }
  if (memories.length === 0) throw new Error("the module was there before: its memory is not known");
  const heap = memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  const mib = (heap + arrays.reduce((sum, { byteLength }) => sum + byteLength, 0)) / 2 ** 20;
  if (!(mib <= 256)) throw new Error(`${mib} MiB are more than 256`);
  return [
    {
      group: `attention n=${n} d=${d} causal, one head, on a page`,
      name: "posenc, within 256 MiB",
      ms,
      gflops: (2 * n * (n + 1) * d) / ms / 1e6,
      mib,
    },
  ];
}
