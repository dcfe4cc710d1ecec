// The page as built, over http and from disk: every figure draws, follows pointer and keyboard, and passes axe; the
// worked examples are the notes' to their printed digits; nothing is fetched after the load.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { join } from "node:path";
import { axe, drawAll, fileAddress, inspectFigures, overlapsOfPage } from "./harness.mjs";
import { kSite, launch, open, serveFolder } from "./harness.mjs";

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

const kFigures = [
  "posenc-permutation",
  "posenc-embed",
  "posenc-addition",
  "posenc-spectrum",
  "posenc-shift",
  "posenc-similarity",
  "posenc-decay",
  "posenc-expansion",
  "posenc-attention",
  "posenc-rotate",
  "posenc-bias",
  "posenc-relate",
  "posenc-extrapolation",
  "posenc-config",
  "posenc-precision",
  "posenc-compare",
  "posenc-projection",
  "posenc-grid",
];

describe.each([
  ["http", () => server.address],
  ["file", () => fileAddress(join(kSite, "index.html"))],
])("the page over %s", (way, address) => {
  let opened;
  beforeAll(async () => {
    opened = await open(browser, address());
    await drawAll(opened.page);
  });
  afterAll(() => opened?.close());

  it("draws every figure", async () => {
    const figures = await inspectFigures(opened.page);
    expect(figures.map(({ name }) => name)).toEqual(expect.arrayContaining(kFigures));
    for (const { name, fault, colours, inked, title, readout, summary } of figures) {
      expect(fault, name).toBe("");
      expect(colours, `${name}: colours`).toBeGreaterThan(8);
      expect(inked, `${name}: share of pixels drawn on`).toBeGreaterThan(0.005);
      for (const words of [title, readout, summary]) expect(words.length, name).toBeGreaterThan(3);
    }
  });

  it("computes the notes' worked examples", async () => {
    const text = (selector) => opened.page.locator(selector).innerText();
    const plain = (value) => value.replaceAll("\u2212", "-").replace(/[\u2009\u202f]/g, " ");
    expect(plain(await text("#pe-three"))).toBe("[0.1411, -0.9900, 0.0300, 0.9996]");
    const rows = await opened.page
      .locator("#table-four tbody tr")
      .evaluateAll((list) => list.map((row) => [...row.cells].map((cell) => cell.textContent)));
    expect(rows.map((row) => row.map(plain).map(Number))).toEqual([
      [0, 0, 1, 0, 1],
      [1, 0.841, 0.54, 0.01, 1],
      [2, 0.909, -0.416, 0.02, 1],
      [3, 0.141, -0.99, 0.03, 1],
    ]);
    const cat = await opened.page
      .locator("#table-cat tbody tr")
      .evaluateAll((list) => list.map((row) => row.cells[3].textContent));
    const numbers = cat.map((cell) =>
      plain(cell)
        .match(/-?\d+(\.\d+)?/g)
        .map(Number),
    );
    // Note 004: "The cat sat", embedding + encoding.
    const expected = [
      [0.2, 0.5, 0.8, 1.1],
      [0.5415, 0.9403, 0.21, 0.39995],
      [1.6093, -0.3161, -0.38, 1.2998],
    ];
    numbers.forEach((row, t) =>
      row.forEach((value, c) => expect(value, `row ${t} column ${c}`).toBeCloseTo(expected[t][c], 4)),
    );
    expect(await text("#backend")).toContain("SIMD");
    expect(await opened.page.locator("#table-schemes tbody tr").count()).toBeGreaterThanOrEqual(4);
  });

  it("reads cells out by keyboard", async () => {
    for (const name of kFigures) {
      const figure = opened.page.locator(name).first();
      const drawing = figure.locator("[part~=drawing]");
      const readout = () => figure.locator("[part~=readout]").innerText();
      await drawing.focus();
      await opened.page.keyboard.press("Control+Home");
      await figure.evaluate((element) => element.drawn);
      const seen = new Set([await readout()]);
      for (const key of ["ArrowRight", "ArrowDown", "ArrowDown", "Shift+ArrowRight", "Control+End"]) {
        await opened.page.keyboard.press(key);
        await figure.evaluate((element) => element.drawn);
        seen.add(await readout());
      }
      expect(seen.size, `${name}: different readings`).toBeGreaterThanOrEqual(3);
      expect(await figure.locator("[role=status]").count(), `${name}: live region`).toBe(1);
    }
  });

  it("reads cells out by pointer", async () => {
    for (const name of kFigures) {
      const figure = opened.page.locator(name).first();
      const canvas = figure.locator("canvas");
      const seen = new Set();
      const sweep = async () => {
        await canvas.scrollIntoViewIfNeeded();
        const box = await canvas.boundingBox();
        for (let x = 0.05; x < 1; x += 0.1) {
          for (const y of [0.2, 0.45, 0.7]) {
            await opened.page.mouse.move(box.x + x * box.width, box.y + y * box.height);
            await figure.evaluate((element) => element.drawn);
            seen.add(await figure.locator("[part~=readout]").innerText());
            if (seen.size >= 3) return;
          }
        }
      };
      await sweep();
      // A view of curves or hands may have no cells; another view of the figure has.
      for (const tab of seen.size < 3 ? await figure.locator("[role=tab]").all() : []) {
        await tab.click();
        await figure.evaluate((element) => element.drawn);
        seen.clear();
        await sweep();
        if (seen.size >= 3) break;
      }
      expect(seen.size, `${name}: different readings`).toBeGreaterThanOrEqual(3);
    }
  });

  it("follows the sentence as it is typed", async () => {
    const before = await inspectFigures(opened.page);
    await opened.page.locator("#sentence").fill("dog bites man and man bites dog");
    await drawAll(opened.page);
    const after = await inspectFigures(opened.page);
    for (const name of ["posenc-addition", "posenc-attention"]) {
      const words = (list) => list.find((figure) => figure.name === name);
      expect(words(after).fault).toBe("");
      expect(words(after).summary, name).not.toBe(words(before).summary);
    }
    expect(await opened.page.locator("#sentence-count").innerText()).toBe("7 words.");
    // Words are data: markup in them stays text.
    await opened.page.locator("#sentence").fill("<img src=x onerror=alert(1)> & \u05d0\u05d1\u05d2 \ud83d\ude80");
    await drawAll(opened.page);
    for (const { name, fault } of await inspectFigures(opened.page)) expect(fault, name).toBe("");
    await opened.page.locator("#sentence").fill("The cat sat on the mat");
  });

  it.runIf(way === "http")("writes each figure's numbers as the language around it does, code as code", async () => {
    const read = (language) =>
      opened.page.evaluate(async (lang) => {
        document.documentElement.lang = lang;
        const figures = [...document.querySelectorAll("main .wide")];
        for (const { shadowRoot } of figures) shadowRoot.querySelector("[part~=table]").open = true;
        // A page that says so has them drawn anew.
        dispatchEvent(new Event("hashchange"));
        const told = [];
        for (const figure of figures) {
          await figure.drawn;
          const all = (selector, of = figure.shadowRoot) => [...of.querySelectorAll(selector)];
          const texts = (selector, of) => all(selector, of).map((one) => one.textContent);
          const picture = new DOMParser().parseFromString(figure.toSvg(), "image/svg+xml");
          const [code] = all("[aria-controls=code]");
          code.click();
          told.push({
            name: figure.id,
            words: texts("[part~=title], [part~=reading], [part~=caption], #summary, [part~=value], td"),
            spoken: all("[aria-valuetext]").map((one) => one.getAttribute("aria-valuetext")),
            picture: texts("text, title, desc", picture),
            code: texts("pre"),
          });
          code.click();
          figure.shadowRoot.querySelector("[part~=table]").open = false;
        }
        return told;
      }, language);
    const english = await read("en");
    const german = await read("de");
    await opened.page.evaluate(() => (document.documentElement.lang = "en"));
    expect(new Set(english.map(({ name }) => name)).size).toBe(kFigures.length + 1);
    const inGerman = (words) => words.map((text) => text.replace(/(\d)\.(\d)/g, "$1,$2"));
    english.forEach((figure, n) => {
      const { name, words, spoken, picture, code } = figure;
      const expected = { name, words: inGerman(words), spoken: inGerman(spoken), picture: inGerman(picture), code };
      expect(german[n], name).toEqual(expected);
      // Of schemes there are whole numbers only.
      if (name !== "fig-compare") expect(expected, name).not.toEqual(figure);
    });
  });

  it("asks for nothing after it has loaded, and lets no error slip", () => {
    expect(opened.late).toEqual([]);
    expect(opened.faults).toEqual([]);
  });
});

describe("letters of formulas", () => {
  it("belong to the load, however late a formula is laid out", async () => {
    const hidden = `<style>main { display: none; }</style></head>`;
    const late = await open(browser, `${server.address}late.html`, {
      prepare: (page) =>
        page.route("**/late.html", async (route) => {
          const response = await route.fetch({ url: server.address });
          await route.fulfill({ response, body: (await response.text()).replace("</head>", hidden) });
        }),
    });
    await late.page.locator("main").evaluate((main) => {
      main.style.display = "block";
      void main.offsetHeight;
      return document.fonts.ready.then(() => undefined);
    });
    expect(late.requests.filter((url) => url.includes("math.woff2")).length).toBe(1);
    expect(late.late).toEqual([]);
    expect(late.faults).toEqual([]);
    await late.close();
  });
});

describe.each([["light"], ["dark"]])("in %s", (colorScheme) => {
  let opened;
  beforeAll(async () => {
    opened = await open(browser, server.address, { colorScheme });
    await drawAll(opened.page);
  });
  afterAll(() => opened?.close());

  it("uses the colours of the scheme", async () => {
    const paper = await opened.page
      .locator("posenc-embed")
      .first()
      .evaluate((element) => {
        const canvas = element.shadowRoot.querySelector("canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, 1, 1);
        const body = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
        return { canvas: [...data], body };
      });
    const bright = (rgb) => (rgb[0] + rgb[1] + rgb[2]) / 3 > 128;
    expect(bright(paper.body)).toBe(colorScheme === "light");
    if (paper.canvas[3] === 255) expect(bright(paper.canvas)).toBe(colorScheme === "light");
  });

  it("passes axe, and nothing lies on anything else", async () => {
    const { page, faults } = opened;
    expect(await overlapsOfPage(page)).toEqual([]);
    // Everything unfolded is there to be checked.
    await page.evaluate(() => {
      for (const figure of document.querySelectorAll("*")) {
        for (const details of figure.shadowRoot?.querySelectorAll("details") ?? []) details.open = true;
      }
    });
    await drawAll(page);
    expect(await axe(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});

describe("narrow and printed", () => {
  it("fits into 320 pixels, and onto A4: no table, formula or figure is cut off at the edge of the paper", async () => {
    const { page, close, faults } = await open(browser, server.address, { viewport: { width: 320, height: 700 } });
    await drawAll(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    expect(await overlapsOfPage(page)).toEqual([]);
    // Tables scroll, their captions are read at once; and no line begins with the comma of a formula.
    const lost = await page.evaluate(() =>
      [...document.querySelectorAll("caption:not(.away)")]
        .filter((caption) => {
          const words = document.createRange();
          words.selectNodeContents(caption);
          return [...words.getClientRects()].some(({ right }) => right > innerWidth);
        })
        .map((caption) => caption.textContent),
    );
    expect(lost).toEqual([]);
    const orphans = () =>
      page.evaluate(() => {
        const signs = document.createRange();
        return [...document.querySelectorAll("span.formula")].flatMap((formula) => {
          const next = formula.nextSibling;
          if (!/^[.,;:?!)\u201d]/.test(next?.data ?? "")) return [];
          signs.setStart(next, 0);
          signs.setEnd(next, 1);
          const below = signs.getBoundingClientRect().top > formula.getBoundingClientRect().bottom - 2;
          return below ? [formula.parentElement.textContent] : [];
        });
      });
    for (const width of [320, 500, 1100]) {
      await page.setViewportSize({ width, height: 700 });
      expect(await orphans(), `${width} pixels wide`).toEqual([]);
    }
    for (const { name, fault } of await inspectFigures(page)) expect(fault, name).toBe("");
    // 210 mm less margins of 10 mm, at 96 pixels an inch.
    await page.setViewportSize({ width: 718, height: 1000 });
    await drawAll(page);
    await page.emulateMedia({ media: "print" });
    const cut = await page.evaluate(() =>
      [...document.querySelectorAll("main *")]
        .filter((element) => element.getClientRects().length > 0 && !element.closest("math"))
        .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5)
        .map((element) => `${element.localName}#${element.id} ${element.getBoundingClientRect().right}`),
    );
    expect(cut).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(718);
    expect(faults).toEqual([]);
    await close();
  });
});
