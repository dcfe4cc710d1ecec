// Which settings of which figure hold a page up, in headless Chromium.
//   node tests/bench/blocking.mjs [--over 200] [--pairs] [figure …]
// Every figure is drawn in each of its views, under each of its schemes, with each number at the ends of its slider and
// of its attribute, each other choice as it comes and with all sliders at their far ends, and with --pairs every two
// numbers at theirs. What has no end is raised fourfold till it is refused. Tells of each setting in which a task of
// the page's own thread took longer than --over milliseconds, the best of three drawings, the longest first.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileAddress, kDist, launch, open } from "../browser/harness.mjs";
import { builtFigures } from "../browser/figures.mjs";
import { sourceModule } from "../../web/pages.mjs";

const args = process.argv.slice(2);
const taken = (name, after) => {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args.splice(at, after + 1)[after];
};
const over = Number(taken("--over", 1) ?? 200);
const inPairs = taken("--pairs", 0) !== undefined;
const kPatience = 60_000; // milliseconds for one drawing; what takes longer is told as if it had taken this
const kLadder = [64, 256, 1024, 4096, 16384, 65536, 262144, 1048576];

const { attributeName } = await sourceModule("../figures/figure.ts");

function fieldsOf(figure, given) {
  const values = { ...given };
  let fields = [];
  for (let round = 0; round < 8; round++) {
    const tabs = figure.tabs?.(values, undefined);
    fields = [...(tabs ? [tabs] : []), ...figure.fields(values).filter(({ name }) => name !== tabs?.name)];
    const fresh = fields.filter(({ name }) => !(name in values));
    if (fresh.length === 0) break;
    for (const { name, value } of fresh) values[name] = value;
  }
  return fields;
}

const isCursor = ({ kind, place, least, most }) =>
  kind === "range" && place === "none" && least === null && most === null;

/** The ends of a number: lists of values, each tried till one is refused. */
function endsOf({ min, max, least = min, most = max, integer }) {
  const ends = [[min], [max]];
  if (least !== null && least !== min) ends.push([least]);
  if (most !== null && most !== max) ends.push([most]);
  if (most === null && integer) ends.push(kLadder.filter((value) => value > max));
  return ends;
}

function* statesOf(figure) {
  const seen = new Set();
  const fresh = (state) => {
    const key = JSON.stringify(Object.entries(state).sort());
    return seen.has(key) ? false : (seen.add(key), true);
  };
  const first = fieldsOf(figure, {});
  const tabs = figure.tabs?.({}, undefined);
  const choices = (name) => first.find((field) => field.name === name && field.kind === "choice")?.choices ?? [];
  const views = tabs ? tabs.choices.map(({ value }) => ({ [tabs.name]: value })) : [{}];
  const schemes = choices("scheme").length > 0 ? choices("scheme").map(({ value }) => ({ scheme: value })) : [{}];
  for (const view of views) {
    for (const scheme of schemes) {
      const base = { ...view, ...scheme };
      const bases = [base];
      for (const { kind, name, choices: own = [], value } of fieldsOf(figure, base)) {
        if (name in base) continue;
        if (kind === "choice") bases.push(...own.map((one) => ({ ...base, [name]: one.value })));
        if (kind === "flag") bases.push({ ...base, [name]: !value });
      }
      for (const start of bases) {
        const numbers = fieldsOf(figure, start).filter((field) => field.kind === "range" && !isCursor(field));
        const sliders = numbers.filter(({ place }) => place !== "none");
        if (fresh(start)) yield [start];
        const far = { ...start, ...Object.fromEntries(sliders.map(({ name, max }) => [name, max])) };
        if (fresh(far)) yield [far];
        if (start !== base) continue;
        for (const number of numbers) {
          for (const end of endsOf(number)) {
            const steps = end.map((value) => ({ ...start, [number.name]: value })).filter(fresh);
            if (steps.length > 0) yield steps;
          }
        }
        if (!inPairs) continue;
        for (const [i, one] of numbers.entries()) {
          for (const other of numbers.slice(i + 1)) {
            const last = (field) => endsOf(field).at(-1).at(-1);
            const [x, y] = [last(one), last(other)];
            // The first at its far end, the second as far as it goes, and the other way round.
            for (const [a, b, far, to] of [[one, other, x, y], [other, one, y, x]]) {
              const rungs = [64, 16, 4, 1].map((part) => Math.floor(to / part)).filter((value) => value >= b.min);
              const steps = rungs.map((value) => ({ ...start, [a.name]: far, [b.name]: value })).filter(fresh);
              if (steps.length > 0) yield steps;
            }
          }
        }
      }
    }
  }
}

// In the page: the longest task of one drawing, in milliseconds, and what the figure says of it.
async function measure({ name, state, patience }) {
  const tag = `posenc-${name}`;
  let element = document.querySelector(tag);
  if (!element) {
    document.body.replaceChildren((element = document.createElement(tag)));
    element.setAttribute("loading", "eager");
    await element.drawn;
  }
  const turn = () => new Promise((resolve) => setTimeout(resolve));
  const observer = new PerformanceObserver(() => {});
  await turn();
  await turn();
  observer.observe({ type: "longtask" });
  for (const { name: own } of [...element.attributes]) if (own !== "loading") element.removeAttribute(own);
  for (const [key, value] of Object.entries(state)) element.setAttribute(key, String(value));
  const late = new Promise((resolve) => setTimeout(() => resolve("late"), patience));
  const outcome = await Promise.race([element.drawn, late]);
  await new Promise((resolve) => requestAnimationFrame(resolve));
  for (let k = 0; k < 3; k++) await turn();
  const tasks = observer.takeRecords().map(({ duration }) => duration);
  observer.disconnect();
  const fault = element.shadowRoot.querySelector("[part~=error]");
  const refused = fault.hidden ? "" : element.shadowRoot.querySelector("[role=alert]").textContent;
  if (outcome === "late") element.remove();
  return { longest: outcome === "late" ? patience : Math.max(0, ...tasks), refused };
}

const browser = await launch();
const folder = mkdtempSync(join(tmpdir(), "posenc-blocking-"));
const file = join(folder, "page.html");
const script = fileAddress(join(kDist, "posenc.js"));
writeFileSync(file, `<!doctype html><meta charset="utf-8"><title>t</title><script src="${script}"></script><body style="width:880px">`);
const found = [];
let settings = 0;
try {
  const figures = (await builtFigures()).filter(({ name }) => args.length === 0 || args.includes(name));
  for (const figure of figures) {
    const opened = await open(browser, fileAddress(file));
    const { name } = figure;
    const ask = (state) => {
      const plain = Object.fromEntries(Object.entries(state).map(([key, value]) => [attributeName(key), value]));
      return opened.page.evaluate(measure, { name, state: plain, patience: kPatience });
    };
    const before = [settings, found.length];
    for (const steps of statesOf(figure)) {
      for (const state of steps) {
        settings++;
        const { longest, refused } = await ask(state);
        if (longest > over) {
          // Once more, of other settings' garbage and of a busy machine.
          const again = [longest];
          for (let k = 0; k < 2 && longest < 5000; k++) {
            await ask({});
            again.push((await ask(state)).longest);
          }
          const best = Math.min(...again);
          if (best > over) found.push({ name, state, best, refused });
          if (best > over) console.error(`${best.toFixed(0).padStart(6)} ms  ${name} ${JSON.stringify(state)} ${refused}`);
          if (best > 5000) break;
        }
        if (refused) break;
      }
    }
    console.log(`${name}: ${settings - before[0]} settings, ${found.length - before[1]} over ${over} ms`);
    await opened.close();
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
found.sort((a, b) => b.best - a.best);
for (const { name, state, best, refused } of found) {
  console.log(`${best.toFixed(0).padStart(6)} ms  posenc-${name} ${JSON.stringify(state)}${refused ? ` (refused: ${refused})` : ""}`);
}
