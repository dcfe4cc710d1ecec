// Timing side by side: every candidate once a round, so that what disturbs one disturbs all; the median is kept.

/** Milliseconds a candidate must have run before it counts: engines compile in the background. */
const kWarmUp = 400;
/** Least milliseconds of one sample; short runs are repeated. */
const kSample = 3;

/** The middle of some numbers. */
export const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function once({ run, sync }, times) {
  const start = performance.now();
  if (sync === false) for (let n = 0; n < times; n++) await run();
  else for (let n = 0; n < times; n++) run();
  return performance.now() - start;
}

/**
 * Median milliseconds a run of each candidate `{name, run, sync}`, `sync: false` where run() gives a promise; and the
 * best, which a busy machine disturbs least.
 */
export async function race(candidates, rounds) {
  const repeats = [];
  for (const candidate of candidates) {
    let spent = 0;
    let runs = 0;
    while (runs < 2 || (spent < kWarmUp && runs < 2000)) {
      spent += await once(candidate, 1);
      runs++;
    }
    repeats.push(Math.max(1, Math.ceil(kSample / (await once(candidate, 1)))));
  }
  const samples = candidates.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (let c = 0; c < candidates.length; c++)
      samples[c].push((await once(candidates[c], repeats[c])) / repeats[c]);
  }
  return samples.map((times) => ({ median: median(times), best: Math.min(...times) }));
}
