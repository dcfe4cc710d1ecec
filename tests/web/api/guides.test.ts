// The programs of the README and of the guides run as they are printed, with what they leave to the reader at hand, and
// give what they say.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import * as config from "../../../web/src/config.js";
import * as files from "../../../web/src/files.js";
import * as onnx from "../../../web/src/onnx.js";

const root = join(import.meta.dirname, "../../..");
const guides = readdirSync(join(root, "docs")).filter((file) => file.endsWith(".md")).map((file) => `docs/${file}`);
const entries: Record<string, unknown> = {
  posenc,
  "posenc/config": config,
  "posenc/files": files,
  "posenc/onnx": onnx,
};

beforeAll(() => posenc.ready());

type Results = Readonly<Record<string, unknown>>;

// The blocks of a guide that run anywhere; what needs a document is run in a browser (tests/browser/pages.test.mjs).
function programsOf(guide: string): string[] {
  const text = readFileSync(join(root, guide), "utf8");
  const blocks = Array.from(text.matchAll(/^```js\n([\s\S]*?)^```/gm), ([, code = ""]) => code);
  return blocks.filter((code) => !/\bdocument\./.test(code));
}

// Runs one with these names at hand; all that it declares, and the values of lines that are an expression alone.
async function run(code: string, given: Results): Promise<Results> {
  const body = code
    .replace(/^import \{ (.*) \} from "(.*)";$/gm, 'const { $1 } = entries["$2"];')
    .replace(/^(?!const|await)([\w.]+\(.*\)[\w.()]*|[\w.]+);/gm, "said.push($1);");
  const declared = Array.from(body.matchAll(/^const (?:\{ (.*) \}|(\w+)) = /gm), ([, several, one]) =>
    (one ?? several ?? "").split(", ").map((name) => name.replace(/^.*: /, "")),
  );
  const names = [...new Set(declared.flat())].filter((name) => !(name in given));
  type Program = (...all: unknown[]) => Promise<Results>;
  const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => Program;
  const ending = `return { ${names.join()}, said };`;
  const program = new AsyncFunction(...Object.keys(given), "entries", "said", `${body}\n${ending}`);
  return program(...Object.values(given), entries, []);
}

const shapeOf = (value: unknown): readonly number[] => (value as posenc.Tensor).shape;
const normal = (...shape: number[]): posenc.Tensor => posenc.randomNormal(shape, { seed: shape.length });

describe("the programs of the guides", () => {
  const wpe = normal(24, 6);
  const model = new Blob([files.toSafetensors({ "wpe.weight": wpe, keys: normal(33, 64) }) as BlobPart]);
  const written: Record<string, unknown> = {};
  const sample = readFileSync(join(root, "tests/golden/configs/gemma-3-4b.json"), "utf8");
  const gemma = JSON.parse(sample) as { config: object };
  const header = (type: string, value: string): { headers: Headers } => ({ headers: new Headers({ [type]: value }) });

  // What stands around each program, and what is to come out.
  const expected: Record<string, readonly (readonly [given: Results, check: (results: Results) => void])[]> = {
    "README.md": [
      [
        {},
        ({ weights, said }) => {
          expect(shapeOf(weights)).toEqual([8, 16, 16]);
          const printed = /\/\/ (\[\[.*\]\])/.exec(programsOf("README.md")[0]!)![1]!.match(/-?\d\.\d+/g)!;
          const row = (said as number[][][])[0]![0]!;
          // The digits that are printed are those of the numbers.
          expect(row.map((value, c) => String(value).slice(0, printed[c]!.length))).toEqual(printed);
        },
      ],
    ],
    "docs/config.md": [
      [
        {
          text: JSON.stringify(gemma.config),
          ...{ q: normal(8, 5, 256), k: normal(4, 5, 256), v: normal(4, 5, 256) },
        },
        ({ said }) => {
          const [{ out }, notes] = said as [posenc.AttentionResult, string[]];
          expect(shapeOf(out)).toEqual([8, 5, 256]);
          expect(notes.every((note) => note.length > 10)).toBe(true);
        },
      ],
    ],
    "docs/files.md": [
      [
        {
          input: { files: [model] },
          readFile: () => Promise.resolve(files.toNpy(wpe)),
          writeFile: (name: string, text: unknown) => Promise.resolve((written[name] = text)),
        },
        ({ tensors, wpe: read }) => {
          expect(Object.keys(tensors as object).sort()).toEqual(["keys", "wpe.weight"]);
          expect((read as posenc.Tensor).tolist()).toEqual(wpe.tolist());
          expect(String(written["table.csv"]).trim().split("\n")).toHaveLength(25);
        },
      ],
      [
        {
          fetch: async (_: string, { headers = {} }: { headers?: { range?: string } }) => {
            const [, first, last] = /bytes=(\d+)-(\d+)/.exec(headers.range ?? "") ?? [];
            if (first === undefined) return header("content-length", String(model.size));
            return { status: 206, arrayBuffer: () => model.slice(Number(first), Number(last) + 1).arrayBuffer() };
          },
        },
        ({ wpe: read }) => expect((read as posenc.Tensor).tolist()).toEqual(wpe.tolist()),
      ],
      [
        { readSafetensors: files.readSafetensors, file: model, q: normal(5, 64), k: normal(5, 64), v: normal(5, 64) },
        ({ out }) => expect(shapeOf(out)).toEqual([5, 64]),
      ],
    ],
    "docs/onnx.md": [[{}, ({ bytes }) => expect((bytes as Uint8Array).length).toBeGreaterThan(1000)]],
  };

  it.each(["README.md", ...guides])("%s", async (guide) => {
    const programs = programsOf(guide);
    const around = expected[guide] ?? [];
    expect(programs.length).toBe(around.length);
    for (const [i, [given, check]] of around.entries()) check(await run(programs[i]!, given));
  });
});
