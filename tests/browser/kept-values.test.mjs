// What a reader has set goes along: in the address of the page, as a page of its own, and into a notebook's model.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileAddress, kDist, launch, open, serveFolder } from "./harness.mjs";

const kHead =
  `<!doctype html><html lang="de"><meta charset="utf-8"><title>t</title><link rel="icon" href="data:,">` +
  `<script src="posenc.js"></script>`;

let browser;
let folder;
let server;
beforeAll(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), "posenc-kept-"));
  const html = (body) => ({ type: "text/html; charset=utf-8", body });
  server = await serveFolder(kDist, {
    extra: {
      "/linked": html(
        kHead +
          `<posenc-embed permalink loading="eager" dim="32"></posenc-embed>` +
          `<posenc-bias permalink="second" loading="eager"></posenc-bias>` +
          `<posenc-relate loading="eager"></posenc-relate>`,
      ),
      "/modules": html(
        kHead.replace(`src="posenc.js"`, `type="module" src="elements.js"`) +
          `<posenc-embed permalink loading="eager" dim="32"></posenc-embed>`,
      ),
      "/widget": html(
        `<!doctype html><html lang="en"><title>t</title><link rel="icon" href="data:,"><div id="cell"></div>` +
          // As notebooks do: from a text, which has no neighbours.
          `<script type="module">
            const blob = new Blob([await (await fetch("anywidget.js")).text()], { type: "text/javascript" });
            window.widget = (await import(URL.createObjectURL(blob))).default;
          </script>`,
      ),
    },
  });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

const drawn = (page) =>
  page.evaluate(async () => {
    const figures = [...document.querySelectorAll("[loading]")];
    // Modules come after the load event.
    for (const { localName } of figures) await customElements.whenDefined(localName);
    for (const figure of figures) await figure.drawn;
  });
const valueOf = (page, tag) => page.evaluate((name) => ({ ...document.querySelector(name).value }), tag);

describe("permalink", () => {
  const hash =
    "#part-2&embed.dim=16&embed.view=waves&embed.base=junk&embed.positions=-4&embed.dimension=3&embed.__proto__=1" +
    "&second.scheme=kerple&second.heads=4&second.kind=power&relate.clip=2&other.dim=5&%E0%A4%A=1";
  for (const path of ["linked", "modules"]) {
    it(`brings the values that fit and no other (${path})`, async () => {
      const opened = await open(browser, `${server.address}${path}${hash}`);
      await drawn(opened.page);
      const embed = await valueOf(opened.page, "posenc-embed");
      expect([embed.dim, embed.view, embed.dimension]).toEqual([16, "waves", 3]);
      expect([embed.base, embed.positions]).toEqual([10000, 96]);
      if (path === "linked") {
        const bias = await valueOf(opened.page, "posenc-bias");
        expect([bias.scheme, bias.heads, bias.kind]).toEqual(["kerple", 4, "power"]);
        // One that does not ask for it keeps to itself.
        expect((await valueOf(opened.page, "posenc-relate")).clip).not.toBe(2);
      }
      expect(await opened.page.evaluate(() => location.hash)).toBe(hash);
      expect(opened.faults).toEqual([]);
      await opened.close();
    });
  }

  it("follows the reader and leaves the rest of the address alone; a reload brings it back", async () => {
    const opened = await open(browser, `${server.address}linked#part-2&other.dim=5`);
    const { page } = opened;
    await drawn(page);
    const links = await page.evaluate(() =>
      [...document.querySelectorAll("[loading]")].map((figure) => {
        const buttons = [...figure.shadowRoot.querySelectorAll("[part=action]")];
        return buttons.filter((button) => button.textContent === "link" && !button.hidden).length;
      }),
    );
    expect(links).toEqual([1, 1, 0]);
    await page.locator("posenc-bias select").first().selectOption("t5");
    await page.locator("posenc-embed [part=tab]", { hasText: "waves" }).click();
    await drawn(page);
    const kept = await page.evaluate(() => location.hash);
    expect(kept).toBe("#part-2&other.dim=5&second.scheme=t5&embed.view=waves");
    await page.reload();
    await drawn(page);
    expect((await valueOf(page, "posenc-bias")).scheme).toBe("t5");
    const embed = await valueOf(page, "posenc-embed");
    expect([embed.view, embed.dim]).toEqual(["waves", 32]);
    // A link on the page sets what it names.
    await page.evaluate(() => (location.hash = "#embed.dim=8"));
    await page.waitForFunction(() => document.querySelector("posenc-embed").value.dim === 8);
    expect((await valueOf(page, "posenc-embed")).view).toBe("waves");
    expect(opened.faults).toEqual([]);
    await opened.close();
  });

  it("is copied by a button", async () => {
    const opened = await open(browser, `${server.address}linked`, {
      context: { permissions: ["clipboard-read", "clipboard-write"] },
    });
    await drawn(opened.page);
    await opened.page.evaluate(() => (document.querySelector("posenc-embed").value = { dim: 12 }));
    await opened.page.locator("posenc-embed [part=action]", { hasText: "link" }).click();
    await opened.page.locator("posenc-embed [part=action]", { hasText: "copied" }).waitFor();
    const copied = await opened.page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe(`${server.address}linked#embed.dim=12`);
    await opened.close();
  });
});

describe("a page of its own", () => {
  const save = async (page, tag) => {
    const waiting = page.waitForEvent("download");
    await page.locator(`${tag} [part=action]`, { hasText: "page" }).click();
    const download = await waiting;
    const file = join(folder, download.suggestedFilename());
    await download.saveAs(file);
    return file;
  };
  const told = (page, tag) =>
    page.evaluate((name) => {
      const root = document.querySelector(name).shadowRoot;
      return ["title", "readout", "caption"].map((part) => root.querySelector(`[part=${part}]`).textContent);
    }, tag);

  it("shows what was shown, from a disk and without a network, with its data", async () => {
    const host = join(folder, "host.html");
    const script = fileAddress(join(kDist, "posenc.js"));
    writeFileSync(
      host,
      kHead.replace("posenc.js", script) +
        `<posenc-attention loading="eager" sentence="a &lt;/script> &amp; &quot;b&quot; c" scheme="none" key="1">` +
        `</posenc-attention><posenc-bias loading="eager" query="5" key="2"></posenc-bias>` +
        `<script>document.querySelector("posenc-bias").data = posenc.alibi({ heads: 3, slopes: [0.5, 0.125, 2] })</script>`,
    );
    const opened = await open(browser, fileAddress(host));
    await drawn(opened.page);
    await opened.page.evaluate(() => (document.querySelector("posenc-bias").value = { head: 3, causal: true }));
    await drawn(opened.page);
    for (const tag of ["posenc-attention", "posenc-bias"]) {
      const file = await save(opened.page, tag);
      expect(file.endsWith(`${tag}.html`)).toBe(true);
      const alone = await open(browser, fileAddress(file), { context: { offline: true } });
      await drawn(alone.page);
      expect(await told(alone.page, tag)).toEqual(await told(opened.page, tag));
      expect(await alone.page.evaluate(() => document.documentElement.lang)).toBe("de");
      expect(alone.requests).toEqual([fileAddress(file)]);
      expect(alone.faults).toEqual([]);
      // And again from there.
      const again = await save(alone.page, tag);
      expect(readFileSync(again, "utf8").length).toBeGreaterThan(400_000);
      await alone.close();
    }
    expect(await told(opened.page, "posenc-bias").then(([, readout]) => readout)).toContain("\u22126,0");
    await opened.close();
  });

  // Of every figure: its settings, and what a reader or a program has given it beside them.
  const kSet = {
    embed: {
      attributes: { positions: 7, view: "waves", layout: "half", waves: "0 2" },
      data: () => posenc.learned({ table: [[0.25, -1.5, 3], [0.1, 1e-30, -0], [7, 8, 9]], outOfRange: "wrap" }),
    },
    rotate: { attributes: { view: "layouts", mix: "both", q: "1 -2 0.5 4 0 0 1e-3 9", dim: 8, m: 3 } },
    bias: {
      attributes: { view: "profiles", heads: 3, causal: "", positions: 9 },
      data: () => posenc.toeplitz({ values: posenc.randomNormal([3, 17], { seed: 2 }) }),
    },
    relate: {
      attributes: { tokens: 6, view: "terms" },
      data: () => posenc.shaw({ dim: 4, clip: 2, keys: posenc.randomNormal([5, 4], { seed: 8 }) }).toJSON(),
    },
    addition: {
      attributes: { sentence: "a </script> <!-- \u201cb\u201d \u05e9\u05dc \ud83d\ude00 &amp; c", alpha: 0.35 },
    },
    spectrum: { attributes: { scheme: "rope", "scaling-type": "yarn", "scaling-factor": 8, context: 65536 } },
    shift: { attributes: { offset: -7, dim: 8, pair: 3, positions: 12, view: "matrix" } },
    decay: {
      attributes: { law: "t", near: 40 },
      data: () => Float32Array.from({ length: 33 }, (_, i) => 1 / (1 + i)),
    },
    expansion: {
      attributes: { positions: 6, dim: 4, view: "parts", m: 5 },
      // As another library has them.
      data: () =>
        new (class {
          shape = [4, 4];
          data = Float64Array.of(1, 2, 3, 4, 0, 1, 0, 0, 0, 0, -1, 0.5, 0.25, 0, 0, 1);
        })(),
    },
    attention: {
      attributes: { sentence: "one two three two", context: "un deux trois", padding: 1, heads: 2, head: 2 },
      data: () => posenc.alibi({ heads: 2, slopes: [0.5, 2] }),
    },
    permutation: {
      attributes: { sentence: "the cat saw the dog", order: "dog the saw cat the", sum: "sorted", causal: "" },
    },
    similarity: { attributes: { metric: "euclidean", compare: "sinusoidal" }, file: "own table.npy" },
    projection: {
      attributes: { view: "tsne", iterations: 20, perplexity: 3, "map-seed": 5 },
      file: "model.safetensors",
    },
    config: {
      attributes: { view: "distances", pair: 3 },
      typed:
        '{\n  "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "rope_theta": 5e5,\n' +
        '  "_name_or_path": "</script><b>&quot;\\u2028"\n}',
    },
    precision: { attributes: { scheme: "sinusoidal", recipe: "positions", dim: 16, decades: 6, tolerance: 1e-5 } },
    compare: {
      attributes: { heads: 4, length: 64, view: "all" },
      data: () => [posenc.rope({ dim: 8, base: 5e5 }), posenc.t5({ heads: 4, seed: 3 }).toJSON()],
    },
    extrapolation: { attributes: { trained: 100, factor: 3, scaling: "ntk", past: "wrap", view: "rules" } },
    grid: { attributes: { rows: 3, columns: 4, metric: "dot" }, file: "patches.npy" },
  };

  it("of every figure is the figure, with its settings and its data, and asks nobody for anything", async () => {
    const host = join(folder, "all.html");
    const escaped = (text) => String(text).replaceAll("&", "&amp;").replaceAll('"', "&quot;");
    const tags = Object.entries(kSet).map(([name, { attributes }]) => {
      const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`);
      return `<posenc-${name} loading="eager"${given.join("")}></posenc-${name}>`;
    });
    // As wide as a page of its own.
    const style = "<style>body { margin: 2.5rem auto; padding: 0 1.25rem; max-width: 880px }</style>";
    const script = fileAddress(join(kDist, "posenc.js"));
    writeFileSync(host, kHead.replace("posenc.js", script) + style + tags.join("\n"));
    const opened = await open(browser, fileAddress(host));
    const { page } = opened;
    expect(await page.evaluate(() => posenc.figures.map(({ name }) => name).sort())).toEqual(Object.keys(kSet).sort());
    await drawn(page);
    const faults = () =>
      page.evaluate(() =>
        [...document.querySelectorAll("[loading]")]
          .map(({ shadowRoot }) => shadowRoot.querySelector("[part=error]"))
          .flatMap((box) => (box.hidden ? [] : [box.textContent])),
      );
    expect(await faults()).toEqual([]);
    for (const [name, { data, file, typed }] of Object.entries(kSet)) {
      const figure = page.locator(`posenc-${name}`);
      if (data) await figure.evaluate((element, made) => (element.data = eval(made)()), `(${data})`);
      if (typed) await figure.locator("textarea").fill(typed);
      if (file) {
        await figure.evaluate((element, called) => {
          const table = posenc.randomNormal([12, 6], { seed: 4 });
          const bytes = /npy$/.test(called)
            ? posenc.toNpy(table)
            : posenc.toSafetensors({ "h.weight": posenc.randomNormal([2, 2]), "wpe.weight": table });
          return element.takeFile(new File([bytes], called));
        }, file);
      }
    }
    await drawn(page);
    expect(await faults()).toEqual([]);
    const shown = (element) => {
      const text = (selector) => element.shadowRoot.querySelector(selector).textContent;
      const { data, value } = element;
      return {
        value: { ...value },
        data: JSON.stringify(data?.shape ? posenc.tensor(data).tolist() : data),
        words: ["[part=title]", "[part=readout]", "[part=caption]", "#summary"].map(text),
        picture: element.toSvg(),
      };
    };
    const files = [];
    let alone;
    for (const name of Object.keys(kSet)) {
      const tag = `posenc-${name}`;
      // Where the reader has put the cursor.
      for (const key of ["ArrowRight", "ArrowDown"]) await page.locator(`${tag} [part~=drawing]`).press(key);
      await drawn(page);
      files.push(await save(page, tag));
      const address = fileAddress(files.at(-1));
      if (alone) await alone.page.goto(address);
      else alone = await open(browser, address, { context: { offline: true } });
      await drawn(alone.page);
      const [own, original] = await Promise.all(
        [alone.page, page].map((one) => one.locator(tag).evaluate(shown)),
      );
      expect(own, name).toEqual(original);
    }
    expect(alone.requests).toEqual(files.map(fileAddress));
    expect([...opened.faults, ...alone.faults]).toEqual([]);
    // Who did ask would have been seen, and refused.
    const refused = await alone.page.evaluate(() => fetch("http://127.0.0.1/").then(() => false, () => true));
    expect([refused, alone.requests.length]).toEqual([true, files.length + 1]);
    await alone.close();
    await opened.close();
  });

  it("is not offered where the script does not know its own text", async () => {
    const opened = await open(browser, `${server.address}modules`);
    await drawn(opened.page);
    const actions = await opened.page.locator("posenc-embed [part=action]").allTextContents();
    expect(actions).toContain("PNG");
    expect(actions).not.toContain("page");
    await opened.close();
  });
});

describe("a notebook's widget", () => {
  it("shows the model's traits and gives back what the reader sets", async () => {
    const opened = await open(browser, `${server.address}widget`);
    const { page } = opened;
    await page.waitForFunction(() => window.widget);
    await page.evaluate(async () => {
      const heard = new Map();
      const model = {
        traits: { figure: "bias", value: { heads: 4, positions: 20 }, theme: "dark" },
        saved: [],
        get: (name) => model.traits[name],
        set: (name, value) => (model.traits[name] = value),
        save_changes: () => model.saved.push(structuredClone(model.traits.value)),
        on: (event, hear) => heard.set(event, [...(heard.get(event) ?? []), hear]),
        off: (event, hear) => heard.set(event, (heard.get(event) ?? []).filter((one) => one !== hear)),
        change(name, value) {
          model.traits[name] = value;
          for (const hear of heard.get(`change:${name}`) ?? []) hear();
        },
        count: () => [...heard.values()].flat().length,
      };
      window.model = model;
      window.stop = window.widget.render({ model, el: document.querySelector("#cell") });
      await document.querySelector("posenc-bias").drawn;
    });
    const at = () => page.evaluate(() => ({ ...document.querySelector("#cell").firstElementChild.value }));
    expect(await at()).toMatchObject({ heads: 4, positions: 20, scheme: "alibi" });
    // The model knows all values now, and again when the reader has set one.
    const saved = () => page.evaluate(() => window.model.saved);
    expect((await saved()).at(-1)).toMatchObject({ heads: 4, positions: 20, scheme: "alibi" });
    const before = (await saved()).length;
    await page.locator("posenc-bias select").first().selectOption("t5");
    await page.evaluate(() => document.querySelector("posenc-bias").drawn);
    expect((await saved()).length).toBe(before + 1);
    expect((await saved()).at(-1)).toMatchObject({ scheme: "t5", heads: 4 });
    // The other way round, without an echo.
    const changed = await page.evaluate(async () => {
      const figure = document.querySelector("posenc-bias");
      window.model.change("value", { ...window.model.traits.value, positions: 12 });
      await figure.drawn;
      const dark = figure.shadowRoot.querySelector(".figure.dark") !== null;
      return [figure.value.positions, window.model.saved.length, dark];
    });
    expect(changed).toEqual([12, before + 1, true]);
    // Rich data, as JSON and as bytes.
    const rich = await page.evaluate(async () => {
      const bytes = new Uint8Array(new Float32Array([1, 0.25]).buffer);
      const slopes = { shape: [2], dtype: "float32", data: btoa(String.fromCharCode(...bytes)) };
      window.model.change("value", { scheme: "alibi" });
      window.model.change("data", { slot: "bias", name: "alibi", heads: 2, slopes });
      const figure = document.querySelector("posenc-bias");
      await new Promise((resolve) => setTimeout(resolve, 50));
      await figure.drawn;
      return figure.shadowRoot.querySelector("[part=title]").textContent;
    });
    expect(rich).toContain("of\u00a02");
    // Another figure, one that there is not, and the end.
    const ends = await page.evaluate(async () => {
      const cell = document.querySelector("#cell");
      // What does not fit is told, and changes nothing.
      window.model.change("value", { headz: 3 });
      const wrong = cell.lastElementChild.textContent;
      window.model.change("data", null);
      window.model.change("figure", "embed");
      await cell.firstElementChild.drawn;
      const names = [wrong, cell.firstElementChild.localName];
      window.model.change("figure", "nothing");
      names.push(cell.textContent);
      window.model.change("figure", "relate");
      await cell.firstElementChild.drawn;
      window.stop();
      return [...names, cell.childElementCount, window.model.count()];
    });
    expect(ends[0]).toContain("headz");
    expect(ends[1]).toBe("posenc-embed");
    expect(ends[2]).toContain("There is no figure \u201cnothing\u201d; figure is one of embed,");
    expect(ends.slice(3)).toEqual([0, 0]);
    expect(opened.faults).toEqual([]);
    await opened.close();
  });
});
