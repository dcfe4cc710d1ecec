// tests/golden/hashes.txt through the public API: the bits that the native builds give, from WebAssembly and from plain
// JavaScript, at once and again after ten thousand calls (engines compile anew on the way). A line's name says what it
// hashes: slot/scheme/options/tokens; tests/cpp/schemes/schemes_hash_test.cpp says of what positions and numbers.
import { beforeAll, describe, expect, it } from "vitest";
import { Dice, Fnv1a } from "./bits.js";
import { build, golden, type Posenc } from "./builds.js";

const lines = Array.from(golden, ([name, hash]) => {
  const [slot, scheme, options, tokens] = name.split("/") as [string, string, string, string];
  return { name, hash, slot, scheme, options, tokens: Number(tokens) };
});
// What the public API can be asked for. (A relate scheme's terms alone cannot be; attention's hashes hold those.)
const hashed = lines.filter(({ slot }) => ["embed", "rotate", "bias"].includes(slot));

// "dim=8;scaling.type=ntk;slopes=1,0.3" as a factory takes it; kinds come from the descriptor.
function parsed(posenc: Posenc, scheme: string, text: string): object {
  const { params } = posenc.schemes.find((known) => known.name === scheme)!;
  const options: Record<string, unknown> = {};
  for (const [name, value] of text.split(";").map((option) => option.split("=") as [string, string])) {
    const { kind, shape } = params.find((param) => param.name === name)!;
    const read =
      kind === "choice"
        ? value
        : kind === "flag"
          ? value === "true"
          : kind === "list"
            ? value.split(",").map(Number)
            : kind === "table"
              ? randomTable(posenc, shape!, value)
              : Number(value);
    const [outer, inner] = name.split(".") as [string, string?];
    if (inner === undefined) options[outer] = read;
    else ((options[outer] ??= {}) as Record<string, unknown>)[inner] = read;
  }
  return options;
}

// "random:7" where the shape names no other option: free lengths are 140, as in tests/cpp/support/build.h.
function randomTable(posenc: Posenc, shape: string, value: string): object {
  const lengths = shape
    .replace(/^\[|\].*$/g, "")
    .split(",")
    .map((length) => {
      const [, times = "1", less = "0"] = /^\s*(\d+)?\s*[a-z]+(?: - (\d+))?$/.exec(length)!;
      return Number(times) * 140 - Number(less);
    });
  const dice = new Dice(BigInt(value.replace("random:", "")));
  const numbers = Float32Array.from({ length: lengths.reduce((a, b) => a * b) }, () => dice.real(-1, 1));
  return posenc.tensor(numbers, lengths);
}

function attempt<T>(run: () => T, code: string): T | undefined {
  try {
    return run();
  } catch (error) {
    if ((error as { code?: string }).code !== code) throw error;
    return undefined;
  }
}

function places(tokens: number, fractions: boolean): number[][] {
  const run = (first: number): number[] => Array.from({ length: tokens }, (_, t) => first + t);
  return [
    run(0),
    run(-65),
    run(fractions ? 0.37 : 0.5),
    run(2 ** 40),
    Array.from({ length: tokens }, (_, t) => ((t * 37) % 101) * (fractions ? 0.731 : 1) - 20),
  ];
}

function someHeads(heads: number): number[] {
  return heads < 3 ? Array.from({ length: Math.max(heads, 1) }, (_, h) => h) : [0, Math.floor(heads / 2), heads - 1];
}

function hash(posenc: Posenc, { slot, scheme, options, tokens }: (typeof lines)[number]): string {
  const make = (posenc as unknown as Record<string, (options: object) => never>)[scheme]!;
  const made = make(parsed(posenc, scheme, options));
  const width = (made as { dim?: number }).dim ?? 8; // a scheme of no width takes any
  const bytes = new Fnv1a();
  const fractions =
    slot !== "bias" || attempt(() => posenc.bias(made, { queries: [0], keys: [0.5], heads: [0] }), "not-integer");
  for (const positions of places(tokens, fractions !== undefined)) {
    if (slot === "embed") {
      bytes.add(posenc.encode(made, positions).data);
      bytes.add(posenc.encode(made, positions, { dtype: "float64" }).data);
    } else if (slot === "rotate") {
      for (const wide of [false, true]) {
        const dice = new Dice(40n);
        const numbers = Array.from({ length: tokens * width }, () => dice.real(-1, 1));
        const x = wide ? Float64Array.from(numbers) : Float32Array.from(numbers);
        for (const inverse of [false, true]) {
          const turned = posenc.rotate(posenc.tensor(x, [tokens, width]), made, {
            positions,
            length: 4096,
            inverse,
            side: inverse ? "key" : "query",
          });
          bytes.add(turned.data);
        }
      }
    } else {
      const { heads: count, values } = made as { heads?: number; values?: { shape: readonly number[] } };
      const heads = someHeads(count ?? values!.shape[0]!);
      const pairs = { queries: positions, keys: positions };
      bytes.add(posenc.bias(made, { ...pairs, heads }).data);
      const rows = attempt(() => posenc.relativeIndex(made, pairs), "unsupported");
      if (rows !== undefined) bytes.add(rows.data);
    }
  }
  return bytes.hex();
}

it("finds at least four sets of options of every embed, rotate and bias scheme", async () => {
  const posenc = await build("simd");
  for (const { slot, name } of posenc.schemes.filter((scheme) => scheme.slot !== "relate")) {
    const sets = new Set(
      hashed.filter((line) => line.slot === slot && line.scheme === name).map((line) => line.options),
    );
    expect(sets.size, name).toBeGreaterThanOrEqual(4);
  }
});

describe.each(["simd", "js"] as const)("the golden bits of the %s build", (backend) => {
  let posenc: Posenc;
  beforeAll(async () => {
    posenc = await build(backend);
  });

  it.each(hashed)("$name", (line) => expect(hash(posenc, line)).toBe(line.hash));

  it("hold after ten thousand calls", () => {
    const [table, turn, slope] = [posenc.sinusoidal({ dim: 8 }), posenc.rope({ dim: 8 }), posenc.alibi({ heads: 2 })];
    const x = posenc.randomNormal([9, 8]);
    for (let n = 0; n < 3334; n++) {
      posenc.encode(table, [n, n + 0.5, 7 * n]);
      posenc.rotate(x, turn);
      posenc.bias(slope, { queries: 3, keys: 3 });
    }
    expect(hashed.filter((line) => hash(posenc, line) !== line.hash).map(({ name }) => name)).toEqual([]);
  });
});
