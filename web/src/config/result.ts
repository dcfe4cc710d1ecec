// What fromConfig gives.
import type { BiasScheme, EmbedScheme, RelateScheme, RotateScheme } from "../scheme.js";

/** Options of `attention()` that a config decides, to be spread into it. */
export interface ConfigAttention {
  /** What q . k is multiplied by, with every factor that the model folds into it. */
  readonly scale: number;
  /** True for decoders. */
  readonly causal?: boolean;
  /** Cap of the scores: softcap * tanh(score / softcap). */
  readonly softcap?: number;
  /** Keys a query sees, itself included; as many on either side where attention is not causal. */
  readonly window?: number;
}

/** What one layer hands to `attention()`: spread it after the model's `attention`. */
export interface LayerPositions {
  readonly rotate?: RotateScheme | readonly RotateScheme[];
  readonly bias?: BiasScheme;
  readonly relate?: RelateScheme;
  readonly window?: number;
  readonly scale?: number;
}

/** The positions of a stack of layers. */
export interface PartPositions {
  /** Added to the tokens before the first layer. */
  readonly embed?: EmbedScheme;
  readonly rotate?: RotateScheme | readonly RotateScheme[];
  readonly bias?: BiasScheme;
  readonly relate?: RelateScheme;
  readonly attention: ConfigAttention;
  /** One a layer, where layers differ; then the fields above are those of a layer that sees everything. */
  readonly layers?: readonly LayerPositions[];
}

/** What a config says of positions and attention, as schemes and options. */
export interface ModelPositions extends PartPositions {
  /** The family that read it, as `model_type` writes it; `"rope"` for a part that names no model. */
  readonly model: string;
  /** Heads of queries; one a stage where stages differ (Swin). */
  readonly heads?: number | readonly number[];
  /** Heads of keys and values. */
  readonly kvHeads?: number;
  /** Width of queries and keys, a head. */
  readonly headDim?: number;
  /** Width of values, a head, where it is another. */
  readonly valueDim?: number;
  /** The kind of each layer, where they differ: `"full_attention"`, `"sliding_attention"`, `"chunked_attention"` … */
  readonly layerTypes?: readonly string[];
  /** The same by kind. */
  readonly byLayerType?: Readonly<Record<string, LayerPositions>>;
  /** Tokens of a chunk, where layers of the kind `"chunked_attention"` see their own chunk only. */
  readonly chunkSize?: number;
  /** Row of `embed` for the first token, where it is not 0. */
  readonly firstPosition?: number;
  /** Row of `embed` for padding, which tokens skip when they count. */
  readonly padIndex?: number;
  /** A second table, indexed by segment. */
  readonly segments?: EmbedScheme;
  /** Rows and columns of patches, for schemes over a grid. */
  readonly grid?: readonly [height: number, width: number];
  /** Cells by which windows are shifted, one a layer. */
  readonly shifts?: readonly number[];
  /** The stacks of a model with several; the fields above are then the first one's. */
  readonly parts?: {
    readonly encoder: PartPositions;
    readonly decoder: PartPositions;
    readonly cross?: PartPositions;
  };
  /** What one should know: where frameworks disagree, and what the config leaves to the weights. */
  readonly notes: readonly string[];
}

/** A reader's work: all but the name. */
export type Reading = Omit<ModelPositions, "model" | "notes">;
