// A figure as a guest on somebody's page, in Chromium: it goes light and dark as the page does, in the ways in which
// sites name it; takes the page's colours and styles; shows the page's own words where it cannot be drawn; is defined
// as often as scripts like; moves only for readers who like movement; and tells the page what they set.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allFields } from "../../web/figures/figure.ts";
import { figureNamed, figureState } from "../../web/figures/render.ts";
import { ready } from "../../web/src/index.ts";
import { builtFigures } from "./figures.mjs";
import { kDist, launch, open, serveFolder } from "./harness.mjs";

const kHead = `<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title><link rel="icon" href="data:,">`;
const kWords = "This figure shows the biases of ALiBi.";
const page = (body) => ({ type: "text/html; charset=utf-8", body: `${kHead}${body}</html>` });
const kBias = `<posenc-bias loading="eager">${kWords}</posenc-bias>`;

let browser;
let server;
beforeAll(async () => {
  browser = await launch();
  const once = `<script src="/posenc.js"></script>`;
  const thrice = `${once}${once}<script type="module" src="/elements.js"></script>`;
  const styles = `<style>
    posenc-bias { --posenc-ink: #02060a; --posenc-accent: #0a8040; }
    posenc-bias::part(title) { letter-spacing: 3px; }
  </style>`;
  const extra = {
    "/one": page(once + kBias),
    "/thrice": page(thrice + kBias),
    "/styled": page(styles + once + kBias),
    "/moving": page(once),
  };
  server = await serveFolder(kDist, { extra });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function visit(path, context = {}) {
  const opened = await open(browser, `${server.address}${path}`, { context });
  await opened.page.evaluate(() => document.querySelector("posenc-bias")?.drawn);
  return opened;
}

describe("light and dark", () => {
  it("follow each way in which a page names its mode, on its root and on its body, and back", async () => {
    const opened = await visit("one");
    const becomes = (dark) =>
      opened.page.waitForFunction((wish) => {
        const { shadowRoot } = document.querySelector("posenc-bias");
        const [red, green, blue] = getComputedStyle(shadowRoot.querySelector("[part~=title]")).color.match(/\d+/g);
        const bright = Number(red) + Number(green) + Number(blue) > 3 * 128;
        return shadowRoot.querySelector(".figure").classList.contains("dark") === wish && bright === wish;
      }, dark);
    await becomes(false);
    const ways = [
      ["data-theme", "dark", "light"],
      ["data-bs-theme", "dark", "light"],
      ["data-color-mode", "dark", "light"],
      ["data-md-color-scheme", "slate", "default"],
      ["class", "page dark", "page"],
      ["style", "color-scheme: dark", "color-scheme: light"],
      ["style", "background: #101418", "background: #fff"],
    ];
    for (const root of ["html", "body"]) {
      for (const [name, dark, light] of ways) {
        const set = (value) => {
          const given = [root, name, value];
          return opened.page.evaluate(([to, key, text]) => document.querySelector(to).setAttribute(key, text), given);
        };
        await set(dark);
        await becomes(true);
        await set(light);
        await becomes(false);
        await opened.page.evaluate(([from, key]) => document.querySelector(from).removeAttribute(key), [root, name]);
      }
    }
    expect(opened.faults).toEqual([]);
    await opened.close();
  });
});

describe("the page's styles", () => {
  it("give a figure its colours, on the canvas too, and reach its parts", async () => {
    const opened = await visit("styled");
    const seen = await opened.page.evaluate(() => {
      const figure = document.querySelector("posenc-bias");
      const title = getComputedStyle(figure.shadowRoot.querySelector("[part~=title]"));
      const canvas = figure.shadowRoot.querySelector("canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const counts = { accent: 0, usual: 0 };
      for (let i = 0; i < data.length; i += 4) {
        const colour = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
        if (colour === 0x0a8040) counts.accent++;
        if (colour === 0xb4460f) counts.usual++;
      }
      return { ink: title.color, spaced: title.letterSpacing, counts };
    });
    expect(seen).toMatchObject({ ink: "rgb(2, 6, 10)", spaced: "3px" });
    expect(seen.counts.accent).toBeGreaterThan(20);
    expect(seen.counts.usual).toBe(0);
    expect(opened.faults).toEqual([]);
    await opened.close();
  });
});

describe("the element's own words", () => {
  it("stand where there is no script, go when it is drawn, and come back where it cannot be", async () => {
    const quiet = await open(browser, `${server.address}one`, { context: { javaScriptEnabled: false } });
    expect(await quiet.page.locator("posenc-bias").innerText()).toBe(kWords);
    await quiet.close();
    const opened = await visit("one");
    const visible = () =>
      opened.page.evaluate(() => {
        const range = document.createRange();
        range.selectNodeContents(document.querySelector("posenc-bias"));
        return range.getClientRects().length > 0;
      });
    expect(await visible()).toBe(false);
    const set = (value) =>
      opened.page.evaluate(async (heads) => {
        const figure = document.querySelector("posenc-bias");
        figure.setAttribute("heads", heads);
        await figure.drawn;
      }, value);
    await set("many");
    expect(await visible()).toBe(true);
    await set("4");
    expect(await visible()).toBe(false);
    expect(opened.faults).toEqual([]);
    await opened.close();
  });
});

it("scripts that define the elements again, in either form, change nothing", async () => {
  const opened = await visit("thrice");
  const seen = await opened.page.evaluate(async () => {
    const before = customElements.get("posenc-bias");
    // As a page would that puts its scripts in once more.
    const again = Object.assign(document.createElement("script"), { src: "/posenc.js?again" });
    await new Promise((resolve, reject) => {
      Object.assign(again, { onload: resolve, onerror: reject });
      document.head.append(again);
    });
    const figure = document.querySelector("posenc-bias");
    figure.setAttribute("heads", "3");
    await figure.drawn;
    const title = figure.shadowRoot.querySelector("[part~=title]").textContent;
    return { same: customElements.get("posenc-bias") === before, title, heads: figure.value.heads };
  });
  expect(seen).toMatchObject({ same: true, heads: 3, title: expect.stringContaining("of\u00a03") });
  expect(opened.faults).toEqual([]);
  await opened.close();
});

describe("movement", () => {
  // The figures with sliders that can be played, each with the first view that has one.
  let playing;
  beforeAll(async () => {
    await ready();
    playing = (await builtFigures()).flatMap(({ name }) => {
      const figure = figureNamed(name);
      const { values, model } = figureState(name);
      const tabs = figure.tabs?.(values, model);
      const views = tabs?.choices.map(({ value }) => ({ [tabs.name]: value })) ?? [{}];
      const plays = (view) => {
        const state = figureState(name, view);
        return allFields(figure, state.values, state.model).some(({ play }) => play === true);
      };
      const view = views.find(plays);
      return view === undefined ? [] : [[name, view]];
    });
  });
  const onEach = (opened, work) =>
    opened.page.evaluate(`(async () => {
      const report = [];
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      for (const [name, view] of ${JSON.stringify(playing)}) {
        const figure = document.createElement("posenc-" + name);
        figure.setAttribute("loading", "eager");
        for (const [key, value] of Object.entries(view)) figure.setAttribute(key, value);
        document.body.replaceChildren(figure);
        await figure.drawn;
        const button = figure.shadowRoot.querySelector("[part~=play]");
        const told = [];
        const hear = (event) => told.push(event.target === figure ? JSON.stringify(figure.value) : "who?");
        document.addEventListener("input", hear);
        const words = () => button.textContent + ", " + button.getAttribute("aria-label");
        report.push({ name, ...(await (${work})({ figure, button, told, words, frame })) });
        document.removeEventListener("input", hear);
      }
      return report;
    })()`);

  it("runs from play to pause, and tells the page of each step", async () => {
    const opened = await visit("moving", { reducedMotion: "no-preference" });
    const report = await onEach(opened, async ({ button, told, words, frame }) => {
      button.click();
      const running = words();
      while (told.length < 3) await frame();
      button.click();
      const paused = words();
      const heard = told.length;
      for (let k = 0; k < 12; k++) await frame();
      return { running, paused, different: new Set(told).size === told.length, rested: told.length === heard };
    });
    expect(report.map(({ name }) => name)).toEqual(expect.arrayContaining(["embed", "rotate", "shift", "spectrum"]));
    for (const { name, ...one } of report) {
      const running = expect.stringMatching(/^pause, Pause \S/);
      const paused = expect.stringMatching(/^play, Play \S/);
      expect(one, name).toEqual({ running, paused, different: true, rested: true });
    }
    // Taken away while it runs, it stops.
    const after = await opened.page.evaluate(async () => {
      const figure = document.createElement("posenc-rotate");
      figure.setAttribute("loading", "eager");
      document.body.replaceChildren(figure);
      await figure.drawn;
      let told = 0;
      figure.addEventListener("input", () => told++);
      figure.shadowRoot.querySelector("[part~=play]").click();
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      while (told === 0) await frame();
      figure.remove();
      const heard = told;
      for (let k = 0; k < 12; k++) await frame();
      return told - heard;
    });
    expect(after).toBe(0);
    expect(opened.faults).toEqual([]);
    await opened.close();
  });

  it("is a step at a time for readers who want less of it", async () => {
    const opened = await visit("moving");
    const report = await onEach(opened, async ({ figure, button, told, words, frame }) => {
      const before = JSON.stringify(figure.value);
      const steps = [];
      for (let click = 0; click < 2; click++) {
        button.click();
        for (let k = 0; k < 8; k++) await frame();
        steps.push(told.length);
      }
      return { steps, words: words(), moved: told[0] !== before && told[1] !== told[0] };
    });
    expect(report.length).toBe(playing.length);
    for (const { name, ...one } of report) {
      expect(one, name).toEqual({ steps: [1, 2], words: expect.stringMatching(/^play, Play \S/), moved: true });
    }
    expect(opened.faults).toEqual([]);
    await opened.close();
  });
});
