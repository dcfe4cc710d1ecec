// How far a model reaches, as its config.json says it.
import type { ModelPositions } from "../src/config.js";

export interface NamedLength {
  tokens: number;
  name: string;
}

const reaching = ["max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length"];

/** Lengths that the config or a rule of it names, the trained one first. */
export function lengthsOf(raw: object, read: ModelPositions): readonly NamedLength[] {
  const part = raw as Readonly<Record<string, unknown>>;
  const isNumber = (value: unknown): value is number => typeof value === "number";
  const reached = [part, part.text_config, part.llm_config, part.language_config]
    .flatMap((keys) => reaching.map((key) => (keys as typeof part | null | undefined)?.[key]))
    .find(isNumber);
  const trained = [read, ...Object.values(read.byLayerType ?? {})]
    .flatMap(({ rotate }) => rotate)
    .map((scheme) => (scheme as { scaling?: Record<string, unknown> } | undefined)?.scaling)
    .map((scaling) => scaling?.originalMaxPositionEmbeddings ?? scaling?.maxPositionEmbeddings ?? scaling?.trainLength)
    .find(isNumber);
  return [
    ...(trained === undefined ? [] : [{ tokens: trained, name: "trained" }]),
    ...(reached === undefined || reached === trained || reached < 1
      ? []
      : [{ tokens: reached, name: trained === undefined ? "longest" : "reached" }]),
  ];
}
