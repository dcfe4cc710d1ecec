// What a reader sees and does with each figure, in Chromium, by hand: views chosen, sliders moved, sentences and laws
// typed, files dropped; and what the figure then reads out, against the core's numbers through the public API.
// (Arrow keys, pointer and touch over every cell, files and attributes: figures.test.mjs has those of all figures.)
import { afterAll, beforeAll, expect, it } from "vitest";
import { book, short } from "../../web/figures/format.ts";
import { seedOf } from "../../web/figures/sentence.ts";
import * as posenc from "../../web/src/index.ts";
import { fromConfig } from "../../web/src/config.ts";
import { toNpy } from "../../web/src/files.ts";
import { builtFigures, kPageStyle, pageOf, watchPage } from "./figures.mjs";
import { kDist, launch, open, serveFolder } from "./harness.mjs";

const { encode, rope, sinusoidal, tensor } = posenc;
await posenc.ready();
const figures = await builtFigures();

let browser;
let server;
let opened;
let page;
let figure;
beforeAll(async () => {
  browser = await launch();
  server = await serveFolder(kDist, { extra: { "/none": pageOf([]), "/page.css": kPageStyle } });
  // The page is opened empty, so that what watches it can be there first.
  opened = await open(browser, "about:blank");
  page = opened.page;
  await page.addInitScript(watchPage);
  await page.goto(`${server.address}none`, { waitUntil: "load" });
});
afterAll(async () => {
  await opened?.close();
  await browser?.close();
  await server?.close();
});

// ---------------------------------------------------------------- hands and eyes

async function show(name, attributes = {}) {
  await page.evaluate(([tag, given]) => globalThis.__figures.alone(tag, given).then(() => {}), [
    `posenc-${name}`,
    attributes,
  ]);
  figure = page.locator(`posenc-${name}`);
}

/** The values once all is drawn, and what is read out: `reads("wavelength 149.0 tokens")`. */
async function look() {
  const seen = await figure.evaluate(async (element) => {
    await element.drawn;
    return { values: { ...element.value }, words: globalThis.__figures.words(element) };
  });
  expect(seen.words.fault).toBe("");
  return { ...seen.values, ...seen.words };
}

const plain = (words) => words.replace(/\s+/g, " ");

/** Expects these readings among those shown, spaces of any kind alike. */
async function reads(...readings) {
  const said = (await look()).readout.map(plain);
  for (const reading of readings) expect(said, said.join("; ")).toContain(plain(reading));
}

async function tab(name) {
  await figure.getByRole("tab", { name, exact: true }).click();
  await look();
}

/** Keys on the drawing, or on the control of this label. */
async function press(keys, label) {
  const on = label === undefined ? figure.locator("[part~=drawing]") : control(label);
  await on.focus();
  for (const key of keys.split(" ")) await page.keyboard.press(key);
  return look();
}

const control = (label) => figure.getByLabel(label, { exact: true });

async function choose(label, value) {
  await control(label).selectOption(value);
  return look();
}

async function type(label, words) {
  await control(label).focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(words);
  return look();
}

async function tick(label) {
  await control(label).focus();
  await page.keyboard.press("Space");
  return look();
}

async function unfold() {
  await figure.locator("summary", { hasText: "more settings" }).click();
}

/** Points at shares of the drawing's width and height. */
async function point(right, down, { click = false } = {}) {
  const drawing = figure.locator("[part~=drawing]");
  await drawing.scrollIntoViewIfNeeded();
  const box = await drawing.boundingBox();
  await page.mouse.move(box.x + right * box.width, box.y + down * box.height);
  if (click) await page.mouse.down().then(() => page.mouse.up());
  return look();
}

async function drop(name, bytes) {
  await figure.evaluate(
    (element, [fileName, numbers]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([Uint8Array.from(numbers)], fileName));
      const canvas = globalThis.__figures.part(element, "canvas");
      for (const kind of ["dragover", "drop"]) {
        canvas.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, composed: true, cancelable: true }));
      }
    },
    [name, [...bytes]],
  );
  await expect.poll(() => figure.locator("[part~=status]").textContent()).toBe(`read ${name}`);
  return look();
}

const signed = (value, decimals = 4) => book(value, { decimals, signed: true });
const significant = (value, digits) => book(value, { significant: digits });
const positions = (n) => Array.from({ length: n }, (_, t) => t);
const dot = (a, b) => a.reduce((sum, value, c) => sum + value * b[c], 0);

// As figures show a table that nobody has trained.
const { shown } = posenc.schemes.find(({ name }) => name === "learned").params.find(({ name }) => name === "std");
const learnedTable = posenc.learned({ length: 24, dim: 16, ...(shown ? { std: shown.value } : {}) });

// One seeded vector a word, by heads: [heads, tokens, width].
function wordsBy(words, heads, width, { purpose, seed = 0, mean = 0, std }) {
  const vector = (word) => posenc.randomNormal(heads * width, { seed: seedOf(word, purpose, seed), mean, std }).data;
  const rows = words.map(vector);
  return tensor(positions(heads).map((h) => rows.map((row) => [...row.subarray(h * width, (h + 1) * width)])));
}

// ---------------------------------------------------------------- eighteen figures

it("posenc-embed: positions by dimensions under the hand, waves of chosen dimensions, clock hands", async () => {
  await show("embed", { positions: 40, dim: 16 });
  const check = async ({ position, dimension, dim, base }, wavelengths = true) => {
    const scheme = sinusoidal({ dim, base });
    const pair = Math.floor(dimension / 2);
    await reads(
      `position ${position}`,
      `dimension ${dimension} (${dimension % 2 === 0 ? "sine" : "cosine"} of pair ${pair})`,
      `wavelength ${significant(posenc.frequencies(scheme).wavelength[pair], 4)} tokens`,
      `value ${signed(encode(scheme, [position]).at(0, dimension))}`,
    );
  };
  const before = await look();
  const hovered = await point(0.3, 0.3);
  expect([hovered.position, hovered.dimension]).not.toEqual([before.position, before.dimension]);
  await check(hovered);
  const moved = await press("Control+Home ArrowDown Shift+ArrowRight");
  expect([moved.position, moved.dimension]).toEqual([1, 10]);
  await check(moved);
  const slid = await press("ArrowRight", "base");
  expect(slid.base).toBeGreaterThan(10000);
  await check(slid);
  await tab("waves");
  await unfold();
  const waves = await type("dimensions shown", "3 6");
  await check(await press("Home ArrowRight ArrowRight ArrowDown"));
  expect(waves.waves).toBe("3 6");
  await tab("circles");
  await check(await press("End"));
  // Of circles in several lines, arrow keys go to what a pointer finds above and below.
  await show("embed", { view: "circle", dim: 64, dimension: 2 });
  await look();
  const atHeight = async (y) => point(0.5, y / (await figure.locator("[part~=drawing]").boundingBox()).height);
  const first = await atHeight(20);
  // The next line is that where the pointer leaves the pairs of the first.
  let under = first;
  for (let y = 20; under.dimension === first.dimension; y += 10) under = await atHeight(y);
  await page.mouse.move(0, 0);
  await look();
  await figure.evaluate((element, { dimension }) => (element.dimension = dimension + 1), first);
  expect((await look()).dimension).toBe(first.dimension + 1);
  // From the cosine to the cosine.
  expect((await press("ArrowDown")).dimension).toBe(under.dimension + 1);
  expect((await press("ArrowUp")).dimension).toBe(first.dimension + 1);
  expect((await press("ArrowUp")).dimension).toBe(first.dimension + 1);
  const last = await press("ArrowDown ArrowDown ArrowDown ArrowDown");
  await check(last);
  expect(last.position).toBe(first.position);
});

it("posenc-addition: a typed sentence, its embeddings plus the encoding, scale and alpha", async () => {
  await show("addition");
  await type("sentence", "dog bites the other dog");
  const { alpha } = await press("Home ArrowRight ArrowRight", "encoding times");
  expect(alpha).toBe(0.1);
  await choose("embeddings times", "sqrt");
  const { dim } = await press("ArrowRight", "dimensions");
  expect(dim).toBe(8);
  await press("Control+End");
  const word = (name) => posenc.randomNormal(dim, { seed: seedOf(name), std: 0.3 });
  const x = tensor(["dog", "bites", "the", "other", "dog"].map((name) => [...word(name).data]));
  const scheme = sinusoidal({ dim });
  const input = posenc.embed(x, scheme, { scale: "sqrt", alpha }).at(4, 7);
  const encoding = alpha * encode(scheme, 5).at(4, 7);
  const sum = `${book(Math.sqrt(dim) * x.at(4, 7), { decimals: 3 })} + ${book(encoding, { decimals: 3 })}`;
  await reads("word dog", "position 4", "dimension 7", `input ${sum} = ${book(input, { decimals: 3 })}`);
});

it("posenc-spectrum: wavelengths and a context, pairs that never turn, a rule before and after, digits", async () => {
  await show("spectrum", { dim: 32 });
  let { pair, context } = await press("End");
  expect(pair).toBe(15);
  const plain = rope({ dim: 32 });
  const check = async (scheme, ...more) => {
    const { wavelength, turns, neverTurn } = posenc.spectrum(scheme, { context });
    await reads(
      `pair ${pair}`,
      `wavelength ${significant(wavelength[pair], 4)} positions`,
      `turns in the context ${significant(turns[pair], 3)}`,
      ...more,
    );
    const { summary } = await look();
    expect(summary).toContain(`no full turn: ${neverTurn.length} pair${neverTurn.length === 1 ? "" : "s"}`);
    return neverTurn.length;
  };
  const many = await check(plain);
  ({ context } = await press("End", "context"));
  expect(await check(plain)).toBeLessThan(many);
  await choose("scaling rule", "linear");
  const { "scaling.factor": factor } = await press("ArrowRight", "scaling factor");
  const scaled = rope({ dim: 32, scaling: { type: "linear", factor } });
  const { wavelength } = posenc.spectrum(plain, { context });
  await check(scaled, `before ${significant(wavelength[pair], 4)}`);
  await choose("scaling rule", "none");
  await tab("a position as a number");
  const { position, dim } = await press("End Shift+ArrowLeft", "position");
  const { place } = await press("Home ArrowRight");
  expect([position > 1000, place]).toEqual([true, 1]);
  const digits = posenc.radix(rope({ dim }), position, { length: context });
  // The greatest place comes first.
  pair = dim / 2 - 2;
  await reads(
    `position ${book(position)}`,
    `pair ${pair}`,
    `digit ${book(digits.digits[pair])}`,
    `phase ${book(digits.phase[pair], { decimals: 4 })} of a turn`,
  );
});

it("posenc-shift: a pair at t and at t + k, the matrix that turns it, the error at all positions", async () => {
  await show("shift", { positions: 64 });
  const { offset } = await press("ArrowRight ArrowRight", "moved by k");
  const { pair } = await press("ArrowRight", "pair");
  const { position } = await press("End Shift+ArrowLeft");
  expect([offset, pair, position]).toEqual([7, 2, 53]);
  const scheme = sinusoidal({ dim: 16 });
  const errors = posenc.shiftError(scheme, 7, 64, { length: 71 }).tolist();
  await reads(
    "t 53",
    "t + k 60",
    `turned by ${signed(7 / posenc.frequencies(scheme).wavelength[2])} turns`,
    `error at t ${significant(errors[53], 2)}`,
    `largest at any t ${significant(Math.max(...errors), 2)}`,
  );
  await tab("whole matrix");
  const { row, column } = await press("Control+Home ArrowDown ArrowDown ArrowDown ArrowRight ArrowRight");
  expect([row, column]).toEqual([3, 2]);
  await reads("row 3 (pair 1)", "column 2", `value ${signed(posenc.shiftMatrix(scheme, 7).at(3, 2))}`);
});

it("posenc-similarity: dot, cosine and distance of positions, the diagonal's profile, two schemes", async () => {
  await show("similarity", { positions: 24, dim: 16 });
  const table = encode(sinusoidal({ dim: 16 }), 24);
  const names = { dot: "dot product", cosine: "cosine", euclidean: "distance" };
  await press("Control+Home ArrowDown ArrowDown Shift+ArrowRight");
  for (const [metric, name] of Object.entries(names)) {
    await tab(name);
    const all = posenc.similarity(table, { metric });
    const mean = positions(16).reduce((sum, t) => sum + all.at(t, t + 8), 0) / 16;
    const write = (value) => book(value, { decimals: 4, signed: metric !== "euclidean" });
    const [own, average] = [write(all.at(2, 10)), write(mean)];
    await reads("positions 2 and 10", "offset +8", `${name} ${own}`, `average at this offset ${average}`);
  }
  await choose("compare with", "learned");
  const learned = posenc.similarity(encode(learnedTable, 24), { metric: "euclidean" });
  await reads(`learned ${book(learned.at(2, 10), { decimals: 4 })}`);
  // A dropped table stands beside the scheme in place of the second one, with its own rows.
  const own = posenc.randomNormal([20, 6], { seed: 5 });
  expect((await drop("own.npy", toNpy(own))).title).toContain("own.npy (6 dimensions)");
  const given = posenc.similarity(own, { metric: "euclidean" });
  const apart = (of, rows) => {
    const sum = positions(rows - 8).reduce((total, t) => total + of.at(t, t + 8), 0);
    return book(sum / (rows - 8), { decimals: 4 });
  };
  const all = posenc.similarity(table, { metric: "euclidean" });
  await reads(
    `own.npy ${book(given.at(2, 10), { decimals: 4 })}`,
    `average at this offset ${apart(all, 24)} and ${apart(given, 20)}`,
  );
  // Past its end it has nothing to compare.
  await press("Control+End");
  await reads("positions 23 and 23", "own.npy \u2013");
});

it("posenc-decay: integral and sum, short and long, the known laws and the reader's own, d as a slider", async () => {
  await show("decay", { near: 16, far: 1000 });
  const laws = {
    "10000^-t": { law: "exponential", base: 10000 },
    "1000^-t": { law: "exponential", base: 1000 },
    t: { law: "power", alpha: 1 },
    "t^2": { law: "power", alpha: 2 },
    "sqrt(t)": { law: "power", alpha: 0.5 },
    "base^-t": ({ base }) => ({ law: "exponential", base }),
    "t^alpha": ({ alpha }) => ({ law: "power", alpha }),
  };
  const check = async (name) => {
    const { offset, dim, ...values } = await look();
    const law = typeof laws[name] === "function" ? laws[name](values) : laws[name];
    const integral = posenc.oscillatoryIntegral(law, [offset]).at(0);
    const sum = posenc.riemannSum(law, [offset], { dim }).at(0);
    await reads(
      `offset ${book(offset)}`,
      `integral ${signed(integral)}`,
      `sum of ${book(dim / 2)} pairs ${signed(sum)}`,
      `apart ${significant(Math.abs(integral - sum), 2)}`,
    );
    return Math.abs(integral - sum);
  };
  expect((await press("End ArrowLeft")).offset).toBe(15);
  for (const name of Object.keys(laws)) {
    await choose("frequencies \u03b8(t)", name);
    await check(name);
  }
  expect((await press("ArrowRight ArrowRight", "exponent")).alpha).toBeGreaterThan(1.5);
  const far = await check("t^alpha");
  expect((await press("End", "dimensions d")).dim).toBe(1024);
  expect(await check("t^alpha")).toBeLessThan(far);
  await tab("long range");
  await choose("frequencies \u03b8(t)", "base^-t");
  expect((await press("ArrowLeft", "base")).base).toBeLessThan(500);
  expect((await press("End")).offset).toBe(1000);
  await check("base^-t");
});

it("posenc-expansion: p(m) H p(n) and its three parts for H = I, diagonal and general, the six terms", async () => {
  await show("expansion", { positions: 12, dim: 8 });
  const scheme = sinusoidal({ dim: 8 });
  const diagonal = posenc.randomNormal(8, { mean: 1 }).data;
  const general = posenc.randomNormal([8, 8], { seed: 1, std: 0.3 });
  const matrices = {
    identity: Array(8).fill(1),
    paired: positions(8).map((c) => diagonal[Math.floor(c / 2)]),
    diagonal: [...diagonal],
    general: positions(8).map((r) => positions(8).map((c) => (r === c ? diagonal[r] : general.at(r, c)))),
  };
  await press("Control+End ArrowUp Shift+ArrowLeft");
  for (const [h, matrix] of Object.entries(matrices)) {
    const { m, n } = await choose("H", h);
    expect([m, n]).toEqual([10, 1]);
    const parts = posenc.bilinear(scheme, tensor(matrix), { queries: 12, keys: 12 });
    await reads(
      "m \u2212 n +9",
      `p(m)\u1d40\u2009H\u2009p(n) ${signed(parts.value.at(10, 1))}`,
      `m \u2212 n part ${signed(parts.relative.at(10, 1))}`,
      `m + n part ${signed(parts.absolute.at(10, 1))}`,
      `the rest ${signed(parts.rest.at(10, 1))}`,
    );
    const { summary } = await look();
    expect(summary.includes("Only m\u00a0\u2212\u00a0n counts")).toBe(h === "identity" || h === "paired");
  }
  await tab("the six terms");
  const { step, m, n } = await press("Home ArrowRight");
  const scale = Number((0.001 * 10 ** (step / 20)).toPrecision(3));
  const model = posenc.taylor({ tokens: 12, dim: 8, seed: 0, scales: [scale], positions: [m, n], scheme });
  await reads(
    `p(m) p(n) f\u2033 ${book(model.terms.at(0, 5), { significant: 3, signed: true })}`,
    `left over ${book(model.remainder.at(0), { significant: 3, signed: true })}`,
  );
});

it("posenc-rotate: hands that turn, a score that is constant along m - n, and the alarm of mixed layouts", async () => {
  await show("rotate");
  const [q, k] = [0, 1].map((row) => posenc.randomNormal([2, 8], { seed: 0 }).row(row));
  const turned = (x, at, options = {}, side = "query") =>
    posenc.rotate(tensor([[...x]]), rope({ dim: 8, ...options }), { positions: [at], side }).row(0);
  const dotted = (a, b) => dot([...a], b) / Math.sqrt(8);
  const score = (m, n) => dotted(turned(q, m), turned(k, n, {}, "key"));
  const near = async (label, value, decimals = 4) => {
    const { readout } = await look();
    const words = readout.find((one) => one.startsWith(`${label} `)).slice(label.length + 1);
    expect(Number(words.replace("\u2212", "-")), label).toBeCloseTo(value, decimals - 1);
    return words;
  };
  expect(await press("End", "query at m")).toMatchObject({ m: 31, n: 4 });
  await near("score", score(31, 4));
  await tab("scores");
  await press("Control+Home ArrowDown ArrowDown ArrowDown ArrowRight");
  const first = await near("score", score(3, 1));
  // Along the diagonal it stays.
  for (let step = 0; step < 3; step++) {
    const { m, n } = await press("ArrowDown ArrowRight");
    expect(m - n).toBe(2);
    expect(await near("score", score(m, n))).toBe(first);
  }
  await tab("layouts");
  await choose("in the other layout", "sides");
  const { m, n } = await look();
  const mixed = dotted(turned(q, m), turned(k, n, { layout: "half" }, "key"));
  await near("score", score(m, n));
  await near("mixed score", mixed);
  await choose("layout", "half");
  await near("mixed score", dotted(turned(q, m, { layout: "half" }), turned(k, n, {}, "key")));
  await choose("layout", "interleaved");
  // The alarm, and what sets it off: norms that run, and scores of one m - n that differ.
  const everywhere = (x, options) => {
    const rows = posenc.rotate(tensor(positions(32).map(() => [...x])), rope({ dim: 8, ...options }));
    return positions(32).map((t) => [...rows.row(t)]);
  };
  const { inverse } = posenc.frequencies(rope({ dim: 8 }));
  // Pairs of neighbours that read a table of cosines and sines in halves.
  const misread = (x) =>
    positions(32).map((t) =>
      [...x].map((value, c) => {
        const angle = t * inverse.at(c % 4);
        return value * Math.cos(angle) + (c % 2 === 0 ? -x[c + 1] : x[c - 1]) * Math.sin(angle);
      }),
    );
  const all = (queries, keys) => queries.map((one) => keys.map((two) => dotted(one, two)));
  const right = all(everywhere(q), everywhere(k));
  const spread = (table) =>
    Math.max(
      ...positions(63).map((at) => {
        const line = positions(32).flatMap((t) => table[t]?.[t + at - 31] ?? []);
        return Math.max(...line) - Math.min(...line);
      }),
    );
  const two = (value) => book(value, { decimals: 2 });
  const norm = two(Math.hypot(...q));
  const alarm = async (mix) => plain((await choose("in the other layout", mix)).caption);
  const norms = misread(q).map((row) => Math.hypot(...row));
  const [low, high] = [Math.min(...norms), Math.max(...norms)];
  const runs = `the norm of the query, ${norm} when right, runs from ${two(low)} to ${two(high)}`;
  const differ = (table) =>
    `scores of one m \u2212 n differ by up to ${two(spread(table))}, so the offset alone no longer decides`;
  expect(await alarm("table")).toContain(`Mixed up: ${runs}, and ${differ(all(misread(q), misread(k)))}.`);
  const keys = all(everywhere(q), everywhere(k, { layout: "half" }));
  expect(await alarm("sides")).toBe(`Mixed up: the norm of the query stays ${norm}, but ${differ(keys)}.`);
  const both = all(everywhere(q, { layout: "half" }), everywhere(k, { layout: "half" }));
  const gap = Math.max(...both.flatMap((row, i) => row.map((value, j) => Math.abs(value - right[i][j]))));
  expect(await alarm("both")).toBe(
    `No alarm goes off: the norm of the query stays ${norm}, and every diagonal is constant, yet scores differ from ` +
      `the right ones by up to ${two(gap)}: only the right scores tell.`,
  );
});

it("posenc-bias: b(i, j) a head and its profile, for every scheme", async () => {
  await show("bias", { heads: 4, positions: 12 });
  const schemes = await control("scheme").locator("option").evaluateAll((list) => list.map(({ value }) => value));
  const all = posenc.schemes.filter(({ slot }) => slot === "bias").map(({ name }) => name);
  expect(schemes.sort()).toEqual(all.sort());
  for (const name of schemes) {
    const values = await choose("scheme", name);
    await press("Control+Home ArrowDown Shift+ArrowDown ArrowRight");
    if (await control("head").isVisible()) await press("End", "head");
    // Toeplitz has seeded numbers for its table, Swin the cells of its window.
    const drawn = () => posenc.randomNormal([4, 23], { seed: seedOf(name, 0, 0), std: 0.7 });
    const scheme = name === "toeplitz" ? posenc.toeplitz({ values: drawn() }) : schemeOf("bias", name, values);
    const { query, key, head } = await look();
    const where = name === "swin" ? posenc.grid(7, 7) : 12;
    const table = posenc.bias(scheme, { queries: where, keys: where });
    expect([query, key], name).toEqual([11, 1]);
    const offset = name === "swin" ? "(\u22121, \u22123)" : "\u221210";
    await reads(`key \u2212 query ${offset}`, `bias ${signed(table.at(Math.min(head, table.shape[0]) - 1, 11, 1))}`);
  }
  await choose("scheme", "alibi");
  await tab("profiles");
  const { offset, head } = await press("Control+End");
  expect([offset, head]).toEqual([11, 4]);
  const farthest = posenc.bias(posenc.alibi({ heads: 4 }), { queries: [0], keys: [11] }).at(3, 0, 0);
  await reads("head 4", `bias ${signed(farthest)}`);
  expect((await choose("scheme", "swin")).title).toBe("Swin relative bias, head 4\u00a0of\u00a04, 49 positions");
  // One view alone is no choice.
  expect(await figure.getByRole("tab").count()).toBe(0);

  // What fits follows where the reader moves its bounds, and comes back with them; what does not is refused.
  await show("bias", { heads: 8, head: 6, positions: 12 });
  expect((await look()).head).toBe(6);
  expect((await press("Home", "heads")).head).toBe(1);
  expect((await press("End", "heads")).head).toBe(6);
  const tell = (head) => figure.evaluate(async (element, value) => {
    element.setAttribute("head", value);
    await element.drawn;
    return globalThis.__figures.words(element).fault;
  }, head);
  expect(await tell("99")).toContain("head must be a whole number from 1 to ");
  expect(await tell("2")).toBe("");
  expect((await look()).head).toBe(2);
});

it("posenc-relate: the clipped or bucketed rows under the hand, and what they add to a row of scores", async () => {
  await show("relate", { tokens: 8 });
  for (const name of ["shaw", "deberta", "t5"]) {
    const values = await choose("scheme", name);
    if (name === "shaw") expect((await press("ArrowLeft", "clip")).clip).toBe(2);
    if (name === "t5") expect((await press("ArrowRight", "buckets")).buckets).toBe(10);
    const slot = name === "t5" ? "bias" : "relate";
    const scheme = schemeOf(slot, name, await look());
    const index = posenc.relativeIndex(scheme, { queries: 8, keys: 8 });
    await tab("table rows");
    const { query, key } = await press("Control+Home ArrowDown ArrowDown End ArrowLeft");
    expect([query, key], String(values.scheme)).toEqual([2, 6]);
    const { readout } = await look();
    const row = new RegExp(`^table row ${index.at(2, 6)}\\b`);
    expect(readout.find((words) => words.startsWith("table row "))).toMatch(row);
    await tab("score terms");
    const width = Number(scheme.dim ?? 16);
    const heads = Number(scheme.heads ?? 1);
    const [q, k] = [0, 1].map((seed) => posenc.randomNormal([heads, 8, width], { seed }));
    const { trace } = posenc.attention(q, k, k, { [slot]: scheme, trace: true });
    const term = trace[slot].at(0, 2, 6);
    await reads("key \u2212 query +4", `adds to the score ${signed(term)}`);
  }
  // Buckets as T5 has them, a row for each near offset, wider ones farther away: a cell's row, and all that is on it.
  await show("relate", { scheme: "deberta", tokens: 24, span: 16, buckets: 8 });
  const buckets = posenc.deberta({ heads: 1, dim: 16, span: 16, buckets: 8 });
  const index = posenc.relativeIndex(buckets, { queries: 24, keys: 24 });
  const offsetsOf = (row) => {
    const all = positions(47).map((at) => at - 23);
    const own = all.filter((offset) => index.at(Math.max(0, -offset), Math.max(0, offset)) === row);
    const [from, to] = [own[0], own.at(-1)].map((offset) => book(offset, { signed: true }));
    return own.length === 1 ? `(offset ${from})` : `(offsets ${from} to ${to})`;
  };
  await press("Control+Home");
  for (let key = 0; key < 24; key += 3) {
    const row = index.at(0, key);
    await reads(`key ${key}`, `table row ${row} ${offsetsOf(row)}`);
    await press("ArrowRight ArrowRight ArrowRight");
  }
  expect([offsetsOf(index.at(0, 3)), offsetsOf(index.at(0, 9))]).toEqual(["(offset +3)", "(offsets +7 to +9)"]);
  await press("Control+End Home");
  await reads("key \u2212 query \u221223", `table row ${index.at(23, 0)} ${offsetsOf(index.at(23, 0))}`);
});

it("posenc-attention: weights of the reader's sentence, masks, two schemes, two sentences", async () => {
  await show("attention", { heads: 2 });
  const words = ["dogs", "bite", "old", "men"];
  await type("sentence", words.join(" "));
  const attend = (queries, keys, options) =>
    posenc.attention(
      wordsBy(queries, 2, 16, { purpose: 1, seed: 91, mean: 0.6, std: 0.8 }),
      ...Array(2).fill(wordsBy(keys, 2, 16, { purpose: 2, seed: 91, mean: 0.6, std: 0.8 })),
      { weights: true, trace: true, ...options },
    );
  const check = async (...each) => {
    const { query, key, head } = await look();
    const weights = each.map(({ weights }) => weights.at(head - 1, query, key));
    const { readout } = await look();
    const written = readout[0].replace(/^.* \u2192 \S+ /, "").split(" and ");
    weights.forEach((weight, s) => {
      if (written[s] === "masked") expect(weight).toBe(0);
      else expect(parseFloat(written[s]) / (written[s].includes("%") ? 100 : 1)).toBeCloseTo(weight, 2);
    });
    const number = (values) => values.map((value) => book(value, { decimals: 2 })).join(" and ");
    const row = (make) => number(each.map(({ weights }) => make(weights).at(head - 1, query)));
    await reads(`entropy ${row((of) => posenc.entropy(of))} nats`);
    if (each[0].weights.shape[1] === each[0].weights.shape[2] && words.length === each[0].weights.shape[2]) {
      await reads(`mean distance ${row((of) => posenc.attentionDistance(of))} tokens`);
    }
  };
  const chooser = async (name) => {
    const byTab = figure.locator(`[role=tab]#tab-${name}`);
    if ((await byTab.count()) > 0) await byTab.click();
    else await choose("scheme", name);
    await look();
  };
  await chooser("alibi");
  const alibi = { bias: posenc.alibi({ heads: 2 }) };
  await press("Control+End");
  const first = attend(words, words, { ...alibi, causal: true });
  await check(first);
  // Its terms stand beside the cell that is clicked, as the core's trace has them.
  const drawn = () => figure.evaluate((element) => globalThis.__figures.canvasTexts(element).map((text) => text.words));
  const before = await drawn();
  const { query: i, key: j } = await point(0.12, 0.4, { click: true });
  expect([i, j]).not.toEqual([3, 3]);
  const { content, bias, scores } = first.trace;
  const terms = [content, bias, scores].map((of) => signed(of.at(0, i, j), 3));
  expect(await drawn()).toEqual(expect.arrayContaining(terms));
  expect(before).not.toEqual(expect.arrayContaining(terms));
  await press("End", "head");
  await press("Control+End ArrowLeft");
  await check(attend(words, words, { ...alibi, causal: true }));
  await tick("causal");
  await press("ArrowRight ArrowRight", "window");
  await check(attend(words, words, { ...alibi, window: 2 }));
  await press("Home", "window");
  await choose("compare with", "rope");
  await check(attend(words, words, alibi), attend(words, words, { rotate: rope({ dim: 16 }) }));
  await choose("compare with", "nothing");
  // The padding is masked.
  await press("ArrowRight", "padding");
  expect((await press("Control+End ArrowUp")).key).toBe(4);
  expect((await look()).readout[0]).toMatch(/masked$/);
  await press("Home", "padding");
  await unfold();
  const other = ["men", "run"];
  await type("a second sentence to look at", other.join(" "));
  await press("Control+Home ArrowRight");
  await check(attend(words, other, alibi));
});

it("posenc-permutation: two typed orders, the gap of Attn(PX) and P Attn(X), broken by position or mask", async () => {
  await show("permutation", { heads: 2 });
  await type("sentence", "dog bites man now");
  expect(await control("its words in another order").getAttribute("placeholder")).toBe("now man bites dog");
  await type("its words in another order", "man now dog bites");
  const order = [2, 3, 0, 1];
  const x = wordsBy(["dog", "bites", "man", "now"], 2, 16, { purpose: 3, std: 0.6 });
  const small = (value) => (value >= 0.01 ? book(value, { decimals: 4 }) : significant(value, 2));
  const check = async (options, same) => {
    const gap = posenc.permutationGap(x, order, options);
    await reads("places 1 and 3", `largest |Attn(PX) \u2212 P Attn(X)| ${small(gap)}`);
    const { summary } = await look();
    expect(summary).toContain(same ? "cannot tell the sentences apart" : "tells the sentences apart");
    expect(gap > 1e-3).toBe(!same);
    return gap;
  };
  await press("Control+Home ArrowDown");
  await check({}, true);
  await choose("sums over keys", "sorted");
  expect(await check({ sum: "sorted" }, true)).toBe(0);
  // What is drawn and read out are those sums.
  const other = tensor(positions(2).map((h) => order.map((t) => [...x.row(h, t)])));
  const [here, there] = [x, other].map((each) => posenc.sortedAttention(each, each, each));
  const { channel } = await look();
  const [own, moved] = [here.at(0, 1, channel), there.at(0, 3, channel)].map((value) => signed(value));
  await reads(`channel ${channel} ${own} and ${moved}`, "distance 0", "distance of the logits 0");
  await choose("sums over keys", "index");
  await choose("scheme", "rope");
  await check({ rotate: rope({ dim: 16 }) }, false);
  await choose("scheme", "none");
  await tick("causal mask");
  await check({ causal: true }, false);
});

it("posenc-projection: components and t-SNE of a table, beside one out of a dropped file", async () => {
  await show("projection", { positions: 24, dim: 16, iterations: 20, perplexity: 5 });
  const tables = [encode(sinusoidal({ dim: 16 }), 24), encode(learnedTable, 24)];
  const check = async (name, places) => {
    const { position } = await press("Home ArrowRight ArrowRight ArrowRight");
    expect(position).toBe(3);
    const at = places.map((of) => `(${[0, 1].map((axis) => significant(of.at(3, axis), 3)).join(", ")})`);
    await reads("position 3", `sinusoidal ${at[0]}`, `${name} ${at[1]}`);
  };
  const components = (table, columns) => {
    const { scores } = posenc.pca(table, { components: 3 });
    return tensor(scores.tolist().map((row) => columns.map((c) => row[c])), undefined, "float64");
  };
  await check("learned", tables.map((table) => components(table, [0, 1])));
  await press("ArrowRight ArrowRight", "across");
  await check("learned", tables.map((table) => components(table, [2, 1])));
  const own = posenc.randomNormal([20, 6], { seed: 5 });
  await drop("own.npy", toNpy(own));
  await check("own.npy", [tables[0], own].map((table) => components(table, [2, 1])));
  await tab("t-SNE");
  const maps = [tables[0], own].map((table) => posenc.tsne(table, { perplexity: 5, iterations: 20, seed: 0 }));
  await check("own.npy", maps.map(({ points }) => points));
});

it("posenc-extrapolation: a table that ends, biases that go on, phases never seen, and every rule", async () => {
  await show("extrapolation", { trained: 64, dim: 16 });
  const { factor, head } = await press("ArrowRight", "factor");
  const length = Math.round(64 * factor);
  await press("Home", "head of the biases");
  const plain = rope({ dim: 16 });
  const { position } = await press("End");
  expect([head, position >= 4 * 64]).toEqual([4, true]);
  const slopes = posenc.bias(posenc.alibi({ heads: 8 }), { queries: [position], keys: [0] });
  const kernel = posenc.kernel(plain, [position], { normalize: true }).at(0);
  await reads(
    `position ${book(position)} (not trained)`,
    "learned table no row",
    `ALiBi, ${book(position)} back ${book(slopes.at(0, 0, 0), { decimals: 3 })}`,
    `RoPE ${signed(kernel, 3)}`,
  );
  await choose("past its end a table", "clamp");
  await reads("learned table row 63");
  await press("Home");
  await reads("position 0 (trained)", "learned table row 0");
  const phases = async (scheme, pair) => {
    const { seen, reached, unseen } = posenc.extrapolation(scheme, { trained: 64, length, trainedWith: plain });
    await reads(
      `pair ${pair}`,
      `turns in training ${short(seen.at(pair))}`,
      `now ${short(reached.at(pair))}`,
      `of its circle new ${book(100 * unseen.at(pair), { decimals: 1 })}\u00a0%`,
    );
  };
  await tab("phases of RoPE");
  await press("End ArrowLeft");
  await phases(plain, 6);
  const trained = { originalMaxPositionEmbeddings: 64 };
  const rules = {
    linear: { factor },
    ntk: { factor },
    dynamic: { factor, maxPositionEmbeddings: 64 },
    "dynamic-static": { factor },
    qwen: { trainLength: 64 },
    yarn: { factor, ...trained },
    llama3: { factor, lowFreqFactor: 1, highFreqFactor: 4, ...trained },
    proportional: { partialRotaryFactor: 0.25 },
  };
  // All that there are but none, and the one that needs lists of factors.
  const { params } = posenc.schemes.find(({ name }) => name === "rope");
  const { choices } = params.find(({ name }) => name === "scaling.type");
  expect(["none", ...Object.keys(rules), "longrope"].sort()).toEqual([...choices].sort());
  for (const [type, options] of Object.entries(rules)) {
    await choose("RoPE\u2019s rule", type);
    await phases(rope({ dim: 16, scaling: { type, ...options } }), 6);
  }
  await tab("rules");
  const { rule, pair } = await press("Control+Home ArrowDown ArrowRight ArrowRight ArrowRight ArrowRight");
  expect([rule, pair]).toEqual([1, 4]);
  await phases(rope({ dim: 16, scaling: { type: "linear", factor } }), 4);
});

it("posenc-grid: patches alike or not to one of them, by each metric, dimensions, rotations among text", async () => {
  await show("grid", { rows: 4, columns: 5, dim: 16 });
  const { row, column } = await press("Control+Home ArrowDown ArrowRight ArrowRight");
  expect([row, column]).toEqual([1, 2]);
  const own = 1 * 5 + 2;
  const table = encode(posenc.sinusoidal2d({ dim: 16 }), posenc.grid(4, 5));
  for (const [metric, name] of [["cosine", "cosine"], ["dot", "dot product"], ["euclidean", "distance"]]) {
    await choose("compared by", metric);
    const alike = posenc.similarity(table, { metric });
    const at = (other) => book(alike.at(own, other), { decimals: 4 });
    await reads(`${name} to the right ${at(own + 1)}`, `to below ${at(own + 5)}`);
  }
  const { dimension } = await press("ArrowRight ArrowRight ArrowRight", "dimension");
  await reads(`dimension ${dimension} ${signed(table.at(own, dimension))}`);
  const hovered = await point(0.2, 0.3);
  await reads(`row ${hovered.row}`, `column ${hovered.column}`);
  await tab("dimensions");
  await reads(`dimension ${dimension} ${signed(table.at(own, dimension))}`);
  await tab("similarity");
  await choose("compared by", "cosine");
  expect((await look()).title).toContain("2-D sinusoidal");
  // Turned by rows and by columns: ones at every patch, compared, and each dimension over the image.
  expect((await choose("scheme", "axialRope")).title).toContain("Axial RoPE");
  const ones = tensor(Array.from({ length: 20 }, () => Array(16).fill(1)));
  const axial = posenc.rotate(ones, posenc.axialRope({ dim: 16 }), { positions: posenc.grid(4, 5) });
  await press("Control+Home ArrowDown ArrowDown ArrowRight");
  const likeness = posenc.similarity(axial, { metric: "cosine" });
  const alike = (other) => book(likeness.at(11, other), { decimals: 4 });
  await reads("row 2", "column 1", `cosine to the right ${alike(12)}`, `to below ${alike(16)}`);
  await tab("dimensions");
  const { dimension: shown } = await press("End", "dimension");
  expect(shown).toBe(15);
  await reads("row 2", "column 1", `dimension 15 ${signed(axial.at(11, 15))}`);
  const level = (d, of) => positions(20).every((cell) => axial.at(cell, d) === axial.at(of(cell), d));
  const alone = (of) => positions(16).filter((d) => level(d, of)).length;
  const [byRow, byColumn] = [alone((cell) => cell - (cell % 5)), alone((cell) => cell % 5)];
  expect([byRow, byColumn]).toEqual([8, 8]);
  expect((await look()).summary).toContain(`${byRow} follow the row alone, ${byColumn} the column alone`);
  await tab("similarity");
  await choose("scheme", "mrope");
  const { text } = await press("Home ArrowRight ArrowRight", "tokens of text");
  await tab("sequence");
  await press("Home ArrowRight ArrowRight ArrowRight");
  const [t, h, w] = posenc.multimodalPositions([{ text }, { image: [1, 4, 5] }, { text }]).tolist();
  const { readout } = await look();
  expect(readout.slice(2, 5).map((words) => Number(words.split(" ").at(-1)))).toEqual([t[3], h[3], w[3]]);
  await reads("token 3");
  // A scheme without a sequence has the first view, and that view's controls.
  await choose("scheme", "sinusoidal2d");
  expect((await press("End", "dimension")).dimension).toBe(15);
});

it("posenc-precision: positions in four formats against the exact ones, far out, and as waves", async () => {
  await show("precision", { dim: 8, decades: 7 });
  const scheme = rope({ dim: 8 });
  const formats = ["float64", "float32", "bfloat16", "float16"];
  const check = async (recipe) => {
    for (const [k, arithmetic] of formats.entries()) {
      await press(`Control+Home ${"ArrowDown ".repeat(k)}End`.trim());
      const { format } = await look();
      expect(format).toBe(k + 1);
      const report = posenc.precision(scheme, [1e7], { arithmetic, recipe });
      await reads(`position ${book(1e7)}`, `in ${arithmetic}`);
      const { readout } = await look();
      const said = readout.find((words) => words.startsWith("largest error "));
      const worst = report.worst.at(0);
      const raised = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
      const digit = (c) => (raised.includes(c) ? String(raised.indexOf(c)) : c === "\u207b" ? "-" : c);
      const digits = [...said.slice(14).replace("\u00d710", "e")].map(digit).join("");
      if (worst === 0) expect(digits).toBe("0");
      else if (Number.isFinite(worst)) expect(Math.abs(Number(digits) / worst - 1), said).toBeLessThan(0.06);
      else expect(said).toMatch(/overflow/);
    }
  };
  await check("power");
  await choose("rounded", "positions");
  await check("positions");
  await tab("waves");
  const { offset, format, start, pair } = await press("Control+Home ArrowDown ArrowDown ArrowRight ArrowRight");
  expect([offset, format]).toEqual([2, 3]);
  const report = posenc.precision(scheme, [start + 2], { arithmetic: "bfloat16", recipe: "positions" });
  await reads(
    `position ${book(start + 2)}`,
    `sine ${signed(report.values.data[2 * pair])}`,
    `exact ${signed(report.exact.data[2 * pair])}`,
  );
});

it("posenc-config: a config typed and one dropped: frequencies kept, ramped and scaled, biases, notes", async () => {
  await show("config");
  const llama = {
    model_type: "llama",
    hidden_size: 128,
    num_attention_heads: 8,
    num_hidden_layers: 2,
    max_position_embeddings: 8192,
    rope_theta: 500000,
    rope_scaling: {
      rope_type: "yarn",
      factor: 4,
      original_max_position_embeddings: 2048,
    },
  };
  const { title } = await type("config.json", JSON.stringify(llama));
  expect(title).toContain("\u201cllama\u201d");
  const read = fromConfig(llama);
  const now = posenc.frequencies(read.rotate);
  const plain = posenc.frequencies(rope({ dim: 16, base: 500000 }));
  for (const [pair, key] of [[0, "Home"], [7, "End"]]) {
    await press(key);
    await reads(
      `pair ${pair}`,
      `wavelength ${book(now.wavelength[pair])} tokens`,
      `as trained ${book(plain.wavelength[pair])} tokens`,
      `band ${now.band[pair]}`,
      `attention factor ${significant(now.attentionFactor, 5)}`,
    );
  }
  const { summary } = await look();
  for (const note of read.notes) expect(summary).toContain(note.replaceAll("'", "\u2019"));
  const bloom = { model_type: "bloom", hidden_size: 64, n_head: 8, n_layer: 2 };
  await drop("config.json", new TextEncoder().encode(JSON.stringify(bloom)));
  await press("Home");
  const { offset } = await look();
  const slopes = posenc.bias(fromConfig(bloom).bias, { queries: [-offset], keys: [0] });
  await reads(
    `bias of head 1 ${significant(slopes.at(0, 0, 0), 4)}`,
    `of head 8 ${significant(slopes.at(7, 0, 0), 4)}`,
  );
  // A learned table has no numbers in a config, so there is no array to save.
  await figure.locator("[part~=action]", { hasText: "code" }).click();
  const npy = figure.locator("[part~=action]", { hasText: "NPY" });
  expect(await npy.isVisible()).toBe(true);
  await type("config.json", '{"model_type":"gpt2","n_embd":64,"n_head":4,"n_layer":2,"n_positions":1024}');
  expect(await npy.isVisible()).toBe(false);
});

it("posenc-compare: the table of schemes, their slot, parameters, reach and laws", async () => {
  await show("compare", { heads: 4 });
  await tab("bias");
  const { title } = await press("Control+End");
  const last = posenc.schemes.filter(({ slot }) => slot === "bias");
  expect(title).toContain(String(last.length));
  await reads(`scheme ${last.at(-1).title}`);
  await tab("all");
  await unfold();
  // Slot by slot, whatever their order was.
  await type("schemes", "t5 rope learned sinusoidal");
  const names = ["learned", "sinusoidal", "rope", "t5"];
  await press("ArrowRight", "heads");
  const { headWidth, heads, length } = await press("ArrowRight", "rows of a learned table");
  expect(heads).toBe(5);
  const width = heads * headWidth;
  const schemes = [
    posenc.learned({ dim: width, length }),
    sinusoidal({ dim: width }),
    rope({ dim: headWidth }),
    posenc.t5({ heads }),
  ];
  const rows = posenc.compare(schemes);
  await press("Control+Home");
  for (const [r, own] of rows.entries()) {
    const { title: named } = posenc.schemes.find(({ name }) => name === names[r]);
    await reads(`scheme ${named}`, `parameters ${book(own.parameters)}`);
    const { row } = await press("ArrowDown");
    expect(row).toBe(Math.min(r + 1, rows.length - 1));
  }
  await press("Control+Home");
  const { law } = await press("ArrowRight");
  expect(law).toBe(1);
});

it("leaves to the page the keys that move nothing, and folds the code away at Escape", async () => {
  // A page that has loaded no program yet.
  await page.goto(`${server.address}none`, { waitUntil: "load" });
  await page.evaluate(() => addEventListener("keydown", (event) => (globalThis.keyTaken = event.defaultPrevented)));
  const taken = async (key) => {
    await press(key);
    return page.evaluate(() => globalThis.keyTaken);
  };
  const keys = ["ArrowRight", "Home", "ArrowDown", "PageDown"];
  await show("decay");
  for (const [key, own] of [["ArrowRight", true], ["Home", true], ["ArrowDown", false], ["PageDown", false]]) {
    expect(await taken(key), key).toBe(own);
  }
  await show("embed", { positions: 8, dim: 4 });
  for (const key of keys) expect(await taken(key), key).toBe(true);
  const code = figure.locator("[part~=action]", { hasText: "code" });
  const focused = () => figure.evaluate((element) => element.shadowRoot.activeElement?.ariaLabel);
  // The NumPy program comes from a file of its own, which is held back until the focus stands on what is there.
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route(/numpy-programs/, (route) => held.then(() => route.continue()));
  await code.press("Enter");
  expect(await code.getAttribute("aria-expanded")).toBe("true");
  await page.keyboard.press("Tab");
  expect(await focused()).toBe("Copy the JavaScript code");
  release();
  await figure.getByLabel("Copy the NumPy code").waitFor();
  expect(await focused()).toBe("Copy the JavaScript code");
  await page.unroute(/numpy-programs/);
  await page.keyboard.press("Escape");
  expect(await code.getAttribute("aria-expanded")).toBe("false");
  expect(await code.evaluate((button) => button === button.getRootNode().activeElement)).toBe(true);
  expect(await page.evaluate(() => globalThis.keyTaken)).toBe(true);
  // Nothing is left to fold.
  await page.keyboard.press("Escape");
  expect(await page.evaluate(() => globalThis.keyTaken)).toBe(false);
});

it("sets controls of several lines one under another, and leaves none alone", async () => {
  const lines = () =>
    figure.evaluate((element) => {
      const feet = new Map();
      for (const field of element.shadowRoot.querySelectorAll(".controls:not(details *) > .field:not(.wide)")) {
        const { left, bottom } = field.getBoundingClientRect();
        feet.set(Math.round(bottom), [...(feet.get(Math.round(bottom)) ?? []), Math.round(left)]);
      }
      return [...feet.values()];
    });
  // Of the last line, which begin where those of the first do; one line needs nothing.
  const aligned = (of) => of.length === 1 || of.at(-1).filter((left) => of[0].includes(left)).length;
  for (const [name, attributes, width] of [
    ["attention", {}, 880],
    ["extrapolation", {}, 880],
    ["precision", { view: "waves" }, 880],
    // As tall as it was before it was drawn.
    ["decay", { law: "base^-t" }, 720],
    ["relate", { scheme: "t5" }, 880],
  ]) {
    await show(name, { ...attributes, style: `width: ${width}px` });
    await look();
    await expect.poll(async () => (await lines()).at(-1).length, `${name}, at ${width}`).toBeGreaterThan(1);
    const now = await lines();
    expect(now.length, name).toBe(2);
    expect(aligned(now), name).toBe(now.at(-1).length);
    expect(now[0].length - now[1].length, name).toBeLessThan(2);
  }
  // With fewer, they are a line again.
  await choose("scheme", "shaw");
  await expect.poll(async () => (await lines()).length).toBe(1);
});

it("takes an element\u2019s own style for the page\u2019s, and a scheme\u2019s for the scheme\u2019s", async () => {
  await show("grid", { style: "margin: 6px", rows: 4, columns: 4 });
  expect((await look()).style).toBe("mae");
  await unfold();
  expect((await choose("style", "detr")).style).toBe("detr");
  const given = (name) => figure.getAttribute(name);
  expect([await given("style"), await given("scheme-style")]).toEqual(["margin: 6px", "detr"]);
  // What a control is for is told with it.
  const described = await figure.evaluate((element) => element.shadowRoot.querySelector("select[title]").title);
  const { params } = posenc.schemes.find(({ name }) => name === "sinusoidal2d");
  expect(params.map(({ sentence }) => sentence)).toContain(described);
});

it("says at a step what the step has changed, and not what holds of the whole figure", async () => {
  await show("permutation");
  await press("Home ArrowRight");
  const { readout } = await look();
  const said = figure.locator("[role=status]");
  await expect.poll(() => said.textContent()).toContain("channel 1");
  const whole = readout.filter((words) => /Attn|logits/.test(words));
  expect(whole.length).toBe(2);
  for (const words of whole) expect(await said.textContent()).not.toContain(words);
  // Of the last column there is nothing to the right, so what lies below says what is compared.
  await show("grid", { rows: 4, columns: 4 });
  await press("Control+Home End");
  expect((await look()).readout.find((words) => words.includes("below"))).toMatch(/^cosine to below/);
});

it("draws a picture that is taller than a page a little smaller on paper", async () => {
  await show("grid", { view: "dimensions", style: "width: 700px" });
  await look();
  const size = () =>
    figure.evaluate((element) => {
      const { width, height } = globalThis.__figures.part(element, "canvas").getBoundingClientRect();
      return { width: Math.round(width), height: Math.round(height) };
    });
  const before = await size();
  expect(before.width).toBe(700);
  expect(before.height).toBeGreaterThan(800);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const paper = await size();
  expect(paper.height).toBe(800);
  expect(Math.abs(paper.width - (700 * 800) / before.height)).toBeLessThan(1);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await expect.poll(size).toEqual(before);
});

it("is drawn alike on a page that reads from right to left", async () => {
  const drawn = async (name) => {
    await show(name);
    await look();
    return figure.evaluate((element) => element.shadowRoot.querySelector("canvas").toDataURL());
  };
  const names = ["attention", "shift", "bias"];
  const before = [];
  for (const name of names) before.push(await drawn(name));
  await page.evaluate(() => (document.documentElement.dir = "rtl"));
  for (const [n, name] of names.entries()) expect((await drawn(name)) === before[n], name).toBe(true);
  await page.evaluate(() => document.documentElement.removeAttribute("dir"));
});

it("every slider of a view moves by the arrow keys, wherever another view has left the cursor", async () => {
  const dead = [];
  for (const { name } of figures) {
    await show(name);
    const tabs = await figure.getByRole("tab").all();
    for (const view of tabs.length === 0 ? [undefined] : tabs) {
      await press("Control+Home");
      await view?.click();
      await look();
      for (const slider of await figure.locator("input[type=range]:visible").all()) {
        const value = () => slider.getAttribute("aria-valuetext");
        const before = await value();
        for (const key of ["ArrowRight", "ArrowLeft"]) {
          if ((await value()) !== before) break;
          await slider.press(key);
          await look();
        }
        const label = await slider.evaluate(({ labels }) => labels[0].textContent);
        if ((await value()) === before) dead.push(`${name}, ${await view?.textContent()}: ${label} at ${before}`);
      }
    }
  }
  expect(dead).toEqual([]);
});

it("breaks nothing", () => expect(opened.faults).toEqual([]));

// The scheme of a figure's values, as the catalogue names its parameters.
function schemeOf(slot, name, values) {
  const { params } = posenc.schemes.find((one) => one.slot === slot && one.name === name);
  const own = params.map((param) => [param.name, values[param.name]]).filter(([, value]) => value !== undefined);
  return posenc.fromJSON({ slot, name, ...Object.fromEntries(own) });
}

it("a slider of counts goes on in one direction, powers of two among its steps", async () => {
  await show("extrapolation", { trained: 90 });
  const slider = figure.getByRole("slider", { name: "trained", exact: true });
  const seen = [90];
  for (let n = 0; n < 40 && seen.at(-1) < 300; n++) {
    await slider.press("ArrowRight");
    seen.push((await look()).trained);
  }
  expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
  expect(seen).toEqual(expect.arrayContaining([128, 256]));
});

it("every slider comes back by the arrow keys to where it stood", async () => {
  const strayed = [];
  for (const { name } of figures) {
    await show(name);
    for (const slider of await figure.locator("input[type=range]:visible").all()) {
      const value = () => slider.getAttribute("aria-valuetext");
      const before = await value();
      const ends = [await slider.getAttribute("min"), await slider.getAttribute("max")];
      for (const keys of [
        ["ArrowRight", "ArrowLeft"],
        ["ArrowLeft", "ArrowRight"],
      ]) {
        await slider.press(keys[0]);
        await look();
        // At its end a slider stays, and nowhere else.
        if ((await value()) === before) {
          if (!ends.includes(await slider.inputValue())) strayed.push(`${name}: stays at ${before}`);
          continue;
        }
        await slider.press(keys[1]);
        await look();
        if ((await value()) !== before) strayed.push(`${name}: from ${before} to ${await value()}`);
      }
    }
  }
  expect(strayed).toEqual([]);
});
