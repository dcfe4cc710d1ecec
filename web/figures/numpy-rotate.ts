// The programs in NumPy of <posenc-rotate>.
import type { Values } from "./figure.js";
import { anglesNumpy, listNumpy, numpyProgram, ropeNumpy } from "./numpy.js";
import type { Model } from "./rotate.js";

// Queries and keys in NumPy, and their scores; of vectors that can be read.
export function rotateNumpy(values: Values, model: Model, view: string, half: boolean): string | undefined {
  const { chosen, q, k, pairs, dim, positions, mixUp } = model;
  const scheme = ropeNumpy(chosen.scheme, positions);
  if (!scheme || dim > 64) return undefined;
  const mix = view === "layouts" && mixUp ? String(values.mix) : "";
  const laid = anglesNumpy(!half, pairs.length, dim, positions);
  const wrong = `table[:${2 * pairs.length}] = np.${half ? "repeat" : "tile"}(omega, 2)  # laid out for other pairs`;
  return numpyProgram(
    `q = np.array(${listNumpy(q)})`,
    `k = np.array(${listNumpy(k)})`,
    scheme,
    mix === "table" ? ["# Mixed up: the table.", wrong, laid.at(-1) as string] : [],
    mix === "both" ? ["# Mixed up: both sides.", ...laid] : [],
    "queries = turned(q)",
    mix === "sides" ? ["", "# Mixed up: the keys.", ...laid] : [],
    "keys = turned(k)",
    view === "pairs" ? [] : [`scores = queries @ keys.T / np.sqrt(${dim})`],
  );
}
