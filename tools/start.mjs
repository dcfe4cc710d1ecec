// npm start: sets up, builds, serves the demo and prints its address. Options are those of tools/serve.mjs.
import { setup } from "./setup.mjs";
import { serve, serveArguments } from "./serve.mjs";

// What only the tests use.
const kTestsOnly = new Set(["clang", "catch2", "libmpfr-dev", "python3-numpy", "chromium", "firefox-esr"]);

try {
  const { folder, ...options } = serveArguments(process.argv.slice(2));
  await setup({ needed: (name) => !kTestsOnly.has(name) });
  const { build } = await import("../web/build.mjs");
  await build();
  const { address } = await serve(folder, options);
  console.log(`posenc is at ${address} (Ctrl-C stops it)`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
