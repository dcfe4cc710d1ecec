// Ours beside its peers, one thread each, from arrays to arrays. Nothing of Node in here: the same file runs in a
// browser. `peers`: what peers/load.mjs gives; `kernels`: bytes of tests/bench/kernels.cpp.
import {
  plainAttention,
  plainSoftmax,
  plainTable,
  ropeTables,
  tunedAttention,
  tunedProduct,
  tunedRope,
  tunedTable,
} from "./loops.mjs";
import * as models from "./onnx-models.mjs";
import { peakLoops } from "./peak.mjs";
import { race } from "./race.mjs";

const kPeakRounds = 200_000;
const peakCandidates = () =>
  peakLoops().map(({ count, run, operations }) => ({
    name: `peak, ${count} accumulators`,
    run: () => run(kPeakRounds),
    operations: operations * kPeakRounds,
    peak: true,
  }));

// Rows of a group: the peak, where there are operations, and how much faster the first candidate is than each.
async function measureGroup(group, candidates, rounds, { against } = {}) {
  const alive = [];
  for (const candidate of candidates) {
    try {
      await candidate.run();
      alive.push(candidate);
    } catch (error) {
      console.warn(`${group}: ${candidate.name} is left out: ${error.message ?? error}`);
    }
  }
  const times = await race(alive, rounds);
  const speeds = alive.map(({ operations }, c) => operations && operations / times[c].median / 1e6);
  const peak = Math.max(0, ...speeds.filter((_, c) => alive[c].peak));
  const rival = against ?? 0;
  return alive.map(({ name }, c) => ({
    group,
    name,
    ms: times[c].median,
    best: times[c].best,
    rounds: times[c].rounds,
    gflops: speeds[c],
    peak: peak > 0 && speeds[c] ? speeds[c] / peak : undefined,
    ratio: c === rival || alive[c].peak ? undefined : times[c].median / times[rival].median,
    against: alive[rival].name,
  }));
}

const largestDifference = (a, b) => {
  let worst = 0;
  for (let i = 0; i < a.length; i++) worst = Math.max(worst, Math.abs(a[i] - b[i]));
  return worst;
};
function agree(what, a, b, bound) {
  const gap = largestDifference(a, b);
  if (!(gap <= bound)) throw new Error(`${what}: results differ by ${gap}`);
}

// The roof of our way: its kernels, packing and copies, and nothing else.
function bareAttention(kernels, { q, k, v }, { heads, n, d, causal }) {
  const bare = loadKernels(kernels);
  const size = heads * n * d;
  const [a, b, c, to] = [0, 1, 2, 3].map(() => bare.floats(size));
  const scratch = bare.floats(2 * n * d + 2176);
  const heap = new Float32Array(bare.memory.buffer);
  const out = new Float32Array(size);
  return () => {
    heap.set(q.data, a / 4);
    heap.set(k.data, b / 4);
    heap.set(v.data, c / 4);
    bare.bare_attention(a, b, c, to, scratch, n, heads, causal);
    out.set(heap.subarray(to / 4, to / 4 + size));
    return out;
  };
}

async function attentionGroup({ posenc, peers, kernels }, { heads, n, causal, rounds }) {
  const d = 64;
  const shape = heads === 1 ? [n, d] : [heads, n, d];
  const [q, k, v] = [1, 2, 3].map((seed) => posenc.randomNormal(shape, { seed }));
  const out = new Float32Array(heads * n * d);
  const pairs = heads * (causal ? (n * (n + 1)) / 2 : n * n);
  const operations = 4 * pairs * d;
  const ours = () => posenc.attention(q, k, v, { causal, out });
  ours();
  const candidates = [{ name: "posenc, into out", run: ours, operations }];
  candidates.push({ name: "posenc", run: () => posenc.attention(q, k, v, { causal }), operations });
  const bare = bareAttention(kernels, { q, k, v }, { heads, n, d, causal });
  if (!causal) agree("the roof", bare(), out, 0);
  candidates.push({ name: "roof: the kernels, packing and copies alone", run: bare, operations });
  if (peers) {
    const { ort, tf, jax } = peers;
    const session = async (name, bytes, dims, extra = {}) => {
      try {
        const made = await ort.InferenceSession.create(bytes, { executionProviders: ["wasm"] });
        const tensor = (data) => new ort.Tensor("float32", data, dims);
        const run = async () =>
          (await made.run({ q: tensor(q.data), k: tensor(k.data), v: tensor(v.data), ...extra })).y.data;
        if (heads === 1 || dims.length !== 3 || dims[0] === heads) agree(name, await run(), out, 1e-5);
        candidates.push({ name, run, sync: false, operations });
      } catch (error) {
        console.warn(`${name} is left out: ${error.message ?? error}`);
      }
    };
    const mask = new Float32Array(n * n);
    if (causal) for (let i = 0; i < n; i++) mask.fill(-Infinity, i * n + i + 1, (i + 1) * n);
    const masked = causal ? { mask: new ort.Tensor("float32", mask, [n, n]) } : {};
    const plainGraph = models.matmulSoftmax({ heads, n, d, masked: causal });
    await session("onnxruntime-web, MatMul and Softmax", plainGraph, [heads, n, d], masked);
    await session("onnxruntime-web, MultiHeadAttention", models.multiHead({ heads, n, d, causal }), [1, n, heads * d]);
    await session("onnxruntime-web, Attention-23", models.attention23({ heads, n, d, causal }), [1, heads, n, d]);
    const tfMask = causal ? tf.tensor2d(mask, [n, n]) : undefined;
    // The fastest form there: 2-D products, the keys transposed before.
    const tfRun = () => {
      const parts = [];
      for (let h = 0; h < heads; h++) {
        parts.push(
          tf.tidy(() => {
            const at = [h * n * d, (h + 1) * n * d];
            const [a, b, c] = [q, k, v].map(({ data }) => tf.tensor2d(data.subarray(...at), [n, d]));
            let scores = tf.mul(tf.matMul(a, tf.transpose(b)), d ** -0.5);
            if (tfMask) scores = tf.add(scores, tfMask);
            return tf.matMul(tf.softmax(scores), c).dataSync();
          }),
        );
      }
      return parts;
    };
    agree("TensorFlow.js", tfRun()[0], out.subarray(0, n * d), 1e-5);
    candidates.push({ name: "TensorFlow.js wasm", run: tfRun, operations });
    // Its dotProductAttention needs iterator helpers, which Node 20 lacks: spelt out there.
    const { numpy: np, nn, jit } = jax;
    const whole = typeof Iterator === "function" && "map" in Iterator.prototype;
    const jaxMask = np.array(mask).reshape([n, n]);
    const traced = jit((a, b, c, m) => {
      if (whole) return nn.dotProductAttention(a, b, c, { isCausal: causal });
      const scores = np.matmul(a, b.transpose()).mul(d ** -0.5);
      return np.matmul(nn.softmax(causal ? scores.add(m) : scores), c);
    });
    const jaxArray = (data) => np.array(data).reshape(whole ? [n, heads, d] : [n, d]);
    const jaxRun = () => traced(jaxArray(q.data), jaxArray(k.data), jaxArray(v.data), jaxMask.ref).dataSync();
    if (heads === 1 && n <= 1024) {
      try {
        agree("jax-js", jaxRun(), out, 1e-5);
        candidates.push({ name: `jax-js wasm${whole ? ", dotProductAttention" : ""}`, run: jaxRun, operations });
      } catch (error) {
        console.warn(`jax-js is left out: ${error.message ?? error}`);
      }
    }
    if (heads === 1 && n <= 512) {
      const { Matrix } = peers;
      candidates.push({
        name: "ml-matrix",
        operations,
        run: () => {
          const [a, b, c] = [q, k, v].map(({ data }) => Matrix.from1DArray(n, d, data));
          const scores = a.mmul(b.transpose()).mul(d ** -0.5);
          for (let i = 0; i < n; i++) {
            const end = causal ? i + 1 : n;
            let [top, total] = [-Infinity, 0];
            for (let j = 0; j < end; j++) top = Math.max(top, scores.get(i, j));
            for (let j = 0; j < n; j++) {
              const weight = j < end ? Math.exp(scores.get(i, j) - top) : 0;
              scores.set(i, j, weight);
              total += weight;
            }
            for (let j = 0; j < n; j++) scores.set(i, j, scores.get(i, j) / total);
          }
          return scores.mmul(c).to1DArray();
        },
      });
    }
  }
  if (heads === 1 && n <= 1024) {
    const [plain, tuned, row, scores] = [n * d, n * d, n, 4 * n].map((size) => new Float32Array(size));
    const tunedRun = () => tunedAttention(q.data, k.data, v.data, n, d, causal, tuned, scores);
    tunedRun();
    agree("the tuned loop", tuned, out, 1e-5);
    candidates.push({ name: "tuned loop", run: tunedRun, operations });
    candidates.push({
      name: "plain loop",
      run: () => plainAttention(q.data, k.data, v.data, n, d, causal, plain, row),
      operations,
    });
  }
  candidates.push(...peakCandidates());
  const name = `attention n=${n} d=${d}${causal ? " causal" : ""}, ${heads === 1 ? "one head" : `${heads} heads`}`;
  return measureGroup(name, candidates, rounds);
}

// What the slots and a dense mask cost.
async function slotGroup({ posenc }, { causal, rounds }) {
  const [heads, n, d] = [8, 512, 64];
  const [q, k, v] = [1, 2, 3].map((seed) => posenc.randomNormal([heads, n, d], { seed }));
  const out = new Float32Array(heads * n * d);
  const run = (options) => () => posenc.attention(q, k, v, { causal, out, ...options });
  const candidates = [
    { name: "none", run: run({}) },
    { name: "alibi", run: run({ bias: posenc.alibi({ heads }) }) },
    { name: "t5", run: run({ bias: posenc.t5({ heads, weights: posenc.randomNormal([32, heads], { seed: 4 }) }) }) },
    { name: "dense mask, one for all heads", run: run({ mask: posenc.randomNormal([n, n], { seed: 5 }) }) },
    { name: "dense mask, one a head", run: run({ mask: posenc.randomNormal([heads, n, n], { seed: 5 }) }) },
    { name: "rope", run: run({ rotate: posenc.rope({ dim: d }) }) },
  ];
  const group = `what attention costs with, ${heads} heads n=${n} d=${d}${causal ? " causal" : ""}`;
  return measureGroup(group, candidates, rounds);
}

function loadKernels(bytes) {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
    wasi_snapshot_preview1: { proc_exit() {} },
    env: { emscripten_notify_memory_growth() {} },
  });
  exports._initialize?.();
  return exports;
}

async function kernelGroups({ posenc, peers, kernels }, rounds, report) {
  const ours = loadKernels(kernels);
  const floats = new Map();
  const array = (slot, size) => {
    const key = `${slot} ${size}`;
    if (!floats.has(key)) floats.set(key, ours.floats(size));
    return floats.get(key);
  };
  const copied = (pointer, size) => new Float32Array(ours.memory.buffer, pointer, size).slice();
  for (const n of [512, 1024]) {
    const [a, b, c] = [1, 2, 3].map((slot) => array(slot, n * n));
    const scratch = array("scratch", ours.scratch(n, n));
    const operations = 2 * n ** 3;
    const [x, y] = [copied(a, n * n), copied(b, n * n)];
    const candidates = [{ name: "posenc's kernel", run: () => ours.product(a, b, c, scratch, n, n), operations }];
    candidates[0].run();
    const result = copied(c, n * n);
    if (peers) {
      const { ort, tf, jax, Matrix } = peers;
      const session = await ort.InferenceSession.create(models.product({ n }), { executionProviders: ["wasm"] });
      const tensor = (data) => new ort.Tensor("float32", data, [n, n]);
      const run = async () => (await session.run({ a: tensor(x), b: tensor(y) })).y.data;
      agree("onnxruntime-web's product", await run(), result, 1e-3);
      candidates.push({ name: "onnxruntime-web, MatMul", run, sync: false, operations });
      const [ta, tb] = [tf.tensor2d(x, [n, n]), tf.tensor2d(y, [n, n])];
      const tfRun = () => tf.tidy(() => tf.matMul(ta, tb).dataSync());
      candidates.push({ name: "TensorFlow.js wasm, tensors kept there", run: tfRun, operations });
      const multiply = jax.jit((p, r) => jax.numpy.matmul(p, r));
      const jaxArray = (data) => jax.numpy.array(data).reshape([n, n]);
      candidates.push({ name: "jax-js wasm", run: () => multiply(jaxArray(x), jaxArray(y)).dataSync(), operations });
      if (n === 512) {
        const [ma, mb] = [Matrix.from1DArray(n, n, x), Matrix.from1DArray(n, n, y)];
        candidates.push({ name: "ml-matrix", run: () => ma.mmul(mb), operations });
      }
    }
    if (n === 512) {
      const out = new Float32Array(n * n);
      candidates.push({ name: "tuned loop", run: () => tunedProduct(x, y, n, out), operations });
    }
    candidates.push(...peakCandidates());
    await report(await measureGroup(`product ${n} x ${n} x ${n}`, candidates, rounds));
  }

  {
    const n = 1024;
    const [a, c] = [array(1, n * n), array(3, n * n)];
    const x = copied(a, n * n);
    const out = new Float32Array(n * n);
    // As a caller has it: in, softmax, out.
    const run = () => {
      new Float32Array(ours.memory.buffer, a, n * n).set(x);
      ours.softmax(a, c, n);
      out.set(new Float32Array(ours.memory.buffer, c, n * n));
    };
    run();
    const candidates = [{ name: "posenc's kernel, copies included", run }];
    if (peers) {
      const { ort, tf, jax } = peers;
      const session = await ort.InferenceSession.create(models.softmax({ n }), { executionProviders: ["wasm"] });
      const ortRun = async () => (await session.run({ a: new ort.Tensor("float32", x, [n, n]) })).y.data;
      agree("onnxruntime-web's softmax", await ortRun(), out, 1e-6);
      candidates.push({ name: "onnxruntime-web, Softmax", run: ortRun, sync: false });
      const tfRun = () => tf.tidy(() => tf.softmax(tf.tensor2d(x, [n, n])).dataSync());
      candidates.push({ name: "TensorFlow.js wasm", run: tfRun });
      const soft = jax.jit((p) => jax.nn.softmax(p));
      candidates.push({ name: "jax-js wasm", run: () => soft(jax.numpy.array(x).reshape([n, n])).dataSync() });
    }
    const plain = new Float32Array(n * n);
    candidates.push({ name: "plain loop", run: () => plainSoftmax(x, n, plain) });
    await report(await measureGroup(`softmax ${n} x ${n}`, candidates, rounds));
  }

  {
    const [n, d] = [1024, 512];
    const table = posenc.randomNormal([n, d], { seed: 6 });
    const [a, c] = [array(1, n * n), array(3, n * n)];
    const scratch = array("scratch", ours.scratch(n, n));
    const candidates = [];
    if (posenc.similarity) {
      const cosine = { metric: "cosine", dtype: "float32", out: new Float32Array(n * n) };
      candidates.push({ name: "posenc, similarity() into out", run: () => posenc.similarity(table, cosine) });
    }
    candidates.push({ name: "posenc's symmetric product alone", run: () => ours.product(a, 0, c, scratch, n, d) });
    if (peers) {
      const { ort, tf } = peers;
      const session = await ort.InferenceSession.create(models.cosine({ n, d }), { executionProviders: ["wasm"] });
      const ortRun = async () => (await session.run({ a: new ort.Tensor("float32", table.data, [n, d]) })).y.data;
      candidates.push({ name: "onnxruntime-web, LpNormalization and MatMul", run: ortRun, sync: false });
      candidates.push({
        name: "TensorFlow.js wasm",
        run: () =>
          tf.tidy(() => {
            const x = tf.tensor2d(table.data, [n, d]);
            const unit = tf.div(x, tf.norm(x, "euclidean", 1, true));
            return tf.matMul(unit, tf.transpose(unit)).dataSync();
          }),
      });
    }
    await report(await measureGroup(`cosine similarity of ${n} x ${d}`, candidates, rounds));
  }

  {
    // The roof: what a tile of 128 keys by 8 queries takes, kernel by kernel, beside its multiply-adds at the peak.
    const sizes = [128 * 64, 8 * 64, 128 * 8, 64 * 8];
    const [panels, queries, s, o] = sizes.map((size, slot) => array(`tile ${slot}`, size));
    const times = 1000;
    const tile = (kernel) => () => ours.tile(kernel, panels, queries, s, o, times);
    const operations = 2 * 128 * 64 * 8 * times;
    const candidates = [
      { name: "scores", run: tile(0), operations },
      { name: "maximum", run: tile(1) },
      { name: "softmax", run: tile(2) },
      { name: "values", run: tile(3), operations },
      ...peakCandidates(),
    ];
    const measured = await measureGroup("a thousand tiles of attention, kernel by kernel", candidates, rounds);
    const total = measured.slice(0, 4).reduce((sum, { ms }) => sum + ms, 0);
    const peak = Math.max(...measured.slice(4).map(({ gflops }) => gflops));
    measured.forEach((row) => delete row.ratio);
    measured.push({
      group: measured[0].group,
      name: "all four: the roof of attention end to end",
      ms: total,
      gflops: (2 * operations) / total / 1e6,
      peak: (2 * operations) / total / 1e6 / peak,
    });
    await report(measured);
  }
}

// The roof of our way: angle addition and copies, without the proof that each cell is the nearest float.
function bareTable(kernels, tokens, dim, out) {
  const bare = loadKernels(kernels);
  const pairs = dim / 2;
  const kPiece = 64; // rows that stay in the cache
  const turns = bare.floats(40 * pairs); // ten rows of doubles
  const anchor = bare.floats(4 * pairs);
  const rows = bare.floats(kPiece * dim);
  const floats = new Float32Array(bare.memory.buffer, rows, kPiece * dim);
  const turn = (at, by) => {
    const to = new Float64Array(bare.memory.buffer, at, 2 * pairs);
    for (let i = 0; i < pairs; i++) {
      const angle = by * 10000 ** ((-2 * i) / dim);
      to[i] = Math.cos(angle);
      to[pairs + i] = Math.sin(angle);
    }
  };
  for (let b = 0; b <= 8; b++) turn(turns + 16 * b * pairs, b);
  turn(turns + 16 * 9 * pairs, 16);
  return () => {
    turn(anchor, 7);
    for (let row = 0; row < tokens; row += kPiece) {
      for (let r = 0; r < kPiece; r += 16) bare.bare_table(turns, anchor, rows + 4 * r * dim, pairs);
      out.set(floats, row * dim);
    }
  };
}

async function tableGroup({ posenc, peers, kernels }, { tokens, dim, rounds }) {
  const scheme = posenc.sinusoidal({ dim });
  const [out, plain, tuned, bare] = [0, 1, 2, 3].map(() => new Float32Array(tokens * dim));
  const candidates = [
    { name: "posenc, into out", run: () => posenc.encode(scheme, tokens, { out }) },
    { name: "posenc", run: () => posenc.encode(scheme, tokens) },
    { name: "plain loop, Math.sin and Math.pow inside", run: () => plainTable(tokens, dim, plain) },
    { name: "tuned loop, angle addition", run: () => tunedTable(tokens, dim, tuned) },
    { name: "roof: angle addition and copies, nothing proven", run: bareTable(kernels, tokens, dim, bare) },
  ];
  for (const { run } of candidates) run();
  agree("the plain table", plain, out, 1e-6);
  agree("the tuned table", tuned, out, 1e-6);
  agree("the roof", bare, out, 1e-7);
  if (peers) {
    const { ort, tf } = peers;
    const t = Float32Array.from({ length: tokens }, (_, i) => i);
    const f = Float32Array.from({ length: dim / 2 }, (_, i) => 10000 ** ((-2 * i) / dim));
    const graph = models.table({ n: tokens, d: dim });
    const session = await ort.InferenceSession.create(graph, { executionProviders: ["wasm"] });
    const feeds = () => ({
      t: new ort.Tensor("float32", t, [tokens, 1]),
      f: new ort.Tensor("float32", f, [1, dim / 2]),
    });
    candidates.push({
      name: "onnxruntime-web, Sin and Cos",
      sync: false,
      run: async () => (await session.run(feeds())).y.data,
    });
    // It takes seconds for the smaller table already.
    if (tokens * dim <= 2 ** 19) {
      candidates.push({
        name: "TensorFlow.js wasm",
        run: () =>
          tf.tidy(() => {
            const angle = tf.matMul(tf.tensor2d(t, [tokens, 1]), tf.tensor2d(f, [1, dim / 2]));
            return tf.concat([tf.sin(angle), tf.cos(angle)], 1).dataSync();
          }),
      });
    }
  }
  return measureGroup(`sinusoidal table ${tokens} x ${dim}`, candidates, rounds);
}

async function ropeGroup({ posenc }, rounds) {
  const [heads, tokens, dim] = [8, 1024, 64];
  const x = posenc.randomNormal([heads, tokens, dim], { seed: 1 });
  const [out, loop] = [0, 1].map(() => new Float32Array(x.size));
  const [cos, sin] = [0, 1].map(() => new Float32Array((tokens * dim) / 2));
  const scheme = posenc.rope({ dim });
  const turn = () => tunedRope(x.data, heads, tokens, dim, cos, sin, loop);
  const candidates = [
    { name: "posenc, into out", run: () => posenc.rotate(x, scheme, { out }) },
    { name: "tuned loop, tables once a call", run: () => (ropeTables(tokens, dim, cos, sin), turn()) },
    { name: "tuned loop, tables given", run: turn },
  ];
  for (const { run } of candidates) run();
  agree("the tuned rotation", loop, out, 2e-6);
  return measureGroup(`rope on [${heads}, ${tokens}, ${dim}]`, candidates, rounds);
}

/**
 * All rows, each group reported as it is done; `peers` may be absent. `only`: a kind of groups (attention, slots,
 * kernels, tables, rope); `sizes`: of attention, only these, as "64" or "8x512".
 */
export async function measureBeside(given, { rounds = 15, only = "", sizes = [], report = () => undefined } = {}) {
  const wanted = (kind) => only === "" || kind.includes(only);
  if (wanted("attention")) {
    for (const [heads, n] of [
      [1, 64],
      [1, 512],
      [1, 1024],
      [1, 2048],
      [8, 512],
    ]) {
      if (sizes.length > 0 && !sizes.includes(heads === 1 ? `${n}` : `${heads}x${n}`)) continue;
      for (const causal of [false, true]) await report(await attentionGroup(given, { heads, n, causal, rounds }));
    }
  }
  if (wanted("slots")) {
    for (const causal of [false, true]) await report(await slotGroup(given, { causal, rounds }));
  }
  if (wanted("kernels")) await kernelGroups(given, rounds, report);
  if (wanted("tables")) {
    for (const [tokens, dim] of [
      [1024, 512],
      [8192, 1024],
    ]) {
      await report(await tableGroup(given, { tokens, dim, rounds }));
    }
  }
  if (wanted("rope")) await report(await ropeGroup(given, rounds));
}
