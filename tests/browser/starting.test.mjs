// Figures that nobody has scrolled to: they draw when the page is idle, on paper, under the keyboard and for scripts.
import { inflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inspectFigures, kDist, launch, open, serveFolder } from "./harness.mjs";

const kHead = `<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title><link rel="icon" href="data:,">`;
const kLoad = `<script src="/posenc.js"></script>`;
const kGap = `<div style="height:9000px"></div>`;
const kNames = ["embed", "addition", "attention", "rotate", "bias", "relate"];
const kAll = kNames.map((name) => `${kGap}<posenc-${name}></posenc-${name}>`).join("");
// Without idle time and without intersections nothing is left but what the test is about.
const kNeverIdle = `<script>requestIdleCallback = () => 0; IntersectionObserver = class { observe() {} disconnect() {} };</script>`;

let browser;
let server;
const page = (body) => ({ type: "text/html; charset=utf-8", body: `${kHead}${body}</html>` });
beforeAll(async () => {
  browser = await launch();
  server = await serveFolder(kDist, {
    extra: {
      "/idle": page(kLoad + kAll),
      "/still": page(kNeverIdle + kLoad + `<button id="before">b</button>` + kAll),
      "/modules": page(
        `<script type="module">
          const early = document.createElement("posenc-embed");
          early.dim = 8;
          document.querySelector("posenc-bias").value = { heads: 2 };
          await import("/elements.js");
          const [embed, bias, relate] = ["embed", "bias", "relate"].map((name) =>
            name === "embed" ? early : document.querySelector("posenc-" + name));
          const told = [];
          for (const type of ["posenc-ready", "input"]) relate.addEventListener(type, () => told.push(type));
          const before = relate.value;
          relate.value = { clip: 3 };
          relate.value = { tokenSeed: 5 };
          const between = relate.value;
          let refusal;
          try { relate.toSvg(); } catch (error) { refusal = error.message; }
          embed.value = { positions: 12 };
          document.body.append(embed);
          const wrong = document.createElement("posenc-relate");
          wrong.value = { junk: 1 };
          addEventListener("error", (event) => { globalThis.uncaught = event.message; event.preventDefault(); });
          await Promise.all([embed.drawn, bias.drawn, relate.drawn, wrong.drawn]);
          globalThis.report = {
            before, between, refusal, told,
            embed: [embed.dim, embed.value.dim, embed.positions, Object.hasOwn(embed, "dim")],
            bias: bias.value.heads,
            relate: [relate.clip, relate.tokenSeed, relate.getAttribute("clip")],
            files: performance.getEntriesByType("resource")
              .map(({ name }) => /chunks\\/([a-z]+)-\\w+\\.js$/.exec(name)?.[1])
              .filter((name) => name !== undefined && name !== "chunk").sort(),
          };
        </script><posenc-bias></posenc-bias><posenc-relate></posenc-relate>`,
      ),
      // A clock on which every slice of work has taken long enough, and a count of the turns a page is given.
      "/slices": page(
        `<script>
          let clock = 0;
          performance.now = () => (clock += 100);
          const { postMessage } = MessagePort.prototype;
          let turns = 0;
          MessagePort.prototype.postMessage = function (...given) {
            turns++;
            return postMessage.apply(this, given);
          };
          addEventListener("posenc-ready", () => { globalThis.turns = turns; });
        </script>${kLoad}<posenc-compare></posenc-compare>`,
      ),
      // How many bytes each call of the unpacker is asked for.
      "/unpacked": page(
        `<script>
          const asked = [];
          WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
            construct(target, given) {
              const { exports } = new target(...given);
              const unpack = (...values) => (asked.push(values[3]), exports.unpack(...values));
              return { exports: exports.unpack ? { ...exports, unpack } : exports };
            },
          });
          addEventListener("posenc-ready", () => { globalThis.asked = asked; });
        </script>${kLoad}<posenc-permutation></posenc-permutation>`,
      ),
      "/paint": page(`<script>
        new PerformanceObserver((list) => { globalThis.painted ??= list.getEntries()[0].startTime; })
          .observe({ type: "paint", buffered: true });
        addEventListener("posenc-ready", () => { globalThis.drewAt ??= performance.now(); });
      </script><p>text</p>${kLoad}${kAll}`),
    },
  });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const visit = (path, options) => open(browser, `${server.address}${path}`, options);

// "64 x 96" for every picture in a PDF. Chromium prints a canvas that was drawn on for paper as lines, letters and
// pictures: each heat map as a picture of its cells.
function picturesOf(pdf) {
  const entry = (text, name) => new RegExp(`/${name} (\\d+)`).exec(text)?.[1];
  return [...pdf.toString("latin1").matchAll(/<<([^>]*\/Subtype \/Image[^]*?)>>\s*stream/g)].map(
    ([, text]) => `${entry(text, "Width")} x ${entry(text, "Height")}`,
  );
}

// How many filled rectangles there are of each size.
function rectanglesOf(pdf) {
  const counts = new Map();
  for (const [, packed] of pdf.toString("latin1").matchAll(/stream\r?\n([^]*?)endstream/g)) {
    let drawing;
    try {
      drawing = inflateSync(Buffer.from(packed, "latin1")).toString("latin1");
    } catch {
      continue; // no drawing: a picture, a font
    }
    for (const [, width, height] of drawing.matchAll(/([\d.]+) ([\d.]+) re\s+f\b/g)) {
      const size = `${Math.round(width)} x ${Math.round(height)}`;
      counts.set(size, (counts.get(size) ?? 0) + 1);
    }
  }
  return counts;
}

describe("figures below the fold", () => {
  it("draw when the page is idle, without being seen", async () => {
    const { page, faults, close } = await visit("idle");
    await page.waitForFunction(
      (total) =>
        [...document.querySelectorAll("*")].filter(
          (element) => element.localName.startsWith("posenc-") && element.shadowRoot.querySelector("b"),
        ).length === total,
      kNames.length,
      { timeout: 30_000 },
    );
    expect(await page.evaluate(() => scrollY)).toBe(0);
    for (const { name, fault, colours } of await inspectFigures(page)) {
      expect(fault, name).toBe("");
      expect(colours, name).toBeGreaterThan(8);
    }
    expect(faults).toEqual([]);
    await close();
  });

  it("wait until the page has painted", async () => {
    const { page, close } = await visit("paint");
    await page.waitForFunction(() => globalThis.drewAt !== undefined && globalThis.painted !== undefined);
    const { painted, drewAt } = await page.evaluate(() => ({ painted: globalThis.painted, drewAt: globalThis.drewAt }));
    expect(drewAt).toBeGreaterThan(painted);
    await close();
  });

  it("let the page have its turns between the steps of a first drawing", async () => {
    const { page, faults, close } = await visit("slices");
    await page.waitForFunction(() => globalThis.turns !== undefined);
    const { turns, total } = await page.evaluate(() => ({ turns: globalThis.turns, total: posenc.schemes.length }));
    expect(turns).toBeGreaterThanOrEqual(total);
    expect(faults).toEqual([]);
    await close();
  });

  it("unpack the core once, also those that analyse", async () => {
    const { page, faults, close } = await visit("unpacked");
    await page.waitForFunction(() => globalThis.asked !== undefined);
    const [rehearsal, ...whole] = await page.evaluate(() => globalThis.asked);
    // The core and the analysis; each but the rehearsal is unpacked to its end.
    expect(whole).toHaveLength(2);
    expect(rehearsal).toBeLessThan(Math.min(...whole));
    expect(faults).toEqual([]);
    await close();
  });

  it("are printed, as wide as the paper and in proportion", async () => {
    const { page, faults, close } = await visit("still");
    expect((await inspectFigures(page)).map(({ colours }) => colours <= 1)).toEqual(kNames.map(() => true));
    // Chromium places a printed canvas by a share of its pixels that it rounds down to 1/64: less than a pixel is lost.
    await page.evaluate(() => {
      const measure = ({ matches }) => {
        if (!matches) return;
        const lost = (room, pixels) => room - (Math.floor((64 * room) / pixels) * pixels) / 64;
        globalThis.short = [...document.querySelectorAll("*")]
          .filter((element) => element.localName.startsWith("posenc-"))
          .map((element) => {
            const canvas = element.shadowRoot.querySelector("canvas");
            const { width, height } = canvas.getBoundingClientRect();
            return Math.round(Math.max(lost(width, canvas.width), lost(height, canvas.height)));
          });
      };
      // After the figures' own, which begin to listen with this event.
      addEventListener("beforeprint", () => matchMedia("print").addEventListener("change", measure));
    });
    const pdf = await page.pdf({ format: "A4" });
    expect(await page.evaluate(() => globalThis.short)).toEqual(kNames.map(() => 0));
    for (const { name, fault, colours } of await inspectFigures(page)) {
      expect(fault, name).toBe("");
      expect(colours, name).toBeGreaterThan(8);
    }
    const drawn = picturesOf(pdf);
    // Dimensions by positions; the six words of each head; positions of a bias; tokens of relative positions.
    for (const size of ["64 x 96", "6 x 6", "32 x 32", "10 x 10"]) expect(drawn).toContain(size);
    expect(drawn.filter((size) => size === "6 x 6")).toHaveLength(8);
    // The strips of the sum: three times six words by six dimensions, cell by cell.
    expect(Math.max(...rectanglesOf(pdf).values())).toBeGreaterThanOrEqual(3 * 6 * 6);
    // Narrower than the window, a canvas keeps its proportions.
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 700, height: 900 });
    const stretch = await page.evaluate(() =>
      [...document.querySelectorAll("*")]
        .filter((element) => element.localName.startsWith("posenc-"))
        .map((element) => {
          // As on paper: the event, then another width without a new drawing.
          dispatchEvent(new Event("beforeprint"));
          const canvas = element.shadowRoot.querySelector("canvas");
          document.body.style.width = "400px";
          const ratio = canvas.clientWidth / canvas.clientHeight / (canvas.width / canvas.height);
          document.body.style.width = "";
          return Math.round(20 * ratio) / 20;
        }),
    );
    expect(stretch).toEqual(kNames.map(() => 1));
    expect(faults).toEqual([]);
    await close();
  });

  it("are reached by Tab, one after the other, and answer the arrow keys at once", async () => {
    const { page, faults, close } = await visit("still");
    await page.locator("#before").focus();
    const met = new Set();
    for (let presses = 0; presses < 400 && met.size < kNames.length; presses++) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(() => {
        const host = document.activeElement;
        const drawing = host?.shadowRoot?.activeElement?.matches("[part~=drawing]");
        return drawing ? host.localName : null;
      });
      if (at === null || met.has(at)) continue;
      met.add(at);
      const readout = page.locator(`${at} [part~=readout]`);
      await page.keyboard.press("Control+Home");
      await page.locator(at).evaluate((element) => element.drawn);
      const before = await readout.innerText();
      await page.keyboard.press("Control+End");
      await page.locator(at).evaluate((element) => element.drawn);
      expect(await readout.innerText(), at).not.toBe(before);
    }
    expect([...met].map((name) => name.slice(7))).toEqual(kNames);
    expect(faults).toEqual([]);
    await close();
  });
});

describe("scripts", () => {
  it("get what they ask of figures nobody sees", async () => {
    const { page, faults, close } = await visit("still");
    const report = await page.evaluate(async () => {
      const [embed, addition, attention, rotate] = ["embed", "addition", "attention", "rotate"].map((name) =>
        document.querySelector(`posenc-${name}`),
      );
      embed.setAttribute("dim", "8");
      await embed.drawn;
      const title = embed.shadowRoot.querySelector("[part~=title]").textContent;
      embed.setAttribute("dim", "10");
      const first = embed.value.dim;
      await embed.drawn;
      const svg = addition.toSvg();
      return {
        title,
        first,
        again: embed.shadowRoot.querySelector("[part~=title]").textContent,
        svg: new DOMParser().parseFromString(svg, "image/svg+xml").documentElement.localName,
        query: attention.value.query,
        m: typeof rotate.value.m,
      };
    });
    expect(report.title).toContain("8\u00a0dimensions".replace("\u00a0", " "));
    expect(report.first).toBe(10);
    expect(report.again).toContain("10 dimensions");
    expect(report).toMatchObject({ svg: "svg", query: 5, m: "number" });
    expect(faults).toEqual([]);
    await close();
  });

  it("use figures in no document as they use others", async () => {
    const { page, faults, close } = await visit("still");
    const report = await page.evaluate(async () => {
      const figure = document.createElement("posenc-embed");
      figure.setAttribute("dim", "8");
      await figure.drawn;
      const { dim, dimension } = figure.value;
      figure.positions = 12;
      const svg = figure.toSvg();
      figure.setAttribute("dim", "x");
      await figure.drawn;
      let refusal;
      try {
        figure.toSvg();
      } catch (error) {
        refusal = error.message;
      }
      const canvas = figure.shadowRoot.querySelector("canvas");
      const undrawn = [canvas.width, canvas.height];
      // It takes its place in a document, and is taken out before its frame comes.
      figure.setAttribute("dim", "4");
      document.body.prepend(figure);
      const waiting = figure.drawn;
      figure.remove();
      await waiting;
      document.body.prepend(figure);
      await figure.drawn;
      return { dim, dimension, svg, refusal, undrawn, wide: canvas.width };
    });
    expect(report.dim).toBe(8);
    expect(report.dimension).toBe(2);
    expect(report.svg).toContain("12 positions");
    expect(report.refusal).toContain("dim must be a whole number");
    expect(report.undrawn).toEqual([300, 150]);
    expect(report.wide).toBeGreaterThan(600);
    expect(faults).toEqual([]);
    await close();
  });

  it("get of modules only the files of the figures they use, and may set values before these are here", async () => {
    const { page, faults, close } = await visit("modules");
    await page.waitForFunction(() => globalThis.report !== undefined);
    expect(await page.evaluate(() => globalThis.report)).toEqual({
      before: {},
      between: { clip: 3, tokenSeed: 5 },
      refusal: "The figure is not ready here: await its `drawn` first.",
      told: ["posenc-ready", "input"],
      embed: [8, 8, 12, false],
      bias: 2,
      relate: [3, 5, "3"],
      files: ["bias", "embed", "relate"],
    });
    // A value that no field has is told once the fields are known.
    expect(await page.evaluate(() => globalThis.uncaught)).toContain("The value of posenc-relate: “junk” is not known");
    expect(faults.filter((fault) => !fault.includes("junk"))).toEqual([]);
    await close();
  });

  it("are refused values that no field has, and told in the box what does not fit", async () => {
    const { page, faults, close } = await visit("still");
    const report = await page.evaluate(async () => {
      const figure = document.querySelector("posenc-bias");
      const odd = [{ junk: 1 }, { postions: 8 }, null, "heads=8", [1], { heads: null }, { heads: {} }];
      const refusals = odd.map((value) => {
        try {
          figure.value = value;
          return "taken";
        } catch (error) {
          return `${error.name}: ${error.message}`;
        }
      });
      // Properties and files of no kind.
      const odder = [{}, Symbol("x"), () => 1].map((heads) => () => (figure.heads = heads));
      const none = [null, undefined, "x", {}, new Blob([]), new File([], "a.npy")];
      const files = none.map((file) => figure.takeFile(file));
      const embed = document.createElement("posenc-projection");
      files.push(...[null, 5, [], Object.create(null)].map((file) => embed.takeFile(file)));
      const said = ({ name, code, argument, message }) => [name, code, argument, message].join("; ");
      const told = odder.map((set) => {
        try {
          set();
          return "taken";
        } catch (error) {
          return said(error);
        }
      });
      told.push(...(await Promise.all(files.map((file) => file.then(() => "taken", said)))));
      // Another figure's whole value, names in kebab case, and unknown attributes (which HTML is full of) are no fault.
      const other = document.createElement("posenc-bias");
      other.value = { positions: 9, view: "profiles" };
      figure.value = other.value;
      const relate = document.querySelector("posenc-relate");
      relate.value = { "token-seed": 3 };
      figure.setAttribute("data-junk", "1");
      figure.setAttribute("junk", "1");
      await figure.drawn;
      const box = () => figure.shadowRoot.querySelector("[role=alert]").textContent;
      const fine = figure.shadowRoot.querySelector("[part~=error]").hidden;
      figure.setAttribute("causal", "maybe");
      await figure.drawn;
      return { refusals, told, fine, box: box(), taken: [other.value.positions, relate.value.tokenSeed] };
    });
    expect(report.refusals[0]).toMatch(/^PosencError: The value of posenc-bias: “junk” is not known; there are /);
    expect(report.refusals[1]).toContain("“postions” is not known; did you mean “positions”?");
    expect(report.refusals[2]).toBe("PosencError: The value of posenc-bias must be an object, got null.");
    expect(report.refusals[3]).toBe('PosencError: The value of posenc-bias must be an object, got "heads=8".');
    expect(report.refusals[4]).toBe("PosencError: The value of posenc-bias must be an object, got an array of length 1.");
    expect(report.refusals[5]).toBe("PosencError: heads must be a number, a text, true or false, got null.");
    expect(report.refusals[6]).toMatch(/^PosencError: heads must be/);
    const asked = (name, given) =>
      name === "file"
        ? `PosencError; not-a-number; file; file must be a File, got ${given}.`
        : `PosencError; unknown-choice; heads; heads must be a number, a text, true or false, got ${given}.`;
    expect(report.told).toEqual([
      ...["an object", "a symbol", "a function"].map((given) => asked("heads", given)),
      ...["null", "undefined", "“x”", "an object", "a Blob"].map((given) => asked("file", given)),
      "PosencError; unsupported; file; posenc-bias takes no files.",
      ...["null", "5", "an array of length 0", "an object"].map((given) => asked("file", given)),
    ]);
    expect(report.fine).toBe(true);
    expect(report.box).toBe("This figure cannot be drawn: causal must be true or false, got “maybe”.");
    expect(report.taken).toEqual([9, 3]);
    expect(faults).toEqual([]);
    await close();
  });
});
