// The keys of a config, read with errors that name them.
import { isRecord, kindOf, readAll, refusal, refuse, verbatim } from "../error.js";

export const kSubject = "fromConfig";

type Names = string | readonly string[];

/** What a config or a part of it says; `unknown-choice` where it is no object, or one that has no keys by its kind. */
export function recordOf(argument: string, allowed: string, value: unknown): Readonly<Record<string, unknown>> {
  const said = isRecord(value) ? readAll(value) : undefined;
  if (said === undefined || (Object.keys(said).length === 0 && kindOf(value as object) !== "Object")) {
    refuse("unknown-choice", kSubject, argument, allowed, value);
  }
  return said;
}

/** An object of a config: `path` says where it lies. JSON's null means "not there", as in transformers. */
export class Keys {
  readonly values: Readonly<Record<string, unknown>>;

  constructor(
    values: Readonly<Record<string, unknown>>,
    readonly path = "",
    readonly notes: Set<string> = new Set(),
    /** Of keys that go by several names, those that the family's configs write. */
    readonly spelling: readonly string[] = [],
  ) {
    this.values = readAll(values);
  }

  /** A key as errors write it: `"rope_scaling.factor"`. */
  at(key: string): string {
    return this.path === "" ? key : `${this.path}.${key}`;
  }

  has(key: string): boolean {
    return this.values[key] !== undefined && this.values[key] !== null;
  }

  /** The first of some names that is there. */
  which(names: Names): string | undefined {
    return (typeof names === "string" ? [names] : names).find((name) => this.has(name));
  }

  note(sentence: string): void {
    this.notes.add(sentence);
  }

  /** The same keys over the defaults of transformers' class, which published configs leave out. */
  over(defaults: Readonly<Record<string, unknown>>): Keys {
    return this.#like({ ...defaults, ...this.values });
  }

  /** The same keys with some in place of their own. */
  with(others: Readonly<Record<string, unknown>>): Keys {
    return this.#like({ ...this.values, ...others });
  }

  /** The same keys, as a family spells them. */
  spelt(spelling: readonly string[]): Keys {
    return new Keys(this.values, this.path, this.notes, spelling);
  }

  #like(values: Readonly<Record<string, unknown>>, path = this.path): Keys {
    return new Keys(values, path, this.notes, this.spelling);
  }

  /** Refuses a config without any of some names: the one that its kind writes, and the others. */
  missing(names: Names, allowed: string): never {
    const list = typeof names === "string" ? [names] : names;
    const own = list.find((name) => this.spelling.includes(name)) ?? list[0]!;
    const others = list.filter((name) => name !== own).join(", ");
    const argument = this.at(own);
    throw refusal(
      { code: "missing-option", subject: kSubject, argument, allowed, given: "undefined" },
      `${kSubject}: ${argument}${others && ` (or ${others})`} is missing, it must be ${allowed}`,
    );
  }

  inner(key: string): Keys | undefined {
    if (!this.has(key)) return undefined;
    return this.#like(recordOf(this.at(key), "an object or null", this.values[key]), this.at(key));
  }

  /** A finite number that `fits`; the fallback where none of the names is there. */
  real(names: Names, allowed: string, fits: (value: number) => boolean, fallback?: number): number {
    const key = this.which(names);
    if (key === undefined) {
      if (fallback !== undefined) return fallback;
      this.missing(names, allowed);
    }
    const value = this.values[key];
    if (typeof value !== "number" || Number.isNaN(value)) {
      refuse("not-a-number", kSubject, this.at(key), allowed, value);
    }
    if (!Number.isFinite(value)) refuse("not-finite", kSubject, this.at(key), allowed, value);
    if (!fits(value)) refuse("out-of-range", kSubject, this.at(key), allowed, value);
    return value;
  }

  positive(names: Names, fallback?: number): number {
    return this.real(names, "a number above 0", (value) => value > 0, fallback);
  }

  whole(names: Names, fallback?: number, least = 1): number {
    const value = this.real(names, `a whole number from ${least}`, (number) => number >= least, fallback);
    if (!Number.isInteger(value)) {
      refuse("not-integer", kSubject, this.at(this.which(names)!), `a whole number from ${least}`, value);
    }
    return value;
  }

  /** The number of these names, or undefined where there is none. */
  maybe(names: Names, read: "positive" | "whole" = "positive"): number | undefined {
    return this.which(names) === undefined ? undefined : this[read](names);
  }

  flag(key: string, fallback: boolean): boolean {
    if (!this.has(key)) return fallback;
    const value = this.values[key];
    // Some configs write 0, 1 or a number for what is read as a flag (Llama 4's attn_temperature_tuning: 4).
    if (typeof value === "number") return value !== 0;
    if (typeof value !== "boolean") refuse("unknown-choice", kSubject, this.at(key), "true or false", value);
    return value;
  }

  text(names: Names): string | undefined {
    const key = this.which(names);
    if (key === undefined) return undefined;
    const value = this.values[key];
    if (typeof value !== "string") refuse("unknown-choice", kSubject, this.at(key), "a string", value);
    return value;
  }

  /** A list of numbers, of `length` entries because of `why`. */
  numbers(key: string, length?: number, why = ""): number[] {
    const allowed = length === undefined ? "a list of numbers" : `a list of ${length} numbers, ${why}`;
    if (!this.has(key)) this.missing(key, allowed);
    const value = this.values[key];
    if (!Array.isArray(value)) refuse("shape-mismatch", kSubject, this.at(key), allowed, value);
    if (length !== undefined && value.length !== length) {
      refuse("shape-mismatch", kSubject, this.at(key), allowed, verbatim(`${value.length}`));
    }
    value.forEach((entry, i) => {
      if (typeof entry !== "number" || !Number.isFinite(entry)) {
        refuse("not-a-number", kSubject, this.at(`${key}[${i}]`), "a finite number", entry);
      }
    });
    return value as number[];
  }

  /** A list of words, one of each layer. */
  words(key: string, length: number, choices: readonly string[]): string[] | undefined {
    if (!this.has(key)) return undefined;
    const allowed = `a list of ${length} words, one a layer`;
    const value = this.values[key];
    if (!Array.isArray(value)) refuse("shape-mismatch", kSubject, this.at(key), allowed, value);
    if (value.length !== length) {
      refuse("shape-mismatch", kSubject, this.at(key), allowed, verbatim(`${value.length}`));
    }
    value.forEach((entry, i) => {
      if (!choices.includes(entry as string)) {
        refuse(
          "unknown-choice",
          kSubject,
          this.at(`${key}[${i}]`),
          choices.map((word) => JSON.stringify(word)).join(" or "),
          entry,
        );
      }
    });
    return value as string[];
  }

  /** Refuses what no scheme here expresses. */
  unsupported(key: string, sentence: string): never {
    throw refusal(
      {
        code: "unsupported",
        subject: kSubject,
        argument: this.at(key),
        allowed: "left out",
        given: String(this.values[key]),
      },
      `${kSubject}: ${this.at(key)} ${sentence}`,
    );
  }
}

/** Names of a model's width. */
export const kWidths = ["hidden_size", "n_embd", "n_embed", "d_model"];

/** More layers than any model has: a list of them is made. */
export const kMostLayers = 65536;

/** The width of a head: `head_dim`, or the model's width over its heads. */
export function headWidth(keys: Keys, widths: Names = kWidths): number {
  if (keys.has("head_dim")) return keys.whole("head_dim");
  const heads = headCount(keys);
  const width = keys.whole(widths);
  if (width % heads !== 0) {
    refuse("out-of-range", kSubject, keys.at(keys.which(widths)!), `a multiple of the ${heads} heads`, width);
  }
  return width / heads;
}

export function headCount(keys: Keys): number {
  return keys.whole(["num_attention_heads", "n_head", "n_heads", "num_heads"]);
}

export function layerCount(keys: Keys): number {
  const names = ["num_hidden_layers", "n_layer", "n_layers", "num_layers"];
  const count = keys.whole(names);
  if (count > kMostLayers) {
    refuse("too-large", kSubject, keys.at(keys.which(names)!), `at most ${kMostLayers}`, count);
  }
  return count;
}

/** 1 / sqrt(d). */
export function usualScale(headDim: number): number {
  return 1 / Math.sqrt(headDim);
}
