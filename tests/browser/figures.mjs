// What the tests of all figures share: the list of them out of the built package, a page that holds one of each, and
// what runs inside that page.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { kDist } from "./harness.mjs";

const built = (name) => import(pathToFileURL(join(kDist, `${name}.js`)).href);

/** Every figure of the package, as its own object: a new one is tested without a word here. */
export async function builtFigures() {
  const { ready } = await built("index");
  await ready();
  return (await built("render")).figures;
}

const kModule = `<script type="module" src="/elements.js"></script>`;

/** A page with one element of each name. */
export function pageOf(names, { loading = "eager", script = kModule } = {}) {
  const element = (name) => `<section><posenc-${name} loading="${loading}"></posenc-${name}></section>`;
  return {
    type: "text/html; charset=utf-8",
    body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>figures</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
${script}</head><body><main><h1>Figures</h1>${names.map(element).join("\n")}</main></body></html>`,
  };
}

export const kPageStyle = {
  type: "text/css; charset=utf-8",
  body: `:root { color-scheme: light dark; } body { margin: 12px; background: Canvas; color: CanvasText; } h1 { font: 16px sans-serif; }`,
};

/**
 * Runs in the page before any script of it. `__figures` then knows the texts on each canvas as boxes in CSS pixels, and
 * what was handed to the reader as a file.
 */
export function watchPage() {
  const texts = new WeakMap();
  const files = [];
  const prototype = CanvasRenderingContext2D.prototype;
  const { clearRect, fillText } = prototype;
  prototype.clearRect = function (...box) {
    if (box[2] >= this.canvas.width && box[3] >= this.canvas.height) texts.set(this.canvas, []);
    return clearRect.apply(this, box);
  };
  prototype.fillText = function (words, x, y, ...rest) {
    if (words.trim() !== "") {
      const size = this.measureText(words);
      const transform = this.getTransform();
      const corners = [
        [x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent],
        [x + size.actualBoundingBoxRight, y - size.actualBoundingBoxAscent],
        [x - size.actualBoundingBoxLeft, y + size.actualBoundingBoxDescent],
        [x + size.actualBoundingBoxRight, y + size.actualBoundingBoxDescent],
      ].map(([px, py]) => transform.transformPoint({ x: px, y: py }));
      const list = texts.get(this.canvas) ?? [];
      list.push({
        words,
        corners,
        left: Math.min(...corners.map((c) => c.x)),
        right: Math.max(...corners.map((c) => c.x)),
        top: Math.min(...corners.map((c) => c.y)),
        bottom: Math.max(...corners.map((c) => c.y)),
      });
      texts.set(this.canvas, list);
    }
    return fillText.call(this, words, x, y, ...rest);
  };
  const { createObjectURL } = URL;
  URL.createObjectURL = function (blob) {
    files.push(blob);
    return createObjectURL.call(this, blob);
  };
  const { click } = HTMLAnchorElement.prototype;
  HTMLAnchorElement.prototype.click = function () {
    // A download: kept, not done.
    if (this.download === "") click.call(this);
    else files.at(-1).fileName = this.download;
  };

  const elements = () => [...document.querySelectorAll("*")].filter((node) => node.localName.startsWith("posenc-"));
  const part = (element, name) => element.shadowRoot.querySelector(`[part~=${name}]`);
  const within = (a, b, tolerance) =>
    a.left >= b.left - tolerance &&
    a.right <= b.right + tolerance &&
    a.top >= b.top - tolerance &&
    a.bottom <= b.bottom + tolerance;
  const meet = (a, b, tolerance) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > tolerance &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > tolerance;
  // Whether a line across either text, turned or not, has room between them.
  const apart = (a, b, tolerance) =>
    [a, b].some(({ corners: [from, along, down] }) =>
      [along, down].some((to) => {
        const long = Math.hypot(to.x - from.x, to.y - from.y) || 1;
        const at = ({ x, y }) => (x * (to.x - from.x) + y * (to.y - from.y)) / long;
        const [p, q] = [a, b].map(({ corners }) => corners.map(at));
        return Math.min(Math.max(...p), Math.max(...q)) - Math.max(Math.min(...p), Math.min(...q)) <= tolerance;
      }),
    );
  const shown = (box) =>
    `${Math.round(box.left)},${Math.round(box.top)} ${Math.round(box.right - box.left)}x${Math.round(box.bottom - box.top)}`;

  /** The texts on the canvas of a figure. */
  function canvasTexts(element) {
    const canvas = part(element, "canvas");
    const ratio = canvas.width / canvas.clientWidth;
    return (texts.get(canvas) ?? []).map(({ words, corners, left, right, top, bottom }) => ({
      words,
      corners: corners.map(({ x, y }) => ({ x: x / ratio, y: y / ratio })),
      left: left / ratio,
      right: right / ratio,
      top: top / ratio,
      bottom: bottom / ratio,
    }));
  }

  // Texts and controls of the shadow tree that can be seen, as boxes; lines of a text are boxes of one owner.
  function domBoxes(element) {
    const boxes = [];
    const walk = (node) => {
      for (const child of node.childNodes) {
        if (child.nodeType === Node.TEXT_NODE && child.data.trim() !== "") {
          const range = document.createRange();
          range.selectNodeContents(child);
          for (const box of range.getClientRects()) {
            if (box.width > 0) boxes.push({ owner: node, words: child.data.trim(), box });
          }
        }
        if (!(child instanceof Element) || !child.checkVisibility()) continue;
        if (child.matches(".hidden, option")) continue;
        if (child.matches("canvas, input, select")) {
          boxes.push({ owner: child, words: `<${child.localName}>`, box: child.getBoundingClientRect() });
        } else walk(child);
      }
    };
    walk(element.shadowRoot);
    return boxes;
  }

  // Scrolls on purpose, or cut on purpose.
  const scrolls = "[part~=table], pre, input";

  /** What lies on something else or is cut off, a line each. */
  function faultsOfLayout(element) {
    const faults = [];
    const canvas = part(element, "canvas");
    const paper = { left: 0, top: 0, right: canvas.clientWidth, bottom: canvas.clientHeight };
    const drawn = canvasTexts(element);
    drawn.forEach((a, i) => {
      if (!within(a, paper, 0.5)) faults.push(`cut by the canvas' edge: \u201c${a.words}\u201d at ${shown(a)}`);
      for (const b of drawn.slice(i + 1)) {
        if (meet(a, b, 0.5) && !apart(a, b, 0.5)) faults.push(`\u201c${a.words}\u201d at ${shown(a)} on \u201c${b.words}\u201d at ${shown(b)}`);
      }
    });
    const host = element.getBoundingClientRect();
    // A long reading breaks its own line: what can be taken away stays beside it where there is room for both.
    const [reading, actions] = ["readout", "actions"].map((name) => part(element, name).getBoundingClientRect());
    if (host.width >= 640 && actions.top >= reading.bottom) faults.push("what can be taken away has a line of its own");
    // Where there is room for several controls in a line, none is left alone in the last.
    for (const row of host.width >= 640 ? element.shadowRoot.querySelectorAll(".controls") : []) {
      const fields = row.querySelectorAll(":scope > .field:not(.wide)");
      const lines = Map.groupBy(fields, (field) => field.offsetTop + field.offsetHeight);
      const last = [...lines.values()].at(-1);
      if (lines.size > 1 && last.length === 1) faults.push(`alone in the last line of controls: ${last[0].textContent}`);
    }
    const boxes = domBoxes(element);
    boxes.forEach(({ owner, words, box }, i) => {
      const said = `${words.slice(0, 40)} at ${shown(box)}`;
      if (owner.closest(scrolls) === null && !within(box, host, 1)) faults.push(`out of the figure: ${said}`);
      for (let up = owner; up && up !== element.shadowRoot; up = up.parentElement) {
        if (getComputedStyle(up).overflowX === "visible" || up.matches(scrolls) || up.closest(scrolls)) continue;
        if (up.matches("select")) continue;
        if (!within(box, up.getBoundingClientRect(), 1)) faults.push(`cut by its box: ${said}`);
      }
      if (owner.localName === "select") {
        const style = getComputedStyle(owner);
        const pen = document.createElement("canvas").getContext("2d");
        pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
        const choice = owner.selectedOptions[0]?.textContent ?? "";
        // The arrow takes its room.
        const room = owner.clientWidth - 18;
        const wide = pen.measureText(choice).width;
        const widths = `${Math.round(wide)} in ${Math.round(room)} pixels`;
        if (wide > room) faults.push(`cut in its list: \u201c${choice}\u201d, ${widths}`);
      }
      for (const other of boxes.slice(i + 1)) {
        if (other.owner === owner || other.owner.contains(owner) || owner.contains(other.owner)) continue;
        if (owner.closest(scrolls) || other.owner.closest(scrolls)) continue;
        if (meet(box, other.box, 1)) faults.push(`${said} on ${other.words.slice(0, 40)} at ${shown(other.box)}`);
      }
    });
    return faults;
  }

  /** The faults of a figure as it is and with the cursor in the first and the last corner. */
  async function faultsWithCursor(element) {
    const at = { "as it comes": faultsOfLayout(element) };
    for (const key of ["Home", "End"]) {
      const event = new KeyboardEvent("keydown", { key, ctrlKey: true, cancelable: true });
      if (part(element, "drawing").dispatchEvent(event)) continue;
      await element.drawn;
      at[`at Ctrl+${key}`] = faultsOfLayout(element);
    }
    return Object.entries(at).flatMap(([when, list]) => list.map((fault) => `${when}: ${fault}`));
  }

  /** The faults of figures as they are, by their tags. */
  function faultsOfAll(tags) {
    return tags.flatMap((tag) => {
      const element = document.querySelector(tag);
      const view = element.shadowRoot.querySelector("[aria-selected=true]")?.textContent;
      const { fault } = words(element);
      const found = fault === "" ? faultsOfLayout(element) : [fault];
      return found.map((one) => `${tag}, ${view}: ${one}`);
    });
  }

  /** The faults of a figure with each of these sets of attributes, a figure that cannot be drawn among them. */
  async function faultsInStates(element, states) {
    const faults = [];
    for (const state of states) {
      for (const { name } of [...element.attributes]) if (name !== "loading") element.removeAttribute(name);
      for (const [name, value] of Object.entries(state)) element.setAttribute(name, value);
      await element.drawn;
      const { fault } = words(element);
      const found = fault === "" ? await faultsWithCursor(element) : [fault];
      faults.push(...found.map((one) => `${element.localName} ${JSON.stringify(state)}, ${one}`));
    }
    return faults;
  }

  /** Chooses the tab of every figure by number where it has one; resolves to which did. */
  async function chooseTabs(number) {
    const having = [];
    for (const element of elements()) {
      const tab = element.shadowRoot.querySelectorAll("[role=tab]")[number];
      if (number > 0 && !tab) continue;
      having.push(element.localName);
      if (tab?.getAttribute("aria-selected") === "false") tab.click();
    }
    await allDrawn();
    return having;
  }

  async function allDrawn() {
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    for (const element of elements()) await element.drawn;
  }

  /** Leaves one element on the page, drawn, between two buttons that take the keyboard before and after it. */
  async function alone(name, attributes = {}) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    const stop = (id) => Object.assign(document.createElement("button"), { id, textContent: id });
    document.querySelector("main").replaceChildren(stop("before"), element, stop("after"));
    files.length = 0;
    scrollTo(0, 0);
    await element.drawn;
    return element;
  }

  /** What the figure says and the values it says it of. */
  function words(element) {
    const text = (selector) => element.shadowRoot.querySelector(selector).textContent;
    return {
      fault: part(element, "error").hidden ? "" : text("[role=alert]"),
      title: text("[part~=title]"),
      readout: [...element.shadowRoot.querySelectorAll("[part~=reading]")].map((node) => node.textContent.trim()),
      caption: text("[part~=caption]"),
      summary: text("#summary"),
    };
  }

  /** How many colours the canvas has, and the share of its pixels that are not of the commonest. */
  function colours(canvas) {
    const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    const pixels = new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    const counts = new Map();
    for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
    return { count: counts.size, inked: 1 - Math.max(...counts.values()) / pixels.length };
  }

  globalThis.__figures = {
    alone,
    words,
    colours,
    elements,
    part,
    files,
    canvasTexts,
    faultsOfLayout,
    faultsWithCursor,
    faultsInStates,
    faultsOfAll,
    chooseTabs,
    allDrawn,
  };
}
