// The catalogue of what analyses, whose module is downloaded with the first of these functions that a page imports.
export { type DecayBoundOptions, type KernelOptions, decayBound, kernel } from "./kernel.js";
export {
  type FrequencyLaw,
  type RiemannSumOptions,
  oscillatoryIntegral,
  riemannSum,
} from "./oscillatory.js";
export type { TurningScheme } from "./turned-pairs.js";
