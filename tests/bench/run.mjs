// npm run bench: times the public API beside its peers, plain and tuned loops, and the machine's peak, in one run.
//   node tests/bench/run.mjs [--rounds 15] [--chromium] [--no-peers] [--keep]
//                            [--only attention|slots|kernels|tables|rope|schemes|analyses|cold|long]
//     --chromium  in Chromium rather than in Node;  --keep  appends the rows to tests/bench/results/
//     --workers   only attention on two workers, which wants two cores that nothing else uses
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { measureAnalyses } from "./analyses.mjs";
import { measureBeside } from "./beside.mjs";
import { measureLong } from "./long.mjs";
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
if (!Number.isInteger(rounds) || rounds < 1) {
  console.error("--rounds takes a whole number from 1.");
  process.exit(1);
}
if (!existsSync(join(kRoot, "dist/index.js"))) {
  const { build } = await import("../../web/build.mjs");
  await build();
}
const kAlone = ["slots", "rope", "schemes", "analyses", "workers", "cold", "long"];
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

async function inNode() {
  const posenc = await import(pathToFileURL(join(kRoot, "dist/index.js")).href);
  const rows = [];
  if (only === "" || only === "long") rows.push(...measureLong(posenc));
  if (only === "" || only === "cold") rows.push(...coldRows());
  let peers;
  if (withPeers) {
    const { loadPeers } = await import("./peers/load.mjs");
    peers = await loadPeers({ tfAssets: join(kPeers, "node_modules/@tensorflow/tfjs-backend-wasm/dist/") });
  }
  rows.push(...(await measureBeside({ posenc, peers, kernels }, { rounds, only })));
  if (only === "" || only === "schemes") rows.push(...(await measureSchemes(posenc, { rounds })));
  if (only === "" || only === "analyses") rows.push(...(await measureAnalyses(posenc, { rounds })));
  if (only === "workers") {
    const later = await import(pathToFileURL(join(kRoot, "dist/worker.js")).href);
    rows.push(...(await measureWorkers(posenc, later, { rounds })));
  }
  return { engine: `Node ${process.versions.node} (V8 ${process.versions.v8})`, rows };
}

async function inChromium() {
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
  const server = await serveFolder(join(kRoot, "dist"), { extra });
  try {
    const { page } = await open(browser, `${server.address}page`);
    page.on("console", (message) => console.warn(message.text()));
    const rows = await page.evaluate(
      `(async () => {
        const posenc = await import("/index.js");
        const bench = await import("/bench.js");
        const kernels = new Uint8Array(await (await fetch("/kernels.wasm")).arrayBuffer());
        const peers = ${withPeers} ? await bench.loadPeers({ tfAssets: "/tf/", ortAssets: "/ort/" }) : undefined;
        const [rounds, only] = [${rounds}, ${JSON.stringify(only)}];
        const rows = [];
        if (only === "" || only === "long") rows.push(...bench.measureLong(posenc));
        rows.push(...await bench.measureBeside({ posenc, peers, kernels }, { rounds, only }));
        if (only === "" || only === "schemes") rows.push(...await bench.measureSchemes(posenc, { rounds }));
        if (only === "" || only === "analyses") rows.push(...await bench.measureAnalyses(posenc, { rounds }));
        if (only === "workers") {
          rows.push(...await bench.measureWorkers(posenc, await import("/worker.js"), { rounds }));
        }
        return rows;
      })()`,
    );
    return { engine: `Chromium ${browser.version()}`, rows };
  } finally {
    await browser.close();
    await server.close();
  }
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
    console.log(`\n${group}\n\n| | ms | best | GFLOP/s | of peak | times the first |\n|---|---|---|---|---|---|`);
  }
  const peak = row.peak === undefined ? "" : `${number(100 * row.peak, 0)} %`;
  const cells = [row.name, number(row.ms, 3), number(row.best, 3), number(row.gflops, 1), peak, number(row.ratio, 2)];
  console.log(`| ${cells.join(" | ")} |${row.mib === undefined ? "" : ` ${number(row.mib, 0)} MiB`}`);
}

if (flag("--keep")) {
  const folder = join(import.meta.dirname, "results");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "peers.csv");
  if (!existsSync(file))
    appendFileSync(file, `${kColumns}\n`);
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
        number(row.best, 4),
        number(row.gflops, 2),
        number(row.peak, 3),
        number(row.ratio, 3),
        number(row.mib, 1),
      ].join(",")}\n`,
    );
  }
  console.log("\nkept in tests/bench/results/peers.csv");
}
