// What is timed against what. Nothing of Node in here: the same file runs in a browser.
import { peakLoops } from "./peak.mjs";

// Softmax attention of one head as one would write it: flat arrays, indices hoisted out of the inner loops.
function plainAttention(q, k, v, n, d, causal, out, row) {
  const scale = 1 / Math.sqrt(d);
  for (let i = 0; i < n; i++) {
    const last = causal ? i + 1 : n;
    const qi = i * d;
    let top = -Infinity;
    for (let j = 0; j < last; j++) {
      const kj = j * d;
      let sum = 0;
      for (let c = 0; c < d; c++) sum += q[qi + c] * k[kj + c];
      sum *= scale;
      row[j] = sum;
      if (sum > top) top = sum;
    }
    let total = 0;
    for (let j = 0; j < last; j++) {
      const weight = Math.exp(row[j] - top);
      row[j] = weight;
      total += weight;
    }
    for (let c = 0; c < d; c++) out[qi + c] = 0;
    for (let j = 0; j < last; j++) {
      const weight = row[j] / total;
      const vj = j * d;
      for (let c = 0; c < d; c++) out[qi + c] += weight * v[vj + c];
    }
  }
}

function plainTable(tokens, dim, out) {
  for (let t = 0; t < tokens; t++) {
    for (let c = 0; c < dim; c += 2) {
      const angle = t / Math.pow(10000, c / dim);
      out[t * dim + c] = Math.sin(angle);
      out[t * dim + c + 1] = Math.cos(angle);
    }
  }
}

function hoistedTable(tokens, dim, out) {
  const frequencies = new Float64Array(dim / 2);
  for (let i = 0; i < dim / 2; i++) frequencies[i] = Math.pow(10000, (-2 * i) / dim);
  for (let t = 0; t < tokens; t++) {
    for (let i = 0, at = t * dim; i < dim / 2; i++, at += 2) {
      const angle = t * frequencies[i];
      out[at] = Math.sin(angle);
      out[at + 1] = Math.cos(angle);
    }
  }
}

// Cosines and sines of every position and pair, as a tuned loop keeps them.
function ropeTables(tokens, dim, cos, sin) {
  const pairs = dim / 2;
  for (let i = 0; i < pairs; i++) {
    const frequency = Math.pow(10000, (-2 * i) / dim);
    for (let t = 0; t < tokens; t++) {
      cos[t * pairs + i] = Math.cos(t * frequency);
      sin[t * pairs + i] = Math.sin(t * frequency);
    }
  }
}

// x (heads, tokens, dim), neighbouring columns a pair.
function tunedRope(x, heads, tokens, dim, cos, sin, out) {
  for (let h = 0, at = 0; h < heads; h++) {
    for (let t = 0, pair = 0; t < tokens; t++) {
      for (let c = 0; c < dim; c += 2, at += 2, pair++) {
        const a = x[at];
        const b = x[at + 1];
        out[at] = a * cos[pair] - b * sin[pair];
        out[at + 1] = a * sin[pair] + b * cos[pair];
      }
    }
  }
}

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

// Medians of interleaved runs in milliseconds: every round times each candidate once, so that all see the same machine.
function race(candidates, rounds) {
  // Past the tier-up of the engine, and each timed long enough for the clock.
  const repeats = candidates.map(({ run }) => {
    const begin = performance.now();
    let count = 0;
    while (performance.now() - begin < 300) {
      run();
      count++;
    }
    return Math.max(1, Math.round(20 / ((performance.now() - begin) / count)));
  });
  const times = candidates.map(() => []);
  for (let round = 0; round < rounds; round++) {
    candidates.forEach(({ run }, c) => {
      const begin = performance.now();
      for (let i = 0; i < repeats[c]; i++) run();
      times[c].push((performance.now() - begin) / repeats[c]);
    });
  }
  return times.map(median);
}

function largestDifference(a, b) {
  let worst = 0;
  for (let i = 0; i < a.length; i++) worst = Math.max(worst, Math.abs(a[i] - b[i]));
  return worst;
}

/** Resolves to rows {group, name, ms, gflops?, ratio?, against?, error?}; ratios compare medians of one run. */
export function measure(posenc, { rounds = 15 } = {}) {
  const rows = [];

  // The ceiling stands in the same race as what it is compared with.
  const loops = peakLoops();
  const kPeakRounds = 1 << 16;
  const peaks = loops.map(({ count, run, operations }) => ({
    name: `peak, ${count} accumulators`,
    run: () => run(kPeakRounds),
    operations: operations * kPeakRounds,
  }));

  const [n, d] = [1024, 64];
  const [q, k, v] = [1, 2, 3].map((seed) => posenc.randomNormal([n, d], { seed }));
  for (const causal of [false, true]) {
    const out = new Float32Array(n * d);
    const plain = new Float32Array(n * d);
    const row = new Float64Array(n);
    const pairs = causal ? (n * (n + 1)) / 2 : n * n;
    const candidates = [
      { name: "attention()", run: () => posenc.attention(q, k, v, { causal }), operations: 4 * pairs * d },
      {
        name: "attention() into out",
        run: () => posenc.attention(q, k, v, { causal, out }),
        operations: 4 * pairs * d,
      },
      {
        name: "plain loop",
        run: () => plainAttention(q.data, k.data, v.data, n, d, causal, plain, row),
        operations: 4 * pairs * d,
      },
      ...peaks,
    ];
    for (const { run } of candidates) run();
    const error = largestDifference(out, plain);
    if (!(error < 1e-5)) throw new Error(`attention() and the plain loop differ by ${error}`);
    const times = race(candidates, rounds);
    const gflops = candidates.map(({ operations }, c) => operations / times[c] / 1e6);
    const peak = Math.max(...gflops.slice(3));
    candidates.forEach(({ name }, c) =>
      rows.push({
        group: `attention n=${n} d=${d}${causal ? " causal" : ""}, one head`,
        name,
        ms: times[c],
        gflops: gflops[c],
        ...(c < 2 ? { ratio: times[2] / times[c], against: "plain loop", peak: gflops[c] / peak } : {}),
      }),
    );
  }

  const [tokens, dim] = [1024, 512];
  const scheme = posenc.sinusoidal({ dim });
  const [out, plain, hoisted] = [0, 1, 2].map(() => new Float32Array(tokens * dim));
  const candidates = [
    { name: "encode() into out", run: () => posenc.encode(scheme, tokens, { out }) },
    { name: "encode()", run: () => posenc.encode(scheme, tokens) },
    { name: "plain loop, Math.pow inside", run: () => plainTable(tokens, dim, plain) },
    { name: "plain loop, frequencies hoisted", run: () => hoistedTable(tokens, dim, hoisted) },
  ];
  for (const { run } of candidates) run();
  const error = Math.max(largestDifference(out, plain), largestDifference(out, hoisted));
  if (!(error < 1e-6)) throw new Error(`encode() and the plain loop differ by ${error}`);
  const times = race(candidates, rounds);
  candidates.forEach(({ name }, c) =>
    rows.push({
      group: `sinusoidal table ${tokens} x ${dim}`,
      name,
      ms: times[c],
      ...(c < 2
        ? { ratio: times[2] / times[c], against: "plain loop, Math.pow inside", hoisted: times[3] / times[c] }
        : {}),
    }),
  );
  rows.push(...ropeRows(posenc, rounds), ...schemeRows(posenc, rounds), ...analysisRows(posenc, rounds));
  return rows;
}

// RoPE on eight heads, not in place: beside a tuned loop that makes its tables once a call, as ours does, and one that
// is given them.
function ropeRows(posenc, rounds) {
  const [heads, tokens, dim] = [8, 1024, 64];
  const x = posenc.randomNormal([heads, tokens, dim], { seed: 1 });
  const [out, loop] = [0, 1].map(() => new Float32Array(x.size));
  const [cos, sin] = [0, 1].map(() => new Float32Array((tokens * dim) / 2));
  const scheme = posenc.rope({ dim });
  const turn = () => tunedRope(x.data, heads, tokens, dim, cos, sin, loop);
  const withTables = () => {
    ropeTables(tokens, dim, cos, sin);
    turn();
  };
  const candidates = [
    { name: "rotate() into out", run: () => posenc.rotate(x, scheme, { out }) },
    { name: "tuned loop, tables once a call", run: withTables },
    { name: "tuned loop, tables given", run: turn },
  ];
  for (const { run } of candidates) run();
  const error = largestDifference(out, loop);
  if (!(error < 2e-6)) throw new Error(`rotate() and the tuned loop differ by ${error}`);
  const times = race(candidates, rounds);
  return candidates.map(({ name }, c) => ({
    group: `rope on [${heads}, ${tokens}, ${dim}]`,
    name,
    ms: times[c],
    ...(c === 0 ? { ratio: times[1] / times[0], against: candidates[1].name } : {}),
  }));
}

// Analyses of large tables. The rate is that of the product named: a symmetric one computes half of it.
function analysisRows(posenc, rounds) {
  const [rows, width] = [4096, 512];
  const x = posenc.randomNormal([rows, width]);
  const out = new Float32Array(rows * rows);
  const cosine = { metric: "cosine", dtype: "float32", out };
  const wide = posenc.tensor(Float64Array.from(posenc.randomNormal([rows, 768]).data), [rows, 768], "float64");
  const scheme = posenc.sinusoidal({ dim: 64 });
  const positions = 100000;
  const table = posenc.encode(scheme, positions);
  const candidates = [
    {
      name: `cosine similarity, float32, ${rows} x ${width}, as of its full product`,
      run: () => posenc.similarity(x, cosine),
      operations: 2 * rows * rows * width,
    },
    {
      name: `pca, 3 components of ${rows} x 768, as of one full covariance product and a half, float64`,
      run: () => posenc.pca(wide, { components: 3 }),
      operations: 1.5 * 2 * rows * 768 * 768,
    },
    {
      name: `closest pair of ${positions} positions, d=64, by offset`,
      run: () => posenc.closestPair(scheme, { length: positions }),
    },
    { name: "the same of the table, by search", run: () => posenc.closestPair(table) },
  ];
  if (posenc.closestPair(scheme, { length: positions }).j !== 1) throw new Error("the closest pair is not 0 and 1");
  const times = race(candidates, Math.min(rounds, 5));
  return candidates.map(({ name, operations }, c) => ({
    group: "analyses",
    name,
    ms: times[c],
    ...(operations === undefined ? {} : { gflops: operations / times[c] / 1e6 }),
  }));
}

// Attention under every bias, rotate and relate scheme of the catalogue, beside attention under none: four heads of
// 1,024 causal tokens. Swin's are the patches of a 32 x 32 window.
function schemeRows(posenc, rounds) {
  const [heads, n, d] = [4, 1024, 64];
  const [q, k, v] = [1, 2, 3].map((seed) => posenc.randomNormal([heads, n, d], { seed }));
  const out = new Float32Array(heads * n * d);
  const cells = posenc.grid(32, 32);
  const order = Array.from({ length: n }, (_, t) => t);
  const run = (options) => () => posenc.attention(q, k, v, { causal: true, out, ...options });
  const candidates = [{ name: "none", run: run({}) }];
  for (const { slot, name, params } of posenc.schemes) {
    if (slot === "embed") continue; // acts before attention
    const options = {};
    for (const param of params) {
      if (param.name === "heads") options.heads = heads;
      else if (param.name === "dim" && slot !== "bias") options.dim = d;
      else if (param.name === "window") options.window = 32;
      else if (param.required && param.kind === "table") options[param.name] = posenc.randomNormal([heads, 2 * n - 1]);
      else if (param.required) options[param.name] = param.shown?.value;
    }
    try {
      const scheme = posenc.fromJSON({ slot, name, ...options });
      const grid = { queryPositions: cells, keyPositions: cells, queryOrder: order, keyOrder: order };
      const timed = run({ [slot]: scheme, ...(name === "swin" ? grid : {}) });
      timed();
      candidates.push({ name: `${slot} ${name}`, run: timed });
    } catch (error) {
      console.warn(`${name} is left out: ${error.message}`);
    }
  }
  const times = race(candidates, rounds);
  return candidates.map(({ name }, c) => ({
    group: `attention under each scheme, ${heads} heads, n=${n} d=${d} causal`,
    name,
    ms: times[c],
    gflops: (2 * heads * n * (n + 1) * d) / times[c] / 1e6,
    ratio: times[0] / times[c],
    against: "none",
  }));
}
