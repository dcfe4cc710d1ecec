// Figures of schemes that turn pairs, whether they embed positions or rotate by them.
import { frequencies, fromJSON, outlines, type EmbedScheme, type RotateScheme } from "../src/core.js";
import { choice, type Field, type Values } from "./figure.js";
import { givenScheme } from "./given-data.js";
import { chosenScheme, descriptorOf, schemeFrom, type ChosenScheme } from "./scheme-fields.js";

export type Turning = EmbedScheme | RotateScheme;

type Descriptor = ReturnType<typeof descriptorOf>;

const drawn = new Map<string, readonly Descriptor[]>();

// The schemes that turn pairs, at their params' starting values; `draws` throws for those that a figure cannot draw.
function turningSchemes(kind: string, draws: (scheme: Turning) => void): readonly Descriptor[] {
  let found = drawn.get(kind);
  if (!found) {
    found = outlines.filter(({ slot, name, params }) => {
      if (slot !== "embed" && slot !== "rotate") return false;
      const required = params.filter((param) => param.required && param.shown);
      try {
        const scheme = schemeFrom(slot, name, Object.fromEntries(required.map((p) => [p.name, p.shown!.value])));
        frequencies(scheme as Turning);
        draws(scheme as Turning);
        return true;
      } catch {
        return false;
      }
    });
    drawn.set(kind, found);
  }
  return found;
}

/** A chooser of these schemes; `kind` names the figure, and `draws` throws for schemes that it cannot draw. */
export function turningChooser(kind: string, value: string, draws: (scheme: Turning) => void = () => {}): Field {
  const choices = turningSchemes(kind, draws).map(({ name, title }) => ({ value: name, label: title }));
  return choice("scheme", "scheme", value, choices);
}

/** The descriptor of a scheme of either slot; throws a sentence where there is none. */
export function turningDescriptor(name: string): Descriptor {
  const embeds = outlines.some((scheme) => scheme.slot === "embed" && scheme.name === name);
  return descriptorOf(embeds ? "embed" : "rotate", name);
}

/** The scheme of either slot that `data` is, else the one that the values say. */
export function chosenTurning(values: Values, data: unknown): ChosenScheme<Turning> {
  const given = givenScheme(data, ["embed", "rotate"]);
  const slot = given?.slot ?? turningDescriptor(String(values.scheme)).slot;
  return slot === "embed" ? chosenScheme("embed", values, given) : chosenScheme("rotate", values, given);
}

/** The scheme as it was before a rule of context extension; undefined where none has changed it. */
export function beforeScaling(scheme: Turning): Turning | undefined {
  const { scaling, ...rest } = scheme.toJSON() as ReturnType<Turning["toJSON"]> & { scaling?: { type?: string } };
  if (scaling?.type === undefined || scaling.type === "none") return undefined;
  return fromJSON(rest) as Turning;
}
