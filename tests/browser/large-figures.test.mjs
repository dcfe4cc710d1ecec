// Figures of many cells and of long texts in Chromium, from a disk: seen closer by keys, wheel, fingers, buttons and
// dragging; computed in slices that a reader can cancel.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileAddress, kDist, launch, open } from "./harness.mjs";

let browser;
let folder;
beforeAll(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), "posenc-large-"));
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function openWith(body) {
  const file = join(folder, "page.html");
  const script = fileAddress(join(kDist, "posenc.js"));
  writeFileSync(
    file,
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title><link rel="icon" href="data:,">` +
      `<script src="${script}"></script><body style="width:880px">${body}`,
  );
  const opened = await open(browser, fileAddress(file));
  await opened.page.evaluate(async () => {
    for (const figure of document.querySelectorAll("[loading]")) await figure.drawn;
  });
  return opened;
}

describe("a heat map of 4,096 x 4,096 cells", () => {
  let opened;
  beforeAll(async () => {
    opened = await openWith(
      `<posenc-embed loading="eager" positions="4096" dim="4096" position="2000" dimension="3000"></posenc-embed>` +
        `<posenc-bias loading="eager"></posenc-bias>`,
    );
  });
  afterAll(() => opened?.close());
  const told = () => opened.page.evaluate(async () => {
    const figure = document.querySelector("posenc-embed");
    await figure.drawn;
    const root = figure.shadowRoot;
    return {
      seen: root.querySelector("[part=lens] span").textContent.replace(/\s/g, " "),
      readout: root.querySelector("[part=readout]").textContent,
      help: root.querySelector("#help").textContent,
    };
  });
  const position = async () => Number(/position ([\d\u202f]+)/.exec((await told()).readout)[1].replace(/\D/g, ""));
  const place = async (u, v) => {
    const box = await opened.page.locator("posenc-embed [part=drawing]").boundingBox();
    return [box.x + u * box.width, box.y + v * box.height];
  };

  it("is all there at first, and figures of few cells have nothing to see closer", async () => {
    expect((await told()).seen).toBe("all 4096 \u00d7 4096 cells");
    expect((await told()).help).toContain("Plus and minus");
    const few = await opened.page.evaluate(() => {
      const lens = document.querySelector("posenc-bias").shadowRoot.querySelector("[part=lens]");
      return [lens.hidden, document.querySelector("posenc-bias").shadowRoot.querySelector("#help").textContent];
    });
    expect(few[0]).toBe(true);
    expect(few[1]).not.toContain("Plus");
  });

  it("is seen closer about the cursor by plus, and wider by minus and 0", async () => {
    await opened.page.locator("posenc-embed [part=drawing]").focus();
    for (let k = 0; k < 3; k++) await opened.page.keyboard.press("+");
    expect((await told()).seen).toBe("512 \u00d7 512 of 4096 \u00d7 4096 cells");
    // The cursor stays where it is and the part goes with it beyond its edge.
    expect(await position()).toBe(2000);
    for (let k = 0; k < 40; k++) await opened.page.keyboard.press("Shift+ArrowDown");
    expect(await position()).toBe(2400);
    const [x, y] = await place(0.5, 0.1);
    await opened.page.mouse.move(x, y);
    const top = await position();
    expect(top).toBeGreaterThan(2400 - 512);
    expect(top).toBeLessThan(2400);
    await opened.page.keyboard.press("-");
    expect((await told()).seen).toBe("1024 \u00d7 1024 of 4096 \u00d7 4096 cells");
    await opened.page.keyboard.press("0");
    expect((await told()).seen).toBe("all 4096 \u00d7 4096 cells");
  });

  it("grows under the wheel with Ctrl, where the pointer is, and leaves the plain wheel to the page", async () => {
    const [x, y] = await place(0.4, 0.3);
    await opened.page.mouse.move(x, y);
    const before = await position();
    await opened.page.mouse.wheel(0, -100);
    expect((await told()).seen).toContain("all");
    await opened.page.evaluate(() => scrollTo(0, 0));
    await opened.page.keyboard.down("Control");
    let seen = 4096;
    for (let k = 0; k < 40 && seen > 200; k++) {
      await opened.page.mouse.wheel(0, -100);
      seen = Number(/^(?:all )?(\d+)/.exec((await told()).seen)[1]);
    }
    await opened.page.keyboard.up("Control");
    expect(seen).toBeLessThan(200);
    await opened.page.mouse.move(x, y + 1);
    await opened.page.mouse.move(x, y);
    expect(Math.abs((await position()) - before)).toBeLessThanOrEqual(0.02 * 4096);
  });

  it("is dragged: the cell under the pointer stays under it", async () => {
    const [x, y] = await place(0.4, 0.4);
    await opened.page.mouse.move(x, y);
    const held = await position();
    await opened.page.mouse.down();
    await opened.page.mouse.move(x, y + 40);
    await opened.page.mouse.move(x, y + 80);
    await told();
    await opened.page.mouse.up();
    await opened.page.mouse.move(x + 1, y + 80);
    expect(Math.abs((await position()) - held)).toBeLessThanOrEqual(2);
    await opened.page.mouse.move(x, y);
    expect(await position()).toBeLessThan(held);
    // A drag is no click: the cursor's own place is as before.
    const own = opened.page.evaluate(() => document.querySelector("posenc-embed").getAttribute("position"));
    expect(await own).toBe("2400");
  });

  it("grows and shrinks between two fingers, moves with them, and takes neither for a reading", async () => {
    await opened.page.keyboard.press("0");
    const session = await opened.context.newCDPSession(opened.page);
    const touch = (type, ...points) => {
      const touchPoints = points.map(([x, y], id) => ({ x, y, id }));
      return session.send("Input.dispatchTouchEvent", { type, touchPoints });
    };
    const own = () => opened.page.evaluate(() => document.querySelector("posenc-embed").getAttribute("position"));
    const under = async (x, y) => {
      await opened.page.mouse.move(x, y + 1);
      await opened.page.mouse.move(x, y);
      return position();
    };
    const [before, [x, y], top] = [await own(), await place(0.4, 0.4), () => opened.page.evaluate(() => scrollY)];
    const [held, scrolled] = [await under(x, y), await top()];
    // Upright, as a page would be scrolled.
    await touch("touchStart", [x, y - 20]);
    await touch("touchStart", [x, y - 20], [x, y + 20]);
    for (let span = 40; span <= 160; span += 20) {
      await touch("touchMove", [x, y - span / 2], [x, y + span / 2]);
      await told();
    }
    const seen = async () => Number(/^(?:all )?(\d+)/.exec((await told()).seen)[1]);
    expect(Math.abs((await seen()) - 1024)).toBeLessThanOrEqual(8);
    // Both fingers to the side and down: what is between them goes along.
    await touch("touchMove", [x + 60, y - 50], [x + 60, y + 110]);
    await told();
    await touch("touchEnd", [x + 60, y - 50]);
    await touch("touchEnd");
    expect(await top()).toBe(scrolled);
    expect(Math.abs((await under(x + 60, y + 30)) - held)).toBeLessThanOrEqual(24);
    expect(await own()).toBe(before);
    await touch("touchStart", [x - 100, y], [x + 100, y]);
    await touch("touchMove", [x - 20, y], [x + 20, y]);
    await told();
    await touch("touchEnd");
    expect(await seen()).toBe(4096);
    // One finger reads where it is lifted.
    const [u, v] = await place(0.3, 0.2);
    await touch("touchStart", [u, v]);
    await touch("touchEnd");
    await told();
    expect(Number(await own())).toBeLessThan(Number(before));
    await opened.page.evaluate((to) => (document.querySelector("posenc-embed").position = Number(to)), before);
  });

  it("is brought back by its buttons, which say when they can do nothing, and exports what is seen", async () => {
    const dead = () => opened.page.locator("posenc-embed [part=lens] [aria-disabled=true]").allTextContents();
    expect(await dead()).toEqual(["wider", "whole"]);
    await opened.page.locator("posenc-embed [part=lens] button", { hasText: "closer" }).click();
    await told();
    expect(await dead()).toEqual([]);
    await opened.page.locator("posenc-embed [part=lens] button", { hasText: "whole" }).click();
    expect((await told()).seen).toContain("all");
    await opened.page.locator("posenc-embed [part=lens] button", { hasText: "closer" }).click();
    expect((await told()).seen).toContain("2048");
    const svg = await opened.page.evaluate(() => document.querySelector("posenc-embed").toSvg());
    const ticks = [...svg.matchAll(/text-anchor="end"[^>]*>(\d+)</g)].map((match) => Number(match[1]));
    expect(ticks).toContain(1500);
    expect(ticks).not.toContain(500);
    expect(opened.faults).toEqual([]);
  });
});

describe("attention over 2,048 tokens", () => {
  const words = Array.from({ length: 2048 }, (_, i) => `w${(i * i) % 211}`);
  let opened;
  beforeAll(async () => {
    opened = await openWith(`<posenc-attention loading="eager" scheme="rope" query="1500" key="3"></posenc-attention>`);
    await opened.page.evaluate((text) => (window.longText = text), words.join(" "));
  });
  afterAll(() => opened?.close());
  const shown = () =>
    opened.page.evaluate(() => {
      const root = document.querySelector("posenc-attention").shadowRoot;
      const line = root.querySelector("[part=background]");
      return {
        line: line.hidden ? "" : line.textContent,
        live: root.querySelector("[role=status]").textContent,
        title: root.querySelector("[part=title]").textContent,
        readout: root.querySelector("[part=readout]").textContent,
        fault: root.querySelector(".fault").hidden,
      };
    });

  it("is computed while the page goes on, and can be cancelled and taken up again", async () => {
    const early = await opened.page.evaluate(async () => {
      const figure = document.querySelector("posenc-attention");
      const root = figure.shadowRoot;
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      figure.value = { sentence: window.longText };
      const busy = figure.drawn;
      // The figure's own frame comes first; in this one the reader is quick.
      await frame();
      const button = root.querySelector("[part=background] button");
      const before = [button.textContent, root.querySelector("progress").hidden];
      let refused = "";
      try {
        figure.toSvg();
      } catch (error) {
        refused = error.message;
      }
      const value = figure.value.sentence.length;
      button.click();
      await busy;
      return { before, refused, value, after: button.textContent, drawn: await figure.drawn };
    });
    expect(early.before).toEqual(["cancel", false]);
    expect(early.refused).toContain("drawn");
    expect(early.value).toBe(words.join(" ").length);
    expect(early.after).toBe("compute");
    const cancelled = await shown();
    expect(cancelled.line).toContain("cancelled");
    expect(cancelled.live).toBe("cancelled");
    expect(cancelled.fault).toBe(true);
    // Taken up again by the button, frames come while it works.
    await opened.page.locator("posenc-attention [part=background] button").click();
    const frames = await opened.page.evaluate(async () => {
      let count = 0;
      let going = true;
      const tick = () => {
        count++;
        if (going) requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
      await document.querySelector("posenc-attention").drawn;
      going = false;
      return count;
    });
    expect(frames).toBeGreaterThan(2);
    expect((await shown()).line).toBe("");
  });

  it("offers nothing to take away where a first drawing was cancelled, until there is one", async () => {
    const told = await opened.page.evaluate(async () => {
      const figure = document.createElement("posenc-similarity");
      figure.setAttribute("loading", "eager");
      figure.value = { positions: 256, dim: 4100, metric: "euclidean" };
      document.body.append(figure);
      const root = figure.shadowRoot;
      const actions = [...root.querySelectorAll("[part=actions] button")];
      const read = () => ({
        line: root.querySelector("[part=background]").textContent,
        inert: [root.querySelector("[part=actions]").inert, root.querySelector("[part=table]").inert],
        fault: root.querySelector(".fault").hidden,
      });
      let saved = 0;
      const { createObjectURL } = URL;
      URL.createObjectURL = (blob) => (saved++, createObjectURL.call(URL, blob));
      const line = () => root.querySelector("[part=background] button");
      while (line()?.textContent !== "cancel") await new Promise((resolve) => setTimeout(resolve, 5));
      line().click();
      await figure.drawn;
      const cancelled = read();
      // A script reaches what a reader cannot.
      for (const action of actions) if (action.textContent !== "code") action.click();
      const savedThen = saved;
      figure.value = { positions: 8, dim: 16 };
      await figure.drawn;
      const drawn = read();
      figure.value = { positions: 256, dim: 4100 };
      while (root.querySelector("[part=background]").hidden) await new Promise((go) => setTimeout(go, 5));
      line().click();
      await figure.drawn;
      const again = read();
      actions.find(({ textContent }) => textContent === "SVG").click();
      figure.remove();
      URL.createObjectURL = createObjectURL;
      return { cancelled, savedThen, drawn, again, saved };
    });
    expect(told.cancelled).toMatchObject({ inert: [true, true], fault: true });
    expect(told.cancelled.line).toContain("cancelled; nothing is drawn yet");
    expect(told.savedThen).toBe(0);
    expect(told.drawn.inert).toEqual([false, false]);
    expect(told.again).toMatchObject({ inert: [false, false], fault: true });
    expect(told.again.line).toContain("cancelled; the drawing is as it was");
    expect(told.saved).toBe(1);
    expect(opened.faults).toEqual([]);
  });

  it("shows the weights that the core gives", async () => {
    const { readout, title, live } = await shown();
    expect(title).toContain("head 1\u00a0of\u00a08, RoPE, causal");
    expect(live).toContain("computed");
    expect(readout).toContain("w");
    // The figure's own program, run in one piece, gives what the figure says.
    const { said, program } = await opened.page.evaluate(async () => {
      const figure = document.querySelector("posenc-attention");
      figure.value = { heads: 2, head: 2 };
      await figure.drawn;
      const root = figure.shadowRoot;
      root.querySelector("[part=actions] [aria-controls=code]").click();
      const text = root.querySelector("#code pre").textContent;
      const body = text.replace(/import \{ (.*) \} from "posenc";/, "const { $1 } = posenc;");
      const run = new Function(`${body}; return weights;`);
      const weights = run();
      const entropies = posenc.entropy(weights);
      return {
        said: root.querySelector("[part=readout]").textContent,
        program: { shape: weights.shape, weight: weights.at(1, 1500, 3), entropy: entropies.at(1, 1500) },
      };
    });
    expect(program.shape).toEqual([2, 2048, 2048]);
    // A weight too small for its digits is not written as none.
    const small = program.weight > 0 && program.weight < 0.0005;
    const weight = small ? "<\u20090.001" : program.weight.toFixed(3);
    expect(said).toContain(`${words[1500]} \u2192 ${words[3]} ${weight}`);
    expect(said).toContain(`entropy ${program.entropy.toFixed(2)} nats`);
  });

  it("leaves the caret where the reader types when one line becomes several, and one again", async () => {
    const figure = opened.page.locator("posenc-attention");
    const text = "a bc ".repeat(48);
    await figure.evaluate(async (one, sentence) => {
      one.value = { sentence };
      await one.drawn;
    }, text);
    const held = async () => {
      await figure.evaluate((one) => one.drawn);
      return figure.evaluate(({ shadowRoot: { activeElement: node } }) => {
        const { localName, value, selectionStart, selectionEnd } = node;
        return [localName, value, selectionStart, selectionEnd];
      });
    };
    const line = figure.locator("input[part=text]").first();
    expect(await line.inputValue()).toBe(text);
    await line.evaluate((node) => {
      node.focus();
      node.setSelectionRange(7, 7);
    });
    await opened.page.keyboard.type("x");
    expect(await held()).toEqual(["textarea", `${text.slice(0, 7)}x${text.slice(7)}`, 8, 8]);
    await opened.page.keyboard.type("yz");
    expect(await held()).toEqual(["textarea", `${text.slice(0, 7)}xyz${text.slice(7)}`, 10, 10]);
    for (let i = 0; i < 3; i++) await opened.page.keyboard.press("Backspace");
    expect(await held()).toEqual(["input", text, 7, 7]);
  });

  it("starts anew when a setting changes meanwhile", async () => {
    const titles = await opened.page.evaluate(async () => {
      const figure = document.querySelector("posenc-attention");
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      figure.scheme = "alibi";
      await frame();
      figure.scheme = "none";
      await figure.drawn;
      return figure.shadowRoot.querySelector("[part=title]").textContent;
    });
    expect(titles).toContain("no position");
    expect(opened.faults).toEqual([]);
  });
});
