// Writes what follows from the catalogue of schemes: web/src/{schemes,sentences,prose}.gen.ts, docs/schemes.md with a page and a picture
// of each scheme, the table in README.md.
// The catalogue is what the built module says of itself (describe()) and the notes at the head of each scheme's file:
// C++ is the one place where a scheme is described.
// What web/src/index.ts exports makes the functions of posenc/worker.
//   node tools/generate.mjs [--check]
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { kRoot } from "./process.mjs";

const kColumns = 120;

/** The catalogue as the plain-JavaScript build describes it (the other one ships bare of prose), with its notes. */
export async function readCatalogue() {
  const { default: createModule } = await import(pathToFileURL(join(kRoot, "build/wasm/posenc_fallback.mjs")).href);
  const module = createModule();
  const start = module._posenc_describe();
  const text = new TextDecoder().decode(module.HEAPU8.subarray(start, module.HEAPU8.indexOf(0, start)));
  return JSON.parse(text).map((scheme) => ({ ...scheme, ...readSource(`${scheme.slot}/${scheme.name}.cpp`) }));
}

// ---------------------------------------------------------------- notes

// What stands at the head of a scheme's file after its formula and source:
//   // Conventions:
//   //   name   a sentence or two
//   // Good at: …            Fails: and Cost: likewise
//   // Example: alibi({ heads: 8 }) [at POSITIONS, N tokens] [with OPTIONS]     by default its required params, causal
//   // Picture: [FIGURE] [data] [attribute=value …]      data: the example's scheme, where attributes cannot say it
//   // Either: table length? | length dim               params that are given one way or the other; ? where optional
//   // Also: scaling.cpp     whose conventions are this scheme's too
const kSections = /^(Conventions|Good at|Fails|Cost|Example|Picture|Either|Also):\s*(.*)$/;

/** The sections of a C++ text's head comment: {"Good at": "…", Conventions: [[name, text], …], …}. */
export function notesOf(source) {
  const notes = {};
  let section;
  for (const line of source.split("\n")) {
    if (!line.startsWith("//")) break;
    const text = line.replace(/^\/\/ ?/, "");
    const opened = kSections.exec(text);
    if (opened) {
      section = opened[1];
      notes[section] = section === "Conventions" ? [] : opened[2];
    } else if (section === "Conventions") {
      const item = /^ {2}(\S+(?: \S+)*) {2,}(\S.*)$/.exec(text);
      if (item) notes.Conventions.push([item[1], item[2]]);
      else if (/^ {4}/.test(text)) notes.Conventions.at(-1)[1] += ` ${text.trim()}`;
      else throw new Error(`This belongs to no convention: ${line}`);
    } else if (section) {
      notes[section] = `${notes[section]} ${text.trim()}`.trim();
    }
  }
  return notes;
}

// The notes of a scheme's file, and whether its pairs fall on rows of a table: then it overrides index().
function readSource(path) {
  const file = join(kRoot, "cpp/schemes", path);
  const source = readFileSync(file, "utf8");
  const notes = notesOf(source);
  if (notes.Also) notes.Also = notesOf(readFileSync(join(dirname(file), notes.Also), "utf8"));
  return { notes, hasRows: /\bbool index\(const Tile&.* override\b/.test(source) };
}

// ---------------------------------------------------------------- text

const pascal = (name) => name[0].toUpperCase() + name.slice(1);
const quoted = (text) => JSON.stringify(text);
const sentence = (text) => (/[.!?)]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`);

// Words filled into lines that start with `prefix`.
function fill(text, prefix) {
  const lines = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line && prefix.length + line.length + 1 + word.length > kColumns) {
      lines.push(prefix + line);
      line = word;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  lines.push(prefix + line);
  return lines;
}

// A doc comment of paragraphs; on one line where it fits.
function comment(paragraphs, indent = "") {
  const safe = paragraphs.filter(Boolean).map((text) => text.replaceAll("*/", "* /"));
  if (safe.length === 1 && indent.length + safe[0].length + 7 <= kColumns) return [`${indent}/** ${safe[0]} */`];
  const lines = [`${indent}/**`];
  safe.forEach((text, i) => {
    if (i > 0) lines.push(`${indent} *`);
    lines.push(...fill(text, `${indent} * `));
  });
  return [...lines, `${indent} */`];
}

// What a caller reads about a parameter after its sentence: what is allowed (where the type does not say it) and what
// it is otherwise.
function allowedOf(param) {
  return param.allowed && param.kind !== "flag" && param.kind !== "choice" ? sentence(pascal(param.allowed)) : "";
}

function defaultOf(param) {
  if (param.required) return "";
  if (param.defaultParam) return `Default: the value of \`${param.defaultParam}\`.`;
  if (param.default === null || param.default === undefined) return "";
  return `Default: \`${typeof param.default === "string" ? quoted(param.default) : param.default}\`.`;
}

// ---------------------------------------------------------------- TypeScript

function optionType(param) {
  switch (param.kind) {
    case "flag":
      return "boolean";
    case "choice": {
      // "a+b" may also be written as a list of its parts.
      const several = param.choices.filter((choice) => choice.includes("+"));
      const parts = [...new Set(several.flatMap((choice) => choice.split("+")))];
      const words = param.choices.map(quoted).join(" | ");
      return parts.length > 0 ? `${words} | readonly (${parts.map(quoted).join(" | ")})[]` : words;
    }
    case "list":
      return `TensorLike | TableJSON${param.shape?.endsWith("or [1]") ? " | number" : ""}`;
    case "table":
      return `${param.flags ? "MaskLike" : "TensorLike"} | TableJSON${param.canOmit ? " | false" : ""}`;
    default:
      return "number";
  }
}

function propertyType(param) {
  const there = param.required || param.defaultParam || (param.default !== null && param.default !== undefined);
  let type = optionType(param);
  if (param.kind === "choice") type = param.choices.map(quoted).join(" | ");
  if (param.kind === "list") type = `Tensor<"float64">`;
  if (param.kind === "table") type = `Tensor<"float32">${param.canOmit ? " | false" : ""}`;
  return there && !param.where ? type : `${type} | null`;
}

// "with `scaling.type` \"yarn\" or \"llama3\"": where a param belongs to some choices only.
function belonging({ where, neededBy = [], takenBy = [] }, choices = [...neededBy, ...takenBy]) {
  return `with \`${where}\` ${choices.map((choice) => `\`${quoted(choice)}\``).join(", ")}`;
}

// Params by their outer name: dotted ones make one nested object.
function grouped(params) {
  const groups = new Map();
  for (const param of params) {
    const [outer, inner] = param.name.split(".");
    if (!groups.has(outer)) groups.set(outer, []);
    groups.get(outer).push({ ...param, inner });
  }
  return groups;
}

// One member of an object type, with its comment.
function member(param, name, indent, { type = optionType(param), optional = !param.required, documented = true } = {}) {
  const where = param.where && param.inner === undefined ? `Only ${belonging(param)}.` : "";
  const words = [sentence(param.sentence), where, allowedOf(param), defaultOf(param)].filter(Boolean).join(" ");
  return [
    ...(documented ? comment([words], indent) : []),
    `${indent}readonly ${name}${optional ? "?" : ""}: ${type};`,
  ];
}

// What may be read of a scheme.
function properties(params) {
  const lines = [];
  for (const [outer, group] of grouped(params)) {
    const own = (param, name, indent, optional) =>
      lines.push(...member(param, name, indent, { type: propertyType(param), optional, documented: false }));
    if (group[0].inner === undefined) {
      own(group[0], outer, "  ", false);
    } else {
      lines.push(`  readonly ${outer}: {`);
      for (const param of group) own(param, param.inner, "    ", param.where !== undefined);
      lines.push("  };");
    }
  }
  return lines;
}

// Members of a union: `shown` as they are, the others that the union knows absent.
const absent = (names) => (names.length > 0 ? ` & Absent<${names.map(quoted).join(" | ")}>` : "");

// A union over a choice: each of its values with the params that belong to it. Where the choice may be left out, those
// of other values are ruled out by name; elsewhere the choice itself tells that they are not there.
function byChoice(chosen, group, nameOf, indent) {
  return chosen.choices.map((choice) => {
    const lines = [`${indent}| ({`];
    const optional = choice === chosen.default;
    const others = [];
    for (const param of group) {
      const needed = param.neededBy?.includes(choice);
      const inner = `${indent}    `;
      if (param === chosen) lines.push(...member(param, nameOf(param), inner, { type: quoted(choice), optional }));
      else if (!param.where) lines.push(...member(param, nameOf(param), inner));
      else if (needed || param.takenBy.includes(choice))
        lines.push(...member(param, nameOf(param), inner, { optional: !needed }));
      else others.push(nameOf(param));
    }
    const ruledOut = optional ? absent(others) : "";
    if (ruledOut === "") lines[0] = lines[0].replace("({", "{");
    return [...lines, `${indent}  }${ruledOut}${ruledOut === "" ? "" : ")"}`];
  }).flat();
}

// A union of the ways that an `Either:` line tells: "table length? | length dim seed?".
function byWay(either, params) {
  const ways = either.split("|").map((way) =>
    way.trim().split(/\s+/).map((word) => ({ name: word.replace("?", ""), optional: word.endsWith("?") })),
  );
  const all = [...new Set(ways.flat().map(({ name }) => name))];
  const lines = ways.flatMap((way) => {
    const others = all.filter((name) => !way.some((param) => param.name === name));
    const own = way.flatMap(({ name, optional }) => {
      const param = params.find((each) => each.name === name);
      if (!param) throw new Error(`Either: names ${name}, which is no param.`);
      return member(param, name, "      ", { optional });
    });
    const ruledOut = absent(others);
    return ruledOut === "" ? ["  | {", ...own, "    }"] : ["  | ({", ...own, `    }${ruledOut})`];
  });
  return { lines, names: all };
}

// The type of a factory's options: an interface, or with what is given one way or another a union.
function options(scheme, type) {
  const { params } = scheme;
  const unions = [];
  const taken = new Set();
  if (scheme.notes?.Either) {
    const { lines, names } = byWay(scheme.notes.Either, params);
    names.forEach((name) => taken.add(name));
    unions.push(lines);
  }
  for (const chosen of params) {
    const group = params.filter(({ name, where }) => name === chosen.name || where === chosen.name);
    if (group.length < 2 || chosen.name.includes(".")) continue;
    group.forEach(({ name }) => taken.add(name));
    unions.push(byChoice(chosen, group, ({ name }) => name, "  "));
  }
  const lines = [];
  for (const [outer, group] of grouped(params.filter(({ name }) => !taken.has(name)))) {
    const chosen = group.find((param) => group.some(({ where }) => where === param.name));
    if (group[0].inner === undefined) {
      lines.push(...member(group[0], outer, "  "));
    } else if (chosen) {
      lines.push(`  readonly ${outer}?:`, ...byChoice(chosen, group, ({ inner }) => inner, "    "));
      lines.push(`${lines.pop()};`);
    } else {
      const optional = group.every((param) => !param.required);
      lines.push(`  readonly ${outer}${optional ? "?" : ""}: {`);
      for (const param of group) lines.push(...member(param, param.inner, "    "));
      lines.push("  };");
    }
  }
  const head = comment([`Options of {@link ${scheme.name}}.`]);
  if (unions.length === 0) return [...head, `export interface ${type}Options {`, ...lines, "}"];
  const parts = [...(lines.length > 0 ? [["{", ...lines, "}"]] : []), ...unions.map((union) => ["(", ...union, ")"])];
  const declared = `export type ${type}Options =`;
  const joined =
    parts.length === 1
      ? [declared, ...parts[0].slice(1, -1)]
      : parts.flatMap(([first, ...others], i) => [i === 0 ? `${declared} ${first}` : `& ${first}`, ...others]);
  return [...head, ...joined.slice(0, -1), `${joined.at(-1)};`];
}

function lawText({ law, when, length }) {
  const name = law.replace(/^non_/, "non-").replaceAll("_", " ");
  return [
    name,
    when ? `where ${when.text ?? `${when.param} is ${when.value}`}` : "",
    length ? `up to ${length} positions` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

function factory(scheme, index) {
  const type = pascal(scheme.name);
  const required = scheme.params.some((param) => param.required) || requiredWays(scheme);
  const laws = scheme.laws.map(lawText).join("; ");
  const lines = [
    ...options(scheme, type),
    "",
    ...comment([
      `A scheme made by {@link ${scheme.name}}: its parameters are readable; one neither given nor with a default is null.`,
    ]),
    `export interface ${type} extends ${pascal(scheme.slot)}Scheme {`,
    `  readonly name: ${quoted(scheme.name)};`,
    ...(scheme.slot === "bias" || scheme.slot === "relate" ? [`  readonly [hasRows]?: ${scheme.hasRows === true};`] : []),
    ...properties(scheme.params),
    "}",
    "",
    ...comment([
      `${scheme.title} (${scheme.slot}): ${sentence(scheme.summary)}`,
      `Formula, in TeX: \`${scheme.formula.replaceAll("`", "'")}\``,
      `Source: ${sentence(scheme.reference)}`,
      laws ? `Holds: ${sentence(laws)}` : "",
    ]),
    `export function ${scheme.name}(options${required ? "" : "?"}: ${type}Options): ${type} {`,
    `  return makeScheme(outlines[${index}]!, options) as ${type};`,
    "}",
  ];
  return lines.join("\n");
}

// True where every way of an `Either:` line asks for something.
function requiredWays({ notes }) {
  return notes?.Either?.split("|").every((way) => way.trim().split(/\s+/).some((word) => !word.endsWith("?"))) ?? false;
}

// JSON as a TypeScript literal, one entry of a list a line.
function literal(object) {
  const lines = Object.entries(object).flatMap(([key, value]) => {
    if (!Array.isArray(value)) return [`    ${key}: ${quoted(value)},`];
    if (value.length === 0) return [`    ${key}: [],`];
    return [`    ${key}: [`, ...value.map((entry) => `      ${quoted(entry)},`), "    ],"];
  });
  return ["  {", ...lines, "  },"].join("\n");
}

const kFirstLine = "// Generated by tools/generate.mjs from what the core says of itself. Do not edit.";

// What outlined() of scheme.ts makes of a param that leaves it out.
function implied({ kind, min, max, aboveMin, shape, choices = [] }) {
  const range = aboveMin ? `above ${min} and at most ${max}` : `from ${min} to ${max}`;
  const words = choices.map((choice) => `"${choice}"`);
  const allowed = {
    integer: `an integer ${range}`,
    real: `a number ${range}`,
    list: `a list ${shape} of numbers ${range}`,
    table: `a table ${shape} of finite numbers`,
    flag: "true or false",
    choice: `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`,
  };
  return { required: false, default: null, ...(min == null ? {} : { aboveMin: false }), allowed: allowed[kind] };
}

function brief(param) {
  const known = implied(param);
  return Object.fromEntries(Object.entries(param).filter(([key, value]) => !(key in known) || known[key] !== value));
}

// What programs need of a scheme, and what is written for people.
function divided({ slot, name, title, params, notes: _, hasRows: __, ...prose }) {
  return {
    outline: { slot, name, title, params: params.map(({ sentence: _, ...param }) => brief(param)) },
    sentences: params.map(({ sentence }) => sentence),
    prose,
  };
}

function typescript(catalogue) {
  const slots = [...new Set(catalogue.map((scheme) => `${pascal(scheme.slot)}Scheme`))].sort();
  const tables = catalogue.some((scheme) =>
    scheme.params.some((param) => param.kind === "list" || param.kind === "table"),
  );
  const flags = catalogue.some((scheme) => scheme.params.some((param) => param.flags));
  const factories = catalogue.map(factory).join("\n\n");
  const types = ["Outline", ...slots, ...(tables ? ["TableJSON"] : [])];
  for (const name of ["Absent", "hasRows"]) if (new RegExp(`\\b${name}\\b`).test(factories)) types.push(name);
  return `${[
    kFirstLine,
    `import { type ${types.sort().join(", type ")}, makeScheme, outlined } from "./scheme.js";`,
    ...(tables ? [`import type { ${flags ? "MaskLike, " : ""}Tensor, TensorLike } from "./tensor.js";`] : []),
    "",
    "/** The catalogue without its prose: every scheme's slot, name, title and parameters. */",
    "export const outlines: readonly Outline[] = /* @__PURE__ */ outlined([",
    ...catalogue.map((scheme) => literal(divided(scheme).outline)),
    "]);",
    "",
    factories,
  ].join("\n")}\n`;
}

// Apart from the factories, so that a page that reads no prose does not download it.
function paramSentences(catalogue) {
  const lists = catalogue.map((scheme) => divided(scheme).sentences.map((text) => `    ${quoted(text)},`));
  return `${[
    kFirstLine,
    "/** The sentences of the params, in the order of `outlines` and of their params. */",
    "export const sentences: readonly (readonly string[])[] = [",
    ...lists.map((lines) => `  [\n${lines.join("\n")}\n  ],`),
    "];",
  ].join("\n")}\n`;
}

function catalogueProse(catalogue) {
  return `${[
    kFirstLine,
    `import { type Descriptor, withProse } from "./scheme.js";`,
    `import { outlines } from "./schemes.gen.js";`,
    `import { sentences } from "./sentences.gen.js";`,
    "",
    "/** The catalogue: every scheme with its parameters and laws, as the core describes it. */",
    "export const schemes: readonly Descriptor[] = /* @__PURE__ */ withProse(outlines, sentences, [",
    ...catalogue.map((scheme) => literal(divided(scheme).prose)),
    "]);",
  ].join("\n")}\n`;
}

// ---------------------------------------------------------------- Markdown

const cell = (text) => String(text).replaceAll("|", "\\|").replaceAll("\n", " ");
const page = (scheme) => `schemes/${scheme.name}.md`;
// Words of a comment as Markdown: what is not code must not become markup.
const prose = (text) =>
  text
    .split(/(`[^`]*`)/)
    .map((part, i) => (i % 2 ? part : part.replace(/[\\*_<>[\]|]/g, "\\$&")))
    .join("");

function schemeTable(catalogue, folder) {
  return [
    "| scheme | slot | what it does | source |",
    "|---|---|---|---|",
    ...catalogue.map(
      (scheme) =>
        `| [\`${scheme.name}\`](${folder}${page(scheme)}) | ${scheme.slot} | ${cell(scheme.summary)} | ${cell(scheme.reference)} |`,
    ),
  ].join("\n");
}

const kGenerated = "<!-- Generated by tools/generate.mjs from what the core says of itself. Do not edit. -->";

function index(catalogue) {
  return `${[
    kGenerated,
    "# The schemes",
    "",
    "Each has a page with its formula, a picture, an example, its parameters, the laws that the tests prove of it, and notes on",
    "where papers and frameworks disagree. The slot says where it acts: `embed` adds a vector to a token, `rotate` turns queries and",
    "keys, `bias` adds a number to a score, `relate` lets queries, keys and values meet vectors of a pair.",
    "",
    schemeTable(catalogue, ""),
  ].join("\n")}\n`;
}

/** The scheme's example: the call that makes it, positions (and how many), options of attention. */
export function exampleOf(scheme) {
  const given = /^(.*?)(?: at (.*?), (\d+) tokens)?(?: with (.*))?$/.exec(scheme.notes?.Example ?? "");
  const required = scheme.params.filter((param) => param.required);
  const values = required.map((param) => `${param.name}: ${JSON.stringify(param.shown?.value ?? 1)}`);
  return {
    call: given[1] || `${scheme.name}(${values.length > 0 ? `{ ${values.join(", ")} }` : ""})`,
    positions: given[2],
    tokens: Number(given[3] ?? 16),
    option: given[4],
  };
}

function exampleCode(scheme) {
  const { call, positions, tokens, option } = exampleOf(scheme);
  const where = positions ?? String(tokens);
  const maker = /^\w+/.exec(positions ?? "")?.[0];
  const number = (name, otherwise) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(call)?.[1] ?? otherwise);
  const imported = (...names) =>
    `import { ${[...names, scheme.name, ...(maker && /^[a-z]/.test(maker) ? [maker] : [])].sort().join(", ")} } from "posenc";`;
  const made = `const scheme = ${call};`;
  if (scheme.slot === "embed") return [imported("encode"), "", made, `const table = encode(scheme, ${where});`];
  const dim = scheme.slot === "bias" ? 64 : number("dim", 64);
  const heads = number("heads", scheme.slot === "bias" ? 1 : 8);
  const options = [
    `${scheme.slot}: scheme`,
    ...(positions ? ["queryPositions: positions, keyPositions: positions"] : []),
    ...(option ? [option] : positions ? [] : ["causal: true"]),
  ].join(", ");
  return [
    imported("attention", "randomNormal", ...(scheme.slot === "bias" ? ["bias"] : [])),
    "",
    made,
    ...(positions ? [`const positions = ${positions};`] : []),
    ...(scheme.slot === "bias"
      ? [`const matrices = bias(scheme, { queries: ${positions ? "positions" : where}, keys: ${positions ? "positions" : where} });`]
      : []),
    `const [q, k, v] = randomNormal([3, ${heads}, ${tokens}, ${dim}]); // heads, tokens, width`,
    `const { out } = attention(q, k, v, { ${options} });`,
  ];
}

function paramTable(params) {
  const lines = ["| parameter | | default | |", "|---|---|---|---|"];
  for (const param of params) {
    const fallback = param.required
      ? "required"
      : param.defaultParam
        ? `\`${param.defaultParam}\``
        : param.default === null || param.default === undefined
          ? ""
          : `\`${JSON.stringify(param.default)}\``;
    const { neededBy = [], takenBy = [] } = param;
    const belongs = [
      neededBy.length > 0 ? ` Required ${belonging(param, neededBy)}.` : "",
      takenBy.length > 0 ? ` Optional ${belonging(param, takenBy)}.` : "",
    ].join("");
    lines.push(
      `| \`${param.name}\` | ${cell(param.allowed ?? param.kind)} | ${fallback} | ${cell(sentence(param.sentence))}${belongs} |`,
    );
  }
  return lines;
}

const conventionList = (items = []) => items.map(([name, text]) => `- **${prose(name)}**: ${prose(text)}`);

function reference(scheme) {
  const { notes = {} } = scheme;
  const lines = [
    kGenerated,
    `# ${scheme.name}`,
    "",
    `**${scheme.title}**, ${scheme.slot}. ${sentence(scheme.summary)}`,
    "",
    "```math",
    scheme.formula,
    "```",
    "",
    `Source: ${sentence(scheme.reference)}`,
    "",
    "<picture>",
    `  <source media="(prefers-color-scheme: dark)" srcset="${scheme.name}.dark.svg">`,
    `  <img src="${scheme.name}.svg" alt="${`A picture of what ${scheme.title} does`.replaceAll('"', "&quot;")}">`,
    "</picture>",
    "",
    "## Example",
    "",
    "```js",
    ...exampleCode(scheme),
    "```",
  ];
  if (scheme.params.length > 0) lines.push("", "## Parameters", "", ...paramTable(scheme.params));
  if (scheme.laws.length > 0) {
    lines.push("", "## Laws", "", "The tests prove these, and refuse one that holds and is not claimed.", "");
    for (const claim of scheme.laws)
      lines.push(`- *${lawText(claim)}*${claim.sentence ? `: ${sentence(claim.sentence)}` : ""}`);
  }
  const words = [
    ...conventionList(notes.Conventions),
    ...(notes.Also?.Conventions ? ["", "Its rules:", "", ...conventionList(notes.Also.Conventions)] : []),
    ...["Good at", "Fails", "Cost"].flatMap((name) =>
      notes[name] ? ["", `**${name}**: ${prose(sentence(notes[name]))}`] : [],
    ),
  ];
  if (words.length > 0) lines.push("", "## Notes", "", ...words);
  return `${lines.join("\n").replaceAll("\n\n\n", "\n\n")}\n`;
}

const kBegin = "<!-- schemes:begin -->";
const kEnd = "<!-- schemes:end -->";

function withTable(readme, table) {
  const begin = readme.indexOf(kBegin);
  const end = readme.indexOf(kEnd);
  if (begin < 0 || end < begin) throw new Error(`README.md needs the lines ${kBegin} and ${kEnd}.`);
  return `${readme.slice(0, begin + kBegin.length)}\n${table}\n${readme.slice(end)}`;
}

// ---------------------------------------------------------------- posenc/worker

// What costs nothing, or must be known at once, is the same in posenc/worker; every other function is a promise there.
const kAtOnce = ["module", "error", "tensor", "positions", "scheme", "schemes.gen", "catalogue"];

/** The functions that index.ts passes on and that compute. */
export function computing() {
  const names = [];
  const parts = ["core", "layers", "analysis/index"].map((part) =>
    readFileSync(join(kRoot, `web/src/${part}.ts`), "utf8"),
  );
  const statements = parts.join("").replace(/\/\/.*$/gm, "").matchAll(/^export (type )?(\*|\{([^}]*)\}) from "\.\/([^"]+)\.js";$/gm);
  for (const [, type, what, list, module] of statements) {
    if (type || kAtOnce.includes(module)) continue;
    if (what === "*") throw new Error(`What ${module}.ts has must be exported by name.`);
    for (const entry of list.split(",").map((text) => text.trim())) {
      const name = entry.split(" as ").at(-1);
      if (/^[a-z]\w*$/.test(name)) names.push(name);
    }
  }
  return names;
}

// Those that run in blocks, where these are made, and their types where the general ones would lose what they infer.
const kInBlocks = {
  attention: ["attentionParts", "attention-blocks", "LaterAttention"],
  multiHeadAttention: ["multiHeadParts", "multi-head-blocks", "LaterMultiHeadAttention"],
  attentionGradient: ["gradientParts", "gradient-blocks"],
};

function worker() {
  const lines = computing().map((name) => {
    const [blocks, , own] = kInBlocks[name] ?? [];
    const call = `/* @__PURE__ */ later("${name}", posenc.${name}${blocks ? `, ${blocks}` : ""});`;
    const line = `export const ${name}${own ? `: ${own}` : ""} = `;
    const broken = line.length + call.length > kColumns ? `\n  ${call}` : call;
    return `/** {@link posenc.${name}} */\n${line.trimEnd()}${broken === call ? " " : ""}${broken}`;
  });
  return `${[
    "// Generated by tools/generate.mjs from what index.ts exports. Do not edit.",
    `import * as posenc from "./index.js";`,
    ...Object.values(kInBlocks).map(([parts, file]) => `import { ${parts} } from "./worker/${file}.js";`).sort(),
    `import { ${[...Object.values(kInBlocks).flatMap(([, , own]) => (own ? [`type ${own}`] : [])), "later"].join(", ")} } from "./worker/later.js";`,
    "",
    `export * from "./index.js";`,
    ...lines,
  ].join("\n")}\n`;
}

// ---------------------------------------------------------------- files

/** Path -> text of every generated file, but for the pictures. */
export function filesOf(catalogue) {
  const files = new Map([
    ["web/src/schemes.gen.ts", typescript(catalogue)],
    ["web/src/worker.gen.ts", worker()],
    ["web/src/sentences.gen.ts", paramSentences(catalogue)],
    ["web/src/prose.gen.ts", catalogueProse(catalogue)],
    ["docs/schemes.md", index(catalogue)],
    ...catalogue.map((scheme) => [`docs/${page(scheme)}`, reference(scheme)]),
  ]);
  const readme = join(kRoot, "README.md");
  if (existsSync(readme)) {
    files.set("README.md", withTable(readFileSync(readme, "utf8"), schemeTable(catalogue, "docs/")));
  }
  return files;
}

const kPictureWidth = 640;

// `view=profiles grid="7 7"` as an object.
function attributesOf(text) {
  return Object.fromEntries(
    [...text.matchAll(/([\w-]+)=(?:"([^"]*)"|(\S+))/g)].map(([, name, words, word]) => [name, words ?? word]),
  );
}

/** Path -> text of the pictures, light and dark, drawn by `library`: the exports of posenc and posenc/render. */
export function picturesOf(catalogue, library) {
  const files = new Map();
  for (const scheme of catalogue) {
    const words = scheme.notes?.Picture ?? "";
    const attributes = attributesOf(words);
    const bare = words.replace(/[\w-]+=(?:"[^"]*"|\S+)/g, "").split(/\s+/);
    const figure = bare.find((word) => word && word !== "data") ?? scheme.slot;
    let data;
    if (bare.includes("data")) {
      data = new Function(...Object.keys(library), `return ${exampleOf(scheme).call};`)(...Object.values(library));
    } else attributes.scheme = scheme.name;
    for (const theme of ["light", "dark"]) {
      const options = { width: kPictureWidth, theme, ...(data ? { data } : {}) };
      let svg;
      try {
        svg = library.renderSVG(figure, attributes, options);
      } catch (error) {
        // A skeleton may have nothing to draw yet; who looks at whom under it can always be drawn.
        if (words) throw new Error(`The picture of ${scheme.name} cannot be drawn: ${error.message}`);
        svg = library.renderSVG("attention", attributes, options);
      }
      files.set(`docs/schemes/${scheme.name}${theme === "dark" ? ".dark" : ""}.svg`, `${svg}\n`);
    }
  }
  return files;
}

// The figures as they are in the sources, bundled for this process.
async function readLibrary() {
  const esbuild = await import("esbuild");
  const file = join(kRoot, "build/documents/library.mjs");
  await esbuild.build({
    stdin: {
      contents: `export * from "./index.js"; export * from "./render.js";`,
      resolveDir: join(kRoot, "web/src"),
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    platform: "node",
    outfile: file,
    define: { POSENC_CLASSIC: "false", POSENC_VERSION: '"0"' },
    logLevel: "silent",
  });
  return import(`${pathToFileURL(file).href}?${Date.now()}`);
}

/** Writes (or, without `write`, only names) the files that are not as they should be. */
export async function generate({ write = false } = {}) {
  const stale = [];
  const compare = (files) => {
    for (const [path, text] of files) {
      const file = join(kRoot, path);
      if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
      stale.push(path);
      if (!write) continue;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  };
  const catalogue = await readCatalogue();
  const pages = filesOf(catalogue);
  compare(pages);
  // After the factories, which the figures are made with.
  const pictures = picturesOf(catalogue, await readLibrary());
  compare(pictures);
  const folder = join(kRoot, "docs/schemes");
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const path = `docs/schemes/${name}`;
    if (pages.has(path) || pictures.has(path)) continue;
    stale.push(path);
    if (write) rmSync(join(folder, name));
  }
  return stale;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const check = process.argv.includes("--check");
    const stale = await generate({ write: !check });
    for (const path of stale) console.log(`${check ? "stale" : "wrote"}: ${path}`);
    if (check && stale.length > 0) process.exitCode = 1;
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
