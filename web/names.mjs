// Names of the variables of bundles.
import { minifySync, parseSync } from "vite";

/**
 * The same script, minified before, with its variables' names dealt anew: the shortest to those that occur most, the
 * same ones in every function. Compressed it is a fiftieth smaller than with the names that esbuild deals.
 */
export function renamed(script, { module }) {
  const file = module ? "script.mjs" : "script.js";
  const mangle = module ? { toplevel: true } : true;
  const { code, errors } = minifySync(file, script, { module, compress: false, mangle });
  if (errors.length > 0) throw new Error(`The script cannot be renamed: ${errors[0].message}`);
  return `${inQuotes(code, file)}\n`;
}

// Texts in quotes: the renamed script has all of them in backticks, where neither gzip nor a bundler looks for them.
function inQuotes(code, file) {
  const texts = [];
  const walk = (node, parent) => {
    if (node.type === "TemplateLiteral" && node.expressions.length === 0) {
      if (parent.type !== "TaggedTemplateExpression") texts.push(node);
      return;
    }
    for (const value of Object.values(node)) {
      for (const child of [value].flat()) if (typeof child?.type === "string") walk(child, node);
    }
  };
  walk(parseSync(file, code).program, undefined);
  const parts = [];
  let at = 0;
  for (const { start, end, quasis } of texts.sort((a, b) => a.start - b.start)) {
    const before = code.slice(start, end);
    if (!/^`[^]*`$/.test(before)) throw new Error("Places in the script are counted otherwise than web/names.mjs knows.");
    const [text] = [before, ...quoted(quasis[0].value.cooked)].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
    parts.push(code.slice(at, start), text);
    at = end;
  }
  return parts.join("") + code.slice(at);
}

// In double quotes and in single ones.
function quoted(text) {
  const inside = JSON.stringify(text).slice(1, -1);
  return [`"${inside}"`, `'${inside.replaceAll("\\\"", "\"").replaceAll("'", "\\'")}'`];
}
