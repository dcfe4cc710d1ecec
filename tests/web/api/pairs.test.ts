// What the bias and relate schemes share through the public API: ends of tables, whole offsets, ways to write options.
import { describe, expect, it } from "vitest";
import {
  attention,
  bias,
  cope,
  deberta,
  fire,
  grid,
  kerple,
  randomNormal,
  relativeIndex,
  sandwich,
  swin,
  t5,
  toeplitz,
  transformerXL,
  type PosencError,
} from "../../../web/src/index.js";

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as PosencError).code;
  }
  return "taken";
}

describe("tables that end", () => {
  const x = randomNormal([4, 8]);
  const scheme = toeplitz({ values: [[-2, -1, 0, 1, 2]] });

  it("are met up to their ends, alone and in attention", () => {
    expect(bias(scheme, { queries: 3, keys: [0, 1, 2] }).tolist()).toEqual([
      [
        [0, 1, 2],
        [-1, 0, 1],
        [-2, -1, 0],
      ],
    ]);
    const { trace } = attention(x.slice(0, 3), x.slice(0, 3), x.slice(0, 3), { bias: scheme, trace: true });
    expect(Array.from(trace!.bias.data)).toEqual([0, 1, 2, -1, 0, 1, -2, -1, 0]);
  });

  it("refuse what lies beyond, whether positions are given or not, masked or not", () => {
    expect(codeOf(() => bias(scheme, { queries: 4, keys: 1 }))).toBe("out-of-range");
    expect(codeOf(() => relativeIndex(scheme, { queries: 1, keys: [-3] }))).toBe("out-of-range");
    expect(codeOf(() => attention(x, x, x, { bias: scheme }))).toBe("out-of-range");
    expect(codeOf(() => attention(x, x, x, { bias: scheme, causal: true, window: 2 }))).toBe("out-of-range");
    const near = { queryPositions: [5, 5, 6, 6], keyPositions: [4, 5, 6, 7] };
    expect(codeOf(() => attention(x, x, x, { bias: scheme, ...near }))).toBe("taken");
  });

  it("of a window take the positions of a grid", () => {
    const scheme = swin({ window: 2, windowWidth: 3, heads: 1 });
    const cells = grid(2, 3);
    const rows = relativeIndex(scheme, { queries: cells, keys: cells });
    expect(Array.from(rows.row(0))).toEqual([7, 6, 5, 2, 1, 0]);
    expect(Array.from(rows.row(5))).toEqual([14, 13, 12, 9, 8, 7]);
    const x = randomNormal([6, 4]);
    expect(attention(x, x, x, { bias: scheme, queryPositions: cells, keyPositions: cells }).out.shape).toEqual([6, 4]);
    expect(codeOf(() => bias(scheme, { queries: grid(3, 2), keys: grid(3, 2) }))).toBe("out-of-range");
  });
});

describe("whole offsets", () => {
  it.each([
    ["t5", t5({ heads: 1 })],
    ["toeplitz", toeplitz({ values: [[0, 1, 2]] })],
    ["swin", swin({ window: 3, heads: 1 })],
  ] as const)("%s refuses fractions", (_, scheme) => {
    expect(codeOf(() => bias(scheme, { queries: [0], keys: [0.5] }))).toBe("not-integer");
    expect(codeOf(() => bias(scheme, { queries: [0.5], keys: [1.5] }))).toBe("taken");
  });
  it.each([
    ["kerple", kerple({ heads: 1 })],
    ["sandwich", sandwich({ heads: 1 })],
    ["fire", fire({ heads: 1 })],
  ] as const)("%s takes fractions", (_, scheme) => {
    expect(codeOf(() => bias(scheme, { queries: [0], keys: [0.5] }))).toBe("taken");
  });
  it("deberta refuses fractions, transformerXL takes them", () => {
    const x = randomNormal([1, 4]);
    const apart = { queryPositions: [0], keyPositions: [0.5] };
    expect(codeOf(() => attention(x, x, x, { relate: deberta({ heads: 1, dim: 4, span: 4 }), ...apart }))).toBe(
      "not-integer",
    );
    expect(codeOf(() => attention(x, x, x, { relate: transformerXL({ heads: 1, dim: 4 }), ...apart }))).toBe("taken");
  });
});

describe("options", () => {
  it("take one number for all heads, or one for each", () => {
    const at = { queries: [9], keys: [0] };
    const one = bias(kerple({ heads: 2, kind: "power", r1: 2, r2: 0.5 }), at);
    expect(one.tolist()).toEqual([[[-6]], [[-6]]]);
    expect(bias(kerple({ heads: 2, kind: "power", r1: [2, 1], r2: [0.5] }), at).tolist()).toEqual([[[-6]], [[-3]]]);
  });

  it("take terms as a list in any order", () => {
    const terms = (terms: Parameters<typeof deberta>[0]["terms"]): string =>
      deberta({ heads: 1, dim: 2, span: 2, ...(terms === undefined ? {} : { terms }) }).terms;
    expect(terms(undefined)).toBe("c2p+p2c");
    expect(terms(["p2c", "c2p"])).toBe("c2p+p2c");
    expect(terms(["p2c"])).toBe("p2c");
    expect(terms("c2p")).toBe("c2p");
    expect(codeOf(() => terms([]))).toBe("unknown-choice");
    expect(codeOf(() => terms(["c2p", "c2p"]))).toBe("unknown-choice");
  });
});

describe("cope", () => {
  it("is for causal attention only", () => {
    const x = randomNormal([3, 4]);
    const relate = cope({ dim: 4, maxPosition: 4 });
    expect(codeOf(() => attention(x, x, x, { relate }))).toBe("unsupported");
    expect(codeOf(() => attention(x, x, x, { relate, causal: true }))).toBe("taken");
  });
});
