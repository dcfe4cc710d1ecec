// Builds what ships: C++ -> modules (build/module), describe() -> generated sources, TypeScript -> types and bundles (dist),
// the page (dist-site). Each step is skipped while what it reads is unchanged.
//   node web/build.mjs [--modules] [--frozen] [--force]
//     --modules  only the modules and the generated sources
//     --frozen   leave generated sources as committed (the tests compare them)
//     --force    every step anew
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { kRoot, must, seconds } from "../tools/process.mjs";

const kWasm = join(kRoot, "build/module");
const kDist = join(kRoot, "dist");
const kSite = join(kRoot, "dist-site");
const kVersion = JSON.parse(readFileSync(join(kRoot, "package.json"), "utf8")).version;
const kTarget = ["es2022", "chrome94", "firefox93", "safari16.4"];

// ---------------------------------------------------------------- what changed

function filesUnder(path) {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

// One hash over names and contents of files and of folders' files.
function fingerprint(paths) {
  const hash = createHash("sha256");
  for (const path of paths) {
    const full = join(kRoot, path);
    const isFile = existsSync(full) && filesUnder(dirname(full)).includes(full);
    for (const file of isFile ? [full] : filesUnder(full)) {
      hash.update(`${relative(kRoot, file)}\0`).update(readFileSync(file)).update("\0");
    }
  }
  return hash.digest("hex");
}

// Runs `work` unless its inputs and outputs are as they were after the last run; says what it did and how long it took.
async function step(name, { inputs, outputs, force }, work) {
  const stamp = join(kRoot, "build/stamps", name);
  const now = fingerprint(inputs);
  const there = outputs.every((output) => existsSync(join(kRoot, output)));
  if (!force && there && existsSync(stamp) && readFileSync(stamp, "utf8") === now) return false;
  const start = performance.now();
  rmSync(stamp, { force: true });
  await work();
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, fingerprint(inputs));
  console.log(`build: ${name} in ${seconds(start)}`);
  return true;
}

// ---------------------------------------------------------------- modules

async function cmake(preset) {
  await must("cmake", ["--preset", preset, `-DNODE_JS_EXECUTABLE=${process.execPath}`]);
  await must("cmake", ["--build", "--preset", preset]);
}

// The glue guesses where its bytes lie from its own address. We always hand them in, and bundlers must see neither the
// address nor a file name to follow.
function withoutAddress(source) {
  const clean = source
    .replace(/new URL\(("[^"]*\.wasm"),\s*import\.meta\.url\)\.toString\(\)/g, "$1")
    .replaceAll("import.meta.url", '""');
  if (clean.includes("import.meta") || clean.includes("new Function") || /\beval\(/.test(clean)) {
    throw new Error("The glue of this Emscripten looks up its own address or evaluates strings: web/build.mjs must be taught.");
  }
  return clean;
}

// What web/src imports by these names; web/src/glue.d.ts has their types.
export const kModulePaths = {
  "#glue": join(kWasm, "posenc_glue.mjs"),
  "#wasm": join(kWasm, "posenc_wasm.mjs"),
  "#fallback": join(kWasm, "posenc_fallback.mjs"),
};

async function modules(options) {
  const inputs = ["cpp", "CMakeLists.txt", "CMakePresets.json", "web/modules.cmake", "web/build.mjs", "package.json"];
  const outputs = ["posenc_glue.mjs", "posenc_wasm.mjs", "posenc_fallback.mjs", "posenc.wasm"].map((f) => `build/module/${f}`);
  return step("modules", { inputs, outputs, ...options }, async () => {
    await Promise.all([cmake("web"), cmake("web-js")]);
    const esbuild = await import("esbuild");
    const minified = async (file) => {
      const source = withoutAddress(readFileSync(join(kRoot, file), "utf8"));
      return (await esbuild.transform(source, { minify: true, target: kTarget, format: "esm", legalComments: "none" })).code;
    };
    mkdirSync(kWasm, { recursive: true });
    const bytes = readFileSync(join(kRoot, "build/web/posenc_simd.wasm"));
    writeFileSync(join(kWasm, "posenc.wasm"), bytes);
    writeFileSync(join(kWasm, "posenc_glue.mjs"), await minified("build/web/posenc_simd.mjs"));
    writeFileSync(join(kWasm, "posenc_fallback.mjs"), await minified("build/web-js/posenc_js.mjs"));
    writeFileSync(join(kWasm, "posenc_wasm.mjs"), `export default "${bytes.toString("base64")}";\n`);
  });
}

// ---------------------------------------------------------------- types

// The declarations stand in dist/types; the entries beside the bundles lead there.
async function types(entries) {
  await must(process.execPath, [join(kRoot, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.types.json"]);
  const to = (name) => `export * from "./types/src/${name}.js";`;
  for (const name of entries) {
    writeFileSync(join(kDist, `${name}.d.ts`), `${to(name)}\n`);
  }
  writeFileSync(join(kDist, "external.d.ts"), `${to("index")}\n`);
  // Its own types are those of the glue, which nobody else should hold.
  writeFileSync(join(kDist, "fallback.d.ts"), "/** The core as plain JavaScript; `ready()` loads it where WebAssembly is refused. */\n" +
    "declare const createCore: (options?: object) => object;\nexport default createCore;\n");
}

// ---------------------------------------------------------------- bundles

// The modules under the names that web/src has for them; posenc/external has no bytes inlined. In a bundle of its own
// (`fallback` given) the plain-JavaScript build stays a file beside it.
function modulePlugin({ inlined = true, fallback } = {}) {
  return {
    name: "posenc-modules",
    setup(build) {
      build.onResolve({ filter: /^#(glue|wasm|fallback)$/ }, (args) => args.path === "#wasm" && !inlined
        ? { path: args.path, namespace: "empty" } : { path: kModulePaths[args.path] });
      build.onLoad({ filter: /.*/, namespace: "empty" }, () => ({ contents: 'export default "";' }));
      if (fallback) {
        build.onResolve({ filter: /^\.\/fallback\.js$/ }, () => ({ path: fallback, external: true, sideEffects: false }));
      }
    },
  };
}

async function bundles(entries, { analyse = false } = {}) {
  const esbuild = await import("esbuild");
  const source = (name) => join(kRoot, "web/src", `${name}.ts`);
  const shared = {
    bundle: true, minify: true, target: kTarget, legalComments: "none", charset: "utf8", absWorkingDir: kRoot,
    logLevel: "silent", metafile: true, conditions: ["module"],
  };
  const define = (classic) => ({ POSENC_CLASSIC: String(classic), POSENC_VERSION: JSON.stringify(kVersion) });

  // ES modules: the shared chunk holds the module, so it exists once however many entries a page imports.
  const esm = await esbuild.build({
    ...shared, format: "esm", splitting: true, outdir: kDist, entryNames: "[name]", chunkNames: "chunks/[name]-[hash]",
    entryPoints: Object.fromEntries(entries.map((name) => [name, source(name)])),
    define: define(false), plugins: [modulePlugin()],
  });
  await esbuild.build({
    ...shared, format: "esm", outfile: join(kDist, "external.js"), entryPoints: [source("index")],
    define: define(false), plugins: [modulePlugin({ inlined: false, fallback: "./fallback.js" })],
  });

  // The classic script: one global, the elements defined, everything in it.
  const own = existsSync(source("classic"));
  const parts = [`export * from "./index.js";`,
    ...entries.filter((name) => name === "elements" || name === "render").map((name) => `export * from "./${name}.js"; import "./${name}.js";`)];
  const classic = await esbuild.build({
    ...shared, format: "iife", globalName: "posenc", outfile: join(kDist, "posenc.js"),
    ...(own ? { entryPoints: [source("classic")] }
      : { stdin: { contents: parts.join("\n"), resolveDir: join(kRoot, "web/src"), loader: "ts" } }),
    define: { ...define(true), "import.meta.url": "undefined" },
    plugins: [modulePlugin({ fallback: "./fallback.js" })],
  });
  await esbuild.build({
    ...shared, format: "iife", globalName: "posencFallback", outfile: join(kDist, "fallback.classic.js"),
    entryPoints: [source("fallback")], plugins: [modulePlugin()],
  });
  cpSync(join(kWasm, "posenc.wasm"), join(kDist, "posenc.wasm"));
  writeFileSync(join(kDist, "THIRD-PARTY.txt"), notices([esm.metafile, classic.metafile]));
  if (analyse) console.log(await esbuild.analyzeMetafile(classic.metafile));
}

// The licences of what the bundles contain.
function notices(metafiles) {
  const packages = new Set();
  for (const { inputs } of metafiles) {
    for (const input of Object.keys(inputs)) {
      const match = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
      if (match) packages.add(match[1]);
    }
  }
  const parts = ["The bundles of posenc contain parts of these works.",
    "Emscripten's runtime and musl (MIT; https://emscripten.org), libc++ (Apache 2.0 with LLVM exceptions), " +
    "Eigen (MPL 2.0; https://eigen.tuxfamily.org)."];
  for (const name of [...packages].sort()) {
    const folder = join(kRoot, "node_modules", name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    parts.push(`${name}\n\n${file ? readFileSync(join(folder, file), "utf8").trim() : "see its package"}`);
  }
  return `${parts.join("\n\n----\n\n")}\n`;
}

// Gzipped bytes of an entry with every chunk it imports statically.
export function weigh(entry) {
  const seen = new Set();
  const walk = (file) => {
    if (seen.has(file)) return 0;
    seen.add(file);
    const text = readFileSync(file, "utf8");
    let bytes = gzipSync(text, { level: 9 }).length;
    for (const match of text.matchAll(/(?:\bfrom|\bimport)\s*"(\.[^"]+)"/g)) bytes += walk(join(dirname(file), match[1]));
    return bytes;
  };
  return walk(join(kDist, entry));
}

// ---------------------------------------------------------------- the page

// <span class="tex">…</span> and <div class="tex display">…</div> become MathML: no formula library at run time.
async function withFormulas(html) {
  const temml = (await import("temml")).default;
  const plain = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  return html.replace(/<(span|div) class="tex( display)?"([^>]*)>([\s\S]*?)<\/\1>/g, (_, tag, display, rest, tex) => {
    const math = temml.renderToString(plain(tex.trim()), { displayMode: Boolean(display), annotate: false, throwOnError: true, xml: false });
    return `<${tag} class="formula${display ?? ""}"${rest}>${math}</${tag}>`;
  });
}

async function site() {
  const esbuild = await import("esbuild");
  const from = join(kRoot, "web/site");
  rmSync(kSite, { recursive: true, force: true });
  mkdirSync(kSite, { recursive: true });
  for (const file of filesUnder(from)) {
    const to = join(kSite, relative(from, file));
    mkdirSync(dirname(to), { recursive: true });
    if (file.endsWith(".d.ts")) continue;
    if (file.endsWith(".ts")) {
      await esbuild.build({
        entryPoints: [file], outfile: to.replace(/\.ts$/, ".js"), bundle: true, minify: true, format: "iife",
        target: kTarget, legalComments: "none", charset: "utf8", logLevel: "silent",
        define: { POSENC_VERSION: JSON.stringify(kVersion) },
      });
    } else if (file.endsWith(".html")) {
      writeFileSync(to, await withFormulas(readFileSync(file, "utf8")));
    } else {
      cpSync(file, to);
    }
  }
  for (const file of ["posenc.js", "fallback.classic.js", "THIRD-PARTY.txt"]) cpSync(join(kDist, file), join(kSite, file));
}

// ---------------------------------------------------------------- all of it

export async function build({ onlyModules = false, frozen = false, force = false, analyse = false } = {}) {
  await modules({ force });
  const { generate } = await import("../tools/generate.mjs");
  if (!frozen) for (const file of await generate({ write: true })) console.log(`build: wrote ${file}`);
  if (onlyModules) return;

  const entries = ["index", "elements", "render", "fallback"].filter((name) => existsSync(join(kRoot, "web/src", `${name}.ts`)));
  const sources = ["web/src", "web/figures", "build/module", "web/build.mjs", "package.json", "package-lock.json", "tsconfig.json"];
  await step("bundles", { inputs: [...sources, "tsconfig.types.json"], outputs: ["dist/index.js", "dist/index.d.ts", "dist/posenc.js"], force: force || analyse },
    async () => {
      rmSync(kDist, { recursive: true, force: true });
      mkdirSync(kDist, { recursive: true });
      await Promise.all([bundles(entries, { analyse }), types(entries)]);
      const kB = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
      const classic = gzipSync(readFileSync(join(kDist, "posenc.js")), { level: 9 }).length;
      console.log(`build: gzipped, index ${kB(weigh("index.js"))}, classic script with all figures ${kB(classic)}`);
    });
  if (existsSync(join(kRoot, "web/site"))) {
    await step("site", { inputs: ["web/site", "web/src", "build/stamps/bundles", "web/build.mjs"], outputs: ["dist-site/index.html", "dist-site/posenc.js"], force }, site);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const flags = new Set(process.argv.slice(2));
  const known = { "--modules": "onlyModules", "--frozen": "frozen", "--force": "force", "--analyse": "analyse" };
  try {
    for (const flag of flags) if (!(flag in known)) throw new Error(`Unknown option ${flag}; there are ${Object.keys(known).join(", ")}.`);
    await build(Object.fromEntries([...flags].map((flag) => [known[flag], true])));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
