// npm run site: sets up and builds the pages: the folder to put on a host or to open from disk, and its zip.
import { relative } from "node:path";
import { kRoot } from "./process.mjs";
import { setup } from "./setup.mjs";

// What only the tests use.
const kTestsOnly = new Set(["clang", "catch2", "libmpfr-dev", "python3-numpy", "chromium", "firefox-esr"]);

try {
  await setup({ needed: (name) => !kTestsOnly.has(name) });
  const { build } = await import("../web/build.mjs");
  await build();
  const { kPages, kZip } = await import("../web/pages.mjs");
  const [folder, file] = [kPages, kZip].map((path) => relative(kRoot, path));
  console.log(`The pages are in ${folder} (open its index.html) and, as one file, in ${file}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
