// The NumPy programs beside figures make the figures' numbers, away from the settings they come with: run where there
// is NumPy, in one go.
import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { figureNamed, figureState } from "../../../web/figures/render.js";

const python = ["/usr/bin/python3", "python3"].find(
  (name) => spawnSync(name, ["-c", "import numpy"], { stdio: "ignore" }).status === 0,
);

const settings: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  projection: [{ positions: 20, dim: 8, base: 50, horizontal: 2, vertical: 3 }],
  extrapolation: [{ view: "phases", scaling: "linear", trained: 64, factor: 3, dim: 8, base: 70 }],
  precision: [
    { decades: 3, dim: 8, base: 100 },
    { view: "waves", start: 12345, pair: 2, dim: 16, scheme: "sinusoidal" },
  ],
  config: [
    { config: '{"rope_scaling": {"type": "linear", "factor": 4.0}, "head_dim": 16}' },
    { config: '{"rope_scaling": {"type": "ntk", "factor": 4.0}, "head_dim": 16, "rope_theta": 500.0}' },
  ],
};

// Prints, a line a program, the numbers of each of its variables, nested lists and arrays flattened.
const runner = `
import json, sys
import numpy as np
def numbers(value):
    try:
        flat = np.asarray(value, np.float64).ravel()
    except (TypeError, ValueError):
        return None
    return [x if np.isfinite(x) else None for x in flat.tolist()]
np.seterr(all="ignore")
for program in json.load(sys.stdin):
    names = {}
    exec(program, names)
    found = [numbers(v) for k, v in names.items() if isinstance(v, (np.ndarray, list))]
    print(json.dumps([f for f in found if f]))
`;

describe.skipIf(python === undefined)("with NumPy", () => {
  beforeAll(() => ready());

  it("the programs make the numbers of the figures' files", () => {
    const jobs = Object.entries(settings).flatMap(([figure, several]) =>
      several.map((values) => {
        const state = figureState(figure, values);
        const { code, array } = figureNamed(figure);
        return {
          name: `${figure} ${JSON.stringify(values)}`,
          numpy: code!(state).numpy as string,
          array: array!(state),
        };
      }),
    );
    expect(jobs.filter(({ numpy }) => numpy === undefined)).toEqual([]);
    const ran = spawnSync(python as string, ["-c", runner], {
      input: JSON.stringify(jobs.map(({ numpy }) => numpy)),
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    });
    expect(ran.stderr).toBe("");
    const results = ran.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as (number | null)[][]);
    const far = jobs.flatMap(({ name, array: { data, shape } }, k) => {
      // An entry is off by the rounding of the table's format, a file's largest entry taken as its unit.
      let largest = 1;
      for (const value of data) if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
      const bound = (data instanceof Float32Array ? 2e-7 : 1e-12) * largest;
      const rows = shape[0] as number;
      const wide = data.length / rows;
      // Whole, or row by row.
      const pieces = results[k]!.flatMap((made) =>
        made.length % wide > 0
          ? []
          : Array.from({ length: made.length / wide }, (_, r) => made.slice(r * wide, (r + 1) * wide)),
      );
      const apart = (row: number, made: readonly (number | null)[]): number =>
        made.reduce<number>((most, value, c) => {
          const own = data[row * wide + c] as number;
          if (value !== null && Number.isFinite(own)) return Math.max(most, Math.abs(value - own));
          return value === null && !Number.isFinite(own) ? most : Infinity;
        }, 0);
      const worst = Math.max(
        ...Array.from({ length: rows }, (_, row) => Math.min(Infinity, ...pieces.map((made) => apart(row, made)))),
      );
      return worst <= bound ? [] : [`${name}: off by ${worst}`];
    });
    expect(far).toEqual([]);
  });
});
