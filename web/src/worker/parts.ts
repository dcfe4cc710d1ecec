// The functions of the API that run in blocks.
import { attentionParts } from "./attention-blocks.js";
import type { Parts } from "./blocks.js";
import { gradientParts } from "./gradient-blocks.js";
import { multiHeadParts } from "./multi-head-blocks.js";

/** How each is cut, by its name. */
export const parts: Readonly<Record<string, Parts>> = {
  attention: attentionParts,
  multiHeadAttention: multiHeadParts,
  attentionGradient: gradientParts,
};
