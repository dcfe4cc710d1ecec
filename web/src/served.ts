// Functions that serve others: what they refuse is said in the name of the function that the user called.
import { PosencError, refusal } from "./error.js";
import { outlines } from "./schemes.gen.js";

/**
 * Runs `call`. What a function refuses in it is said by `subject`, and of its argument: `names` has those that go by
 * another name there. Schemes speak for themselves.
 */
export function served<T>(subject: string, names: Readonly<Record<string, string>>, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof PosencError) || error.subject === subject) throw error;
    if (outlines.some(({ name }) => name === error.subject)) throw error;
    const { code, allowed, given } = error;
    const argument = names[error.argument] ?? error.argument;
    const what = { code, subject, argument, allowed, given };
    const text = argument === error.argument ? subject + error.message.slice(error.subject.length) : undefined;
    throw refusal(what, text, { cause: error });
  }
}
