// Tensors, what is taken for one, positions, and schemes as values.
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import {
  PosencError,
  type SchemeJSON,
  Tensor,
  alibi,
  arange,
  bias,
  convertLayout,
  embed,
  encode,
  fairseqPositions,
  fromJSON,
  grid,
  learned,
  multimodalPositions,
  paddedPositions,
  randomNormal,
  rope,
  rotate,
  schemes,
  shaw,
  sinusoidal,
  tensor,
} from "../../../web/src/index.js";
import { gap } from "./oracle.js";

const kScheme = sinusoidal({ dim: 4 });

describe("Tensor", () => {
  const t = tensor([
    [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
    [
      [7, 8],
      [9, 10],
      [11, 12],
    ],
  ]);

  it("knows its shape and reads by index", () => {
    expect([t.shape, t.dims, t.size, t.dtype]).toEqual([[2, 3, 2], [2, 3, 2], 12, "float32"]);
    expect([t.at(0, 0, 0), t.at(1, 2, 1), t.at(-1, -1, -1), t.at(1, 0, -2)]).toEqual([1, 12, 12, 7]);
    expect(t.row(1, 0)).toEqual(Float32Array.of(7, 8));
    expect(t.slice(1).tolist()).toEqual([
      [
        [7, 8],
        [9, 10],
        [11, 12],
      ],
    ]);
    expect(t.slice(-2, -1).tolist()).toEqual([
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
    ]);
    expect(t.slice(5).shape).toEqual([0, 3, 2]);
    expect(t.tolist()).toEqual([
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
      [
        [7, 8],
        [9, 10],
        [11, 12],
      ],
    ]);
  });

  it("gives copies, never views", () => {
    const row = t.row(0, 0);
    row[0] = 99;
    t.slice(0).data[0] = 99;
    [...(t as Iterable<Tensor>)][0]!.data[0] = 99;
    expect(t.at(0, 0, 0)).toBe(1);
  });

  it("iterates over its first axis", () => {
    expect([...tensor([1, 2, 3])]).toEqual([1, 2, 3]);
    expect([...tensor([true, false])]).toEqual([true, false]);
    expect([...(t as Iterable<Tensor>)].map((part) => part.shape)).toEqual([
      [3, 2],
      [3, 2],
    ]);
  });

  it("prints readably", () => {
    expect(
      String(
        tensor([
          [1.5, 2],
          [3, 4],
        ]),
      ),
    ).toBe("Tensor float32 [2, 2]\n[[1.5, 2],\n [3, 4]]");
    expect(inspect(tensor(Float32Array.of(0.1)))).toBe("Tensor float32 [1]\n[0.1]");
    expect(inspect(randomNormal([100, 100])).length).toBeLessThan(800);
    expect(String(tensor([], [0, 3]))).toContain("[0, 3]");
    expect((t as unknown as Record<symbol, () => unknown>)[Symbol.for("Jupyter.display")]!()).toEqual({
      "text/plain": String(t),
    });
  });

  it("says in JSON what JSON can say", () => {
    expect(JSON.parse(JSON.stringify(tensor([1, NaN, -Infinity])))).toEqual({
      shape: [3],
      dtype: "float32",
      data: [1, null, null],
    });
    expect(JSON.parse(JSON.stringify(tensor([true, false])))).toEqual({
      shape: [2],
      dtype: "bool",
      data: [true, false],
    });
  });

  it("hands itself to Observable Plot", () => {
    expect(
      tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]).toPlotRaster(),
    ).toEqual([Float32Array.of(1, 2, 3, 4, 5, 6), { width: 3, height: 2, x1: 0, y1: 2, x2: 3, y2: 0 }]);
  });

  it("keeps types, or converts as asked", () => {
    expect(tensor(Float64Array.of(1)).dtype).toBe("float64");
    expect(tensor(Int32Array.of(1)).dtype).toBe("int32");
    expect(tensor(Uint8Array.of(1)).dtype).toBe("float32");
    expect(tensor([1, 0], undefined, "bool").tolist()).toEqual([true, false]);
    for (const value of [2, -1, 0.5, 255, NaN]) {
      for (const values of [[value], Float64Array.of(value), Float32Array.of(value), { data: [value], shape: [1] }]) {
        const given = expect.objectContaining({ code: "out-of-range", subject: "tensor", given: String(value) });
        expect(() => tensor(values, [1], "bool")).toThrow(given);
      }
    }
    expect(() => tensor(Uint8Array.of(1, 2), [2], "bool")).toThrow(expect.objectContaining({ given: "2" }));
    expect(() => new Tensor(Uint8Array.of(1, 2), [2], "bool")).toThrow(expect.objectContaining({ given: "2" }));
    expect(tensor([1, 2], undefined, "int32").data).toEqual(Int32Array.of(1, 2));
    expect(tensor(5).shape).toEqual([]);
    const data = Float32Array.of(1, 2, 3, 4);
    expect(tensor(data, [2, 2]).data).toBe(data);
  });
});

describe("what is taken for an array", () => {
  const wanted = rotate(
    [
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ],
    rope({ dim: 4 }),
  );
  const flat = [1, 2, 3, 4, 5, 6, 7, 8];

  it.each([
    [
      "a Tensor",
      tensor([
        [1, 2, 3, 4],
        [5, 6, 7, 8],
      ]),
    ],
    ["a bare typed array", Float32Array.from(flat)],
    ["integers", Int16Array.from(flat)],
    ["{data, shape}", { data: Float32Array.from(flat), shape: [2, 4] }],
    ["{data, dims} as transformers.js", { data: Float32Array.from(flat), dims: [2, 4] }],
    ["{dataSync, shape} as tfjs", { dataSync: () => Float32Array.from(flat), shape: [2, 4] }],
    ["rows of typed arrays", [Float32Array.of(1, 2, 3, 4), Float32Array.of(5, 6, 7, 8)]],
    [
      "an ndarray in column order",
      { data: Float32Array.of(1, 5, 2, 6, 3, 7, 4, 8), shape: [2, 4], stride: [1, 2], offset: 0 },
    ],
    [
      "an ndarray turned round",
      { data: Float32Array.from(flat).reverse(), shape: [2, 4], strides: [-4, -1], offset: 7 },
    ],
    ["shared memory", new Float32Array(new SharedArrayBuffer(32)).map((_, i) => flat[i]!)],
  ])("%s", (_, x) => {
    expect(rotate(x as never, rope({ dim: 4 })).data).toEqual(wanted.data);
  });

  it("shared and growable buffers are copied, and serve as out", () => {
    const shared = new Float32Array(new SharedArrayBuffer(32));
    shared.set(flat);
    const growable = new Float32Array(
      new (ArrayBuffer as unknown as new (n: number, o: object) => ArrayBuffer)(32, { maxByteLength: 64 }),
    );
    growable.set(flat);
    for (const x of [shared, growable]) {
      expect(tensor(x, [2, 4]).data).not.toBe(x);
      expect(tensor(x, [2, 4]).data.buffer).not.toBe(x.buffer);
      rotate(Float32Array.from(flat), rope({ dim: 4 }), { out: x });
    }
    expect(shared).toEqual(growable);
    expect(Array.from(shared)).toEqual(Array.from(wanted.data));
  });

  it("float64 stays float64 through rotation", () => {
    const x = rotate(Float64Array.of(1, 2, 3, 4), rope({ dim: 4 }), { positions: [1] });
    expect(x.dtype).toBe("float64");
    const [s1, c1, s2, c2] = [Math.sin(1), Math.cos(1), Math.sin(0.01), Math.cos(0.01)];
    expect(gap([...x.data], [c1 - 2 * s1, s1 + 2 * c1, 3 * c2 - 4 * s2, 3 * s2 + 4 * c2])).toBeLessThan(4e-15);
  });
});

describe("positions", () => {
  it("are counts, arrays, BigInts or axes", () => {
    const rows = (p: Parameters<typeof encode>[1]): unknown => encode(kScheme, p).tolist();
    const three = rows([0, 1, 2]);
    for (const p of [
      3,
      [0n, 1n, 2n],
      BigInt64Array.of(0n, 1n, 2n),
      Float32Array.of(0, 1, 2),
      arange(3),
      tensor([0, 1, 2]),
      [[0, 1, 2]],
    ]) {
      expect(rows(p)).toEqual(three);
    }
    expect(rows([2 ** 53])).toEqual(rows([9007199254740992n]));
    expect(rows([0, 1n, 2] as never)).toEqual(three);
  });

  it("are int64 tensors too, as tokenizers give position ids", () => {
    const data = BigInt64Array.of(0n, 1n, 2n);
    const three = encode(kScheme, 3).data;
    for (const dims of [[3], [1, 3]]) {
      expect(encode(kScheme, { data, dims }).data).toEqual(three);
      expect(encode(kScheme, { data: [...data], shape: dims }).data).toEqual(three);
      expect(fairseqPositions({ data, dims }, 0).tolist()).toEqual([0, 1, 2]);
    }
    const wide = { data: BigInt64Array.of(2n ** 53n + 1n), dims: [1] };
    expect(() => encode(kScheme, wide)).toThrow("positions must be at most 2^53 in magnitude");
  });

  it("arange counts without accumulating", () => {
    expect(arange(2, 5).tolist()).toEqual([2, 3, 4]);
    expect(arange(1, 0, -0.25).tolist()).toEqual([1, 0.75, 0.5, 0.25]);
    expect(arange(0, 1, 0.1).at(7)).toBe(7 * 0.1);
    expect(arange(3, 3).shape).toEqual([0]);
    expect(arange(5, 0).shape).toEqual([0]);
  });

  it("grid goes row by row", () => {
    expect(grid(2, 3).tolist()).toEqual([
      [0, 0, 0, 1, 1, 1],
      [0, 1, 2, 0, 1, 2],
    ]);
    expect(grid(0, 3).shape).toEqual([2, 0]);
  });

  it("padding takes no positions", () => {
    expect(paddedPositions([true, true, false], { padding: "right", fill: -1 }).tolist()).toEqual([0, 1, -1]);
    expect(() => paddedPositions([1, 1, 0], { padding: "left" })).toThrow(/left only/);
    expect(() => paddedPositions([0, 1], { padding: "right" })).toThrow(PosencError);
  });

  it("fairseq's first token is padIndex + 1 (fairseq #123, RoBERTa's 514 rows)", () => {
    expect(fairseqPositions([1, 1, 5, 3, 6, 7], 1).tolist()).toEqual([1, 1, 2, 3, 4, 5]);
    const table = encode(sinusoidal({ dim: 4, padIndex: 1 }), fairseqPositions([1, 5], 1));
    expect([...table.row(0)]).toEqual([0, 0, 0, 0]);
    expect(table.row(1)).toEqual(encode(kScheme, [2]).row(0));
  });

  it("text resumes after an image's largest position", () => {
    expect(multimodalPositions([{ video: [2, 1, 2] }, { text: 1 }]).tolist()).toEqual([
      [0, 0, 1, 1, 2],
      [0, 0, 0, 0, 2],
      [0, 1, 0, 1, 2],
    ]);
    expect(multimodalPositions([]).shape).toEqual([3, 0]);
    expect(() => multimodalPositions(new Array(2) as never)).toThrow("parts[0] must be {text: n}");
  });
});

describe("masks of 0 and 1", () => {
  const flags = [true, false, true, true];
  const whole = flags.map(Number);
  // All forms that mean the same, [T] and [1, T].
  const forms: [string, posenc.MaskLike][] = [
    ["booleans", flags],
    ["numbers", whole],
    ["bytes", Uint8Array.from(whole)],
    ["int32", Int32Array.from(whole)],
    ["a bool tensor", tensor(flags)],
    ["a BigInt64Array", BigInt64Array.from(whole, BigInt)],
    ["a BigUint64Array", BigUint64Array.from(whole, BigInt)],
    ["BigInts", whole.map(BigInt)],
    ["an int64 tensor", { data: BigInt64Array.from(whole, BigInt), dims: [1, 4] }],
    ["nested booleans", [flags]],
    ["nested numbers", [whole]],
    ["nested bytes", [Uint8Array.from(whole)]],
    ["nested BigInts", [whole.map(BigInt)]],
    ["BigInt64Arrays", [BigInt64Array.from(whole, BigInt)]],
    ["nested int32", [Int32Array.from(whole)]],
  ];
  const x = randomNormal([1, 1, 4, 2]);
  const seen = posenc.attention(x, x, x, { keyMask: flags }).out.data;

  it.each(forms)("may be %s", (what, mask) => {
    expect(posenc.attention(x, x, x, { keyMask: mask }).out.data).toEqual(seen);
    expect(paddedPositions(mask).tolist()).toEqual([0, 1, 1, 2]);
    // Integers could mean either there, and nested numbers are added.
    if (/int32/.test(what)) expect(() => posenc.attention(x, x, x, { mask })).toThrow("mask must be booleans");
    else if (!/numbers/.test(what)) expect(posenc.attention(x, x, x, { mask }).out.data).toEqual(seen);
    if (!/nested|BigInt64Arrays|int64 tensor/.test(what)) return;
    const cells = posenc.sinusoidal2d({ dim: 4, style: "detr", mask });
    expect(cells.mask!.tolist()).toEqual([whole]);
  });

  it("have an entry for each pair by their length, where they are bare BigInts", () => {
    const pairs = Array.from({ length: 16 }, (_, n) => n % 4 <= n / 4);
    const masked = (mask: posenc.MaskLike): Float32Array => posenc.attention(x, x, x, { mask }).out.data;
    expect(masked(BigInt64Array.from(pairs, BigInt))).toEqual(masked(Uint8Array.from(pairs, Number)));
  });

  it("count keys in BigInts as well", () => {
    const counted = (keyLengths: posenc.AttentionOptions["keyLengths"]): Float32Array =>
      posenc.attention(x, x, x, { keyLengths: keyLengths! }).out.data;
    for (const lengths of [[3n], BigInt64Array.of(3n), { data: [3n], dims: [1] }]) {
      expect(counted(lengths)).toEqual(counted(3));
    }
  });

  it("may have the type that transformers.js has for any tensor", () => {
    type Theirs = { get data(): Float32Array | Int32Array | BigInt64Array | Uint8Array; get dims(): number[] };
    const theirs: Theirs = { data: BigInt64Array.from(whole, BigInt), dims: [1, 4] };
    const tokens: Theirs = { data: x.data as Float32Array, dims: [1, 1, 4, 2] };
    expect(posenc.attention(tokens, tokens, tokens, { keyMask: theirs }).out.data).toEqual(seen);
    expect(paddedPositions(theirs).size).toBe(4);
  });

  it("name what is neither", () => {
    const two = { data: BigInt64Array.of(1n, 1n, 1n, 2n), dims: [1, 4] };
    expect(() => posenc.attention(x, x, x, { keyMask: two })).toThrow(
      "keyMask must be true or false (or 1 or 0), [Tk] or [B, Tk], got 2",
    );
    expect(() => posenc.attention(x, x, x, { mask: two })).toThrow("mask must be true and false (or 1 and 0), got 2");
    expect(() => paddedPositions([1n, -1n])).toThrow("mask must be true or false (or 1 or 0) for each token, [T], got -1");
  });
});

describe("schemes", () => {
  it("are frozen and readable", () => {
    const scheme = rope({ dim: 8, scaling: { type: "linear", factor: 2 } });
    expect([scheme.slot, scheme.name, scheme.dim, scheme.base, scheme.rotaryDim, scheme.frequencies]).toEqual([
      "rotate",
      "rope",
      8,
      10000,
      8,
      null,
    ]);
    expect({ ...scheme.scaling }).toMatchObject({ type: "linear", factor: 2 });
    expect(Object.isFrozen(scheme) && Object.isFrozen(scheme.scaling)).toBe(true);
    // What belongs to another rule is not there.
    expect(Object.keys(scheme.scaling)).toEqual(["type", "factor"]);
    expect(Object.keys(rope({ dim: 8 }).scaling)).toEqual(["type"]);
    expect(String(scheme)).toBe('rope({dim: 8, scaling: {type: "linear", factor: 2}})');
    expect(inspect(alibi({ heads: 8, slopes: [1, 2, 3, 4, 5, 6, 7, 8] }))).toBe(
      "alibi({heads: 8, slopes: [1, 2, 3, 4, 5, 6, 7, 8]})",
    );
    expect(
      String(
        shaw({
          dim: 2,
          clip: 1,
          keys: [
            [1, 2],
            [3, 4],
            [5, 6],
          ],
          values: false,
        }),
      ),
    ).toBe("shaw({dim: 2, clip: 1, keys: <3 x 2>, values: false})");
  });

  it("keep their own copy of what they were given", () => {
    const slopes = Float64Array.of(0.5, 0.25);
    const scheme = alibi({ heads: 2, slopes });
    slopes[0] = 7;
    scheme.slopes!.data[1] = 7;
    expect([...bias(scheme, { queries: [1], keys: [0] }).data]).toEqual([-0.5, -0.25]);
    expect(scheme.slopes).toBe(scheme.slopes);
  });

  it.each(["float16", "bfloat16"])("take no bits of %s for numbers, whichever way the type is told", (type) => {
    const data = Uint16Array.of(0x3c00, 0x4000);
    for (const kind of [{ type }, { dtype: type }]) {
      expect(() => tensor({ data, dims: [1, 2], ...kind })).toThrow(
        expect.objectContaining({ code: "unsupported", allowed: `numbers, decoded from ${type}` }),
      );
    }
    expect(tensor({ data, dims: [1, 2], type: "uint16" } as { data: Uint16Array; dims: number[] }).tolist()).toEqual([
      [15360, 16384],
    ]);
  });

  it("take flags as booleans, a bool tensor or numbers alike", () => {
    const flags = [
      [true, false, true],
      [true, true, false],
    ];
    const flat = Uint8Array.from(flags.flat(), Number);
    const numbers = flags.map((row) => row.map(Number));
    const masks = [flags, numbers, tensor(flags), tensor(flat, [2, 3]), { data: flat, shape: [2, 3] }];
    // Carion et al.'s position of a cell: how many cells are there down to it, and along to it.
    const count = (h: number, w: number, down: boolean): number =>
      (down ? flags.slice(0, h + 1).map((row) => row[w]) : flags[h]!.slice(0, w + 1)).filter(Boolean).length;
    const expected = [0, 1].flatMap((h) =>
      [0, 1, 2].map((w) =>
        [true, false].flatMap((down) =>
          [1, 0.01].flatMap((omega) => [Math.sin(count(h, w, down) * omega), Math.cos(count(h, w, down) * omega)]),
        ),
      ),
    );
    for (const mask of masks) {
      const scheme = posenc.sinusoidal2d({ dim: 8, style: "detr", mask });
      const rows = encode(scheme, posenc.grid(2, 3), { dtype: "float64" }).tolist() as number[][];
      rows.forEach((row, t) => row.forEach((value, c) => expect(value).toBeCloseTo(expected[t]![c]!, 14)));
      expect(JSON.stringify(fromJSON(scheme.toJSON()))).toBe(JSON.stringify(scheme));
    }
    for (const mask of [[[1, 2]], [[0.5, 1]], tensor([[1, 255]])]) {
      expect(() => posenc.sinusoidal2d({ dim: 8, style: "detr", mask })).toThrow("mask must be of true and false");
    }
    // No other table takes flags.
    expect(() => posenc.learned({ table: flags as never })).toThrow(PosencError);
  });

  it("go through JSON and come back the same", () => {
    const keys = randomNormal([3, 3, 4], { seed: 4 });
    for (const scheme of [
      kScheme,
      sinusoidal({ dim: 6, layout: "half", frequencies: [3, 2, 1], padIndex: -2 }),
      rope({ dim: 4, scaling: { type: "ntk", factor: 2.5 } }),
      rope({ dim: 4, scaling: { type: "yarn", factor: 4, originalMaxPositionEmbeddings: 64, truncate: false } }),
      rope({
        dim: 4,
        scaling: { type: "longrope", shortFactor: [1, 2], longFactor: [1, 9], originalMaxPositionEmbeddings: 64 },
      }),
      posenc.learned({ table: [[1], [2]], outOfRange: "wrap" }),
      posenc.queryScale({ law: "logn", trainLength: 64 }),
      posenc.sinusoidal2d({ dim: 8, style: "detr", normalize: true, mask: [[1, 0]] }),
      alibi({ heads: 3, symmetric: false, rule: "geometric" }),
      shaw({ dim: 4, clip: 1, keys, values: false }),
      shaw({ dim: 4, clip: 1, seed: 3 }),
    ]) {
      const text = JSON.stringify(scheme);
      expect(text).not.toMatch(/NaN|Infinity|undefined/);
      const back = fromJSON(JSON.parse(text) as SchemeJSON);
      expect(JSON.stringify(back)).toBe(text);
      expect(String(back)).toBe(String(scheme));
    }
    const json = shaw({ dim: 4, clip: 1, keys, values: false }).toJSON() as { keys: { data: string } } & SchemeJSON;
    expect(Buffer.from(json.keys.data, "base64")).toEqual(Buffer.from(keys.data.buffer));
    expect(() => fromJSON({ slot: "bias", name: "alibbi" })).toThrow(/did you mean alibi/);
    expect(() => fromJSON({ slot: "embed", name: "alibi" })).toThrow(PosencError);
    expect(() => fromJSON({ slot: "bias", name: "alibi", heads: 0 })).toThrow(/alibi: heads must be/);
  });

  it("describe every parameter they show", () => {
    for (const { slot, name, params } of schemes) {
      for (const param of params) {
        expect(param.allowed, `${slot} ${name} ${param.name}`).not.toBe("");
        expect(param.required).toBe(param.required && param.default === null);
      }
    }
  });
});

describe("embedding and rotating", () => {
  it("scales, weighs, appends", () => {
    const x = randomNormal([2, 3, 4], { seed: 1 });
    const p = encode(kScheme, 3);
    const wanted = (f: (value: number, position: number) => number): Float32Array =>
      x.data.map((value, n) => Math.fround(f(value, p.data[n % 12]!)));
    expect(embed(x, kScheme).data).toEqual(wanted((value, position) => value + position));
    expect(embed(x, kScheme, { scale: "sqrt", alpha: 0.5 }).data).toEqual(
      wanted((value, position) => value * 2 + position * 0.5),
    );
    const both = embed(x, kScheme, { mode: "concat", scale: 2 });
    expect(both.shape).toEqual([2, 3, 8]);
    expect(both.row(1, 2)).toEqual(Float32Array.from([...x.row(1, 2)].map((value) => value * 2).concat([...p.row(2)])));
  });

  it("drops a share of the entries, the same for the same seed", () => {
    const x = tensor(new Float32Array(40000).fill(1), [10000, 4]);
    const options = { alpha: 0, dropout: 0.25, seed: 5 };
    const dropped = embed(x, kScheme, options);
    const zeros = dropped.data.filter((value) => value === 0).length;
    expect(Math.abs(zeros / 40000 - 0.25)).toBeLessThan(4 * Math.sqrt((0.25 * 0.75) / 40000));
    expect(new Set(dropped.data)).toEqual(new Set([0, Math.fround(4 / 3)]));
    expect(embed(x, kScheme, options).data).toEqual(dropped.data);
    expect(embed(x, kScheme, { ...options, seed: 6 }).data).not.toEqual(dropped.data);
  });

  it("turns back, composes, and commutes with the layouts", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 1, max: 8 }),
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.nat(1000),
        (tokens, pairs, first, seed) => {
          const dim = 2 * pairs;
          const x = randomNormal([tokens, dim], { seed });
          const options = { positions: Array.from({ length: tokens }, (_, t) => first + t) };
          const scheme = rope({ dim });
          const half = rope({ dim, layout: "half" });
          const y = rotate(x, scheme, options);
          expect(gap([...rotate(y, scheme, { ...options, inverse: true }).data], [...x.data])).toBeLessThan(2e-6);
          const converted = convertLayout(x, { from: "interleaved", to: "half" });
          expect(
            convertLayout(rotate(converted as Tensor<"float32">, half, options), { from: "half", to: "interleaved" })
              .data,
          ).toEqual(y.data);
          expect(rotate(rotate(x, scheme, options), half, options).data).toEqual(
            rotate(x, [scheme, half], options).data,
          );
          expect(
            gap(
              [...rotate(rotate(x, [scheme, half], options), [scheme, half], { ...options, inverse: true }).data],
              [...x.data],
            ),
          ).toBeLessThan(4e-6);
        },
      ),
      { numRuns: 100, seed: 3 },
    );
  });

  it("adds biases of a list and picks heads", () => {
    const both = bias([alibi({ heads: 4 }), alibi({ heads: 4, symmetric: false })], { queries: 9, keys: 140 });
    const [a, b] = [alibi({ heads: 4 }), alibi({ heads: 4, symmetric: false })].map((scheme) =>
      bias(scheme, { queries: 9, keys: 140 }),
    ) as [Tensor, Tensor];
    expect(both.data).toEqual(a.data.map((value, n) => Math.fround((value as number) + (b.data[n] as number))));
    expect(bias(alibi({ heads: 4 }), { queries: 9, keys: 140, heads: [3, 0, 3] }).tolist()).toEqual(
      [3, 0, 3].map((h) => (a.tolist() as unknown[])[h]),
    );
  });

  it("draws the same normal numbers for the same seed", () => {
    const a = randomNormal(20000, { seed: 3 });
    expect(randomNormal([20000], { seed: 3 }).data).toEqual(a.data);
    expect(randomNormal(20000, { seed: 4 }).data).not.toEqual(a.data);
    const mean = a.data.reduce((sum, x) => sum + x, 0) / 20000;
    const spread = a.data.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 20000;
    expect(Math.abs(mean)).toBeLessThan(5 / Math.sqrt(20000));
    expect(Math.abs(spread - 1)).toBeLessThan(5 * Math.sqrt(2 / 20000));
    expect(randomNormal(3, { mean: 5, std: 0 }).tolist()).toEqual([5, 5, 5]);
  });
});

describe("a table larger than a piece", () => {
  const dim = 65536; // four rows a piece
  it.each(["float32", "float64"] as const)("has in `out` the rows that positions have alone, in %s", (dtype) => {
    const scheme = sinusoidal({ dim, padIndex: 5 });
    for (const count of [4, 5, 11]) {
      const size = count * dim;
      const out = dtype === "float32" ? new Float32Array(size) : new Float64Array(size);
      expect(encode(scheme, count, { dtype, out }).data).toBe(out);
      for (let t = 0; t < count; t++) {
        const alone = encode(scheme, [t], { dtype }).data;
        expect(out.subarray(t * dim, (t + 1) * dim).every((value, c) => Object.is(value, alone[c]))).toBe(true);
      }
    }
  });

  it("is refused before anything is written", () => {
    const out = new Float32Array(9 * dim).fill(7);
    const table = learned({ length: 8, dim });
    expect(() => encode(table, 9, { out })).toThrow("positions must be from 0 to 7");
    expect(out.every((value) => value === 7)).toBe(true);
  });

  it("is spread over the whole call", () => {
    // Rows 0, 1, 2 over 9 positions: position t stands at row t / 4.
    const data = Float32Array.from({ length: 3 * dim }, (_, n) => Math.floor(n / dim));
    const scheme = learned({ table: { data, shape: [3, dim] }, outOfRange: "interpolate" });
    const out = new Float32Array(9 * dim);
    for (const options of [{ out }, { out, length: 4 }]) {
      encode(scheme, 9, options);
      const last = Array.from({ length: 9 }, (_, t) => out[t * dim + dim - 1]);
      expect(last).toEqual([0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]);
    }
  });
});
