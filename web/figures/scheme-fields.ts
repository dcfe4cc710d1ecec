// Controls from a scheme's descriptor, and the scheme from the controls: a new scheme needs no new control.
import { fromJSON, schemes } from "../src/index.js";
import { choice, flag, range, type ChoiceField, type Field, type RangeField, type Values } from "./figure.js";
import { book } from "./format.js";

type Descriptor = (typeof schemes)[number];
type Slot = Descriptor["slot"];

/** The catalogue of one slot. */
export function schemesOf(slot: Slot): readonly Descriptor[] {
  return schemes.filter((scheme) => scheme.slot === slot);
}

export function descriptorOf(slot: Slot, name: string): Descriptor {
  const found = schemes.find((scheme) => scheme.slot === slot && scheme.name === name);
  if (found) return found;
  const names = schemesOf(slot)
    .map((scheme) => scheme.name)
    .join(", ");
  throw new RangeError(`There is no ${slot} scheme “${name}”; there are ${names}.`);
}

/** A chooser of the slot's schemes that a figure can draw, shown where there is more than one. */
export function schemeChooser(
  slot: Slot,
  value: string,
  { name = "scheme", draws = () => true }: { name?: string; draws?: (descriptor: Descriptor) => boolean } = {},
): Field {
  const choices = schemesOf(slot).filter(draws).map((scheme) => ({ value: scheme.name, label: scheme.title }));
  return choice(name, "scheme", value, choices, { place: choices.length > 1 ? "row" : "none" });
}

export interface SchemeFieldOptions {
  /** What the fields have: params of another choice (the factor of a rule that is not chosen) have no control. */
  values: Values;
  /** Params whose controls stand in the row; the rest stands behind "more". By default those that have a slider. */
  row?: readonly string[];
  /** Params that the figure sets itself. */
  without?: readonly string[];
  /** Where sliders start in this figure, by param name. */
  start?: Readonly<Record<string, number>>;
  /** Labels and the like by param name. */
  change?: Readonly<Record<string, FieldChange>>;
}

/** What a figure may say otherwise than the descriptor does. */
export type FieldChange = Partial<Omit<RangeField, "kind" | "name" | "value"> & Pick<ChoiceField, "choices">>;

/** Fields for the params of a scheme: sliders over their `shown` ranges, choices, flags; lists and tables have none. */
export function schemeFields(descriptor: Descriptor, options: SchemeFieldOptions): readonly Field[] {
  const fields: Field[] = [];
  for (const param of descriptor.params) {
    if (options.without?.includes(param.name) || !belongs(descriptor, param, options.values)) continue;
    const label = words(param.name);
    const shown = param.shown;
    const inRow = options.row ? options.row.includes(param.name) : shown !== undefined;
    const place = inRow ? "row" : shown || param.kind === "choice" || param.kind === "flag" ? "more" : "none";
    const more = { place, sentence: param.sentence, ...options.change?.[param.name] } as const;
    if (param.kind === "choice")
      fields.push(choice(param.name, label, text(param.default), choicesOf(descriptor, param), more));
    else if (param.kind === "flag") fields.push(flag(param.name, label, Boolean(param.default), more));
    else if (param.kind === "integer" || param.kind === "real") {
      const integer = param.kind === "integer";
      const own = shown ? shown.value : typeof param.default === "number" ? param.default : undefined;
      const value = options.start?.[param.name] ?? own;
      fields.push(
        range(param.name, label, value, shown?.min ?? 0, shown?.max ?? 1, {
          integer,
          log: shown?.log ?? false,
          ...(shown?.step ? { step: shown.step } : {}),
          least: null,
          most: null,
          format: (v) => book(v),
          ...more,
        }),
      );
    }
  }
  return fields;
}

type Param = Descriptor["params"][number];

// Whether a param belongs to what the values choose.
function belongs({ params }: Descriptor, param: Param, values: Values): boolean {
  if (param.where === undefined) return true;
  const value = values[param.where] ?? params.find(({ name }) => name === param.where)?.default;
  return [...(param.neededBy ?? []), ...(param.takenBy ?? [])].includes(String(value));
}

// Without those that need lists or tables, which no control can give.
function choicesOf({ params }: Descriptor, { name, choices = [] }: Param): readonly string[] {
  const rows = params.filter(({ where, kind }) => where === name && (kind === "list" || kind === "table"));
  return choices.filter((value) => !rows.some(({ neededBy }) => neededBy?.includes(value)));
}

/** The scheme of this slot and name with the params among `values`; the core checks them. */
export function schemeFrom(
  slot: Slot,
  name: string,
  values: Values,
  without: readonly string[] = [],
): ReturnType<typeof fromJSON> {
  return fromJSON({ slot, name, ...schemeOptions(slot, name, values, without) });
}

/** Options for the scheme's factory as one would write them: defaults left out, dotted names nested. */
export function schemeOptions(
  slot: Slot,
  name: string,
  values: Values,
  without: readonly string[] = [],
): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  const descriptor = descriptorOf(slot, name);
  for (const param of descriptor.params) {
    const value = values[param.name];
    if (value === undefined || value === param.default || without.includes(param.name)) continue;
    if (!belongs(descriptor, param, values)) continue;
    const [outer = "", inner] = param.name.split(".");
    if (inner === undefined) options[outer] = value;
    else options[outer] = { ...(options[outer] as object | undefined), [inner]: value };
  }
  return options;
}

/** "sinusoidal({ dim: 64 })". */
export function schemeCode(slot: Slot, name: string, values: Values, without: readonly string[] = []): string {
  return `${name}(${literal(schemeOptions(slot, name, values, without))})`;
}

/** A JavaScript literal of options. */
export function literal(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, v]) => `${key}: ${literal(v)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

// "rotaryDim" reads "rotary dim", "scaling.type" reads "scaling type".
function words(name: string): string {
  return name.replace(/\./g, " ").replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
