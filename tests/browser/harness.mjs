// A real Chromium on what was built: pages from a server with any headers, or from disk; and everything a page let
// slip.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { serve } from "../../tools/serve.mjs";

export const kRoot = join(import.meta.dirname, "../..");
export const kSite = join(kRoot, "dist/site");
export const kDist = join(kRoot, "dist");

const kFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

// The browser fetches a page's icon when it likes.
const kIcon = /\/(icon\.svg|favicon\.ico)$/;

/** Starts Chromium; CHROMIUM names another than Debian's. */
export function launch() {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  if (!existsSync(executablePath))
    throw new Error(`There is no ${executablePath}: set CHROMIUM to a Chromium or Chrome.`);
  return chromium.launch({ executablePath, headless: true, args: kFlags });
}

/** Serves a folder on any free port. */
export function serveFolder(folder, { policy, headers = {}, extra = {} } = {}) {
  return serve(folder, {
    port: 0,
    headers: { ...headers, ...(policy ? { "Content-Security-Policy": policy } : {}) },
    extra,
  });
}

export const fileAddress = (path) => pathToFileURL(path).href;

/**
 * Opens an address in a page of its own, which `prepare` gets before. `faults` gathers console errors and warnings,
 * uncaught errors, failed requests and policy violations; `requests` every address asked for, with `late` those after
 * the load event.
 */
export async function open(
  browser,
  address,
  { colorScheme = "light", viewport = { width: 1100, height: 900 }, context: options = {}, prepare } = {},
) {
  const context = await browser.newContext({ colorScheme, viewport, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  await prepare?.(page);
  const faults = [];
  const requests = [];
  const late = [];
  let loaded = false;
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`uncaught: ${error.message}`));
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText;
    // A page that is left early takes its icon's request with it.
    if (!(kIcon.test(request.url()) && why === "net::ERR_ABORTED")) faults.push(`failed: ${request.url()} ${why}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) faults.push(`${response.status()}: ${response.url()}`);
  });
  page.on("request", (request) => {
    // Blobs and data are made on the page.
    if (/^(data|blob):/.test(request.url())) return;
    requests.push(request.url());
    if (loaded && !kIcon.test(request.url())) late.push(request.url());
  });
  page.on("load", () => {
    loaded = true;
  });
  await page.goto(address, { waitUntil: "load" });
  return { page, context, faults, requests, late, close: () => context.close() };
}

/** Brings every figure into view, one after the other, and waits until it has drawn; resolves to their tag names. */
export async function drawAll(page) {
  return page.evaluate(async () => {
    const figures = [...document.querySelectorAll("*")].filter((element) => element.localName.startsWith("posenc-"));
    for (const figure of figures) {
      figure.scrollIntoView({ block: "center" });
      // Lazy figures start when they are seen.
      const deadline = performance.now() + 20_000;
      while (performance.now() < deadline) {
        const canvas = figure.shadowRoot?.querySelector("canvas");
        const fault = figure.shadowRoot?.querySelector(".fault");
        if (fault && !fault.hidden) break;
        if (
          canvas &&
          canvas.width > 1 &&
          figure.shadowRoot.querySelector("output.readout, [part~=readout]")?.textContent
        )
          break;
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      await figure.drawn;
    }
    scrollTo(0, 0);
    return figures.map((figure) => figure.localName);
  });
}

/**
 * For each figure: how many colours its canvas has, the share of pixels that are not its commonest colour, its
 * fault and its words.
 */
export function inspectFigures(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll("*")]
      .filter((element) => element.localName.startsWith("posenc-"))
      .map((figure) => {
        const root = figure.shadowRoot;
        const canvas = root?.querySelector("canvas");
        const fault = root?.querySelector(".fault");
        const report = {
          name: figure.localName,
          fault: fault && !fault.hidden ? fault.textContent.trim() : "",
          colours: 0,
          inked: 0,
          title: root?.querySelector("[part~=title]")?.textContent ?? "",
          readout: root?.querySelector("[part~=readout]")?.textContent ?? "",
          summary: root?.querySelector("#summary")?.textContent ?? "",
        };
        if (!canvas || canvas.width === 0 || canvas.height === 0) return report;
        // Read from a copy: the browser warns of pages that read their own canvases often.
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
        const counts = new Map();
        const pixels = new Uint32Array(data.buffer);
        for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
        report.colours = counts.size;
        report.inked = 1 - Math.max(...counts.values()) / pixels.length;
        return report;
      }),
  );
}

/** Runs axe on the page, open shadow roots included; resolves to one line a violation. */
export async function axe(page) {
  const { readFileSync } = await import("node:fs");
  // By the debugger, so that the page's policy does not matter.
  await page.evaluate(readFileSync(join(kRoot, "node_modules/axe-core/axe.min.js"), "utf8"));
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(
        (node) => `${id} (${help}): ${node.target.join(" ")} ${node.failureSummary?.split("\n")[1]?.trim() ?? ""}`,
      ),
    );
  });
}

/**
 * What lies on something else on the page as it stands, a line each: lines of text of different blocks, formulas,
 * figures, frames and controls, each of these as a whole; and what the window cuts off. The inside of figures has a
 * test of its own.
 */
export function overlapsOfPage(page) {
  return page.evaluate(() => {
    const boxes = [];
    const blockOf = (node) => {
      let block = node;
      while (/^(inline|contents)/.test(getComputedStyle(block).display)) block = block.parentElement;
      return block;
    };
    const add = (owner, words, box) => {
      // Words for those who hear the page, and the link before its text, stand outside of the window.
      if (box.width > 0 && box.height > 0 && box.right > 0) boxes.push({ owner: blockOf(owner), words, box });
    };
    const walk = (node) => {
      for (const child of node.childNodes) {
        if (child.nodeType === Node.TEXT_NODE && child.data.trim() !== "") {
          const range = document.createRange();
          range.selectNodeContents(child);
          for (const box of range.getClientRects()) add(node, child.data.trim().slice(0, 40), box);
        }
        if (!(child instanceof Element) || !child.checkVisibility()) continue;
        if (child.matches("script, style, noscript")) continue;
        const whole = child.shadowRoot || child.matches("math, input, select, textarea, button, canvas, svg, iframe");
        if (whole) add(child, `<${child.localName}>`, child.getBoundingClientRect());
        else walk(child);
      }
    };
    walk(document.body);
    const scrolls = (node) => {
      for (let up = node; up; up = up.parentElement) {
        if (up !== document.documentElement && /auto|scroll/.test(getComputedStyle(up).overflowX)) return true;
      }
      return false;
    };
    const at = ({ left, top }) => `${Math.round(left)},${Math.round(top + scrollY)}`;
    const common = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]);
    const faults = [];
    boxes.sort((a, b) => a.box.top - b.box.top);
    boxes.forEach(({ owner, words, box }, i) => {
      const said = `${words} at ${at(box)}`;
      if (box.right > innerWidth + 1 && !scrolls(owner)) faults.push(`cut by the window: ${said}`);
      for (let k = i + 1; k < boxes.length && boxes[k].box.top < box.bottom - 2; k++) {
        const other = boxes[k];
        if (owner.contains(other.owner) || other.owner.contains(owner)) continue;
        const [wide, high] = [common(box, other.box, "left", "right"), common(box, other.box, "top", "bottom")];
        if (wide > 2 && high > 2) faults.push(`${said} on ${other.words} at ${at(other.box)}`);
      }
    });
    return faults;
  });
}
