import type * as Posenc from "../../web/src/index.js";

/** A number for many results of the public API; `rounds` repeats the work and digests the last round. */
export function digest(posenc: typeof Posenc, rounds?: number): string;
