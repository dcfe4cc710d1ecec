// What TypeScript knows of the elements: document.createElement("posenc-embed") and querySelector("posenc-embed") give
// a figure with its properties. tests/web/figures/documents.test.ts holds the names to the definitions.
import type { FigureElement } from "./element.js";
import type { Value } from "./figure.js";

/** A figure with a property for each of its attributes, in camel case. */
export type ElementOf<Names extends string> = FigureElement & { [Name in Names]: Value | undefined };

/** The elements by their tag names. */
export interface PosencElements {
  "posenc-embed": ElementOf<
    | "scheme"
    | "positions"
    | "start"
    | "dim"
    | "base"
    | "layout"
    | "cells"
    | "view"
    | "waves"
    | "position"
    | "dimension"
  >;
  "posenc-rotate": ElementOf<
    "scheme" | "positions" | "m" | "n" | "dim" | "base" | "layout" | "mix" | "q" | "k" | "tokenSeed" | "view"
  >;
  "posenc-bias": ElementOf<
    | "scheme"
    | "positions"
    | "head"
    | "heads"
    | "seed"
    | "causal"
    | "common"
    | "cells"
    | "view"
    | "query"
    | "key"
    | "offset"
  >;
  "posenc-relate": ElementOf<"scheme" | "tokens" | "clip" | "dim" | "causal" | "tokenSeed" | "view" | "query" | "key">;
  "posenc-addition": ElementOf<
    "sentence" | "scheme" | "dim" | "scale" | "alpha" | "deviation" | "seed" | "fixed" | "position" | "dimension"
  >;
  "posenc-spectrum": ElementOf<
    "scheme" | "dim" | "base" | "context" | "view" | "pair" | "position" | "place"
  >;
  "posenc-shift": ElementOf<
    "scheme" | "dim" | "base" | "offset" | "positions" | "view" | "position" | "pair" | "row" | "column"
  >;
  "posenc-decay": ElementOf<"law" | "base" | "alpha" | "dim" | "near" | "far" | "log" | "view" | "offset">;
  "posenc-expansion": ElementOf<
    "h" | "seed" | "spread" | "off" | "dim" | "base" | "positions" | "view" | "m" | "n" | "step"
  >;
  "posenc-attention": ElementOf<
    "sentence" | "context" | "scheme" | "compare" | "head" | "heads" | "headWidth" | "causal" | "window" | "padding"
    | "seed" | "fixed" | "query" | "key"
  >;
  "posenc-permutation": ElementOf<
    | "sentence"
    | "order"
    | "scheme"
    | "causal"
    | "sum"
    | "head"
    | "heads"
    | "headWidth"
    | "seed"
    | "fixed"
    | "token"
    | "channel"
  >;
  "posenc-similarity": ElementOf<"scheme" | "positions" | "dim" | "base" | "compare" | "metric" | "m" | "n">;
  "posenc-projection": ElementOf<
    | "scheme"
    | "positions"
    | "dim"
    | "base"
    | "compare"
    | "view"
    | "horizontal"
    | "vertical"
    | "perplexity"
    | "iterations"
    | "mapSeed"
    | "position"
  >;
  "posenc-config": ElementOf<"config" | "length" | "view" | "kind" | "pair" | "layer" | "offset">;
  "posenc-precision": ElementOf<
    | "scheme" | "dim" | "base" | "recipe" | "decades" | "tolerance" | "view" | "start" | "pair" | "format" | "place"
    | "offset"
  >;
  "posenc-compare": ElementOf<"schemes" | "view" | "heads" | "headWidth" | "length" | "row" | "law">;
  "posenc-extrapolation": ElementOf<
    | "trained"
    | "factor"
    | "dim"
    | "base"
    | "scaling"
    | "past"
    | "head"
    | "view"
    | "position"
    | "rule"
    | "pair"
  >;
  "posenc-grid": ElementOf<
    | "scheme" | "rows" | "columns" | "dim" | "base" | "metric" | "text" | "dimension" | "view" | "row" | "column"
    | "token"
  >;
}

/** What `posenc-error` says: why a figure cannot be drawn. */
export interface FigureFault {
  readonly error: unknown;
}

/** The events of a figure that HTML does not know; `input` and `change` are HTML's. All bubble, out of shadow trees. */
export interface FigureEvents {
  /** The figure has been drawn for the first time. */
  "posenc-ready": Event;
  /** It cannot be drawn. */
  "posenc-error": CustomEvent<FigureFault>;
}

declare global {
  // Heard on a figure, and on whatever holds it: elements, the document, the window.
  interface GlobalEventHandlersEventMap extends FigureEvents {}
  // Merged into the DOM's own, which is what makes its functions know the elements.
  interface HTMLElementTagNameMap extends PosencElements {}
}
