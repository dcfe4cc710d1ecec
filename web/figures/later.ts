// The figures, each loaded from a file of its own when the first of its elements stands in a document: a page carries
// those that it shows. The classic script, which holds them all, has the figures themselves here (web/build.mjs).
import type { PosencElements } from "./element-types.js";
import type { Figure } from "./figure.js";

type NameOf<Tag> = Tag extends `posenc-${infer Name}` ? Name : never;

/** What follows "posenc-" in the name of an element. */
export type FigureName = NameOf<keyof PosencElements>;

export const figureFiles: { readonly [Name in FigureName]: () => Promise<Figure> } = {
  embed: async () => (await import("./embed.js")).embed,
  rotate: async () => (await import("./rotate.js")).rotate,
  bias: async () => (await import("./bias.js")).bias,
  relate: async () => (await import("./relate.js")).relate,
  addition: async () => (await import("./addition.js")).addition,
  spectrum: async () => (await import("./spectrum.js")).spectrum,
  shift: async () => (await import("./shift.js")).shift,
  decay: async () => (await import("./decay.js")).decay,
  expansion: async () => (await import("./expansion.js")).expansion,
  attention: async () => (await import("./attention.js")).attention,
  permutation: async () => (await import("./permutation.js")).permutation,
  similarity: async () => (await import("./similarity.js")).similarity,
  projection: async () => (await import("./projection.js")).projection,
  config: async () => (await import("./config.js")).config,
  precision: async () => (await import("./precision.js")).precision,
  compare: async () => (await import("./compare.js")).compare,
  extrapolation: async () => (await import("./extrapolation.js")).extrapolation,
  grid: async () => (await import("./grid.js")).grid,
};
