// web/examples run as a reader would run them, against the built package, and print what their `//>` lines say.
import { execFile } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const kExamples = join(import.meta.dirname, "../../../web/examples");
const names = readdirSync(kExamples).sort();

describe("examples", () => {
  it("are numbered without a gap", () => {
    names.forEach((name, n) => expect(name).toMatch(new RegExp(`^${String(n + 1).padStart(2, "0")}-[a-z-]+\\.mjs$`)));
    expect(names.length).toBeGreaterThan(5);
  });

  it.each(names)("%s prints what it says", async (name) => {
    const file = join(kExamples, name);
    const expected = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("//> "))
      .map((line) => line.slice(4));
    expect(expected.length).toBeGreaterThan(0);
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], {
      cwd: kExamples,
      env: { ...process.env, NO_COLOR: "1" },
    });
    expect(stderr).toBe("");
    expect(stdout.trimEnd().split("\n")).toEqual(expected);
  });
});
