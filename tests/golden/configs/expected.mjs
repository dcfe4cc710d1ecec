// What the configs beside this file must give, by whole-number arithmetic to sixty digits: nothing of posenc is used.
// Each file has a model's keys (`config`), what its documents and its authors' code make of them (`facts`, written by
// hand), and the numbers that follow (`expected`, written here).
//   node tests/golden/configs/expected.mjs           writes `expected` anew
//   node tests/golden/configs/expected.mjs --check   fails where a file is not what would be written
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// ---------------------------------------------------------------- numbers: x stands for x / kOne

const kDigits = 60n;
const kOne = 10n ** kDigits;

/** A number as JavaScript prints it, exactly. */
function fixed(value) {
  const [, sign, whole, part = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(value));
  const shift = Number(kDigits) + Number(power) - part.length;
  const digits = BigInt(whole + part);
  const size = shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
  return sign ? -size : size;
}

/** The nearest double. */
function double(x) {
  const digits = (x < 0n ? -x : x).toString().padStart(Number(kDigits) + 1, "0");
  return Number(`${x < 0n ? "-" : ""}${digits.slice(0, -Number(kDigits))}.${digits.slice(-Number(kDigits))}`);
}

const times = (a, b) => (a * b) / kOne;
const over = (a, b) => (a * kOne) / b;
const floor = (x) => (x >= 0n ? x / kOne : -((-x + kOne - 1n) / kOne));
const ceil = (x) => -floor(-x);

function root(x) {
  let guess = kOne > x ? kOne : x;
  for (;;) {
    const next = (guess + over(x, guess)) / 2n;
    if (next >= guess) return guess;
    guess = next;
  }
}

// 2 artanh((x - 1) / (x + 1)) after halving x towards 1.
function log(x) {
  let halves = 0n;
  while (x > 2n * kOne) [x, halves] = [x / 2n, halves + 1n];
  while (x < kOne) [x, halves] = [x * 2n, halves - 1n];
  const series = (y) => {
    const z = over(y - kOne, y + kOne);
    const square = times(z, z);
    let [sum, power] = [0n, z];
    for (let n = 1n; power !== 0n; n += 2n) [sum, power] = [sum + power / n, times(power, square)];
    return 2n * sum;
  };
  return series(x) + (halves === 0n ? 0n : halves * series(2n * kOne));
}

function exp(x) {
  if (x < 0n) return over(kOne, exp(-x));
  const steps = 1n << 20n; // (e^(x / 2^20))^(2^20)
  // Twenty more digits, as the twenty squarings eat some.
  const one = kOne * 10n ** 20n;
  const small = (x * 10n ** 20n) / steps;
  let [sum, term] = [one, one];
  for (let n = 1n; term !== 0n; n += 1n) [sum, term] = [sum + (term * small) / one / n, (term * small) / one / n];
  for (let n = 0; n < 20; n++) sum = (sum * sum) / one;
  return sum / 10n ** 20n;
}

// Machin: pi = 16 atan(1/5) - 4 atan(1/239).
const pi = (() => {
  const arctan = (n) => {
    let [sum, power, sign] = [0n, kOne / n, 1n];
    for (let k = 1n; power !== 0n; k += 2n) [sum, power, sign] = [sum + (sign * power) / k, power / (n * n), -sign];
    return sum;
  };
  return 16n * arctan(5n) - 4n * arctan(239n);
})();

// ---------------------------------------------------------------- rotations

const fromBase = (base, exponents) => {
  const rate = log(base);
  return exponents.map((exponent) => exp(-times(rate, exponent)));
};

// 2i / width for each of the pairs.
const usual = (width, pairs = width / 2) =>
  Array.from({ length: pairs }, (_, i) => (2n * BigInt(i) * kOne) / BigInt(width));

// base^(-2i / width) of a rule of Peng et al. 2023 (YaRN), with DeepSeek's two factors.
function yarn(base, width, rule) {
  const [factor, length] = [fixed(rule.factor), fixed(rule.original)];
  const plain = fromBase(base, usual(width));
  // The pair that turns so many times over the trained length.
  const pair = (turns) => over(BigInt(width) * log(over(length, times(fixed(turns), 2n * pi))), 2n * log(base));
  let [low, high] = [pair(rule.betaFast ?? 32), pair(rule.betaSlow ?? 1)];
  if (rule.truncate !== false) [low, high] = [floor(low) * kOne, ceil(high) * kOne];
  if (low < 0n) low = 0n;
  const last = BigInt(width - 1) * kOne;
  if (high > last) high = last;
  if (low === high) high += kOne / 1000n;
  const inverse = plain.map((frequency, i) => {
    let ramp = over(BigInt(i) * kOne - low, high - low);
    ramp = ramp < 0n ? 0n : ramp > kOne ? kOne : ramp;
    return times(over(frequency, factor), ramp) + times(frequency, kOne - ramp);
  });
  const grown = (m) => (factor <= kOne ? kOne : times(m, log(factor)) / 10n + kOne);
  const [mscale, all] = [fixed(rule.mscale ?? 0), fixed(rule.mscaleAllDim ?? 0)];
  const attentionFactor =
    rule.attentionFactor !== undefined
      ? fixed(rule.attentionFactor)
      : mscale && all
        ? over(grown(mscale), grown(all))
        : grown(kOne);
  return { inverse, attentionFactor };
}

function llama3(base, width, rule) {
  const [factor, length] = [fixed(rule.factor), fixed(rule.original)];
  const [low, high] = [fixed(rule.low), fixed(rule.high)];
  return fromBase(base, usual(width)).map((frequency) => {
    const turns = over(times(length, frequency), 2n * pi);
    if (turns > high) return frequency;
    if (turns < low) return over(frequency, factor);
    const smooth = over(turns - low, high - low);
    return times(over(frequency, factor), kOne - smooth) + times(frequency, smooth);
  });
}

// b^(width / (width - 2))
const stretched = (base, by, width) => times(base, exp((log(by) * BigInt(width)) / BigInt(width - 2)));

/** {inverse, attentionFactor} or, where they depend on the length of the call, {byLength: {length: …}}. */
function rotation({ width, rotary = width, base: number, rule }) {
  const base = fixed(number);
  const done = ({ inverse, attentionFactor = kOne }) => ({
    inverse: inverse.map(double),
    attentionFactor: double(attentionFactor),
  });
  const plain = () => fromBase(base, usual(rotary));
  switch (rule?.type) {
    case undefined:
      return done({ inverse: plain() });
    case "linear":
      return done({ inverse: plain().map((frequency) => over(frequency, fixed(rule.factor))) });
    case "yarn":
      return done(yarn(base, rotary, rule));
    case "llama3":
      return done({ inverse: llama3(base, rotary, rule) });
    case "proportional": {
      const turning = Math.floor((rule.share * width) / 2);
      const still = Array.from({ length: width / 2 - turning }, () => 0n);
      return done({ inverse: [...fromBase(base, usual(width, turning)), ...still] });
    }
    case "dynamic": {
      const at = (length) => {
        const beyond = over(fixed(rule.factor) * BigInt(Math.max(length, rule.length)), BigInt(rule.length) * kOne);
        return stretched(base, beyond - (fixed(rule.factor) - kOne), rotary);
      };
      const lengths = [rule.length, 2 * rule.length, 8 * rule.length];
      return byLength(lengths, (length) => done({ inverse: fromBase(at(length), usual(rotary)) }));
    }
    case "qwen": {
      // 2^ceil(log2(length / trained) + 1) - 1 and never below 1
      const alpha = (length) => {
        let steps = 0;
        while (rule.length * 2 ** steps < length) steps += 1;
        return Math.max(2 ** (steps + 1) - 1, 1);
      };
      const lengths = [rule.length, rule.length + 1, 4 * rule.length];
      return byLength(lengths, (length) => {
        const by = fixed(length <= rule.length ? 1 : alpha(length));
        return done({ inverse: fromBase(stretched(base, by, rotary), usual(rotary)) });
      });
    }
    case "longrope": {
      const scaled = (factors) => plain().map((frequency, i) => over(frequency, fixed(factors[i])));
      const grown = fixed(rule.factor);
      const attentionFactor =
        rule.attentionFactor !== undefined
          ? fixed(rule.attentionFactor)
          : grown <= kOne
            ? kOne
            : root(kOne + over(log(grown), log(fixed(rule.original))));
      return byLength([rule.original, rule.original + 1], (length) =>
        done({ inverse: scaled(length > rule.original ? rule.long : rule.short), attentionFactor }),
      );
    }
    default:
      throw new Error(`no rule ${rule.type}`);
  }
}

const byLength = (lengths, at) => ({ byLength: Object.fromEntries(lengths.map((length) => [length, at(length)])) });

// ---------------------------------------------------------------- the rest

/** The scale: 1 / sqrt(root), times the square of DeepSeek's factor. */
function scaleOf({ root: width, factor, mscaleAllDim }) {
  if (width === undefined) return 1;
  const plain = over(kOne, root(fixed(width)));
  if (mscaleAllDim === undefined) return double(plain);
  const grown = times(fixed(mscaleAllDim), log(fixed(factor))) / 10n + kOne;
  return double(times(plain, times(grown, grown)));
}

/** ALiBi's slopes: a power of two's, or those of the next power, the odd ones first. */
function slopesOf({ heads, steepest = 8, root: width }) {
  const power = (n) =>
    Array.from({ length: n }, (_, h) => exp(-(log(2n * kOne) * BigInt(steepest) * BigInt(h + 1)) / BigInt(n)));
  let count = 1;
  while (count < heads) count *= 2;
  const all = power(count);
  const picked = [...all.filter((_, h) => h % 2 === 1), ...all.filter((_, h) => h % 2 === 0)].slice(0, heads);
  const slopes = count === heads ? all : picked;
  return slopes.map((slope) => double(width === undefined ? slope : over(slope, root(fixed(width)))));
}

const kOffsets = [
  -1000, -200, -128, -91, -64, -46, -45, -16, -8, -7, -1, 0, 1, 7, 8, 15, 16, 45, 46, 64, 127, 128, 200,
];

/** T5's buckets of key - query, by comparing whole powers: no logarithm. */
function bucketsOf({ buckets, maxDistance, bidirectional }) {
  return kOffsets.map((offset) => {
    const count = bidirectional ? buckets / 2 : buckets;
    const distance = bidirectional ? Math.abs(offset) : Math.max(-offset, 0);
    const side = bidirectional && offset > 0 ? count : 0;
    const exact = count / 2;
    if (distance < exact) return side + distance;
    // The largest k with (distance / exact)^(count - exact) >= (maxDistance / exact)^k.
    const rest = BigInt(count - exact);
    let k = 0;
    const reaches = (n) =>
      BigInt(distance) ** rest * BigInt(exact) ** BigInt(n) >= BigInt(maxDistance) ** BigInt(n) * BigInt(exact) ** rest;
    while (k < count - exact - 1 && reaches(k + 1)) k += 1;
    return side + exact + k;
  });
}

/** All that follows from a file's facts. */
export function expectedOf(facts) {
  const expected = {};
  if (facts.rotate) expected.rotate = rotation(facts.rotate);
  if (facts.local) expected.local = rotation(facts.local);
  expected.scale = scaleOf(facts.scale ?? {});
  if (facts.alibi) expected.slopes = slopesOf(facts.alibi);
  if (facts.t5) {
    expected.offsets = kOffsets;
    expected.encoderBuckets = bucketsOf({ ...facts.t5, bidirectional: true });
    expected.decoderBuckets = bucketsOf({ ...facts.t5, bidirectional: false });
  }
  return expected;
}

/** The text of a file: a line for each of its parts. */
function textOf({ expected: _, ...file }) {
  const parts = { ...file, expected: expectedOf(file.facts) };
  const lines = Object.entries(parts).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  return `{\n${lines.join(",\n")}\n}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = import.meta.dirname ?? join(fileURLToPath(import.meta.url), "..");
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".json"))) {
    const path = join(folder, name);
    const now = readFileSync(path, "utf8");
    const text = textOf(JSON.parse(now));
    if (now === text) continue;
    if (process.argv.includes("--check")) {
      console.error(`${name} is not what expected.mjs writes`);
      process.exitCode = 1;
    } else {
      writeFileSync(path, text);
    }
  }
}
