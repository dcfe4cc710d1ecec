// Pages with policies: where WebAssembly is forbidden the same C++ runs as plain JavaScript, with the same bits; under
// the strictest policy that allows it, WebAssembly runs and nothing is violated.
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { digest } from "./digest.mjs";
import { drawAll, fileAddress, inspectFigures, kDist, kSite, launch, open, serveFolder } from "./harness.mjs";

const kStrict =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; font-src 'self'; " +
  "img-src 'self' data: blob:; require-trusted-types-for 'script'";

let browser;
let expected;
beforeAll(async () => {
  browser = await launch();
  expected = digest(await import(pathToFileURL(join(kDist, "index.js")).href));
});
afterAll(() => browser?.close());

const run = (page, global, rounds = 1) =>
  page.evaluate(`(async () => {
  const api = await ${global};
  await api.ready();
  return { backend: api.info().backend, digest: (${digest})(api, ${rounds}) };
})()`);

// A page of one script, beside the files of a folder.
const kPage = (script) => ({
  type: "text/html; charset=utf-8",
  body: `<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title><link rel="icon" href="data:,">${script}</html>`,
});

describe("bits in Chromium", () => {
  it("are Node's from the classic script, before and after the engine has optimised", async () => {
    const server = await serveFolder(kDist, { extra: { "/page": kPage(`<script src="/posenc.js"></script>`) } });
    const { page, faults, close } = await open(browser, `${server.address}page`);
    expect(await run(page, "posenc")).toEqual({ backend: "simd", digest: expected });
    expect(await run(page, "posenc", 40)).toEqual({ backend: "simd", digest: expected });
    expect(faults).toEqual([]);
    await close();
    await server.close();
  });

  // A module beside its .wasm breaks where a host moves or rewrites scripts (jsdelivr #18561, esm.sh #1109), and where
  // the .wasm has another type or no host at all (webpack #7918, http-server #690).
  it("are Node's from the ES module, which loads scripts alone, and from disk", async () => {
    const server = await serveFolder(kDist, { extra: { "/page": kPage("") } });
    const { page, faults, requests, close } = await open(browser, `${server.address}page`);
    expect(await run(page, `import("/index.js")`)).toEqual({ backend: "simd", digest: expected });
    expect(faults).toEqual([]);
    const loaded = requests.filter((url) => url.startsWith(server.address)).map((url) => url.replace(/.*\//, ""));
    expect(loaded).toEqual(expect.arrayContaining(["page", "index.js"]));
    expect(loaded.filter((file) => file !== "page" && !file.endsWith(".js"))).toEqual([]);
    await close();
    await server.close();
    const disk = await open(browser, fileAddress(join(kSite, "index.html")));
    expect(await run(disk.page, "posenc")).toEqual({ backend: "simd", digest: expected });
    await disk.close();
  });

  it("are the same in an opaque sandboxed frame", async () => {
    const script = readFileSync(join(kDist, "posenc.js"), "utf8").replaceAll("</script", "<\\/script");
    const frame = kPage(`<script>${script}</script>`).body.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
    const server = await serveFolder(kDist, {
      extra: { "/page": kPage(`<iframe sandbox="allow-scripts" title="f" srcdoc="${frame}"></iframe>`) },
    });
    const { page, close } = await open(browser, `${server.address}page`);
    const inner = page.frames().find((candidate) => candidate !== page.mainFrame());
    expect(await run(inner, "posenc")).toEqual({ backend: "simd", digest: expected });
    await close();
    await server.close();
  });
});

describe("under default-src 'self'", () => {
  it("the plain-JavaScript build gives the bits of WebAssembly, from the classic script and from the ES module", async () => {
    const server = await serveFolder(kDist, {
      policy: "default-src 'self'",
      extra: { "/classic": kPage(`<script src="/posenc.js"></script>`), "/module": kPage("") },
    });
    for (const [path, global] of [
      ["classic", "posenc"],
      ["module", `import("/index.js")`],
    ]) {
      const { page, close } = await open(browser, `${server.address}${path}`);
      expect(await run(page, global), path).toEqual({ backend: "js", digest: expected });
      await close();
    }
    await server.close();
  });

  it("a synchronous call before ready() says what to do", async () => {
    const server = await serveFolder(kDist, {
      policy: "default-src 'self'",
      extra: { "/classic": kPage(`<script src="/posenc.js"></script>`) },
    });
    const { page, close } = await open(browser, `${server.address}classic`);
    const error = await page.evaluate(() => {
      try {
        return posenc.encode(posenc.sinusoidal({ dim: 4 }), 4);
      } catch ({ code, message, constructor }) {
        return { code, message };
      }
    });
    expect(error.code).toBe("unsupported");
    expect(error.message).toContain("await ready()");
    expect((await run(page, "posenc")).backend).toBe("js");
    await close();
    await server.close();
  });

  it("the page's figures draw", async () => {
    const server = await serveFolder(kSite, { policy: "default-src 'self'; img-src 'self' data: blob:" });
    const { page, faults, late, close } = await open(browser, server.address);
    await drawAll(page);
    for (const { name, fault, colours } of await inspectFigures(page)) {
      expect(fault, name).toBe("");
      expect(colours, name).toBeGreaterThan(8);
    }
    // The browser itself reports that it refused WebAssembly; it may report nothing else.
    expect(faults.filter((line) => !/WebAssembly|wasm/i.test(line))).toEqual([]);
    expect(late.filter((address) => !address.endsWith("/fallback.classic.js"))).toEqual([]);
    expect(await page.locator("#backend").innerText()).toContain("plain JavaScript");
    await close();
    await server.close();
  });
});

describe("under the strictest policy that lets WebAssembly run, with trusted types", () => {
  // Bindings that make functions out of text ask for more (emscripten #18732, draco #1104, hpcc-js-wasm #382).
  it("everything works and nothing is violated", async () => {
    const server = await serveFolder(kSite, { policy: kStrict });
    const { page, faults, close } = await open(browser, server.address);
    await drawAll(page);
    for (const { name, fault, colours } of await inspectFigures(page)) {
      expect(fault, name).toBe("");
      expect(colours, name).toBeGreaterThan(8);
    }
    expect(await run(page, "posenc")).toEqual({ backend: "simd", digest: expected });
    expect(faults).toEqual([]);
    await close();
    await server.close();
  });
});
