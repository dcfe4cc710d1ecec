// What every scheme costs in attention. Nothing of Node in here.
import { race } from "./race.mjs";

// Attention under every bias, rotate and relate scheme of the catalogue, beside attention under none: four heads of
// 1,024 causal tokens. Swin's are the patches of a 32 x 32 window.
export async function measureSchemes(posenc, { rounds = 15 } = {}) {
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
  const times = await race(candidates, rounds);
  return candidates.map(({ name }, c) => ({
    group: `attention under each scheme, ${heads} heads, n=${n} d=${d} causal`,
    name,
    ms: times[c].median,
    best: times[c].best,
    gflops: (2 * heads * n * (n + 1) * d) / times[c].median / 1e6,
    ratio: times[c].median / times[0].median,
    against: "none",
  }));
}
