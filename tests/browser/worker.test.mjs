// posenc/worker in Chromium: workers from the file beside the page, from a text where the page has no origin or lies on
// a disk, and none where policies forbid them; the bits are those of the page's own thread everywhere.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileAddress, kDist, kSite, launch, open, serveFolder } from "./harness.mjs";

const kPage = (script) => ({
  type: "text/html; charset=utf-8",
  body: `<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title><link rel="icon" href="data:,">${script}</html>`,
});
const kClassic = kPage(`<script src="/posenc.js"></script>`);
// Counts the workers that the page makes and that live, and where from.
const kWatch = `globalThis.made = []; {
  const Original = globalThis.Worker;
  globalThis.Worker = class extends Original {
    constructor(address, options) { super(address, options); made.push({ address: String(address), worker: this }); }
  };
}`;

let browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

// Attention in blocks, an encoding, a refusal and a cancelled call; on the page and, as promises, elsewhere.
async function exercise(here, later) {
  await here.ready();
  const { alibi, learned, randomNormal, rope } = here;
  const hash = ({ data }) => {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return bytes.reduce((sum, byte) => (Math.imul(sum, 31) + byte) | 0, 7);
  };
  const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([4, 700, 32], { seed }));
  const options = { causal: true, rotate: rope({ dim: 32 }), bias: alibi({ heads: 4 }) };
  const table = learned({ length: 9, dim: 6, seed: 3 });
  const progress = [];
  const onProgress = ({ done, total }) => progress.push(done / total);
  const results = [
    [here.attention(q, k, v, options).out, (await later.attention(q, k, v, { ...options, onProgress })).out],
    [here.encode(table, [0, 8, 3]), await later.encode(table, [0, 8, 3])],
  ];
  const refused = await later.encode(table, [-1]).catch((error) => error);
  const controller = new AbortController();
  const cancelled = later.attention(q, k, v, { signal: controller.signal }).catch((error) => error);
  controller.abort("enough");
  const moved = q.data.slice();
  const length = (await later.attention({ data: moved, shape: q.shape }, k, v, { transfer: true })).out.size;
  return {
    backend: here.info().backend,
    same: results.every(([a, b]) => hash(a) === hash(b)),
    end: progress.at(-1),
    rising: progress.every((share, i) => i === 0 || share > progress[i - 1]),
    refused: [refused instanceof here.PosencError, refused instanceof RangeError, refused.code, refused.argument],
    cancelled: await cancelled,
    moved: [moved.length, length],
  };
}

const kRight = (backend) => ({
  backend,
  same: true,
  end: 1,
  rising: true,
  refused: [true, true, "out-of-range", "positions"],
  cancelled: "enough",
  moved: [0, 4 * 700 * 32],
});
const kModules = `[await import("/index.js"), await import("/worker.js")]`;
const kGlobals = `[posenc, posenc.worker]`;
const run = (page, apis, after = "") =>
  page.evaluate(`(async () => {
    if (!globalThis.made) { ${kWatch} }
    const [here, later] = ${apis};
    const result = await (${exercise})(here, later);
    ${after}
    return { result, made: made.map(({ address }) => address.replace(/^blob:.*/, "blob")) };
  })()`);

describe("workers", () => {
  it("come from the file beside the module", async () => {
    const server = await serveFolder(kDist, { extra: { "/page": kPage("") } });
    const { page, faults, close } = await open(browser, `${server.address}page`);
    const { result, made } = await run(page, kModules);
    expect(result).toEqual(kRight("simd"));
    expect(new Set(made)).toEqual(new Set([`${server.address}worker-thread.js`]));
    expect(faults).toEqual([]);
    await close();
    await server.close();
  });

  it("are the classic script itself", async () => {
    const server = await serveFolder(kDist, { extra: { "/page": kClassic } });
    const { page, faults, close } = await open(browser, `${server.address}page`);
    const { result, made } = await run(page, kGlobals);
    expect(result).toEqual(kRight("simd"));
    expect(new Set(made)).toEqual(new Set([`${server.address}posenc.js`]));
    expect(faults).toEqual([]);
    await close();
    await server.close();
  });

  it("come from a text in a bundle, which has left the files behind", async () => {
    const folder = mkdtempSync(join(tmpdir(), "posenc-bundle-"));
    await build({
      stdin: {
        contents: `import * as here from "./index.js"; import * as later from "./worker.js";
          globalThis.apis = [here, later];`,
        resolveDir: kDist,
      },
      bundle: true,
      format: "esm",
      outfile: join(folder, "app.js"),
      logLevel: "error",
    });
    writeFileSync(join(folder, "index.html"), kPage(`<script type="module" src="app.js"></script>`).body);
    const server = await serveFolder(folder);
    const { page, faults, requests, close } = await open(browser, server.address);
    const { result, made } = await run(page, "apis");
    expect(result).toEqual(kRight("simd"));
    expect(new Set(made)).toEqual(new Set(["blob"]));
    expect(requests).toEqual([server.address, `${server.address}app.js`]);
    expect(faults).toEqual([]);
    await close();
    await server.close();
    rmSync(folder, { recursive: true });
  });

  it("come from the script's own text on a page that lies on a disk", async () => {
    const { page, faults, close } = await open(browser, fileAddress(join(kSite, "index.html")));
    const { result, made } = await run(page, kGlobals);
    expect(result).toEqual(kRight("simd"));
    expect(new Set(made)).toEqual(new Set(["blob"]));
    expect(faults).toEqual([]);
    await close();
  });

  it("come from the script's own text in an opaque frame", async () => {
    const script = readFileSync(join(kDist, "posenc.js"), "utf8").replaceAll("</script", "<\\/script");
    const frame = kPage(`<script>${script}</script>`).body.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
    const server = await serveFolder(kDist, {
      extra: { "/page": kPage(`<iframe sandbox="allow-scripts" title="f" srcdoc="${frame}"></iframe>`) },
    });
    const { page, close } = await open(browser, `${server.address}page`);
    const inner = page.frames().find((candidate) => candidate !== page.mainFrame());
    const { result, made } = await run(inner, kGlobals);
    expect(result).toEqual(kRight("simd"));
    expect(new Set(made)).toEqual(new Set(["blob"]));
    await close();
    await server.close();
  });

  it.each([
    ["/page", kModules, "worker-thread.js"],
    ["/classic", kGlobals, "posenc.js"],
  ])("obey the strictest policy that lets WebAssembly run, with trusted types (%s)", async (path, apis, file) => {
    const server = await serveFolder(kDist, {
      policy: "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; require-trusted-types-for 'script'; img-src data:",
      extra: { "/page": kPage(""), "/classic": kClassic },
    });
    const { page, faults, close } = await open(browser, `${server.address}${path.slice(1)}`);
    const { result, made } = await run(page, apis);
    expect(result).toEqual(kRight("simd"));
    expect(new Set(made)).toEqual(new Set([`${server.address}${file}`]));
    expect(faults).toEqual([]);
    await close();
    await server.close();
  });

  it.each([
    ["/page", kModules],
    ["/classic", kGlobals],
  ])("run the plain-JavaScript build where WebAssembly is forbidden (%s)", async (path, apis) => {
    const server = await serveFolder(kDist, {
      policy: "default-src 'self'; img-src data:",
      extra: { "/page": kPage(""), "/classic": kClassic },
    });
    const { page, close } = await open(browser, `${server.address}${path.slice(1)}`);
    const { result, made } = await run(page, apis);
    expect(result).toEqual(kRight("js"));
    expect(made.length).toBeGreaterThan(0);
    await close();
    await server.close();
  });

  it.each([
    ["/page", kModules],
    ["/classic", kGlobals],
  ])("are done without where they are forbidden, and the page has its turn (%s)", async (path, apis) => {
    const server = await serveFolder(kDist, {
      policy: "script-src 'self' 'wasm-unsafe-eval'; worker-src 'none'",
      extra: { "/page": kPage(""), "/classic": kClassic },
    });
    const { page, close } = await open(browser, `${server.address}${path.slice(1)}`);
    expect((await run(page, apis)).result).toEqual(kRight("simd"));
    const turns = await page.evaluate(`(async () => {
      const [here, later] = ${apis};
      const x = here.randomNormal([4096, 64]);
      let [frames, on] = [0, true];
      const count = () => { if (on) { frames++; requestAnimationFrame(count); } };
      requestAnimationFrame(count);
      const { out } = await later.attention(x, x, x);
      on = false;
      return { frames, size: out.size };
    })()`);
    expect(turns.size).toBe(4096 * 64);
    expect(turns.frames).toBeGreaterThan(1);
    await close();
    await server.close();
  });

  it("that are ended behind the page's back reject their call, and the next call has another", async () => {
    const server = await serveFolder(kDist, { extra: { "/page": kPage("") } });
    const { page, close } = await open(browser, `${server.address}page`);
    const told = await page.evaluate(`(async () => {
      ${kWatch}
      const [here, later] = ${kModules};
      later.configure({ workers: 1 });
      const x = here.randomNormal([8192, 64]);
      const call = later.attention(x, x, x, { onProgress: () => made.at(-1).worker.terminate() });
      const error = await call.catch((reason) => reason);
      const table = await later.encode(here.sinusoidal({ dim: 2 }), [0]);
      return { code: error.code, table: table.tolist(), made: made.length };
    })()`);
    expect(told).toEqual({ code: "worker-lost", table: [[0, 1]], made: 2 });
    await close();
    await server.close();
  });
});
