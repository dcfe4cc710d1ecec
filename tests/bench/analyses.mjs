// What analyses of large tables take. Nothing of Node in here.
import { race } from "./race.mjs";

// Analyses of large tables. The rate is that of the product named: a symmetric one computes half of it.
export async function measureAnalyses(posenc, { rounds = 15 } = {}) {
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
  const times = await race(candidates, Math.min(rounds, 5));
  return candidates.map(({ name, operations }, c) => ({
    group: "analyses",
    name,
    ms: times[c].median,
    best: times[c].best,
    ...(operations === undefined ? {} : { gflops: operations / times[c].median / 1e6 }),
  }));
}
