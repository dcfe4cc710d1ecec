// Attention on two workers beside attention on one thread. Nothing of Node in here: the same file runs in a browser.

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

// As race() of cases.mjs, for what ends later.
async function race(candidates, rounds) {
  for (const { run } of candidates) {
    const begin = performance.now();
    while (performance.now() - begin < 500) await run();
  }
  const times = candidates.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [c, { run }] of candidates.entries()) {
      const begin = performance.now();
      await run();
      times[c].push(performance.now() - begin);
    }
  }
  return times.map(median);
}

/** Resolves to rows as those of measure(): eight heads of 1,024 queries, with all copies there and back. */
export async function measureWorkers(posenc, later, { rounds = 15 } = {}) {
  const [heads, n, d] = [8, 1024, 64];
  const [q, k, v] = [1, 2, 3].map((seed) => posenc.randomNormal([heads, n, d], { seed }));
  const rows = [];
  for (const causal of [false, true]) {
    const [one, two] = [0, 1].map(() => new Float32Array(heads * n * d));
    const operations = 4 * heads * d * (causal ? (n * (n + 1)) / 2 : n * n);
    const candidates = [
      { name: "one thread, into out", run: () => posenc.attention(q, k, v, { causal, out: one }) },
      { name: "two workers, into out", run: () => later.attention(q, k, v, { causal, out: two }) },
      { name: "two workers", run: () => later.attention(q, k, v, { causal }) },
    ];
    later.configure({ workers: 2 });
    for (const { run } of candidates) await run();
    if (!one.every((value, i) => value === two[i])) throw new Error("two workers and one thread differ");
    const times = await race(candidates, rounds);
    later.terminate();
    candidates.forEach(({ name }, c) =>
      rows.push({
        group: `attention on workers, ${heads} heads, n=${n} d=${d}${causal ? " causal" : ""}`,
        name,
        ms: times[c],
        gflops: operations / times[c] / 1e6,
        ...(c > 0 ? { ratio: times[0] / times[c], against: candidates[0].name } : {}),
      }),
    );
  }
  return rows;
}
