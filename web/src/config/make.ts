// Schemes by name. A config names its scheme only when it is read, so the catalogue is asked then.
import { PosencError, refusal } from "../error.js";
import { outlineOf } from "../outline.js";
import { type BiasScheme, type EmbedScheme, type RelateScheme, type RotateScheme, makeScheme } from "../scheme.js";
import { kSubject } from "./keys.js";

interface BySlot {
  embed: EmbedScheme;
  rotate: RotateScheme;
  bias: BiasScheme;
  relate: RelateScheme;
}

/** Makes a scheme of the catalogue; options that are undefined count as not given. */
export function make<S extends keyof BySlot>(
  slot: S,
  name: string,
  options: Readonly<Record<string, unknown>>,
): BySlot[S] {
  const descriptor = outlineOf(slot, name);
  if (descriptor === undefined) {
    throw refusal(
      {
        code: "unsupported",
        subject: kSubject,
        argument: "model_type",
        allowed: `a model without ${name}`,
        given: name,
      },
      `${kSubject}: this config needs the ${slot} scheme ${name}, which this build does not have`,
    );
  }
  try {
    return makeScheme(descriptor, options) as BySlot[S];
  } catch (error) {
    if (!(error instanceof PosencError)) throw error;
    // What the scheme found, of a number that the config gave or that follows from it.
    const { code, allowed, given } = error;
    const argument = error.argument === "" ? name : `${name}.${error.argument}`;
    throw refusal(
      { code, subject: kSubject, argument, allowed, given },
      `${kSubject}: this config's ${slot} scheme is refused: ${error.message}`,
      { cause: error },
    );
  }
}
