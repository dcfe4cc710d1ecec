// Pictures made without a document have the same bytes in Chromium as in Node.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kDist, launch, open, serveFolder } from "./harness.mjs";

let browser;
beforeAll(async () => (browser = await launch()));
afterAll(() => browser?.close());

it("renderPNG gives Node's bytes, figure by figure", async () => {
  const { renderPNG } = await import(pathToFileURL(join(kDist, "render.js")).href);
  const { figures } = await import(pathToFileURL(join(kDist, "render.js")).href);
  const names = figures.map(({ name }) => name);
  const body = '<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title><link rel="icon" href="data:,">';
  const server = await serveFolder(kDist, { extra: { "/page": { type: "text/html; charset=utf-8", body } } });
  const { page, faults, close } = await open(browser, `${server.address}page`);
  const theirs = await page.evaluate(
    `(async () => {
      const { renderPNG } = await import("/render.js");
      const out = [];
      for (const name of ${JSON.stringify(names)}) {
        const digest = await crypto.subtle.digest("SHA-256", renderPNG(name, {}, { width: 400, theme: "dark" }));
        out.push([...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
      }
      return out;
    })()`,
  );
  const ours = names.map((name) => createHash("sha256").update(renderPNG(name, {}, { width: 400, theme: "dark" })));
  expect(theirs).toEqual(ours.map((hash) => hash.digest("hex")));
  expect(faults).toEqual([]);
  await close();
  await server.close();
});
