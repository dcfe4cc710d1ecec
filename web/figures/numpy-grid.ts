// The program in NumPy of <posenc-grid>.
import type { EmbedScheme, RotateScheme } from "../src/core.js";
import type { Model } from "./grid.js";
import { numpyProgram, pairsNumpy, ropeNumpy, sinusoidalNumpy, turnedNumpy } from "./numpy.js";

// Which rows and columns the tokens stand at, what each is encoded as, and one of them compared with all.
export function gridNumpy(model: Model, view: string, own: number, text: number): string | undefined {
  const { rows, columns, chosen, metric, tokens, first } = model;
  const table = tableNumpy(model, (chosen as NonNullable<typeof chosen>).scheme, text);
  const compared = {
    dot: ["alike = table @ table[own]"],
    cosine: ["unit = table / np.linalg.norm(table, axis=1, keepdims=True)", "alike = unit @ unit[own]"],
    euclidean: ["alike = np.linalg.norm(table - table[own], axis=1)"],
  }[metric];
  const patches = rows * columns === tokens ? "alike" : `alike[${first}:${first + rows * columns}]`;
  return (
    table &&
    numpyProgram(
      table,
      "table = table.astype(np.float32).astype(float)  # as models hold it",
      `own = ${own}`,
      compared ?? [],
      view === "similarity" ? `alike = ${patches}.reshape(${rows}, ${columns})` : [],
    )
  );
}

function tableNumpy(
  { rows, columns, tokens }: Model,
  scheme: EmbedScheme | RotateScheme,
  text: number,
): string[] | undefined {
  const line = sinusoidalNumpy(scheme, tokens);
  if (line) return line;
  const rope = ropeNumpy(scheme, tokens);
  const { dim, ...params } = scheme.toJSON() as unknown as Record<string, number>;
  const ones = `table = turned(np.ones(${dim}))`;
  if (rope) return [...rope, ones];
  const cells = `y, x = np.divmod(np.arange(${rows * columns}), ${columns})`;
  const [half, whole] = [params.layout as unknown === "half", dim! % 4 === 0];
  const turned = (pairs: string): string[] => [
    ...pairsNumpy(half, dim! / 2),
    `angle = np.zeros((${tokens}, ${dim}))`,
    `angle[:, first] = angle[:, second] = ${pairs}`,
    ...turnedNumpy,
    ones,
  ];
  const law = (width: number): string => `omega = ${params.base} ** (-np.arange(0, ${width}, 2) / ${width})`;
  // Sines and cosines of an axis, in halves or side by side.
  const coded = (omega: string, joined: string, order: string): string[] => [
    cells,
    omega,
    "",
    "def code(t):",
    "    angle = t[:, None] * omega",
    `    return ${joined}`,
    "",
    `table = np.hstack([${order}])`,
  ];
  const beside = "np.stack([np.sin(angle), np.cos(angle)], -1).reshape(len(t), -1)";
  switch (scheme.name) {
    case "sinusoidal2d": {
      const style = String(params.style);
      if (!whole || String(params.combine) !== "concat" || params.normalize) return undefined;
      const mae = "np.hstack([np.sin(angle), np.cos(angle)])";
      const order = { mae: "code(x), code(y)", detr: "code(y + 1), code(x + 1)" }[style] ?? "code(y), code(x)";
      return coded(law(dim! / 2), style === "mae" ? mae : beside, order);
    }
    case "fourier":
      if (params.levels === undefined) return undefined;
      return coded(`omega = np.pi * 2.0 ** np.arange(${params.levels})`, beside, "code(y), code(x)");
    case "axialRope":
      if (!whole) return undefined;
      return [cells, law(dim! / 2), ...turned("np.hstack([y[:, None] * omega, x[:, None] * omega])")];
    case "mrope": {
      const { rotaryDim, interleaved, sections, scaling } = params as Record<string, unknown>;
      const plain = (scaling as { type?: string } | undefined)?.type === "none";
      if (rotaryDim !== dim || interleaved || sections || !plain) return undefined;
      return [
        cells,
        `before, after = np.arange(${text}), np.arange(${text}) + ${text + Math.max(rows, columns)}`,
        `places = np.array([np.r_[before, ${text} + at, after] for at in (0 * y, y, x)])  # time, height, width`,
        `side = 3 * ${dim! / 2} // 8`,
        `axis = np.repeat([0, 1, 2], [${dim! / 2} - 2 * side, side, side])  # of each pair`,
        law(dim!),
        ...turned("places[axis].T * omega"),
      ];
    }
  }
  return undefined;
}
