// The catalogue of what analyses, whose module is downloaded with the first of these functions that a page imports.
export {
  type Bilinear,
  type BilinearOptions,
  type DiagonalDominance,
  type NormRatio,
  bilinear,
  diagonalDominance,
  normRatio,
} from "./bilinear.js";
export {
  type ClosestPair,
  type ClosestPairOptions,
  type Collisions,
  type CollisionsOptions,
  closestPair,
  collisions,
} from "./closest-pair.js";
export {
  type ComparedLaw,
  type ComparedScheme,
  type Cost,
  type CostOptions,
  type Costs,
  type ModelCost,
  compare,
  cost,
} from "./cost.js";
export { type Taylor, type TaylorOptions, taylor, taylorTerms } from "./expansion.js";
export {
  type ContextExtension,
  type ContextExtensionOptions,
  type Extrapolation,
  type ExtrapolationOptions,
  contextExtension,
  extrapolation,
} from "./extension.js";
export { type DecayBoundOptions, type KernelOptions, decayBound, kernel } from "./kernel.js";
export {
  type ExtendedTable,
  type FitTableOptions,
  type FittedTable,
  type ResampleTableOptions,
  extendTable,
  fitTable,
  resampleTable,
} from "./learned-table.js";
export {
  type FrequencyLaw,
  type RiemannSumOptions,
  oscillatoryIntegral,
  riemannSum,
} from "./oscillatory.js";
export {
  type LocalityOptions,
  type Monotonicity,
  type OffsetProfile,
  type StartOptions,
  type Symmetry,
  locality,
  monotonicity,
  offsetProfile,
  symmetry,
  toeplitzGap,
} from "./pairwise.js";
export {
  type PermutationGapOptions,
  type SortedAttentionOptions,
  permutationGap,
  sortedAttention,
} from "./permutation.js";
export {
  type Arithmetic,
  type Precision,
  type PrecisionOptions,
  type PrecisionRecipe,
  precision,
} from "./precision.js";
export {
  type PcaOptions,
  type PrincipalComponents,
  type TsneMap,
  type TsneOptions,
  pca,
  tsne,
} from "./projection.js";
export {
  type ShiftOptions,
  type TranslationGap,
  type TranslationGapOptions,
  shiftError,
  shiftMatrix,
  translationGap,
} from "./shift.js";
export { type SimilarityOptions, similarity } from "./similarity.js";
export {
  type Radix,
  type RadixOptions,
  type Spectrum,
  type SpectrumOptions,
  radix,
  spectrum,
} from "./spectrum.js";
export type { TurningScheme } from "./turned-pairs.js";
