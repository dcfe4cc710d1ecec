// Controls from a scheme's descriptor, and the scheme from the controls: a new scheme needs no new control.
import { readAll } from "../src/error.js";
import { fromJSON, outlines, type AnyScheme } from "../src/core.js";
import { outlineOf } from "../src/outline.js";
import { sentenceOf } from "../src/sentences.js";
import { choice, flag, range, type ChoiceField, type Field, type RangeField, type Values } from "./figure.js";
import { book } from "./format.js";
import { givenScheme } from "./given-data.js";
import { refuseValue } from "./refusal.js";

type Descriptor = (typeof outlines)[number];
type Slot = Descriptor["slot"];

/** The catalogue of one slot. */
export function schemesOf(slot: Slot): readonly Descriptor[] {
  return outlines.filter((scheme) => scheme.slot === slot);
}

export function descriptorOf(slot: Slot, name: string): Descriptor {
  const found = outlineOf(slot, name);
  if (found) return found;
  const names = schemesOf(slot)
    .map((scheme) => scheme.name)
    .join(", ");
  const sentence = `There is no ${slot} scheme \u201c${name}\u201d; there are ${names}.`;
  return refuseValue("unknown-choice", "scheme", `one of ${names}`, name, sentence);
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
export function schemeFields(descriptor: Descriptor, wanted: SchemeFieldOptions): readonly Field[] {
  const fields: Field[] = [];
  const options = readAll(wanted);
  const [start, change] = [readAll(options.start ?? {}), readAll(options.change ?? {})];
  for (const param of descriptor.params) {
    if (options.without?.includes(param.name) || !belongs(descriptor, param, options.values)) continue;
    const label = words(param.name);
    const shown = param.shown && readAll(param.shown);
    const inRow = options.row ? options.row.includes(param.name) : shown !== undefined;
    const place = inRow ? "row" : shown || param.kind === "choice" || param.kind === "flag" ? "more" : "none";
    const more = { place, sentence: sentenceOf(descriptor, param.name), ...change[param.name] } as const;
    if (param.kind === "choice")
      fields.push(choice(param.name, label, text(param.default), choicesOf(descriptor, param), more));
    else if (param.kind === "flag") fields.push(flag(param.name, label, Boolean(param.default), more));
    else if (param.kind === "integer" || param.kind === "real") {
      const integer = param.kind === "integer";
      const own = shown ? shown.value : typeof param.default === "number" ? param.default : undefined;
      const value = start[param.name] ?? own;
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

/** A slider of the heads, from 1; it ends at their number, so it waits for that to be known. */
export function headFields({ params }: Descriptor, values: Values): readonly Field[] {
  // Of its own, or by the table that it requires.
  if (!params.some(({ name, required, shape }) => name === "heads" || (required && shape?.includes("heads")))) {
    return [range("head", "head", 1, 1, 16, { integer: true, least: 1, most: null, place: "none" })];
  }
  if (values.heads === undefined) return [];
  const most = Math.max(1, Number(values.heads));
  return [range("head", "head", 1, 1, most, { integer: true, place: most > 1 ? "row" : "none" })];
}

/** The head shown, from 0, of a scheme of so many; of one whose heads no control says, a head beyond is refused. */
export function headOf({ head = 1, heads: told }: Values, heads: number): number {
  if (told === undefined && Number(head) > heads) {
    refuseValue("out-of-range", "head", heads === 1 ? "1, for the scheme has one head" : `from 1 to ${heads}`, head);
  }
  return Math.min(heads, Number(head)) - 1;
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
  const options = Object.create(null) as Record<string, unknown>;
  const descriptor = descriptorOf(slot, name);
  const said = readAll(values);
  for (const param of descriptor.params) {
    const value = said[param.name];
    if (value === undefined || value === param.default || without.includes(param.name)) continue;
    if (!belongs(descriptor, param, said)) continue;
    const [outer = "", inner] = param.name.split(".");
    if (inner === undefined) options[outer] = value;
    else options[outer] = { ...(options[outer] as object | undefined), [inner]: value };
  }
  return options;
}

/** A scheme that a figure draws. */
export interface ChosenScheme<Made extends AnyScheme> {
  scheme: Made;
  title: string;
  /** The name of its factory, and the call that makes it: "sinusoidal({ dim: 64 })". */
  name: string;
  code: string;
  /** Handed over, not made from the values, which then say nothing about it. */
  given: boolean;
}

/** The scheme of this slot that `data` is, else the one that the values say; the core checks them. */
export function chosenScheme<S extends Slot>(
  slot: S,
  values: Values,
  data: unknown,
): ChosenScheme<Extract<AnyScheme, { slot: S }>> {
  const given = givenScheme(data, [slot]);
  const name = given?.name ?? String(values.scheme);
  const scheme = given ?? (schemeFrom(slot, name, values) as Extract<AnyScheme, { slot: S }>);
  const own = scheme === given;
  const code = own ? schemeText(scheme) : schemeCode(slot, name, values);
  return { scheme, title: descriptorOf(slot, name).title, name, code, given: own };
}

/** The call that makes a scheme, tables and all. */
export function schemeText(scheme: AnyScheme): string {
  const { slot, name, ...params } = scheme.toJSON();
  const defaults = new Map(descriptorOf(slot, name).params.map((param) => [param.name, param.default]));
  const written = (values: Record<string, unknown>, outer = ""): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(values).flatMap(([key, value]): [string, unknown][] => {
        if (value === null || value === defaults.get(outer + key)) return [];
        const nested = defaults.has(outer + key) ? value : written(value as Record<string, unknown>, `${key}.`);
        return defaults.has(outer + key) || Object.keys(nested as object).length > 0 ? [[key, nested]] : [];
      }),
    );
  const options = literal(written(params));
  return `${name}(${options === "{}" ? "" : options})`;
}

/** "sinusoidal({ dim: 64 })". */
export function schemeCode(slot: Slot, name: string, values: Values, without: readonly string[] = []): string {
  return `${name}(${literal(schemeOptions(slot, name, values, without))})`;
}

/** A JavaScript literal of options. */
export function literal(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
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
