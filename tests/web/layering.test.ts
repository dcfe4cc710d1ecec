// Who may include whom, and what stands in one place only. Each rule reads the sources.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const kRoot = join(import.meta.dirname, "../..");

function filesUnder(folder: string, pattern: RegExp): string[] {
  const full = join(kRoot, folder);
  if (!existsSync(full)) return [];
  return readdirSync(full, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => relative(kRoot, join(entry.parentPath, entry.name)))
    .sort();
}

const read = (path: string): string => readFileSync(join(kRoot, path), "utf8");

// Without comments; strings stay, lines keep their numbers.
function code(path: string): string {
  return read(path)
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ""))
    .replace(/^\s*\/\/.*$/gm, "")
    .replace(/([^:"'`])\/\/ .*$/gm, "$1");
}

// "file:line: text" of every line of code that matches, so that a failure reads as a list of what to mend.
function matches(files: readonly string[], pattern: RegExp): string[] {
  return files.flatMap((path) =>
    code(path)
      .split("\n")
      .flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : [])),
  );
}

const cpp = filesUnder("cpp", /\.(h|cpp|def)$/);
const webSource = filesUnder("web/src", /\.ts$/);
const figures = filesUnder("web/figures", /\.ts$/);
const site = filesUnder("web/site", /\.ts$/);
const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
  cwd: kRoot,
  encoding: "utf8",
})
  .split("\0")
  .filter((path) => path && existsSync(join(kRoot, path)));

const outside = (files: readonly string[], folder: string): string[] =>
  files.filter((path) => !path.startsWith(`${folder}/`));
const within = (files: readonly string[], folder: string): string[] =>
  files.filter((path) => path.startsWith(`${folder}/`));

describe("C++", () => {
  const order = ["simd", "kernels", "schemes", "attention", "analysis", "bindings"];

  it("has sources in every folder that the rules name", () => {
    for (const folder of ["core", ...order.filter((name) => name !== "analysis")]) {
      expect(within(cpp, `cpp/${folder}`), folder).not.toEqual([]);
    }
  });

  it("includes only its own folder and those to its left", () => {
    const wrong: string[] = [];
    for (const path of cpp) {
      const folder = path.split("/").length > 2 ? path.split("/")[1]! : "";
      for (const [, included] of code(path).matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)) {
        const target = included!.includes("/") ? included!.split("/")[0]! : "";
        if (!existsSync(join(kRoot, "cpp", included!))) {
          wrong.push(`${path}: "${included}" is not a path below cpp/`);
          continue;
        }
        // posenc.h re-exports; nothing of ours includes it.
        const allowed =
          folder === ""
            ? target !== "bindings"
            : folder === target
              ? true
              : target === "core"
                ? folder !== "simd"
                : folder === "core"
                  ? false
                  : target !== "" && order.indexOf(target) < order.indexOf(folder);
        if (!allowed) wrong.push(`${path}: "${included}"`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("knows only folders of the design", () => {
    const folders = new Set(cpp.filter((path) => path.split("/").length > 2).map((path) => path.split("/")[1]));
    expect([...folders].filter((folder) => folder !== "core" && !order.includes(folder!))).toEqual([]);
  });

  it("keeps intrinsics and the machine in simd/", () => {
    const elsewhere = outside(cpp, "cpp/simd");
    expect(matches(elsewhere, /#\s*include\s*<(\w*mmintrin|immintrin|x86intrin|wasm_simd128|arm_neon)\.h>/)).toEqual(
      [],
    );
    expect(
      matches(
        elsewhere,
        /\b_mm\d*_\w+|\bwasm_[fiuv]\d+x?\d*_\w+|\bv128_t\b|\b__m128\w*|\b__builtin_(ia32|wasm)\w*|\b(asm|__asm__)\b/,
      ),
    ).toEqual([]);
    expect(
      matches(
        elsewhere,
        /^\s*#.*\b(__SSE\w*|__AVX\w*|__x86_64__|__i386__|__aarch64__|__ARM\w*|__wasm\w*|_M_\w+|POSENC_SCALAR)\b/,
      ),
    ).toEqual([]);
  });

  it("keeps Emscripten in bindings/", () => {
    expect(matches(outside(cpp, "cpp/bindings"), /<emscripten|__EMSCRIPTEN__|EMSCRIPTEN_/)).toEqual([]);
  });

  it("keeps schemes and attention out of the part that analyses, for they would double what is downloaded", () => {
    const includes = /#\s*include\s+"(?:schemes|attention|bindings\/core)\//;
    const part = [...within(cpp, "cpp/bindings/analysis"), ...within(cpp, "cpp/analysis")];
    expect(part.length).toBeGreaterThan(2);
    expect(matches(part, includes)).toEqual([]);
  });

  it("has no arithmetic in bindings/", () => {
    expect(matches(within(cpp, "cpp/bindings"), /#\s*include\s+<cmath>|\bstd::(sqrt|sin|cos|exp|log|pow)\b/)).toEqual(
      [],
    );
  });

  it("keeps the order of the slots in attention/", () => {
    // Whoever calls the pairwise terms of a relate scheme, or softens, knows the order.
    const elsewhere = cpp.filter((path) => !/^cpp\/(attention|schemes|kernels)\//.test(path));
    expect(matches(elsewhere, /(->|\.)(scores|accumulate|rescale|prepare_keys)\(/)).toEqual([]);
    expect(matches(within(cpp, "cpp/schemes"), /"attention\//)).toEqual([]);
  });

  it("asks the platform for no function whose bits differ", () => {
    const functions =
      "a?(sin|cos|tan)h?f?|atan2f?|exp[2m1f]*|log(10|2|1p|b)?f?|powf?|cbrtf?|hypotf?|l?gammaf?|erfc?f?|fmaf?";
    expect(matches(cpp, new RegExp(`\\b(std::|__builtin_)(${functions})\\b`))).toEqual([]);
    expect(
      matches(
        cpp,
        /\blong double\b|\b__int128\b|\bstd::(reduce|transform_reduce|execution)\b|#\s*pragma\s+(omp|STDC\s+FP_CONTRACT\s+ON)/,
      ),
    ).toEqual([]);
  });

  it("never throws, prints or aborts", () => {
    const core = outside(cpp, "cpp/bindings");
    expect(
      matches(
        core,
        /\bthrow\b|\bcatch\s*\(|\bstd::(abort|exit|terminate|cout|cerr)\b|\bf?printf\s*\(|#\s*include\s+<(iostream|cstdio|exception|stdexcept|random|thread)>/,
      ),
    ).toEqual([]);
  });

  it("guards every header and says in its first line what it is", () => {
    for (const path of cpp.filter((name) => name.endsWith(".h"))) {
      expect(read(path), path).toMatch(/^\/\/ \S/);
      expect(code(path), path).toContain("#pragma once");
    }
    for (const path of cpp.filter((name) => /\.(cpp|def)$/.test(name))) {
      expect(read(path), path).toMatch(/^(\/\/ \S|#include ")/);
    }
  });
});

describe("the library as compiled", () => {
  it("imports no such function either", () => {
    const archive = join(kRoot, "build/cpp/web/libposenc.a");
    expect(existsSync(archive), "web/build.mjs builds it").toBe(true);
    const nm = ["llvm-nm", "llvm-nm-14", "/usr/lib/llvm-14/bin/llvm-nm"].find((name) => {
      try {
        execFileSync(name, ["--version"], { stdio: "ignore" });
        return true;
      } catch {
        return false;
      }
    });
    expect(nm, "llvm-nm comes with clang").toBeDefined();
    const text = execFileSync(nm!, ["--undefined-only", archive], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 1 << 26,
    });
    const names = new Set(
      text
        .split("\n")
        .map((line) => /\bU (\w+)$/.exec(line.trim())?.[1])
        .filter(Boolean),
    );
    expect(names.size).toBeGreaterThan(3);
    const banned =
      /^(a?(sin|cos|tan)h?|atan2|sincos|exp|exp2|expm1|exp10|log|log2|log10|log1p|pow|cbrt|hypot|fma|tgamma|lgamma|erf|erfc)[fl]?$/;
    expect([...names].filter((name) => banned.test(name!))).toEqual([]);
  });
});

// What a module imports, types included.
function imports(path: string): string[] {
  const from = /^(?:import|export)\b[^"'`;=()]*\bfrom\s+["']([^"'\n]+)["']/gm;
  const bare = /^import\s+["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']/gm;
  const statements = [from, bare].flatMap((pattern) => [...code(path).matchAll(pattern)]);
  return [...statements].map((match) => match[1] ?? match[2]!);
}

describe("TypeScript", () => {
  const resolved = (path: string, specifier: string): string =>
    specifier.startsWith(".") ? relative(kRoot, join(kRoot, dirname(path), specifier)) : specifier;

  it("imports to the left only: src <- figures <- site", () => {
    expect(webSource.length).toBeGreaterThan(5);
    const wrong: string[] = [];
    const allow = (files: readonly string[], fits: (target: string, path: string) => boolean): void => {
      for (const path of files) {
        for (const specifier of imports(path)) {
          const target = resolved(path, specifier);
          if (!fits(target, path)) wrong.push(`${path}: ${specifier}`);
          if (specifier.startsWith(".") && !/\.(m?js)$/.test(specifier)) wrong.push(`${path}: ${specifier} has no .js`);
        }
      }
    };
    // The entries of the package that lead to the figures.
    const entries = ["web/src/elements.ts", "web/src/render.ts", "web/src/classic.ts", "web/src/anywidget.ts"];
    allow(
      webSource,
      (target, path) =>
        target.startsWith("web/src/") ||
        (path === "web/src/module.ts" && target.startsWith("build/wasm/")) ||
        (path === "web/src/analysis-part.ts" && target === "build/wasm/posenc-analysis_bytes.mjs") ||
        (path === "web/src/exact-part.ts" && target === "build/wasm/posenc-exact_bytes.mjs") ||
        // The text that a worker is made from.
        (path === "web/src/worker/threads.ts" && target === "build/worker/thread_text.mjs") ||
        (entries.includes(path) && target.startsWith("web/figures/")),
    );
    allow(
      figures,
      (target, path) =>
        target.startsWith("web/figures/") ||
        /^web\/src\/(core|outline|scheme|error|sentences|pixels|config|files)\.js$/.test(target) ||
        /^web\/src\/analysis\/(index|tsne-slices)\.js$/.test(target) ||
        /^d3-[a-z-]+$/.test(target) ||
        // Pictures without a browser bring their own letters and compression, which no element may pull in.
        (path.startsWith("web/figures/raster") && (target === "fflate" || target.startsWith("build/glyphs/"))),
    );
    allow(site, (target) => target.startsWith("web/"));
    const rasters = figures.filter((path) => /\/raster[^/]*$/.test(path));
    allow(
      figures.filter((path) => !rasters.includes(path)),
      (target) => !target.startsWith("web/figures/raster"),
    );
    // A page that asks for one program would load what these import.
    const programs = figures.filter((path) => path.startsWith("web/figures/numpy-"));
    expect(programs.length).toBeGreaterThan(5);
    for (const path of programs) {
      const loaded = [...code(path).matchAll(/^(?:import|export)(?! type\b)[^;]*\bfrom "([^"]+)";/gm)].map(([, to]) => to!);
      wrong.push(...loaded.filter((to) => !/^\.\/numpy(-\w+)?\.js$/.test(to)).map((to) => `${path}: ${to}`));
    }
    expect(wrong).toEqual([]);
  });

  it("keeps the glue and the heap in module.ts", () => {
    const elsewhere = [...webSource, ...figures, ...site].filter((path) => path !== "web/src/module.ts");
    expect(
      matches(
        elsewhere,
        /\bHEAP(U?8|U?16|U?32|F32|F64)\b|\.heap\b|\b_?malloc\b|\b_free\b|\bstackSave\b|posenc_(bytes|fallback)\.mjs/,
      ),
    ).toEqual([]);
    expect(matches(elsewhere, /\bWebAssembly\.(Module|Instance|compile|instantiate)\b/)).toEqual([]);
  });

  it("computes no encoding: no transcendental function outside the core", () => {
    // Where a drawing needs one: a place on the screen, never a number of the figure.
    const drawing: Record<string, RegExp> = {
      "web/figures/controls.ts": /\bMath\.log\(/, // a slider on a log scale
      "web/figures/marks.ts": /\bMath\.log10\(/, // the step between ticks
      "web/figures/rotate.ts": /\bMath\.hypot\(/, // the length of a hand on its circle
    };
    const functions = /\bMath\.(a?(sin|cos|tan)h?|atan2|exp|expm1|log|log2|log10|log1p|pow|hypot|cbrt|fround|random)\b/;
    const found = [...webSource, ...figures, ...site].flatMap((path) =>
      matches([path], functions).filter((line) => !drawing[path]?.test(line)),
    );
    expect(found).toEqual([]);
  });

  it("makes the names of attributes in one place", () => {
    const hyphens = /\/\[A-Z\]\/\w*, .*-\$\{\w+\.toLowerCase\(\)\}/;
    const scripts = tracked.filter((path) => /\.m?[jt]s$/.test(path) && !path.endsWith(".gen.ts"));
    const files = matches(scripts, hyphens).map((line) => line.replace(/:.*/, ""));
    expect(files).toEqual(["web/figures/figure.ts"]);
  });

  it("evaluates no text and writes no markup (policies forbid both)", () => {
    expect(
      matches(
        [...webSource, ...figures, ...site],
        /\beval\(|new Function\(|\.innerHTML\b|\.outerHTML\b|insertAdjacentHTML|document\.write|\bfetch\(|XMLHttpRequest/,
      ),
    ).toEqual([]);
  });

  it("has no enum, namespace, any or silenced type", () => {
    const typed = [...webSource, ...figures, ...site].filter((path) => !path.endsWith(".gen.ts"));
    expect(matches(typed, /^\s*(export\s+)?(declare\s+)?(const\s+)?(enum|namespace)\s+\w/)).toEqual([]);
    expect(matches(typed, /:\s*any\b|\bas any\b|<any>/)).toEqual([]);
    expect(typed.filter((path) => /@ts-(ignore|nocheck|expect-error)/.test(read(path)))).toEqual([]);
  });
});

describe("the catalogue", () => {
  const list = [...code("cpp/schemes/schemes.def").matchAll(/^SCHEME\((\w+), (\w+)\)$/gm)].map(([, slot, name]) => ({
    slot: slot!,
    name: name!,
  }));

  it("lists schemes, one a line", () => {
    expect(list.length).toBeGreaterThan(0);
    expect(
      code("cpp/schemes/schemes.def")
        .split("\n")
        .filter((line) => line.trim()).length,
    ).toBe(list.length);
  });

  it.each(list)("$slot $name has a file, a test, hashes, a factory and a place in the documents", ({ slot, name }) => {
    expect(existsSync(join(kRoot, `cpp/schemes/${slot}/${name}.cpp`)), "file").toBe(true);
    const test = `tests/cpp/schemes/${slot}/${name}_test.cpp`;
    expect(existsSync(join(kRoot, test)), test).toBe(true);
    expect(read(test)).toMatch(/TEST_CASE\(/);
    expect(
      read("tests/golden/hashes.txt")
        .split("\n")
        .filter((line) => line.includes(name)).length,
      "lines in tests/golden/hashes.txt",
    ).toBeGreaterThanOrEqual(4);
    const places: [string, string][] = [
      ["web/src/schemes.gen.ts", `export function ${name}(`],
      ["docs/schemes.md", `(schemes/${name}.md)`],
      [`docs/schemes/${name}.md`, `\n# ${name}\n`],
      ["README.md", `(docs/schemes/${name}.md)`],
    ];
    for (const [path, text] of places) expect(read(path).includes(text), `${path} has ${text.trim()}`).toBe(true);
  });

  it("has no scheme beside the list", () => {
    for (const path of filesUnder("cpp/schemes", /\.cpp$/)) {
      const [, , slot, file] = path.split("/");
      if (file === undefined || !/constexpr (Param|Descriptor) k/.test(code(path))) continue;
      expect(list, path).toContainEqual({ slot, name: file.replace(/\.cpp$/, "") });
    }
  });
});

describe("the tree", () => {
  it("names things for what they are", () => {
    expect(tracked.filter((path) => /(^|[/_.-])(utils?|helpers?|common|managers?|misc)([/_.-]|$)/i.test(path))).toEqual(
      [],
    );
  });

  it("commits nothing that is built", () => {
    expect(tracked.filter((path) => /^(build|dist|dist-site|node_modules)\/|\.(wasm|o|a|tgz)$/.test(path))).toEqual([]);
  });

  it("names no machine, and no address that packages come from", () => {
    const text = tracked.filter((path) =>
      /\.(h|cpp|def|ts|mjs|js|json|md|html|css|txt|cmake)$|^\.|CMakeLists|^\.ci\//.test(path),
    );
    const hosts = ["registry", "npmjs", "org"].join(".");
    const wrong = text.filter((path) => {
      const content = read(path);
      return (
        /(^|["'`\s(=])\/(work|tmp|home|root|Users)\//m.test(content) ||
        content.includes(hosts) ||
        /deb\.debian\./.test(content)
      );
    });
    expect(wrong).toEqual([]);
  });

  it("keeps lines of code within 120 columns", () => {
    // Generated code is as wide as it is, and style.ts is a style sheet.
    const other = /\.gen\.ts$|^web\/figures\/style\.ts$/;
    const sources = tracked.filter((path) => /\.(h|cpp|def|ts|mjs|cmake)$/.test(path) && !other.test(path));
    // A string, a template or a pattern that is long by itself stays in one piece.
    const literal = /(["'`])(?:(?!\1).){50,}\1|\/(?![/*]).{40,}\/|`[^`]{50,}$|^[^`]*`\W*$/;
    const wide = sources.flatMap((path) =>
      read(path)
        .split("\n")
        .flatMap((line, i) => ([...line].length > 120 && !literal.test(line) ? [`${path}:${i + 1}`] : [])),
    );
    expect(wide).toEqual([]);
  });

  it("states exact versions, and no address of any in the lock file", () => {
    const { dependencies, devDependencies } = JSON.parse(read("package.json")) as Record<
      string,
      Record<string, string> | undefined
    >;
    expect(dependencies ?? {}).toEqual({});
    for (const [name, version] of Object.entries(devDependencies ?? {}))
      expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
    expect(read("package-lock.json")).not.toContain('"resolved"');
  });
});
