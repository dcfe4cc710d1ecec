// How soon a page's first figure stands, and how long a page that is being read is held up, in headless Chromium.
//   node tests/bench/starting.mjs [--rounds 11] [folder …]
//     folders like dist/site, the default, are taken in turns: an older build beside a newer one
// From the first statement of posenc.js to the first `posenc-ready`, over http and from disk; then the longest task
// while the chapter is scrolled from the moment it has loaded. "thread" is what the page's own thread computed
// meanwhile: unlike the time that passed, it says the same on a busy machine. Medians, and the best in brackets.
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { kSite, launch, serveFolder } from "../browser/harness.mjs";
import { median } from "./race.mjs";

const args = process.argv.slice(2);
const at = args.indexOf("--rounds");
const rounds = at < 0 ? 11 : Number(args.splice(at, 2)[1]);
if (!Number.isInteger(rounds) || rounds < 1) throw new RangeError("--rounds takes a whole number from 1.");
const folders = (args.length > 0 ? args : [kSite]).map((folder) => resolve(folder));

const kWindow = { width: 1100, height: 900 };
// Tasks of a page's own thread, what scripts do in them, and marks.
const kCategories = ["disabled-by-default-devtools.timeline", "devtools.timeline", "blink.user_timing"];
const kStep = 800; // pixels of a turn of the wheel
const kTurn = 30; // milliseconds between two of them
const kRest = 700; // milliseconds, in which nothing more is asked of a page, for that too would hold it up
const kPatience = 30_000; // milliseconds for any one thing that is waited for

// A wait that ends: what never comes is named, and does not keep those who measure.
async function within(what, promise) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`${what} has not come in ${kPatience / 1000} s.`)), kPatience);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

// Of one visit, what Chromium tells of the page's own thread, in microseconds. The page is asked and not the browser:
// that one waits some ten seconds for processes that are about to end, before it begins and again before it has ended.
async function traced(browser, address, visit) {
  const context = await within("A window", browser.newContext({ viewport: kWindow }));
  try {
    const page = await within("A page", context.newPage());
    page.setDefaultTimeout(kPatience);
    // The mark stands before it is told: a page that is asked meanwhile would be held up.
    await page.addInitScript(() => {
      for (const type of ["posenc-ready", "posenc-error"]) {
        const told = ({ detail }) => {
          performance.mark(type);
          console.debug(type, String(detail?.error ?? ""));
        };
        addEventListener(type, told, { capture: true, once: true });
      }
    });
    const session = await context.newCDPSession(page);
    const events = [];
    session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
    const end = new Promise((done) => session.once("Tracing.tracingComplete", done));
    const traceConfig = { includedCategories: kCategories };
    await within("The beginning of the trace", session.send("Tracing.start", { traceConfig }));
    const figure = page.waitForEvent("console", {
      predicate: (message) => /^posenc-(ready|error)/.test(message.text()),
      timeout: 0,
    });
    figure.catch(() => undefined); // it is awaited below, where the page has been opened
    await page.goto(address, { waitUntil: "commit" });
    const told = (await within(`The first figure of ${address}`, figure)).text();
    if (!told.startsWith("posenc-ready")) throw new Error(`${address} has drawn no figure: ${told}`);
    await visit(page);
    await within("Word that the trace will end", session.send("Tracing.end"));
    await within("The end of the trace", end);
    events.sort((a, b) => a.ts - b.ts);
    const isScript = ({ name, args }) => name === "EvaluateScript" && /\/posenc\.js/.test(args.data?.url);
    const script = events.find(isScript);
    if (!script) throw new Error(`The trace of ${address} does not tell of posenc.js.`);
    return { script, own: events.filter(({ pid, tid }) => pid === script.pid && tid === script.tid) };
  } finally {
    await within("The end of the page", context.close());
  }
}

async function firstFigure(browser, address) {
  const { script, own } = await traced(browser, address, () => undefined);
  const figure = own.find(({ name }) => name === "posenc-ready");
  if (!figure) throw new Error(`The trace of ${address} does not tell of the first figure.`);
  return { passed: (figure.ts - script.ts) / 1000, thread: (figure.tts - script.tts) / 1000 };
}

async function longestTask(browser, address) {
  const { script, own } = await traced(browser, address, async (page) => {
    await page.waitForLoadState("load");
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    for (let y = 0; y < height; y += kStep) {
      await within("A turn of the wheel", page.mouse.wheel(0, kStep));
      await page.waitForTimeout(kTurn);
    }
    await page.waitForTimeout(kRest);
  });
  const tasks = own.filter(({ name, ts }) => name === "RunTask" && ts > script.ts + script.dur);
  if (tasks.length === 0) throw new Error(`The trace of ${address} does not tell of tasks.`);
  const most = (key) => tasks.reduce((longest, task) => Math.max(longest, task[key] ?? 0), 0) / 1000;
  return { passed: most("dur"), thread: most("tdur") };
}

const browser = await launch();
const servers = await Promise.all(folders.map((folder) => serveFolder(folder)));
const onDisk = (folder, file) => pathToFileURL(`${folder}/${file}`).href;
const kinds = [
  ["chapter, first figure", firstFigure, (_, k) => `${servers[k].address}index.html`],
  ["chapter from disk, first figure", firstFigure, (folder) => onDisk(folder, "index.html")],
  ["gallery, first figure", firstFigure, (_, k) => `${servers[k].address}gallery.html`],
  ["chapter, longest task while scrolled", longestTask, (_, k) => `${servers[k].address}index.html`],
];
try {
  for (const [name, measure, addressOf] of kinds) {
    const rows = folders.map(() => []);
    for (let round = 0; round < rounds; round++) {
      for (const [k, folder] of folders.entries()) rows[k].push(await measure(browser, addressOf(folder, k)));
    }
    for (const [k, folder] of folders.entries()) {
      const told = (key) => {
        const values = rows[k].map((row) => row[key]);
        return `${median(values).toFixed(0)} ms (${Math.min(...values).toFixed(0)})`;
      };
      const whose = folders.length > 1 ? `, ${basename(resolve(folder, ".."))}/${basename(folder)}` : "";
      console.log(`${name}${whose}: ${told("passed")}, thread ${told("thread")}`);
    }
  }
} finally {
  await browser.close();
  for (const server of servers) await server.close();
}
