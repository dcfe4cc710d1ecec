// The worked examples of the notes, and what a reader of a textbook tries first.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  alibi,
  attention,
  bias,
  embed,
  encode,
  frequencies,
  info,
  rope,
  rotate,
  shaw,
  relativeIndex,
  schemes,
  sinusoidal,
} from "../../../web/src/index.js";
import { gap } from "./oracle.js";

describe("the notes' worked examples", () => {
  it("prints the table of positions 0 to 3 in four columns", () => {
    const printed = encode(sinusoidal({ dim: 4 }), 4).tolist() as number[][];
    expect(printed.map((row) => row.map((x) => x.toFixed(3)))).toEqual([
      ["0.000", "1.000", "0.000", "1.000"],
      ["0.841", "0.540", "0.010", "1.000"],
      ["0.909", "-0.416", "0.020", "1.000"],
      ["0.141", "-0.990", "0.030", "1.000"],
    ]);
  });

  it("prints PE(3)", () => {
    const row = encode(sinusoidal({ dim: 4 }), [3]).row(0);
    expect(Array.from(row, (x) => x.toFixed(4))).toEqual(["0.1411", "-0.9900", "0.0300", "0.9996"]);
  });

  it("adds positions to The cat sat", () => {
    const words = [
      [0.2, -0.5, 0.8, 0.1],
      [-0.3, 0.4, 0.2, -0.6],
      [0.7, 0.1, -0.4, 0.3],
    ];
    const sum = embed(words, sinusoidal({ dim: 4 }));
    const expected = [
      [0.2, 0.5, 0.8, 1.1],
      [0.5414709848, 0.9403023059, 0.2099998333, 0.3999500004],
      [1.609297427, -0.3161468365, -0.3800013333, 1.299800007],
    ];
    expect(gap(sum.tolist(), expected)).toBeLessThan(2e-7);
    expect(sum.shape).toEqual([3, 4]);
  });

  it("turns [1, 2, 3, 4] at position 1 in both layouts", () => {
    const x = [[1, 2, 3, 4]];
    const at = { positions: [1] };
    const printed = (layout: "interleaved" | "half"): string[] =>
      Array.from(rotate(x, rope({ dim: 4, layout }), at).row(0), (y) => y.toFixed(4));
    expect(printed("interleaved")).toEqual(["-1.1426", "1.9221", "2.9599", "4.0298"]);
    expect(printed("half")).toEqual(["-1.9841", "1.9599", "2.4624", "4.0198"]);
  });

  it("shows ALiBi's slopes as what one step costs", () => {
    const step = bias(alibi({ heads: 8 }), { queries: [1], keys: [0] });
    expect(Array.from(step.data, (b) => -1 / b)).toEqual([2, 4, 8, 16, 32, 64, 128, 256]);
  });

  it("gives the wavelengths of 512 columns", () => {
    const { wavelength, inverse, base } = frequencies(sinusoidal({ dim: 512 }));
    expect(base).toBe(10000);
    expect(inverse).toHaveLength(256);
    expect(wavelength[0]).toBe(2 * Math.PI);
    expect(wavelength[255]).toBeCloseTo(60611.477, 2);
  });

  it("gives Shaw's table rows, clipped", () => {
    const scheme = shaw({ dim: 4, clip: 2 });
    expect(relativeIndex(scheme, { queries: 4, keys: 4 }).tolist()).toEqual([
      [2, 3, 4, 4],
      [1, 2, 3, 4],
      [0, 1, 2, 3],
      [0, 0, 1, 2],
    ]);
    expect(relativeIndex(scheme, { queries: 2, keys: 3, raw: true }).tolist()).toEqual([
      [0, 1, 2],
      [-1, 0, 1],
    ]);
  });
});

describe("the package", () => {
  it("says what runs", () => {
    expect(info()).toMatchObject({ backend: "simd", lanes: "wasm-simd128" });
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../../package.json"), "utf8")) as {
      version: string;
    };
    expect(info().version).toBe(version);
    expect(info().compiler).toMatch(/^Emscripten \d+\.\d+\.\d+, clang \d+\.\d+\.\d+$/);
  });

  it("lists its schemes with their parameters", () => {
    expect(schemes.map(({ slot, name }) => `${slot} ${name}`)).toEqual(
      expect.arrayContaining(["embed sinusoidal", "rotate rope", "bias alibi", "relate shaw"]),
    );
    for (const { params, laws, formula, reference } of schemes) {
      expect(params.length).toBeGreaterThan(0);
      expect(laws.length).toBeGreaterThan(0);
      expect(formula + reference).not.toContain("undefined");
    }
  });

  it("takes all four slots in one sentence", () => {
    const x = embed(
      [
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
      ],
      sinusoidal({ dim: 4 }),
    );
    const result = attention(x, x, x, {
      causal: true,
      rotate: rope({ dim: 4 }),
      bias: alibi({ heads: 1 }),
      relate: shaw({ dim: 4, clip: 2 }),
    });
    expect(result.out.shape).toEqual([3, 4]);
    expect(result.lse.shape).toEqual([3]);
    expect(Object.keys(result)).toEqual(["out", "lse"]);
    // The first query sees itself alone.
    expect(gap([...result.out.row(0)], [...x.row(0)])).toBeLessThan(0.1);
  });
});
