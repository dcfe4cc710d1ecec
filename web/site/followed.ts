// What the playground's figures take of a model's config besides its schemes, and what they leave.
import { allFields, checkValue, completeValues, type Figure } from "../figures/figure.js";
import { lengthsOf } from "../figures/lengths.js";
import type { ModelPositions } from "../src/config.js";
import type { AnyScheme } from "../src/core.js";
import type { Values } from "./questions.js";
import { listed } from "./refused.js";

const kKinds: Readonly<Record<string, string>> = { number: "range", boolean: "flag" };

/** What a config says, by the names that figures' fields have for it. */
export function followedOf(raw: object, read: ModelPositions): Values {
  const { causal = false, window } = read.attention;
  const tokens = lengthsOf(raw, read).map((length) => length.tokens);
  const [trained] = tokens;
  const context = trained === undefined ? undefined : Math.max(...tokens);
  return {
    heads: [read.heads].flat()[0],
    headWidth: read.headDim,
    // A rope part is no model, and says nothing of it.
    causal: read.model === "rope" ? undefined : causal,
    window,
    context,
    trained,
    factor: context === trained ? undefined : context! / trained!,
  };
}

/** Of what is said, that which a figure has fields for, beside `own` values; and why it cannot take others. */
export function fittingOf(
  figure: Figure,
  scheme: AnyScheme,
  own: Values,
  said: Values,
): { values: Values; refused: readonly string[] } {
  let values = own;
  const refused: string[] = [];
  for (const [name, value] of Object.entries(said)) {
    const fields = allFields(figure, completeValues(figure, (key) => values[key]));
    const field = fields.find((one) => one.name === name);
    if (value === undefined || name in own || field?.kind !== kKinds[typeof value]) continue;
    try {
      values = { ...values, [name]: checkValue(field, value) };
    } catch (error) {
      // What a scheme has itself is drawn, whatever the control can say.
      if (!((name === "headWidth" ? "dim" : name) in scheme.toJSON())) refused.push((error as Error).message);
    }
  }
  return { values, refused };
}

/** What no figure but that of the config shows. */
export function unfollowedSentence({ attention, heads, kvHeads, ...read }: ModelPositions): string {
  const left = [
    "the scale of the scores",
    ...(attention.softcap === undefined ? [] : ["their soft cap"]),
    ...(kvHeads === undefined || kvHeads === heads ? [] : ["that heads share their keys"]),
    ...(read.chunkSize === undefined ? [] : ["the chunks"]),
    ...(read.layers ? ["how layers differ"] : []),
    ...(read.parts ? ["the decoder"] : []),
  ];
  return `Only posenc-config shows ${listed(left)}; the other figures\u2019 words and vectors are their own.`;
}
