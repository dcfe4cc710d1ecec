// Any scheme of the catalogue, made for a figure of some size: widths and heads by that size, seeded numbers in place
// of what a model would have learned.
import {
  attention,
  bias as biasOf,
  encode,
  fromJSON,
  outlines,
  PosencError,
  randomNormal,
  Tensor,
  tensor,
  type AnyScheme,
} from "../src/core.js";
import { range, type Field, type Values } from "./figure.js";
import { book } from "./format.js";
import { givenScheme } from "./given-data.js";
import { refuseValue } from "./refusal.js";
import {
  chosenScheme,
  descriptorOf,
  literal,
  schemeFields,
  schemeOptions,
  type ChosenScheme,
} from "./scheme-fields.js";
import { seedOf } from "./sentence.js";

export type Descriptor = (typeof outlines)[number];

/** The choice of no scheme. */
export const noPosition = "none";

// Deviation of tables that a model would have learned; large enough to be seen beside the words.
const tableDeviation = 0.7;
/** Likewise of a learned encoding. */
const encodingDeviation = 0.7;

// Params that end a scheme's reach, each at least as long as the text; a word's position is its place on every axis.
const lengths = ["length", "window", "windowWidth"];

/** What a scheme has to fit. */
export interface Size {
  heads: number;
  width: number;
  tokens: number;
}

// The lengths a param's shape speaks of ("[2 clip + 1, dim] or …": the first form counts); undefined where a name in it
// is not known.
function lengthsOf(shape: string | undefined, known: (name: string) => unknown): number[] | undefined {
  const inside = /^\[([^\]]*)\]/.exec(shape ?? "")?.[1];
  if (inside === undefined || inside.includes("/")) return undefined;
  const sum = (text: string): number => {
    let total = 0;
    for (const [, sign = "+", term = ""] of text.matchAll(/([+-]?)\s*([\w\s]+)/g)) {
      const factors = (term.match(/\d+|[A-Za-z]\w*/g) ?? []).map((factor) =>
        /^\d/.test(factor) ? Number(factor) : Number(known(factor) ?? Number.NaN),
      );
      const product = factors.reduce((a, b) => a * b, 1);
      total += sign === "-" ? -product : product;
    }
    return total;
  };
  const flat = inside.replace(/\(([^)]*)\)/g, (_, part: string) => ` ${sum(part)} `);
  const lengths = flat.split(",").map(sum);
  return lengths.every((length) => Number.isInteger(length) && length > 0) ? lengths : undefined;
}

/**
 * Options for a scheme's factory: widths and heads by the figure's size, the reader's values where there are some, but
 * for the names `without`, seeded tables in place of learned ones.
 */
export function optionsFor(
  descriptor: Descriptor,
  values: Values,
  size: Size,
  without: readonly string[],
): Record<string, unknown> {
  const options = schemeOptions(descriptor.slot, descriptor.name, values, without);
  const has = (name: string): boolean => descriptor.params.some((param) => param.name === name);
  if (has("dim") && descriptor.slot !== "bias") {
    options.dim = descriptor.slot === "embed" ? size.heads * size.width : size.width;
  }
  if (has("heads")) options.heads = size.heads;
  if (has("seed") && Number(values.seed ?? 0) !== 0) options.seed = Number(values.seed);
  for (const param of descriptor.params) {
    if (param.required && !(param.name in options) && param.shown) options[param.name] = param.shown.value;
  }
  for (const param of descriptor.params) {
    const known = options[param.name] ?? (param.defaultParam === undefined ? 0 : Infinity);
    if (!lengths.includes(param.name) || Number(known) >= size.tokens) continue;
    if (typeof param.max === "number" && size.tokens > param.max) {
      const sentence =
        `${descriptor.title} reaches ${book(param.max)} tokens, and there are ${book(size.tokens)}; ` +
        "choose a shorter text or another scheme.";
      refuseValue("too-large", "sentence", `at most ${param.max} tokens`, size.tokens, sentence);
    }
    options[param.name] = size.tokens;
  }
  // Against lengths meant for long texts, a few words would all be near.
  for (const name of ["threshold", "tau"]) if (has(name)) options[name] ??= 2;
  if (descriptor.slot !== "embed") seedTables(descriptor, options, size, Number(values.seed ?? 0));
  return options;
}

// Whether a model would have learned it: what a factory requires, and tables that it would draw itself.
function isLearned({ kind, required }: Descriptor["params"][number]): boolean {
  return kind === "table" || (kind === "list" && required);
}

// Puts seeded numbers in place of learned ones that the options do not have.
function seedTables(
  { name: scheme, params }: Descriptor,
  options: Record<string, unknown>,
  size: Pick<Size, "heads" | "tokens">,
  seed: number,
): void {
  const known = (name: string): unknown => {
    if (name === "H" || name === "heads") return size.heads;
    if (name === "n" || name === "T") return size.tokens;
    const param = params.find((param) => param.name === name);
    const other = param?.defaultParam === undefined ? undefined : known(param.defaultParam);
    return options[name] ?? param?.default ?? other;
  };
  for (const [index, param] of params.entries()) {
    if (!isLearned(param) || param.name in options) continue;
    const shape = lengthsOf(param.shape, known);
    if (!shape) continue;
    const numbers = randomNormal(shape, { seed: seedOf(scheme, index, seed), std: tableDeviation });
    const positive = typeof param.min === "number" && param.min >= 0;
    if (positive) for (let i = 0; i < numbers.data.length; i++) numbers.data[i] = Math.abs(numbers.data[i] as number);
    options[param.name] = numbers;
  }
}

/**
 * Heads and their width as a given scheme has them, and as the values say where it takes any. What is added to words
 * has the width of all heads or, where `each` is true, of one.
 */
export function sizesFor(
  given: AnyScheme | undefined,
  heads: number,
  width: number,
  each = false,
): { heads: number; width: number } {
  if (given === undefined) return { heads, width };
  const own = (name: string): number | undefined => {
    const value = (given as unknown as Record<string, unknown>)[name];
    return typeof value === "number" ? value : undefined;
  };
  if (given.slot === "embed") {
    const all = encode(given, [0]).shape[1] as number;
    if (each) return { heads, width: all };
    return all % heads === 0 ? { heads, width: all / heads } : { heads: 1, width: all };
  }
  if (given.slot === "bias") return { heads: biasOf(given, { queries: [0], keys: [0] }).shape[0] as number, width };
  // Tables may be of all heads, [rows, dim], or of each.
  const table = Object.values(given).find((value) => value instanceof Tensor && value.shape.length === 3) as
    | Tensor
    | undefined;
  return { heads: own("heads") ?? table?.shape[0] ?? heads, width: own("dim") ?? width };
}

/** Whether a scheme, made for these heads and their width, knows no keys ahead: it goes with a causal mask only. */
export function seesBackOnly(scheme: AnyScheme, heads: number, width: number): boolean {
  if (scheme.slot !== "relate") return false;
  const one = tensor(new Float32Array(heads * width), [heads, 1, width]);
  try {
    attention(one, one, one, { relate: scheme });
    return false;
  } catch (error) {
    return error instanceof PosencError && error.code === "unsupported" && error.argument === "causal";
  }
}

/** How much a bias that falls straight takes away at a distance of one, a head each. */
export function slopesOf(scheme: AnyScheme): Float32Array {
  const fallen = biasOf(scheme as Parameters<typeof biasOf>[0], { queries: [1], keys: [0] });
  return Float32Array.from(fallen.data, (value) => -value);
}

const ahead = new Map<string, boolean>();

/** The same of a scheme of the catalogue, whatever the figure's size. */
export function causalOnly(descriptor: Descriptor): boolean {
  const { slot, name } = descriptor;
  let only = ahead.get(name);
  if (only === undefined) {
    const size = { heads: 1, width: 2, tokens: 1 };
    only =
      slot === "relate" &&
      seesBackOnly(fromJSON({ slot, name, ...optionsFor(descriptor, {}, size, []) }), size.heads, size.width);
    ahead.set(name, only);
  }
  return only;
}

/**
 * Schemes that can be made from what the catalogue says of them: all that a factory requires is the figure's size, has
 * an example, or is a table that can be seeded. None is made to find that out, for a page would wait for them all.
 */
export function offered(): readonly Descriptor[] {
  return outlines.filter(
    (descriptor) =>
      // What is added to words has their width.
      (descriptor.slot !== "embed" || descriptor.params.some(({ name }) => name === "dim")) && canBeMade(descriptor),
  );
}

/** The same of one scheme, of any width. */
export function canBeMade({ params }: Descriptor): boolean {
  return params.every(
    ({ required, name, shown, shape }) =>
      !required || shown || name === "dim" || name === "heads" || lengthsOf(shape, () => 2) !== undefined,
  );
}

/**
 * Sliders of heads in a figure that chooses them: which is shown, how many there are and how wide, which these schemes
 * of the catalogue bound. The first and the last wait for what bounds them.
 */
export function headsFields(
  values: Values,
  schemes: readonly Values[string][],
  most: { heads: number; width: number },
): readonly Field[] {
  const heads = Math.max(1, Math.min(most.heads, Number(values.heads ?? 8)));
  const least = leastWidth(schemes.map(String));
  const more = { integer: true, place: "more" } as const;
  const width = { ...more, least, most: most.width, step: 2 };
  return [
    ...(values.heads === undefined
      ? []
      : [
        range("head", "head", 1, 1, heads, {
          integer: true,
          place: heads > 1 ? "row" : "none",
          format: (value) => `${value} of ${heads}`,
        }),
      ]),
    range("heads", "heads", 8, 1, 16, { ...more, most: most.heads }),
    ...(schemes.includes(undefined) ? [] : [range("headWidth", "width of a head", 16, Math.max(4, least), 64, width)]),
  ];
}

/** The head shown of so many, from 0. */
export function headShown({ head }: Values, heads: number): number {
  return Math.max(0, Math.min(heads, Number(head)) - 1);
}

/** Fields for the params of a scheme that is made at the size of words, behind "more"; `own` are the figure's. */
export function sizedFields(descriptor: Descriptor | undefined, values: Values, own: readonly string[]): Field[] {
  const fields = descriptor ? schemeFields(descriptor, { row: [], without: own, values }) : [];
  // A learned encoding is drawn at the words' size.
  return fields.map((field) =>
    field.kind === "range" && field.name === "std" ? { ...field, value: encodingDeviation } : field,
  );
}

/** Controls of what the figure chooses for a scheme whose numbers it seeds: how many heads, and the seed. */
export function seedFields({ params }: Descriptor): readonly Field[] {
  const seeded = params.filter((param) => param.required && isLearned(param));
  const lacks = (name: string): boolean => seeded.length > 0 && !params.some((param) => param.name === name);
  const byHead = seeded.some(({ shape }) => shape?.includes("heads"));
  return [
    ...(byHead && lacks("heads") ? [range("heads", "heads", 8, 1, 16, { integer: true, most: 1024 })] : []),
    ...(lacks("seed") ? [range("seed", "seed of the numbers", 0, 0, 99, { integer: true, most: 2 ** 32 })] : []),
  ];
}

/** As chosenScheme(), with seeded numbers in tables that the factory requires and no control can give. */
export function chosenSeeded<S extends Descriptor["slot"]>(
  slot: S,
  values: Values,
  data: unknown,
  tokens: number,
): ChosenScheme<Extract<AnyScheme, { slot: S }>> {
  const given = givenScheme(data, [slot]);
  const descriptor = descriptorOf(slot, given?.name ?? String(values.scheme));
  if (given || seedFields(descriptor).length === 0) return chosenScheme(slot, values, given);
  const { name, title } = descriptor;
  const options = schemeOptions(slot, name, values);
  const seed = Number(values.seed ?? 0);
  seedTables(descriptor, options, { heads: Number(values.heads ?? 1), tokens }, seed);
  const scheme = fromJSON({ slot, name, ...options }) as Extract<AnyScheme, { slot: S }>;
  return { scheme, title, name, code: seededCode(descriptor, options, seed), given: false };
}

/** What is said of a scheme whose numbers nobody has trained; nothing of others. */
export function seededWords({ given, name, scheme }: ChosenScheme<AnyScheme>): string {
  const { params } = descriptorOf(scheme.slot, name);
  const draws = params.some((param) => param.name === "seed");
  const seeded = params.some((param) => isLearned(param) && (param.required || draws));
  return given || !seeded
    ? ""
    : "The scheme\u2019s numbers are random until one with trained numbers is given as data. ";
}

/** The scheme of this name; undefined for none. */
export function descriptorNamed(name: string): Descriptor | undefined {
  return name === noPosition ? undefined : outlines.find((scheme) => scheme.name === name);
}

export function titleOf(descriptor: Descriptor | undefined): string {
  return descriptor?.title ?? "no position";
}

/** The least width of a head, even, of which these schemes of the catalogue can be made. */
function leastWidth(names: readonly string[]): number {
  const ofHeads = names.map(descriptorNamed).filter((one) => one?.slot === "rotate" || one?.slot === "relate");
  return Math.max(2, ...ofHeads.map((one) => one!.params.find(({ name }) => name === "dim")?.min ?? 2));
}

let choices: { value: string; label: string }[] | undefined;

/** No position, and every scheme offered. */
export function schemeChoices(): { value: string; label: string }[] {
  return (choices ??= [
    { value: noPosition, label: titleOf(undefined) },
    ...offered().map((scheme) => ({ value: scheme.name, label: scheme.title })),
  ]);
}

/** The call that makes it: "alibi({ heads: 8 })", its seeded tables as calls of randomNormal. */
export function sizedCode(descriptor: Descriptor, values: Values, size: Size, without: readonly string[]): string {
  return seededCode(descriptor, optionsFor(descriptor, values, size, without), Number(values.seed));
}

function seededCode(descriptor: Descriptor, options: Record<string, unknown>, deal: number): string {
  const written: Record<string, unknown> = {};
  const tables: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    if (typeof value === "object" && value !== null && "shape" in value) {
      const index = descriptor.params.findIndex((param) => param.name === name);
      const seed = seedOf(descriptor.name, index, deal);
      const shape = (value as { shape: readonly number[] }).shape;
      tables.push(`${name}: randomNormal([${shape.join(", ")}], { seed: ${seed}, std: ${tableDeviation} })`);
    } else written[name] = value;
  }
  const plain = literal(written);
  return `${descriptor.name}({ ${[...(plain === "{}" ? [] : [plain.slice(2, -2)]), ...tables].join(", ")} })`;
}
