// How fast each pair of a scheme turns.
import { Frame } from "./module.js";
import { readOptions, readPositive } from "./options.js";
import { type EmbedScheme, type RotateScheme, readScheme } from "./scheme.js";

/** Options of {@link frequencies}. */
export interface FrequenciesOptions {
  /** Tokens in all, for scaling rules that depend on it. */
  readonly length?: number;
}

/** The frequencies of a scheme, one entry a pair, in float64. */
export interface Frequencies {
  /** omega_i, in radians per position. */
  readonly inverse: Float64Array;
  /** 2 pi / omega_i, in positions; Infinity where a pair does not turn. */
  readonly wavelength: Float64Array;
  /** The base in force, after any rule that changes it; null where the frequencies were given as a list. */
  readonly base: number | null;
  /** What queries and keys are multiplied by. */
  readonly attentionFactor: number;
  /** What the softmax scale is multiplied by, where a rule says so. */
  readonly softmaxScale?: number;
  /** What a scaling rule did to each pair. */
  readonly band: readonly ("kept" | "ramped" | "scaled")[];
  /** The pairs between which a rule ramps. */
  readonly low?: number;
  readonly high?: number;
  /** What one should know, such as disagreements between frameworks. */
  readonly notes: readonly string[];
}

interface Report extends Omit<Frequencies, "inverse" | "wavelength"> {
  readonly inverse: number[];
  readonly wavelength: (number | null)[];
}

/** The frequencies of an embed or rotate scheme; `unsupported` for schemes that turn no pairs. */
export function frequencies(scheme: EmbedScheme | RotateScheme, options?: FrequenciesOptions): Frequencies {
  return frequenciesFor("frequencies", scheme, options);
}

/** {@link frequencies} for a function that names itself in refusals. */
export function frequenciesFor(subject: string, scheme: unknown, options?: FrequenciesOptions): Frequencies {
  const spec = readScheme(subject, "scheme", scheme, ["embed", "rotate"]);
  const given = readOptions(subject, options, ["length"]);
  const length = readPositive(subject, "length", given.length) ?? 0;
  const frame = new Frame(subject);
  frame.run("frequencies", { scheme: frame.scheme(spec), length });
  const report = frame.json() as Report;
  return {
    ...report,
    inverse: Float64Array.from(report.inverse),
    wavelength: Float64Array.from(report.wavelength, (length) => length ?? Infinity),
  };
}
