import { defineConfig } from "vitest/config";

const kCommon = { testTimeout: 120_000, hookTimeout: 120_000, pool: "forks", maxWorkers: 2 };

export default defineConfig({
  test: {
    projects: [
      {
        // What web/build.mjs puts into the bundles.
        define: { POSENC_CLASSIC: "false" },
        test: { name: "web", include: ["tests/web/**/*.test.{ts,mjs}"], ...kCommon },
      },
      {
        // One at a time: each starts a browser.
        test: { name: "browser", include: ["tests/browser/**/*.test.{ts,mjs}"], ...kCommon, fileParallelism: false },
      },
    ],
  },
});
