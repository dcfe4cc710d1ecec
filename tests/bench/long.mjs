// A long sequence: 32,768 causal tokens, one head, and the memory it takes, on one thread and on workers. Nothing of
// Node in here.

const [n, d] = [32768, 64];
const kOperations = 2 * n * (n + 1) * d;
// MiB.
const kMost = 256;

const inputs = (posenc) => [1, 2, 3].map((seed) => posenc.randomNormal([n, d], { seed }));

function row(group, ms, mib) {
  if (!(mib <= kMost)) throw new Error(`${mib} MiB are more than ${kMost}`);
  return { group, name: `posenc, within ${kMost} MiB`, ms, gflops: kOperations / ms / 1e6, mib };
}

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
  let ms;
  let arrays;
  try {
    const [q, k, v] = inputs(posenc);
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
  return [row(`attention n=${n} d=${d} causal, one head, on a page`, ms, mib)];
}

/**
 * One row of two workers: `mib` is how far `memory()`, the bytes of the whole process, rises above what it was when the
 * workers stood ready. The call tells how far it is, and another like it is stopped half-way.
 */
export async function measureLongOnWorkers(posenc, later, memory) {
  later.configure({ workers: 2 });
  const [few] = inputs(posenc);
  const short = posenc.tensor(few.data.slice(0, 64 * d), [64, d]);
  await later.attention(short, short, short, { causal: true });
  const before = memory();
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, memory())), 5);
  try {
    const [q, k, v] = inputs(posenc);
    const told = [];
    const start = performance.now();
    const { out } = await later.attention(q, k, v, {
      causal: true,
      onProgress: ({ done, total }) => told.push(done / total),
    });
    const ms = performance.now() - start;
    if (!out.data.every(Number.isFinite)) throw new Error("a result is not finite");
    if (told.length < 10 || told.at(-1) !== 1) throw new Error(`progress was told ${told.length} times`);
    const stop = new AbortController();
    const reason = new Error("stopped half-way");
    const stopped = later.attention(q, k, v, {
      causal: true,
      signal: stop.signal,
      onProgress: ({ done, total }) => done > total / 2 && stop.abort(reason),
    });
    const end = await stopped.catch((error) => error);
    if (end !== reason) throw new Error("the call went on after it was stopped");
    return [row(`attention n=${n} d=${d} causal, one head, on two workers`, ms, (most - before) / 2 ** 20)];
  } finally {
    clearInterval(watch);
    later.terminate();
  }
}
