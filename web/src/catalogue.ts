// Schemes from their JSON.
import { isRecord, nearest, refusal, refuse, refuseMissing } from "./error.js";
import { entryOf } from "./outline.js";
import { type AnyScheme, type Outline, type Scheme, type SchemeJSON, applies, isScheme, makeScheme } from "./scheme.js";
import { outlines } from "./schemes.gen.js";

/**
 * Rebuilds a scheme from what its `toJSON()` gave, or from `{slot, name, ...params}` written by hand. An unknown name
 * is `unknown-choice`; parameters are checked as the factory checks them. Schemes are taken too, of another copy of the
 * package as well, and copies of their properties: a param that is null there is one that was not given.
 */
export function fromJSON(scheme: Scheme): AnyScheme;
export function fromJSON(spec: SchemeJSON): AnyScheme;
export function fromJSON(spec: SchemeJSON | Scheme): AnyScheme {
  const allowed = "{slot, name, ...params} of a scheme";
  if (spec === undefined) refuseMissing("fromJSON", "spec", allowed);
  if (!isRecord(spec)) refuse("not-a-number", "fromJSON", "spec", allowed, spec);
  const { slot, name, ...options } = isScheme(spec) ? spec.toJSON() : spec;
  const missing = [...(slot === undefined ? ["slot"] : []), ...(name === undefined ? ["name"] : [])];
  if (missing.length > 0) {
    throw refusal(
      { code: "missing-option", subject: "fromJSON", argument: "spec", allowed, given: "undefined" },
      `fromJSON: ${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"} missing, spec must be ${allowed}`,
    );
  }
  if (typeof slot !== "string") refuse("unknown-choice", "fromJSON", "slot", "the slot of a scheme", slot);
  if (typeof name !== "string") refuse("unknown-choice", "fromJSON", "name", "the name of a scheme", name);
  const descriptor = entryOf(outlines, slot, name);
  if (descriptor === undefined) {
    const known = outlines.map((candidate) => `${candidate.slot} ${candidate.name}`);
    const guess = nearest(
      name,
      outlines.filter((candidate) => candidate.slot === slot).map((candidate) => candidate.name),
    );
    throw refusal(
      {
        code: "unknown-choice",
        subject: "fromJSON",
        argument: "name",
        allowed: known.join(", "),
        given: `${slot} ${name}`,
      },
      guess === undefined
        ? undefined
        : `fromJSON: there is no ${slot} scheme ${name}, did you mean ${guess}?`,
    );
  }
  return makeScheme(descriptor, withoutNulls(descriptor, options, ""));
}

// Without the params that are null because they were not given: they have no default, or belong to a choice not made.
function withoutNulls(descriptor: Outline, options: object, prefix: string): Record<string, unknown> {
  const kept = Object.create(null) as Record<string, unknown>;
  const choiceOf = (name: string): unknown =>
    (options as Record<string, unknown>)[name.slice(prefix.length)] ??
    descriptor.params.find((param) => param.name === name)!.default;
  for (const [key, value] of Object.entries(options) as [string, unknown][]) {
    const name = prefix + key;
    const param = descriptor.params.find((candidate) => candidate.name === name);
    const isOuter = descriptor.params.some((candidate) => candidate.name.startsWith(`${name}.`));
    if (value === null && param?.required === false && (param.default === null || !applies(param, choiceOf))) continue;
    kept[key] =
      isOuter && typeof value === "object" && value !== null ? withoutNulls(descriptor, value, `${name}.`) : value;
  }
  return kept;
}
