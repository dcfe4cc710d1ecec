// The built pages in Firefox, opened from a disk as by a double-click: every figure draws, and nobody is asked for
// anything.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launchFirefox, openFirefox } from "./firefox.mjs";
import { fileAddress, kDist, kSite, serveFolder } from "./harness.mjs";

let browser;
beforeAll(async () => {
  browser = await launchFirefox();
});
afterAll(() => browser?.close());

it.each([
  ["index.html", 18],
  ["gallery.html", 18],
  ["playground.html#scheme=sinusoidal", 3],
  ["embed.html?fig=bias&heads=4", 1],
])("%s opens from a disk", async (path, least) => {
  const [file, rest = ""] = path.split(/(?=[?#])/);
  const { page, faults, requests, close } = await openFirefox(browser, fileAddress(join(kSite, file)) + rest);
  await page.waitForFunction(() => [...document.querySelectorAll("body *")].some((one) => one.shadowRoot));
  const figures = await page.evaluate(async () => {
    const list = [...document.querySelectorAll("body *")].filter(({ localName }) => localName.startsWith("posenc-"));
    const told = [];
    for (const figure of list) {
      figure.scrollIntoView();
      await figure.drawn;
      const fault = figure.shadowRoot.querySelector(".fault");
      const { width } = figure.shadowRoot.querySelector("canvas");
      told.push({ name: figure.localName, fault: fault.hidden ? "" : fault.textContent, drawn: width > 1 });
    }
    return told;
  });
  expect(figures.length).toBeGreaterThanOrEqual(least);
  for (const { name, fault, drawn } of figures) {
    expect(fault, name).toBe("");
    expect(drawn, name).toBe(true);
  }
  // Formulas have the font that the pages bring.
  const font = await page.evaluate(async () => {
    await document.fonts.ready;
    const here = (face) => face.status === "loaded" && /posenc math/.test(face.family);
    return !document.querySelector("math") || [...document.fonts].some(here);
  });
  expect(font).toBe(true);
  // Data are made on the page, or by the browser itself.
  const elsewhere = requests.filter(
    (address) => !address.startsWith(fileAddress(kSite)) && !address.startsWith("data:"),
  );
  expect(elsewhere).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("a page on a disk that asks somebody for something is seen to, while it loads and after", async () => {
  const folder = mkdtempSync(join(tmpdir(), "posenc-asking-"));
  const host = await serveFolder(kDist, { extra: { "/early": { body: "" }, "/late": { body: "" } } });
  const head = `<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title><link rel="icon" href="data:,">`;
  writeFileSync(join(folder, "page.html"), `${head}<script src="${host.address}early"></script></html>`);
  const { page, requests, close } = await openFirefox(browser, fileAddress(join(folder, "page.html")));
  await page.evaluate((address) => fetch(address, { mode: "no-cors" }).then(() => {}), `${host.address}late`);
  expect(requests).toEqual(expect.arrayContaining([`${host.address}early`, `${host.address}late`]));
  await close();
  await host.close();
  rmSync(folder, { recursive: true });
});
