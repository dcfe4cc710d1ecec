// What a terminal shows of an error nobody caught: the message, and no page of minified code.
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { inLines } from "../../web/lines.mjs";

const kDist = join(import.meta.dirname, "../../dist");
const address = (file: string): string => JSON.stringify(pathToFileURL(join(kDist, file)).href);

const from = (file: string, source: string): string => `const posenc = await import(${address(file)}); ${source}`;
const kClassic = `
  const { Script } = process.getBuiltinModule("node:vm");
  const file = ${JSON.stringify(join(kDist, "posenc.js"))};
  new Script(process.getBuiltinModule("node:fs").readFileSync(file, "utf8"), { filename: file }).runInThisContext();`;

const kWorks: readonly (readonly [name: string, source: string, says: string])[] = [
  ["index, a refusal by shape", from("index.js", "posenc.encode(5, 1)"), "encode: scheme must be"],
  ["index, an unknown option", from("index.js", "posenc.alibi({ head: 1 })"), "alibi: there is no option head"],
  ["index, a refusal by the core", from("index.js", "posenc.alibi({ heads: 0 })"), "alibi: heads must be"],
  ["index, the class called", from("index.js", "new posenc.PosencError()"), "PosencError is thrown by posenc"],
  ["index, analysis", from("index.js", "posenc.similarity([[1, NaN]])"), "similarity: "],
  ["external", from("external.js", "posenc.info()"), "init({wasm})"],
  ["worker", from("worker.js", "await posenc.encode(5, 1)"), "encode: scheme must be"],
  ["worker, in its thread", from("worker.js", "await posenc.similarity([[1, NaN]])"), "similarity: "],
  ["fallback", from("index.js", 'posenc.init({ backend: "js" }); await posenc.ready(); posenc.alibi({ heads: 0 })'),
    "alibi: heads must be"],
  ["config", from("config.js", "posenc.fromConfig({ head_dim: 1.5 })"), "fromConfig"],
  ["files", from("files.js", "posenc.readNpy(new Uint8Array(3))"), "readNpy"],
  ["onnx", from("onnx.js", "posenc.toOnnx({})"), "toOnnx"],
  ["render", from("render.js", 'posenc.renderSVG("nothing")'), "There is no figure"],
  ["the classic script", `${kClassic} posenc.encode(5, 1)`, "encode: scheme must be"],
  ["the classic script's core", `${kClassic} posenc.alibi({ heads: 0 })`, "alibi: heads must be"],
];

describe("an error nobody caught", () => {
  it.each(kWorks)("is short and says its name: %s", (_, source, says) => {
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", source], { encoding: "utf8" });
    expect(status).not.toBe(0);
    expect(stderr.length, `${stderr.slice(0, 500)} …`).toBeLessThan(3000);
    expect(stderr).toContain(says);
    // The figures' own errors, and that of calling the class, are the language's.
    if (!/^(PosencError is|There is)/.test(says)) {
      expect(stderr).toMatch(/^PosencError: /m);
      expect(stderr).not.toContain("[PosencError]");
    }
  });

  it("has lines of its own in code, and leaves texts as they are", () => {
    const script =
      "function one(n){let t=n;const text=`import;\n${t}const law=${t};let x`;throw text+\"};let b\"}" +
      "var four=one.toString().replace(/};let q/,'{};class A{}');class K{}";
    const broken = inLines(script);
    expect(broken.split("\n").filter((line) => /^(const text|throw|var four|class K)\b/.test(line)).length).toBe(4);
    const thrown = (code: string): unknown => new Function(`${code};try{one(5)}catch(error){return error}`)();
    expect(thrown(broken)).toBe('import;\n5const law=5;let x};let b');
    expect(thrown(script)).toBe(thrown(broken));
  });

  it("comes from a short line wherever it is thrown", () => {
    const scripts = readdirSync(kDist, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js"));
    expect(scripts.length).toBeGreaterThan(12);
    for (const name of scripts) {
      // Bodies of text hold no code: neither modules in base64 nor the worker's script, whose own file is among these.
      const lines = readFileSync(join(kDist, name), "utf8").split("\n");
      const code = lines.filter((line) => !/^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*');?$/.test(line));
      const throwing = code.filter((line) => /\bthrow\b/.test(line)).map((line) => line.length);
      expect(Math.max(0, ...throwing), name).toBeLessThan(2000);
    }
  });
});

describe("the classes of errors", () => {
  it("all go by one name, and so does the head of the stack", async () => {
    const { PosencError, alibi } = await import("../../web/src/index.js");
    expect((PosencError as unknown as { name: string }).name).toBe("PosencError");
    for (const make of [() => alibi({ heads: 0 }), () => alibi({ head: 1 } as never)]) {
      let error: Error | undefined;
      try {
        make();
      } catch (caught) {
        error = caught as Error;
      }
      expect(error!.constructor.name).toBe("PosencError");
      expect(error!.name).toBe("PosencError");
      expect(Object.keys(error!)).not.toContain("name");
      expect(error!.stack!.startsWith(`PosencError: ${error!.message}\n`)).toBe(true);
    }
  });
});
