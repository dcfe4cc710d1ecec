// What crosses into the core is what it says it is: arrays of any realm by what they hold, whatever their properties
// claim; options by their own; schemes of this copy. Everything else is refused with its name, never a raw error.
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { fromConfig } from "../../../web/src/config.js";
import { readSafetensors, toCsv, toSafetensors } from "../../../web/src/files.js";
import * as posenc from "../../../web/src/index.js";
import { toOnnx } from "../../../web/src/onnx.js";

const {
  PosencError,
  Tensor,
  alibi,
  attention,
  attentionDistance,
  bias,
  convertLayout,
  embed,
  encode,
  entropy,
  frequencies,
  fromJSON,
  layoutCheck,
  paddedPositions,
  randomNormal,
  relativeIndex,
  rope,
  rotate,
  shaw,
  sinusoidal,
  tensor,
} = posenc;

type Resizable = ArrayBuffer & { resize(bytes: number): void };
const resizable = (bytes: number): Resizable =>
  new (ArrayBuffer as unknown as new (bytes: number, options: object) => Resizable)(bytes, { maxByteLength: bytes });
const detach = (array: ArrayBufferView): void => {
  if (array.buffer.byteLength > 0) structuredClone(0, { transfer: [array.buffer as ArrayBuffer] });
};
const any = (value: unknown): never => value as never;

function refusalOf(call: () => unknown): posenc.PosencError {
  try {
    call();
  } catch (error) {
    if (error instanceof PosencError) return error;
    throw error;
  }
  throw new Error("was taken");
}
const codeOf = (call: () => unknown): string => {
  const { code, argument } = refusalOf(call);
  return `${code} ${argument}`;
};

// Leaves other numbers in the core's memory, which a short copy would show.
const soil = (): void => void rotate(tensor(new Float32Array(4096).fill(7), [512, 8]), rope({ dim: 8 }));

// Values that cannot be made text, or looked at, without an error of their own.
function oddities(): [what: string, value: unknown][] {
  const lost = new Float32Array(4);
  const view = new DataView(new ArrayBuffer(4));
  detach(lost);
  detach(view);
  const revoked = (target: object): object => {
    const { proxy, revoke } = Proxy.revocable(target, {});
    revoke();
    return proxy;
  };
  const cycle: unknown[] = [];
  cycle.push(cycle);
  return [
    ["a detached array", lost],
    ["a detached view", view],
    ["a detached array in a list", [lost]],
    ["no text", Object.create(null)],
    ["a text that throws", { toString: () => Symbol("no text") }],
    ["a revoked object", revoked({})],
    ["a revoked list", revoked([])],
    ["a revoked function", revoked(() => 0)],
    ["a symbol", Symbol("x")],
    ["symbols in a list", [Symbol("x")]],
    ["a BigInt", 2n ** 70n],
    ["a list in itself", cycle],
  ];
}

it("what is refused is refused with its name, whatever it makes of being printed", () => {
  const x = randomNormal([2, 4]);
  for (const [what, value] of oddities()) {
    const odd = value as never;
    for (const call of [
      () => tensor([1, 2, 3, 4], [2, 2], odd),
      () => new Tensor(any(new Float32Array(1)), [1], odd),
      () => tensor([1], odd),
      () => tensor(odd, [3]),
      () => tensor([odd, odd]),
      () => tensor(any({ data: odd, shape: [3] })),
      () => encode(sinusoidal({ dim: 4 }), odd),
      () => alibi({ heads: 1, slopes: odd }),
      () => attention(x, x, x, { window: odd }),
      () => rope(odd),
      () => rope({ dim: odd }),
      () => rope({ dim: 4, layout: odd }),
      () => rope({ dim: 4, base: odd }),
      () => encode(sinusoidal({ dim: 4 }), 2, { dtype: odd }),
      () => encode(odd, 2),
      () => embed(x, odd),
      () => attention(x, x, x, { bias: odd }),
      () => attention(x, x, x, { causal: odd }),
      () => attention(x, x, odd),
      () => posenc.similarity(x, { metric: odd }),
      () => randomNormal(2, { seed: odd }),
      () => encode(sinusoidal({ dim: 4 }), 2, { out: odd }),
      () => attention(x, x, x, { out: odd }),
      () => posenc.closestPair(odd),
      () => posenc.compare(odd),
      () => posenc.bilinear(sinusoidal({ dim: 2 }), [1, 1], odd),
      () => fromJSON(odd),
      () => fromConfig(odd),
      // An object without text is an object without tensors.
      ...(what === "no text" ? [] : [() => toSafetensors(odd), () => toSafetensors({ x }, { metadata: odd })]),
      () => toCsv(x, { header: odd }),
      () => readSafetensors(toSafetensors({ x }), { names: odd }),
      () => toOnnx(odd),
    ]) {
      const { code, subject, message } = refusalOf(call);
      expect(code, what).not.toBe("internal");
      expect(message.startsWith(`${subject}: `), `${what}: ${message}`).toBe(true);
    }
  }
  expect(codeOf(() => tensor([1], [1], any(["float32"])))).toBe("unknown-choice dtype");
});

it("a hole in a list of schemes is a scheme that is missing, and the first is told at once", () => {
  const x = randomNormal([2, 3, 4]);
  const holes: readonly unknown[][] = [new Array<unknown>(1), new Array<unknown>(2 ** 25)];
  for (const hole of holes.map(any)) {
    for (const [argument, call] of [
      ["rotate", () => attention(x, x, x, { rotate: hole })],
      ["bias", () => attention(x, x, x, { bias: hole })],
      ["relate", () => attention(x, x, x, { relate: hole })],
      ["scheme", () => rotate(x, hole)],
      ["scheme", () => bias(hole, { queries: 2, keys: 2 })],
      ["schemes", () => posenc.compare(hole)],
    ] as const)
      expect(codeOf(call)).toBe(`missing-option ${argument}[0]`);
  }
  const half = [rope({ dim: 4 })];
  half.length = 2;
  expect(codeOf(() => attention(x, x, x, { rotate: half }))).toBe("missing-option rotate[1]");
});

it("many matrices without an element are gone through at once", () => {
  const none = posenc.offsetProfile({ data: new Float32Array(0), shape: [2 ** 31, 2 ** 31, 0] });
  expect(none.mean.shape).toEqual([2 ** 31, 0]);
});

describe("arrays", () => {
  it("a Tensor holds what its shape and dtype say", () => {
    const three = new Float32Array(3);
    expect(codeOf(() => new Tensor(three, [4, 8], "float32"))).toBe("shape-mismatch data");
    expect(codeOf(() => new Tensor(any(new Float64Array(3)), [3], "float32"))).toBe("not-a-number data");
    expect(codeOf(() => new Tensor(any(three), [3], "bool"))).toBe("not-a-number data");
    expect(codeOf(() => new Tensor(any([1, 2, 3]), [3], "float32"))).toBe("not-a-number data");
    expect(codeOf(() => new Tensor(any(three), [3], any("float16")))).toBe("unknown-choice dtype");
    expect(codeOf(() => new Tensor(three, [-1, -3], "float32"))).toBe("shape-mismatch shape");
    expect(codeOf(() => new Tensor(three, any("3"), "float32"))).toBe("shape-mismatch shape");
    const gone = new Float32Array(3);
    detach(gone);
    expect(codeOf(() => new Tensor(gone, [0], "float32"))).toBe("detached data");
    expect(new Tensor(three, [3, 1], "float32").data).toBe(three);
  });

  it("a Tensor whose fields were changed afterwards is refused", () => {
    const x = randomNormal([4, 8]);
    Object.defineProperty(x, "shape", { value: [40, 8] });
    soil();
    expect(codeOf(() => rotate(x, rope({ dim: 8 })))).toBe("detached x");
  });

  it("have the length of their elements, whatever they say", () => {
    class Boastful extends Float32Array {
      override get length(): number {
        return 32;
      }
    }
    const own = Object.defineProperty(new Float32Array(8).fill(1), "length", { value: 32 });
    for (const liar of [own, new Boastful(8).fill(1)]) {
      soil();
      expect(rotate(liar, rope({ dim: 8 })).shape).toEqual([1, 8]);
      expect(codeOf(() => rotate({ data: liar, shape: [4, 8] }, rope({ dim: 8 })))).toBe("shape-mismatch x.data");
      expect(codeOf(() => new Tensor(liar, [32], "float32"))).toBe("shape-mismatch data");
      expect(codeOf(() => tensor(liar, [4, 8]))).toBe("shape-mismatch shape");
      expect(codeOf(() => tensor([liar, new Float32Array(32)]))).toBe("shape-mismatch values");
      expect(codeOf(() => encode(sinusoidal({ dim: 4 }), 8, { out: liar }))).toBe("shape-mismatch out");
      expect(encode(sinusoidal({ dim: 4 }), any(liar)).shape).toEqual([8, 4]);
    }
    const bigInts = Object.defineProperty(BigInt64Array.of(1n, 2n), "length", { value: 9 });
    expect(encode(sinusoidal({ dim: 4 }), bigInts).shape).toEqual([2, 4]);
    const walker = Object.defineProperty(Float64Array.of(1, 2), Symbol.iterator, {
      value: function* () {
        for (let i = 0; i < 99; i++) yield 5;
      },
    });
    expect(attentionDistance({ data: walker, shape: [1, 2] }).tolist()).toEqual([2]);
  });

  it("that lose their elements during the call are detached, never stale or a raw error", () => {
    const scheme = rope({ dim: 8 });
    const q = (): Float32Array => new Float32Array(32).fill(1);
    const losing = (array: ArrayBufferView, name: string, value: unknown): never =>
      any({
        get [name]() {
          detach(array);
          return value;
        },
      });
    for (const Kind of [Float32Array, Float64Array, Int32Array]) {
      const code = (call: (data: InstanceType<typeof Kind>, x: never) => unknown): string => {
        const data = new Kind(32);
        soil();
        return codeOf(() => call(data, any({ data, shape: [4, 8] })));
      };
      expect(code((data, x) => rotate(x, scheme, losing(data, "positions", 4)))).toBe("detached x");
      expect(code((data, x) => embed(x, sinusoidal({ dim: 8 }), losing(data, "positions", 4)))).toBe("detached x");
      expect(code((data, x) => attentionDistance(x, losing(data, "keyPositions", 8)))).toBe("detached weights");
      expect(code((data, x) => entropy(x, losing(data, "base", 2)))).toBe("detached weights");
      expect(code((data, x) => attention(x, x, x, losing(data, "scale", 1)))).toBe("detached q.data");
      expect(code((data, x) => layoutCheck(x, x, scheme, losing(data, "tolerance", 1)))).toBe("detached x.data");
      expect(code((data, x) => convertLayout(x, losing(data, "from", "half")))).toMatch(/^(detached|missing-option)/);
      const late = (data: ArrayBufferView): never => any({ shape: [4, 8], dataSync: () => (detach(data), q()) });
      expect(code((data, x) => attention(x, late(data), late(data)))).toMatch(/^detached/);
    }
    const buffer = resizable(128);
    const x = { data: new Float32Array(buffer), shape: [4, 8] };
    const shrinking = {
      get positions() {
        buffer.resize(16);
        return 4;
      },
    };
    expect(codeOf(() => rotate(x, scheme, shrinking))).toBe("detached x");
    const places = new Float64Array(4);
    const losingPlaces = any({ queries: places, keys: { shape: [1], dataSync: () => (detach(places), [0]) } });
    expect(codeOf(() => bias(alibi({ heads: 1 }), losingPlaces))).toBe("detached queries");
    const out = new Float32Array(32);
    const losingOut = { shape: [4], dataSync: () => (detach(out), q().subarray(28)) };
    expect(codeOf(() => encode(sinusoidal({ dim: 8 }), losingOut, { out }))).toBe("detached out");
  });

  it("of another realm serve alike, in and out", () => {
    const scheme = sinusoidal({ dim: 4 });
    const wanted = encode(scheme, [0, 1]).data;
    const foreign = runInNewContext("[new Float32Array(8), new Float64Array([0, 1]), new BigInt64Array([0n, 1n])]") as [
      Float32Array,
      Float64Array,
      BigInt64Array,
    ];
    expect(foreign[0] instanceof Float32Array).toBe(false);
    expect(encode(scheme, foreign[1], { out: foreign[0] }).data).toBe(foreign[0]);
    expect([...foreign[0]]).toEqual([...wanted]);
    expect(encode(scheme, foreign[2]).data).toEqual(wanted);
    expect([...rotate(foreign[0], rope({ dim: 4 })).data]).toEqual([...rotate(wanted, rope({ dim: 4 })).data]);
    expect(tensor(foreign[1]).dtype).toBe("float64");
    expect(paddedPositions(runInNewContext("[true, false]") as boolean[]).tolist()).toEqual([0, 1]);
    const out = new Float32Array(8);
    expect(encode(scheme, 2, { out: any({ data: out, shape: [2, 4], dtype: "float32" }) }).data).toBe(out);
    expect(codeOf(() => encode(scheme, 2, { out: any({ data: [1] }) }))).toBe("not-a-number out");
  });

  it("that hold themselves are refused", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    const mixed: unknown[] = [[1, 2]];
    mixed.push(mixed);
    const shaped: Record<string, unknown> = { shape: [1] };
    shaped.data = shaped;
    const sync: Record<string, unknown> = { shape: [1], dataSync: () => sync };
    const x = randomNormal([2, 4]);
    for (const loop of [cycle, mixed, shaped, sync] as never[]) {
      for (const call of [
        () => encode(sinusoidal({ dim: 4 }), loop),
        () => embed(loop, sinusoidal({ dim: 4 })),
        () => rotate(x, rope({ dim: 4 }), { positions: loop }),
        () => bias(alibi({ heads: 1 }), { queries: loop, keys: 1 }),
        () => bias(alibi({ heads: 1 }), { queries: 1, keys: 1, heads: loop }),
        () => attention(x, x, x, { queryPositions: loop }),
        () => attention(x, x, x, { keyOrder: loop }),
        () => attention(x, x, x, { keyMask: loop }),
        () => attention(x, x, x, { window: loop }),
        () => attention(x, x, x, { rotate: loop }),
        () => tensor(loop),
        () => tensor([1], loop),
        () => shaw({ dim: 4, clip: 1, keys: loop }),
        () => alibi({ heads: 1, slopes: loop }),
        () => fromJSON(loop),
      ])
        expect(() => refusalOf(call)).not.toThrow();
    }
    const symbolic = any({ data: [1], shape: [1], stride: [Symbol("x")] });
    expect(codeOf(() => tensor(symbolic))).toBe("shape-mismatch values");
  });

  it("with numbers past float32 are out of range, by the number that was given", () => {
    const scheme = sinusoidal({ dim: 2 });
    for (const call of [
      () => embed([[1, 1e39]], scheme),
      () => rotate([[1, 1e39]], rope({ dim: 2 })),
      () => attention(tensor([[1e39]], undefined, "float64"), [[1]], [[1]]),
      () => tensor([[1e39]]),
      () => shaw({ dim: 1, clip: 0, keys: [[1e39]] }),
      () => entropy([1e39]),
      () => convertLayout([[1e39, 1]], { from: "half", to: "interleaved" }),
    ]) {
      const error = refusalOf(call);
      expect([error.code, error.given]).toEqual(["out-of-range", "1e+39"]);
    }
    expect(tensor([[1e39]], undefined, "float64").data[0]).toBe(1e39);
    expect(tensor([Infinity, 3.4028234e38]).data[0]).toBe(Infinity);
  });

  it("keep their values and whole numbers when layouts are exchanged", () => {
    const how = { from: "interleaved", to: "half" } as const;
    const whole = convertLayout(tensor(Int32Array.of(2 ** 31 - 1, 16777217, 3, 4), [1, 4]), how);
    expect([whole.dtype, whole.tolist()]).toEqual(["int32", [[2 ** 31 - 1, 3, 16777217, 4]]]);
    const unsigned = convertLayout({ data: Uint32Array.of(2 ** 32 - 1, 1), shape: [1, 2] }, how);
    expect([unsigned.dtype, unsigned.tolist()]).toEqual(["float64", [[2 ** 32 - 1, 1]]]);
  });
});

describe("options", () => {
  afterEach(() => void vi.restoreAllMocks());

  it("are read once, from the object and what it inherits, not from Object.prototype", () => {
    class Options {
      protected length = 7;
      get positions(): number[] {
        return [3];
      }
    }
    const x = [[1, 0]];
    const scheme = rope({ dim: 2 });
    const wanted = rotate(x, scheme, { positions: [3] }).data;
    expect(rotate(x, scheme, any(new Options())).data).toEqual(wanted);
    expect(rotate(x, scheme, Object.create({ positions: [3] }) as object).data).toEqual(wanted);
    expect(rotate(x, scheme, any(Object.assign(Object.create(null), { positions: [3] }))).data).toEqual(wanted);
    expect(rotate(x, scheme, runInNewContext("({positions: [3]})") as object).data).toEqual(wanted);
    expect(codeOf(() => rotate(x, scheme, Object.create({ position: [3] }) as object))).toBe("unknown-option position");
    expect(rope(Object.create({ dim: 6 }) as { dim: number }).dim).toBe(6);
    expect(codeOf(() => rope(Object.create({ dim: 6, bas: 1 }) as { dim: number }))).toBe("unknown-option bas");
    let reads = 0;
    const counted = {
      get queryPositions() {
        reads++;
        return [0];
      },
    };
    attention(x, x, x, counted);
    expect(reads).toBe(1);
    const polluted: Record<string, unknown> = { mask: true, positions: [9], causal: 5, base: 7, scaling: 3 };
    try {
      for (const [name, value] of Object.entries(polluted))
        Object.defineProperty(Object.prototype, name, { value, configurable: true, enumerable: true, writable: true });
      expect(rotate(x, rope({ dim: 2 }), {}).data).toEqual(Float32Array.of(1, 0));
      expect(rope({ dim: 2 }).base).toBe(10000);
      expect(attention(x, x, x, {}).out.tolist()).toEqual(x);
    } finally {
      for (const name of Object.keys(polluted)) delete (Object.prototype as Record<string, unknown>)[name];
    }
  });

  it("that are left out are not Object.prototype's either", () => {
    const x = tensor([[1, 0.5, 0, 2], [3, 1, 2, 0], [0, 1, 1, 4]]);
    const calls: (() => posenc.Tensor)[] = [
      () => attention(x, x, x).out,
      () => posenc.attentionGradient(x, x, x, x).dq,
      () => encode(sinusoidal({ dim: 4 }), 3),
      () => embed(x, sinusoidal({ dim: 4 })),
      () => rotate(x, rope({ dim: 4 })),
      () => tensor(frequencies(rope({ dim: 4 })).inverse),
      () => randomNormal([3]),
      () => posenc.similarity(x),
      () => posenc.pca(x).scores,
      () => entropy([[0.5, 0.5]]),
    ];
    const wanted = calls.map((call) => call());
    const polluted: Record<string, unknown> = {
      causal: true, scale: 9, seed: 7, length: 2, positions: [5, 6, 7], side: "key", metric: "dot", components: 1,
      base: 2, dtype: "float64",
    };
    Object.assign(Object.prototype, polluted);
    try {
      for (const [i, call] of calls.entries()) {
        const { dtype, data } = call();
        expect([dtype, ...data]).toEqual([wanted[i]!.dtype, ...wanted[i]!.data]);
      }
    } finally {
      for (const name of Object.keys(polluted)) delete (Object.prototype as Record<string, unknown>)[name];
    }
  });

  it("are looked for in a line of ancestors that ends, whatever a proxy says", () => {
    const endless: object = new Proxy({}, { getPrototypeOf: () => endless });
    expect(attention([[1]], [[1]], [[2]], endless).out.tolist()).toEqual([[2]]);
    expect(rope(Object.setPrototypeOf({ dim: 2 }, endless) as { dim: number }).dim).toBe(2);
  });

  it("that nobody reads are told by names of bearable length", () => {
    const x = [[1]];
    const message = (option: string): string => refusalOf(() => attention(x, x, x, { [option]: 1 })).message;
    expect(message("x".repeat(1e6)).length).toBeLessThan(500);
    expect(message("")).toContain('no option ""');
  });

  it("are no object of another kind that says nothing", () => {
    const x = [[1, 0]];
    const others = [new Date(), new Map([["metric", "dot"]]), new Set(), /metric/, Promise.resolve(), new Error("no")];
    for (const value of others) {
      const kind = (value as object).constructor.name;
      expect(codeOf(() => posenc.similarity(x, any(value))), kind).toBe("not-a-number options");
      expect(codeOf(() => rotate(x, rope({ dim: 2 }), any(value))), kind).toBe("not-a-number options");
    }
    expect(refusalOf(() => posenc.similarity(x, any(new Date()))).given).toBe("a Date");
    // One that says something is asked for that alone.
    const told = Object.assign(new Map(), { positions: [3] });
    expect(rotate(x, rope({ dim: 2 }), any(told)).data).toEqual(rotate(x, rope({ dim: 2 }), { positions: [3] }).data);
    expect(codeOf(() => rotate(x, rope({ dim: 2 }), any(Object.assign(new Date(), { position: 3 }))))).toBe(
      "unknown-option position",
    );
    for (const [value, given] of [[new Map([["dim", 8]]), "a Map"], [new Date(), "a Date"]] as const) {
      expect(refusalOf(() => rope(any(value))), given).toMatchObject({ argument: "options", given });
      const scaled = refusalOf(() => rope({ dim: 4, scaling: any(value) }));
      expect(scaled, given).toMatchObject({ argument: "scaling", given });
    }
  });

  it("are not null where they were not given", () => {
    expect(codeOf(() => rope({ dim: 4, scaling: any(null) }))).toBe("not-a-number scaling");
    expect(codeOf(() => rope({ dim: 4, frequencies: any(null) }))).toBe("not-a-number frequencies");
    expect(codeOf(() => fromJSON({ slot: "rotate", name: "rope", dim: null }))).toBe("not-a-number dim");
    expect(codeOf(() => fromJSON({ slot: "rotate", name: "rope", dim: 4, base: null }))).toBe("not-a-number base");
  });
});

describe("schemes", () => {
  it("go through fromJSON themselves, by their properties and by their JSON, and narrow by slot", () => {
    for (const scheme of [
      rope({ dim: 4 }),
      rope({ dim: 4, scaling: { type: "linear", factor: 2 } }),
      sinusoidal({ dim: 6, frequencies: [3, 2, 1] }),
      alibi({ heads: 3 }),
      shaw({ dim: 4, clip: 1, values: false }),
      shaw({ dim: 2, clip: 0, keys: [[0.1, 0.2]] }),
    ]) {
      for (const spec of [scheme, { ...scheme }, scheme.toJSON(), JSON.parse(JSON.stringify({ ...scheme })) as object])
        expect(JSON.stringify(fromJSON(any(spec)))).toBe(JSON.stringify(scheme));
    }
    // Every scheme with every choice it has: what belongs to the others is null among its properties.
    type Param = (typeof posenc.schemes)[number]["params"][number];
    const valueOf = ({ name, kind, shown }: Param): unknown => {
      if (kind === "table") return [name === "values" ? [0, 0, 0] : [0, 0, 0, 0]];
      return kind === "list" ? [3, 2] : (shown?.value ?? 4);
    };
    let nulls = 0;
    const made = new Set<string>();
    for (const { slot, name, params } of posenc.schemes) {
      const dim = name === "mrope" ? 6 : 4;
      const base: [string, unknown][] = [["slot", slot], ["name", name], ["heads", 4], ["dim", dim], ["window", 2]];
      const known = base.filter(([key], i) => i < 2 || params.some((param) => param.name === key));
      const always = params.filter((param) => param.required || (param.shown !== undefined && param.default === null));
      const plain = always.filter((param) => param.where === undefined && !known.some(([key]) => key === param.name));
      const choices = params.flatMap(({ name: choice, choices }) => (choices ?? []).map((value) => [choice, value]));
      for (const [choice, value] of [["", ""], ...choices]) {
        const needed = params.filter(({ where, neededBy }) => where === choice && neededBy!.includes(value!));
        const given = [...known, ...plain.map((param): [string, unknown] => [param.name, valueOf(param)])];
        if (choice !== "") given.push([choice!, value], ...needed.map((p): [string, unknown] => [p.name, valueOf(p)]));
        const spec: Record<string, unknown> = {};
        for (const [key, entry] of given) {
          const [outer, inner] = key.split(".") as [string, string?];
          if (inner === undefined) spec[outer] = entry;
          else spec[outer] = { ...(spec[outer] as object | undefined), [inner]: entry };
        }
        let scheme: posenc.Scheme;
        try {
          scheme = fromJSON(any(spec));
        } catch {
          continue; // a choice that these values do not fit
        }
        made.add(name);
        nulls += Object.values(scheme).filter((entry) => entry === null).length;
        for (const copy of [{ ...scheme }, JSON.parse(JSON.stringify({ ...scheme })) as object]) {
          expect(JSON.stringify(fromJSON(any(copy))), `${name} ${choice} ${value}`).toBe(JSON.stringify(scheme));
        }
      }
    }
    expect([...made].sort()).toEqual(posenc.schemes.map(({ name }) => name).sort());
    expect(nulls).toBeGreaterThan(100);
    const scheme = fromJSON({ slot: "rotate", name: "rope", dim: 2 });
    expect(scheme.slot).toBe("rotate");
    // Compiles only because the slot tells the scheme's type.
    if (scheme.slot === "rotate") expect(rotate([[1, 0]], scheme).tolist()).toEqual([[1, 0]]);
  });

  it("of another copy of the package are named so, and fromJSON takes them over", async () => {
    vi.resetModules();
    const other = await import("../../../web/src/index.js");
    expect(other.rope).not.toBe(rope);
    const error = refusalOf(() => rotate([[1, 0]], other.rope({ dim: 2 })));
    expect([error.code, error.argument]).toEqual(["wrong-slot", "scheme"]);
    expect(error.message).toContain("the rotate scheme rope of another copy of posenc");
    expect(rotate([[1, 0]], any(fromJSON(other.rope({ dim: 2 })))).tolist()).toEqual([[1, 0]]);
    expect(encode(sinusoidal({ dim: 4 }), 2, { out: any(other.tensor(new Float32Array(8), [2, 4])) }).size).toBe(8);
    expect(rotate(any(other.tensor([[1, 0]])), rope({ dim: 2 })).tolist()).toEqual([[1, 0]]);
  });
});

describe("causal attention with positions of one side", () => {
  const q = randomNormal([4, 8], { seed: 1 });
  const keys = [10, 11, 12, 13];

  it("asks for the other side, or takes it from the alignment", () => {
    const keysAlone = (): unknown => attention(q, q, q, { causal: true, keyPositions: keys });
    expect(codeOf(keysAlone)).toBe("missing-option queryPositions");
    for (const causal of [true, "top-left", "bottom-right"] as const)
      expect(codeOf(() => attention(q, q, q, { causal, queryPositions: keys }))).toBe("missing-option keyPositions");
    const two = q.slice(0, 2);
    const rotating = { rotate: rope({ dim: 8 }) };
    for (const [causal, queryPositions] of [
      ["bottom-right", [12, 13]],
      ["top-left", [10, 11]],
    ] as const) {
      expect(attention(two, q, q, { ...rotating, causal, keyPositions: keys }).out.data).toEqual(
        attention(two, q, q, { ...rotating, causal: true, queryPositions, keyPositions: keys }).out.data,
      );
      expect(codeOf(() => attention(q, two, two, { causal, keyPositions: [10, 11] }))).toBe(
        "missing-option queryPositions",
      );
    }
    // Explicit queryPositions beat the alignment.
    expect(attention(two, q, q, { causal: "bottom-right", queryPositions: [0, 1] }).out.data).toEqual(
      attention(two, q, q, { causal: "top-left" }).out.data,
    );
  });

  it("needs no positions of a side whose order is given", () => {
    const order = [0, 1, 2, 3];
    const wanted = attention(q, q, q, { causal: true }).out.data;
    expect(attention(q, q, q, { causal: true, keyPositions: keys, queryOrder: keys }).out.data).toEqual(wanted);
    expect(attention(q, q, q, { causal: true, queryPositions: keys, keyOrder: keys }).out.data).toEqual(wanted);
    expect(
      attention(q, q, q, { causal: true, queryPositions: keys, queryOrder: order, keyOrder: order }).out.data,
    ).toEqual(wanted);
  });
});

describe("numbers and words", () => {
  it("raw offsets that int32 cannot hold are out of range", () => {
    const scheme = shaw({ dim: 2, clip: 2 });
    const at = (query: number, key: number, raw: boolean): unknown =>
      relativeIndex(scheme, { queries: [query], keys: [key], raw }).tolist();
    expect([at(0, 2 ** 31 - 1, true), at(2 ** 31 - 1, 0, true)]).toEqual([[[2 ** 31 - 1]], [[1 - 2 ** 31]]]);
    for (const [query, key] of [
      [0, 2 ** 31],
      [2 ** 31, 0],
      [-(2 ** 52), 2 ** 52],
    ] as const)
      expect(codeOf(() => at(query, key, true))).toBe("out-of-range keys");
    expect(at(0, 2 ** 31, false)).toEqual([[4]]);
  });

  it("the defaults that the documents name are those", () => {
    const [x, none] = [randomNormal([3, 4], { seed: 9 }), { values: false } as const];
    const keys = randomNormal([5, 4], { seed: 3, std: 0.02 });
    expect(attention(x, x, x, { relate: shaw({ dim: 4, clip: 2, seed: 3, ...none }) }).out.data).toEqual(
      attention(x, x, x, { relate: shaw({ dim: 4, clip: 2, keys, ...none }) }).out.data,
    );
    const odd = sinusoidal({ dim: 5, oddDim: "sentinel", layout: "interleaved" });
    const [row, angles] = [encode(odd, [1]).row(0), [0, 1, 2].map((i) => 10000 ** ((-2 * i) / 5))];
    [...angles.map(Math.sin), ...angles.slice(0, 2).map(Math.cos)].forEach((value, c) =>
      expect(row[c]).toBeCloseTo(value, 6),
    );
  });

  it("position -0 is position 0, in both widths", () => {
    for (const dtype of ["float32", "float64"] as const) {
      expect([...encode(sinusoidal({ dim: 4 }), [-0], { dtype }).data]).toEqual([0, 1, 0, 1]);
    }
  });

  it("the timing spacing is tensor2tensor's: inverse timescales times minTimescale", () => {
    const [min, max, pairs] = [2, 5000, 6];
    const { inverse } = frequencies(
      sinusoidal({ dim: 2 * pairs, spacing: "timing", minTimescale: min, maxTimescale: max }),
    );
    const step = Math.log(max / min) / (pairs - 1);
    inverse.forEach((omega, i) => expect(omega / (min * Math.exp(-i * step))).toBeCloseTo(1, 12));
    const sentence = (name: string): string =>
      posenc.schemes[0]!.params.find((param) => param.name === name)!.sentence;
    expect(sentence("minTimescale")).toMatch(/^Frequency of the timing spacing's first pair/);
    expect(sentence("maxTimescale")).toContain("last pair turns at minTimescale^2 / maxTimescale");
    expect(inverse[0]).toBe(min);
    expect(inverse[pairs - 1]! / (min ** 2 / max)).toBeCloseTo(1, 12);
  });

  it("errors read well", () => {
    const text = (call: () => unknown): string => refusalOf(call).message;
    const x = randomNormal([2, 4]);
    expect(text(() => fromJSON(any({})))).toBe(
      "fromJSON: slot and name are missing, spec must be {slot, name, ...params} of a scheme",
    );
    expect(text(() => fromJSON(any({ slot: "bias" })))).toMatch(/^fromJSON: name is missing, /);
    expect(text(() => fromJSON(any({ slot: "bias", name: 5 })))).toMatch(/^fromJSON: name must be .*, got 5$/);
    const table = { shape: [1, 2], dtype: any("float16"), data: "AAAAAA==" };
    expect(text(() => shaw({ dim: 2, clip: 0, keys: table }))).toBe(
      'shaw: keys.dtype must be "float32" or "float64", got "float16"',
    );
    expect(text(() => shaw({ dim: 2, clip: 0, keys: { ...table, dtype: "float32" } }))).toBe(
      "shaw: keys.data must be 8 bytes of float32 in base64 for the shape [1, 2], got 4 bytes",
    );
    for (const window of [[1, undefined], [undefined, 1], [1, ,]]) // eslint-disable-line no-sparse-arrays
      expect(text(() => attention(x, x, x, { window: any(window) }))).toMatch(/^attention: window must .*undefined$/);
    expect(text(() => encode(sinusoidal({ dim: 2 }), 1e9))).toMatch(/, got 1000000000$/);
    expect(text(() => randomNormal([65536, 65537]))).toMatch(/, got 65536 x 65537 = 4295032832$/);
  });
});
