// The pages around the chapter, and all of them together: gallery, playground and frames draw and take nothing on
// trust; every page passes axe, reads without scripts, opens from the unpacked zip, asks nobody for anything, and is
// there without a network once it has been seen.
import { mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attributeName } from "../../web/figures/figure.ts";
import { axe, drawAll as drawEach, fileAddress, inspectFigures } from "./harness.mjs";
import { kDist, kRoot, kSite, launch, open, overlapsOfPage, serveFolder } from "./harness.mjs";

// A page of somebody else's.
const kOther = `<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title><link rel="icon" href="data:,">`;
const kPages = ["index.html", "gallery.html", "playground.html", "embed.html?fig=embed"];

let browser;
let server;
beforeAll(async () => {
  browser = await launch();
  server = await serveFolder(kSite);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

// The figures of a page that makes them when it has read its address.
const drawAll = async (page) => {
  await page.waitForFunction(() => [...document.querySelectorAll("body *")].some((one) => one.shadowRoot));
  await drawEach(page);
};

const soundly = async (page) => {
  const figures = await inspectFigures(page);
  for (const { name, fault, inked } of figures) {
    expect(fault, name).toBe("");
    expect(inked, `${name}: share of pixels drawn on`).toBeGreaterThan(0.002);
  }
  return figures.map(({ name }) => name);
};

describe("the gallery", () => {
  it("shows every figure with its attributes, and the lines that put it elsewhere follow it", async () => {
    const { page, close, faults } = await open(browser, `${server.address}gallery.html`);
    await drawAll(page);
    const names = await page.evaluate(() => posenc.figures.map(({ name }) => name));
    expect(await soundly(page)).toEqual(names.map((name) => `posenc-${name}`));
    const told = await page
      .locator("section[data-figure]")
      .evaluateAll((list) => list.map((one) => [...one.querySelectorAll("tbody th")].map((cell) => cell.textContent)));
    const attributes = await page.evaluate(() => posenc.figures.map((figure) => Object.keys(figure.attributes)));
    expect(told).toEqual(attributes.map((list) => list.map(attributeName)));
    const meanings = await page.locator("section[data-figure] tbody td").allTextContents();
    expect(meanings.length).toBe(told.flat().length);
    for (const meaning of meanings) expect(meaning).toMatch(/\w+ \w+|^\w{4,}/);

    // The guide's program, which needs a document.
    const guide = readFileSync(join(kRoot, "docs/figures.md"), "utf8");
    const [program] = guide.match(/(?<=^```js\n)[\s\S]*?\bdocument\.[\s\S]*?(?=^```)/m);
    const made = await page.evaluate(`(async () => { ${program}\n const { value } = figure; figure.remove();
      return { svg: svg.slice(0, 4), positions: value.positions, view: value.view }; })()`);
    expect(made).toEqual({ svg: "<svg", positions: 32, view: "waves" });

    const section = page.locator("section[data-figure=bias]");
    const snippet = () => section.locator("pre").first().innerText();
    expect(await snippet()).toBe('<script src="posenc.js" defer></script>\n<posenc-bias></posenc-bias>');
    const head = section.locator("posenc-bias input[type=range]").nth(1);
    await section.locator("posenc-bias").evaluate((figure) => {
      figure.value = { heads: 4, causal: true };
      figure.dispatchEvent(new Event("change", { bubbles: true }));
    });
    expect(await snippet()).toContain('<posenc-bias heads="4" causal></posenc-bias>');
    expect(await head.count()).toBe(1);

    // Heard too, whether the clipboard took it or not.
    await section.locator("button.copy").first().click();
    await page.locator("#copied", { hasText: /opied: the lines of posenc-bias are/ }).waitFor();

    // What is copied does what it shows.
    const other = await serveFolder(kSite, { extra: { "/other": { body: kOther + (await snippet()) } } });
    const elsewhere = await open(browser, `${other.address}other`);
    await drawAll(elsewhere.page);
    const value = await elsewhere.page.locator("posenc-bias").evaluate((figure) => figure.value);
    expect(value).toMatchObject({ heads: 4, causal: true });
    expect([...faults, ...elsewhere.faults]).toEqual([]);
    await elsewhere.close();
    await other.close();
    await close();
  });

  it("has frames that take the height of their figure", async () => {
    const gallery = await open(browser, `${server.address}gallery.html`);
    await drawAll(gallery.page);
    const frame = await gallery.page.locator("section[data-figure=relate] pre").nth(1).innerText();
    await gallery.close();
    const body = kOther + frame;
    const other = await serveFolder(kSite, { extra: { "/other": { body } } });
    const { page, close, faults } = await open(browser, `${other.address}other`);
    await page.waitForFunction(() => {
      const { height } = document.querySelector("iframe");
      return height !== "640" && Number(height) > 300;
    });
    const inner = page.frames().find((one) => one.url().includes("embed.html"));
    await drawAll(inner);
    await page.waitForFunction(() => {
      const element = document.querySelector("iframe");
      const root = element.contentDocument.documentElement;
      return root.querySelector("posenc-relate")?.clientHeight > 300 && root.scrollHeight <= element.clientHeight;
    });
    expect(faults).toEqual([]);
    await close();
    await other.close();
  });
});

describe("embed.html", () => {
  const say = async (query) => {
    const { page, close, faults } = await open(browser, `${server.address}embed.html${query}`);
    await page.waitForFunction(
      () => !document.querySelector("#failure").hidden || document.querySelector("main > :not(h1, p, noscript)"),
    );
    const answer = await page.evaluate(() => ({
      sentence: document.querySelector("#failure").textContent,
      figures: [...document.querySelectorAll("*")].filter(({ localName }) => localName.startsWith("posenc-")).length,
    }));
    expect(faults).toEqual([]);
    await close();
    return answer;
  };

  it("draws what the address asks for", async () => {
    const query = "fig=embed&positions=32&dim=16&theme=dark";
    const { page, close, faults } = await open(browser, `${server.address}embed.html?${query}`);
    await page.locator("posenc-embed canvas").waitFor();
    const value = await page.locator("posenc-embed").evaluate(async (figure) => {
      await figure.drawn;
      return figure.value;
    });
    expect(value).toMatchObject({ positions: 32, dim: 16 });
    expect(await page.title()).toContain("32 positions");
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
    expect(faults).toEqual([]);
    await close();
  });

  it("refuses what it does not know in a sentence", async () => {
    expect((await say("")).sentence).toContain("asks for no figure");
    const nothing = await say("?fig=<img src=x onerror=alert(1)>");
    expect(nothing).toEqual({ sentence: expect.stringContaining("fig= must be one of"), figures: 0 });
    for (const query of ["?fig=bias&onclick=alert(1)", "?fig=bias&style=color:red", "?fig=bias&__proto__=1"]) {
      const { sentence, figures } = await say(query);
      expect(sentence, query).not.toBe("");
      expect(figures, query).toBe(0);
    }
    expect((await say(`?fig=addition&sentence=${"a".repeat(5000)}`)).sentence).toContain("longer than");
  });
});

describe("the playground", () => {
  it("shows every scheme in every figure that has it", async () => {
    const { page, close, faults, late } = await open(browser, `${server.address}playground.html`);
    await drawAll(page);
    const schemes = await page.evaluate(() => posenc.schemes.map(({ name, slot }) => ({ name, slot })));
    let attended = 0;
    for (const { name, slot } of schemes) {
      await page.evaluate((scheme) => {
        const select = document.querySelector("#scheme");
        select.value = scheme;
        select.dispatchEvent(new Event("change"));
      }, name);
      await drawAll(page);
      const figures = await soundly(page);
      // One turns no pair, and so has no hands to draw.
      expect(figures, name).toContain(name === "queryScale" ? "posenc-attention" : `posenc-${slot}`);
      if (figures.includes("posenc-attention")) attended += 1;
    }
    // Tokens of a sentence stand on one axis, which is not every scheme's.
    expect(attended).toBeGreaterThan(schemes.length / 2);
    // Numbers that no control can give are seeded; what the reader does there leaves the scheme as it is.
    await page.locator("#scheme").selectOption("toeplitz");
    expect(await page.locator("#notes").innerText()).toContain("random");
    await page.locator("posenc-bias").evaluate((figure) => {
      figure.value = { head: 3 };
      figure.dispatchEvent(new Event("change", { bubbles: true }));
    });
    const left = await page.locator("posenc-bias").evaluate(async (figure) => {
      await figure.drawn;
      return figure.value;
    });
    expect(left).toMatchObject({ scheme: "toeplitz", head: 3 });
    expect(faults).toEqual([]);
    expect(late).toEqual([]);
    await close();
  });

  it("keeps a setting in all figures and in the address", async () => {
    const { page, close, faults } = await open(browser, `${server.address}playground.html#scheme=alibi&heads=4`);
    await drawAll(page);
    const heads = (name) => page.locator(name).evaluate((figure) => Number(figure.value.heads));
    expect(await heads("posenc-bias")).toBe(4);
    expect(await heads("posenc-attention")).toBe(4);
    await page.locator("posenc-bias").evaluate((figure) => {
      figure.value = { heads: 12 };
      figure.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await drawAll(page);
    expect(await heads("posenc-attention")).toBe(12);
    const address = await page.locator("#permalink").evaluate((link) => link.href);
    expect(address).toContain("#scheme=alibi&heads=12");
    await page.goto("about:blank");
    await page.goto(address);
    await drawAll(page);
    expect(await heads("posenc-bias")).toBe(12);
    expect(faults).toEqual([]);
    await close();
  });

  const kLlama = {
    model_type: "llama",
    hidden_size: 4096,
    num_attention_heads: 32,
    num_hidden_layers: 2,
    max_position_embeddings: 131072,
    rope_theta: 500000,
    rope_scaling: {
      rope_type: "llama3",
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 8192,
    },
  };

  it("reads a pasted config, whose figures draw the model's scheme", async () => {
    const { page, close, faults } = await open(browser, `${server.address}playground.html`);
    // Pasted before the module is there, it waits for it.
    await page.addInitScript((config) => {
      addEventListener("DOMContentLoaded", () => {
        const box = document.querySelector("#config");
        if (!box || location.hash !== "") return;
        box.value = config;
        box.dispatchEvent(new Event("input", { bubbles: true }));
      });
    }, JSON.stringify(kLlama));
    await page.reload();
    await page.locator("#told", { hasText: /^llama: rope \(rotate\)$/ }).waitFor();
    await drawAll(page);
    expect(await soundly(page)).toContain("posenc-rotate");
    const scheme = await page.locator("posenc-rotate").evaluate((figure) => figure.data.toJSON());
    expect(scheme).toMatchObject({ name: "rope", dim: 128, base: 500000, layout: "half" });
    expect(scheme.scaling).toMatchObject({ type: "llama3", factor: 8 });
    // What the controls say is what is drawn.
    for (const name of ["rotate", "spectrum", "precision"]) {
      const value = await page.locator(`posenc-${name}`).evaluate((figure) => ({ ...figure.value }));
      expect(value, name).toMatchObject({ dim: 128, base: 500000 });
    }
    // The reader changes one, and the figure draws what they say.
    const base = page.locator("posenc-rotate").getByLabel("base", { exact: true });
    const pictured = () => page.locator("posenc-rotate").evaluate(async (figure) => {
      await figure.drawn;
      return { given: figure.data !== undefined, base: figure.value.base, csv: figure.toCsv?.() ?? figure.toSvg() };
    });
    const before = await pictured();
    await base.focus();
    await page.keyboard.press("Home");
    const after = await pictured();
    expect([before.given, after.given]).toEqual([true, false]);
    expect(after.base).toBeLessThan(before.base);
    expect(after.csv).not.toBe(before.csv);
    // Set back by hand it makes the model's own scheme again.
    await page.locator("posenc-rotate").evaluate((figure) => (figure.value = { ...figure.value, base: 500000 }));
    expect(await pictured()).toEqual({ ...before, given: false });
    const others = await page.evaluate(() =>
      ["extrapolation", "compare"].map((name) => [document.querySelector(`posenc-${name}`).data].flat()[0].base),
    );
    expect(others).toEqual([500000, 500000]);
    const said = await page.evaluate(() =>
      ["attention", "compare", "spectrum", "extrapolation"].map((name) => ({
        ...document.querySelector(`posenc-${name}`).value,
      })),
    );
    expect(said).toMatchObject([
      { heads: 32, headWidth: 128, causal: true, window: 0 },
      { heads: 32, headWidth: 128 },
      { context: 131072 },
      { trained: 8192, factor: 16 },
    ]);
    expect(await page.locator("#notes").innerText()).toContain("Only posenc-config shows the scale of the scores");
    // The address brings it back.
    const address = await page.locator("#permalink").evaluate((link) => link.href);
    await page.goto("about:blank");
    await page.goto(address);
    await page.locator("#told", { hasText: "llama: rope" }).waitFor();
    await page.locator("#config").fill("{ not json");
    const broken = "This is no JSON: line 1, column 3: a key in double quotes was expected, got not.";
    await page.locator("#told", { hasText: broken }).waitFor();
    expect(await page.locator("#figures > *").count()).toBe(0);
    await page.locator("#config").fill('{"model_type": "no such model"}');
    await page.locator("#told", { hasText: /^No model "no such model" is known here\.$/ }).waitFor();
    await page.locator("#config").fill('{"model_type": "llama"}');
    await page.locator("#told", { hasText: "fromConfig: " }).waitFor();
    await page.locator("#config").fill("{}");
    await page.locator("#told", { hasText: "it has no model_type." }).waitFor();
    // Nothing is chosen above, so that any scheme can be; an emptied box brings back the one that was.
    expect(await page.locator("#scheme").inputValue()).toBe("");
    await page.locator("#config").fill("");
    await page.locator("#told", { hasText: /^RoPE/ }).waitFor();
    expect(await page.locator("#scheme").inputValue()).toBe("rope");
    expect(await page.locator("posenc-rotate").count()).toBe(1);
    expect(faults).toEqual([]);
    await close();
  });

  it("shows every model's schemes in the figures that fit them", async () => {
    const folder = join(kRoot, "tests/golden/configs");
    const configs = readdirSync(folder)
      .filter((file) => file.endsWith(".json"))
      .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")).config);
    const { page, close, faults } = await open(browser, `${server.address}playground.html`);
    await page.locator("#told:not(:empty)").waitFor();
    const shown = await page.evaluate(async (all) => {
      const [config, told, place] = ["config", "told", "figures"].map((id) => document.getElementById(id));
      const drawn = new Set();
      const answers = [];
      for (const one of all) {
        config.value = JSON.stringify(one);
        config.dispatchEvent(new Event("input"));
        await new Promise((done) => setTimeout(done));
        const title = told.textContent;
        // Schemes that are alike are drawn once.
        const schemes = title.replace(/^[^:]*:/, "");
        if (!drawn.has(schemes)) {
          drawn.add(schemes);
          for (const figure of place.children) figure.setAttribute("loading", "eager");
          await Promise.all([...place.children].map((figure) => figure.drawn));
        }
        const notes = Array.from(document.querySelectorAll("#notes li"), (note) => note.innerText);
        const notDrawn = notes.filter((note) => note.startsWith("Not drawn"));
        answers.push({ title, figures: place.childElementCount, notDrawn });
      }
      return answers;
    }, configs);
    configs.forEach(({ model_type: model = "" }, i) => {
      const { title, figures, notDrawn } = shown[i];
      // A model of several parts is called as its text's.
      expect(title).toMatch(new RegExp(`^${model}\\w*: .* \\((embed|rotate|bias|relate)\\)$`));
      // Its config, its own slot's figure, two of attention, and its row of the comparison.
      expect(figures, title).toBeGreaterThanOrEqual(5);
      expect(notDrawn, title).toEqual([]);
    });
    expect(faults).toEqual([]);
    await close();
  });

  it("draws a table out of a file", async () => {
    const { toNpy, toSafetensors, randomNormal } = await import(join(kDist, "files.js")).then(async (files) => ({
      ...files,
      ...(await import(join(kDist, "index.js"))),
    }));
    const table = randomNormal([24, 6], { seed: 3 });
    const { page, close, faults } = await open(browser, `${server.address}playground.html`);
    const give = (name, bytes) =>
      page.locator("#file").setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.from(bytes) });
    await give("table.npy", toNpy(table));
    await page.locator("#told", { hasText: "table.npy: 24 positions, 6 dimensions" }).waitFor();
    await drawAll(page);
    expect(await soundly(page)).toContain("posenc-embed");
    const first = await page.locator("posenc-embed").evaluate((figure) => figure.data.table.row(0));
    expect(Object.values(first)).toEqual([...table.row(0)]);
    await give("model.safetensors", toSafetensors({ "h.weight": randomNormal([8, 8]), "wpe.weight": table }));
    await page.locator("#told", { hasText: "wpe.weight: 24 positions" }).waitFor();
    await page.locator("#tensor").selectOption("h.weight");
    await page.locator("#told", { hasText: "h.weight: 8 positions" }).waitFor();
    await give("picture.png", new Uint8Array(9));
    await page.locator("#told", { hasText: "picture.png: a file is" }).waitFor();
    await give("broken.npy", new Uint8Array(200));
    await page.waitForFunction(() => /npy/i.test(document.querySelector("#told").textContent));
    expect(await page.locator("#figures > *").count()).toBe(0);
    await give("cut.safetensors", toSafetensors({ "wpe.weight": table }).slice(0, -4));
    await page.locator("#told", { hasText: /^(safetensorsHeader|readSafetensors): ./ }).waitFor();
    await give("config.json", new Uint8Array(900_000).fill(0x20));
    await page.locator("#told", { hasText: "config.json is too long" }).waitFor();
    expect(await page.locator("#figures > *").count()).toBe(0);
    // None of them stands in the way of the next, which is dropped on the page.
    const left = await page.evaluate(
      ([name, bytes]) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([Uint8Array.from(bytes)], name));
        return ["dragover", "drop"].map((kind) =>
          document.querySelector("h1").dispatchEvent(
            new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }),
          ),
        );
      },
      ["table.npy", [...toNpy(table)]],
    );
    expect(left, "left to the browser, which would open the file").toEqual([false, false]);
    await page.locator("#told", { hasText: "table.npy: 24 positions, 6 dimensions" }).waitFor();
    await drawAll(page);
    expect(await soundly(page)).toContain("posenc-embed");
    expect(faults).toEqual([]);
    await close();
  });

  it("trusts no address", async () => {
    const long = `#config=${"%7B".repeat(5000)}`;
    for (const hash of ["#scheme=<script>", "#config=[1,2", "#scheme=rope&onclick=1&dim=abc", long]) {
      const { page, close, faults } = await open(browser, `${server.address}playground.html${hash}`);
      await page.waitForFunction(() => document.querySelector("#told").textContent !== "");
      expect(await page.locator("[onclick]").count(), hash).toBe(0);
      expect(await page.locator("main script").count(), hash).toBe(0);
      expect(faults, hash).toEqual([]);
      await close();
    }
  });
});

describe("the chapter", () => {
  it("has every figure in its place, and a question after each of its parts", async () => {
    const { page, close } = await open(browser, `${server.address}index.html`);
    const { figures, known, parts, claims, told } = await page.evaluate(() => ({
      claims: Array.from(document.querySelectorAll("section .claim"), (one) => one.textContent.match(/^\w+/)[0]),
      told: Array.from(document.querySelectorAll(".note .claim"), (one) => one.textContent),
      figures: [...document.querySelectorAll("main .wide")].map((one) => one.localName),
      known: posenc.figures.map(({ name }) => `posenc-${name}`),
      parts: [...document.querySelectorAll("main > section")].map((part) => [
        part.id,
        [...part.querySelectorAll("[data-question]")].map((one) => one.dataset.question),
      ]),
    }));
    // The heat map's waves stand beside it.
    expect(figures.length).toBe(known.length + 1);
    expect(new Set(figures)).toEqual(new Set(known));
    // The last two parts say what is not so, and where to read on.
    const asking = parts.slice(0, -2);
    for (const [id, asked] of asking) expect(asked.length, id).toBeGreaterThan(0);
    expect(asking.flatMap(([, asked]) => asked).length).toBe(10);
    // What stands behind a sentence is a word that the page has explained.
    expect([...new Set(claims)].sort()).toEqual(told.sort());
    await close();
  });
});

describe("the questions of the chapter", () => {
  // One right answer each; tests/web/site/questions.test.ts has more, and wrong ones.
  const kAnswers = {
    order: { scheme: "none", causal: true },
    stripes: { dimension: 23 },
    clocks: { context: 5000 },
    shift: { offset: 44 },
    origin: { dim: 512 },
    tables: { positions: 8 },
    turning: { m: 20, n: 16 },
    pairs: { head: 3 },
    longer: { scaling: "linear" },
    further: { recipe: "table" },
  };

  it("are open as the page stands, and answered by setting their figures", async () => {
    const { page, close, faults } = await open(browser, `${server.address}index.html`);
    await drawAll(page);
    const answers = await page.evaluate(async (given) => {
      const asides = [...document.querySelectorAll("[data-question]")];
      const answered = [];
      for (const aside of asides) {
        const name = aside.dataset.question;
        const figure = document.querySelector(aside.querySelector("a").hash);
        const verdict = aside.querySelector("[role=status]");
        const change = async (value) => {
          verdict.textContent = "";
          figure.value = value;
          await figure.drawn;
          figure.dispatchEvent(new Event("change", { bubbles: true }));
          while (verdict.textContent === "") await new Promise((done) => setTimeout(done, 20));
          return verdict.textContent;
        };
        answered.push([name, await change({}), await change(given[name])]);
      }
      return answered;
    }, kAnswers);
    expect(answers.map(([name]) => name).sort()).toEqual(Object.keys(kAnswers).sort());
    for (const [name, before, after] of answers) {
      expect(before, name).toMatch(/^Not yet\. ./);
      expect(after, name).toMatch(/^Right\. ./);
    }
    expect(faults).toEqual([]);
    await close();
  });

  it("follow their figures, by keyboard too", async () => {
    const { page, close, faults } = await open(browser, `${server.address}index.html`);
    const names = await page.locator("[data-question]").evaluateAll((list) => list.map((one) => one.dataset.question));
    expect(new Set(names).size).toBe(names.length);
    const question = page.locator("[data-question=pairs]");
    const verdict = question.locator("[role=status]");
    expect(await verdict.innerText()).toBe("");
    // To the figure, and on to the slider of its heads: on a slow machine, of which the page is not laid out yet, too.
    const debugged = await page.context().newCDPSession(page);
    await debugged.send("Emulation.setCPUThrottlingRate", { rate: 8 });
    // Formats of numbers are slow to make: English does without.
    await page.addInitScript(() => {
      globalThis.formats = 0;
      Intl.NumberFormat = new Proxy(Intl.NumberFormat, {
        construct(...call) {
          globalThis.formats++;
          return Reflect.construct(...call);
        },
      });
    });
    await page.reload();
    await question.locator("a").focus();
    await page.keyboard.press("Enter");
    await debugged.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    const figure = page.locator("#fig-bias");
    await figure.evaluate((element) => element.drawn);
    expect(await page.evaluate(() => document.activeElement.id)).toBe("fig-bias");
    const focused = () =>
      figure.evaluate(({ shadowRoot: { activeElement: one } }) => one?.labels?.[0]?.textContent ?? "");
    for (let i = 0; i < 20 && !/^head(?!s)/.test(await focused()); i++) await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowRight");
    await verdict.filter({ hasText: "Not yet. In head 2 it costs 2: too much" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await verdict.filter({ hasText: "Right. In head 3 it costs 1: its slope is 1/8." }).waitFor();
    // Seen below the figure too, from where a link leads back.
    const beside = page.locator("#fig-bias + .beside");
    expect(await beside.innerText()).toContain(await question.locator(".ask").evaluate((ask) => ask.firstChild.data));
    expect(await beside.locator(".verdict").innerText()).toBe(await verdict.innerText());
    await figure.locator("details[part=table] summary").focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const asked = () => page.evaluate(() => document.activeElement.closest("[data-question]")?.dataset.question);
    expect(await asked()).toBe("pairs");
    await page.keyboard.press("Enter");
    for (let i = 0; i < 20 && !/^head(?!s)/.test(await focused()); i++) await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowRight");
    await verdict.filter({ hasText: "Not yet." }).waitFor();
    expect(await page.evaluate(() => globalThis.formats)).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });
});

describe("every page", () => {
  // The chapter's own test passes it through axe.
  it.each(kPages.slice(1).flatMap((path) => ["light", "dark"].map((scheme) => [path, scheme])))(
    "%s in %s passes axe and fits into 320 pixels, nothing on anything else",
    async (path, colorScheme) => {
      const { page, close, faults } = await open(browser, server.address + path, { colorScheme });
      await drawAll(page);
      expect(await axe(page)).toEqual([]);
      expect(await overlapsOfPage(page)).toEqual([]);
      await page.setViewportSize({ width: 320, height: 700 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
      // A hyphen or a point within a name is no place to break a line at.
      const names = await page.evaluate(() =>
        [...document.querySelectorAll("p code")]
          .filter((name) => name.getClientRects().length > 1)
          .map((name) => name.textContent),
      );
      expect(names).toEqual([]);
      await drawEach(page);
      expect(await overlapsOfPage(page)).toEqual([]);
      expect(faults).toEqual([]);
      await close();
    },
  );

  it("is printed in ink on white paper from a dark screen too", async () => {
    for (const path of kPages) {
      const { page, close } = await open(browser, server.address + path, { colorScheme: "dark" });
      await page.evaluate(() => (document.documentElement.dataset.theme = "dark"));
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      const colours = await page.evaluate(() => {
        const { color, backgroundColor } = getComputedStyle(document.body);
        return [color, backgroundColor];
      });
      expect(colours, path).toEqual(["rgb(28, 27, 25)", "rgb(255, 255, 255)"]);
      await close();
    }
  });

  it("works under the strictest policy that lets WebAssembly run, with trusted types", async () => {
    const policy =
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; font-src 'self'; " +
      "img-src 'self' data: blob:; require-trusted-types-for 'script'";
    const strict = await serveFolder(kSite, { policy });
    // The chapter is held to this by a test of its own.
    for (const path of kPages.slice(1)) {
      const { page, close, faults } = await open(browser, strict.address + path);
      await drawAll(page);
      expect((await soundly(page)).length, path).toBeGreaterThan(0);
      expect(faults, path).toEqual([]);
      await close();
    }
    await strict.close();
  });

  it("has a language, a title and headings in order, and leads to places that are there", async () => {
    for (const path of kPages) {
      const { page, close } = await open(browser, server.address + path);
      const { language, title, headings } = await page.evaluate(() => ({
        language: document.documentElement.lang,
        title: document.title,
        headings: [...document.querySelectorAll("h1, h2, h3, h4")].map((one) => Number(one.localName[1])),
      }));
      expect(language, path).toBe("en");
      expect(title.length, path).toBeGreaterThan(8);
      expect(headings.filter((level) => level === 1).length, path).toBe(1);
      // The contents stand before the title of the page; from there on no level is skipped.
      const main = headings.slice(headings.indexOf(1));
      main.forEach((level, i) => expect(level - (main[i - 1] ?? level), `heading ${i}`).toBeLessThanOrEqual(1));
      const lost = await page.evaluate(() =>
        [...document.querySelectorAll('a[href^="#"]')]
          .map((link) => decodeURIComponent(link.hash.slice(1)))
          .filter((id) => id !== "" && !id.includes("=") && !document.getElementById(id)),
      );
      expect(lost, path).toEqual([]);
      const links = page.locator("a[href]");
      const local = await links.evaluateAll((list) => list.map((link) => link.getAttribute("href")));
      for (const file of local.filter((href) => !/^(#|https:)/.test(href)))
        expect(readdirSync(kSite), `${path}: ${file}`).toContain(file.replace(/[?#].*/, ""));
      await close();
    }
  });

  it("reads without scripts, numbers and all", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(server.address);
    expect(await page.locator("#pe-three").innerText()).toBe("[0.1411, \u22120.9900, 0.0300, 0.9996]");
    expect(await page.locator("output[data-live]:empty, tbody[data-rows]:empty").count()).toBe(0);
    expect(await page.locator("[data-question=stripes] .ask").innerText()).toContain("cosine");
    expect(await page.locator("math").count()).toBeGreaterThan(40);
    await context.close();
  });

  it("sets formulas in its own font alone, which has every character and every root", async () => {
    const { page, close } = await open(browser, server.address);
    await page.evaluate(() => document.fonts.ready);
    const session = await page.context().newCDPSession(page);
    await session.send("DOM.enable");
    await session.send("CSS.enable");
    const { root } = await session.send("DOM.getDocument");
    const { nodeIds } = await session.send("DOM.querySelectorAll", { nodeId: root.nodeId, selector: "math" });
    const used = new Map();
    for (const nodeId of nodeIds) {
      const { fonts } = await session.send("CSS.getPlatformFontsForNode", { nodeId });
      for (const { familyName, isCustomFont } of fonts) used.set(familyName, isCustomFont);
    }
    expect([...used]).toEqual([["STIX Two Math", true]]);
    // A root without its sign is as wide as what stands under it.
    const roots = await page.locator("msqrt").evaluateAll((list) =>
      list.map((root) => {
        const parts = [...root.children].map((part) => part.getBoundingClientRect());
        const end = Math.max(...parts.map(({ right }) => right));
        const { width, right } = root.getBoundingClientRect();
        return { wide: width / (end - Math.min(...parts.map(({ left }) => left))), gap: right - end };
      }),
    );
    expect(roots.length).toBeGreaterThan(0);
    expect(Math.min(...roots.map(({ wide }) => wide))).toBeGreaterThan(1.2);
    // Nor does it leave room for a wider sign behind it.
    expect(Math.max(...roots.map(({ gap }) => gap))).toBeLessThan(1);
    await close();
  });

  it("writes numbers as its language does", async () => {
    const german = readFileSync(join(kSite, "index.html"), "utf8").replace('<html lang="en">', '<html lang="de">');
    const other = await serveFolder(kSite, { extra: { "/deutsch.html": { body: german } } });
    const { page, close } = await open(browser, `${other.address}deutsch.html`);
    await page.locator("#pe-three", { hasText: "0,1411" }).waitFor();
    expect(await page.locator("#pe-three").innerText()).toBe("[0,1411; \u22120,9900; 0,0300; 0,9996]");
    await page.locator('output[data-live="wavelength 512 255"]', { hasText: /60\s611/ }).first().waitFor();
    await close();
    await other.close();
  });
});

describe("away from its host", () => {
  it("opens from the unpacked zip and asks nobody for anything", async () => {
    const zip = unzipSync(readFileSync(join(kDist, "posenc-site.zip")));
    const names = readdirSync(kSite).map((name) => `posenc-site/${name}`);
    expect(Object.keys(zip).sort()).toEqual(names.sort());
    for (const [name, bytes] of Object.entries(zip))
      expect(Buffer.from(bytes).equals(readFileSync(join(kSite, name.replace("posenc-site/", "")))), name).toBe(true);
    const folder = mkdtempSync(join(tmpdir(), "posenc-zip-"));
    try {
      for (const [name, bytes] of Object.entries(zip)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), bytes);
      }
      for (const path of kPages) {
        const address = fileAddress(join(folder, "posenc-site", path.split("?")[0])) + path.replace(/^[^?]*/, "");
        const { page, close, requests, late, faults } = await open(browser, address);
        await drawAll(page);
        expect((await soundly(page)).length, path).toBeGreaterThan(0);
        const elsewhere = requests.filter((url) => !url.startsWith(fileAddress(join(folder, "posenc-site"))));
        expect(elsewhere, path).toEqual([]);
        expect(late, path).toEqual([]);
        expect(faults, path).toEqual([]);
        await close();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("is there without a network once it has been seen", async () => {
    const host = await serveFolder(kSite);
    const { page, context, close, faults } = await open(browser, host.address);
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready;
      if (!navigator.serviceWorker.controller)
        await new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done, { once: true }));
    });
    // The host is gone, and the network with it.
    await host.close();
    await context.setOffline(true);
    await page.reload();
    await drawAll(page);
    expect(await soundly(page)).toContain("posenc-attention");
    for (const path of kPages.slice(1)) {
      await page.goto(host.address + path);
      await drawAll(page);
      expect((await soundly(page)).length, path).toBeGreaterThan(0);
    }
    expect(faults).toEqual([]);
    await close();
  });

  it("shows a new build at the next visit, and never parts of two", async () => {
    const folder = mkdtempSync(join(tmpdir(), "posenc-builds-"));
    const version = /posenc-(\w{16})/.exec(readFileSync(join(kSite, "service-worker.js"), "utf8"))[1];
    // Each build says of its page and of each of its scripts which one it is.
    const build = (number) => {
      for (const name of readdirSync(kSite)) {
        let text = readFileSync(join(kSite, name));
        if (/\.(html|js|css)$/.test(name)) {
          text = String(text).replaceAll(version, `${number}`.repeat(16));
          if (/^(posenc|chapter)\.js$/.test(name)) text += `\n(globalThis.builds ??= []).push(${number});`;
          if (name === "index.html") text = text.replace("<body>", `<body data-build="${number}">`);
        }
        writeFileSync(join(folder, name), text);
      }
    };
    build(1);
    const host = await serveFolder(folder);
    const { page, context, close, faults } = await open(browser, host.address);
    const shown = () =>
      page.evaluate(() => ({
        page: document.body.dataset.build,
        scripts: globalThis.builds,
        parts: [...new Set([...document.querySelectorAll("head [src], head [rel=stylesheet]")].map(
          (one) => new URL(one.src ?? one.href).searchParams.get("v"),
        ))],
      }));
    const whole = (number) => {
      return { page: `${number}`, scripts: [number, number], parts: [`${number}`.repeat(16)] };
    };
    // Until the worker of this build answers.
    const taken = (number) =>
      page.evaluate(async (name) => {
        const { serviceWorker } = navigator;
        const answers = async () => {
          const { active, installing, waiting } = await serviceWorker.ready;
          const alone = !installing && !waiting && active.state === "activated" && serviceWorker.controller;
          return alone && (await caches.keys()).at(-1) === `posenc-${name}`;
        };
        while (!(await answers())) await new Promise((done) => setTimeout(done, 50));
      }, `${number}`.repeat(16));
    await taken(1);
    await page.reload();
    expect(await shown()).toEqual(whole(1));
    build(2);
    await page.reload();
    expect(await shown()).toEqual(whole(2));
    await taken(2);
    build(3);
    // The host is gone before anybody has seen its third build: the second is whole.
    await host.close();
    await context.setOffline(true);
    await page.reload();
    expect(await shown()).toEqual(whole(2));
    await page.locator("#fig-embed").evaluate((figure) => figure.drawn);
    // A reload lets go of what is still on its way.
    expect(faults.filter((fault) => !fault.endsWith("net::ERR_ABORTED"))).toEqual([]);
    await close();
    rmSync(folder, { recursive: true, force: true });
  });
});
