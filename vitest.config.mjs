import { defineConfig } from "vitest/config";
import { kModulePaths } from "./web/build.mjs";

export default defineConfig({
  // What web/build.mjs puts into the bundles.
  define: { POSENC_CLASSIC: "false" },
  resolve: { alias: kModulePaths },
  test: {
    include: ["tests/web/**/*.test.{ts,mjs}"],
    testTimeout: 120_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
