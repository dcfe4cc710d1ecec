// npm run bench: times the public API beside its peers, plain and tuned loops, and the machine's peak, in one run.
//   node tests/bench/run.mjs [--rounds 15] [--chromium] [--no-peers] [--keep] [--sizes 64,512,1024,2048,8x512]
//                            [--only attention|slots|kernels|tables|rope|schemes|analyses|cold|long|workers|large]
//     --chromium  in Chromium rather than in Node;  --keep  appends the rows to tests/bench/results/
//     --sizes     of attention, only these;  kernels: product, softmax and cosine similarity
//     --workers   as --only workers: attention on two workers, which wants two cores that nothing else uses
// Groups are printed, and kept, as they are done.
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { measureAnalyses } from "./analyses.mjs";
import { measureBeside } from "./beside.mjs";
import { measureLargeFigures } from "./heat-map.mjs";
import { measureLong, measureLongOnWorkers } from "./long.mjs";
import { median } from "./race.mjs";
import { measureSchemes } from "./schemes.mjs";
import { measureWorkers } from "./workers.mjs";

const kRoot = join(import.meta.dirname, "../..");
const kColumns = "date,version,engine,machine,rounds,group,name,ms,best_ms,gflops,of_peak,times_the_first,mib";
const kPeers = join(import.meta.dirname, "peers");

const args = process.argv.slice(2);
const flag = (name) => args.includes(name);
const option = (name, fallback) => (flag(name) ? args[args.indexOf(name) + 1] : fallback);
const rounds = Number(option("--rounds", 15));
const only = flag("--workers") ? "workers" : option("--only", "");
const sizes = option("--sizes", "").split(",").filter(Boolean);
const kKinds =
  ["attention", "slots", "kernels", "tables", "rope", "schemes", "analyses", "cold", "long", "workers", "large"];
if (only !== "" && !kKinds.includes(only)) {
  console.error(`--only takes one of ${kKinds.join(", ")}.`);
  process.exit(1);
}
if (!Number.isInteger(rounds) || rounds < 1) {
  console.error("--rounds takes a whole number from 1.");
  process.exit(1);
}
if (!existsSync(join(kRoot, "dist/index.js"))) {
  const { build } = await import("../../web/build.mjs");
  await build();
}
const kAlone = ["slots", "rope", "schemes", "analyses", "workers", "cold", "long", "large"];
const withPeers = !flag("--no-peers") && !kAlone.includes(only);
if (withPeers && !existsSync(join(kPeers, "node_modules"))) {
  execFileSync("npm", ["ci", "--ignore-scripts"], { cwd: kPeers, stdio: "inherit" });
}
const kernelFile = join(kRoot, "build/cpp/web/posenc_kernels.wasm");
execFileSync("cmake", ["--build", "--preset", "web", "--target", "posenc_kernels"], { cwd: kRoot, stdio: "ignore" });
const kernels = readFileSync(kernelFile);

// Fresh processes, one after the other.
function coldRows() {
  const times = Array.from({ length: rounds }, () =>
    JSON.parse(execFileSync(process.execPath, [join(import.meta.dirname, "cold.mjs")], { encoding: "utf8" })),
  );
  const names = { imported: "import", first: "first attention(), 128 x 64", second: "second attention()" };
  return Object.entries(names).map(([key, name]) => ({
    group: "a fresh process",
    name,
    ms: median(times.map((time) => time[key])),
    best: Math.min(...times.map((time) => time[key])),
  }));
}

async function inNode(report) {
  const engine = `Node ${process.versions.node} (V8 ${process.versions.v8})`;
  const put = (rows) => report(engine, rows);
  const posenc = await import(pathToFileURL(join(kRoot, "dist/index.js")).href);
  if (only === "" || only === "long") {
    put(measureLong(posenc));
    const later = await import(pathToFileURL(join(kRoot, "dist/worker.js")).href);
    put(await measureLongOnWorkers(posenc, later, () => process.memoryUsage.rss()));
  }
  if (only === "" || only === "cold") put(coldRows());
  let peers;
  if (withPeers) {
    const { loadPeers } = await import("./peers/load.mjs");
    peers = await loadPeers({ tfAssets: join(kPeers, "node_modules/@tensorflow/tfjs-backend-wasm/dist/") });
  }
  await measureBeside({ posenc, peers, kernels }, { rounds, only, sizes, report: put });
  if (only === "" || only === "schemes") put(await measureSchemes(posenc, { rounds }));
  if (only === "" || only === "analyses") put(await measureAnalyses(posenc, { rounds }));
  if (only === "workers") {
    const later = await import(pathToFileURL(join(kRoot, "dist/worker.js")).href);
    put(await measureWorkers(posenc, later, { rounds }));
  }
}

async function inChromium(report) {
  const { launch, open, serveFolder } = await import("../browser/harness.mjs");
  const { build } = await import("esbuild");
  const bundled = await build({
    stdin: {
      contents: `export { measureBeside } from "./beside.mjs"; export { measureSchemes } from "./schemes.mjs";
        export { measureAnalyses } from "./analyses.mjs";
        export { measureLong } from "./long.mjs";
        export { measureWorkers } from "./workers.mjs";
        export ${withPeers ? '{ loadPeers } from "./peers/load.mjs"' : "const loadPeers = () => undefined"};`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    logLevel: "error",
    external: ["fs", "path", "util", "crypto", "perf_hooks", "os", "worker_threads", "module", "url"],
  });
  const extra = {
    "/page": { body: "<!doctype html><title>bench</title>" },
    "/bench.js": { type: "text/javascript", body: bundled.outputFiles[0].text },
    "/kernels.wasm": { type: "application/wasm", body: kernels },
  };
  const asset = (prefix, folder, name) => {
    extra[`${prefix}${name}`] = {
      type: name.endsWith(".wasm") ? "application/wasm" : "text/javascript",
      body: readFileSync(join(folder, name)),
    };
  };
  if (withPeers) {
    const ort = join(kRoot, "node_modules/onnxruntime-web/dist");
    for (const name of ["ort-wasm-simd-threaded", "ort-wasm-simd-threaded.jsep", "ort-wasm-simd-threaded.asyncify"]) {
      for (const end of ["mjs", "wasm"]) asset("/ort/", ort, `${name}.${end}`);
    }
    asset("/tf/", join(kPeers, "node_modules/@tensorflow/tfjs-backend-wasm/dist"), "tfjs-backend-wasm-simd.wasm");
  }
  const browser = await launch();
  // A page of its own world has a clock twenty times finer.
  const headers = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
  const server = await serveFolder(join(kRoot, "dist"), { headers, extra });
  try {
    const { page } = await open(browser, `${server.address}page`);
    page.on("console", (message) => console.warn(message.text()));
    const engine = `Chromium ${browser.version()}`;
    if (only === "" || only === "large") report(engine, await measureLargeFigures({ rounds }));
    await page.exposeFunction("put", (rows) => report(engine, rows));
    await page.evaluate(
      `(async () => {
        const posenc = await import("/index.js");
        const bench = await import("/bench.js");
        const kernels = new Uint8Array(await (await fetch("/kernels.wasm")).arrayBuffer());
        const peers = ${withPeers} ? await bench.loadPeers({ tfAssets: "/tf/", ortAssets: "/ort/" }) : undefined;
        const [rounds, only, sizes, report] = [${rounds}, ${JSON.stringify(only)}, ${JSON.stringify(sizes)}, put];
        if (only === "" || only === "long") await put(bench.measureLong(posenc));
        await bench.measureBeside({ posenc, peers, kernels }, { rounds, only, sizes, report });
        if (only === "" || only === "schemes") await put(await bench.measureSchemes(posenc, { rounds }));
        if (only === "" || only === "analyses") await put(await bench.measureAnalyses(posenc, { rounds }));
        if (only === "workers") {
          await put(await bench.measureWorkers(posenc, await import("/worker.js"), { rounds }));
        }
      })()`,
    );
  } finally {
    await browser.close();
    await server.close();
  }
}

const { version } = JSON.parse(readFileSync(join(kRoot, "package.json"), "utf8"));
const machine = `${cpus()[0]?.model.trim() ?? "unknown"} x ${cpus().length}`;
const date = new Date().toISOString().slice(0, 10);
const number = (value, digits) => (value === undefined ? "" : value.toFixed(digits));
const results = join(import.meta.dirname, "results/peers.csv");

function keep(engine, row) {
  const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const cells = [date, version, quoted(engine), quoted(machine), row.rounds ?? rounds, quoted(row.group)];
  cells.push(quoted(row.name), number(row.ms, 4), number(row.best, 4), number(row.gflops, 2), number(row.peak, 3));
  appendFileSync(results, `${[...cells, number(row.ratio, 3), number(row.mib, 1)].join(",")}\n`);
}

let group;
function print(engine, rows) {
  if (group === undefined) {
    console.log(`posenc ${version}, ${engine}, ${machine}, ${date}; medians of ${rounds} interleaved runs`);
  }
  for (const row of rows) {
    if (row.group !== group) {
      group = row.group;
      console.log(`\n${group}\n\n| | ms | best | GFLOP/s | of peak | times the first |\n|---|---|---|---|---|---|`);
    }
    const name = row.rounds !== undefined && row.rounds < rounds ? `${row.name} (${row.rounds} runs)` : row.name;
    const peak = row.peak === undefined ? "" : `${number(100 * row.peak, 0)} %`;
    const cells = [name, number(row.ms, 3), number(row.best, 3), number(row.gflops, 1), peak, number(row.ratio, 2)];
    console.log(`| ${cells.join(" | ")} |${row.mib === undefined ? "" : ` ${number(row.mib, 0)} MiB`}`);
    if (flag("--keep")) keep(engine, row);
  }
}

if (flag("--keep")) {
  mkdirSync(join(results, ".."), { recursive: true });
  if (!existsSync(results)) appendFileSync(results, `${kColumns}\n`);
}
await (flag("--chromium") ? inChromium(print) : inNode(print));
if (group === undefined) {
  console.error(`Nothing was measured${flag("--chromium") ? ": cold is of Node alone" : ""}.`);
  process.exit(1);
}
if (flag("--keep")) console.log("\nkept in tests/bench/results/peers.csv");
// Libraries in here keep threads that would hold up the end.
process.exit(0);
