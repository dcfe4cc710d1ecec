// layoutCheck: the faults of mixed layouts are told by the lengths of rows and by scores, and named.
import { describe, expect, it } from "vitest";
import {
  PosencError,
  type RopeOptions,
  alibi,
  convertLayout,
  layoutCheck,
  randomNormal,
  rope,
  rotate,
  tensor,
} from "../../../web/src/index.js";

type Layout = "interleaved" | "half";
const kOther = { interleaved: "half", half: "interleaved" } as const;

// What frameworks do, by their own lines: a table of angles by columns, and a partner with a sign.
function rotated(x: number[][], table: Layout, pairs: Layout, positions: number[], base = 10000): number[][] {
  return x.map((row, t) => {
    const [d, h] = [row.length, row.length / 2];
    return row.map((_, c) => {
      const i = table === "half" ? c % h : Math.floor(c / 2);
      const angle = positions[t]! * base ** ((-2 * i) / d);
      const [partner, sign] =
        pairs === "half" ? (c < h ? [c + h, -1] : [c - h, 1]) : c % 2 === 0 ? [c + 1, -1] : [c - 1, 1];
      return row[c]! * Math.cos(angle) + sign * row[partner]! * Math.sin(angle);
    });
  });
}

const x = randomNormal([5, 8], { seed: 2 }).tolist() as number[][];
const positions = [0, 1, 2, 5, 40];

describe("layoutCheck", () => {
  it("tells the wrong norm of a table cat(f, f) under interleaved pairs (golden rope-018, xformers 779)", () => {
    const wrong = [-1.142639664, 2.009899834, -1.744977022, 4.029799502];
    const told = layoutCheck([[1, 2, 3, 4]], [wrong], rope({ dim: 4 }), { positions: [1] });
    expect(told.norms.expected.at(0)).toBeCloseTo(5.477225575, 8);
    expect(told.norms.found.at(0)).toBeCloseTo(4.962816899, 8);
    expect(told).toMatchObject({ ok: false, normAlarm: true, finding: "table of the other layout" });
    expect(told.normError).toBeCloseTo(1 - 4.962816899 / 5.477225575, 8);
  });

  it("tells half from interleaved by the scores, where no norm does (transformers 25199)", () => {
    for (const layout of ["interleaved", "half"] as const) {
      const wrong = rotated(x, kOther[layout], kOther[layout], positions);
      const told = layoutCheck(x, wrong, rope({ dim: 8, layout }), { positions });
      expect(told).toMatchObject({
        ok: false,
        normAlarm: false,
        scoreAlarm: true,
        finding: "pairs of the other layout",
      });
      expect(told.normError).toBeLessThan(1e-12);
    }
  });

  it.each(["interleaved", "half"] as const)("names what was done to %s", (layout) => {
    const scheme = rope({ dim: 8, layout });
    const check = (rows: unknown): ReturnType<typeof layoutCheck> =>
      layoutCheck(x, rows as number[][], scheme, { positions });
    const good = check(rotated(x, layout, layout, positions));
    expect(good).toMatchObject({ ok: true, normAlarm: false, scoreAlarm: false, finding: "as asked" });
    expect(Math.max(good.normError, good.scoreError, good.valueError)).toBeLessThan(1e-12);
    const other = kOther[layout];
    expect(check(rotated(x, other, layout, positions))).toMatchObject({
      normAlarm: true,
      finding: "table of the other layout",
    });
    expect(check(rotated(x, layout, other, positions))).toMatchObject({
      normAlarm: true,
      finding: "table of this layout, pairs of the other",
    });
    const back = positions.map((p) => -p);
    expect(check(rotated(x, layout, layout, back))).toMatchObject({ normAlarm: false, finding: "turned backwards" });
    expect(check(rotated(x, other, other, back)).finding).toBe("pairs of the other layout, turned backwards");
    expect(check(x)).toMatchObject({ ok: false, normAlarm: false, scoreAlarm: true, finding: "not turned" });
    const moved = convertLayout(rotated(x, layout, layout, positions), { from: layout, to: other });
    // The same columns in another order: scores stay, values do not.
    expect(check(moved)).toMatchObject({
      ok: false,
      normAlarm: false,
      scoreAlarm: false,
      finding: "columns in the order of the other layout",
    });
    expect(check(x.map((row) => row.map((c) => 1.5 * c)))).toMatchObject({ ok: false, normAlarm: true, finding: null });
  });

  it("takes batches, partial widths, scaled rules, bfloat16 and its tolerance", () => {
    const many = randomNormal([2, 3, 6, 16], { seed: 9 });
    const options: RopeOptions = { dim: 16, rotaryDim: 8, layout: "half", scaling: { type: "linear", factor: 2 } };
    const told = layoutCheck(many, rotate(many, rope(options)), rope(options));
    expect(told).toMatchObject({ ok: true, finding: "as asked" });
    expect(told.norms.found.shape).toEqual([2, 3, 6]);
    const brain = new Float32Array(rotate(many, rope(options)).data);
    const bits = new Uint32Array(brain.buffer);
    bits.forEach((word, i) => (bits[i] = word & 0xffff0000));
    const coarse = layoutCheck(many, tensor(brain, many.shape), rope(options));
    expect(coarse).toMatchObject({ ok: true, finding: "as asked" });
    expect(coarse.valueError).toBeGreaterThan(1e-4);
    const strict = layoutCheck(many, tensor(brain, many.shape), rope(options), { tolerance: 1e-6 });
    expect(strict).toMatchObject({ ok: false, finding: null });
    const other = layoutCheck(many, rotate(many, rope({ ...options, layout: "interleaved" })), rope(options));
    expect(other).toMatchObject({ ok: false, scoreAlarm: true, finding: "pairs of the other layout" });
  });

  it("refuses what does not fit", () => {
    const code = (attempt: () => unknown): string => {
      try {
        attempt();
      } catch (error) {
        if (error instanceof PosencError) return `${error.code} ${error.argument}`;
      }
      return "";
    };
    const scheme = rope({ dim: 8 });
    expect(code(() => layoutCheck(x, x.slice(1), scheme))).toBe("shape-mismatch rotated");
    expect(code(() => layoutCheck(x, x, alibi({ heads: 1 }) as never))).toBe("wrong-slot scheme");
    expect(
      code(() =>
        layoutCheck(
          x,
          x.map((row) => row.map(() => NaN)),
          scheme,
        ),
      ),
    ).toBe("not-finite rotated");
    expect(code(() => layoutCheck([1, 2], [1, 2], scheme))).toBe("shape-mismatch x");
    expect(code(() => layoutCheck(x, x, scheme, { position: 1 } as never))).toBe("unknown-option position");
    expect(code(() => layoutCheck(x, x, scheme, { tolerance: 0 }))).toBe("out-of-range tolerance");
  });
});
