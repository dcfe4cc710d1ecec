// What is generated from the catalogue is as the generator would write it now, and follows the catalogue alone.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as posenc from "../../web/src/index.js";
import { renderSVG } from "../../web/src/render.js";
import type { Descriptor, Param } from "../../web/src/scheme.js";
// @ts-expect-error -- a script without types
import * as generator from "../../tools/generate.mjs";

type Notes = Record<string, string> & { Conventions?: [string, string][]; Also?: Notes };
type Noted = Descriptor & { notes?: Notes; hasRows?: boolean };
const { exampleOf, filesOf, picturesOf, readCatalogue, notesOf } = generator as {
  exampleOf: (scheme: Noted) => { call: string; positions?: string; tokens: number };
  filesOf: (catalogue: readonly Noted[]) => Map<string, string>;
  picturesOf: (catalogue: readonly Noted[], library: object) => Map<string, string>;
  readCatalogue: () => Promise<readonly Noted[]>;
  notesOf: (source: string) => Notes;
};
const kRoot = join(import.meta.dirname, "../..");

// A scheme of every kind of parameter that nobody has written.
const kInvented: Descriptor = {
  slot: "bias",
  name: "invented",
  title: "Invented",
  summary: "Stands for a scheme to come; ends in */ on purpose",
  formula: "b(i, j) = \\text{`x`}",
  reference: "Nobody, 1900",
  params: [
    {
      name: "heads",
      kind: "integer",
      sentence: "Number of heads.",
      allowed: "an integer from 1 to 8",
      required: true,
      default: null,
      min: 1,
      max: 8,
    },
    {
      name: "tau",
      kind: "real",
      sentence: "Width",
      allowed: "a number above 0",
      required: false,
      default: 1.5,
      min: 0,
      max: 10,
      aboveMin: true,
    },
    {
      name: "again",
      kind: "integer",
      sentence: "As heads.",
      allowed: "an integer",
      required: false,
      default: null,
      defaultParam: "heads",
    },
    {
      name: "kind",
      kind: "choice",
      sentence: "Which.",
      allowed: '"log" or "power"',
      required: false,
      default: "log",
      choices: ["log", "power"],
    },
    { name: "flat", kind: "flag", sentence: "Whether.", allowed: "true or false", required: false, default: false },
    {
      name: "list",
      kind: "list",
      sentence: "Numbers.",
      allowed: "a list",
      required: false,
      default: null,
      shape: "[heads]",
    },
    {
      name: "table",
      kind: "table",
      sentence: "A table.",
      allowed: "a table",
      required: false,
      default: null,
      shape: "[heads, 2]",
      canOmit: true,
    },
    {
      name: "scaling.type",
      kind: "choice",
      sentence: "Rule.",
      allowed: '"none" or "linear"',
      required: false,
      default: "none",
      choices: ["none", "linear"],
    },
    { name: "scaling.factor", kind: "real", sentence: "Factor.", allowed: "a number", required: false, default: 1 },
  ],
  laws: [{ law: "shift_invariant", sentence: "The bias depends on the offset only." }],
};

const kInventedUse = `
      import { invented } from "./schemes.gen.js";
      const scheme = invented({ heads: 2, kind: "power", list: [1, 2], table: false,
        scaling: { type: "linear", factor: 2 } });
      const heads: number = scheme.heads;
      const kind: "log" | "power" = scheme.kind;
      const factor: number = scheme.scaling.factor;
      const again: number = scheme.again;
      // @ts-expect-error -- required
      invented({});
      // @ts-expect-error -- no such choice
      invented({ heads: 2, kind: "cubic" });
      // @ts-expect-error -- a list cannot be left out with false
      invented({ heads: 2, list: false });
      // @ts-expect-error -- no such option
      invented({ heads: 2, headz: 2 });
      // @ts-expect-error -- may be absent
      const rows: number = scheme.list.shape[0];
      export { heads, kind, factor, again, rows };
`;

// What the compiler says of programs beside a schemes.gen.ts, by their names.
function typecheck(source: string, uses: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "posenc-types-"));
  try {
    mkdirSync(join(folder, "web"));
    for (const name of ["build", "node_modules"]) symlinkSync(join(kRoot, name), join(folder, name));
    execFileSync("cp", ["-r", join(kRoot, "web/src"), join(folder, "web/src")]);
    writeFileSync(join(folder, "web/src/schemes.gen.ts"), source);
    for (const [name, use] of Object.entries(uses)) writeFileSync(join(folder, `web/src/${name}.ts`), use);
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        extends: join(kRoot, "tsconfig.json"),
        // The entries that lead to the figures are not part of this.
        include: ["web/src"],
        exclude: ["elements", "render", "classic", "anywidget"].map((name) => `web/src/${name}.ts`),
      }),
    );
    execFileSync(
      process.execPath,
      [join(kRoot, "node_modules/typescript/bin/tsc"), "-p", folder, "--pretty", "false"],
      { encoding: "utf8", stdio: "pipe" },
    );
    return "";
  } catch (error) {
    return String((error as { stdout?: string }).stdout ?? error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// The compiler takes seconds: it sees all programs at once, and every test reads what it says of its own.
let compiling: Promise<Record<"invented" | "options", string[]>> | undefined;

function compiled(): NonNullable<typeof compiling> {
  return (compiling ??= (async () => {
    const catalogue = await readCatalogue();
    const generated = filesOf([...catalogue, kInvented]).get("web/src/schemes.gen.ts")!;
    const uses = { "use-invented": kInventedUse, "use-options": optionsProgram(catalogue) };
    const said = typecheck(generated, uses).split("\n");
    const of = (name: string): string[] => said.filter((line) => line.includes(`/use-${name}.ts`));
    const others = said.filter((line) => line !== "" && !/^ |\/use-(invented|options)\.ts/.test(line));
    expect(others).toEqual([]);
    return { invented: of("invented"), options: of("options") };
  })());
}

describe("generated files", () => {
  it("are what the built core describes", async () => {
    for (const [path, text] of filesOf(await readCatalogue())) {
      expect(existsSync(join(kRoot, path)), path).toBe(true);
      expect(readFileSync(join(kRoot, path), "utf8") === text, `${path} is stale: npm run build`).toBe(true);
    }
  });

  it("are pictures as the figures draw them, each in light and dark, and no other file stands beside", async () => {
    const catalogue = await readCatalogue();
    const pictures = picturesOf(catalogue, { ...posenc, renderSVG });
    expect(pictures.size).toBe(2 * catalogue.length);
    for (const [path, svg] of pictures) {
      expect(existsSync(join(kRoot, path)), path).toBe(true);
      expect(readFileSync(join(kRoot, path), "utf8") === svg, `${path} is stale: npm run build`).toBe(true);
      expect(svg.length, path).toBeLessThan(64_000);
      expect(svg, path).not.toMatch(/NaN|undefined/);
    }
    for (const { name, title } of catalogue) {
      const [light, dark] = ["", ".dark"].map((theme) => pictures.get(`docs/schemes/${name}${theme}.svg`)!);
      expect(light === dark, name).toBe(false);
      expect(/<title>([^<]*)/.exec(light!)?.[1]?.toLowerCase(), name).toContain(title.toLowerCase());
    }
    const known = new Set([...filesOf(catalogue).keys(), ...pictures.keys()]);
    const there = readdirSync(join(kRoot, "docs/schemes")).map((name) => `docs/schemes/${name}`);
    expect(there.filter((path) => !known.has(path))).toEqual([]);
  });

  it("say so in their first line", async () => {
    for (const [path, text] of filesOf(await readCatalogue())) {
      if (path !== "README.md")
        expect(text.split("\n")[0], path).toMatch(/Generated by tools\/generate\.mjs .*Do not edit/);
    }
  });

  it("gain a new scheme untouched by hand, and lose it with it", async () => {
    const catalogue = await readCatalogue();
    const before = filesOf(catalogue);
    const after = filesOf([...catalogue, kInvented]);
    const gen = after.get("web/src/schemes.gen.ts")!;
    expect(gen).toContain("export function invented(options: InventedOptions): Invented {");
    expect(after.get("docs/schemes.md")).toContain("| [`invented`](schemes/invented.md) | bias |");
    expect(after.get("docs/schemes/invented.md")).toContain("\n# invented\n");
    expect(after.get("README.md")).toContain("| [`invented`](docs/schemes/invented.md) | bias |");
    for (const text of before.values()) expect(text).not.toContain("nvented");
    expect((await compiled()).invented).toEqual([]);
  });
});

// Options of a scheme as text, of the params named: values that are allowed, as far as one param can say.
function optionsText(
  params: readonly Param[],
  names: readonly string[],
  choice: Readonly<Record<string, string>> = {},
): string {
  const object: Record<string, unknown> = {};
  for (const name of names) {
    const { kind, default: fallback, choices, shape, min, shown } = params.find((param) => param.name === name)!;
    const whole = kind === "list" ? (/^\[(\d+)\]$/.exec(shape!)?.[1] ?? "4") : "";
    const value =
      choice[name] ??
      (kind === "list" ? Array(Number(whole)).fill(4)
      : kind === "table" ? [[1, 1, 1, 1], [1, 1, 1, 1]]
      : kind === "flag" ? true
      : kind === "choice" ? choices![0]
      : (shown?.value ?? fallback ?? Math.max(min ?? 1, 4)));
    const [outer, inner] = name.split(".") as [string, string?];
    if (inner === undefined) object[outer] = value;
    else object[outer] = { ...(object[outer] as object | undefined), [inner]: value };
  }
  return JSON.stringify(object);
}

// For each choice that other params belong to, and each of its values: those of the value are taken, the required ones
// asked for, and every other one refused. Gives the calls as a program for the compiler; the core is asked here.
function optionsProgram(catalogue: readonly Noted[]): string {
  const lines: string[] = [];
  const wrong = (call: string): void => void lines.push("// @ts-expect-error -- " + call, `void (() => ${call});`);
  let unions = 0;
  const refused = (call: string): string => {
    try {
      new Function(...Object.keys(posenc), `return ${call}`)(...Object.values(posenc));
      return "taken";
    } catch (error) {
      return error instanceof posenc.PosencError ? error.code : String(error);
    }
  };
  for (const { name, params, notes } of catalogue) {
    const ways = notes?.Either?.split("|").map((way) => way.trim().split(/\s+/)) ?? [];
    const first = (ways[0] ?? []).filter((word) => !word.endsWith("?"));
    const required = [...params.filter((param) => param.required).map((param) => param.name), ...first];
    for (const chosen of params.filter((param) => params.some(({ where }) => where === param.name))) {
      unions += 1;
      const dependents = params.filter(({ where }) => where === chosen.name);
      for (const choice of [undefined, ...chosen.choices!]) {
        const value = choice ?? (chosen.default as string);
        const needed = dependents.filter(({ neededBy }) => neededBy!.includes(value)).map((param) => param.name);
        const taken = dependents.filter(({ takenBy }) => takenBy!.includes(value)).map((param) => param.name);
        const own = [...needed, ...taken];
        const others = dependents.map((param) => param.name).filter((other) => !own.includes(other));
        const start = [...required, ...(choice === undefined ? [] : [chosen.name])];
        const say = (names: readonly string[]): string =>
          `${name}(${optionsText(params, names, choice === undefined ? {} : { [chosen.name]: choice })})`;
        lines.push(`void (() => ${say([...start, ...own])});`);
        if (choice === undefined && needed.length > 0) continue;
        for (const lost of needed) {
          const call = say([...start, ...needed.filter((other) => other !== lost)]);
          wrong(call);
          expect(refused(call), call).toBe("missing-option");
        }
        for (const other of others) {
          const call = say([...start, ...needed, other]);
          wrong(call);
          expect(refused(call), call).toBe("unknown-option");
        }
      }
    }
    for (const way of ways) {
      const names = way.filter((word) => !word.endsWith("?"));
      const all = way.map((word) => word.replace("?", ""));
      lines.push(`void (() => ${name}(${optionsText(params, all)}));`);
      expect(refused(`${name}(${optionsText(params, names)})`), `${name} ${way}`).toBe("taken");
      // Without one of them it is another way, or none.
      for (const lost of names) {
        const rest = names.filter((other) => other !== lost);
        if (ways.some((other) => other.every((word) => word.endsWith("?") || rest.includes(word)))) continue;
        const call = `${name}(${optionsText(params, rest)})`;
        wrong(call);
        expect(refused(call), call).toBe("missing-option");
      }
      for (const other of ways.flat().map((word) => word.replace("?", ""))) {
        if (all.includes(other)) continue;
        // It may complete another way.
        const names = [...all, other];
        const fits = ways.some((each) => {
          const words = each.map((word) => word.replace("?", ""));
          return names.every((word) => words.includes(word));
        });
        if (!fits) wrong(`${name}(${optionsText(params, names)})`);
      }
    }
  }
  expect(unions).toBeGreaterThan(5);
  expect(lines.length).toBeGreaterThan(100);
  // What has rows, says the type, may be asked of them, and nothing else; and so it is.
  for (const scheme of catalogue.filter(({ slot }) => slot === "bias" || slot === "relate")) {
    const { call, positions, tokens } = exampleOf(scheme);
    const ask = `relativeIndex(${call}, { queries: ${positions ?? tokens}, keys: ${positions ?? tokens} })`;
    expect(refused(ask), ask).toBe(scheme.hasRows ? "taken" : "unsupported");
    if (scheme.hasRows) lines.push(`void (() => ${ask});`);
    else wrong(ask);
  }
  const used = [...catalogue.map(({ name }) => name), "relativeIndex", "grid", "multimodalPositions", "arange"];
  const imports = used.filter((name) => lines.some((line) => new RegExp(`\\b${name}\\(`).test(line)));
  // A scheme whose type says nothing of rows may have some.
  const rest = [
    'import type { BiasScheme, RelateScheme } from "./index.js";',
    "export const ask = (scheme: BiasScheme | RelateScheme) => relativeIndex(scheme, { queries: 1, keys: 1 });",
  ];
  return [`import { ${imports.join(", ")} } from "./index.js";`, ...rest, ...lines].join("\n");
}

describe("the types of options", () => {
  it("take what goes together, and nothing else, as the core does", async () => {
    expect((await compiled()).options).toEqual([]);
  });
});

describe("the page of a scheme", () => {
  const page = (path: string): string => readFileSync(join(kRoot, `docs/schemes/${path}.md`), "utf8");

  it.each(posenc.schemes.map(({ name }) => name))("%s has an example that runs", (name) => {
    const code = /```js\n([\s\S]*?)```/.exec(page(name))?.[1];
    const [, names, body] = /^import \{ (.*) \} from "posenc";\n\n([\s\S]*)$/.exec(code!)!;
    const library = posenc as unknown as Record<string, unknown>;
    for (const used of names!.split(", ")) expect(library[used], used).toBeTypeOf("function");
    const result = /const (table|\{ out \}) = .*\n$/.exec(body!)?.[1];
    const run = new Function(names!.replaceAll(" ", ""), `${body}return ${result === "table" ? "table" : "out"};`);
    const made = run(...names!.split(", ").map((used) => library[used])) as posenc.Tensor;
    expect(made.size).toBeGreaterThan(0);
    expect(made.data.every(Number.isFinite)).toBe(true);
    expect(new Set(made.data).size).toBeGreaterThan(1);
  });

  it("has what the head of its file says, and that alone is where it is said", async () => {
    for (const { slot, name, notes } of await readCatalogue()) {
      for (const section of ["Good at", "Fails"]) {
        expect(notes![section], `${section}: of ${name}`).toMatch(/^\S.{9,}/);
        expect(page(name)).toContain(`**${section}**: `);
      }
      for (const [convention] of notes!.Conventions ?? []) expect(page(name)).toContain(`\n- **${convention}**: `);
      const generated = readFileSync(join(kRoot, "web/src/schemes.gen.ts"), "utf8");
      expect(generated, `notes of ${slot} ${name} weigh on no page`).not.toContain(notes!.Fails!);
    }
    expect(page("rope")).toContain("\n- **yarn**: ");
  });

  it("has notes of several lines, examples with positions and options, and markup that is none", () => {
    const notes = notesOf(
      [
        "// Scheme: what it is.",
        "//",
        "//   b = a_i * c_j",
        "//",
        "// Conventions:",
        "//   sign      one * two",
        "//             and a_b",
        "//   two words  three",
        "// Good at: this",
        "// and that.",
        "// Fails: <never>.",
        "// Example: invented({ heads: 2 }) at grid(2, 3), 6 tokens with scale: 1",
        '#include "schemes/registry.h"',
        "// Cost: no head comment any more",
      ].join("\n"),
    );
    expect(notes).toEqual({
      Conventions: [
        ["sign", "one * two and a_b"],
        ["two words", "three"],
      ],
      "Good at": "this and that.",
      Fails: "<never>.",
      Example: "invented({ heads: 2 }) at grid(2, 3), 6 tokens with scale: 1",
    });
    const text = filesOf([{ ...kInvented, notes }]).get("docs/schemes/invented.md")!;
    expect(text).toContain("- **sign**: one \\* two and a\\_b\n");
    expect(text).toContain("**Fails**: \\<never\\>.\n");
    expect(text).toContain("const positions = grid(2, 3);\n");
    expect(text).toContain("{ bias: scheme, queryPositions: positions, keyPositions: positions, scale: 1 }");
    expect(() => notesOf("// Conventions:\n// nothing")).toThrow("belongs to no convention");
  });
});
