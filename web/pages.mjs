// Makes the pages, dist/site, out of web/site and the classic script, and a zip of them. They open from a disk, from
// any host, and without a network once they have been seen over http.
import { createHash } from "node:crypto";
import { appendFileSync, cpSync, existsSync, mkdirSync } from "node:fs";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { kRoot } from "../tools/process.mjs";
import { inLines } from "./lines.mjs";
import { mathFont, mathFontNotice } from "./math-font.mjs";

const kFrom = join(kRoot, "web/site");
/** The built folder and, beside it, the same as one file to hand on. */
export const kPages = join(kRoot, "dist/site");
export const kZip = join(kRoot, "dist/posenc-site.zip");
/** What all pages have around their content. */
const kFrame = "frame.html";
/** Files of the package that the pages need. */
const kOfThePackage = ["posenc.js", "fallback.classic.js", "THIRD-PARTY.txt"];
// One time for all, in fields that no time zone changes: the zip depends on what is in it alone.
const kTime = new Date(2020, 0, 1);

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

async function bundle(file, options) {
  const esbuild = await import("esbuild");
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(kFrom, file)],
    bundle: true,
    write: false,
    legalComments: "none",
    charset: "utf8",
    logLevel: "silent",
    ...options,
  });
  return outputFiles[0].text;
}

/** A module of the sources, by its path from web/site, as this process runs it. */
export async function sourceModule(file, target) {
  const code = await bundle(file, { format: "esm", target });
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
}

// What the pages say of numbers, questions and laws.
async function told(target) {
  const [{ liveText, liveRows, lawWords }, { numbersOf }, { questions }, { attributeName }] = await Promise.all(
    ["live.ts", "numbers.ts", "questions.ts", "../figures/figure.ts"].map((file) => sourceModule(file, target)),
  );
  const built = (file) => import(pathToFileURL(join(kRoot, "dist", file)).href);
  const [api, { figures }] = await Promise.all(["index.js", "render.js"].map(built));
  await api.ready();
  return { api, figures, attributeName, liveText, liveRows, lawWords, numbersOf, questions };
}

// ---------------------------------------------------------------- what HTML leaves to the build

// <page title="…" script="…" skip="…" description="…">…</page> is the whole of a page's source: head, header and
// navigation are frame.html's. A page that stands `alone` has neither header nor navigation.
function framed(html, file, frame) {
  const [, given = "", content = ""] = /^<page ([^>]*)>\n([\s\S]*?)\n?<\/page>\s*$/.exec(html) ?? [];
  const { alone, ...words } = Object.fromEntries(
    [...given.matchAll(/(\w+)(?:="([^"]*)")?/g)].map(([, name, value = ""]) => [name, value]),
  );
  let page = frame.replaceAll(`href="${file}"`, (link) => `${link} aria-current="page"`);
  if (alone !== undefined)
    page = page.replace(/<a class="skip"[\s\S]*<\/header>\n/, "").replace("<body>", '<body class="embedded">');
  return page.replace(/\{(\w+)\}/g, (_, name) => {
    const value = name === "content" ? content : words[name];
    if (!value) throw new Error(`${file} does not give its ${name}.`);
    return value;
  });
}

// <span class="tex">…</span> and <div class="tex display">…</div> become MathML: no formula library at run time.
// Strict policies refuse inline styles, so each becomes a class; `classes` maps styles to their names.
async function withFormulas(html, classes) {
  const temml = (await import("temml")).default;
  const plain = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  const formula = (_, tag, display, rest, tex) => {
    const options = { displayMode: Boolean(display), annotate: false, throwOnError: true, xml: false };
    const math = temml
      .renderToString(plain(tex.trim()), options)
      // Nobody's dictionary of operators knows these dots, which then stand apart.
      .replaceAll("<mo>…</mo>", '<mo lspace="0em" rspace="0em">…</mo>')
      // Nor does TeX put a space between dots and what closes after them.
      .replace(/(…<\/mo>)<mspace width="0.1667em"><\/mspace>(?=<mo [^>]*form="postfix")/g, "$1")
      // display="block" says the same.
      .replace(/ style="display:\s*block math;?"/g, "")
      .replace(/<(\w+)([^>]*?) style="([^"]*)"([^>]*)>/g, (__, element, before, style, after) => {
        if (!classes.has(style)) classes.set(style, `f${classes.size}`);
        const [, own] = / class="([^"]*)"/.exec(before + after) ?? [];
        const others = (before + after).replace(/ class="[^"]*"/, "");
        return `<${element}${others} class="${own ? `${own} ` : ""}${classes.get(style)}">`;
      });
    return `<${tag} class="formula${display ?? ""}"${rest}>${math}</${tag}>`;
  };
  // Browsers would break a line between a formula and the signs that lean on it.
  const leaning = /([(\u201c]*)(<span class="formula"[^>]*><math>[\s\S]*?<\/math><\/span>)((?:-th)?[.,;:?!)\u201d]*)/g;
  return html
    .replace(/<(span|div) class="tex( display)?"([^>]*)>([\s\S]*?)<\/\1>/g, formula)
    .replace(leaning, (all, before, math, after) => (before + after ? `<span class="whole">${all}</span>` : all));
}

// The numbers of the text, so that it reads where no script runs.
function withNumbers(html, { api, liveText, liveRows, numbersOf }) {
  const write = numbersOf(/<html lang="([^"]+)"/.exec(html)?.[1] ?? "en");
  return html
    .replace(/(<output\b[^>]*\bdata-live="([^"]+)"[^>]*>)(<\/output>)/g, (_, open, request, close) => {
      return open + escaped(liveText(api, write, request)) + close;
    })
    .replace(/(<tbody\b[^>]*\bdata-rows="([^"]+)"[^>]*>)(<\/tbody>)/g, (_, open, request, close) => {
      const rows = Array.from(liveRows(api, write, request), ([head, ...cells]) => {
        const row = [`<th scope="row">${escaped(head)}</th>`, ...cells.map((cell) => `<td>${escaped(cell)}</td>`)];
        return `<tr>${row.join("")}</tr>`;
      });
      return `${open}\n${rows.join("\n")}\n${close}`;
    });
}

// A claim says what stands behind it: a law of a scheme's, which the tests prove, or who has said or seen it.
function withClaims(html, { api, lawWords }) {
  return html.replace(/<claim ([^>]*)><\/claim>/g, (_, attributes) => {
    const pairs = [...attributes.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]);
    const { law, by, kind } = Object.fromEntries(pairs);
    if (law !== undefined) {
      const [scheme, name] = law.split(" ");
      const declared = api.schemes.find((candidate) => candidate.name === scheme)?.laws ?? [];
      const found = declared.find((candidate) => candidate.law === name);
      if (!found) throw new Error(`No scheme ${scheme} claims ${name}: the page may not say so.`);
      const when = found.when ? `, when ${found.when.text}` : "";
      const title = escaped(`${found.sentence}${when}`).replaceAll('"', "&quot;");
      return `<small class="claim" data-law="${law}" title="${title}">proved: ${lawWords(name)}</small>`;
    }
    if (by !== undefined) {
      const reference = new RegExp(`id="ref-${by}"[^>]*data-short="([^"]+)"`).exec(html)?.[1];
      if (!reference) throw new Error(`There is no reference ${by}.`);
      const verb = kind ?? "observed";
      return `<small class="claim" data-kind="${verb}">${verb} by <a href="#ref-${by}">${reference}</a></small>`;
    }
    if (!["derived", "computed", "unsourced"].includes(kind)) throw new Error(`What is a claim of kind ${kind}?`);
    return `<small class="claim" data-kind="${kind}">${kind}</small>`;
  });
}

function withQuestions(html, { questions }) {
  let number = 0;
  return html.replace(/<question name="([\w-]+)"><\/question>/g, (_, name) => {
    const question = questions.find((candidate) => candidate.name === name);
    if (!question) throw new Error(`There is no question ${name}.`);
    if (!html.includes(`id="${question.figure}"`)) throw new Error(`Question ${name} asks a figure that is not there.`);
    number += 1;
    return [
      `<aside class="question" data-question="${name}" aria-labelledby="q-${name}">`,
      `<h3 id="q-${name}">Question ${number}</h3>`,
      `<p class="ask">${escaped(question.text)} <a href="#${question.figure}">To the figure</a></p>`,
      `<p class="verdict" role="status"></p>`,
      `</aside>`,
    ].join("\n");
  });
}

// The gallery's sections, from what the figures say of themselves.
function withFigures(html, { figures, attributeName }) {
  return html.replace("<figures></figures>", () => {
    const list = figures.map(({ name }) => `<li><a href="#${name}">${name}</a></li>`);
    const sections = figures.map(({ name, attributes }) => {
      const rows = Object.entries(attributes).map(([attribute, text]) => {
        return `<tr><th scope="row"><code>${attributeName(attribute)}</code></th><td>${escaped(text)}</td></tr>`;
      });
      const snippet = (label, id) =>
        `<div class="snippet"><h3 id="${id}-${name}">${label}</h3> ` +
        `<button type="button" class="copy" aria-describedby="${id}-${name}">copy</button>\n` +
        `<pre tabindex="0" role="region" aria-label="${label}: posenc-${name}"></pre></div>`;
      return [
        `<section id="${name}" data-figure="${name}" aria-labelledby="h-${name}">`,
        `<h2 id="h-${name}"><code>&lt;posenc-${name}&gt;</code></h2>`,
        `<posenc-${name} permalink class="wide"><p>Drawn where scripts run.</p></posenc-${name}>`,
        snippet("In a page", "page"),
        snippet("In a frame", "frame"),
        `<p class="tool"><a class="alone" href="embed.html?fig=${name}">${name} alone</a></p>`,
        `<details class="attributes"><summary>attributes</summary>`,
        `<table><caption class="away">Attributes of posenc-${name}</caption>`,
        `<thead><tr><th scope="col">attribute</th><th scope="col">what it does</th></tr></thead>`,
        `<tbody>\n${rows.join("\n")}\n</tbody></table></details>`,
        `</section>`,
      ].join("\n");
    });
    return `<nav class="list" aria-label="Figures">\n<ul>\n${list.join("\n")}\n</ul>\n</nav>\n${sections.join("\n")}`;
  });
}

// ---------------------------------------------------------------- the folder

function filesUnder(path) {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .map((file) => file.slice(path.length + 1))
    .sort();
}

/** Builds the folder and the zip; dist must be there. */
export async function makePages({ version, target }) {
  rmSync(kPages, { recursive: true, force: true });
  mkdirSync(kPages, { recursive: true });
  const facts = await told(target);
  const scripts = new Set();
  const classes = new Map();
  let formulas = "";
  const source = (file) => readFileSync(join(kFrom, file), "utf8").replace(/<!--[\s\S]*?-->\n?/g, "");
  const frame = source(kFrame);
  for (const file of filesUnder(kFrom)) {
    const from = join(kFrom, file);
    const to = join(kPages, file);
    if (file.endsWith(".ts") || [kFrame, "service-worker.js"].includes(file)) continue;
    if (!file.endsWith(".html")) {
      cpSync(from, to);
      continue;
    }
    const html = withClaims(framed(source(file), file, frame), facts);
    for (const [, script] of html.matchAll(/<script src="([\w-]+)\.js"/g)) {
      if (existsSync(join(kFrom, `${script}.ts`))) scripts.add(script);
    }
    const filled = withFigures(withQuestions(withNumbers(html, facts), facts), facts);
    const page = await withFormulas(filled, classes);
    formulas += (page.match(/<math\b[\s\S]*?<\/math>/g) ?? []).join("");
    writeFileSync(to, page);
  }
  writeFileSync(join(kPages, "math.woff2"), await mathFont(formulas));
  const rules = Array.from(classes, ([style, name]) => `.${name} { ${style} }\n`).join("");
  appendFileSync(join(kPages, "site.css"), rules);
  for (const script of scripts) {
    const define = { POSENC_VERSION: JSON.stringify(version) };
    const text = await bundle(`${script}.ts`, { format: "iife", minify: true, target, define });
    writeFileSync(join(kPages, `${script}.js`), inLines(text));
  }
  for (const file of kOfThePackage) cpSync(join(kRoot, "dist", file), join(kPages, file));
  appendFileSync(join(kPages, "THIRD-PARTY.txt"), `\n----\n\n${mathFontNotice()}\n`);
  keepTogether();
  await zip();
}

// Pages name the build in the addresses of what they are made of, and the worker that keeps them keeps it under these.
function keepTogether() {
  const files = filesUnder(kPages);
  const worker = readFileSync(join(kFrom, "service-worker.js"), "utf8");
  const hash = createHash("sha256").update(worker);
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(kPages, file)));
  const version = hash.digest("hex").slice(0, 16);
  const named = (file) => (/\.(js|css|woff2)$/.test(file) ? `${file}?v=${version}` : file);
  const part = /(<script src|<link rel="stylesheet" href|\burl\()(=?")([\w-]+\.\w+)"/g;
  for (const file of files.filter((name) => /\.(html|css)$/.test(name))) {
    const text = readFileSync(join(kPages, file), "utf8");
    writeFileSync(
      join(kPages, file),
      text.replace(part, (_, head, quote, name) => `${head}${quote}${named(name)}"`),
    );
  }
  const kept = ["./", ...files.filter((file) => !file.endsWith(".txt")).map(named)];
  writeFileSync(
    join(kPages, "service-worker.js"),
    worker
      .replace('"POSENC_SITE_VERSION"', () => JSON.stringify(`posenc-${version}`))
      .replace('"POSENC_SITE_FILES"', () => JSON.stringify(kept)),
  );
}

async function zip() {
  const { zipSync } = await import("fflate");
  const folder = basename(kZip, ".zip");
  const entries = filesUnder(kPages).map((file) => [`${folder}/${file}`, readFileSync(join(kPages, file))]);
  writeFileSync(kZip, zipSync(Object.fromEntries(entries), { level: 9, mtime: kTime }));
}
