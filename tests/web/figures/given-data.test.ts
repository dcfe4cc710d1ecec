// What a figure is given as its data: schemes of any copy and their JSON, tables, and what it says of anything else.
import { beforeAll, describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import { toNpy } from "../../../web/src/files.js";
import { figures } from "../../../web/figures/index.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";

beforeAll(() => posenc.ready());

type Slot = posenc.AnyScheme["slot"];

const schemes: Readonly<Record<Slot, posenc.AnyScheme>> = {
  embed: posenc.sinusoidal({ dim: 4 }),
  rotate: posenc.rope({ dim: 4 }),
  bias: posenc.alibi({ heads: 2 }),
  relate: posenc.shaw({ clip: 2, dim: 4 }),
};
const slots = Object.keys(schemes) as Slot[];

// The slots of the schemes that a figure takes, and what it says that it takes.
const taken: Readonly<Record<string, readonly [slots: readonly Slot[], words: string]>> = {
  embed: [["embed"], "an embed scheme or its JSON"],
  rotate: [["rotate"], "a rotate scheme or its JSON"],
  bias: [["bias"], "a bias scheme or its JSON"],
  relate: [["relate"], "a relate scheme, a bias scheme of rows that offsets share, or its JSON"],
  addition: [["embed"], "an embed scheme or its JSON"],
  spectrum: [["embed", "rotate"], "an embed or rotate scheme or its JSON"],
  shift: [["embed", "rotate"], "an embed or rotate scheme or its JSON"],
  decay: [[], "samples of a law, a list of numbers"],
  expansion: [["embed"], "an embed scheme, its JSON or a matrix H"],
  attention: [slots, "a scheme or its JSON"],
  permutation: [slots, "a scheme or its JSON"],
  similarity: [["embed"], "an embed scheme, its JSON or a table"],
  projection: [["embed"], "an embed scheme, its JSON or a table"],
  config: [[], "a parsed config.json"],
  precision: [["embed", "rotate"], "an embed or rotate scheme or its JSON"],
  compare: [[], "a list of schemes or their JSON"],
  extrapolation: [["rotate"], "a rotate scheme or its JSON"],
  grid: [["embed", "rotate"], "an embed or rotate scheme, its JSON or a table"],
};
const small: Readonly<Record<string, Record<string, unknown>>> = { projection: { positions: 8 } };
const svgOf = (name: string, data?: unknown): string => renderSVG(name, small[name], { data });

// As another copy of the package makes it: known by its brand and its toJSON() alone.
function ofAnotherCopy(scheme: posenc.AnyScheme): object {
  const json = scheme.toJSON();
  return { ...json, [Symbol.for("posenc.scheme")]: true, toJSON: () => json };
}

it("is listed here for every figure", () => {
  expect(Object.keys(taken).sort()).toEqual(figures.map(({ name }) => name).sort());
});

describe.each(Object.entries(taken))("the data of posenc-%s", (name, [own, words]) => {
  it("is a scheme of its slot, of another copy of the package too, or the JSON of one", () => {
    for (const slot of own) {
      const scheme = schemes[slot];
      const drawn = svgOf(name, scheme);
      expect(drawn).not.toBe(svgOf(name));
      expect(svgOf(name, JSON.parse(JSON.stringify(scheme)))).toBe(drawn);
      expect(svgOf(name, ofAnotherCopy(scheme))).toBe(drawn);
    }
  });

  it("is nothing where it is undefined or null", () => {
    expect(svgOf(name, null)).toBe(svgOf(name));
  });

  it("is refused in a sentence that says what it takes where it is anything else", () => {
    const others = slots.filter((slot) => !own.includes(slot)).map((slot) => schemes[slot]);
    const ragged = [[1, 2], [3]];
    const json = others.map((scheme) => scheme.toJSON());
    const wrong = [5, true, "x", () => 1, ragged, { table: ragged }, { slot: "embed", name: "zzz" }, { slot: 3 }];
    const config = name === "config";
    // What is an object may be a config, which the reader of configs refuses.
    for (const data of [...wrong, {}, { table: null }, { name: "alibi" }, ...others, ...json]) {
      let said = "";
      expect(() => {
        try {
          svgOf(name, data);
        } catch (error) {
          said = (error as Error).message;
          throw error;
        }
      }, `${name}: ${JSON.stringify(data)}`).toThrow();
      const read = config && typeof data === "object" && !Array.isArray(data);
      expect(said).toContain(read ? "fromConfig" : `data must be ${words}`);
    }
  });
});

describe("tables that are given", () => {
  const table = posenc.randomNormal([9, 4], { seed: 2 });
  const rows = [...table].map((row) => [...(row as posenc.Tensor).data]);

  it.each(["similarity", "projection", "grid"])("are lists or tensors, named or not, for posenc-%s", (name) => {
    const drawn = svgOf(name, { table, name: "mine" });
    expect(svgOf(name, { table: rows, name: "mine" })).toBe(drawn);
    expect(drawn).toContain("mine");
    expect(svgOf(name, rows)).toBe(svgOf(name, table));
    expect(svgOf(name, { table })).toBe(svgOf(name, table));
  });

  it.each(["similarity", "projection", "grid"])("are refused with what is wrong with them by posenc-%s", (name) => {
    for (const [data, sentence] of [
      [[1, 2, 3], /data must be .* table.*, got shape \[3\]/],
      [[[[1]]], /, got shape \[1, 1, 1\]/],
      [[[]], /, got shape \[1, 0\]/],
      [[[1, 2], [3]], /regular array/],
      [[[Number.NaN, 1], [2, 3], [1, 2], [3, 4]], /finite/],
    ] as const) {
      expect(() => svgOf(name, data)).toThrow(sentence);
    }
  });
});

it("a list of schemes, some of them as JSON, is compared", () => {
  const list = [schemes.bias, schemes.embed, schemes.rotate];
  const drawn = svgOf("compare", list);
  expect(svgOf("compare", JSON.parse(JSON.stringify(list)))).toBe(drawn);
  expect(svgOf("compare", [schemes.bias.toJSON(), ofAnotherCopy(schemes.embed), schemes.rotate])).toBe(drawn);
  for (const wrong of [[schemes.bias, null], [5], [{ slot: "bias", name: "alibbi" }]]) {
    expect(() => svgOf("compare", wrong)).toThrow("data must be a list of schemes or their JSON");
  }
});

describe("a file whose table cannot be drawn", () => {
  const read = async (name: string, table: posenc.TensorLike, values = {}): Promise<unknown> => {
    const figure = figures.find((one) => one.name === name)!;
    const bytes = toNpy(posenc.tensor(table));
    return (await figure.files!.read(new File([bytes], "own.npy"), values)).data;
  };
  const normal = (rows: number): posenc.Tensor => posenc.randomNormal([rows, 8], { seed: 1 });

  it("is refused when it is read, with the sentence of the figure", async () => {
    await expect(read("grid", normal(20))).rejects.toThrow("own.npy has 20 rows, which are no square grid");
    await expect(read("projection", normal(2), { view: "tsne" })).rejects.toThrow();
    const holed = posenc.tensor(normal(16).data.map((value, i) => (i === 5 ? Number.NaN : value)), [16, 8]);
    for (const name of ["grid", "similarity", "projection"]) await expect(read(name, holed)).rejects.toThrow("finite");
  });

  it("is taken at values at which it can be drawn", async () => {
    const data = await read("grid", normal(20), { rows: 4, columns: 5 });
    expect(figureState("grid", { rows: 4, columns: 5 }, data).model).toMatchObject({ rows: 4, columns: 5 });
    for (const name of ["similarity", "projection"]) {
      expect(await read(name, normal(20))).toMatchObject({ name: "own.npy" });
    }
    expect(await read("projection", normal(20), { view: "tsne" })).toMatchObject({ name: "own.npy" });
  });
});
