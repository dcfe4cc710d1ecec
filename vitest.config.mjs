import { defineConfig } from "vitest/config";

const kCommon = { testTimeout: 120_000, hookTimeout: 120_000, pool: "forks", maxWorkers: 2 };

// What web/build.mjs puts into the bundles.
const kDefine = { POSENC_CLASSIC: "false" };
const kFirefox = ["tests/browser/firefox*.test.mjs"];
// Figures and the page read the core and change nothing of it: files after one another in one process, which has it
// already. Those that put schemes of their own into the catalogue stay apart.
const kShared = ["tests/web/{figures,site}/*.test.ts"];
const kApart = ["tests/web/figures/*-schemes.test.ts"];

export default defineConfig({
  test: {
    projects: [
      {
        define: kDefine,
        test: {
          name: "web",
          include: ["tests/web/*.test.ts", "tests/web/api/*.test.ts", ...kApart],
          ...kCommon,
        },
      },
      {
        define: kDefine,
        test: { name: "web-figures", include: kShared, exclude: kApart, isolate: false, ...kCommon },
      },
      {
        // Two at a time: each has a browser of its own, and waits for it as long as it computes.
        define: kDefine,
        test: { name: "browser", include: ["tests/browser/**/*.test.{ts,mjs}"], exclude: kFirefox, ...kCommon },
      },
      {
        define: kDefine,
        test: { name: "firefox", include: kFirefox, ...kCommon, fileParallelism: false },
      },
    ],
  },
});
