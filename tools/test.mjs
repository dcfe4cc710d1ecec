// npm test: sets up, builds everything, runs every test. Ends with a line "N passed, N failed"; the exit code is not
// zero if a test failed or a part did not run.
//   node tools/test.mjs [part ...]   only these parts: native scalar wasm web-js types web browser firefox
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { kPresets, runPreset } from "./native.mjs";
import { kRoot, run, seconds } from "./process.mjs";
import { setup } from "./setup.mjs";

const kParts = [...kPresets, "types", "web", "browser", "firefox"];

const tail = (text, lines = 100) =>
  text
    .trimEnd()
    .split("\n")
    .slice(-lines)
    .map((line) => line.slice(0, 400))
    .join("\n");

// One test: the sources, figures, page and tests agree with each other's types.
async function checkTypes() {
  const start = performance.now();
  const part = { name: "TypeScript types", passed: 0, failed: 0, notes: [], failures: [] };
  for (const project of ["tsconfig.json", "tests/tsconfig.json"]) {
    const { code, output } = await run(process.execPath, [
      "node_modules/typescript/bin/tsc",
      "-p",
      project,
      "--noEmit",
      "--pretty",
      "false",
    ]);
    if (code === 0) {
      part.passed += 1;
    } else {
      part.failed += 1;
      part.failures.push(`tsc -p ${project}\n${tail(output, 60)}`);
    }
  }
  return { ...part, time: seconds(start) };
}

async function vitest(projects, name) {
  const start = performance.now();
  const part = { name, passed: 0, failed: 0, notes: [], failures: [] };
  const report = join(kRoot, "build", `vitest-${projects[0]}.json`);
  rmSync(report, { force: true });
  const { code, output } = await run(process.execPath, [
    "node_modules/vitest/vitest.mjs",
    "run",
    ...projects.flatMap((project) => ["--project", project]),
    "--reporter=json",
    `--outputFile=${report}`,
    "--reporter=dot",
    "--no-color",
  ]);
  try {
    const { testResults, success } = JSON.parse(readFileSync(report, "utf8"));
    for (const { assertionResults, message, status, name: file } of testResults) {
      for (const test of assertionResults) {
        if (test.status === "passed") part.passed += 1;
        else if (test.status === "failed") {
          part.failed += 1;
        }
      }
      if (status === "failed" && !assertionResults.some((test) => test.status === "failed")) {
        part.failed += 1;
        part.failures.push(`${file}: ${tail(message ?? "did not run", 40)}`);
      }
    }
    if ((!success || code !== 0) && part.failed === 0) part.failed += 1;
    // The runner's own words, with the differences.
    if (part.failed > 0)
      part.failures.push(tail(output.slice(Math.max(0, output.search(/^\W*Failed (Tests|Suites)/m))), 600));
  } catch {
    part.failed += 1;
    part.failures.push(tail(output));
  }
  for (const line of output.split("\n")) if (line.startsWith("measured: ")) part.notes.push(line);
  return { ...part, time: seconds(start) };
}

async function buildAll() {
  const { build } = await import("../web/build.mjs");
  await build({ frozen: true });
}

const asked = process.argv.slice(2);
const unknown = asked.filter((part) => !kParts.includes(part));
if (unknown.length > 0) {
  console.error(`Unknown part ${unknown[0]}; there are ${kParts.join(", ")}.`);
  process.exit(2);
}
const wanted = asked.length > 0 ? kParts.filter((part) => asked.includes(part)) : kParts;

const begun = performance.now();
const done = [];
function report(part) {
  for (const note of part.notes) console.log(`  ${note}`);
  for (const failure of part.failures) console.log(`\nFAILED ${failure}\n`);
  console.log(`${part.name}: ${part.passed} passed, ${part.failed} failed in ${part.time}`);
  done.push(part);
}
const crash = (name, error) => ({
  name,
  passed: 0,
  failed: 1,
  notes: [],
  failures: [`${name}\n${error.message ?? error}`],
  time: "0 s",
});

try {
  await setup();
} catch (error) {
  report(crash("set-up", error));
  console.log("0 passed, 1 failed");
  process.exit(1);
}

// Beside the C++ parts: what links, packs and checks types here keeps one core busy, as their longest tests do.
const web = wanted.filter((name) => !kPresets.includes(name));
const building = web.length === 0 ? undefined : buildAll().then(() => undefined, (error) => crash("build", error));
const types = web.includes("types") ? building.then(checkTypes) : undefined;
types?.catch(() => {}); // reported in its turn
for (const part of wanted.filter((name) => kPresets.includes(name))) {
  // Its folder is one that the build fills.
  if (part === "web-js") await building;
  report(await runPreset(part).catch((error) => crash(`C++ ${part}`, error)));
}
if (web.length > 0) {
  const fault = await building;
  const built = fault === undefined;
  if (!built) report(fault);
  const work = {
    types: () => types,
    web: () => vitest(["web", "web-figures"], "TypeScript and package"),
    browser: () => vitest(["browser"], "Chromium"),
    firefox: () => vitest(["firefox"], "Firefox"),
  };
  // What was not built is not tested, and counts as failed rather than as absent.
  for (const part of web) {
    report(
      built || part === "types"
        ? await work[part]().catch((error) => crash(part, error))
        : crash(part, "was not run: the build failed"),
    );
  }
}
for (const part of done) {
  if (part.passed + part.failed === 0) report(crash(part.name, "ran no test"));
}

const total = (key) => done.reduce((sum, part) => sum + part[key], 0);
console.log(`\n${wanted.length} of ${kParts.length} parts in ${seconds(begun)}`);
console.log(`${total("passed")} passed, ${total("failed")} failed`);
process.exit(total("failed") > 0 || total("passed") === 0 ? 1 : 0);
