// Attention on two workers beside attention on one thread. Nothing of Node in here: the same file runs in a browser.
import { race } from "./race.mjs";

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
      { name: "two workers, into out", sync: false, run: () => later.attention(q, k, v, { causal, out: two }) },
      { name: "two workers", sync: false, run: () => later.attention(q, k, v, { causal }) },
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
        ms: times[c].median,
        best: times[c].best,
        gflops: operations / times[c].median / 1e6,
        ...(c > 0 ? { ratio: times[c].median / times[0].median, against: candidates[0].name } : {}),
      }),
    );
  }
  return rows;
}
