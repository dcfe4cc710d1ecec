// ALiBi as configs ask for it.
import { frequencies } from "../frequencies.js";
import type { BiasScheme } from "../scheme.js";
import type { Keys } from "./keys.js";
import { make } from "./make.js";

/**
 * ALiBi for so many heads. `steepest` is the exponent of the last slope of a power of two of heads (MPT's
 * alibi_bias_max; 8 in the paper), `times` a factor of the whole bias.
 */
export function alibi(keys: Keys, heads: number, steepest = 8, times = 1): BiasScheme {
  if (steepest === 8 && times === 1) return make("bias", "alibi", { heads });
  return make("bias", "alibi", { heads, slopes: slopes(keys, heads, steepest).map((slope) => slope * times) });
}

// 2^(-steepest (h + 1) / n): the frequencies of a rotation of base 2^steepest, which the core knows exactly. Where n is
// no power of two, the next power's odd entries and then its even ones, as Press's, BLOOM's and MPT's code have it.
function slopes(keys: Keys, heads: number, steepest: number): number[] {
  if (!Number.isInteger(steepest) || steepest > 32) {
    keys.unsupported("attn_config.alibi_bias_max", "other than a whole number up to 32 is not read");
  }
  let count = 1;
  while (count < heads) count *= 2;
  let base = 1;
  for (let power = 0; power < steepest; power++) base *= 2;
  const rope = make("rotate", "rope", { dim: 2 * count, base });
  const all = [...frequencies(rope).inverse.slice(1), 1 / base];
  if (count === heads) return all;
  return [...all.filter((_, h) => h % 2 === 1), ...all.filter((_, h) => h % 2 === 0)].slice(0, heads);
}
