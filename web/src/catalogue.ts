// Schemes from their JSON.
import { nearest, refusal, refuse, refuseMissing } from "./error.js";
import { type Scheme, type SchemeJSON, makeScheme } from "./scheme.js";
import { schemes } from "./schemes.gen.js";

/**
 * Rebuilds a scheme from what its `toJSON()` gave, or from `{slot, name, ...params}` written by hand. An unknown name
 * is `unknown-choice`; parameters are checked as the factory checks them.
 */
export function fromJSON(spec: SchemeJSON): Scheme {
  const allowed = "{slot, name, ...params} of a scheme";
  if (spec === undefined) refuseMissing("fromJSON", "spec", allowed);
  if (typeof spec !== "object" || spec === null || Array.isArray(spec))
    refuse("not-a-number", "fromJSON", "spec", allowed, spec);
  const { slot, name, ...options } = spec;
  if (typeof slot !== "string" || typeof name !== "string") refuseMissing("fromJSON", "slot and name", allowed);
  const descriptor = schemes.find((candidate) => candidate.name === name && candidate.slot === slot);
  if (descriptor === undefined) {
    const known = schemes.map((candidate) => `${candidate.slot} ${candidate.name}`);
    const guess = nearest(
      name,
      schemes.map((candidate) => candidate.name),
    );
    throw refusal(
      {
        code: "unknown-choice",
        subject: "fromJSON",
        argument: "name",
        allowed: known.join(", "),
        given: `${slot} ${name}`,
      },
      guess === undefined || guess === name
        ? undefined
        : `fromJSON: there is no ${slot} scheme ${name}, did you mean ${guess}?`,
    );
  }
  return makeScheme(descriptor, options);
}
