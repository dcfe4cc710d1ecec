// The programs in NumPy of <posenc-embed>, <posenc-similarity> and <posenc-projection>.
import type { EmbedScheme } from "../src/core.js";
import { numpyProgram, sinusoidalNumpy } from "./numpy.js";

export function tableNumpy(scheme: EmbedScheme, rows: number, start: number): string | undefined {
  const table = sinusoidalNumpy(scheme, rows, start);
  return table && numpyProgram(table);
}

/** Every row compared with every other one, and the mean over each diagonal. */
export function similarityNumpy(
  scheme: EmbedScheme,
  rows: number,
  metric: "dot" | "cosine" | "euclidean",
): string | undefined {
  const table = sinusoidalNumpy(scheme, rows);
  const compared = {
    dot: ["s = table @ table.T"],
    cosine: ["unit = table / np.linalg.norm(table, axis=1, keepdims=True)", "s = unit @ unit.T"],
    euclidean: ["s = np.linalg.norm(table[:, None] - table[None], axis=-1)"],
  }[metric];
  const profile = `profile = [np.diagonal(s, k).mean() for k in range(${1 - rows}, ${rows})]`;
  return table && numpyProgram(table, "", "table = table.astype(np.float64)", compared, profile);
}

/** Each row along two principal components. */
export function projectionNumpy(scheme: EmbedScheme, rows: number, axes: readonly number[]): string | undefined {
  const table = sinusoidalNumpy(scheme, rows);
  return (
    table &&
    numpyProgram(
      table,
      "",
      "centred = table - table.mean(axis=0, dtype=np.float64)",
      "_, _, components = np.linalg.svd(centred, full_matrices=False)",
      "largest = np.abs(components).argmax(axis=1)",
      "components *= np.sign(components[np.arange(len(components)), largest])[:, None]",
      `points = centred @ components[[${axes.join(", ")}]].T`,
    )
  );
}
