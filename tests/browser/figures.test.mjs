// The manner of every figure of the package, in Chromium: what it draws and says is what the core says in Node; its
// files hold those numbers; the keyboard reaches and moves everything; attributes, pages and documents change under it.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entryOf } from "../../web/figures/colour.ts";
import { allFields, attributeName } from "../../web/figures/figure.ts";
import { readingText } from "../../web/figures/page.ts";
import { RecordingBackEnd } from "../../web/figures/recording.ts";
import { figureNamed, figureState as computedState } from "../../web/figures/render.ts";
import { Surface } from "../../web/figures/surface.ts";
import { makeTheme } from "../../web/figures/theme.ts";
import { readNpy } from "../../web/src/files.ts";
import { ready } from "../../web/src/index.ts";
import { runInNumpy } from "../numpy.mjs";
import { builtFigures, kPageStyle, pageOf, watchPage } from "./figures.mjs";
import { axe, kDist, kRoot, launch, serveFolder } from "./harness.mjs";

// The names are the package's; the objects are those of the sources, whose core computes here what pages computed.
const figures = (await builtFigures()).map(({ name }) => figureNamed(name));
await ready();
const names = figures.map(({ name }) => name);
const byName = figures.map((figure) => [figure.name, figure]);

let browser;
let server;
const fifty = Array.from({ length: 50 }, (_, k) => names[k % names.length]);
beforeAll(async () => {
  browser = await launch();
  const extra = {
    "/all": pageOf(names),
    "/none": pageOf([]),
    "/bare": pageOf([], { script: "" }),
    "/fifty": pageOf(fifty, { loading: "lazy" }),
    "/page.css": kPageStyle,
  };
  server = await serveFolder(kDist, { extra });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function visit(path, options = {}, before = []) {
  const viewport = { width: 904, height: 900 };
  const context = await browser.newContext({ viewport, reducedMotion: "reduce", colorScheme: "light", ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`uncaught: ${error.message}`));
  for (const script of [watchPage, ...before]) await page.addInitScript(script);
  await page.goto(`${server.address}${path}`, { waitUntil: "load" });
  const session = await context.newCDPSession(page);
  return { page, session, faults, close: () => context.close() };
}

// The state of a figure at some values, of which the last few are kept: the same ones are asked for again and again,
// and a model takes its time.
const kept = new Map();
function figureState(name, values = {}) {
  const key = JSON.stringify([name, values]);
  const state = kept.get(key) ?? computedState(name, values);
  kept.delete(key);
  kept.set(key, state);
  if (kept.size > 24) kept.delete(kept.keys().next().value);
  return state;
}

// What is wrong with the rows of a table that a figure shows, heads first: its numbers are as a book writes them.
function faultsOfTable([heads, ...rows], table) {
  // All columns where there are few, else some, evenly, beside the one that names the rows.
  const apart = table.header.length > 17 ? Math.ceil((table.header.length - 1) / 16) : 1;
  const columns = table.header.flatMap((_, c) => (c === 0 || (c - 1) % apart === 0 ? [c] : []));
  const down = Math.ceil(table.rows / 40);
  const wish = [columns.map((c) => table.header[c]), Math.ceil(table.rows / down)];
  if (JSON.stringify([heads, rows.length]) !== JSON.stringify(wish)) return [`${heads} and ${rows.length} rows`];
  const raised = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
  const read = (words) =>
    Number(
      words
        .replaceAll("\u202f", "")
        .replaceAll(/[\u2212\u207b]/g, "-")
        .replaceAll(/[\u2070-\u2079\u00b9\u00b2\u00b3]/g, (digit) => raised.indexOf(digit))
        .replace("\u00d710", "e"),
    );
  const written = (words, value) => {
    if (typeof value === "string") return words === value;
    if (Number.isNaN(value)) return words === "";
    if (!Number.isFinite(value)) return words === (value < 0 ? "\u2212\u221e" : "\u221e");
    return !/[-e]/.test(words) && Math.abs(read(words) - value) <= 1e-5 * Math.abs(value);
  };
  return rows.flatMap((cells, k) =>
    cells.flatMap((words, i) => {
      const value = table.cell(k * down, columns[i]);
      return written(words, value) ? [] : [`row ${k * down}, ${heads[i]}: \u201c${words}\u201d is ${value}`];
    }),
  );
}

// The attributes that choose each view of a figure.
function viewsOf(figure) {
  const { values, model } = figureState(figure.name);
  const tabs = figure.tabs?.(values, model);
  return tabs?.choices.map(({ value }) => ({ [attributeName(tabs.name)]: value })) ?? [{}];
}

// What a figure says in Node of the same values.
function wordsOf(figure, values) {
  const state = figureState(figure.name, values);
  return {
    fault: "",
    title: figure.title(state),
    readout: figure.readout(state).map((reading) => readingText(reading).trim()),
    caption: figure.caption(state),
    summary: figure.summary(state),
  };
}

// The cells of each heat map that a figure draws, with the colours of the light theme on a white page.
class Cells extends RecordingBackEnd {
  maps = [];
  heatMap(box, map) {
    super.heatMap(box, map);
    const { values, rows, columns, scale, part = { row: 0, rows, column: 0, columns } } = map;
    const table = makeTheme(false, { paper: "#ffffff" })[scale.kind];
    const hex = (entry) => Buffer.from(table.subarray(3 * entry, 3 * entry + 3)).toString("hex");
    this.maps.push(
      Array.from({ length: part.rows * part.columns }, (_, k) => {
        const [r, c] = [Math.floor(k / part.columns), k % part.columns];
        const value = values[(part.row + r) * columns + part.column + c];
        return { key: `${r} ${c}`, colour: `#${hex(entryOf(scale, value))}` };
      }),
    );
  }
}

// Everything the keyboard can do with a figure: Tab from the button before it to the one after it, and each control's
// own keys. One line a stop; the page says what is where.
async function walk(page) {
  const stops = [];
  await page.evaluate(() => globalThis.__walk.begin());
  await page.locator("#before").focus();
  for (let k = 0; k < 200; k++) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => globalThis.__walk.stop());
    if (stop === undefined) return stops;
    stops.push(stop);
    for (const keys of stop.tries) {
      const before = await page.evaluate(() => globalThis.__walk.state());
      for (const key of keys) await page.keyboard.press(key);
      const from = stop.kind === "button" ? before : null;
      const after = await page.evaluate((state) => globalThis.__walk.settled(state), from);
      stop.changed ||= before.values !== after.values;
      stop.seen ||= before.seen !== after.seen;
      if (stop.seen) break;
    }
    for (const key of stop.undo) await page.keyboard.press(key);
    await page.evaluate(() => globalThis.__walk.rested());
    stop.kept = stop.kind === "button" || (await page.evaluate(() => globalThis.__walk.at())) === stop.label;
  }
  throw new Error("The keyboard does not get out of the figure.");
}

function watchWalk() {
  const element = () => document.querySelector("main > :nth-child(2)");
  const state = () => {
    const { part, words, files } = globalThis.__figures;
    const figure = element();
    const open = [...figure.shadowRoot.querySelectorAll("details")].map(({ open }) => open);
    let picture = "";
    try {
      picture = figure.toSvg();
    } catch {
      // Its words say so.
    }
    const seen = [words(figure), picture, open, part(figure, "code").textContent, files.length];
    // A program is shown with the numbers it makes.
    return { values: JSON.stringify(figure.value), seen: JSON.stringify(seen) };
  };
  const kKeys = {
    range: { tries: [["ArrowRight"], ["ArrowLeft", "ArrowLeft"]], undo: ["ArrowLeft"] },
    select: { tries: [["ArrowDown"], ["ArrowUp"]], undo: ["ArrowUp"] },
    checkbox: { tries: [["Space"]], undo: ["Space"] },
    text: { tries: [["End", "1"]], undo: ["Backspace"] },
    summary: { tries: [["Enter"]], undo: [] },
    button: { tries: [["Enter"]], undo: [] },
    none: { tries: [], undo: [] },
  };
  // A control may be made anew, as when its ends move.
  const met = new Set();
  const nameOf = (node) => {
    // Names that tell what is shown change with it.
    if (node.matches("[part~=drawing]")) return "drawing";
    const label = node.labels?.[0]?.textContent ?? node.getAttribute("aria-label") ?? node.textContent;
    if (node.matches("pre, [role=region]")) return label.replace(/:.*/, "");
    return `${node.type ?? node.localName} \u201c${label.trim().slice(0, 60)}\u201d`;
  };
  globalThis.__walk = {
    state,
    begin: () => met.clear(),
    /** What has the focus now. */
    at: () => {
      const node = element().shadowRoot.activeElement;
      return node ? nameOf(node) : "nothing";
    },
    /** Once what was asked for has been drawn. */
    async rested() {
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      await element().drawn;
    },
    /**
     * The state then; of a button, once anything else than `from` is seen, and where that is a program, once none
     * comes any more: that in NumPy follows the one in JavaScript when it has been computed.
     */
    async settled(from) {
      const program = () => globalThis.__figures.part(element(), "code").textContent;
      const none = from && JSON.parse(from.seen)[3];
      let now;
      for (let round = 0, calm = 0; round < 50 && calm < 10; round++) {
        const before = program();
        await globalThis.__walk.rested();
        now = state();
        if (!from) break;
        if (now.seen !== from.seen) calm = program() === none ? Infinity : program() === before ? calm + 1 : 0;
      }
      return now;
    },
    stop() {
      const figure = element();
      if (document.activeElement !== figure) return undefined;
      const node = figure.shadowRoot.activeElement;
      const label = nameOf(node);
      met.add(label);
      const type = node.localName === "input" ? node.type : node.localName;
      const kind = type === "textarea" ? "text" : node.role === "tab" || type === "file" ? "none" : type;
      const { tries, undo } = kKeys[kind] ?? kKeys.none;
      const only = kind === "select" && node.options.length < 2;
      const style = getComputedStyle(node);
      return {
        label,
        kind,
        ring: style.outlineStyle !== "none",
        tries: only ? [] : tries,
        undo,
        value: type !== "summary" && type !== "button" && tries.length > 0 && !only,
        changed: false,
        seen: false,
      };
    },
    /** What can be used and was not met. */
    missed() {
      const all = element().shadowRoot.querySelectorAll("a, button, input, select, textarea, summary, [tabindex]");
      return [...all]
        .filter((node) => node.checkVisibility() && node.tabIndex >= 0 && !met.has(nameOf(node)))
        .map(nameOf);
    },
  };
}

describe.each(byName)("posenc-%s", (name, figure) => {
  let opened;
  beforeAll(async () => {
    opened = await visit("none", {}, [watchWalk]);
  });
  afterAll(() => opened?.close());
  const alone = (attributes) =>
    opened.page.evaluate(
      ([tag, given]) => globalThis.__figures.alone(tag, given).then((element) => ({ ...element.value })),
      [`posenc-${name}`, attributes],
    );
  const inPage = (work, argument) =>
    opened.page.evaluate(`(${work})(document.querySelector("posenc-${name}"), ${JSON.stringify(argument ?? null)})`);
  const said = () => inPage((element) => globalThis.__figures.words(element));

  it("draws in every view, and says what the core says", async () => {
    for (const view of viewsOf(figure)) {
      const values = await alone(view);
      expect(await said(), JSON.stringify(view)).toEqual(wordsOf(figure, values));
      const { count, inked } = await inPage((element) => {
        const { colours, part } = globalThis.__figures;
        return colours(part(element, "canvas"));
      });
      expect(count, "colours").toBeGreaterThan(4);
      expect(inked, "share of pixels drawn on").toBeGreaterThan(0.002);
    }
    expect(opened.faults).toEqual([]);
  });

  it("hands out files that hold the core's numbers, and shows them as a table", async () => {
    for (const view of viewsOf(figure)) {
      const values = await alone(view);
      const state = figureState(name, values);
      const table = figure.table(state);
      const array = figure.array?.(state);
      const files = await inPage(async (element) => {
        const { files } = globalThis.__figures;
        const buttons = [...element.shadowRoot.querySelectorAll("[part~=action][title^=Save]")];
        const wanted = buttons.filter((node) => !node.hidden);
        for (const button of wanted) button.click();
        for (let k = 0; k < 4000 && files.length < wanted.length; k++) {
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        const text = async (end) => files.find((file) => file.fileName.endsWith(end))?.text();
        const png = files.find((file) => file.fileName.endsWith("png"));
        const bitmap = await createImageBitmap(png);
        const npy = files.find((file) => file.fileName.endsWith("npy"));
        const svg = await text("svg");
        const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
        // The colour of every cell of each map, row by row; a shape is m dx dy h w v h h -w, from where the last ended.
        // `seen` counts, among some of the cells, those that the picture of points has in that colour.
        const pen = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d", { willReadFrequently: true });
        pen.drawImage(bitmap, 0, 0);
        const maps = [...parsed.querySelectorAll("g[shape-rendering]")].map((map) => {
          const cells = new Map();
          for (const path of map.querySelectorAll("path")) {
            const [fill, d] = ["fill", "d"].map((name) => path.getAttribute(name));
            let [x, y] = [0, 0];
            for (const shape of d.matchAll(/m(-?\d+) ?(-?\d+)h(\d+)v(\d+)h-\3/g)) {
              const [right, down, wide, high] = shape.slice(1).map(Number);
              [x, y] = [x + right, y + down];
              for (let k = 0; k < wide * high; k++) cells.set(`${y + Math.floor(k / wide)} ${x + (k % wide)}`, fill);
              y += high;
            }
          }
          const place = /translate\((\S+) (\S+)\) scale\((\S+) (\S+)\)/.exec(map.getAttribute("transform"));
          const [left, top, width, height] = place.slice(1).map(Number);
          const report = { cells: Object.fromEntries(cells), tried: 0, seen: 0 };
          const keys = [...cells.keys()];
          if (Math.min(width, height) < 2) return report;
          for (let k = 0; k < keys.length; k += Math.ceil(keys.length / 60)) {
            const [row, column] = keys[k].split(" ").map(Number);
            // Beside what may stand in the middle of a cell.
            const [at, under] = [left + (column + 0.25) * width, top + (row + 0.25) * height];
            const [red, green, blue] = pen.getImageData(Math.round(2 * at), Math.round(2 * under), 1, 1).data;
            const colour = `#${((1 << 24) | (red << 16) | (green << 8) | blue).toString(16).slice(1)}`;
            report.tried++;
            if (colour === cells.get(keys[k])) report.seen++;
          }
          return report;
        });
        const details = element.shadowRoot.querySelector("details[part~=table]");
        details.open = true;
        const table = () => details.querySelector("table");
        while (!table()) await new Promise((resolve) => setTimeout(resolve, 5));
        const textsOf = (row) => [...row.cells].map((one) => one.textContent);
        return {
          names: files.map((file) => file.fileName).sort(),
          png: { ...globalThis.__figures.colours(bitmap), width: bitmap.width, height: bitmap.height },
          csv: await text("csv"),
          json: await text("json"),
          npy: npy && [...new Uint8Array(await npy.arrayBuffer())],
          svg: {
            wrong: parsed.querySelector("parsererror")?.textContent ?? "",
            width: Number(parsed.documentElement.getAttribute("width")),
            height: Number(parsed.documentElement.getAttribute("height")),
            texts: [...parsed.querySelectorAll("text")].map((node) => node.textContent),
            images: parsed.querySelectorAll("image").length,
            maps,
          },
          table: {
            caption: table().caption.textContent,
            head: textsOf(table().tHead.rows[0]),
            body: [...table().tBodies[0].rows].map(textsOf),
          },
        };
      });
      const where = `${name} ${JSON.stringify(view)}`;
      const kinds = ["csv", "json", ...(array ? ["npy"] : []), "png", "svg"];
      expect(files.names, where).toEqual(kinds.map((kind) => `posenc-${name}.${kind}`));

      const rows = parseCsv(files.csv);
      const cell = (r, c) => table.cell(r, c);
      const shown = (value) => (typeof value !== "number" ? value : Number.isFinite(value) ? String(value) : "");
      expect(rows[0], where).toEqual([...table.header]);
      expect(rows.length - 1, where).toBe(table.rows);
      const expected = Array.from({ length: table.rows }, (_, r) => table.header.map((_, c) => cell(r, c)));
      expect(rows.slice(1), where).toEqual(expected.map((row) => row.map(shown)));

      const json = JSON.parse(files.json);
      const finite = (value) => (typeof value === "number" && !Number.isFinite(value) ? null : value);
      expect({ figure: json.figure, title: json.title, header: json.header, rows: json.rows }, where).toEqual({
        figure: name,
        title: figure.title(state),
        header: [...table.header],
        rows: expected.map((row) => row.map((value) => (Object.is(value, -0) ? 0 : finite(value)))),
      });
      const attributes = Object.fromEntries(Object.entries(values).map(([key, value]) => [attributeName(key), value]));
      expect(json.attributes, where).toEqual(attributes);

      if (array) {
        const read = readNpy(Uint8Array.from(files.npy));
        expect([...read.shape], where).toEqual([...array.shape]);
        expect(sameNumbers(read.data, array.data), `${where}: the array's numbers`).toBe(true);
      }

      const back = new RecordingBackEnd();
      figure.draw(new Surface(back, makeTheme(false), 760, figure.height(state, 760)), state);
      const labels = back.operations.flatMap((line) => {
        const words = /^text \S+ (".*") [^"]*$/.exec(line)?.[1];
        return words === undefined ? [] : [JSON.parse(words)];
      });
      expect(files.svg.wrong, where).toBe("");
      expect(files.svg.texts, where).toEqual(expect.arrayContaining(labels.filter((words) => words !== "")));
      const drawn = new Cells();
      figure.draw(new Surface(drawn, makeTheme(false), 760, figure.height(state, 760)), state);
      const [few, many] = [true, false].map((vector) => drawn.maps.filter(({ length }) => length <= 10_000 === vector));
      expect(files.svg.images, where).toBe(many.length);
      expect(files.svg.maps.length, where).toBe(few.length);
      files.svg.maps.forEach(({ cells, tried, seen }, k) => {
        expect(Object.keys(cells).length, where).toBe(few[k].length);
        const other = few[k].find(({ key, colour }) => cells[key] !== colour);
        expect(other && `${other.key} is ${cells[other.key]}`, `${where}: cell of ${other?.colour}`).toBeUndefined();
        // Some lie under lines and words.
        expect(seen, `${where}: of ${tried} cells of the picture`).toBeGreaterThanOrEqual(0.9 * tried);
      });
      expect([files.png.width, files.png.height], where).toEqual(
        [files.svg.width, files.svg.height].map((side) => Math.round(2 * side)),
      );
      expect(files.png.count, `${where}: colours of the picture`).toBeGreaterThan(8);

      const { caption, head, body } = files.table;
      expect(faultsOfTable([head, ...body], table), where).toEqual([]);
      // What is left out of a large one is said.
      const [all, some] = [[table.rows, table.header.length], [body.length, head.length]];
      const told = some.every((count) => caption.includes(`${count} of `));
      expect(told, `${where}: ${caption}`).toBe(String(some) !== String(all));
    }
    expect(opened.faults).toEqual([]);
  });

  it("moves its cursor by the keyboard, by one, by ten and to the ends, and reads out what the core has there", async () => {
    for (const view of viewsOf(figure)) {
      let values = await alone(view);
      const cells = () => figure.cells?.(figureState(name, values)) ?? {};
      if (!cells().row && !cells().column) continue;
      const drawingWidth = await inPage((element) => {
        const drawing = globalThis.__figures.part(element, "drawing");
        drawing.focus();
        return drawing.clientWidth;
      });
      const seen = new Set();
      const keys = "Control+Home ArrowRight ArrowDown Shift+ArrowRight Shift+ArrowDown ArrowLeft ArrowUp End Home ";
      for (const key of `${keys}Control+End Shift+ArrowLeft Shift+ArrowUp PageDown PageUp`.split(" ")) {
        const { row, column, transposed = false, below } = cells();
        const [across, along] = transposed ? [row, column] : [column, row];
        const at = (axis) => (axis ? values[axis.name] - (axis.from ?? 0) : 0);
        const to = { across: at(across), along: at(along) };
        const step = key.includes("Shift") || key.includes("Page") ? 10 : 1;
        if (key.endsWith("Home")) to.across = 0;
        if (key.endsWith("End")) to.across = Infinity;
        if (key === "Control+Home") to.along = 0;
        if (key === "Control+End") to.along = Infinity;
        if (key.endsWith("Right")) to.across += step;
        if (key.endsWith("Left")) to.across -= step;
        if (key.endsWith("Down")) to.along += step;
        if (key.endsWith("Up")) to.along -= step;
        if (below && /Arrow(Up|Down)$/.test(key)) {
          // What lies there hands.test.mjs asks a pointer.
          const by = key.endsWith("Up") ? -1 : 1;
          to.across = below(at(across), by, drawingWidth) ?? at(across);
          to.along = at(along);
        }
        await opened.page.keyboard.press(key);
        values = await inPage(async (element) => {
          await element.drawn;
          return { ...element.value };
        });
        const within = (place, axis) => Math.max(0, Math.min(axis.count - 1, place));
        const where = `${JSON.stringify(view)}, ${key}`;
        if (across) expect(at(across), `${where}: ${across.name}`).toBe(within(to.across, across));
        if (along) expect(at(along), `${where}: ${along.name}`).toBe(within(to.along, along));
        const words = await said();
        expect(words, where).toEqual(wordsOf(figure, values));
        seen.add(words.readout.join());
      }
      const places = (cells().row?.count ?? 1) * (cells().column?.count ?? 1);
      expect(seen.size, "different readings").toBeGreaterThanOrEqual(Math.min(4, places));
    }
    expect(opened.faults).toEqual([]);
  });

  it("reads under a pointer what the core has there, and stays where it is clicked or touched", async () => {
    const touch = (type, ...touchPoints) => opened.session.send("Input.dispatchTouchEvent", { type, touchPoints });
    const { mouse } = opened.page;
    const views = viewsOf(figure);
    const [first] = views;
    for (const view of views) {
      const start = await alone(view);
      const { row, column } = figure.cells?.(figureState(name, start)) ?? {};
      if (!row && !column) continue;
      const now = () => inPage(async (element) => {
        await element.drawn;
        return { ...element.value };
      });
      const cursor = (values) => [row, column].flatMap((axis) => (axis ? [values[axis.name]] : []));
      const where = JSON.stringify(view);
      const placeAt = ([u, v]) => inPage((element, [right, down]) => {
        const drawing = globalThis.__figures.part(element, "drawing");
        drawing.scrollIntoView({ block: "center" });
        const { x, y, width, height } = drawing.getBoundingClientRect();
        return [x + right * width, y + down * height];
      }, [u, v]);
      // Somewhere the drawing has a cell that is not the cursor's.
      let place;
      for (const share of [[0.2, 0.3], [0.3, 0.2], [0.15, 0.6], [0.6, 0.35], [0.4, 0.8], [0.25, 0.45]]) {
        await mouse.move(...(await placeAt(share)));
        const passed = await now();
        expect(await said(), `${where} under the pointer`).toEqual(wordsOf(figure, passed));
        if (String(cursor(passed)) === String(cursor(start))) continue;
        place = share;
        break;
      }
      expect(place, `${where}: no cell under any of the places`).toBeDefined();
      // All views hear of clicks and fingers as the first does.
      if (view !== first) continue;
      const passed = await now();
      await mouse.move(2, 2);
      expect(cursor(await now()), `${where}, the pointer gone`).toEqual(cursor(start));
      await mouse.click(...(await placeAt(place)));
      expect(cursor(await now()), `${where}, clicked`).toEqual(cursor(passed));
      await mouse.move(2, 2);
      const clicked = await now();
      expect(cursor(clicked), `${where}, clicked, the pointer gone`).toEqual(cursor(passed));
      expect(await said(), `${where}, clicked`).toEqual(wordsOf(figure, clicked));
      await alone(view);
      const [x, y] = await placeAt(place);
      await touch("touchStart", { x, y });
      await touch("touchEnd");
      const touched = await now();
      expect(cursor(touched), `${where}, touched`).toEqual(cursor(passed));
      expect(await said(), `${where}, touched`).toEqual(wordsOf(figure, touched));
    }
    expect(opened.faults).toEqual([]);
  });

  it("goes through its tabs by the keyboard", async () => {
    const views = viewsOf(figure);
    if (views.length < 2) return;
    await alone(views[0]);
    const [[key]] = Object.entries(views[0]);
    await inPage((element) => element.shadowRoot.querySelector("[role=tab][aria-selected=true]").focus());
    const keys = [...views.map(() => "ArrowRight"), "ArrowLeft", "Home", "End"];
    const expected = [...views.slice(1), views[0], views.at(-1), views[0], views.at(-1)].map((view) => view[key]);
    const met = [];
    for (const press of keys) {
      await opened.page.keyboard.press(press);
      met.push(
        await inPage(async (element) => {
          await element.drawn;
          const tab = element.shadowRoot.querySelector("[role=tab][aria-selected=true]");
          return tab === element.shadowRoot.activeElement ? tab.id.slice(4) : "the focus is elsewhere";
        }),
      );
    }
    expect(met).toEqual(expected);
    expect(opened.faults).toEqual([]);
  });

  it("lets the keyboard reach everything, and everything it reaches does something", async () => {
    for (const view of viewsOf(figure)) {
      await alone(view);
      const stops = await walk(opened.page);
      const where = JSON.stringify(view);
      expect(stops.filter(({ ring }) => !ring).map(({ label }) => label), `${where}: no ring`).toEqual([]);
      expect(stops.filter(({ kept }) => !kept).map(({ label }) => label), `${where}: loses the focus`).toEqual([]);
      const silent = stops.filter(
        ({ tries, value, changed, seen }) => tries.length > 0 && !seen && !(value && changed),
      );
      expect(silent.map(({ label }) => label), `${where}: without effect`).toEqual([]);
      const dull = stops.filter(({ value, changed, seen }) => value && !changed && !seen);
      expect(dull.map(({ label }) => label), `${where}: changes no value`).toEqual([]);
      expect(await opened.page.evaluate(() => globalThis.__walk.missed()), where).toEqual([]);
      expect(stops.length).toBeGreaterThan(5);
    }
    expect(opened.faults).toEqual([]);
  });

  it("takes its attributes one by one, refuses what does not fit in a sentence, and recovers", async () => {
    const start = await alone({});
    const plain = wordsOf(figure, start);
    let taken = 0;
    for (const field of allFields(figure, figureState(name).values, figureState(name).model)) {
      const other = otherValue(figure, field);
      if (other === undefined) continue;
      const attribute = attributeName(field.name);
      const report = await inPage(
        async (element, [key, value, odd]) => {
          const { words } = globalThis.__figures;
          element.setAttribute(key, value);
          await element.drawn;
          const taken = { words: words(element), values: { ...element.value } };
          let refused = "";
          if (odd !== null) {
            const told = new Promise((resolve) => element.addEventListener("posenc-error", resolve, { once: true }));
            element.setAttribute(key, odd);
            await element.drawn;
            await told;
            refused = words(element).fault;
          }
          element.removeAttribute(key);
          await element.drawn;
          // The cursor stays where it was put.
          return { taken, refused, back: words(element) };
        },
        [attribute, String(other), field.kind === "text" ? null : "\u2620"],
      );
      expect(report.taken.values[field.name], attribute).toBe(other);
      expect(report.taken.words, attribute).toEqual(wordsOf(figure, report.taken.values));
      const sentence = /^This figure cannot be drawn: .+\u2620.*\.$/;
      if (field.kind !== "text") expect(report.refused, attribute).toMatch(sentence);
      expect(report.back, `${attribute} taken away`).toEqual(plain);
      taken++;
    }
    expect(taken).toBeGreaterThan(3);
    expect(opened.faults).toEqual([]);
  });

  it("goes on in another place, a shadow tree and another document", async () => {
    await alone({});
    const places = await inPage(async (element) => {
      const { part, colours, words } = globalThis.__figures;
      const main = document.querySelector("main");
      const host = main.appendChild(document.createElement("div"));
      const frame = main.appendChild(document.createElement("iframe"));
      frame.style.width = "700px";
      const check = async (where) => {
        await element.drawn;
        const canvas = part(element, "canvas");
        const hidden = element.shadowRoot.querySelector(".hidden");
        const view = element.ownerDocument.defaultView;
        const cursor = () => JSON.stringify(element.value) + part(element, "readout").textContent;
        const moved = part(element, "drawing").dispatchEvent(
          new view.KeyboardEvent("keydown", { key: "Home", ctrlKey: true, cancelable: true }),
        );
        await element.drawn;
        const before = cursor();
        const event = new view.KeyboardEvent("keydown", { key: "End", ctrlKey: true, cancelable: true });
        part(element, "drawing").dispatchEvent(event);
        await element.drawn;
        const after = cursor();
        const select = element.shadowRoot.querySelector("[role=tab]:not([aria-selected=true])");
        select?.click();
        await element.drawn;
        return {
          where,
          fault: words(element).fault,
          wide: canvas.width === Math.round(canvas.clientWidth * view.devicePixelRatio),
          drawn: colours(canvas).inked > 0.002,
          styled: view.getComputedStyle(hidden).position === "absolute",
          answers: moved || after !== before,
        };
      };
      const reports = [await check("where it was made")];
      main.prepend(element);
      reports.push(await check("first on the page"));
      host.attachShadow({ mode: "open" }).append(element);
      reports.push(await check("in a shadow tree"));
      frame.contentDocument.body.append(element);
      reports.push(await check("in another document"));
      main.append(element);
      reports.push(await check("back"));
      return reports;
    });
    const well = { fault: "", wide: true, drawn: true, styled: true, answers: true };
    expect(places).toEqual(places.map(({ where }) => ({ where, ...well })));
    expect(opened.faults).toEqual([]);
  });
});

// Settings whose programs are not those of the views.
const kOtherPrograms = {
  embed: [
    { layout: "half", order: "cos-sin", base: 500.5, start: 100 },
    { scheme: "sinusoidal2d", cells: "7 7" },
  ],
  addition: [{ scale: "sqrt", alpha: 0.3, seed: 5, deviation: 0.02, layout: "half" }],
  spectrum: [
    { "scaling-type": "ntk", "scaling-factor": 3, base: 500.5 },
    { "scaling-type": "llama3", "scaling-factor": 8, context: 8192 },
    { "scaling-type": "linear", view: "number", position: 77 },
  ],
  shift: [
    { view: "matrix", base: 0.5, layout: "half", offset: -3.5 },
    { view: "matrix", scheme: "rope", dim: 6 },
  ],
  similarity: [{ metric: "euclidean", base: 100, dim: 6 }],
  decay: [
    { law: "base^-t", base: 3.5 },
    { law: "t^alpha", alpha: 0.7, near: 40 },
  ],
  expansion: [
    { h: "general", base: 10.5, layout: "half", order: "cos-sin", dim: 6 },
    { h: "paired", padIndex: 1 },
  ],
  rotate: [
    { scheme: "xpos", dim: 4 },
    { view: "scores", q: "1 2 3 4 5 6 7 8", layout: "half", "rotary-dim": 4 },
    { view: "layouts", mix: "both", layout: "half" },
  ],
  bias: [
    { view: "profiles", heads: 12, causal: true },
    { scheme: "t5", causal: true, head: 2 },
  ],
};

// The programs of the figures, with what their files hold: of every view, and of the settings above.
function programs() {
  return figures.flatMap((figure) =>
    [...viewsOf(figure), ...(kOtherPrograms[figure.name] ?? [])].flatMap((given, k) => {
      const state = figureState(figure.name, given);
      const code = figure.code?.(state);
      if (code === undefined) return [];
      return [{ name: figure.name, file: `${figure.name}-${k}`, given, code, array: figure.array?.(state) }];
    }),
  );
}

// True where these lists are the array, whole or piece by piece along its first axis; `same` compares two numbers.
function makesArray(made, array, same) {
  const equal = (list, from, length) =>
    list.length === length && list.every((value, k) => same(value, array.data[from + k]));
  if (made.some((list) => equal(list, 0, array.data.length))) return true;
  const part = array.data.length / array.shape[0];
  const piecesOf = (list, total) => Array.from({ length: total }, (_, k) => list.slice(k * part, (k + 1) * part));
  const all = made.flatMap((list) => (list.length % part > 0 ? [] : piecesOf(list, list.length / part)));
  const parts = Array.from({ length: array.shape[0] }, (_, k) => all.some((list) => equal(list, k * part, part)));
  return parts.every(Boolean);
}

describe("the programs beside the figures", () => {
  const folder = join(kRoot, "build/programs");
  const jobs = programs();
  beforeAll(() => mkdirSync(folder, { recursive: true }));

  it("run in JavaScript, and make the numbers of the files", () => {
    for (const { file, code } of jobs) {
      const made = [...code.javascript.matchAll(/^const (\w+|\{[^}]*\}|\[[^\]]*\])\s*=/gm)].flatMap(([, names]) =>
        [...names.replace(/\w+:/g, "").matchAll(/\w+/g)].map(([name]) => name),
      );
      writeFileSync(join(folder, `${file}.mjs`), `${code.javascript}\nexport { ${made.join(", ")} };\n`);
    }
    // As a reader would run them: by Node, with the package.
    const main = `
      const flat = (v) => {
        if (v?.data !== undefined && v?.shape) return [...v.data];
        if (ArrayBuffer.isView(v)) return [...v];
        return Array.isArray(v) ? v.flatMap((one) => (typeof one === "object" ? flat(one) : one)) : [];
      };
      const written = (v) => (Number.isFinite(v) ? v : String(v));
      const out = {};
      for (const file of ${JSON.stringify(jobs.map(({ file }) => file))}) {
        try {
          const made = await import("./" + file + ".mjs");
          const lists = Object.values(made).map(flat).filter((list) => typeof list[0] === "number");
          out[file] = lists.map((list) => list.map(written));
        } catch (error) {
          out[file] = String(error);
        }
      }
      console.log(JSON.stringify(out));`;
    writeFileSync(join(folder, "all.mjs"), main);
    const ran = spawnSync(process.execPath, [join(folder, "all.mjs")], { encoding: "utf8", maxBuffer: 1 << 28 });
    expect(ran.stderr).toBe("");
    const results = JSON.parse(ran.stdout);
    const wrong = jobs.flatMap(({ name, file, given, array }) => {
      const made = results[file];
      const where = `${name} ${JSON.stringify(given)}`;
      if (typeof made === "string") return [`${where}: ${made}`];
      if (!array) return [];
      const as32 = array.data instanceof Float32Array;
      const round = (value) => (Number.isFinite(value) ? (as32 ? Math.fround(value) : value) : String(value));
      const same = (one, other) => round(one) === round(other);
      if (makesArray(made, array, same)) return [];
      return [`${where}: makes other numbers than the array's, ${array.shape}`];
    });
    expect(jobs.length).toBeGreaterThan(figures.length);
    expect(wrong).toEqual([]);
  });

  it("run in NumPy, and make those numbers to its rounding", async () => {
    const programs = await Promise.all(jobs.map(({ code }) => code.numpy?.()));
    const written = jobs.filter((_, k) => programs[k] !== undefined);
    const results = runInNumpy(programs.filter((program) => program !== undefined));
    const wrong = written.flatMap(({ name, given, array }, k) => {
      const where = `${name} ${JSON.stringify(given)}`;
      const made = results[k];
      if (typeof made === "string") return [`${where}: ${made}`];
      if (!array) return [];
      const near = array.data instanceof Float32Array ? 2e-6 : name === "decay" ? 1e-6 : 1e-9;
      // What overflows is infinite there and no number here.
      const beyond = (one, other) => !Number.isFinite(one) && !Number.isFinite(other) && one !== -other;
      const same = (one, other) => beyond(one, other) || Math.abs(one - other) <= near * Math.max(1, Math.abs(other));
      if (makesArray(made, array, same)) return [];
      return [`${where}: makes other numbers than the array's, ${array.shape}`];
    });
    expect(written.length).toBeGreaterThan(20);
    expect(wrong).toEqual([]);
  });
});

describe.each([["light"], ["dark"]])("a page of all figures in %s", (colorScheme) => {
  let opened;
  const page = () => opened.page;
  const drawn = () => page().evaluate(() => globalThis.__figures.allDrawn());
  beforeAll(async () => {
    opened = await visit("all", { colorScheme });
    await drawn();
  });
  afterAll(() => opened?.close());

  it("passes axe in every view", async () => {
    const found = [];
    for (let tab = 0; ; tab++) {
      const having = await page().evaluate((number) => globalThis.__figures.chooseTabs(number), tab);
      if (having.length === 0) break;
      // With everything unfolded the first time; tables are long.
      await page().evaluate(async (open) => {
        for (const element of globalThis.__figures.elements()) {
          for (const details of element.shadowRoot.querySelectorAll("details")) details.open = open;
          if (open) element.shadowRoot.querySelector("[aria-controls=code]").click();
        }
        await globalThis.__figures.allDrawn();
      }, tab === 0);
      found.push(...(await axe(page())).map((line) => `${tab}: ${line}`));
    }
    expect(found).toEqual([]);
  });

  // Blurred after a zoom, or by the smoothing that a resized canvas forgets to leave off (elastic-charts #2875,
  // openseadragon PR #1595).
  it("has a point of the canvas for each of the screen, at any ratio, also after it has changed", async () => {
    const size = page().viewportSize();
    await page().evaluate(() => {
      const { prototype } = CanvasRenderingContext2D;
      const { drawImage } = prototype;
      const images = (globalThis.__images = { sharp: 0, smooth: 0, restore: () => (prototype.drawImage = drawImage) });
      prototype.drawImage = function (...what) {
        images[this.imageSmoothingEnabled ? "smooth" : "sharp"] += 1;
        return drawImage.apply(this, what);
      };
    });
    for (const ratio of [1, 2, 3, 1.25]) {
      // With the ratio alone nothing is rendered here, and what is not rendered tells of nothing.
      const metrics = { width: size.width - 8 * ratio, height: size.height, deviceScaleFactor: ratio, mobile: false };
      await opened.session.send("Emulation.setDeviceMetricsOverride", metrics);
      await drawn();
      const wrong = await page().evaluate(async (expected) => {
        const { elements, part } = globalThis.__figures;
        const off = () =>
          elements().flatMap((element) => {
            const { width, height, clientWidth, clientHeight } = part(element, "canvas");
            const wish = [clientWidth, clientHeight].map((side) => Math.round(side * expected));
            const near = Math.abs(width - wish[0]) <= 1 && Math.abs(height - wish[1]) <= 1;
            return near ? [] : [`${element.localName}: ${width} x ${height} at ratio ${expected}, not ${wish}`];
          });
        // The browser tells of the new ratio when it next renders.
        for (let k = 0; k < 40 && off().length > 0; k++) await new Promise((resolve) => setTimeout(resolve, 25));
        return devicePixelRatio === expected ? off() : [`the ratio is ${devicePixelRatio}`];
      }, ratio);
      expect(wrong).toEqual([]);
    }
    const { sharp, smooth } = await page().evaluate(() => {
      globalThis.__images.restore();
      return globalThis.__images;
    });
    expect(smooth).toBe(0);
    expect(sharp).toBeGreaterThan(0);
    await opened.session.send("Emulation.clearDeviceMetricsOverride");
  });

  it("prints dark on light, without what only a screen can use, within the paper", async () => {
    await page().emulateMedia({ media: "print" });
    const report = await page().evaluate(() => {
      const { elements, part, colours, canvasTexts } = globalThis.__figures;
      // Drawn for paper, words are larger where the window is wider than that: they shrink with the page.
      const tall = () =>
        new Map(canvasTexts(elements()[0]).map(({ words, top, bottom }) => [words, bottom - top]));
      const before = tall();
      dispatchEvent(new Event("beforeprint"));
      // Words that stand in both drawings, whichever view is left open.
      const [words, height] = [...tall()].find(([own]) => before.has(own)) ?? [];
      const grown = height / before.get(words);
      const wide = part(elements()[0], "canvas").clientWidth;
      const wish = Math.max(1, wide / 700);
      if (!(Math.abs(grown / wish - 1) <= 0.06)) return [`words ${grown} times as tall, not ${wish}`];
      // Where the keyboard is, is nothing to paper.
      const ring = (drawing) => {
        drawing.focus({ focusVisible: true });
        const { outlineStyle } = getComputedStyle(drawing);
        drawing.blur();
        return outlineStyle;
      };
      const found = elements().map((element) => {
        const canvas = part(element, "canvas");
        const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
        pen.fillStyle = getComputedStyle(part(element, "title")).color;
        pen.fillRect(0, 0, 1, 1);
        const [r, g, b] = pen.getImageData(0, 0, 1, 1).data;
        const forScreens = "input, select, button:not([aria-selected=true]), summary";
        const controls = element.shadowRoot.querySelectorAll(forScreens);
        return {
          name: element.localName,
          ink: r + g + b < 3 * 100,
          fine: canvas.width >= 2.9 * canvas.clientWidth,
          drawn: colours(canvas).inked > 0.002,
          controls: [...controls].filter((node) => node.checkVisibility()).map((node) => node.outerHTML),
          within: element.getBoundingClientRect().right <= innerWidth,
          paper: part(element, "figure").style.getPropertyValue("--paper"),
          ring: ring(part(element, "drawing")),
        };
      });
      dispatchEvent(new Event("afterprint"));
      return found;
    });
    const well = { ink: true, fine: true, drawn: true, controls: [], within: true, paper: "#ffffff", ring: "none" };
    expect(report).toEqual(names.map((name) => ({ name: `posenc-${name}`, ...well })));
    await page().emulateMedia({ media: "screen" });
    await drawn();
  });

  it("takes the system's colours where they are forced", async () => {
    await page().emulateMedia({ forcedColors: "active" });
    await drawn();
    const look = () => page().evaluate(async () => {
      const { elements, part, colours, allDrawn } = globalThis.__figures;
      await allDrawn();
      const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      const read = (colour, under) => {
        pen.clearRect(0, 0, 1, 1);
        if (under) {
          pen.fillStyle = under;
          pen.fillRect(0, 0, 1, 1);
        }
        pen.fillStyle = colour;
        pen.fillRect(0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data].join();
      };
      return elements().map((element) => {
        const figure = part(element, "figure");
        const role = (name) => read(getComputedStyle(figure).getPropertyValue(`--${name}`));
        const chosen = element.shadowRoot.querySelector("[aria-selected=true]");
        const other = element.shadowRoot.querySelector("[aria-selected=false]");
        const line = (node) => node && read(getComputedStyle(node).borderBottomColor);
        return {
          name: element.localName,
          ink: role("ink") === read("CanvasText"),
          grey: role("grey") === read("CanvasText"),
          paper: role("paper") === read("Canvas"),
          // As it looks, not as it is written: Chromium's lets what is under it shine through.
          accent: role("accent") === read("Highlight", "white"),
          cool: role("cool") === read("LinkText"),
          // Hairlines are no brighter than what is drawn over them.
          faint: role("faint").split(",").every((value, k) => {
            const [paper, ink] = ["Canvas", "CanvasText"].map((name) => Number(read(name).split(",")[k]));
            return Math.abs(2 * value - paper - ink) <= 2 || k === 3;
          }),
          drawn: colours(part(element, "canvas")).inked > 0.002,
          chosen: other === null || (line(chosen) !== line(other) && line(other) === read("Canvas")),
        };
      });
    });
    // The figures hear of it when the browser next renders.
    let report = await look();
    for (let k = 0; k < 100 && report.some(({ ink, paper }) => !ink || !paper); k++) report = await look();
    const roles = { ink: true, grey: true, paper: true, accent: true, cool: true, faint: true };
    const well = { ...roles, drawn: true, chosen: true };
    expect(report).toEqual(names.map((name) => ({ name: `posenc-${name}`, ...well })));
    expect(await axe(page())).toEqual([]);
    await page().emulateMedia({ forcedColors: "none" });
  });

  it("lets no error slip", () => expect(opened.faults).toEqual([]));
});

it("keeps properties that were set before its element was defined, and lets go of them", async () => {
  const { page, faults, close } = await visit("bare");
  const set = figures.map((figure) => {
    const fields = allFields(figure, figureState(figure.name).values, figureState(figure.name).model);
    const some = {};
    for (const field of fields) {
      const value = otherValue(figure, field, some);
      if (value !== undefined && Object.keys(some).length < 3) some[field.name] = value;
    }
    return [figure.name, some, Object.keys(some).map((name) => [name, attributeName(name)])];
  });
  const found = await page.evaluate(async (list) => {
    const made = list.map(([name, some], k) => {
      const element = document.createElement(`posenc-${name}`);
      // As properties of their names, or all at once.
      if (k % 2 === 0) Object.assign(element, some);
      else element.value = some;
      document.querySelector("main").append(element);
      return element;
    });
    const script = Object.assign(document.createElement("script"), { type: "module", src: "/elements.js" });
    await new Promise((resolve) => {
      script.onload = resolve;
      document.head.append(script);
    });
    const out = [];
    for (const [k, element] of made.entries()) {
      await element.drawn;
      const { words } = globalThis.__figures;
      const one = { words: words(element), values: { ...element.value } };
      // What frameworks do to take a property back; a scheme's settings have none.
      for (const [name, attribute] of list[k][2]) {
        if (name in element) element[name] = k % 2 === 0 ? null : undefined;
        else element.removeAttribute(attribute);
      }
      await element.drawn;
      const attributes = element.getAttributeNames().filter((name) => name !== "style");
      out.push({ ...one, after: words(element), attributes });
    }
    return out;
  }, set);
  set.forEach(([name, some], k) => {
    expect(found[k].values, name).toMatchObject(some);
    expect(found[k].words, name).toEqual(wordsOf(figures[k], found[k].values));
    expect(found[k].attributes, name).toEqual([]);
    expect(found[k].after, name).toEqual(wordsOf(figures[k], figureState(name).values));
  });
  expect(faults).toEqual([]);
  await close();
});

it("stands fifty times on one page, and leaves nothing behind when taken away", async () => {
  const { page, session, faults, close } = await visit("fifty", {}, [countListeners]);
  const drawn = await page.evaluate(async () => {
    const { elements, part, colours } = globalThis.__figures;
    const report = [];
    for (const element of elements()) {
      element.scrollIntoView();
      for (let k = 0; k < 1000 && part(element, "canvas").width === 300; k++) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      await element.drawn;
      report.push(colours(part(element, "canvas")).inked > 0.002);
    }
    return report;
  });
  expect(drawn).toEqual(fifty.map(() => true));
  const left = await page.evaluate(async () => {
    const before = globalThis.__listening();
    const { elements, part } = globalThis.__figures;
    globalThis.__refs = elements().flatMap((element) => [new WeakRef(element), new WeakRef(part(element, "canvas"))]);
    document.querySelector("main").replaceChildren();
    return { before, after: globalThis.__listening(), refs: globalThis.__refs.length };
  });
  expect(left.before.length).toBeGreaterThan(fifty.length);
  expect(left.refs).toBe(2 * fifty.length);
  expect(left.after).toEqual([]);
  await session.send("HeapProfiler.enable");
  let alive = -1;
  // What a frame or a timer still holds goes with a later round.
  for (let round = 0; round < 60 && alive !== 0; round++) {
    if (round > 0) await new Promise((resolve) => setTimeout(resolve, 50 + 10 * round));
    await session.send("HeapProfiler.collectGarbage");
    alive = await page.evaluate(() => globalThis.__refs.filter((ref) => ref.deref() !== undefined).length);
  }
  expect(alive).toBe(0);
  expect(faults).toEqual([]);
  await close();
});

// Counts what listens to the page as a whole: types of events, one a listener.
function countListeners() {
  const open = [];
  const global = (target) => target === window || target === document || target instanceof MediaQueryList;
  const without = (target, type, listener) => {
    const at = open.findIndex((one) => one.target === target && one.type === type && one.listener === listener);
    if (at >= 0) open.splice(at, 1);
  };
  for (const prototype of [EventTarget.prototype, MediaQueryList.prototype]) {
    if (!Object.hasOwn(prototype, "addEventListener")) continue;
    const { addEventListener: add, removeEventListener: remove } = prototype;
    prototype.addEventListener = function (type, listener, options) {
      const target = this ?? window;
      if (global(target)) {
        without(target, type, listener);
        open.push({ target, type, listener });
        // Comes once, and is not waited for.
        if (type === "load") open.pop();
      }
      return add.call(target, type, listener, options);
    };
    prototype.removeEventListener = function (type, listener, options) {
      without(this ?? window, type, listener);
      return remove.call(this ?? window, type, listener, options);
    };
  }
  globalThis.__listening = () => open.map(({ type }) => type);
}

// Another value than the figure begins with, that it can be drawn with; undefined where none was found.
function otherValue(figure, field, given = {}) {
  const { values, model } = figureState(figure.name, given);
  const now = values[field.name];
  const tries = [];
  if (field.kind === "flag") tries.push(now !== true);
  if (field.kind === "choice") tries.push(...field.choices.map(({ value }) => value).filter((value) => value !== now));
  if (field.kind === "text" && typeof now === "string" && now !== "") tries.push(`${now} ${now}`, `${now}1`);
  if (field.kind === "range") {
    const middle = Number(now ?? field.min);
    const step = field.integer === true ? 1 : (field.step ?? (field.max - field.min) / 16);
    tries.push(middle + step, middle + 2 * step, middle - step, middle - 2 * step, 1, 2);
  }
  for (const value of tries) {
    if (value === now) continue;
    try {
      const state = figureState(figure.name, { ...given, [field.name]: value });
      // The cursor has a place of its own where a figure has one.
      if (state.values[field.name] === value) return value;
    } catch {
      // The next one, then.
    }
  }
  return undefined;
}

function parseCsv(text) {
  const rows = [];
  let row = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === "\n") {
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

function sameNumbers(a, b) {
  return a.constructor === b.constructor && a.length === b.length && a.every((value, k) => Object.is(value, b[k]));
}
