// The functions that stand in brackets in the classic script, so that engines compile them as they receive it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
// @ts-expect-error -- a script without types
import { compiledEarly as untyped, kEarly as untypedFiles } from "../../web/early.mjs";

const compiledEarly = untyped as (source: string) => string;
const kEarly = untypedFiles as readonly string[];
const kRoot = join(import.meta.dirname, "../..");

it("stand before all else in their file, however they were declared", () => {
  // These cannot be other than declarations.
  const overloads = `export function many(a: number): number;
export function many(
  a: string,
): string;
export function many(a: unknown): unknown {
  return a;
}
`;
  const source = `const first = one(1);
export function one(a: number): number {
  return two(a);
}
async function two(
  a: number,
): Promise<number> {
  return a;
}
export function* three(): Generator<number> {
  yield 1;
}
${overloads}`;
  expect(compiledEarly(source)).toBe(`export const one = (function(a: number): number {
  return two(a);
});
const two = (async function(
  a: number,
): Promise<number> {
  return a;
});
export const three = (function*(): Generator<number> {
  yield 1;
});
const first = one(1);
${overloads}`);
});

// The functions at the top of the script's one, by whether they stand in brackets.
function functionsOf(script: string): { early: number; late: number } {
  const count = { early: 0, late: 0 };
  const file = ts.createSourceFile("posenc.js", script, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS);
  const walk = (node: ts.Node, depth: number): void => {
    if (ts.isFunctionDeclaration(node) && depth === 1) count.late++;
    const inner = ts.isVariableDeclaration(node) ? node.initializer : undefined;
    const bracketed = inner && ts.isParenthesizedExpression(inner) && ts.isFunctionExpression(inner.expression);
    if (bracketed && depth === 1) count.early++;
    ts.forEachChild(node, (child) => walk(child, depth + Number(ts.isFunctionLike(node))));
  };
  walk(file, 0);
  return count;
}

it("are in the script as built, of each file that is named", () => {
  const declared = kEarly.map((file) => {
    const source = readFileSync(join(kRoot, "web", file), "utf8");
    const early = compiledEarly(source).match(/^(export )?const \w+ = \((async )?function/gm)?.length ?? 0;
    expect(early, file).toBeGreaterThan(0);
    return early;
  });
  const { early, late } = functionsOf(readFileSync(join(kRoot, "dist/posenc.js"), "utf8"));
  // What nothing calls is left out.
  expect(early).toBeGreaterThan(0.9 * declared.reduce((sum, count) => sum + count, 0));
  expect(late).toBeGreaterThan(early);
});
