// Nothing lies on anything else and nothing is cut off: every figure in every view and in the states of states.mjs, in
// light, dark and narrow, with the cursor in the middle and in the corners. Pictures of the views are left in
// build/pictures for the eye; none is compared.
import { mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtFigures, kPageStyle, pageOf, watchPage } from "./figures.mjs";
import { kDist, kRoot, launch, serveFolder } from "./harness.mjs";
import { kStates } from "./states.mjs";

const kPictures = join(kRoot, "build/pictures");
const kMargin = 12;

const figures = await builtFigures();
const names = figures.map(({ name }) => name);
let browser;
let server;
beforeAll(async () => {
  mkdirSync(kPictures, { recursive: true });
  browser = await launch();
  server = await serveFolder(kDist, { extra: { "/all": pageOf(names), "/page.css": kPageStyle } });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

// The protocol's own picture: Playwright's, which waits for the page to rest each time, takes four times as long.
async function picture(session, element, path) {
  const clip = await element.evaluate((node) => {
    const { x, y, width, height } = node.getBoundingClientRect();
    return { x: x + scrollX, y: y + scrollY, width, height, scale: 1 };
  });
  const options = { clip, captureBeyondViewport: true, optimizeForSpeed: true };
  const { data } = await session.send("Page.captureScreenshot", options);
  await writeFile(path, Buffer.from(data, "base64"));
}

describe.each([
  ["light", 880],
  ["light", 640],
  ["light", 320],
  ["dark", 880],
])("in %s, %d pixels wide", (colorScheme, width) => {
  it("no label, control or legend lies on another or is cut off", async () => {
    // 320 is the width of the screen, the others that of the figure.
    const viewport = { width: width === 320 ? width : width + 2 * kMargin, height: 900 };
    const context = await browser.newContext({ colorScheme, viewport, reducedMotion: "reduce" });
    const page = await context.newPage();
    await page.addInitScript(watchPage);
    await page.goto(`${server.address}all`, { waitUntil: "load" });
    const session = await context.newCDPSession(page);
    const faults = [];
    for (let tab = 0; ; tab++) {
      const having = await page.evaluate((number) => globalThis.__figures.chooseTabs(number), tab);
      if (having.length === 0) break;
      for (const name of having) {
        const element = page.locator(name);
        const view = await element.evaluate(
          (node) => node.shadowRoot.querySelector("[aria-selected=true]")?.textContent,
        );
        const where = view === undefined ? name : `${name}, ${view}`;
        const file = `${where.replace(/^posenc-/, "").replace(/[^a-z0-9]+/gi, "-")}-${width}-${colorScheme}.png`;
        await picture(session, element, join(kPictures, file));
        const found = await element.evaluate((node) => globalThis.__figures.faultsWithCursor(node));
        faults.push(...found.map((fault) => `${where}, ${fault}`));
      }
    }
    // Colours move nothing, and between wide and narrow there is no third layout.
    const inStates = colorScheme === "light" && width !== 640;
    for (const [name, states] of inStates ? Object.entries(kStates) : []) {
      const found = await page.evaluate(
        ([tag, list]) => globalThis.__figures.faultsInStates(document.querySelector(tag), list),
        [`posenc-${name}`, states],
      );
      faults.push(...found);
    }
    expect(faults).toEqual([]);
    await context.close();
  });
});
