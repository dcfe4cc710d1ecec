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
const kCategories = ["devtools.timeline", "blink.user_timing", "toplevel"];
const kStep = 400; // pixels of a turn of the wheel
const kRest = 700; // milliseconds, in which nothing more is asked of a page, for that too would hold it up

// What Chromium tells of one visit, in microseconds.
async function traced(browser, visit) {
  const session = await browser.newBrowserCDPSession();
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", { traceConfig: { includedCategories: kCategories } });
  const context = await browser.newContext({ viewport: kWindow });
  const page = await context.newPage();
  await page.addInitScript(() => addEventListener("posenc-ready", () => performance.mark("first figure"), true));
  await visit(page);
  const told = new Promise((done) => session.once("Tracing.tracingComplete", done));
  await session.send("Tracing.end");
  await told;
  await context.close();
  await session.detach();
  events.sort((a, b) => a.ts - b.ts);
  const script = events.find(({ name, args: { data } }) => name === "EvaluateScript" && /\/posenc\.js/.test(data?.url));
  return { script, own: events.filter(({ pid, tid }) => pid === script?.pid && tid === script?.tid) };
}

async function firstFigure(browser, address) {
  const { script, own } = await traced(browser, async (page) => {
    await page.goto(address, { waitUntil: "load" });
    await page.waitForTimeout(kRest);
  });
  const figure = own.find(({ name }) => name === "first figure");
  if (!figure) throw new Error(`${address} has drawn no figure.`);
  return { passed: (figure.ts - script.ts) / 1000, thread: (figure.tts - script.tts) / 1000 };
}

async function longestTask(browser, address) {
  const { script, own } = await traced(browser, async (page) => {
    await page.goto(address, { waitUntil: "load" });
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    for (let y = 0; y < height; y += kStep) {
      await page.mouse.wheel(0, kStep);
      await page.waitForTimeout(30);
    }
    await page.waitForTimeout(kRest);
  });
  const tasks = own.filter(({ name, ts }) => /::RunTask$/.test(name) && ts > script.ts + script.dur);
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
