// posenc: positional encodings of Transformers and the attention they feed. What is exported stands in parts, so that
// figures and pages that analyse nothing, or read no prose, do without.
// The analysis first: so the modules' bytes stand side by side at the head of a bundle. They are long, and what gzip
// has seen before such a text it has forgotten behind it.
export * from "./analysis/index.js";
export * from "./core.js";
export * from "./layers.js";
export { schemes } from "./prose.gen.js";
export { sentenceOf } from "./sentences.js";
