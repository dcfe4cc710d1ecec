// Timing side by side: every candidate once a round, so that what disturbs one disturbs all; the median is kept.

/** Milliseconds a candidate must have run before it counts: engines compile in the background. */
const kWarmUp = 400;
/** Least milliseconds of one sample; short runs are repeated. */
const kSample = 3;
/** Milliseconds after which a candidate far behind leaves the race, but not before it has run `kFewest` rounds. */
const kPatience = 4000;
const kFewest = 5;

/** The middle of some numbers. */
export const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function once({ run, sync }, times) {
  const start = performance.now();
  if (sync === false) for (let n = 0; n < times; n++) await run();
  else for (let n = 0; n < times; n++) run();
  return performance.now() - start;
}

// Each round in another order, the same in every run: else a candidate always finds the caches as the one before it
// leaves them.
function shuffle(order, seed) {
  let state = seed + 1;
  for (let last = order.length - 1; last > 0; last--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (last + 1));
    [order[last], order[other]] = [order[other], order[last]];
  }
}

/**
 * Median milliseconds a run of each candidate `{name, run, sync}`, `sync: false` where run() gives a promise; the best,
 * which a busy machine disturbs least; and the rounds that it ran. What takes ten times as long as the first and longer
 * than is worth waiting for runs fewer of them.
 */
export async function race(candidates, rounds) {
  const repeats = [];
  const turns = [];
  let first;
  for (const candidate of candidates) {
    let spent = 0;
    let runs = 0;
    while (runs < 2 || (spent < kWarmUp && runs < 2000)) {
      spent += await once(candidate, 1);
      runs++;
    }
    // Clocks of browsers tick as seldom as ten times a millisecond: short runs are timed together.
    let [times, taken] = [1, await once(candidate, 1)];
    while (taken < kSample) {
      times *= 2;
      taken = await once(candidate, times);
    }
    const time = taken / times;
    first ??= time;
    repeats.push(Math.max(1, Math.ceil(kSample / time)));
    const fewer = Math.max(kFewest, Math.floor(kPatience / time));
    turns.push(time > 10 * first ? Math.min(rounds, fewer) : rounds);
  }
  const samples = candidates.map(() => []);
  const order = candidates.map((_, c) => c);
  for (let round = 0; round < rounds; round++) {
    shuffle(order, round);
    for (const c of order) {
      if (round < turns[c]) samples[c].push((await once(candidates[c], repeats[c])) / repeats[c]);
    }
  }
  return samples.map((times) => ({ median: median(times), best: Math.min(...times), rounds: times.length }));
}
