// The package as a stranger gets it: packed, installed offline into an empty folder, imported, type-checked, weighed.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { figures as sources } from "../../web/figures/index.js";
import { figureFiles } from "../../web/figures/later.js";

const kRoot = join(import.meta.dirname, "../..");
const kManifest = JSON.parse(readFileSync(join(kRoot, "package.json"), "utf8")) as Record<string, unknown>;

let folder = "";
let tarball = "";
let files: string[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "posenc-package-"));
  const packed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: kRoot,
    encoding: "utf8",
  });
  const [{ filename, files: list }] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }];
  tarball = join(folder, filename);
  files = list.map(({ path }) => path);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "stranger", private: true, type: "module" }));
  execFileSync("npm", ["install", tarball, "--offline", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    encoding: "utf8",
    stdio: "pipe",
  });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

// Runs a script in the stranger's folder.
function node(
  source: string,
  name = "script.mjs",
  flags: readonly string[] = [],
): { status: number | null; stdout: string; stderr: string } {
  writeFileSync(join(folder, name), source);
  return spawnSync(process.execPath, [...flags, name], { cwd: folder, encoding: "utf8" });
}

describe("what is packed", () => {
  it("holds every file that the manifest leads to, and no source", () => {
    const leads = (value: unknown): string[] =>
      typeof value === "string" ? [value] : Object.values(value as object).flatMap(leads);
    for (const path of leads([kManifest.exports, kManifest.main, kManifest.module, kManifest.types]))
      expect(files, path).toContain(path.slice(2));
    for (const path of ["LICENSE", "README.md", "dist/THIRD-PARTY.txt", "dist/fallback.classic.js"])
      expect(files).toContain(path);
    const read = /^(docs\/\w+\.md|docs\/schemes\/\w+(\.md|(\.dark)?\.svg)|web\/examples\/[\w-]+\.mjs|(README|CHANGELOG|CONTRIBUTING)\.md)$/;
    const other = files.filter((path) => !path.startsWith("dist/") && !read.test(path));
    expect(other.sort()).toEqual(["LICENSE", "package.json"]);
    expect(files.filter((path) => /^dist\/site|\.zip$/.test(path))).toEqual([]);
  });

  it("holds the pages and pictures that the README and the documents lead to", () => {
    let count = 0;
    for (const page of files.filter((path) => /^(docs\/.*|README|CHANGELOG|CONTRIBUTING)\.md$/.test(path))) {
      const text = readFileSync(join(kRoot, page), "utf8");
      const links = [
        // Folders too: one of the sources' alone is not in the package.
        ...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g),
        ...text.matchAll(/<(?:img|source)\b[^>]* (?:src|srcset)="([^"]+)"/g),
      ];
      for (const [, path] of links) {
        const target = join(dirname(page), path!);
        expect(files.some((file) => file === target || file.startsWith(`${target}/`)), `${page}: ${path}`).toBe(true);
        count++;
      }
    }
    expect(count).toBeGreaterThan(60);
    expect(files).toContain("web/examples/01-encode.mjs");
  });

  it("brings no other package along", () => {
    expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["posenc"]);
  });

  it("satisfies publint", async () => {
    const { messages } = await publint({
      pkgDir: join(folder, "node_modules/posenc"),
      level: "suggestion",
      strict: true,
      pack: false,
    });
    const manifest = JSON.parse(readFileSync(join(folder, "node_modules/posenc/package.json"), "utf8")) as Record<
      string,
      unknown
    >;
    expect(messages.map((message) => formatMessage(message, manifest))).toEqual([]);
  });

  it("resolves with types for every kind of consumer", () => {
    const result = spawnSync(
      process.execPath,
      [
        join(kRoot, "node_modules/@arethetypeswrong/cli/dist/index.js"),
        tarball,
        "--profile",
        "esm-only",
        "--no-definitely-typed",
        "--exclude-entrypoints",
        "posenc.js",
        "worker-thread.js",
        "posenc.wasm",
        "posenc-analysis.wasm",
        "posenc-exact.wasm",
        "--format",
        "ascii",
        "--no-color",
      ],
      { encoding: "utf8", cwd: folder },
    );
    expect(result.status, result.stdout + result.stderr).toBe(0);
  });
});

describe("a good script", () => {
  it("gets the numbers of the notes", () => {
    const { status, stdout, stderr } = node(`
      import { alibi, attention, bias, embed, encode, info, rope, rotate, sinusoidal } from "posenc";
      const rows = (tensor) => tensor.tolist();
      console.log(JSON.stringify({
        three: rows(encode(sinusoidal({ dim: 4 }), [3])),
        cat: rows(embed([[0.2, -0.5, 0.8, 0.1], [-0.3, 0.4, 0.2, -0.6], [0.7, 0.1, -0.4, 0.3]],
          sinusoidal({ dim: 4 }))),
        slope: rows(bias(alibi({ heads: 8 }), { queries: [1], keys: [0] })),
        turned: rows(rotate([[1, 0]], rope({ dim: 2 }), { positions: [Math.PI / 2] })),
        even: rows(attention([[1, 0], [0, 1]], [[0, 0], [0, 0]], [[2, 4], [6, 8]]).out),
        backend: info().backend, version: info().version,
      }));
    `);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    const result = JSON.parse(stdout) as Record<"three" | "cat" | "turned" | "even", number[][]> & {
      slope: number[][][];
      backend: string;
      version: string;
    };
    const near = (actual: number[], expected: number[], digits: number): void => {
      expect(actual.length).toBe(expected.length);
      expected.forEach((value, i) => expect(actual[i]).toBeCloseTo(value, digits));
    };
    near(result.three[0]!, [0.1411, -0.99, 0.03, 0.9996], 3.5);
    near(result.cat[1]!, [0.5414709848, 0.9403023059, 0.2099998333, 0.3999500004], 6);
    near(result.cat[2]!, [1.609297427, -0.3161468365, -0.3800013333, 1.299800007], 6);
    expect(result.slope.flat(2)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((h) => -(2 ** -h)));
    near(result.turned[0]!, [0, 1], 6);
    expect(result.even).toEqual([
      [4, 6],
      [4, 6],
    ]);
    expect(result.backend).toBe("simd");
    expect(result.version).toBe(kManifest.version);
  });

  it("runs from posenc/external with the bytes handed in, and from require", () => {
    const external = node(`
      import { readFileSync } from "node:fs";
      import { createRequire } from "node:module";
      import { encode, init, info, sinusoidal } from "posenc/external";
      init({ wasm: readFileSync(createRequire(import.meta.url).resolve("posenc/posenc.wasm")) });
      console.log(encode(sinusoidal({ dim: 2 }), [0]).tolist().join(), info().backend);
    `);
    expect(external.stderr).toBe("");
    expect(external.stdout.trim()).toBe("0,1 simd");
    const required = node(
      `
      const { encode, sinusoidal } = require("posenc");
      console.log(encode(sinusoidal({ dim: 2 }), [0]).tolist().join());
    `,
      "script.cjs",
      ["--no-warnings"],
    );
    expect(required.stderr).toBe("");
    expect(required.stdout.trim()).toBe("0,1");
  });

  it("gets the same bits from the plain-JavaScript build", () => {
    const script = (backend: string): string => `
      import { createHash } from "node:crypto";
      import { alibi, attention, encode, info, init, randomNormal, ready, rope, shaw, sinusoidal } from "posenc";
      init({ backend: "${backend}" });
      await ready();
      const hash = createHash("sha256");
      const add = ({ data }) => hash.update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      add(encode(sinusoidal({ dim: 64 }), [-3, 0, 0.5, 7, 2 ** 40]));
      const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([4, 37, 16], { seed }));
      for (const options of [{ causal: true, bias: alibi({ heads: 4 }) }, { rotate: rope({ dim: 16 }) },
        { relate: shaw({ dim: 16, clip: 4, seed: 5 }), window: 9 }]) {
        const { out, weights, lse } = attention(q, k, v, { ...options, weights: true });
        add(out); add(weights); add(lse);
      }
      console.log(info().backend, hash.digest("hex"));
    `;
    const [simd, js] = ["simd", "js"].map((backend) => node(script(backend), `${backend}.mjs`));
    expect(simd!.stderr + js!.stderr).toBe("");
    const [simdName, simdHash] = simd!.stdout.trim().split(" ");
    const [jsName, jsHash] = js!.stdout.trim().split(" ");
    expect([simdName, jsName]).toEqual(["simd", "js"]);
    expect(simdHash).toMatch(/^[0-9a-f]{64}$/);
    expect(jsHash).toBe(simdHash);
  });

  it("has no effect by being imported, and leaves nothing behind when unused", async () => {
    const { stdout, stderr } = node(`
      const before = new Set(Object.getOwnPropertyNames(globalThis));
      let compiled = 0;
      WebAssembly.Module = class { constructor() { compiled++; } };
      const posenc = await import("posenc");
      const after = Object.getOwnPropertyNames(globalThis).filter((name) => !before.has(name));
      console.log(JSON.stringify([after, compiled, process.listenerCount("uncaughtException"),
        process.listenerCount("unhandledRejection"), Object.keys(posenc).length > 20]));
    `);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual([[], 0, 0, 0, true]);
    writeFileSync(join(folder, "unused.mjs"), `import { alibi, schemes } from "posenc"; import "posenc";`);
    const { outputFiles } = await build({
      entryPoints: [join(folder, "unused.mjs")],
      bundle: true,
      write: false,
      format: "esm",
      minify: true,
      logLevel: "error",
      absWorkingDir: folder,
    });
    expect(outputFiles[0]!.text.trim()).toBe("");
  });

  it("imports the elements where there is no document, and renders without one", () => {
    const { status, stdout, stderr } = node(`
      import "posenc/elements";
      import { renderSVG } from "posenc/render";
      console.log(renderSVG("embed", { scheme: "sinusoidal", positions: 8, dim: 8 }).slice(0, 4));
    `);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout.trim()).toBe("<svg");
  });
});

describe("files and models", () => {
  it("come from entries of their own, which share the module and the errors", () => {
    const { status, stdout, stderr } = node(`
      import { PosencError, Tensor, encode, rope, sinusoidal } from "posenc";
      import { readNpy, readSafetensors, toCsv, toNpy, toSafetensors } from "posenc/files";
      import { toOnnx } from "posenc/onnx";
      const table = encode(sinusoidal({ dim: 2 }), 2);
      const { wpe } = await readSafetensors(new Blob([toSafetensors({ wpe: table })]));
      let refused;
      try { readNpy(new Uint8Array(3)); } catch (error) { refused = error instanceof PosencError && error.code; }
      const model = toOnnx({ dim: 4, length: 8, rotate: rope({ dim: 4 }), causal: true });
      console.log(JSON.stringify([wpe instanceof Tensor, toCsv(readNpy(toNpy(wpe))), refused, model.length > 500]));
    `);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual([true, "0,1\r\n0.84147096,0.5403023\r\n", "invalid-file", true]);
  });
});

describe("workers", () => {
  it("run the functions with the same bits and errors, from an entry that shares the module", () => {
    const { status, stdout, stderr } = node(`
      import { PosencError, alibi, attention, randomNormal } from "posenc";
      import * as later from "posenc/worker";
      const x = randomNormal([2, 300, 8]);
      const options = { causal: true, bias: alibi({ heads: 2 }) };
      const [here, there] = [attention(x, x, x, options), await later.attention(x, x, x, options)];
      const error = await later.attention(x, x, x, { scale: "1" }).catch((reason) => reason);
      console.log(JSON.stringify([here.out.data.every((value, i) => value === there.out.data[i]),
        error instanceof PosencError && error instanceof TypeError && error.argument, later.alibi === alibi]));
    `);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual([true, "scale", true]);
  });

  it("run from a bundle, which leaves the package's files behind", async () => {
    writeFileSync(
      join(folder, "bundled.ts"),
      `import { encode, sinusoidal } from "posenc/worker";
       const { Worker } = process.getBuiltinModule("node:worker_threads");
       let made = 0;
       process.getBuiltinModule("node:worker_threads").Worker = class extends Worker {
         constructor(...args) { super(...args); made++; }
       };
       console.log((await encode(sinusoidal({ dim: 2 }), [0])).tolist().join(), made);`,
    );
    await build({
      entryPoints: [join(folder, "bundled.ts")],
      bundle: true,
      outfile: join(folder, "bundled/out.mjs"),
      format: "esm",
      minify: true,
      logLevel: "error",
      absWorkingDir: folder,
    });
    const result = spawnSync(process.execPath, [join(folder, "bundled/out.mjs")], { cwd: tmpdir(), encoding: "utf8" });
    expect(result.stderr).toBe("");
    expect(result.stdout.trim()).toBe("0,1 1");
  });
});

describe("configs of models", () => {
  it("come from an entry of its own, whose schemes the others take", () => {
    const { status, stdout, stderr } = node(`
      import { PosencError, attention, randomNormal } from "posenc";
      import { fromConfig } from "posenc/config";
      const config = { model_type: "gemma3_text", hidden_size: 32, num_attention_heads: 2, num_key_value_heads: 2,
        head_dim: 16, num_hidden_layers: 6, sliding_window: 3, rope_theta: 1e6, rope_local_base_freq: 1e4 };
      const { attention: options, layers, layerTypes } = fromConfig(config);
      const x = randomNormal([2, 5, 16]);
      const { out } = attention(x, x, x, { ...options, ...layers[0] });
      let refused;
      try { fromConfig({ ...config, rope_theta: 0 }); }
      catch (error) { refused = error instanceof PosencError && error.argument; }
      console.log(JSON.stringify([out.shape, layerTypes[5], String(layers[5].rotate), refused]));
    `);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    const turned = 'rope({dim: 16, base: 1000000, layout: "half"})';
    expect(JSON.parse(stdout)).toEqual([[2, 5, 16], "full_attention", turned, "rope_theta"]);
  });
});

describe("a bad script", () => {
  it("is told what was wrong, with what is allowed, and goes on", () => {
    const { status, stdout, stderr } = node(`
      import { PosencError, alibi, attention, encode, rope, sinusoidal } from "posenc";
      const told = [];
      const tries = [() => alibi({ heads: 0 }), () => alibi({ head: 8 }),
        () => attention([[1]], [[1]], [[1]], { bias: rope({ dim: 2 }) }),
        () => encode(sinusoidal({ dim: 4 }), [NaN]), () => encode(alibi({ heads: 2 }), 4)];
      for (const attempt of tries) {
        try { attempt(); told.push("no error"); }
        catch (error) {
          const { code, argument, given, allowed, message } = error;
          told.push({ ours: error instanceof PosencError, range: error instanceof RangeError,
            type: error instanceof TypeError, code, argument, given, allowed, message });
        }
      }
      told.push(encode(sinusoidal({ dim: 2 }), [0]).tolist());
      console.log(JSON.stringify(told));
    `);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    const told = JSON.parse(stdout) as Record<string, unknown>[];
    for (const error of told.slice(0, 5)) {
      expect(error).toMatchObject({ ours: true });
      for (const key of ["argument", "given", "allowed", "message"])
        expect(error[key], key).toEqual(expect.any(String));
    }
    expect(told[0]).toMatchObject({
      code: "out-of-range",
      argument: "heads",
      given: "0",
      allowed: "an integer from 1 to 1024",
      range: true,
    });
    expect(told[0]!.message).toBe("alibi: heads must be an integer from 1 to 1024, got 0");
    expect(told[1]).toMatchObject({ code: "unknown-option", type: true });
    expect(told[1]!.message).toContain("heads");
    expect(told[2]).toMatchObject({ code: "wrong-slot", argument: "bias" });
    expect(told[3]).toMatchObject({ argument: "positions" });
    expect(told[4]).toMatchObject({ code: "wrong-slot" });
    expect(told[5]).toEqual([[0, 1]]);
  });

  it("does not compile: a misplaced scheme is a type error", () => {
    writeFileSync(
      join(folder, "consumer.ts"),
      `
      import { PosencError, type Tensor } from "posenc";
      import { alibi, attention, encode, queryScale, relativeIndex, rope, rotate, schemes, shaw, sinusoidal }
        from "posenc";
      import "posenc/elements";
      import { renderSVG } from "posenc/render";
      import { readNpy, readSafetensors, toCsv, toNpy } from "posenc/files";
      import { toOnnx } from "posenc/onnx";
      import { type ModelPositions, fromConfig } from "posenc/config";
      import * as later from "posenc/worker";
      const q = [[1, 2], [3, 4]];
      const table: Tensor = encode(sinusoidal({ dim: 4, layout: "half" }), 4);
      const out: Tensor = attention(q, q, q, { causal: true, rotate: rope({ dim: 2 }), bias: alibi({ heads: 1 }),
        relate: shaw({ dim: 2, clip: 2 }) }).out;
      const heads: number = alibi({ heads: 8 }).heads;
      const svg: string = renderSVG("embed", {});
      const held: Record<string, Tensor> = readSafetensors(new Uint8Array(8), { names: ["wpe"] });
      const fetched: Promise<Tensor> = readNpy(new Blob([toNpy(table)]));
      const csv: string = toCsv(table, { header: true });
      const model: Uint8Array = toOnnx({ dim: 4, length: 8, rotate: rope({ dim: 4 }), causal: "bottom-right" });
      const read: ModelPositions = fromConfig({ rope_type: "default", head_dim: 2 });
      attention(q, q, q, { ...read.attention, ...read.layers?.[0], rotate: read.rotate ?? [] });
      const promised: Promise<Tensor<"float64">> = later.encode(sinusoidal({ dim: 4 }), 4, { dtype: "float64",
        signal: new AbortController().signal, onProgress: ({ done, total }) => done / total });
      // @ts-expect-error -- no such option there either
      later.attention(q, q, q, { casual: true });
      // @ts-expect-error -- a model needs its width
      toOnnx({ length: 8 });
      const names: string[] = schemes.map((scheme) => scheme.name);
      // @ts-expect-error -- a rotate scheme is no bias
      attention(q, q, q, { bias: rope({ dim: 2 }) });
      // @ts-expect-error -- a bias is no rotate scheme
      rotate(q, alibi({ heads: 1 }));
      // @ts-expect-error -- a relate scheme has no table of positions
      encode(shaw({ dim: 2, clip: 2 }), 4);
      // @ts-expect-error -- heads is required
      alibi({});
      // @ts-expect-error -- no such layout
      rope({ dim: 2, layout: "quarter" });
      // @ts-expect-error -- no such option
      attention(q, q, q, { casual: true });
      // What was asked for is there, and nothing else; in the worker too.
      const asked = attention(q, q, q, { weights: true, trace: true, dtype: "float64" });
      const terms: Tensor<"float64">[] = [asked.weights, asked.trace.scores, asked.lse];
      const far: Promise<Tensor<"float32">> = later.attention(q, q, q, { weights: true }).then((all) => all.weights);
      // @ts-expect-error -- not asked for
      attention(q, q, q).weights;
      // @ts-expect-error -- not asked for
      later.attention(q, q, q, { weights: true }).then((all) => all.trace);
      // @ts-expect-error -- ALiBi falls on no rows of a table
      relativeIndex(alibi({ heads: 1 }), { queries: 2, keys: 2 });
      // @ts-expect-error -- the logarithm needs the trained length
      queryScale({ law: "logn" });
      // The events of figures, on them and on what holds them.
      document.createElement("posenc-embed").addEventListener("posenc-error", function (event) {
        const why: unknown = event.detail.error;
        return [why, this.toSvg()];
      });
      document.body.addEventListener("posenc-error", ({ detail }) => detail.error);
      document.addEventListener("posenc-error", ({ detail }) => detail.error);
      addEventListener("posenc-ready", (event) => event.target);
      // @ts-expect-error -- no such detail
      addEventListener("posenc-error", ({ detail }) => detail.reason);
      export { terms, far };
      export { table, out, heads, svg, held, fetched, csv, model, read, names, promised, PosencError };
    `,
    );
    // The programs that the pages of the schemes show.
    const pages = join(kRoot, "docs/schemes");
    const shown = readdirSync(pages).filter((name) => name.endsWith(".md"));
    for (const page of shown) {
      const [, program] = /^```js\n([^]*?)^```/m.exec(readFileSync(join(pages, page), "utf8")) ?? [];
      writeFileSync(join(folder, page.replace(".md", ".ts")), program!);
    }
    const programs = shown.map((page) => page.replace(".md", ".ts"));
    for (const [module, moduleResolution] of [
      ["NodeNext", "NodeNext"],
      ["ESNext", "Bundler"],
    ]) {
      const result = spawnSync(
        process.execPath,
        [
          join(kRoot, "node_modules/typescript/bin/tsc"),
          "--ignoreConfig",
          "consumer.ts",
          ...programs,
          "--noEmit",
          "--strict",
          "--exactOptionalPropertyTypes",
          "--target",
          "ES2022",
          "--lib",
          "ES2022,DOM,DOM.Iterable",
          "--module",
          module!,
          "--moduleResolution",
          moduleResolution!,
          "--pretty",
          "false",
        ],
        { cwd: folder, encoding: "utf8" },
      );
      expect(result.stdout + result.stderr, moduleResolution).toBe("");
    }
  });
});

describe("a module", () => {
  const x = "{ shape: [3, 2], data: Float32Array.of(1, 2, 3, 4, 5, 6) }";
  // What of it runs for the first time, and the numbers it gives.
  const calls: Record<string, string> = {
    posenc: `posenc.attention(${x}, ${x}, ${x}).out`,
    "posenc-exact": `posenc.attention(${x}, ${x}, ${x}, { dtype: "float64" }).out`,
    "posenc-analysis": `posenc.similarity(${x})`,
  };
  it.each(Object.keys(calls))("is read from %s.wasm beside it, and unpacked where that is gone or other", (part) => {
    const file = join(folder, `node_modules/posenc/dist/${part}.wasm`);
    const whole = readFileSync(file);
    // Another part's call makes the core as well: here it is there already.
    const run = (): { sizes: number[]; out: number[] } => {
      const { stdout, stderr } = node(`const sizes = [];
        const posenc = await import("posenc");
        ${part === "posenc" ? "" : "posenc.info();"}
        WebAssembly.Module = new Proxy(WebAssembly.Module, {
          construct: (Module, [bytes]) => (sizes.push(bytes.byteLength), new Module(bytes)),
        });
        const { data } = ${calls[part]!};
        console.log(JSON.stringify({ sizes, out: [...data] }));`);
      expect(stderr).toBe("");
      return JSON.parse(stdout) as ReturnType<typeof run>;
    };
    const { sizes, out } = run();
    expect(sizes).toEqual([whole.length]);
    const unpacked = [expect.any(Number), whole.length] as number[];
    try {
      for (const at of [0, Math.floor(whole.length / 122) * 61]) {
        const other = Uint8Array.from(whole);
        other[at]! ^= 1;
        writeFileSync(file, other);
        expect(run(), String(at)).toEqual({ sizes: unpacked, out });
      }
      rmSync(file);
      expect(run()).toEqual({ sizes: unpacked, out });
    } finally {
      writeFileSync(file, whole);
    }
  });
});

describe("size", () => {
  const dist = join(kRoot, "dist");
  const gzipped = (path: string): number => gzipSync(readFileSync(path), { level: 9 }).length;
  // An entry with all that it imports before it runs.
  const closure = (entry: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(entry)) return seen;
    seen.add(entry);
    for (const match of readFileSync(entry, "utf8").matchAll(/(?:\bfrom|\bimport)\s*"(\.[^"]+)"/g))
      closure(join(dirname(entry), match[1]!), seen);
    return seen;
  };
  const weigh = (files: Iterable<string>): number => [...files].reduce((sum, path) => sum + gzipped(path), 0);
  const weight = (entry: string): number => weigh(closure(join(dist, entry)));

  // What a page loads that shows one figure: the elements, and the figure's own file with all that it imports.
  const pages = (): Record<string, number> => {
    const entry = join(dist, "elements.js");
    const files = [...readFileSync(entry, "utf8").matchAll(/\bimport\("(\.\/chunks\/([a-z]+)-\w+\.js)"\)/g)];
    // What figures load beside their own file, when they are asked to.
    const own = files.filter(([, , name]) => name !== "permalink");
    return Object.fromEntries(own.map(([, path, name]) => [name!, weigh(closure(join(dist, path!), closure(entry)))]));
  };

  // What a bundler makes of a page that uses everything but the analysis.
  const core = async (): Promise<number> => {
    const { outputFiles } = await build({
      entryPoints: [join(kRoot, "web/src/core.ts")],
      bundle: true,
      minify: true,
      format: "esm",
      target: "es2022",
      external: ["*_fallback.mjs"],
      define: { POSENC_CLASSIC: "false", POSENC_VERSION: '"0.0.0"' },
      write: false,
    });
    return gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
  };

  // The core was to stay within 90 kB; masks, sinks, projections of heads and 21 schemes need more. The classic script
  // holds everything: the analysis with its module, the readers of files and configs, the writer of models, workers.
  it("is at most 96 kB gzipped for the core with wasm inlined, 150 kB with a figure", async () => {
    const sizes = {
      core: await core(),
      index: weight("index.js"),
      figures: weight("elements.js"),
      classic: gzipped(join(dist, "posenc.js")),
      fallback: gzipped(join(dist, "fallback.js")),
      files: weight("files.js"),
      onnx: weight("onnx.js"),
      worker: gzipped(join(dist, "worker.js")),
      config: weight("config.js"),
      wasm: statSync(join(dist, "posenc.wasm")).size,
    };
    console.log(`measured: gzipped bytes ${JSON.stringify(sizes)}`);
    expect(sizes.core).toBeGreaterThan(10_000);
    expect(sizes.core).toBeLessThanOrEqual(96_000);
    expect(sizes.figures).toBeLessThanOrEqual(127_000);
    const shown = pages();
    console.log(`measured: gzipped bytes of a page of one figure ${JSON.stringify(shown)}`);
    expect(Object.keys(shown)).toEqual(Object.keys(figureFiles));
    // Where a figure shows the analysis, its module comes along: all that index.js has, and the elements.
    const analyses = (name: string): boolean =>
      /from "\.\.\/src\/analysis\//.test(readFileSync(join(kRoot, `web/figures/${name}.ts`), "utf8"));
    for (const [name, bytes] of Object.entries(shown)) {
      expect(bytes, name).toBeLessThanOrEqual(analyses(name) ? 192_000 : 150_000);
    }
    // The functions once more, for the worker's script, and what brings them there.
    expect(sizes.worker).toBeLessThanOrEqual(60_000);
    // Eighteen figures, of 3 to 6 kB each.
    expect(sizes.classic).toBeLessThanOrEqual(304_500);
  });

  it("says what the figures' attributes mean, in one file with all of them their names alone", async () => {
    const built: unknown = await import(pathToFileURL(join(dist, "render.js")).href);
    const { figures } = built as typeof import("../../web/src/render.js");
    const told = (list: typeof figures) => list.map(({ name, attributes }) => [name, attributes]);
    expect(told(figures)).toEqual(told(sources));
    const script = readFileSync(join(dist, "posenc.js"), "utf8");
    for (const { name, attributes } of sources) {
      const names = Object.keys(attributes).map((attribute) => `${attribute}:""`);
      expect(script.replace(/\n/g, ""), name).toContain(`{${names.join(",")}}`);
    }
  });

  it("is exported whole by the classic script, and nothing else, whatever stands on Object.prototype", async () => {
    const index = (await import(pathToFileURL(join(dist, "index.js")).href)) as object;
    const globals = { WebAssembly, TextDecoder, TextEncoder, performance, atob, URL, setTimeout };
    const script = `Object.prototype.q = 1; Object.prototype.each = function () {};
      ${readFileSync(join(dist, "posenc.js"), "utf8")};
      [Object.keys(posenc), Array.from(posenc.encode(posenc.sinusoidal({ dim: 4 }), 1).data)]`;
    const [names, row] = runInNewContext(script, globals) as [string[], number[]];
    expect(names).toEqual(expect.arrayContaining(Object.keys(index)));
    expect(names).not.toContain("each");
    expect([...row]).toEqual([0, 1, 0, 1]);
  });

  it("holds the module once, whatever a page imports", () => {
    const bytes = readFileSync(join(kRoot, "build/wasm/posenc_bytes.mjs"), "utf8").slice(2000, 2200);
    const holders = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter(
      (path) =>
        path.endsWith(".js") &&
        // The pages, which are not packed, have a copy of the classic script.
        !path.startsWith("site") &&
        // Whole by themselves, for who takes a single file.
        !["posenc.js", "anywidget.js"].includes(path) &&
        readFileSync(join(dist, path), "utf8").includes(bytes),
    );
    expect(holders.length).toBe(1);
    expect(existsSync(join(dist, "external.js"))).toBe(true);
    const owner = join(dist, holders[0]!);
    for (const entry of ["index.js", "worker.js", "elements.js", "render.js", "config.js", "files.js", "onnx.js"])
      expect(closure(join(dist, entry)), entry).toContain(owner);
  });
});
