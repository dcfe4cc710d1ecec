// npm run bench: times the public API against plain loops and against the machine's peak, side by side in one run.
//   node tests/bench/run.mjs [--rounds 15] [--chromium] [--workers] [--keep]
//     --chromium  in Chromium rather than in Node;  --keep  appends the rows to tests/bench/results/
//     --workers   only attention on two workers, which wants two cores that nothing else uses
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { measure } from "./cases.mjs";
import { measureWorkers } from "./workers.mjs";

const kRoot = join(import.meta.dirname, "../..");

const args = process.argv.slice(2);
const flag = (name) => args.includes(name);
const rounds = flag("--rounds") ? Number(args[args.indexOf("--rounds") + 1]) : 15;
if (!Number.isInteger(rounds) || rounds < 1) {
  console.error("--rounds takes a whole number from 1.");
  process.exit(1);
}
if (!existsSync(join(kRoot, "dist/index.js"))) {
  const { build } = await import("../../web/build.mjs");
  await build();
}

async function inChromium() {
  const { launch, open, serveFolder } = await import("../browser/harness.mjs");
  const browser = await launch();
  const extra = { "/page": { body: "<!doctype html><title>bench</title>" } };
  for (const name of ["cases.mjs", "peak.mjs", "workers.mjs"]) {
    extra[`/${name}`] = { type: "text/javascript", body: readFileSync(join(import.meta.dirname, name), "utf8") };
  }
  const server = await serveFolder(join(kRoot, "dist"), { extra });
  try {
    const { page } = await open(browser, `${server.address}page`);
    const rows = await page.evaluate(`(async () => {
      const posenc = await import("/index.js");
      if (!${flag("--workers")}) return (await import("/cases.mjs")).measure(posenc, { rounds: ${rounds} });
      const { measureWorkers } = await import("/workers.mjs");
      return measureWorkers(posenc, await import("/worker.js"), { rounds: ${rounds} });
    })()`);
    return { engine: `Chromium ${browser.version()}`, rows };
  } finally {
    await browser.close();
    await server.close();
  }
}

async function inNode() {
  const [posenc, later] = await Promise.all(
    ["index", "worker"].map((name) => import(pathToFileURL(join(kRoot, `dist/${name}.js`)).href)),
  );
  return {
    engine: `Node ${process.versions.node} (V8 ${process.versions.v8})`,
    rows: flag("--workers") ? await measureWorkers(posenc, later, { rounds }) : measure(posenc, { rounds }),
  };
}

const { engine, rows } = flag("--chromium") ? await inChromium() : await inNode();

const { version } = JSON.parse(readFileSync(join(kRoot, "package.json"), "utf8"));
const machine = `${cpus()[0]?.model.trim() ?? "unknown"} x ${cpus().length}`;
const date = new Date().toISOString().slice(0, 10);
const number = (value, digits) => (value === undefined ? "" : value.toFixed(digits));

console.log(`posenc ${version}, ${engine}, ${machine}, ${date}; medians of ${rounds} interleaved runs\n`);
let group = "";
for (const row of rows) {
  if (row.group !== group) {
    group = row.group;
    console.log(`\n${group}\n\n| | ms | GFLOP/s | of peak | times faster than |\n|---|---|---|---|---|`);
  }
  const faster =
    row.ratio === undefined
      ? ""
      : `${number(row.ratio, 1)} (${row.against})` +
        (row.hoisted === undefined ? "" : `, ${number(row.hoisted, 1)} (frequencies hoisted)`);
  console.log(
    `| ${row.name} | ${number(row.ms, 3)} | ${number(row.gflops, 1)} | ${row.peak === undefined ? "" : `${number(100 * row.peak, 0)} %`} | ${faster} |`,
  );
}

if (flag("--keep")) {
  const folder = join(import.meta.dirname, "results");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "bench.csv");
  if (!existsSync(file))
    appendFileSync(file, "date,version,engine,machine,rounds,group,name,ms,gflops,of_peak,times_plain,times_hoisted\n");
  const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
  for (const row of rows) {
    appendFileSync(
      file,
      `${[
        date,
        version,
        quoted(engine),
        quoted(machine),
        rounds,
        quoted(row.group),
        quoted(row.name),
        number(row.ms, 4),
        number(row.gflops, 2),
        number(row.peak, 3),
        number(row.ratio, 2),
        number(row.hoisted, 2),
      ].join(",")}\n`,
    );
  }
  console.log("\nkept in tests/bench/results/bench.csv");
}
