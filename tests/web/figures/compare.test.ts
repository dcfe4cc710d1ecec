// <posenc-compare>: the notes' table with numbers counted by hand, every scheme in it, and its dots as recorded.
import { beforeAll, describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import { alibi, compare as compareSchemes, learned, outlines, ready, rope, t5 } from "../../../web/src/index.js";
import { compare } from "../../../web/figures/compare.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { toCsv } from "../../../web/figures/take-away.js";
import { overlaps, record, runCode, textsOf } from "./drawn.js";

beforeAll(() => ready());

type Row = Record<string, string | number>;
const rowsOf = (attributes: Record<string, unknown>, data?: unknown): Row[] => {
  const table = compare.table(figureState("compare", attributes, data));
  return Array.from({ length: table.rows }, (_, r) =>
    Object.fromEntries(table.header.map((name, c) => [name, table.cell(r, c)])),
  );
};
const readings = (attributes: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(compare.readout(figureState("compare", attributes)).map(({ label, value }) => [label, value]));

describe("the table", () => {
  it("is the notes' one, with BERT's numbers", () => {
    const rows = rowsOf({ schemes: "sinusoidal learned t5, alibi rope" });
    expect(rows.map((row) => [row.scheme, row["where applied"], row.parameters, row.longest, row.encodes])).toEqual([
      ["Sinusoidal", "added to the input", 0, "no end", "absolute position, with shift structure"],
      ["Learned", "added to the input", 512 * 768, "512", "absolute position"],
      ["RoPE", "applied to queries and keys", 0, "no end", "relative offset in the dot product"],
      ["T5 relative bias", "added to attention scores", 32 * 12, "no end", "relative offset"],
      ["ALiBi", "added to attention scores", 0, "no end", "relative offset"],
    ]);
  });

  it("has every scheme of the catalogue, in the order of the slots", () => {
    const rows = rowsOf({});
    expect(rows.map((row) => row.scheme).sort()).toEqual(outlines.map(({ title }) => title).sort());
    const order = rows.map((row) => ["embed", "rotate", "bias", "relate"].indexOf(String(row.slot)));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    for (const slot of ["embed", "rotate", "bias", "relate"]) {
      const own = outlines.filter((scheme) => scheme.slot === slot).map(({ title }) => title);
      expect(rowsOf({ view: slot }).map((row) => row.scheme)).toEqual(own);
    }
  });

  it("says of every scheme what it is a function of", () => {
    const told: Record<string, unknown[]> = {};
    for (const { scheme, encodes } of rowsOf({})) (told[encodes!] ??= []).push(scheme);
    expect(told).toEqual({
      "absolute position, with shift structure": ["Sinusoidal", "2-D sinusoidal", "Fourier features"],
      "absolute position": ["Learned", "Query scale"],
      "relative offset in the dot product": ["RoPE", "xPos", "Axial RoPE", "M-RoPE"],
      "relative offset": [
        ...["ALiBi", "T5 relative bias", "Toeplitz", "KERPLE", "Sandwich", "Swin relative bias"],
        ...["Inverse-square distance", "Shaw relative positions", "Transformer-XL", "DeBERTa"],
      ],
      // Distances measured against where the query stands.
      "relative offset and absolute position": ["FIRE"],
      // Between the same positions, other words make another count.
      "position counted by the content": ["CoPE"],
    });
  });

  it("counts by the sizes that the controls have", () => {
    const by = (attributes: Record<string, unknown>): Map<string, Row> =>
      new Map(rowsOf(attributes).map((row) => [String(row.scheme), row]));
    const small = by({ heads: 4, headWidth: 8, length: 100 });
    expect(small.get("Learned")).toMatchObject({ parameters: 100 * 32, longest: "100" });
    expect(small.get("Toeplitz")).toMatchObject({ parameters: 4 * 199, longest: "100" });
    expect(small.get("T5 relative bias")!.parameters).toBe(32 * 4);
    expect(small.get("KERPLE")!.parameters).toBe(2 * 4);
    expect(small.get("Shaw relative positions")!.parameters).toBe(2 * 17 * 8);
    expect(small.get("DeBERTa")!.parameters).toBe(2 * 4 * 32 * 8);
    expect(small.get("CoPE")!.parameters).toBe(16 * 8);
    expect(small.get("Swin relative bias")).toMatchObject({ parameters: 13 * 13 * 4, longest: "7" });
  });

  it("takes schemes as data, with the laws that they keep as they were made", () => {
    const given = [rope({ dim: 8 }), alibi({ heads: 2 }), learned({ length: 9, dim: 4 }), t5({ heads: 3 })];
    const rows = rowsOf({}, given);
    const titleOf = (data: unknown): string => compare.title(figureState("compare", {}, data));
    // Of one and of many alike.
    expect([given, given.slice(0, 1)].map(titleOf)).toEqual([
      "4 schemes: where each acts, what each costs, what holds",
      "1 scheme: where each acts, what each costs, what holds",
    ]);
    expect(rows.map((row) => row.scheme)).toEqual(["Learned", "RoPE", "ALiBi", "T5 relative bias"]);
    for (const { title, laws } of compareSchemes(given)) {
      const row = rows.find((own) => own.scheme === title)!;
      const known = Object.keys(row).slice(7);
      const named = (law: string): string => law.replace(/^non_/, "non-").replace(/_/g, " ");
      const kept = new Map(laws.map(({ law, when }) => [named(law), when === null ? "yes" : `if ${when}`]));
      expect(known.map((law) => row[law])).toEqual(known.map((law) => kept.get(law) ?? ""));
    }
    // Looking ahead is free here: no symmetry.
    expect(rowsOf({}, [alibi({ heads: 2, symmetric: false })])[0]).not.toHaveProperty("symmetric");
  });
});

describe("a scheme that cannot be made at these sizes", () => {
  const sizes = [
    [{ headWidth: 3 }, ["RoPE", "xPos", "Axial RoPE", "M-RoPE"], /even|divisible|from 6/],
    [{ heads: 1, headWidth: 6 }, ["2-D sinusoidal"], /divisible by 4/],
  ] as const;

  it.each(sizes)("of %o has an empty row and its refusal below, and the others stand", (attributes, among, reason) => {
    const all = rowsOf({}).map((row) => row.scheme);
    const rows = rowsOf(attributes);
    expect(rows.map((row) => row.scheme)).toEqual(all);
    const gaps = rows.filter((row) => String(row.encodes).startsWith("cannot be made"));
    expect(gaps.map((row) => row.scheme)).toEqual(expect.arrayContaining([...among]));
    expect(gaps.length).toBeLessThan(all.length / 2);
    for (const gap of gaps) {
      const at = all.indexOf(gap.scheme!);
      const state = figureState("compare", { ...attributes, row: at });
      expect(gap).toMatchObject({ parameters: "", longest: "" });
      for (const width of [764, 300]) {
        const back = record(compare, state, width);
        const words = textsOf(back).map((text) => text.words).join(" ");
        expect(words).toContain(String(gap.encodes).split(" ").slice(0, 4).join(" "));
        expect(back.operations.join("\n")).not.toMatch(/NaN|undefined/);
      }
      if (among.includes(gap.scheme as never)) expect(gap.encodes).toMatch(reason);
      expect(compare.caption(state)).toContain(String(gap.scheme));
      expect(compare.readout(state).map(({ value }) => value)).toContain("cannot be made");
      expect(compare.summary(state)).not.toContain("NaN");
    }
    const state = figureState("compare", attributes);
    expect(runCode(compare.code!(state).javascript, "table")).toHaveLength(all.length - gaps.length);
  });

  it("is refused where nothing is left to compare", () => {
    expect(() => figureState("compare", { schemes: "rope", headWidth: 3 })).toThrow(/rope: dim must be even/);
    expect(() => figureState("compare", {}, [{}])).toThrow(/schemes/);
  });
});

describe("drawing", () => {
  it.each([764, 300])(
    "has a dot for each law, full where it holds and a ring on a condition, %d pixels wide",
    (width) => {
      const state = figureState("compare", { row: 20, law: 8 });
      const back = record(compare, state, width);
      const table = compare.table(state);
      let [full, rings, none] = [0, 0, 0];
      for (let r = 0; r < table.rows; r++) {
        for (let c = 7; c < table.header.length; c++) {
          const cell = table.cell(r, c);
          if (cell === "yes") full++;
          else if (cell === "") none++;
          else rings++;
        }
      }
      const discs = (what: RegExp): number => back.operations.filter((op) => what.test(op)).length;
      expect(discs(/^disc .* r 4 fill=(cool|accent)/)).toBe(full);
      expect(discs(/^disc .* r 3\.5 stroke=(cool|accent)/)).toBe(rings);
      expect(discs(/^disc .* r 0\.8 fill=grey/)).toBe(none);
      expect(full + rings).toBeGreaterThan(60);
    },
  );

  it.each([764, 300])("leaves every title its words under the cursor, %d pixels wide", (width) => {
    const titlesAt = (row: number): string[] =>
      textsOf(record(compare, figureState("compare", { row }), width))
        .filter(({ x, how }) => x === (width < 500 ? 2 : 10) && !how.includes("turn"))
        .map(({ words }) => words);
    const rows = Array.from(titlesAt(0), (_, row) => titlesAt(row).join());
    expect(rows.length).toBeGreaterThan(20);
    expect(new Set(rows).size).toBe(1);
  });

  it.each([764, 700, 680, 660, 640, 500, 300, 264])("shortens no words of the table, %d pixels wide", (width) => {
    const words = textsOf(record(compare, figureState("compare"), width)).map((text) => text.words);
    expect(words.filter((one) => one.includes("\u2026"))).toEqual([]);
  });

  it.each([764, 640, 300, 240])("lays no words on others, and cuts none off, %d pixels wide", (width) => {
    for (const attributes of [{}, { row: 16, law: 3 }, { view: "relate" }, { schemes: "rope" }]) {
      const back = record(compare, figureState("compare", attributes), width);
      expect(overlaps(back)).toEqual([]);
      for (const { x, y, words, how } of textsOf(back)) {
        const wide = 0.93 * back.textWidth(words, { size: 11 });
        if (how.includes("turn -90")) expect([words, y - wide >= -4]).toEqual([words, true]);
        else if (how.includes("turn"))
          expect([words, x + 0.62 * wide <= width && y - 0.79 * wide >= -4]).toEqual([words, true]);
        else if (how.includes("start")) expect([words, x + wide <= width]).toEqual([words, true]);
      }
    }
  });

  it("keeps its height under the cursor", () => {
    const heights = [0, 4, 11, 20].flatMap((row) =>
      [0, 5].map((law) => compare.height(figureState("compare", { row, law }), 320)),
    );
    expect(new Set(heights).size).toBe(1);
  });

  it("reads the scheme and the law under a point", () => {
    const back = record(compare, figureState("compare", {}));
    const dots = back.operations.flatMap((op) => {
      const match = /^disc ([\d.]+),([\d.]+) r/.exec(op);
      return match ? [[Number(match[1]), Number(match[2])] as const] : [];
    });
    const laws = compare.cells!(figureState("compare", {})).column!.count;
    expect(dots).toHaveLength(21 * laws);
    for (const at of [0, laws, 5 * laws + 3, 21 * laws - 1]) {
      const [x, y] = dots[at]!;
      expect(back.cellAt(x, y)).toEqual({ row: Math.floor(at / laws), column: at % laws });
    }
    expect(back.cellAt(20, dots[2 * laws]![1])).toEqual({ row: 2 });
  });
});

describe("words and take-aways", () => {
  it("says of a law what it means and on which condition", () => {
    const state = figureState("compare", { schemes: "sinusoidal", law: 0 });
    const words = textsOf(record(compare, state))
      .map((text) => text.words)
      .join(" ");
    expect(words).toContain(
      "shift invariant: The dot product of two positions depends on their distance only. Holds if",
    );
    expect(readings({ schemes: "sinusoidal", law: 0 })["shift invariant"]).toBe("holds on a condition");
    expect(readings({ schemes: "rope alibi", row: 0, law: 5 })).toMatchObject({ scheme: "RoPE", parameters: "0" });
    expect(compare.summary(figureState("compare", {}))).toMatch(
      /Learned, Toeplitz and Swin relative bias end at a length/,
    );
  });

  it("gives a program that makes the same table", () => {
    const state = figureState("compare", { heads: 2, headWidth: 6, length: 33 });
    const { javascript } = compare.code!(state);
    const body = javascript.replace(/import \{ (.*) \} from "posenc";/, "const { $1 } = posenc;");
    const run = new Function("posenc", `${body}\nreturn table;`) as (api: unknown) => ReturnType<typeof compareSchemes>;
    const made = run(posenc).map(({ title, parameters, maxLength }) => [title, parameters, maxLength]);
    const rows = rowsOf({ heads: 2, headWidth: 6, length: 33 });
    expect(made).toEqual(
      rows.map((row) => [row.scheme, row.parameters, row.longest === "no end" ? Infinity : Number(row.longest)]),
    );
    const csv = toCsv(compare.table(figureState("compare", { schemes: "learned" }))).split("\n");
    expect(csv[1]).toMatch(/^Learned,embed,added to the input,393216,/);
  });

  it("renders without a document, and says what is wrong", () => {
    expect(renderSVG("compare", {}, { theme: "dark", width: 320 })).toContain("ALiBi");
    expect(() => figureState("compare", { schemes: "alibu rope" })).toThrow("did you mean \u201calibi\u201d?");
    expect(() => figureState("compare", { headWidth: 7.5 })).toThrow("headWidth must be");
    expect(() => figureState("compare", {}, [])).toThrow("there is no scheme to compare");
    expect(() => figureState("compare", {}, [3])).toThrow();
  });
});
