// tools/new.mjs: the skeleton of a scheme, in a copy of the parts of the tree it touches. Compilers are not asked here.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const kRoot = join(import.meta.dirname, "../..");
const kList = "cpp/schemes/schemes.def";
let tree = "";

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), "posenc-new-"));
  for (const path of ["tools", "cpp/schemes", "tests/cpp/schemes", "web/src/core.ts", "web/src/analysis/index.ts"]) {
    cpSync(join(kRoot, path), join(tree, path), { recursive: true });
  }
});
afterEach(() => rmSync(tree, { recursive: true, force: true }));

const read = (path: string) => readFileSync(join(tree, path), "utf8");
function make(...words: string[]): string {
  try {
    return execFileSync(process.execPath, [join(tree, "tools/new.mjs"), ...words], { encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    return `refused: ${(error as { stderr: string }).stderr.trim()}`;
  }
}

describe.each(["embed", "rotate", "bias", "relate"])("a new scheme of the slot %s", (slot) => {
  test("has a file, a test and a line among its slot's, and goes without a trace", () => {
    const before = read(kList);
    expect(make(slot, "somethingNew")).toContain(`wrote cpp/schemes/${slot}/somethingNew.cpp`);
    const scheme = read(`cpp/schemes/${slot}/somethingNew.cpp`);
    expect(scheme).toContain(`schemes::${slot}_somethingNew = {`);
    expect(scheme).toContain("class SomethingNew final");
    const itsTest = read(`tests/cpp/schemes/${slot}/somethingNew_test.cpp`);
    expect(itsTest).toContain(`kGoldenSets(schemes::${slot}_somethingNew`);
    for (const text of [scheme, itsTest]) {
      expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
    }
    const slots = [...read(kList).matchAll(/^SCHEME\((\w+),/gm)].map((match) => match[1]);
    expect(slots).toEqual([...slots].sort((a, b) => order(a) - order(b)));
    expect(read(kList)).toContain(`SCHEME(${slot}, somethingNew)\n`);

    expect(make(slot, "somethingNew", "--remove")).toContain("took");
    expect(read(kList)).toBe(before);
    expect(existsSync(join(tree, `cpp/schemes/${slot}/somethingNew.cpp`))).toBe(false);
    expect(existsSync(join(tree, `tests/cpp/schemes/${slot}/somethingNew_test.cpp`))).toBe(false);
  });
});

const order = (slot: string | undefined) => ["embed", "rotate", "bias", "relate"].indexOf(slot ?? "");

test.each([
  [["bias"], "name must be camelCase"],
  [[], "slot must be one of embed, rotate, bias, relate, got nothing"],
  [["mask", "x"], "slot must be one of"],
  [["bias", "Kerple"], "name must be camelCase"],
  [["bias", "ker-ple"], "name must be camelCase"],
  [["bias", "../up"], "name must be camelCase"],
  [["bias", "while"], "is a word of the language"],
  [["bias", "namespace"], "is a word of the language"],
  [["bias", "encode"], "the package exports another encode already"],
  [["bias", "alibi"], "alibi exists already, in the slot bias"],
  [["embed", "aLiBi"], "alibi exists already, in the slot bias"],
  [["bias", "one", "two"], "one slot and one name are wanted, got also two"],
  [["bias", "one", "--force"], "the only option is --remove, got --force"],
  [["bias", "nothing", "--remove"], "there is no bias nothing"],
])("%j is refused", (words, message) => {
  const before = read(kList);
  expect(make(...words)).toContain(`refused: new: `);
  expect(make(...words)).toContain(message);
  expect(read(kList)).toBe(before);
});

test("work is never taken away", () => {
  expect(make("bias", "alibi", "--remove")).toContain("it holds work");
  make("bias", "mine");
  const path = "cpp/schemes/bias/mine.cpp";
  writeFileSync(join(tree, path), `${read(path)}// a formula\n`);
  expect(make("bias", "mine", "--remove")).toContain("is no longer the skeleton");
  expect(read(path)).toContain("// a formula");
});
