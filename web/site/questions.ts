// The chapter's questions. Each is answered with a figure: the reader sets it, and the core's numbers say whether it
// fits. A verdict is a sentence that also says what is missing.
import type { Api } from "./live.js";
import type { Numbers } from "./numbers.js";

/** The values of a figure, as its element gives them. */
export type Values = Readonly<Record<string, number | string | boolean | undefined>>;

export interface Verdict {
  right: boolean;
  words: string;
}

export interface Question {
  name: string;
  /** The id of the figure in the page. */
  figure: string;
  text: string;
  /** Whether the figure's values answer it. */
  holds: (value: Values, numbers: Api, write: Numbers) => Verdict;
}

const right = (words: string): Verdict => ({ right: true, words });
const missing = (words: string): Verdict => ({ right: false, words });

/** RoPE's scaling of a type with the numbers that it needs: lengths are those trained. */
function scaled(type: string, trained: number, factor: number, api: Api): object {
  if (type === "none") return {};
  const params = api.schemes.find(({ name }) => name === "rope")?.params ?? [];
  const needed = params.filter(({ where, neededBy }) => where === "scaling.type" && neededBy?.includes(type));
  const given = needed.map(({ name, kind, shown }): [string, unknown] => {
    const own = name.replace("scaling.", "");
    return [own, own === "factor" ? factor : kind === "integer" ? trained : shown?.value];
  });
  return { scaling: { type, ...Object.fromEntries(given) } };
}

export const questions: readonly Question[] = [
  {
    name: "order",
    figure: "fig-permutation",
    text: "Give no word a position, and yet let attention tell the two orders apart.",
    holds: ({ scheme, causal }, api, write) => {
      if (scheme !== "none") return missing("A scheme gives the words positions; it should be none.");
      const words = api.randomNormal([3, 8], { seed: 0 });
      const gap = api.permutationGap(words, [2, 1, 0], { causal: causal === true, sum: "sorted" });
      if (gap === 0) return missing("Reversed words give reversed outputs, with no difference at all. Who sees whom?");
      return right(
        `With the mask alone, three random words differ by ${write.fixed(gap, 3)} from themselves reversed: each word ` +
          "sees how many came before it.",
      );
    },
  },
  {
    name: "stripes",
    figure: "fig-embed",
    text: "In the heat map, put the cursor on a cosine that takes between 100 and 200 positions for one turn.",
    holds: (value, api, write) => {
      const dim = Number(value.dim);
      if (value.scheme !== "sinusoidal" || dim % 2 !== 0)
        return missing("This asks for the sinusoidal scheme, with an even number of dimensions.");
      const layout = value.layout === "half" ? "half" : "interleaved";
      const order = value.order === "cos-sin" ? "cos-sin" : "sin-cos";
      const scheme = api.sinusoidal({ dim, base: Number(value.base), layout, order });
      const column = Number(value.dimension);
      // At position 0 every sine is 0 and every cosine 1.
      const cosine = api.encode(scheme, [0]).at(0, column) === 1;
      const pair = layout === "half" ? column % (dim / 2) : Math.floor(column / 2);
      const turn = api.frequencies(scheme).wavelength[pair]!;
      const part = cosine ? "cosine" : "sine";
      const told = `Dimension ${write.whole(column)} is a ${part} of ${write.tokens(turn)} positions a turn`;
      if (turn < 100) return missing(`${told}: too fast. Slower pairs stand further right.`);
      if (turn > 200) return missing(`${told}: too slow. Faster pairs stand further left.`);
      if (!cosine) return missing(`${told}: the speed fits, but the cosine is its neighbour.`);
      return right(`${told}. That is it.`);
    },
  },
  {
    name: "clocks",
    figure: "fig-spectrum",
    text:
      "Half of these clocks never complete a turn in 512 tokens. Set the context, or the base, so that exactly a " +
      "quarter of them never do.",
    holds: (value, api, write) => {
      const { scheme, dim, base, context } = value;
      if (scheme !== "sinusoidal" || Number(dim) % 8 !== 0)
        return missing("This asks for the sinusoidal scheme, with a number of dimensions that is divisible by 8.");
      const clocks = api.sinusoidal({ dim: Number(dim), base: Number(base) });
      const { neverTurn, turns } = api.spectrum(clocks, { context: Number(context) });
      const [still, all] = [neverTurn.length, turns.length];
      const told = `${write.whole(still)} of ${write.whole(all)} never turn in ${write.whole(Number(context))} tokens`;
      if (still * 4 > all) return missing(`${told}: too many. A longer text or a smaller base lets more of them turn.`);
      if (still * 4 < all) return missing(`${told}: too few. A shorter text or a larger base holds more of them back.`);
      return right(`${told}.`);
    },
  },
  {
    name: "shift",
    figure: "fig-shift",
    text:
      "Find a shift by one position or more after which the fastest pair, pair\u00a00, is nearly back where it was: the " +
      "cosine of its turn is to be at least 0.999.",
    holds: ({ scheme, dim, base, offset }, api, write) => {
      if (scheme !== "sinusoidal") return missing("This asks for the sinusoidal scheme.");
      const k = Number(offset);
      const cosine = api.shiftMatrix(api.sinusoidal({ dim: Number(dim), base: Number(base) }), k).at(0, 0);
      const told = `After ${write.short(k, 2)} positions the cosine of its turn is ${write.fixed(cosine, 4)}`;
      if (k > -1 && k < 1) return missing("A shift by less than one position is hardly a shift.");
      if (cosine >= 0.999) return right(`${told}.`);
      return missing(`${told}. One turn takes about 6.28 positions: which multiple of it is nearly whole?`);
    },
  },
  {
    name: "origin",
    figure: "fig-decay",
    text:
      "In the short range, with frequencies 10\u202f000 to the power −t, raise the number of dimensions until the sum " +
      "stays within 0.05 of the integral at every distance up to 128.",
    holds: ({ law, dim }, api, write) => {
      if (law !== "10000^-t") return missing("This asks for the first law of the list.");
      const powers = { law: "exponential", base: 10000 } as const;
      const offsets = api.arange(0, 129);
      const integral = api.oscillatoryIntegral(powers, offsets).data;
      const sum = api.riemannSum(powers, offsets, { dim: Number(dim) }).data;
      const gap = sum.reduce((most, value, i) => {
        const apart = value - integral[i]!;
        return Math.max(most, apart, -apart);
      }, 0);
      const told = `With ${write.whole(Number(dim))} dimensions they are at most ${write.fixed(gap, 3)} apart`;
      return gap <= 0.05 ? right(`${told}.`) : missing(`${told}: more terms are needed.`);
    },
  },
  {
    name: "tables",
    figure: "fig-projection",
    text:
      "The two components that are drawn hold three tenths of the variance of the sinusoidal table. Keep its 64 " +
      "dimensions, and let the two hold more than six tenths.",
    holds: ({ scheme, dim, base, positions, horizontal, vertical }, api, write) => {
      if (scheme !== "sinusoidal" || dim !== 64) return missing("This asks for the sinusoidal scheme with 64 dimensions.");
      const [across, up] = [Number(horizontal), Number(vertical)];
      const table = api.encode(api.sinusoidal({ dim, base: Number(base) }), Number(positions));
      const { explained, total } = api.pca(table, { components: Math.min(dim, Math.max(across, up)) });
      const both = across === up ? explained.at(across - 1) : explained.at(across - 1) + explained.at(up - 1);
      const told = `Components ${write.whole(across)} and ${write.whole(up)} hold ${write.fixed(both / total, 2)}`;
      if (both / total > 0.6) return right(`${told}: so short a stretch of the curve is nearly flat.`);
      return missing(`${told} of the variance. Every turn that a pair completes asks for two directions of its own.`);
    },
  },
  {
    name: "turning",
    figure: "fig-rotate",
    text:
      "A query at position\u00a07 and a key at position\u00a03 have a certain score. Find the same score farther on: move the " +
      "query to 20 or later, and the key to where it belongs.",
    holds: (value, api, write) => {
      const [m, n] = [Number(value.m), Number(value.n)];
      if (value.scheme !== "rope") return missing("This asks for RoPE.");
      if (m < 20) return missing(`The query stands at ${write.whole(m)}; it should be at 20 or later.`);
      const scheme = api.rope({ dim: Number(value.dim), base: Number(value.base) });
      // All that a score sees of two positions is the turn from one to the other.
      const turn = (offset: number): string => api.shiftMatrix(scheme, offset).data.join();
      if (turn(n - m) === turn(3 - 7))
        return right(`From ${write.whole(m)} to ${write.whole(n)} every pair turns as from 7 to 3: the same score.`);
      const far = write.whole(Math.abs(n - m));
      const where = n === m ? "at the query itself" : `${far} ${n < m ? "behind" : "ahead of"} it`;
      return missing(`The key stands ${where}, which is another turn of the pairs. How far is 3 from 7?`);
    },
  },
  {
    name: "pairs",
    figure: "fig-bias",
    text: "With eight heads of ALiBi, choose the head in which a key eight tokens back costs exactly 1.",
    holds: (value, api, write) => {
      if (value.scheme !== "alibi") return missing("This asks for ALiBi.");
      if (value.heads !== 8) return missing(`There are ${write.whole(Number(value.heads))} heads now; it takes 8.`);
      const head = Number(value.head);
      const cost = -api.bias(api.alibi({ heads: 8 }), { queries: [8], keys: [0], heads: [head - 1] }).at(0, 0, 0);
      const told = `In head ${write.whole(head)} it costs ${write.short(cost, 5)}`;
      if (cost > 1) return missing(`${told}: too much. Later heads are milder.`);
      if (cost < 1) return missing(`${told}: too little. Earlier heads are steeper.`);
      return right(`${told}: its slope is 1/8.`);
    },
  },
  {
    name: "longer",
    figure: "fig-extrapolation",
    text:
      "Keep 512 trained positions and four times as many in use. Choose a rule for RoPE with which no pair meets more " +
      "than a hundredth of a turn that it never saw in training.",
    holds: ({ trained, factor, dim, base, scaling }, api, write) => {
      if (trained !== 512 || factor !== 4) return missing("This asks for 512 trained positions, and four times as many.");
      const plain = { dim: Number(dim), base: Number(base) };
      const { unseen } = api.extrapolation(api.rope({ ...plain, ...scaled(String(scaling), trained, factor, api) }), {
        trained,
        length: trained * factor,
        trainedWith: api.rope(plain),
      });
      const far = Array.from(unseen.data).filter((share) => share > 0.01);
      const told = `${write.whole(far.length)} of ${write.whole(unseen.size)} pairs go where they have never been`;
      if (far.length === 0) return right("No pair goes where it has not been, but for less than a hundredth of a turn.");
      const most = far.reduce((worst, share) => (share > worst ? share : worst), 0);
      return missing(`${told}, one of them over ${write.fixed(most, 2)} of its circle.`);
    },
  },
  {
    name: "further",
    figure: "fig-precision",
    text:
      "Made the usual way in float32, RoPE’s table is off by more than a hundredth at position one million. Choose what " +
      "is rounded so that it is right there to six digits, still in float32.",
    holds: ({ scheme, dim, base, recipe }, api, write) => {
      if (scheme !== "rope") return missing("This asks for RoPE.");
      const options = { arithmetic: "float32", recipe: recipe as "power" } as const;
      const made = api.precision(api.rope({ dim: Number(dim), base: Number(base) }), [1e6], options);
      const error = made.worst.at(0);
      const told = `So made, the table is off by ${write.significant(error, 1)} there`;
      return error < 5e-7 ? right(`${told}.`) : missing(`${told}. Which numbers are large, and which are not?`);
    },
  },
];
