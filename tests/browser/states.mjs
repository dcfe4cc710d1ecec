// What settings beside the tabs make of the figures: attributes by figure's name. layout.test.mjs looks at each of them
// for overlaps; the views of a figure as it comes are looked at anyway. Small ones, for there are many.
export const kStates = {
  embed: [
    { view: "waves", waves: "0 1 2 3 4 5 6 7 8 9 10 11" },
    { view: "circle", dim: 512 },
    { scheme: "sinusoidal2d", cells: "7 7" },
    { scheme: "fourier", positions: 1 },
    { positions: 600, dim: 2 },
  ],
  addition: [{ dim: 2, sentence: "Donaudampfschifffahrtsgesellschaftskapit\u00e4n \u05e9\u05dc\u05d5\u05dd \u6771\u4eac 1" }],
  spectrum: [
    { "scaling-type": "yarn", "scaling-factor": 32, context: 131072, dim: 128 },
    { "scaling-type": "llama3", "scaling-original-max-position-embeddings": 8192, base: 500000, context: 1048576 },
    { "scaling-type": "linear", dim: 2, context: 1 },
    { view: "number", dim: 256, context: 1048576 },
    { view: "number", dim: 2, base: 1000000 },
    { scheme: "mrope" },
    { scheme: "sinusoidal", spacing: "timing", view: "number" },
  ],
  shift: [
    { offset: 0 },
    { offset: -64, dim: 64, pair: 31, scheme: "rope" },
    { view: "matrix", dim: 2 },
    { view: "matrix", dim: 64, layout: "half" },
    { positions: 1, dim: 2 },
  ],
  similarity: [
    { compare: "sinusoidal", metric: "euclidean", positions: 300 },
    { scheme: "learned", metric: "dot" },
    { positions: 1 },
    { scheme: "fourier", metric: "euclidean", positions: 6 },
  ],
  decay: [
    { law: "base^-t", base: 1e-12 },
    { law: "t^alpha", alpha: 0.000123, view: "long" },
    { view: "long", log: true, law: "t^2", far: 10000000 },
    { view: "long", log: true, far: 100, dim: 2 },
    { near: 1024, dim: 1024, law: "sqrt(t)" },
  ],
  expansion: [
    { h: "identity", positions: 2 },
    { h: "general", off: 40, spread: 1000 },
    { h: "general", off: 0, spread: 0, positions: 8 },
    { view: "terms", positions: 8, dim: 64 },
    { view: "terms", scale: 0.001 },
  ],
  rotate: [
    { dim: 2 },
    { view: "scores", positions: 2 },
    { view: "scores", positions: 256, "scaling-type": "yarn" },
    { view: "layouts", mix: "sides", layout: "half" },
    { view: "layouts", mix: "both", positions: 8 },
  ],
  bias: [
    { scheme: "t5", positions: 128 },
    { scheme: "t5", view: "profiles", heads: 32 },
    { scheme: "kerple", view: "profiles", causal: true },
    { scheme: "sandwich", view: "profiles" },
    { scheme: "fire", causal: true, positions: 6 },
    { positions: 600 },
  ],
};
