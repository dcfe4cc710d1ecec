// Every figure in Firefox, from an ES module over http and from the classic script on a disk: it draws, says what it
// says elsewhere, and follows the keyboard.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readingText } from "../../web/figures/page.ts";
import { figureNamed, figureState } from "../../web/figures/render.ts";
import { ready } from "../../web/src/index.ts";
import { builtFigures, kPageStyle, pageOf } from "./figures.mjs";
import { launchFirefox, openFirefox } from "./firefox.mjs";
import { fileAddress, kDist, kRoot, serveFolder } from "./harness.mjs";

const figures = (await builtFigures()).map(({ name }) => figureNamed(name));
const names = figures.map(({ name }) => name);
await ready();

let browser;
let server;
const folder = join(kRoot, "build/firefox");
beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  const script = `<script src="${fileAddress(join(kDist, "posenc.js"))}"></script>`;
  const { body } = pageOf(names, { script });
  writeFileSync(join(folder, "all.html"), body.replace(/<link rel="stylesheet"[^>]*>/, ""));
  server = await serveFolder(kDist, { extra: { "/all": pageOf(names), "/page.css": kPageStyle } });
  browser = await launchFirefox();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

// The title and the reading of a figure, and how much of its canvas is drawn on.
async function inspect(tag) {
  const element = document.querySelector(tag);
  await element.drawn;
  const text = (part) => [...element.shadowRoot.querySelectorAll(`[part~=${part}]`)].map((n) => n.textContent.trim());
  const canvas = element.shadowRoot.querySelector("canvas");
  const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const pixels = new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const fault = element.shadowRoot.querySelector("[part~=error]");
  return {
    fault: fault.hidden ? "" : fault.textContent,
    title: text("title")[0],
    readout: text("reading"),
    inked: 1 - Math.max(...counts.values()) / pixels.length,
    values: { ...element.value },
  };
}

describe.each([
  ["an ES module over http", () => `${server.address}all`],
  ["the classic script on a disk", () => fileAddress(join(folder, "all.html"))],
])("from %s", (_, address) => {
  let opened;
  beforeAll(async () => {
    opened = await openFirefox(browser, address());
  });
  afterAll(() => opened?.close());

  it.each(names)("posenc-%s draws, says what the core says, and follows the keyboard", async (name) => {
    const { page } = opened;
    const figure = figureNamed(name);
    const tag = `posenc-${name}`;
    const says = (values) => {
      const state = figureState(name, values);
      return {
        title: figure.title(state),
        readout: figure.readout(state).map((reading) => readingText(reading).trim()),
      };
    };
    const first = await page.evaluate(inspect, tag);
    expect(first).toMatchObject({ fault: "", ...says(first.values) });
    expect(first.inked).toBeGreaterThan(0.002);
    const { row, column } = figure.cells?.(figureState(name, first.values)) ?? {};
    if (!row && !column) return;
    await page.evaluate((which) => {
      const drawing = document.querySelector(which).shadowRoot.querySelector("[part~=drawing]");
      drawing.scrollIntoView();
      drawing.focus();
    }, tag);
    const seen = new Set();
    for (const key of ["Home", "ArrowRight", "ArrowDown", "End"]) {
      await page.keyboard.press(key);
      const now = await page.evaluate(inspect, tag);
      expect(now, key).toMatchObject({ fault: "", ...says(now.values) });
      seen.add(now.readout.join());
    }
    expect(seen.size, "different readings").toBeGreaterThanOrEqual(2);
  });

  it("lets no error slip", () => expect(opened.faults).toEqual([]));
});
