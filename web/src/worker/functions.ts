// What blocks run, for the thread that runs them.
export { gradientOf } from "../analysis/attention-gradient.js";
export { attentionOf } from "../attention.js";
export { embedTokens, joinHeads, projectTokens } from "../multi-head.js";
