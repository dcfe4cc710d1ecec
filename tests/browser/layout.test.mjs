// Nothing lies on anything else and nothing is cut off: every figure in every view, on screens, on paper and in forced
// colours; in light, dark and narrow with the cursor in the middle and in the corners, and in the states of states.mjs.
// Pictures of the views are left in build/pictures for the eye; none is compared.
import { mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtFigures, kPageStyle, pageOf, watchPage } from "./figures.mjs";
import { kDist, kRoot, launch, serveFolder } from "./harness.mjs";
import { kStates } from "./states.mjs";

const kPictures = join(kRoot, "build/pictures");
const kMargin = 12;
// What A4 leaves between its margins, in CSS pixels.
const kPaper = 700;

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

// 320 is the width of the screen, the others that of the figure.
async function visit(width, options, media = "screen") {
  const viewport = { width: width === 320 ? width : width + 2 * kMargin, height: 900 };
  const context = await browser.newContext({ viewport, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  await page.emulateMedia({ media });
  await page.addInitScript(watchPage);
  await page.goto(`${server.address}all`, { waitUntil: "load" });
  return { context, page };
}

// The figures that have a tab of this number, once all have drawn the view of theirs.
const chooseTabs = (page, number) => page.evaluate((tab) => globalThis.__figures.chooseTabs(tab), number);

describe.each([
  ["light", 880],
  ["light", 640],
  ["light", 320],
  ["dark", 880],
])("in %s, %d pixels wide", (colorScheme, width) => {
  it("no label, control or legend lies on another or is cut off", async () => {
    const { context, page } = await visit(width, { colorScheme });
    const session = await context.newCDPSession(page);
    const faults = [];
    const places = new Map();
    for (let tab = 0; ; tab++) {
      const having = await chooseTabs(page, tab);
      if (having.length === 0) break;
      for (const name of having) {
        const element = page.locator(name);
        // Where there is room, the tabs stay where they are when one is pressed: titles of all views leave it to them.
        const place = await element.evaluate((node) => {
          const tabs = node.shadowRoot.querySelector("[role=tablist]");
          return tabs && tabs.getBoundingClientRect().top - node.getBoundingClientRect().top;
        });
        if (width >= 880 && place !== (places.get(name) ?? place)) faults.push(`${name}: its tabs move with the view`);
        places.set(name, place);
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

describe("where colours and sizes are not the screen's", () => {
  // Every view as it comes: where the cursor's words go, the other tests have seen.
  async function faultsOfViews(page) {
    const views = [];
    const faults = [];
    for (let tab = 0; ; tab++) {
      const having = await chooseTabs(page, tab);
      if (having.length === 0) break;
      views.push(...having);
      faults.push(...(await page.evaluate((list) => globalThis.__figures.faultsOfAll(list), having)));
    }
    expect(new Set(views)).toEqual(new Set(names.map((name) => `posenc-${name}`)));
    return faults;
  }

  it("no label or legend lies on another or is cut off in forced colours", async () => {
    const { context, page } = await visit(880, { forcedColors: "active" });
    expect(await faultsOfViews(page)).toEqual([]);
    await context.close();
  });

  it("no label or legend lies on another or is cut off on paper", async () => {
    const { context, page } = await visit(kPaper, {}, "print");
    // All that is drawn from now on is drawn for paper.
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    expect(await faultsOfViews(page)).toEqual([]);
    await context.close();
  });
});
