// The catalogue of what a page downloads that analyses nothing: positions, schemes, their use alone, attention.
export { type Info, type InitOptions, info, init, ready } from "./module.js";
export { type ErrorCode, PosencError, type PosencErrorClass, type Refusal } from "./error.js";
export {
  type BigInts,
  type BigIntsLike,
  type DType,
  type Element,
  type MaskLike,
  type Nested,
  type NestedBooleans,
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
  IndexedScheme,
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
export { fromJSON } from "./catalogue.js";
export { type EmbedOptions, type EncodeOptions, embed, encode } from "./embed.js";
export { type ConvertLayoutOptions, type RotateOptions, convertLayout, rotate } from "./rotate.js";
export { type LayoutCheck, type LayoutCheckOptions, type LayoutFinding, layoutCheck } from "./layout-check.js";
export { type BiasOptions, type RelativeIndexOptions, bias, relativeIndex } from "./bias.js";
export { type Frequencies, type FrequenciesOptions, frequencies } from "./frequencies.js";
export {
  type AskedOf,
  type Attended,
  type AttentionOptions,
  type AttentionResult,
  type AttentionTrace,
  type Traced,
  type Weighted,
  attention,
} from "./attention.js";
export { type AttentionDistanceOptions, type EntropyOptions, attentionDistance, entropy } from "./metrics.js";
export { type RandomNormalOptions, randomNormal } from "./random.js";
