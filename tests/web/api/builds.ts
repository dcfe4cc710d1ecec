// Both builds of the core, each in a copy of the package of its own, and the bits that every build has to give.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";

export type Posenc = typeof import("../../../web/src/index.js");

/** A copy of the package that runs on this build. */
export async function build(backend: "simd" | "js"): Promise<Posenc> {
  vi.resetModules();
  const posenc = await import("../../../web/src/index.js");
  posenc.init({ backend });
  await posenc.ready();
  return posenc;
}

/** The lines of tests/golden/hashes.txt by their names. */
export const golden: ReadonlyMap<string, string> = new Map(
  readFileSync(join(import.meta.dirname, "../../golden/hashes.txt"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" ") as [string, string]),
);
