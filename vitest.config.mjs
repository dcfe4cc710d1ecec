import { defineConfig } from "vitest/config";

export default defineConfig({
  // The constants that web/build.mjs puts into the bundles.
  define: { POSENC_CLASSIC: "false" },
  test: {
    include: ["tests/web/**/*.test.{ts,mjs}"],
    testTimeout: 120_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
