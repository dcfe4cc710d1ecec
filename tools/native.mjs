// Builds a preset of CMakePresets.json and runs its Catch2 tests, counting test cases.
//   node tools/native.mjs [preset ...]
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { kRoot, run, seconds } from "./process.mjs";

export const kPresets = ["native", "scalar", "wasm", "web-js"];

// Test cases passed and failed as Catch2 sums them up; a run without a sum (a crash, a time-out) is one failure.
export function countCases(output, runPassed) {
  let passed = 0;
  let failed = 0;
  const all = /All tests passed \(\d+ assertions? in (\d+) test cases?\)/.exec(output);
  const some = /test cases:\s*(\d+)\s*\|(.*)/.exec(output);
  if (all) {
    passed = Number(all[1]);
  } else if (some) {
    passed =
      Number(/(\d+) passed/.exec(some[2])?.[1] ?? 0) + Number(/(\d+) failed as expected/.exec(some[2])?.[1] ?? 0);
    failed = Number(/(\d+) failed(?! as)/.exec(some[2])?.[1] ?? 0);
  }
  if (!runPassed && failed === 0) failed = 1;
  if (runPassed && passed === 0) failed = 1;
  return { passed, failed };
}

// What the tests themselves printed: measured errors and the like.
function remarks(output) {
  return output
    .split("\n")
    .map((line) => line.trim())
    .filter(
      (line) => line && !/^(=+|-+|\.+|Filters: .*|All tests passed .*|Randomness seeded.*|<end of output>)$/.test(line),
    );
}

// One line a ctest entry of Testing/Temporary/LastTest.log.
export function readLog(text) {
  return text
    .split(/^\d+\/\d+ Testing: /m)
    .slice(1)
    .map((block) => {
      const name = block.slice(0, block.indexOf("\n")).trim();
      const body = /^Output:\n-+\n([\s\S]*?)^<end of output>/m.exec(block)?.[1] ?? "";
      const ok = /^Test Passed\.$/m.test(block);
      return { name, ok, output: body, ...countCases(body, ok) };
    });
}

// Resolves to {name, passed, failed, time, notes: [line], failures: [text]}.
export async function runPreset(preset) {
  const start = performance.now();
  const result = { name: `C++ ${preset}`, passed: 0, failed: 0, notes: [], failures: [] };
  const finish = () => ({ ...result, time: seconds(start) });
  const broken = (what, output) => {
    result.failed += 1;
    result.failures.push(
      `${what}\n${output
        .split("\n")
        .slice(-80)
        .map((line) => line.slice(0, 400))
        .join("\n")}`,
    );
    return finish();
  };
  const options = ["-DPOSENC_TESTS=ON", `-DNODE_PROGRAM=${process.execPath}`];
  const configured = await run("cmake", ["--preset", preset, ...options]);
  if (configured.code !== 0) return broken(`cmake --preset ${preset}`, configured.output);
  const built = await run("cmake", ["--build", "--preset", preset, "--", "-k", "0"]);
  if (built.code !== 0) {
    const faults = built.output.split("\n").filter((line) => !/^\[\d+\/\d+\] (Building|Linking)/.test(line));
    return broken(`cmake --build --preset ${preset}`, faults.slice(0, 80).join("\n"));
  }
  const log = join(kRoot, "build/cpp", preset, "Testing/Temporary/LastTest.log");
  mkdirSync(join(kRoot, "build/cpp", preset), { recursive: true });
  rmSync(log, { force: true });
  const tested = await run("ctest", ["--preset", preset, "-j", String(cpus().length)]);
  let entries = [];
  try {
    entries = readLog(readFileSync(log, "utf8"));
  } catch {
    return broken(`ctest --preset ${preset} left no log`, tested.output);
  }
  for (const entry of entries) {
    result.passed += entry.passed;
    result.failed += entry.failed;
    if (entry.failed > 0) {
      result.failures.push(
        `${preset}: ${entry.name}\n${entry.output
          .split("\n")
          .slice(0, 120)
          .map((l) => l.slice(0, 400))
          .join("\n")}`,
      );
    } else {
      for (const line of remarks(entry.output).slice(0, 12)) result.notes.push(`${entry.name}: ${line}`);
    }
  }
  if (tested.code !== 0 && result.failed === 0) return broken(`ctest --preset ${preset}`, tested.output);
  return finish();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const preset of process.argv.length > 2 ? process.argv.slice(2) : kPresets) {
    const { name, passed, failed, time, notes, failures } = await runPreset(preset);
    for (const text of [...notes, ...failures]) console.log(text);
    console.log(`${name}: ${passed} passed, ${failed} failed in ${time}`);
    if (failed > 0) process.exitCode = 1;
  }
}
