import { defineConfig } from "vitest/config";

const kCommon = { testTimeout: 120_000, hookTimeout: 120_000, pool: "forks", maxWorkers: 2 };

// What web/build.mjs puts into the bundles.
const kDefine = { POSENC_CLASSIC: "false" };
const kFirefox = ["tests/browser/firefox*.test.mjs"];

export default defineConfig({
  test: {
    projects: [
      {
        define: kDefine,
        test: { name: "web", include: ["tests/web/**/*.test.{ts,mjs}"], ...kCommon },
      },
      {
        // One at a time: each starts a browser.
        define: kDefine,
        test: {
          name: "browser",
          include: ["tests/browser/**/*.test.{ts,mjs}"],
          exclude: kFirefox,
          ...kCommon,
          fileParallelism: false,
        },
      },
      {
        define: kDefine,
        test: { name: "firefox", include: kFirefox, ...kCommon, fileParallelism: false },
      },
    ],
  },
});
