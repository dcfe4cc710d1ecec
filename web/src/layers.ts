// The catalogue of whole layers, which no figure draws.
export { type MultiHeadAttentionOptions, multiHeadAttention } from "./multi-head.js";
