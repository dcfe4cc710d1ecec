// Large figures in headless Chromium: how long a heat map of 4,096 x 4,096 cells takes to draw once its numbers exist,
// how it pans, and how long attention over 2,048 tokens holds the page up.
//   node tests/bench/heat-map.mjs [--json], or `npm run bench -- --chromium --only large`, which can keep the rows
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { kDist, launch, open, serveFolder } from "../browser/harness.mjs";

const kBlank = { "/page.html": { type: "text/html", body: "<!doctype html><title>bench</title><body>" } };

// What runs in the page: a figure in a column of 880 pixels.
async function figureIn(page, tag, attributes) {
  await page.evaluate(
    async ([name, given]) => {
      document.querySelector("main")?.remove();
      const main = document.createElement("main");
      main.style.cssText = "width:880px;margin:auto";
      const figure = document.createElement(name);
      for (const [key, value] of Object.entries({ loading: "eager", ...given })) figure.setAttribute(key, value);
      main.append(figure);
      document.body.append(main);
      await figure.drawn;
    },
    [tag, attributes],
  );
}

// Frames while the pointer drags the drawing to and fro: the middle one, the slowest twentieth, and how many a second.
async function pan(page, seconds) {
  const box = await page.locator("[part=drawing]").boundingBox();
  const [x, y] = [box.x + box.width * 0.4, box.y + box.height * 0.4];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.evaluate(() => {
    window.frames60 = [];
    const tick = (now) => {
      window.frames60.push(now);
      window.ticking = requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  const end = performance.now() + 1000 * seconds;
  for (let k = 0; performance.now() < end; k++) {
    await page.mouse.move(x - 150 * Math.sin(k / 9), y - 100 * Math.sin(k / 7));
  }
  await page.mouse.up();
  return page.evaluate(() => {
    cancelAnimationFrame(window.ticking);
    const gaps = window.frames60.slice(1).map((now, i) => now - window.frames60[i]);
    const sorted = [...gaps].sort((a, b) => a - b);
    const total = gaps.reduce((sum, gap) => sum + gap, 0);
    return {
      median: sorted[Math.floor(sorted.length / 2)],
      slow: sorted[Math.floor(0.95 * sorted.length)],
      rate: (1000 * gaps.length) / total,
    };
  });
}

/** Resolves to rows as those of measure(). */
export async function measureLargeFigures({ rounds = 9 } = {}) {
  const browser = await launch();
  const server = await serveFolder(kDist, { extra: kBlank });
  const rows = [];
  const row = (group, name, ms, more = {}) => rows.push({ group, name, ms, ...more });
  try {
    const { page, close } = await open(browser, `${server.address}page.html`);
    await page.addScriptTag({ type: "module", url: `${server.address}elements.js` });
    const side = 4096;
    const group = `heat map of ${side} x ${side} cells, 880 px wide`;
    await figureIn(page, "posenc-embed", { positions: side, dim: side });
    // Another theme wants every cell in other colours; the numbers stay.
    const drawn = await page.evaluate(async (times) => {
      const figure = document.querySelector("posenc-embed");
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const found = [];
      for (let k = 0; k < times; k++) {
        await frame();
        figure.setAttribute("theme", k % 2 === 0 ? "dark" : "light");
        const start = performance.now();
        await figure.drawn;
        found.push(performance.now() - start);
      }
      return found.sort((a, b) => a - b);
    }, rounds);
    const anew = drawn[Math.floor(rounds / 2)];
    row(group, "drawn anew, with the wait for a frame", anew, { best: drawn[0] });
    const plain = await page.evaluate(async (times) => {
      // The same map in the plainest JavaScript there is: a loop over cells into an image of one pixel a cell.
      const values = Float32Array.from({ length: 4096 * 4096 }, (_, i) => ((i * 7919) % 2001) / 1000 - 1);
      const table = Uint32Array.from({ length: 256 }, (_, i) => 0xff000000 + 0x10101 * i);
      const canvas = Object.assign(document.createElement("canvas"), { width: 4096, height: 4096 });
      const context = canvas.getContext("2d");
      const found = [];
      for (let k = 0; k < Math.min(times, 3); k++) {
        const start = performance.now();
        const image = new ImageData(4096, 4096);
        const pixels = new Uint32Array(image.data.buffer);
        for (let i = 0; i < pixels.length; i++) {
          const at = Math.round(127 + 127 * values[i]);
          pixels[i] = table[at < 0 ? 0 : at > 254 ? 254 : at];
        }
        context.putImageData(image, 0, 0);
        context.getImageData(0, 0, 1, 1);
        found.push(performance.now() - start);
      }
      return found.sort((a, b) => a - b);
    }, rounds);
    row(group, "one pixel a cell by a loop, for comparison", plain[1], { best: plain[0], ratio: plain[1] / anew });
    await page.locator("[part=drawing]").focus();
    for (const presses of [1, 3]) {
      for (let k = 0; k < presses; k++) await page.keyboard.press("+");
      await page.evaluate(() => document.querySelector("posenc-embed").drawn);
      const told = await page.locator("[part=lens] span").textContent();
      const { median, slow, rate } = await pan(page, 2);
      const panned = `while ${told.replace(/\s/g, " ")} pan`;
      row(group, `a frame ${panned}`, median);
      row(group, `one frame in twenty ${panned}`, slow);
      row(group, `a frame in the mean ${panned}`, 1000 / rate);
    }
    await close();

    const long = await open(browser, `${server.address}page.html`);
    await long.page.addScriptTag({ type: "module", url: `${server.address}elements.js` });
    await figureIn(long.page, "posenc-attention", { scheme: "rope" });
    const found = await long.page.evaluate(async () => {
      const figure = document.querySelector("posenc-attention");
      const words = "the cat sat on the mat and saw what no cat had seen before".split(" ");
      const tasks = [];
      new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({
        type: "longtask",
      });
      const start = performance.now();
      const text = Array.from({ length: 2048 }, (_, i) => words[(i * i) % words.length] + (i % 97));
      figure.value = { sentence: text.join(" ") };
      await figure.drawn;
      const whole = performance.now() - start;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { whole, longest: Math.max(0, ...tasks) };
    });
    const attending = "attention over 2,048 tokens, 8 heads, computed and drawn";
    row(attending, "in all", found.whole);
    row(attending, "the longest task (0: none above 50 ms)", found.longest);
    await long.close();
  } finally {
    await browser.close();
    await server.close();
  }
  return rows;
}

if (process.argv[1] && import.meta.url === pathToFileURL(join(process.argv[1])).href) {
  const rows = await measureLargeFigures();
  if (process.argv.includes("--json")) console.log(JSON.stringify(rows));
  else {
    for (const { group, name, ms, best, ratio } of rows) {
      const more = [
        best === undefined ? "" : `best ${best.toFixed(1)}`,
        ratio === undefined ? "" : `${ratio.toFixed(1)} times as long`,
      ];
      console.log(`${group}: ${name}: ${ms.toFixed(1)} ms`, more.filter(Boolean).join(", "));
    }
  }
}
