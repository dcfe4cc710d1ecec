// The numbers in the text, each computed by the core: once when the page is built, so that it reads without scripts,
// and again in the reader's own browser. <output data-live="name argument …"> holds one, <tbody data-rows="name …">
// a table's rows, of which the first cell is the heading.
import { lawWords, typeset } from "../figures/typeset.js";
import type * as Posenc from "../src/index.js";
import type { Numbers } from "./numbers.js";

export { lawWords } from "../figures/typeset.js";

export type Api = typeof Posenc;

type Live = (api: Api, write: Numbers, ...given: number[]) => string;
type Row = readonly string[];
/** Rows that take long are made one by one, so that who reads them can pause between two. */
type Rows = (api: Api, write: Numbers, ...given: number[]) => Iterable<Row>;

/** Sentences of so many words, which are bags of them; read backwards, another order of the same. */
const kBags: Readonly<Record<number, readonly string[]>> = {
  3: ["dog", "bites", "man"],
  6: ["the", "cat", "sat", "on", "the", "mat"],
};

// The embeddings of the worked example "The cat sat".
const kWords = ["The", "cat", "sat"];
const kEmbeddings = [
  [0.2, -0.5, 0.8, 0.1],
  [-0.3, 0.4, 0.2, -0.6],
  [0.7, 0.1, -0.4, 0.3],
];

const wavelength = (api: Api, dim: number, pair: number, base = 10000): number =>
  api.frequencies(api.sinusoidal({ dim, base })).wavelength[pair]!;

const list = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;

/** A bag's words as vectors, turned round: how far attention's outputs are from the same outputs turned round. */
function gap(api: Api, count: number, options: Parameters<Api["permutationGap"]>[2]): number {
  const bag = kBags[count] ?? [];
  const vectors = api.randomNormal([bag.length, 8], { seed: 7 });
  // The same word has the same vector.
  const tokens = bag.map((word) => [...vectors.row(bag.indexOf(word))]);
  const backwards = bag.map((_, t) => bag.length - 1 - t);
  return api.permutationGap(tokens, backwards, { sum: "sorted", ...options });
}

/** "0.9 · 0.5 − 0.4 · 0.8 = 0.1": entries times their weights, where these count, and what the core makes of them. */
function mixture(write: Numbers, weights: readonly number[], entries: readonly number[], result: number): string {
  const size = (value: number): string => write.short(value < 0 ? -value : value, 4);
  const terms = entries.flatMap((entry, c) => {
    const weight = weights[c]!;
    if (weight === 0) return [];
    const sign = weight < 0 === entry < 0 ? " + " : " \u2212 ";
    // A product stays on its line.
    return [`${sign}${size(entry)}\u00a0·\u00a0${size(weight)}`];
  });
  const sum = terms.join("").replace(/^ \+ /, "").replace(/^ (\u2212) /, "$1");
  return `${sum} =\u00a0${write.fixed(result, 4)}`;
}

// With an asterisk where the scheme claims the law on a condition.
function starred(words: string, { laws }: Api["schemes"][number], law: string): string {
  return laws.some((claim) => claim.law === law && claim.when) ? `${words}*` : words;
}

/** One number or list of numbers each. */
export const texts: Readonly<Record<string, Live>> = {
  wavelength: (api, write, dim, pair, base) => write.tokens(wavelength(api, dim!, pair!, base)),
  "wavelength-timing": (api, write, dim) => {
    const { wavelength: turns } = api.frequencies(api.sinusoidal({ dim: dim!, spacing: "timing" }));
    return write.tokens(turns[turns.length - 1]!);
  },
  slowness: (api, write, dim, pair) =>
    write.fixed(1 / api.frequencies(api.sinusoidal({ dim: dim! })).inverse[pair!]!, 1),
  row: (api, write, dim, position, decimals) =>
    write.vector(api.encode(api.sinusoidal({ dim: dim! }), [position!]).row(0), decimals!),
  norm: (api, write, dim) => {
    const table = api.encode(api.sinusoidal({ dim: dim! }), 64);
    return write.fixed(api.normRatio(table, table).table, 2);
  },
  "norm-words": (api, write, dim) => {
    const tokens = api.randomNormal([64, dim!], { seed: 0, std: 0.02 });
    return write.fixed(api.normRatio(tokens, tokens).embeddings, 2);
  },

  dropped: (api, write, length, dim) => {
    const tokens = api.randomNormal([length!, dim!], { seed: 0 });
    const sum = api.embed(tokens, api.sinusoidal({ dim: dim! }), { dropout: 0.1, seed: 0 });
    return `${write.whole(sum.data.filter((v) => v === 0).length)} of ${write.whole(sum.size)}`;
  },

  "gap-none": (api, write, words) => write.short(gap(api, words!, {}), 3),
  "gap-summed": (api, write, words) => write.significant(gap(api, words!, { sum: "index" }), 1),
  "gap-causal": (api, write, words) => write.fixed(gap(api, words!, { causal: true }), 3),
  "gap-sinusoidal": (api, write, words) => write.fixed(gap(api, words!, { embed: api.sinusoidal({ dim: 8 }) }), 3),

  "closest-at": (api, write, dim, length) => {
    const { i, j } = api.closestPair(api.sinusoidal({ dim: dim! }), { length: length! });
    return list([write.whole(i), write.whole(j)]);
  },
  closest: (api, write, dim, length) =>
    write.significant(api.closestPair(api.sinusoidal({ dim: dim! }), { length: length! }).distance, 2),
  between: (api, write, dim, i, j, digits) => {
    const table = api.encode(api.sinusoidal({ dim: dim! }), [i!, j!], { dtype: "float64" });
    return write.significant(api.similarity(table, { metric: "euclidean" }).at(0, 1), digits!);
  },
  turns: (api, write, dim, context) => {
    const { neverTurn, wavelength: all } = api.spectrum(api.sinusoidal({ dim: dim! }), { context: context! });
    return `${write.whole(neverTurn.length)} of ${write.whole(all.length)}`;
  },
  digits: (api, write, dim, position) =>
    list([...api.radix(api.sinusoidal({ dim: dim! }), position!).digits].reverse().map((d) => write.whole(d))),
  places: (api, write, dim) =>
    list([...api.frequencies(api.sinusoidal({ dim: dim! })).inverse].reverse().map((w) => write.whole(1 / w))),

  shift: (api, write, dim, k, position) => {
    const scheme = api.sinusoidal({ dim: dim! });
    const worst = [...api.shiftError(scheme, k!, position!).data].reduce((most, e) => (e > most ? e : most), 0);
    return write.significant(worst, 1);
  },
  step: (api, write, dim, position, column) => {
    const scheme = api.sinusoidal({ dim: dim! });
    const table = api.encode(scheme, [position!, position! + 1]);
    const weights = [...api.shiftMatrix(scheme, 1).row(column!)];
    return mixture(write, weights, [...table.row(0)], table.at(1, column!));
  },
  cosine: (api, write, dim, k) => {
    const table = api.encode(api.sinusoidal({ dim: dim! }), [0, k!], { dtype: "float64" });
    return write.fixed(api.similarity(table, { metric: "cosine" }).at(0, 1), 4);
  },
  kernel: (api, write, dim, k) => write.fixed(api.kernel(api.sinusoidal({ dim: dim! }), [k!]).at(0), 2),
  integral: (api, write, x) => write.fixed(api.oscillatoryIntegral({ law: "exponential", base: 10000 }, [x!]).at(0), 4),
  riemann: (api, write, x, dim) =>
    write.fixed(api.riemannSum({ law: "exponential", base: 10000 }, [x!], { dim: dim! }).at(0), 4),
  taylor: (api, write, scale) => {
    const { remainder } = api.taylor({ tokens: 4, dim: 8, seed: 0, scales: [scale!] });
    const size = remainder.at(0);
    return write.significant(size < 0 ? -size : size, 1);
  },
  weighted: (api, write, dim, k) => {
    const pairs = dim! / 2;
    const weights = Float64Array.from({ length: dim! }, (_, c) => 1 - (c >> 1) / pairs);
    const { relative } = api.bilinear(api.sinusoidal({ dim: dim! }), weights, { queries: [0], keys: [k!] });
    return write.fixed(relative.at(0, 0), 2);
  },
  dominance: (api, write, dim, length) => {
    const { dominantColumns } = api.diagonalDominance(api.encode(api.sinusoidal({ dim: dim! }), length!));
    return `${write.whole(dominantColumns)} of ${write.whole(dim!)}`;
  },

  parameters: (api, write, length, dim) => {
    // A row stands for all, which are alike: the core deals every number of a table before it says how many there are.
    const row = api.learned({ length: 1, dim: dim! });
    return write.whole(length! * api.cost({ scheme: row, length: 1, dim: dim! }).scheme.parameters);
  },

  wrapped: (api, write, length) => {
    const scheme = api.learned({ length: length!, dim: 8, outOfRange: "wrap" });
    const { i, j } = api.closestPair(scheme, { length: length! + 1 });
    return list([write.whole(i), write.whole(j)]);
  },

  translation: (api, write, dim) => write.significant(api.translationGap(api.rope({ dim: dim! })).gap, 1),
  "turned-by-hand": (api, write, column) => {
    const scheme = api.rope({ dim: 4 });
    const entries = [1, 2, 3, 4];
    const turned = api.rotate([entries], scheme, { positions: [1] });
    return mixture(write, [...api.shiftMatrix(scheme, 1).row(column!)], entries, turned.at(0, column!));
  },
  turned: (api, write, half) => {
    const layout = half === 1 ? "half" : "interleaved";
    return write.vector(api.rotate([[1, 2, 3, 4]], api.rope({ dim: 4, layout }), { positions: [1] }).row(0), 4);
  },
  slopes: (api, write, heads) => {
    // The slope of a head is what one step of distance costs.
    const step = api.bias(api.alibi({ heads: heads! }), { queries: [1], keys: [0] });
    return list(Array.from(step.data, (b) => (-1 / b === Math.round(-1 / b) ? `1/${-1 / b}` : write.fixed(-b, 4))));
  },
  bucket: (api, write, offset) => {
    const scheme = api.t5({ heads: 1 });
    return write.whole(api.relativeIndex(scheme, { queries: [0], keys: [offset!] }).at(0, 0));
  },

  "ntk-base": (api, write, factor, dim) =>
    write.whole(api.frequencies(api.rope({ dim: dim!, scaling: { type: "ntk", factor: factor! } })).base ?? 0),
  unseen: (api, write, dim, trained, length) => {
    const { unseen } = api.extrapolation(api.rope({ dim: dim! }), { trained: trained!, length: length! });
    return `${write.whole(Array.from(unseen.data).filter((share) => share > 0).length)} of ${write.whole(unseen.size)}`;
  },
  mirrored: (api, write, dim, add) => {
    const scheme = api.sinusoidal2d({ dim: dim!, combine: add === 1 ? "add" : "concat" });
    const table = api.encode(scheme, [
      [2, 5],
      [5, 2],
    ]);
    return write.short(api.similarity(table, { metric: "euclidean" }).at(0, 1), 2);
  },
  worst32: (api, write, position, exponential) => {
    const recipe = exponential === 1 ? "exponential" : "power";
    const { worst } = api.precision(api.rope({ dim: 64 }), [position!], { arithmetic: "float32", recipe });
    return write.significant(worst.at(0), 1);
  },
  worst16: (api, write, position) =>
    write.significant(api.precision(api.rope({ dim: 64 }), [position!], { arithmetic: "bfloat16" }).worst.at(0), 1),
};

/** The rows of a table each. */
export const tables: Readonly<Record<string, Rows>> = {
  four: (api, write) => {
    const table = api.encode(api.sinusoidal({ dim: 4 }), 4);
    return [0, 1, 2, 3].map((t) => [write.whole(t), ...Array.from(table.row(t), (v) => write.short(v, 3))]);
  },
  cat: (api, write) => {
    const scheme = api.sinusoidal({ dim: 4 });
    const encoding = api.encode(scheme, kWords.length);
    const input = api.embed(kEmbeddings, scheme);
    const decimals = [4, 4, 4, 5];
    return kWords.map((word, t) => [
      word,
      write.vector(kEmbeddings[t]!, decimals),
      write.vector(encoding.row(t), decimals),
      write.vector(input.row(t), decimals),
    ]);
  },
  layers: (api, write, length, dim) => {
    const { rnn, cnn, transformer } = api.cost({ length: length!, dim: dim!, heads: 8, layers: 1, kernelWidth: 3 });
    const row = (name: string, { multiplyAdds, sequentialSteps, pathLength, words: told }: typeof rnn): string[] => [
      name,
      write.whole(multiplyAdds / 1e6),
      // Of one layer.
      told.multiplyAdds.replace(/:.*/, "").replace(/\bL (?:\((.*)\)$)?/, "$1").replaceAll("^2", "²"),
      write.whole(sequentialSteps),
      write.whole(pathLength),
    ];
    return [
      row("recurrent", rnn),
      row("convolution of width 3", cnn),
      row("attention and its projections", transformer),
    ];
  },
  laws: (api) => {
    const laws = [...new Set(api.schemes.flatMap((scheme) => scheme.laws.map(({ law }) => law)))];
    return laws.map((law) => {
      const claims = api.schemes.filter((scheme) => scheme.laws.some((claim) => claim.law === law));
      return [lawWords(law), claims.map((scheme) => starred(scheme.title, scheme, law)).join(", ")];
    });
  },
  alibi: (api, write, heads, length) => {
    const table = api.bias(api.alibi({ heads: heads! }), { queries: length!, keys: length!, heads: [0] });
    const places = Array.from({ length: length! }, (_, t) => t);
    return places.map((i) => [write.whole(i), ...places.map((j) => write.short(table.at(0, i, j), 1))]);
  },
  *bases(api, write) {
    for (const base of [100, 1000, 10000, 500000, 1000000]) {
      const scheme = api.sinusoidal({ dim: 128, base });
      const { neverTurn } = api.spectrum(scheme, { context: 4096 });
      yield [
        write.whole(base),
        write.tokens(wavelength(api, 128, 63, base)),
        `${write.whole(neverTurn.length)} of 64`,
        write.fixed(api.closestPair(scheme, { length: 4096 }).distance, 2),
      ];
    }
  },
  *compared(api, write) {
    const asked = [
      () => api.sinusoidal({ dim: 512 }),
      () => api.learned({ length: 512, dim: 768 }),
      () => api.shaw({ dim: 64, clip: 16 }),
      () => api.t5({ heads: 12 }),
      () => api.alibi({ heads: 8 }),
      () => api.rope({ dim: 128 }),
    ];
    for (const make of asked) {
      for (const row of api.compare([make()])) {
        yield [
          row.title,
          row.where,
          row.parameters === 0 ? "none" : write.whole(row.parameters),
          row.maxLength === Infinity ? "no end" : write.whole(row.maxLength),
          row.encodes,
        ];
      }
    }
  },
  schemes: (api) =>
    api.schemes.map((scheme) => [
      scheme.title,
      scheme.slot,
      typeset(scheme.summary),
      [...new Set(scheme.laws.map(({ law }) => starred(lawWords(law), scheme, law)))].join(", "),
      // Not "section" in one line and its number in the next.
      typeset(scheme.reference).replace(/\b(section|equation|eq\.) (?=\d)/g, "$1\u00a0"),
    ]),
};

/** The text of one `data-live`. */
export function liveText(api: Api, write: Numbers, request: string): string {
  const [name = "", ...given] = request.split(" ");
  const compute = texts[name];
  if (!compute) throw new RangeError(`There is no live number “${name}”.`);
  return compute(api, write, ...given.map(Number));
}

/** The rows of one `data-rows`. */
export function liveRows(api: Api, write: Numbers, request: string): Iterable<Row> {
  const [name = "", ...given] = request.split(" ");
  const compute = tables[name];
  if (!compute) throw new RangeError(`There is no live table “${name}”.`);
  return compute(api, write, ...given.map(Number));
}
