// Bad input, exhaustively: every public function, every argument, every kind of bad value. Each is a PosencError that
// names the code, the argument, what was given and what is allowed, and the next call is right.
import { describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";

const { PosencError, alibi, randomNormal, rope, schemes, shaw, sinusoidal, tensor } = posenc;

type Kind =
  | "data"
  | "positions"
  | "count"
  | "number"
  | "positive"
  | "whole"
  | "flag"
  | "choice"
  | "embed"
  | "rotate"
  | "bias"
  | "relate"
  | "out"
  | "mask"
  | "pairs"
  | "shape"
  | "list"
  | "window"
  | "parts"
  | "json"
  | "law"
  | "schemes"
  | "outline";

function detached<T extends ArrayBufferView>(view: T): T {
  structuredClone(view.buffer, { transfer: [view.buffer as ArrayBuffer] });
  return view;
}

function resizable(): ArrayBuffer & { resize(n: number): void } {
  return new (ArrayBuffer as unknown as new (n: number, o: object) => ReturnType<typeof resizable>)(64, {
    maxByteLength: 64,
  });
}

function shrunk(): Float32Array {
  const buffer = resizable();
  const view = new Float32Array(buffer, 0, 16);
  buffer.resize(16);
  return view;
}

type Bad = readonly [what: string, value: () => unknown, codes: string];

const kNoArray: readonly Bad[] = [
  ["NaN", () => NaN, "not-a-number"],
  ["Infinity", () => Infinity, "not-a-number not-finite"],
  ["a negative number", () => -1, "not-a-number out-of-range"],
  ["a fraction", () => 1.5, "not-a-number not-integer"],
  ["a string", () => "5", "not-a-number"],
  ["null", () => null, "not-a-number"],
  ["true", () => true, "not-a-number"],
  ["an object", () => ({}), "not-a-number"],
  ["a BigInt", () => 5n, "not-a-number"],
  ["a symbol", () => Symbol("x"), "not-a-number"],
  ["a function", () => () => 1, "not-a-number"],
  ["a DataView", () => new DataView(new ArrayBuffer(8)), "not-a-number"],
];

const kBroken: readonly Bad[] = [
  ["strings inside", () => [["1", "2", "3", "4"]], "not-a-number"],
  ["null inside", () => [[1, 2, null, 4]], "not-a-number"],
  ["undefined inside", () => [[1, 2, undefined, 4]], "not-a-number"],
  ["a hole inside", () => [[1, , 3, 4]], "not-a-number"], // eslint-disable-line no-sparse-arrays
  ["objects inside", () => [[{}, {}, {}, {}]], "not-a-number"],
  [
    "a ragged array",
    () => [
      [1, 2, 3, 4],
      [1, 2],
    ],
    "shape-mismatch",
  ],
  ["an array ragged in depth", () => [[1, 2, 3, 4], 5], "shape-mismatch"],
  ["rows among numbers", () => [[1, 2, 3, [4]]], "shape-mismatch"],
  ["a detached array", () => detached(Float32Array.of(1, 2, 3, 4)), "detached"],
  [
    "a detached tensor",
    () => {
      const t = tensor(Float32Array.of(1, 2, 3, 4), [1, 4]);
      detached(t.data);
      return t;
    },
    "detached",
  ],
  ["an array whose buffer shrank", shrunk, "detached"],
  ["data that does not fill its shape", () => ({ data: Float32Array.of(1, 2, 3), shape: [1, 4] }), "shape-mismatch"],
  ["a shape of fractions", () => ({ data: Float32Array.of(1, 2, 3, 4), shape: [0.5, 8] }), "shape-mismatch"],
  ["a negative shape", () => ({ data: Float32Array.of(1, 2, 3, 4), shape: [-1, -4] }), "shape-mismatch"],
  ["a huge shape", () => ({ data: Float32Array.of(1, 2, 3, 4), shape: [1e5, 1e5, 1e9] }), "shape-mismatch too-large"],
  [
    "strides out of the data",
    () => ({ data: Float32Array.of(1, 2, 3, 4), shape: [1, 4], stride: [4, 2] }),
    "shape-mismatch",
  ],
  ["data of strings", () => ({ data: ["1", "2", "3", "4"], shape: [1, 4] }), "not-a-number"],
];

const kNumber: readonly Bad[] = [
  ["NaN", () => NaN, "not-a-number"],
  ["Infinity", () => Infinity, "not-finite"],
  ["a string", () => "5", "not-a-number"],
  ["null", () => null, "not-a-number"],
  ["true", () => true, "not-a-number"],
  ["an object", () => ({}), "not-a-number"],
  ["an array", () => [1], "not-a-number"],
  ["a BigInt", () => 5n, "not-a-number"],
  ["a number past 2^53", () => -1e300, "out-of-range"],
];

const kScheme: readonly Bad[] = [
  ["null", () => null, "wrong-slot"],
  ["a string", () => "alibi", "wrong-slot"],
  ["a number", () => 5, "wrong-slot"],
  ["its JSON", () => rope({ dim: 4 }).toJSON(), "wrong-slot"],
  ["a look-alike", () => ({ slot: "rotate", name: "rope", dim: 4 }), "wrong-slot"],
  ["a factory", () => rope, "wrong-slot"],
];

const kMade = {
  embed: () => sinusoidal({ dim: 4 }),
  rotate: () => rope({ dim: 4 }),
  bias: () => alibi({ heads: 1 }),
  relate: () => shaw({ dim: 4, clip: 1 }),
};
const wrongSlots = (slot: keyof typeof kMade): readonly Bad[] => [
  ...kScheme,
  ...Object.entries(kMade)
    .filter(([other]) => other !== slot)
    .map(([other, make]): Bad => [`a scheme of the slot ${other}`, make, "wrong-slot"]),
];

const kBad: Record<Kind, readonly Bad[]> = {
  data: [
    ...kNoArray,
    ...kBroken,
    ["booleans", () => [[true, false, true, true]], "not-a-number"],
    ["a BigInt64Array", () => BigInt64Array.of(1n, 2n, 3n, 4n), "not-a-number"],
    ["too few axes", () => [1, 2, 3, 4, 5], "shape-mismatch not-a-number"],
    ["NaN inside", () => tensor([[1, 2, NaN, 4]]), "not-finite shape-mismatch"],
    ["Infinity inside", () => tensor([[1, 2, Infinity, 4]]), "not-finite shape-mismatch"],
  ],
  positions: [
    ...kNoArray.filter(([what]) => what !== "a DataView"),
    ...kBroken,
    ["NaN inside", () => [NaN], "not-finite shape-mismatch"],
    ["Infinity inside", () => [-Infinity], "not-finite shape-mismatch"],
    ["a position past 2^53", () => [2 ** 54], "out-of-range shape-mismatch"],
    ["a BigInt past 2^53", () => [2n ** 60n], "out-of-range"],
    ["three levels", () => [[[1]]], "shape-mismatch"],
    ["a huge count", () => 1e10, "too-large not-a-number"],
    ["a count past 2^53", () => 2 ** 60, "out-of-range not-a-number"],
    ["a detached BigInt64Array", () => detached(BigInt64Array.of(1n)), "detached"],
  ],
  count: [...kNumber, ["a negative number", () => -1, "out-of-range"], ["a fraction", () => 1.5, "not-integer"]],
  number: kNumber,
  positive: [...kNumber, ["zero", () => 0, "out-of-range"], ["a negative number", () => -1, "out-of-range"]],
  whole: [
    ...kNumber.filter(([what]) => what !== "a number past 2^53"),
    ["a negative number", () => -1, "out-of-range"],
    ["a fraction", () => 1.5, "not-integer"],
    ["a huge number", () => 1e17, "out-of-range"],
  ],
  flag: [
    ["1", () => 1, "unknown-choice"],
    ["a string", () => "true", "unknown-choice"],
    ["null", () => null, "unknown-choice"],
    ["an object", () => ({}), "unknown-choice"],
    ["NaN", () => NaN, "unknown-choice"],
  ],
  choice: [
    ["another word", () => "nope", "unknown-choice"],
    ["a number", () => 1, "unknown-choice"],
    ["null", () => null, "unknown-choice"],
    ["an object", () => ({}), "unknown-choice"],
    ["a list", () => ["nope"], "unknown-choice"],
  ],
  embed: wrongSlots("embed"),
  rotate: wrongSlots("rotate"),
  bias: wrongSlots("bias"),
  relate: wrongSlots("relate").filter(([what]) => !what.endsWith("bias")),
  out: [
    ["a list", () => [1, 2], "not-a-number"],
    ["null", () => null, "not-a-number"],
    ["a number", () => 5, "not-a-number"],
    ["integers", () => new Int32Array(4), "not-a-number"],
    ["BigInts", () => new BigInt64Array(4), "not-a-number"],
    ["the wrong size", () => new Float32Array(3), "shape-mismatch"],
    ["a detached array", () => detached(new Float32Array(4)), "detached"],
    ["a Uint8Array", () => new Uint8Array(16), "not-a-number"],
  ],
  mask: [
    ...kNoArray,
    ["a two", () => [2], "out-of-range shape-mismatch"],
    ["NaN inside", () => [NaN], "not-a-number shape-mismatch"],
    ["strings inside", () => ["yes"], "not-a-number"],
    ["the wrong size", () => Array(7).fill(true), "shape-mismatch"],
    ["a BigInt of two", () => BigInt64Array.of(2n), "out-of-range shape-mismatch"],
    ["a huge BigInt", () => [2n ** 60n], "out-of-range shape-mismatch"],
    ["a BigInt among booleans", () => [true, 1n], "not-a-number"],
    ["a detached BigInt64Array", () => detached(BigInt64Array.of(1n)), "detached"],
  ],
  pairs: [
    ...kNoArray,
    ["a two among bytes", () => Uint8Array.of(2), "out-of-range"],
    ["integers", () => Int32Array.of(1), "not-a-number"],
    ["NaN inside", () => [NaN], "not-finite"],
    ["Infinity inside", () => [Infinity], "not-finite"],
    ["strings inside", () => ["yes"], "not-a-number"],
    ["the wrong size", () => Array(7).fill(true), "shape-mismatch"],
    ["rows of integers", () => [Int32Array.of(1)], "not-a-number"],
    ["a two among rows of bytes", () => [Uint8Array.of(2)], "out-of-range"],
    ["a BigInt of two", () => BigUint64Array.of(2n), "out-of-range"],
    ["a BigInt below zero", () => [-1n], "out-of-range"],
    ["a BigInt beside a number", () => [1n, 0.5], "out-of-range shape-mismatch"],
    ["a detached array", () => detached(Float32Array.of(1)), "detached"],
    ["a detached BigInt64Array", () => detached(BigInt64Array.of(1n)), "detached"],
  ],
  shape: [
    ...kNumber.filter(([what]) => what !== "an array" && what !== "a number past 2^53"),
    ["negative", () => [-1], "out-of-range"],
    ["fractional", () => [1.5], "not-integer"],
    ["strings", () => ["2"], "not-a-number"],
    ["1e5 x 1e5", () => [1e5, 1e5], "too-large"],
    ["past 2^32", () => [65536, 65537], "too-large"],
    ["past 2^53", () => [2 ** 20, 2 ** 20, 2 ** 20], "too-large"],
    ["nine axes", () => Array(9).fill(1), "shape-mismatch"],
  ],
  list: [
    ...kNoArray.filter(([what]) => what !== "an object"),
    ["NaN inside", () => [NaN], "not-a-number"],
    ["a fraction inside", () => [0.5], "not-integer"],
    ["too large an index", () => [99], "out-of-range"],
    ["a negative index", () => [-1], "out-of-range"],
    ["two axes", () => [[0]], "shape-mismatch"],
  ],
  window: [
    ...kNumber.filter(([what]) => what !== "an array"),
    ["zero", () => 0, "out-of-range"],
    ["one entry", () => [1], "shape-mismatch"],
    ["a negative side", () => [-1, 2], "out-of-range"],
    ["a string side", () => ["1", 2], "not-a-number"],
    ["a NaN side", () => [NaN, 2], "not-a-number"],
  ],
  parts: [
    ...kNoArray,
    ["null inside", () => [null], "not-a-number"],
    ["an empty part", () => [{}], "missing-option"],
    ["two kinds", () => [{ text: 1, image: [1, 1, 1] }], "unknown-option"],
    ["an unknown kind", () => [{ txt: 1 }], "unknown-option"],
    ["a negative length", () => [{ text: -1 }], "out-of-range"],
    ["two extents", () => [{ image: [1, 2] }], "shape-mismatch"],
    ["a huge image", () => [{ image: [1e5, 1e5, 1e5] }], "too-large"],
  ],
  json: [
    ["null", () => null, "not-a-number"],
    ["a string", () => "alibi", "not-a-number"],
    ["an empty object", () => ({}), "missing-option"],
    ["another name", () => ({ slot: "bias", name: "alibbi" }), "unknown-choice"],
    ["the wrong slot", () => ({ slot: "embed", name: "alibi" }), "unknown-choice"],
    ["a missing param", () => ({ slot: "bias", name: "alibi" }), "missing-option"],
    ["a bad param", () => ({ slot: "bias", name: "alibi", heads: 0 }), "out-of-range"],
    ["a stray param", () => ({ slot: "bias", name: "alibi", heads: 1, head: 2 }), "unknown-option"],
  ],
  law: [
    ["null", () => null, "not-a-number"],
    ["a string", () => "power", "not-a-number"],
    ["an empty object", () => ({}), "missing-option"],
    ["another name", () => ({ law: "cubic", alpha: 1 }), "unknown-choice"],
    ["a missing param", () => ({ law: "power" }), "missing-option"],
    ["a stray param", () => ({ law: "power", alpha: 1, alfa: 2 }), "unknown-option"],
    ["a bad param", () => ({ law: "exponential", base: -1 }), "out-of-range"],
    ["NaN samples", () => ({ samples: [NaN] }), "not-a-number not-finite"],
    ["no samples", () => ({ samples: [] }), "shape-mismatch"],
  ],
  schemes: [
    ["null", () => null, "not-a-number"],
    ["a scheme", () => rope({ dim: 4 }), "not-a-number"],
    ["null inside", () => [null], "wrong-slot"],
    ["a name inside", () => ["rope"], "wrong-slot"],
  ],
  outline: [
    ["null", () => null, "not-a-number"],
    ["a name", () => "rope", "not-a-number"],
    ["a scheme", () => rope({ dim: 4 }), "not-a-number"],
    ["an empty object", () => ({}), "not-a-number"],
  ],
};

interface Entry {
  /** Valid arguments, those before `options` by place. */
  readonly args: Readonly<Record<string, readonly [value: unknown, kind: Kind]>>;
  readonly options?: Readonly<Record<string, readonly [value: unknown, kind: Kind]>>;
  /** Names that an error may give besides the argument's own. */
  readonly missing?: readonly string[];
}

const x = tensor([[1, 2, 3, 4]]);
const pairOfRows = tensor(Float32Array.of(1, 2, 3, 5), [2, 2]);
const square = tensor(Float32Array.from({ length: 16 }, (_, n) => n % 5), [4, 4]);

// What attention and its gradient share.
const attending = {
  rotate: [kMade.rotate(), "rotate"],
  bias: [kMade.bias(), "bias"],
  relate: [kMade.relate(), "relate"],
  causal: ["top-left", "choice"],
  window: [2, "window"],
  prefixLength: [1, "whole"],
  keyMask: [[true], "mask"],
  keyLengths: [[1], "list"],
  mask: [[[true]], "pairs"],
  softcap: [2, "positive"],
  sinks: [[1], "data"],
  scale: [1, "number"],
  queryPositions: [[0], "positions"],
  keyPositions: [[0], "positions"],
  queryOrder: [[0], "positions"],
  keyOrder: [[0], "positions"],
  length: [3, "positive"],
  allowNonFinite: [false, "flag"],
} as const;

const kEntries: Record<string, Entry> = {
  encode: {
    args: { scheme: [kMade.embed(), "embed"], positions: [[0], "positions"] },
    options: { dtype: ["float32", "choice"], length: [5, "positive"], out: [new Float32Array(4), "out"] },
    missing: ["scheme", "positions"],
  },
  embed: {
    args: { x: [x, "data"], scheme: [kMade.embed(), "embed"] },
    options: {
      positions: [[0], "positions"],
      scale: [2, "number"],
      alpha: [2, "number"],
      mode: ["add", "choice"],
      dropout: [0, "number"],
      seed: [1, "whole"],
      length: [3, "positive"],
      allowNonFinite: [false, "flag"],
      out: [new Float32Array(4), "out"],
    },
    missing: ["x", "scheme"],
  },
  rotate: {
    args: { x: [x, "data"], scheme: [kMade.rotate(), "rotate"] },
    options: {
      positions: [[0], "positions"],
      side: ["key", "choice"],
      inverse: [true, "flag"],
      length: [9, "positive"],
      allowNonFinite: [false, "flag"],
      out: [new Float32Array(4), "out"],
    },
    missing: ["x", "scheme"],
  },
  layoutCheck: {
    args: { x: [x, "data"], rotated: [x, "data"], scheme: [kMade.rotate(), "rotate"] },
    options: {
      positions: [[0], "positions"],
      side: ["key", "choice"],
      length: [9, "positive"],
      tolerance: [0.1, "positive"],
    },
    missing: ["x", "rotated", "scheme"],
  },
  bias: {
    args: { scheme: [kMade.bias(), "bias"] },
    options: {
      queries: [[0], "positions"],
      keys: [[0], "positions"],
      heads: [[0], "list"],
      out: [new Float32Array(1), "out"],
    },
    missing: ["scheme"],
  },
  relativeIndex: {
    args: { scheme: [kMade.relate(), "relate"] },
    options: { queries: [[0], "positions"], keys: [[0], "positions"], raw: [true, "flag"] },
    missing: ["scheme"],
  },
  frequencies: {
    args: { scheme: [kMade.embed(), "embed"] },
    options: { length: [5, "positive"] },
    missing: ["scheme"],
  },
  attention: {
    args: { q: [x, "data"], k: [x, "data"], v: [x, "data"] },
    options: {
      ...attending,
      weights: [true, "flag"],
      trace: [false, "flag"],
      out: [new Float32Array(4), "out"],
    },
    missing: ["q", "k", "v"],
  },
  attentionGradient: {
    args: { q: [x, "data"], k: [x, "data"], v: [x, "data"], dOut: [x, "data"] },
    options: {
      ...attending,
      dtype: ["float64", "choice"],
    },
    missing: ["q", "k", "v", "dOut"],
  },
  multiHeadAttention: {
    args: { x: [x, "data"] },
    options: {
      wq: [square, "data"],
      wk: [square, "data"],
      wv: [square, "data"],
      wo: [square, "data"],
      bq: [[1, 2, 3, 4], "data"],
      bk: [[1, 2, 3, 4], "data"],
      bv: [[1, 2, 3, 4], "data"],
      bo: [[1, 2, 3, 4], "data"],
      heads: [1, "whole"],
      kvHeads: [1, "whole"],
      context: [x, "data"],
      embed: [kMade.embed(), "embed"],
      rotate: [kMade.rotate(), "rotate"],
      mask: [[[true]], "pairs"],
      softcap: [2, "positive"],
      sinks: [[1], "data"],
      weights: [true, "flag"],
      out: [new Float32Array(4), "out"],
    },
    missing: ["x", "wq", "wk", "wv", "wo", "heads"],
  },
  entropy: {
    args: { weights: [[[0.5, 0.5]], "data"] },
    options: { base: [2, "positive"], allowNonFinite: [false, "flag"] },
    missing: ["weights"],
  },
  attentionDistance: {
    args: { weights: [[[1]], "data"] },
    options: {
      queryPositions: [[0], "positions"],
      keyPositions: [[0], "positions"],
      allowNonFinite: [false, "flag"],
    },
    missing: ["weights"],
  },
  bilinear: {
    args: { scheme: [kMade.embed(), "embed"], h: [[1, 2, 3, 4], "data"] },
    options: { queries: [[0], "positions"], keys: [[0], "positions"] },
    missing: ["scheme", "h", "queries", "keys"],
  },
  compare: { args: { schemes: [[rope({ dim: 4 })], "schemes"] }, missing: ["schemes"] },
  contextExtension: {
    args: { before: [kMade.rotate(), "rotate"], after: [kMade.rotate(), "rotate"] },
    options: {
      length: [9, "positive"],
      beforeLength: [5, "positive"],
      offsets: [[1], "positions"],
      normalize: [true, "flag"],
    },
    missing: ["before", "after", "length", "offsets"],
  },
  cost: {
    args: {},
    options: {
      length: [4, "positive"],
      dim: [4, "positive"],
      heads: [1, "positive"],
      layers: [1, "positive"],
      kernelWidth: [3, "positive"],
    },
    missing: ["length", "dim"],
  },
  decayBound: {
    args: { scheme: [kMade.rotate(), "rotate"], offsets: [[1], "positions"] },
    options: { length: [5, "positive"] },
    missing: ["scheme", "offsets"],
  },
  diagonalDominance: { args: { table: [pairOfRows, "data"] }, missing: ["table"] },
  extrapolation: {
    args: { scheme: [kMade.rotate(), "rotate"] },
    options: { trained: [4, "positive"], length: [9, "positive"] },
    missing: ["scheme", "trained", "length"],
  },
  kernel: {
    args: { scheme: [kMade.rotate(), "rotate"], offsets: [[1], "positions"] },
    options: { normalize: [true, "flag"], length: [5, "positive"] },
    missing: ["scheme", "offsets"],
  },
  normRatio: {
    args: { embeddings: [pairOfRows, "data"], table: [pairOfRows, "data"] },
    missing: ["embeddings", "table"],
  },
  oscillatoryIntegral: {
    args: { law: [{ law: "power", alpha: 1 }, "law"], offsets: [[1], "positions"] },
    missing: ["law", "offsets"],
  },
  precision: {
    args: { scheme: [kMade.rotate(), "rotate"], positions: [[1], "positions"] },
    options: {
      arithmetic: ["float16", "choice"],
      recipe: ["table", "choice"],
      tolerance: [0.1, "number"],
      length: [5, "positive"],
    },
    missing: ["scheme", "positions"],
  },
  riemannSum: {
    args: { law: [{ law: "power", alpha: 1 }, "law"], offsets: [[1], "positions"] },
    options: { dim: [4, "positive"] },
    missing: ["law", "offsets", "dim"],
  },
  taylor: {
    args: {},
    options: { tokens: [3, "whole"], dim: [2, "whole"], seed: [1, "whole"], scales: [[0.1], "data"] },
    missing: ["tokens", "dim"],
  },
  closestPair: { args: { table: [pairOfRows, "data"] }, options: { length: [2, "whole"] }, missing: ["table"] },
  collisions: {
    args: { table: [pairOfRows, "data"] },
    options: { tolerance: [1, "number"], limit: [3, "whole"], length: [2, "whole"] },
    missing: ["table"],
  },
  extendTable: { args: { table: [pairOfRows, "data"], length: [3, "whole"] }, missing: ["table", "length"] },
  fitTable: { args: { kernel: [[[1]], "data"] }, options: { dim: [1, "whole"] }, missing: ["kernel", "dim"] },
  locality: {
    args: { matrix: [[[0.5]], "data"] },
    options: { kind: ["scores", "choice"], radius: [1, "number"], start: [1, "number"] },
    missing: ["matrix"],
  },
  monotonicity: { args: { matrix: [x, "data"] }, options: { start: [1, "number"] }, missing: ["matrix"] },
  offsetProfile: { args: { matrix: [x, "data"] }, options: { start: [1, "number"] }, missing: ["matrix"] },
  pca: { args: { table: [pairOfRows, "data"] }, options: { components: [1, "whole"] }, missing: ["table"] },
  permutationGap: {
    args: { x: [x, "data"], permutation: [[0], "list"] },
    options: { sum: ["sorted", "choice"], embed: [kMade.embed(), "embed"], causal: [true, "choice"] },
    missing: ["x", "permutation"],
  },
  sortedAttention: {
    args: { q: [x, "data"], k: [x, "data"], v: [x, "data"] },
    options: Object.fromEntries(
      Object.entries(attending).filter(([name]) => !["relate", "sinks", "allowNonFinite"].includes(name)),
    ),
    missing: ["q", "k", "v"],
  },
  radix: {
    args: { scheme: [kMade.embed(), "embed"], position: [3, "positive"] },
    options: { length: [5, "positive"] },
    missing: ["scheme", "position"],
  },
  resampleTable: {
    args: { table: [pairOfRows, "data"], length: [3, "whole"] },
    options: { corners: ["half-pixel", "choice"] },
    missing: ["table", "length"],
  },
  sentenceOf: {
    args: { outline: [posenc.outlines[0], "outline"], param: ["dim", "choice"] },
    missing: ["outline", "param"],
  },
  shiftError: {
    args: { scheme: [kMade.embed(), "embed"], k: [2, "number"], positions: [[1], "positions"] },
    options: { length: [5, "positive"] },
    missing: ["scheme", "k", "positions"],
  },
  shiftMatrix: {
    args: { scheme: [kMade.embed(), "embed"], k: [2, "number"] },
    options: { length: [5, "positive"] },
    missing: ["scheme", "k"],
  },
  similarity: {
    args: { table: [x, "data"] },
    options: {
      metric: ["cosine", "choice"],
      dtype: ["float32", "choice"],
      allowNonFinite: [false, "flag"],
      out: [new Float32Array(1), "out"],
    },
    missing: ["table"],
  },
  spectrum: {
    args: { scheme: [kMade.embed(), "embed"] },
    options: { context: [100, "positive"], length: [5, "positive"] },
    missing: ["scheme", "context"],
  },
  symmetry: { args: { matrix: [[[1]], "data"] }, missing: ["matrix"] },
  toeplitzGap: { args: { matrix: [x, "data"] }, missing: ["matrix"] },
  translationGap: {
    args: { scheme: [kMade.embed(), "embed"] },
    options: { shift: [1, "number"], length: [4, "whole"], seed: [1, "whole"] },
    missing: ["scheme"],
  },
  tsne: {
    args: { table: [square, "data"] },
    options: { perplexity: [1, "positive"], iterations: [5, "whole"], seed: [1, "whole"] },
    missing: ["table"],
  },
  convertLayout: {
    args: { x: [x, "data"] },
    options: { from: ["half", "choice"], to: ["interleaved", "choice"] },
    missing: ["x"],
  },
  randomNormal: {
    args: { shape: [[2, 2], "shape"] },
    options: { seed: [1, "whole"], mean: [1, "number"], std: [1, "number"] },
    missing: ["shape"],
  },
  paddedPositions: {
    args: { mask: [[true, false], "mask"] },
    options: { padding: ["right", "choice"], fill: [2, "number"] },
    missing: ["mask"],
  },
  fairseqPositions: {
    args: { tokens: [[1, 5], "positions"], padIndex: [1, "whole"] },
    missing: ["tokens", "padIndex"],
  },
  arange: { args: { start: [0, "number"], stop: [3, "number"], step: [1, "number"] } },
  grid: { args: { height: [2, "count"], width: [2, "count"] }, missing: ["height", "width"] },
  multimodalPositions: { args: { parts: [[{ text: 2 }], "parts"] }, missing: ["parts"] },
  fromJSON: { args: { spec: [alibi({ heads: 2 }).toJSON(), "json"] }, missing: ["spec"] },
};

// What is right for this one argument although the kind's table calls it bad.
const kFine: Record<string, string> = {
  "paddedPositions.mask": "the wrong size", // any length will do
  "convertLayout.x": "too few axes NaN inside Infinity inside", // moves numbers, looks at none
  "entropy.weights": "too few axes",
  "attentionDistance.weights": "",
  "frequencies.scheme": "a scheme of the slot rotate",
  "contextExtension.after": "a scheme of the slot embed",
  "contextExtension.before": "a scheme of the slot embed",
  "decayBound.scheme": "a scheme of the slot embed",
  "extrapolation.scheme": "a scheme of the slot embed",
  "kernel.scheme": "a scheme of the slot embed",
  "precision.scheme": "a scheme of the slot embed",
  "diagonalDominance.table": "NaN inside Infinity inside", // of one row here, which is what is refused
  "taylor.scales": "too few axes",
  "fitTable.kernel": "too few axes", // g(0), g(1), ...
  "radix.position": "zero",
  "radix.scheme": "a scheme of the slot rotate",
  "sentenceOf.param": "another word", // no param of that name: no sentence
  "shiftError.scheme": "a scheme of the slot rotate",
  "shiftMatrix.scheme": "a scheme of the slot rotate",
  "spectrum.scheme": "a scheme of the slot rotate",
  "translationGap.scheme": "a scheme of the slot rotate a scheme of the slot bias a scheme of the slot relate",
  "arange.start": "a number past 2^53",
  "fairseqPositions.tokens": "a position past 2^53",
  "attention.queryOrder": "a position past 2^53", // orders are only compared
  "attention.keyOrder": "a position past 2^53",
  "sortedAttention.queryOrder": "a position past 2^53",
  "sortedAttention.keyOrder": "a position past 2^53",
  "attentionGradient.queryOrder": "a position past 2^53",
  "attentionGradient.keyOrder": "a position past 2^53",
  "fairseqPositions.padIndex": "a huge number",
  "entropy.base": "a string",
};

// What makes positions or schemes of plain arguments has no options to mistake.
const kPositional = ["arange", "fairseqPositions", "fromJSON", "grid", "multimodalPositions", "sentenceOf"];

// Who may speak beside the function that was called.
const kSchemeNames = schemes.map(({ name }) => name);

type AnyFunction = (...args: unknown[]) => unknown;

function run(name: string, entry: Entry, changed?: string, value?: unknown): unknown {
  const args = Object.entries(entry.args).map(([key, [fine]]) => (key === changed ? value : fine));
  const options = Object.fromEntries(
    Object.entries(entry.options ?? {}).map(([key, [fine]]) => [key, key === changed ? value : fine]),
  );
  return (posenc as unknown as Record<string, AnyFunction>)[name]!(
    ...args,
    ...(entry.options === undefined ? [] : [options]),
  );
}

// Results as text, bytes and all: NaN never occurs in these.
const seen = (result: unknown): string =>
  JSON.stringify(result, (_, value: unknown) => (ArrayBuffer.isView(value) ? [...(value as Float32Array)] : value));

function refused(call: () => unknown): posenc.PosencError {
  let result: unknown;
  try {
    result = call();
  } catch (error) {
    if (!(error instanceof PosencError)) throw error;
    return error;
  }
  throw new Error(`was taken: ${seen(result)}`);
}

function expectRefusal(error: posenc.PosencError, codes: string): void {
  expect(codes.split(" ")).toContain(error.code);
  expect(error.name).toBe("PosencError");
  expect(error instanceof RangeError).toBe(["out-of-range", "too-large", "out-of-memory"].includes(error.code));
  expect(error instanceof TypeError).toBe(!(error instanceof RangeError));
  for (const text of [error.argument, error.allowed, error.subject]) expect(text).not.toBe("");
  if (error.code !== "missing-option") expect(error.given).not.toBe("");
  expect(error.message.startsWith(`${error.subject}: `)).toBe(true);
  expect(error.message).not.toMatch(/undefined(?!$)|\[object/);
}

describe("every function, every argument, every bad value", () => {
  it("has all functions in the table", () => {
    const others = ["info", "init", "ready", "tensor", "Tensor", "PosencError", ...kSchemeNames];
    const functions = Object.entries(posenc)
      .filter(([, value]) => typeof value === "function")
      .map(([name]) => name);
    expect(functions.filter((name) => !others.includes(name)).sort()).toEqual(Object.keys(kEntries).sort());
  });

  for (const [name, entry] of Object.entries(kEntries)) {
    const good = seen(run(name, entry));
    for (const [argument, [, kind]] of [...Object.entries(entry.args), ...Object.entries(entry.options ?? {})]) {
      const fine = kFine[`${name}.${argument}`] ?? "";
      it.each(kBad[kind].filter(([what]) => !fine.includes(what)))(`${name}: ${argument} is %s`, (_, value, codes) => {
        const error = refused(() => run(name, entry, argument, value()));
        expectRefusal(error, codes);
        expect([name, ...kSchemeNames]).toContain(error.subject);
        if (name !== "fromJSON")
          expect(error.message, error.message).toMatch(new RegExp(`\\b(${argument}|${aliases(name, argument)})\\b`));
        expect(seen(run(name, entry))).toBe(good);
      });
    }
    for (const argument of entry.missing ?? []) {
      it(`${name}: ${argument} is missing`, () => {
        expectRefusal(
          refused(() => run(name, entry, argument, undefined)),
          "missing-option not-a-number wrong-slot",
        );
        expect(seen(run(name, entry))).toBe(good);
      });
    }
    if (entry.options !== undefined) {
      it.each([
        ["null", null],
        ["a number", 5],
        ["a string", "x"],
        ["a list", []],
        ["an array", new Float32Array(1)],
      ])(`${name}: options are %s`, (_, options) => {
        const args = Object.values(entry.args).map(([fine]) => fine);
        const error = refused(() => (posenc as unknown as Record<string, AnyFunction>)[name]!(...args, options));
        expectRefusal(error, "not-a-number");
        expect(error.argument).toBe("options");
        expect(seen(run(name, entry))).toBe(good);
      });
      it(`${name}: an unknown option names the nearest`, () => {
        const [known] = Object.keys(entry.options!);
        const typo = `${known!.slice(0, -1)}x`;
        const error = refused(() => run(name, { ...entry, options: { ...entry.options, [typo]: [1, "number"] } }));
        expectRefusal(error, "unknown-option");
        expect(error.argument).toBe(typo);
        expect(error.message).toContain(`did you mean ${known!}?`);
        expect(error.allowed).toContain(known);
      });
    } else if (!kPositional.includes(name)) {
      it(`${name}: takes no options, and says so`, () => {
        const call = (options: unknown): unknown =>
          (posenc as unknown as Record<string, AnyFunction>)[name]!(
            ...Object.values(entry.args).map(([fine]) => fine),
            options,
          );
        const error = refused(() => call({ nope: 1 }));
        expectRefusal(error, "unknown-option");
        expect([error.subject, error.argument]).toEqual([name, "nope"]);
        expectRefusal(
          refused(() => call(5)),
          "not-a-number",
        );
        expect(seen(call({}))).toBe(good);
        expect(seen(call(undefined))).toBe(good);
      });
    }
  }

  it("an option that is undefined is as left out, and an unknown one is a typo even then", () => {
    const outcome = (entry: Entry, name: string): string => {
      try {
        return String(seen(run(name, entry)));
      } catch (error) {
        return (error as posenc.PosencError).message;
      }
    };
    let asked = 0;
    for (const [name, entry] of Object.entries(kEntries)) {
      if (entry.options === undefined) continue;
      const unknown = { ...entry.options, noSuchOption: [undefined, "number"] } as Entry["options"];
      const error = refused(() => run(name, { ...entry, options: unknown! }));
      expect([error.code, error.argument], name).toEqual(["unknown-option", "noSuchOption"]);
      const known = error.allowed.replace("one of ", "").split(", ");
      for (const option of new Set([...known, ...Object.keys(entry.options)])) {
        const { [option]: _, ...others } = entry.options;
        const left = outcome({ ...entry, options: others }, name);
        const told = outcome({ ...entry, options: { ...others, [option]: [undefined, "number"] } }, name);
        expect(told, `${name}: ${option}`).toBe(left);
        asked++;
      }
    }
    expect(asked).toBeGreaterThan(150);
  });

  it("params of schemes that are undefined are as left out, in their scaling too", () => {
    for (const { slot, name, params } of schemes) {
      const make = (posenc as unknown as Record<string, AnyFunction>)[name]!;
      const needed = params.filter(({ required, shown }) => required && shown);
      const given = Object.fromEntries(needed.map((param) => [param.name, param.shown!.value]));
      const outcome = (options: object): string => {
        try {
          return JSON.stringify(make(options));
        } catch (error) {
          return (error as posenc.PosencError).message;
        }
      };
      for (const { name: param } of params) {
        const [outer, inner] = param.split(".") as [string, string?];
        const { [outer]: _, ...others } = given as Record<string, unknown>;
        const told = { ...others, [outer]: inner === undefined ? undefined : { [inner]: undefined } };
        expect(outcome(told), `${slot} ${name}: ${param}`).toBe(outcome(others));
      }
      expect(refused(() => make({ ...given, noSuchParam: undefined })).code).toBe("unknown-option");
    }
  });

  // A number refused for being too large is told how large it may be, even where the small one it stands beside is what
  // the words are about; and for one option they are always the same.
  it("name both ends of a number's range, whichever was passed", () => {
    const ends = [-Infinity, -1e308, -(2 ** 54), -1, 0, 1e-320, 1e-60, 2 ** 40, 2 ** 54, 1e39, 1e300, Infinity];
    const wrong: string[] = [];
    for (const [name, entry] of Object.entries(kEntries)) {
      for (const [argument, [, kind]] of [...Object.entries(entry.args), ...Object.entries(entry.options ?? {})]) {
        if (!["number", "positive", "whole"].includes(kind)) continue;
        const said = new Map<number, string>();
        for (const end of ends) {
          try {
            run(name, entry, argument, end);
          } catch (error) {
            const { code, allowed, argument: named } = error as posenc.PosencError;
            if (named === argument && ["not-finite", "out-of-range"].includes(code)) said.set(end, allowed);
          }
        }
        const texts = new Set(said.values());
        const upper = [...said.keys()].some((end) => end > 0 && end >= 2 ** 40);
        const says = [...texts].every((text) => /\b(to|most|below|magnitude|finite)\b/.test(text));
        if (texts.size > 1 || (upper && !says)) wrong.push(`${name}: ${argument} ${[...texts].join(" | ")}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("take allowNonFinite where a NaN can be followed, and say no elsewhere", () => {
    const taking = [
      ...["attention", "attentionDistance", "attentionGradient", "embed", "entropy", "multiHeadAttention", "rotate"],
      "similarity",
    ];
    for (const [name, entry] of Object.entries(kEntries)) {
      if (entry.options === undefined) continue; // held above
      const lax = { ...entry, options: { ...entry.options, allowNonFinite: [true, "flag"] } } as Entry;
      if (taking.includes(name)) expect(seen(run(name, lax)), name).toBe(seen(run(name, entry)));
      else expect(refused(() => run(name, lax)).code, name).toBe("unknown-option");
    }
    const moved = posenc.convertLayout([[1, NaN, Infinity, 4]], { from: "interleaved", to: "half" });
    expect(moved.tolist()).toEqual([[1, Infinity, NaN, 4]]);
  });

  it("measures of rows lose the rows that hold NaN or Infinity, and no other", () => {
    const clean = randomNormal([6, 5], { seed: 4 });
    for (const bad of [NaN, Infinity, -Infinity]) {
      for (const lost of [[2], [0, 5], [0, 1, 2, 3, 4, 5]]) {
        const data = Float64Array.from(clean.data);
        lost.forEach((row) => (data[row * 5 + (row % 5)] = bad));
        const table = tensor(data, [6, 5]);
        for (const metric of ["dot", "cosine", "euclidean"] as const) {
          for (const dtype of ["float32", "float64"] as const) {
            expect(refused(() => posenc.similarity(table, { metric, dtype })).code).toBe("not-finite");
            const found = posenc.similarity(table, { metric, dtype, allowNonFinite: true });
            const whole = posenc.similarity(clean, { metric, dtype });
            found.data.forEach((value, n) => {
              const named = `${metric} ${dtype} ${Math.floor(n / 6)} ${n % 6}`;
              const holds = lost.includes(Math.floor(n / 6)) || lost.includes(n % 6);
              expect(Object.is(value, holds ? NaN : whole.data[n]), named).toBe(true);
            });
          }
        }
        const weights = tensor(data.map(Math.abs), [6, 5]);
        const lax = { allowNonFinite: true };
        for (const measure of [posenc.entropy, posenc.attentionDistance]) {
          const whole = measure(tensor(clean.data.map(Math.abs), [6, 5]));
          expect(refused(() => measure(weights)).code).toBe("not-finite");
          measure(weights, lax).data.forEach((value, row) => {
            expect(Object.is(value, lost.includes(row) ? NaN : whole.data[row])).toBe(true);
          });
          expect(refused(() => measure([[NaN, -1]], lax)).code).toBe("out-of-range");
        }
      }
    }
  });

  it("messages name the function called, the limit and the shape given", () => {
    for (const name of ["spectrum", "radix"] as const) {
      const second = name === "radix" ? 4 : { context: 4 };
      const said = message(() => posenc[name](alibi({ heads: 2 }) as never, second as never));
      expect(said).toMatch(`${name}: scheme must`);
    }
    for (const name of ["closestPair", "collisions"] as const) {
      for (const length of [2 ** 40, 1, -1]) {
        expect(message(() => posenc[name](sinusoidal({ dim: 4 }), { length }))).toContain("from 2 to 2^32, got");
      }
    }
    const weights = [
      [0.5, 0.25, 0.25],
      [1, 0, 0],
    ];
    expect(message(() => posenc.attentionDistance(weights, { positions: 3 }))).toContain("got shape [3]");
    const axes = { keyPositions: posenc.grid(3, 1) };
    expect(message(() => posenc.attentionDistance(weights, axes))).toContain("got shape [2, 3]");
  });

  const message = (call: () => unknown): string => refused(call).message;

  it("messages name the option that says how many axes a scheme reads, where it has one", () => {
    const plane = posenc.grid(2, 2);
    const space = tensor(new Float64Array(12), [3, 4]);
    const embeds = {
      levels: posenc.fourier({ levels: 3 }),
      gaussian: posenc.fourier({ gaussian: 1, features: 4 }),
      line: posenc.sinusoidal2d({ dim: 8, style: "multidim", axes: 1 }),
      volume: posenc.sinusoidal2d({ dim: 12, style: "multidim", axes: 3 }),
    };
    const option = "whose option axes says how many";
    for (const [what, scheme] of Object.entries(embeds)) {
      const axes = what === "volume" ? "one axis or of 3" : "one axis";
      const said = message(() => posenc.encode(scheme, plane));
      expect(said, what).toBe(`encode: positions must be of ${axes} for this scheme, ${option}, got 2 axes`);
      const x = tensor(new Float32Array(4), [4, 1]);
      expect(message(() => posenc.embed(x, scheme, { positions: plane, mode: "concat" }))).toContain(option);
    }
    const axial = posenc.axialRope({ dim: 8 });
    const x = tensor(new Float32Array(32), [4, 8]);
    const two = `must be of one axis or of 2 for this scheme, ${option}, got 3 axes`;
    expect(message(() => posenc.rotate(x, axial, { positions: space }))).toBe(`rotate: positions ${two}`);
    const attending = { rotate: axial, queryPositions: space, keyPositions: space };
    expect(message(() => posenc.attention(x, x, x, attending))).toBe(`attention: queryPositions ${two}`);
    // No such option: nothing to name.
    expect(message(() => posenc.encode(sinusoidal({ dim: 4 }), plane))).toContain("of one axis for this scheme, got");
    expect(message(() => posenc.encode(posenc.sinusoidal2d({ dim: 8 }), space))).toContain("of 2 for this scheme, got");
    const apart = message(() => posenc.bias(alibi({ heads: 2 }), { queries: plane, keys: plane }));
    expect(apart).not.toContain("option axes");
  });

  it("messages tell an array outside its buffer from one that was taken away", () => {
    const given = (call: () => unknown): string => refused(call).given;
    for (const call of [
      (data: Float32Array): unknown => posenc.similarity({ data, shape: [4, 4] }),
      (data: Float32Array): unknown => posenc.rotate({ data, shape: [4, 4] }, rope({ dim: 4 })),
      (data: Float32Array): unknown => tensor(data, [4, 4]),
      (data: Float32Array): unknown => posenc.encode(sinusoidal({ dim: 4 }), 4, { out: data }),
      (data: Float32Array): unknown => posenc.encode(sinusoidal({ dim: 4 }), data),
    ]) {
      expect(given(() => call(shrunk()))).toBe("an array outside its buffer, which has shrunk");
      expect(given(() => call(detached(new Float32Array(16))))).toBe("a detached array");
    }
    // A view that follows its buffer's length keeps some elements.
    const buffer = resizable();
    const rows = new posenc.Tensor(new Float32Array(buffer), [4, 4], "float32");
    buffer.resize(32);
    const error = refused(() => posenc.similarity(rows));
    expect([error.code, error.argument, error.given]).toEqual(["detached", "table", "8 in a buffer that was resized"]);
    expect(error.allowed).toBe("a tensor whose buffer keeps its 16 elements");
  });

  it("messages of a function that another serves are of the one called, and its own arguments", () => {
    const s4 = sinusoidal({ dim: 4 });
    const far = 2 ** 53;
    const calls: readonly (readonly [string, string, () => unknown])[] = [
      ["bilinear", "queries", () => posenc.bilinear(s4, [1, 1, 1, 1], { queries: [2 * far], keys: [0] })],
      ["bilinear", "keys", () => posenc.bilinear(s4, [1, 1, 1, 1], { queries: [0], keys: [2 * far] })],
      ["permutationGap", "x", () => posenc.permutationGap([[NaN, 1]], [0])],
      ["permutationGap", "softcap", () => posenc.permutationGap([[1, 1]], [0], { softcap: -1 })],
      ["permutationGap", "bias", () => posenc.permutationGap([[1, 1]], [0], { bias: alibi({ heads: 2 }) })],
      ["permutationGap", "x", () => posenc.permutationGap([[NaN, 1]], [0], { sum: "sorted" })],
      ["permutationGap", "softcap", () => posenc.permutationGap([[1, 1]], [0], { sum: "sorted", softcap: -1 })],
      ["sortedAttention", "k", () => posenc.sortedAttention([[1, 1]], [[1, NaN]], [[1]])],
      ["sortedAttention", "v", () => posenc.sortedAttention([[1, 1]], [[1, 1]], [[1e39]])],
      ["sortedAttention", "v", () => posenc.sortedAttention([[1, 1]], [[1, 1]], [[1], [2]])],
      ["shiftMatrix", "k", () => posenc.shiftMatrix(s4, 2 * far)],
      ["shiftMatrix", "k", () => posenc.shiftMatrix(rope({ dim: 4 }), 2 * far)],
      ["translationGap", "shift", () => posenc.translationGap(s4, { shift: 2 * far })],
      ["translationGap", "shift", () => posenc.translationGap(s4, { shift: far })],
      ["translationGap", "shift", () => posenc.translationGap(alibi({ heads: 1 }), { shift: far - 1, length: 2 })],
      ["translationGap", "length", () => posenc.translationGap(s4, { length: far })],
      ["translationGap", "shift", () => posenc.translationGap(rope({ dim: 4 }), { shift: 2 * far })],
      ["translationGap", "shift", () => posenc.translationGap(alibi({ heads: 1 }), { shift: 2 * far })],
      ["translationGap", "shift", () => posenc.translationGap(shaw({ dim: 4, clip: 2 }), { shift: 2 * far })],
      ["closestPair", "length", () => posenc.closestPair(posenc.learned({ length: 4, dim: 2 }), { length: 9 })],
      ["layoutCheck", "x", () => posenc.layoutCheck([[1, 2]], [[1, 2]], rope({ dim: 4 }))],
    ];
    for (const [subject, argument, call] of calls) {
      const error = refused(call);
      const who = subject === "closestPair" ? [subject, "learned"] : [subject];
      expect(who, error.message).toContain(error.subject);
      if (error.subject === subject) expect(error.argument, error.message).toBe(argument);
      expect(error.message.startsWith(`${error.subject}: ${error.argument} `), error.message).toBe(true);
    }
  });

  // Where the words of the core or a size of two arguments speak of an argument by another name.
  function aliases(name: string, argument: string): string {
    const others: Record<string, string> = {
      queries: "positions|queries x keys|heads x queries x keys",
      keys: "positions|queries x keys|heads x queries x keys",
      tokens: "positions",
      start: "stop",
      shape: "shape",
      height: "height x width",
      weights: "keys|positions",
      q: "k|queryPositions",
      k: "v|q|keyPositions",
      v: "v",
      x: "positions",
      positions: "x",
      queryPositions: "queries",
      keyPositions: "keys",
      scheme: "dim",
      law: "alpha|base|samples",
    };
    return others[argument] ?? `${name} has no alias of ${argument}`;
  }
});

describe("every scheme, every parameter, every bad value", () => {
  const factories = posenc as unknown as Record<string, AnyFunction>;
  for (const { name, params } of schemes) {
    const always = params.filter(
      ({ required, where, defaultParam, default: own, shown }) =>
        required || (where === undefined && defaultParam === undefined && own === null && shown !== undefined),
    );
    const valueOf = ({ kind, shown }: (typeof params)[number]): unknown =>
      kind === "table"
        ? [[0, 0, 0]]
        : kind === "list"
          ? Array.from({ length: Number(base.dim) / 2 }, () => 2)
          : (shown?.value ?? 4);
    const base: Record<string, unknown> = {};
    for (const param of always) base[param.name] = valueOf(param);
    // What a param that belongs to a choice stands beside: the choice, and all that it needs.
    const beside = ({ where, neededBy, takenBy }: (typeof params)[number]): Record<string, unknown> => {
      if (where === undefined) return {};
      const choice = [...neededBy!, ...takenBy!][0]!;
      const needed = params.filter((other) => other.where === where && other.neededBy!.includes(choice));
      return { [where]: choice, ...Object.fromEntries(needed.map((other) => [other.name, valueOf(other)])) };
    };
    const nested = (options: Record<string, unknown>): object => {
      const result: Record<string, unknown> = {};
      for (const [key, value] of Object.entries(options)) {
        const [outer, inner] = key.split(".") as [string, string?];
        if (inner === undefined) result[outer] = value;
        else ((result[outer] ??= {}) as Record<string, unknown>)[inner] = value;
      }
      return result;
    };
    const make = (options: Record<string, unknown>): unknown => factories[name]!(nested({ ...base, ...options }));
    const good = seen(make({}));
    for (const param of params) {
      const bad: readonly Bad[] =
        param.kind === "flag"
          ? kBad.flag
          : param.kind === "choice"
            ? kBad.choice
            : param.kind === "list" || param.kind === "table"
              ? [
                  // "[heads] or [1]" takes one number for all.
                  ...kNoArray.filter(([what]) => what !== "a fraction" || !param.shape!.endsWith("or [1]")),
                  ...kBroken,
                  ["NaN inside", () => [NaN], "not-finite shape-mismatch"],
                  [
                    "the wrong size",
                    () => [
                      [
                        [1, 2],
                        [4, 5],
                      ],
                    ],
                    "shape-mismatch",
                  ],
                  [
                    "base64 of the wrong length",
                    () => ({ shape: [3], dtype: "float32", data: "AAAA" }),
                    "shape-mismatch",
                  ],
                  ["what is no base64", () => ({ shape: [1], dtype: "float32", data: "????" }), "shape-mismatch"],
                ]
              : [
                  ...kNumber,
                  ...(param.kind === "integer" ? [["a fraction", () => 2.5, "not-integer"] as Bad] : []),
                  ["above the range", () => (param.max ?? 1e300) * 4, "out-of-range not-integer"],
                  [
                    "below the range",
                    () => (param.aboveMin === true ? param.min! : param.min! - Math.max(1, Math.abs(param.min!))),
                    "out-of-range",
                  ],
                ];
      const own = param.name;
      it.each(bad)(`${name}: ${own} is %s`, (_, value, codes) => {
        const error = refused(() => make({ ...beside(param), [own]: value() }));
        expectRefusal(error, codes);
        expect(error.argument.startsWith(own) || own.startsWith(error.argument), error.message).toBe(true);
        expect(error.subject).toBe(name);
        expect(seen(make({}))).toBe(good);
      });
      if (param.required || (param.neededBy?.length ?? 0) > 0) {
        it(`${name}: ${own} is missing`, () => {
          const error = refused(() => make({ ...beside(param), [own]: undefined }));
          expectRefusal(error, "missing-option");
          expect([error.argument, error.allowed]).toEqual([own, param.allowed]);
        });
      }
      if (param.where !== undefined) {
        it(`${name}: ${own} is refused where ${param.where} has another value`, () => {
          const choices = params.find((other) => other.name === param.where)!.choices!;
          const having = [...param.neededBy!, ...param.takenBy!];
          const other = choices.find((choice) => !having.includes(choice))!;
          const chosen = beside({ ...param, neededBy: [other], takenBy: [] });
          const value =
            beside(param)[own] ??
            ({ table: [[1]], list: [1] } as Record<string, unknown>)[param.kind] ??
            param.default ??
            param.min;
          const error = refused(() => make({ ...chosen, [own]: value }));
          expectRefusal(error, "unknown-option");
          expect(error.message).toContain(`${own} must be left out: it belongs to ${param.where} `);
        });
      }
    }
    it(`${name}: an unknown option names the nearest`, () => {
      const [first] = params;
      const error = refused(() => make({ [`${first!.name}s`]: 4 }));
      expectRefusal(error, "unknown-option");
      expect(error.message).toContain(`did you mean ${first!.name}?`);
    });
    it.each([
      ["null", null],
      ["a number", 4],
      ["a list", [4]],
      ["a string", "4"],
    ])(`${name}: options are %s`, (_, options) => {
      expectRefusal(
        refused(() => factories[name]!(options)),
        "not-a-number",
      );
    });
  }

  it("names the value and the range in one sentence", () => {
    expect(refused(() => alibi({ heads: 0 })).message).toBe("alibi: heads must be an integer from 1 to 1024, got 0");
    expect(refused(() => alibi({ heads: 2.5 })).message).toBe(
      "alibi: heads must be an integer from 1 to 1024, got 2.5",
    );
    expect(refused(() => alibi({ heads: "8" as never })).message).toBe(
      'alibi: heads must be an integer from 1 to 1024, got "8"',
    );
    expect(refused(() => alibi({} as never)).message).toBe(
      "alibi: heads is missing, it must be an integer from 1 to 1024",
    );
    expect(refused(() => alibi({ heads: 8, symetric: true } as never)).message).toBe(
      "alibi: there is no option symetric, did you mean symmetric?",
    );
    expect(refused(() => rope({ dim: 8, scaling: { type: "linear", faktor: 2 } } as never)).message).toContain(
      "did you mean scaling.factor?",
    );
    expect(refused(() => rope({ dim: 8, scaling: { type: "linear", factor: 2, betaFast: 32 } } as never)).message).toBe(
      'rope: scaling.betaFast must be left out: it belongs to scaling.type "yarn", got scaling.type "linear"',
    );
    expect(refused(() => posenc.queryScale({ law: "logn", trainLength: 8, floorScale: 2 } as never)).message).toBe(
      'queryScale: floorScale must be left out: it belongs to law "llama4", got law "logn"',
    );
    // A name is guessed among those of its slot.
    expect(refused(() => posenc.fromJSON({ slot: "embed", name: "ropes" })).message).not.toContain("rope?");
    const part = { text: 1, image: [1, 1, 1] };
    expect(refused(() => posenc.multimodalPositions([part as never])).message).toMatch(
      /^multimodalPositions: parts\[0\] must be \{text: n\}/,
    );
  });
});

describe("huge sizes are refused before anything is allocated", () => {
  const one = tensor(new Float32Array(1e5), [1e5, 1]);
  it.each([
    ["encode", () => posenc.encode(sinusoidal({ dim: 65536 }), 1e5)],
    ["encode in float64", () => posenc.encode(sinusoidal({ dim: 4096 }), 1e5, { dtype: "float64" })],
    ["bias of 1e5 x 1e5", () => posenc.bias(alibi({ heads: 1 }), { queries: 1e5, keys: 1e5 })],
    ["bias past 2^53", () => posenc.bias(alibi({ heads: 1024 }), { queries: 2 ** 22, keys: 2 ** 22 })],
    ["relativeIndex", () => posenc.relativeIndex(shaw({ dim: 1, clip: 1 }), { queries: 1e5, keys: 1e5 })],
    ["weights of 1e5 x 1e5", () => posenc.attention(one, one, one, { weights: true })],
    ["a trace of 1e5 x 1e5", () => posenc.attention(one, one, one, { trace: true })],
    ["randomNormal", () => randomNormal([1e5, 1e5])],
    ["grid", () => posenc.grid(1e5, 1e5)],
    ["grid past 2^53", () => posenc.grid(2 ** 31, 2 ** 31)],
    ["arange", () => posenc.arange(0, 1e15, 1)],
    [
      "embed",
      () =>
        posenc.embed({ data: new Float32Array(8e4), shape: [2e4, 4] }, sinusoidal({ dim: 65536 }), { mode: "concat" }),
    ],
  ])("%s", (_, call) => {
    const error = refused(call);
    expectRefusal(error, "too-large");
    expect(error.given).toMatch(/\d/);
    expect(error.allowed).toMatch(/at most \d+ (elements|bytes)/);
    expect(posenc.encode(sinusoidal({ dim: 2 }), [0]).tolist()).toEqual([[0, 1]]);
  });
});

describe("tensor()", () => {
  it.each([
    ...kNoArray.filter(([what]) => !/NaN|Infinity|number|fraction|true/.test(what)),
    ...kBroken,
    ["a BigInt64Array", () => BigInt64Array.of(1n), "not-a-number"] as Bad,
  ])("refuses %s", (_, value, codes) => {
    expectRefusal(
      refused(() => tensor(value() as never)),
      codes,
    );
  });
  it.each([
    ["that does not fit", [3]],
    ["of fractions", [0.5, 8]],
    ["negative", [-4]],
    ["that is no list", "4"],
    ["huge", [2 ** 40, 2 ** 40]],
  ])("refuses a shape %s", (_, shape) => {
    expectRefusal(
      refused(() => tensor([1, 2, 3, 4], shape as never)),
      "shape-mismatch",
    );
  });
  it("refuses what a type cannot hold", () => {
    expectRefusal(
      refused(() => tensor([1.5], undefined, "int32")),
      "not-integer",
    );
    expectRefusal(
      refused(() => tensor([2 ** 31], undefined, "int32")),
      "out-of-range",
    );
    expectRefusal(
      refused(() => tensor([1], undefined, "float16" as never)),
      "unknown-choice",
    );
  });
  it.each([
    ["at", (t: posenc.Tensor) => t.at(2, 0), "out-of-range"],
    ["at", (t: posenc.Tensor) => t.at(0), "shape-mismatch"],
    ["at", (t: posenc.Tensor) => t.at(0.5, 0), "not-integer"],
    ["row", (t: posenc.Tensor) => t.row(2), "out-of-range"],
    ["row", (t: posenc.Tensor) => t.row(), "shape-mismatch"],
    ["slice", (t: posenc.Tensor) => t.slice(0.5), "not-integer"],
    ["at", (t: posenc.Tensor) => t.at(-3, 0), "out-of-range"],
  ])("%s refuses what it has not", (_, call, code) => {
    expectRefusal(
      refused(() =>
        call(
          tensor([
            [1, 2],
            [3, 4],
          ]),
        ),
      ),
      code,
    );
  });
});
