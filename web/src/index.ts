// posenc: positional encodings of Transformers and the attention they feed. What is exported stands in parts, so that
// figures and pages that analyse nothing, or read no prose, do without.
export * from "./core.js";
export * from "./layers.js";
export * from "./analysis/index.js";
export { schemes } from "./prose.gen.js";
export { sentenceOf } from "./sentences.js";
