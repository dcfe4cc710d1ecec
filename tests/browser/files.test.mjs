// Files and texts of several lines in Chromium, under a strict policy: chosen, dropped, pasted, refused.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kDist, launch, open, serveFolder } from "./harness.mjs";

const kPolicy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "require-trusted-types-for 'script'";
const kBert = {
  model_type: "bert",
  hidden_size: 768,
  num_attention_heads: 12,
  num_hidden_layers: 12,
  max_position_embeddings: 512,
};

let browser;
let server;
let opened;
let page;
const inFigure = (f) => page.locator("posenc-config").evaluate(f);
const title = () => inFigure((figure) => figure.shadowRoot.querySelector(".title").textContent);
const status = () => inFigure((figure) => figure.shadowRoot.querySelector("[part=status]").textContent);
const settled = () => page.evaluate(() => document.querySelector("posenc-config").drawn);

beforeAll(async () => {
  browser = await launch();
  server = await serveFolder(kDist, {
    policy: kPolicy,
    extra: {
      "/page": {
        type: "text/html; charset=utf-8",
        body:
          `<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title><link rel="icon" href="data:,">` +
          `<script type="module" src="/elements.js"></script><posenc-config></posenc-config></html>`,
      },
    },
  });
  opened = await open(browser, `${server.address}page`);
  page = opened.page;
  await settled();
});
afterAll(async () => {
  await opened?.close();
  await browser?.close();
  await server?.close();
});

describe("files", () => {
  it("are chosen by a labelled native input, and told with input and change", async () => {
    await page.evaluate(() => {
      globalThis.told = [];
      const figure = document.querySelector("posenc-config");
      for (const type of ["input", "change"]) figure.addEventListener(type, () => globalThis.told.push(type));
    });
    const input = page.getByLabel("a model’s config.json, chosen or dropped here");
    expect(await input.evaluate((node) => [node.type, node.accept])).toEqual(["file", ".json,application/json"]);
    await input.setInputFiles({
      name: "config.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify(kBert)),
    });
    await expect.poll(status).toBe("read config.json");
    await expect.poll(title).toContain("\u201cbert\u201d");
    expect(await page.getByLabel("config.json", { exact: true }).inputValue()).toBe(JSON.stringify(kBert));
    expect(await inFigure((figure) => figure.getAttribute("config"))).toBe(JSON.stringify(kBert));
    expect(await page.evaluate(() => globalThis.told)).toEqual(["input", "change"]);
  });

  it("are dropped anywhere on the figure", async () => {
    const prevented = await inFigure((figure) => {
      const data = new DataTransfer();
      data.items.add(
        new File([JSON.stringify({ model_type: "bloom", hidden_size: 64, n_head: 4, n_layer: 2 })], "b.json"),
      );
      const target = figure.shadowRoot.querySelector("canvas");
      const send = (type) => {
        const event = new DragEvent(type, { dataTransfer: data, bubbles: true, composed: true, cancelable: true });
        target.dispatchEvent(event);
        return event.defaultPrevented;
      };
      const over = send("dragover");
      const marked = figure.shadowRoot.querySelector(".figure").classList.contains("over");
      return [over, marked, send("drop"), figure.shadowRoot.querySelector(".figure").classList.contains("over")];
    });
    expect(prevented).toEqual([true, true, true, false]);
    await expect.poll(status).toBe("read b.json");
    await expect.poll(title).toContain("\u201cbloom\u201d");
  });

  it("that are wrong are told beside the input, and the figure stays", async () => {
    const refusal = await inFigure((figure) =>
      figure.takeFile(new File(["{ no json"], "bad.json")).catch((error) => error.message),
    );
    expect(refusal).toContain("the text is not JSON");
    expect(await status()).toMatch(/^bad\.json cannot be read: the text is not JSON: .*\.$/);
    expect(await title()).toContain("\u201cbloom\u201d");
    expect(await inFigure((figure) => figure.shadowRoot.querySelector(".fault").hidden)).toBe(true);
  });

  it("are left to the page where nothing but text is dragged", async () => {
    const prevented = await inFigure((figure) => {
      const data = new DataTransfer();
      data.setData("text/plain", "words");
      const event = new DragEvent("dragover", { dataTransfer: data, bubbles: true, composed: true, cancelable: true });
      figure.shadowRoot.querySelector("canvas").dispatchEvent(event);
      return event.defaultPrevented;
    });
    expect(prevented).toBe(false);
  });
});

describe("a text of several lines", () => {
  it("is typed by keyboard; what is wrong is said in the figure's box, and mended again", async () => {
    const area = page.getByLabel("config.json", { exact: true });
    expect(await area.evaluate((node) => [node.localName, node.rows])).toEqual(["textarea", 8]);
    await area.focus();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText('{\n"model_type": "bloom",\n"n_head": x');
    await settled();
    const fault = () => inFigure((figure) => figure.shadowRoot.querySelector("[role=alert]").textContent);
    await expect
      .poll(fault)
      .toBe("This figure cannot be drawn: the text is not JSON: line 3, column 11: a value was expected, got x.");
    await page.keyboard.press("Backspace");
    await page.keyboard.insertText('8, "hidden_size": 64, "n_layer": 2\n}');
    await expect.poll(() => inFigure((figure) => figure.shadowRoot.querySelector(".fault").hidden)).toBe(true);
    expect(await title()).toContain("\u201cbloom\u201d");
    expect(await inFigure((figure) => figure.value.config)).toContain('"n_head": 8');
    // The caret is where the hand left it, and Enter is a line, not a move of the cursor.
    await page.keyboard.press("Enter");
    expect(await area.inputValue()).toMatch(/\}\n$/);
  });

  it("breaks no policy", () => {
    expect(opened.faults).toEqual([]);
  });
});
