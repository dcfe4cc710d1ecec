// What the numbers of the text ask of the core: each is one task of a page that may be being scrolled.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import * as api from "../../../web/src/index.js";
import { liveText, type Api } from "../../../web/site/live.js";
import { numbersOf } from "../../../web/site/numbers.js";

const kPage = readFileSync(join(import.meta.dirname, "../../../dist/site/index.html"), "utf8");

it("deal no tables of hundreds of thousands of numbers", () => {
  const dealt: Record<string, number> = {};
  for (const [, request = ""] of kPage.matchAll(/data-live="([^"]+)"/g)) {
    const learned: typeof api.learned = (options) => {
      dealt[request] = options.length! * options.dim!;
      return api.learned(options);
    };
    liveText({ ...api, learned } as unknown as Api, numbersOf("en"), request);
  }
  expect(Object.keys(dealt)).toContain("parameters 1024 768");
  for (const [request, numbers] of Object.entries(dealt)) expect(numbers, request).toBeLessThan(10_000);
});
