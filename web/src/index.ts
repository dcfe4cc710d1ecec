// posenc: positional encodings of Transformers and the attention they feed. This file is the catalogue of what is
// exported.
export { type Info, type InitOptions, info, init, ready } from "./module.js";
export { type ErrorCode, PosencError, type PosencErrorClass, type Refusal } from "./error.js";
export {
  type DType,
  type Element,
  type Nested,
  type NestedNumbers,
  type NumberArray,
  type Shaped,
  Tensor,
  type TensorLike,
  tensor,
} from "./tensor.js";
export {
  type MultimodalPart,
  type PaddedPositionsOptions,
  type PositionsLike,
  arange,
  fairseqPositions,
  grid,
  multimodalPositions,
  paddedPositions,
} from "./positions.js";
export type {
  AnyScheme,
  BiasScheme,
  Claim,
  Descriptor,
  EmbedScheme,
  Outline,
  Param,
  ParamKind,
  ParamOutline,
  RelateScheme,
  RotateScheme,
  Scheme,
  SchemeJSON,
  Slot,
  TableJSON,
} from "./scheme.js";
export * from "./schemes.gen.js";
export { schemes } from "./prose.gen.js";
export { fromJSON } from "./catalogue.js";
export { type EmbedOptions, type EncodeOptions, embed, encode } from "./embed.js";
export { type ConvertLayoutOptions, type RotateOptions, convertLayout, rotate } from "./rotate.js";
export { type LayoutCheck, type LayoutCheckOptions, type LayoutFinding, layoutCheck } from "./layout-check.js";
export { type BiasOptions, type RelativeIndexOptions, bias, relativeIndex } from "./bias.js";
export { type Frequencies, type FrequenciesOptions, frequencies } from "./frequencies.js";
export {
  type AttentionOptions,
  type AttentionResult,
  type AttentionTrace,
  type NestedBooleans,
  attention,
} from "./attention.js";
export { type MultiHeadAttentionOptions, multiHeadAttention } from "./multi-head.js";
export { type AttentionDistanceOptions, type EntropyOptions, attentionDistance, entropy } from "./analysis.js";
export { type RandomNormalOptions, randomNormal } from "./random.js";
export {
  type Bilinear,
  type BilinearOptions,
  type DiagonalDominance,
  type NormRatio,
  bilinear,
  diagonalDominance,
  normRatio,
} from "./analysis/bilinear.js";
export {
  type ClosestPair,
  type ClosestPairOptions,
  type Collisions,
  type CollisionsOptions,
  closestPair,
  collisions,
} from "./analysis/closest-pair.js";
export {
  type ComparedLaw,
  type ComparedScheme,
  type Cost,
  type CostOptions,
  type Costs,
  type ModelCost,
  compare,
  cost,
} from "./analysis/cost.js";
export { type Taylor, type TaylorOptions, taylor, taylorTerms } from "./analysis/expansion.js";
export {
  type ContextExtension,
  type ContextExtensionOptions,
  type Extrapolation,
  type ExtrapolationOptions,
  contextExtension,
  extrapolation,
} from "./analysis/extension.js";
export { type DecayBoundOptions, type KernelOptions, decayBound, kernel } from "./analysis/kernel.js";
export {
  type ExtendedTable,
  type FitTableOptions,
  type FittedTable,
  type ResampleTableOptions,
  extendTable,
  fitTable,
  resampleTable,
} from "./analysis/learned-table.js";
export {
  type FrequencyLaw,
  type RiemannSumOptions,
  oscillatoryIntegral,
  riemannSum,
} from "./analysis/oscillatory.js";
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
} from "./analysis/pairwise.js";
export { type PermutationGapOptions, permutationGap } from "./analysis/permutation.js";
export {
  type Arithmetic,
  type Precision,
  type PrecisionOptions,
  type PrecisionRecipe,
  precision,
} from "./analysis/precision.js";
export {
  type PcaOptions,
  type PrincipalComponents,
  type TsneMap,
  type TsneOptions,
  pca,
  tsne,
} from "./analysis/projection.js";
export {
  type ShiftOptions,
  type TranslationGap,
  type TranslationGapOptions,
  shiftError,
  shiftMatrix,
  translationGap,
} from "./analysis/shift.js";
export { type SimilarityOptions, similarity } from "./analysis/similarity.js";
export {
  type Radix,
  type RadixOptions,
  type Spectrum,
  type SpectrumOptions,
  radix,
  spectrum,
} from "./analysis/spectrum.js";
export type { TurningScheme } from "./analysis/turned-pairs.js";
