// posenc/worker: the API as promises, off the main thread. What costs nothing (schemes, tensors, positions) is as it is
// in posenc.
export * from "./worker.gen.js";
export {
  type ConfigureOptions,
  type Later,
  type LaterAttention,
  type LaterMultiHeadAttention,
  type Progress,
  type RunOptions,
  configure,
  terminate,
} from "./worker/later.js";
