// The catalogue of whole layers and of gradients, which no figure draws: figures that show the analysis do without the
// module of gradients.
export { type MultiHeadAttentionOptions, multiHeadAttention } from "./multi-head.js";
export {
  type AttentionGradient,
  type AttentionGradientOptions,
  attentionGradient,
} from "./analysis/attention-gradient.js";
