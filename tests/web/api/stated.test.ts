// What the pages of the schemes state in numbers, against the core: facts that texts and other programs print wrongly.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  alibi,
  attention,
  bias,
  distance,
  encode,
  frequencies,
  fromJSON,
  randomNormal,
  rope,
  rotate,
  shaw,
  sinusoidal,
  t5,
  tensor,
  transformerXL,
  type Tensor,
} from "../../../web/src/index.js";

const page = (name: string): string =>
  readFileSync(join(import.meta.dirname, `../../../docs/schemes/${name}.md`), "utf8").replaceAll("\\", "");
const states = (name: string, ...texts: string[]): void => {
  for (const text of texts) expect(page(name), text).toContain(text);
};
const far = (table: Tensor, i: number, j: number): number =>
  Math.sqrt(Array.from(table.row(i)).reduce((sum, x, c) => sum + (x - table.row(j)[c]!) ** 2, 0));

describe("sinusoidal", () => {
  it("has the wavelengths it is said to have: 60,611 at the end of 512 columns, and 2 pi base in the timing signal only", () => {
    states("sinusoidal", "60,611 positions for its width of 512", "2 pi base is the last one of the timing spacing only");
    const { wavelength } = frequencies(sinusoidal({ dim: 512 }));
    expect(wavelength[255]).toBeCloseTo(2 * Math.PI * 10000 ** (1 - 2 / 512), 8);
    expect(Math.floor(wavelength[255]!)).toBe(60611);
    const timing = frequencies(sinusoidal({ dim: 512, spacing: "timing" })).wavelength;
    expect(timing[255]).toBeCloseTo(2 * Math.PI * 10000, 8);
    states("sinusoidal", "A higher column is a lower frequency");
    for (let i = 1; i < 256; i++) expect(wavelength[i]).toBeGreaterThan(wavelength[i - 1]!);
  });

  it("is shifted by R(k) from the left as a column, and by its transpose from the right as a row", () => {
    states("sinusoidal", "R(k) p(t) = p(t + k) with p a column; as rows, p(t + k) = p(t) M(k) with M(k) its transpose");
    const scheme = sinusoidal({ dim: 6 });
    const omega = Array.from({ length: 3 }, (_, i) => 10000 ** (-i / 3));
    const [t, k] = [11, 5];
    const [now, then] = [t, t + k].map((at) => encode(scheme, [at], { dtype: "float64" }).row(0)) as [
      Float64Array,
      Float64Array,
    ];
    omega.forEach((w, i) => {
      const [c, s] = [Math.cos(k * w), Math.sin(k * w)];
      const r = [
        [c, s],
        [-s, c],
      ];
      for (const row of [0, 1]) {
        const column = r[row]![0]! * now[2 * i]! + r[row]![1]! * now[2 * i + 1]!;
        expect(then[2 * i + row]).toBeCloseTo(column, 12);
      }
    });
  });

  it("comes back only nearly at whole positions", () => {
    states("sinusoidal", "710 is 113 turns to 6.0e-5", "for d = 4 they are 0.794 apart");
    const narrow = far(encode(sinusoidal({ dim: 2 }), [0, 710], { dtype: "float64" }), 0, 1);
    expect(narrow.toExponential(1)).toBe("6.0e-5");
    expect(narrow).toBeCloseTo(710 - 226 * Math.PI, 9);
    expect(far(encode(sinusoidal({ dim: 4 }), [0, 710], { dtype: "float64" }), 0, 1).toFixed(3)).toBe("0.794");
  });

  it("is longer than usual embeddings", () => {
    states("sinusoidal", "the norm sqrt(d / 2), large beside embeddings of deviation 0.02");
    const table = encode(sinusoidal({ dim: 512 }), [0, 3, 1e6], { dtype: "float64" });
    for (let t = 0; t < 3; t++) expect(Math.hypot(...table.row(t))).toBeCloseTo(16, 12);
    const words = randomNormal([50, 512], { seed: 3, std: 0.02 });
    for (let t = 0; t < 50; t++) expect(Math.hypot(...words.row(t))).toBeLessThan(16 / 30);
  });
});

describe("rope", () => {
  it("turns queries and keys, and leaves values", () => {
    states("rope", "queries and keys are turned, never values");
    const [q, k, v] = randomNormal([3, 5, 4], { seed: 2 }) as unknown as Iterable<Tensor<"float32">>;
    const scheme = rope({ dim: 4 });
    const inside = attention(q!, k!, v!, { rotate: scheme }).out;
    const outside = attention(rotate(q!, scheme), rotate(k!, scheme, { side: "key" }), v!).out;
    inside.data.forEach((x, n) => expect(x).toBeCloseTo(outside.data[n]!, 6));
  });

  it("has digits of base^(2/d), and its trained base where the default is another", () => {
    states("rope", "its wavelength is base^(2/d) times that of the pair before", "not of the model's 500000");
    for (const base of [10000, 500000]) {
      const { wavelength } = frequencies(rope({ dim: 128, base }));
      for (let i = 1; i < 64; i++) expect(wavelength[i]! / wavelength[i - 1]!).toBeCloseTo(base ** (2 / 128), 12);
    }
    expect(rope({ dim: 128 }).base).toBe(10000);
  });

  it("takes YaRN's factor in place of its own", () => {
    states("rope", "An attentionFactor that is given replaces that, and never multiplies it");
    const scaling = { type: "yarn", factor: 64, originalMaxPositionEmbeddings: 4096 } as const;
    expect(frequencies(rope({ dim: 64, scaling })).attentionFactor).toBeCloseTo(0.1 * Math.log(64) + 1, 14);
    for (const attentionFactor of [1, 1.25])
      expect(frequencies(rope({ dim: 64, scaling: { ...scaling, attentionFactor } })).attentionFactor).toBe(
        attentionFactor,
      );
  });
});

describe("biases", () => {
  it("of ALiBi begin with a slope of one half, and are penalties", () => {
    states("alibi", "the first of eight heads has 1/2 (some texts print 1)", "-m times the distance, never plus");
    const b = bias(alibi({ heads: 8 }), { queries: [4], keys: 9 });
    expect(Array.from({ length: 9 }, (_, j) => b.at(0, 0, j))).toEqual([-2, -1.5, -1, -0.5, 0, -0.5, -1, -1.5, -2]);
    states("alibi", "which the softmax cannot tell from -m (i - j)");
    const [q, k, v] = randomNormal([3, 8, 7, 4], { seed: 1 }) as unknown as Iterable<Tensor<"float32">>;
    const scheme = alibi({ heads: 8 });
    const here = attention(q!, k!, v!, { bias: scheme, causal: true, weights: true }).weights!;
    const plain = attention(q!, k!, v!, { causal: true, trace: true }).trace!;
    for (let h = 0; h < 8; h++) {
      for (let i = 0; i < 7; i++) {
        const terms = Array.from({ length: i + 1 }, (_, j) => Math.exp(plain.content.at(h, i, j) + 2 ** -(h + 1) * j));
        const sum = terms.reduce((a, b) => a + b);
        terms.forEach((term, j) => expect(here.at(h, i, j)).toBeCloseTo(term / sum, 5));
      }
    }
  });

  it("of T5 are the rows that are printed", () => {
    states("t5", "its keys in buckets 0, 17 .. 23, 24, 24 of 32");
    const weights = Array.from({ length: 32 }, (_, row) => [row]);
    const b = bias(t5({ heads: 1, weights }), { queries: [0], keys: 10 });
    expect([...b.data]).toEqual([0, 17, 18, 19, 20, 21, 22, 23, 24, 24]);
  });

  it("of the claim without a source are told as a claim, and halve the weight at tau", () => {
    states("distance", "it has no source, and no number that is told with it has one");
    const b = bias(distance({ heads: 1, tau: 32 }), { queries: [0], keys: [32] });
    expect(b.at(0, 0, 0)).toBeCloseTo(-Math.log(2), 6);
  });
});

describe("relations", () => {
  // Terms of one query and one key at an offset, by the tables alone.
  it("are Shaw's and Transformer-XL's, each under its own name", () => {
    states("shaw", "A score of four terms with two free vectors is transformerXL's");
    states("transformerXL", "u meets the keys, v the distances");
    const [q, k] = randomNormal([2, 1, 2, 4], { seed: 6 }) as unknown as Iterable<Tensor<"float32">>;
    const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
      Array.from(a).reduce((sum, x, c) => sum + x * b[c]!, 0);
    const row = (x: Tensor, t: number): number[] => [...x.data.slice(4 * t, 4 * t + 4)];
    const term = (relate: Parameters<typeof attention>[3]): number =>
      attention(q!, k!, k!, { ...relate, scale: 1, trace: true }).trace!.relate.at(0, 1, 0);

    const keys = randomNormal([3, 4], { seed: 9 });
    const byShaw = term({ relate: shaw({ dim: 4, clip: 1, keys, values: false }) });
    expect(byShaw).toBeCloseTo(dot(row(q!, 1), row(keys, 0)), 5);

    const [u, v] = [randomNormal([1, 4], { seed: 10 }), randomNormal([1, 4], { seed: 11 })];
    const wr = randomNormal([4, 4], { seed: 12 });
    // r(1) = W^T [sin 1, sin 0.01 | cos 1, cos 0.01]
    const wave = [Math.sin(1), Math.sin(0.01), Math.cos(1), Math.cos(0.01)];
    const r = Array.from({ length: 4 }, (_, c) => wave.reduce((sum, x, m) => sum + x * wr.at(m, c), 0));
    const wanted =
      dot(row(u, 0), row(k!, 0)) + dot(row(q!, 1).map((x, c) => x + v.at(0, c)), r);
    expect(term({ relate: transformerXL({ heads: 1, dim: 4, u, v, wr }) })).toBeCloseTo(wanted, 5);
  });
});

describe("attention without positions", () => {
  it("gives permuted tokens the same outputs, permuted: equivariant, and not invariant", () => {
    const api = readFileSync(join(import.meta.dirname, "../../../docs/api.md"), "utf8");
    expect(api).toContain("permutation-equivariant");
    const x = randomNormal([6, 4], { seed: 5 });
    const order = [3, 0, 5, 1, 4, 2];
    const permuted = tensor(order.map((t) => [...x.row(t)]));
    const [straight, turned] = [x, permuted].map((rows) => attention(rows, rows, rows).out) as [Tensor, Tensor];
    order.forEach((from, to) =>
      straight.row(from).forEach((value, c) => expect(turned.at(to, c)).toBeCloseTo(value, 5)),
    );
    expect(far(tensor([[...straight.row(0)], [...turned.row(0)]]), 0, 1)).toBeGreaterThan(0.01);
  });
});

// A scheme's plain data makes the scheme again, whatever was left to its defaults.
describe("fourier", () => {
  it("is rebuilt from its data in either kind", async () => {
    const { fourier } = await import("../../../web/src/index.js");
    for (const scheme of [fourier(), fourier({ levels: 6 }), fourier({ gaussian: 0.1, features: 4 })]) {
      const again = fromJSON(JSON.parse(JSON.stringify(scheme))) as typeof scheme;
      expect(encode(again, [0.25]).data).toEqual(encode(scheme, [0.25]).data);
    }
    expect(encode(fourier(), [0.25]).data).toEqual(encode(fourier({ levels: 6 }), [0.25]).data);
  });
});
