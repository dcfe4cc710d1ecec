// The programs in NumPy of <posenc-relate>.
import { normalNumpy, numpyProgram } from "./numpy.js";
import type { Model } from "./relate.js";

/** The row of the table that each pair falls on. */
export function rowsNumpy(model: Model): string | undefined {
  const index = indexOf(model);
  return index && numpyProgram(index);
}

/** What is added to the scores of queries of `seed` by a table of `tableSeed`. */
export function termsNumpy(model: Model, width: number, seed: number, tableSeed: number): string | undefined {
  const index = indexOf(model);
  return (
    index &&
    numpyProgram(
      normalNumpy,
      index,
      `q = normal((${model.tokens}, ${width}), seed=${seed})`,
      `table = normal((${2 * clipOf(model) + 1}, ${width}), seed=${tableSeed}, std=0.02)`,
      `terms = (q @ table.T)[i, rows] / np.sqrt(${width})`,
      model.causal ? ["terms = np.where(j <= i, terms, 0)"] : [],
    )
  );
}

// Of Shaw's table, as the figure makes it: one for all heads, of which there is one.
function indexOf(model: Model): string[] | undefined {
  const { chosen, tokens, heads } = model;
  if (chosen.name !== "shaw" || chosen.given || heads > 1) return undefined;
  const clip = clipOf(model);
  return [
    `i, j = np.arange(${tokens})[:, None], np.arange(${tokens})`,
    `rows = np.clip(j - i, -${clip}, ${clip}) + ${clip}`,
  ];
}

function clipOf({ chosen }: Model): number {
  return Number((chosen.scheme as { clip?: unknown }).clip);
}
