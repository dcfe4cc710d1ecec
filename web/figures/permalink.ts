// Values of figures in the address of their page: #embed.dim=32&embed.view=waves. Pieces of others, of the page itself
// and of figures with another key, stay as they are.
import { make } from "./controls.js";
import { attributeName, completeValues, type Figure, type Value } from "./figure.js";
import { copyText } from "./take-away.js";

/** What the address of the page says of a figure, and a button that copies it. */
export class Permalink {
  readonly button = make("button", { type: "button", textContent: "link" }, {
    title: "Copy the address of this page with what is set here",
    part: "action",
  });
  readonly #key: () => string | undefined;
  readonly #own: () => readonly (readonly [string, Value])[];
  /** The hash that was read, or written here. */
  #known = "";

  /** `key` names the figure in the address, while it wants to be there; `own` gives the values it keeps. */
  constructor(key: () => string | undefined, own: () => readonly (readonly [string, Value])[]) {
    [this.#key, this.#own] = [key, own];
    this.button.addEventListener("click", () => {
      this.keep();
      void copyText(location.href).then((copied) => {
        this.button.textContent = copied ? "copied" : "in the address bar";
        setTimeout(() => (this.button.textContent = "link"), 2000);
      });
    });
  }

  /** Values from the address, if it is another than before; `data` is the figure's own. */
  read(figure: Figure, given: (name: string) => unknown, data?: unknown): Iterable<readonly [string, Value]> {
    const key = this.#key();
    this.button.hidden = key === undefined;
    if (key === undefined || location.hash === this.#known) return [];
    this.#known = location.hash;
    return fittingValues(figure, linkedTexts(location.hash, key), given, data);
  }

  /** Writes the figure's values into the address. */
  keep(): void {
    const key = this.#key();
    if (key === undefined) return;
    const hash = linkedHash(location.hash, key, this.#own());
    try {
      if (hash !== location.hash) history.replaceState(history.state, "", hash || location.pathname + location.search);
    } catch {
      // A page in a sandbox keeps its address.
    }
    this.#known = location.hash;
  }
}

/** The pieces of a figure in the hash of an address: attributes and their texts. */
export function linkedTexts(hash: string, key: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const piece of piecesOf(hash)) {
    const at = piece.indexOf("=");
    try {
      const name = decodeURIComponent(piece.slice(0, at));
      if (at < 0 || !name.startsWith(`${key}.`)) continue;
      texts.set(name.slice(key.length + 1), decodeURIComponent(piece.slice(at + 1)));
    } catch {
      // No text at all: somebody else's.
    }
  }
  return texts;
}

/** The hash with these values of a figure in place of those it had. */
export function linkedHash(hash: string, key: string, values: Iterable<readonly [string, Value]>): string {
  const others = piecesOf(hash).filter((piece) => !piece.startsWith(`${encodeURIComponent(key)}.`));
  const own = [...values].map(
    ([name, value]) => `${encodeURIComponent(key)}.${attributeName(name)}=${encodeURIComponent(String(value))}`,
  );
  const pieces = [...others, ...own];
  return pieces.length === 0 ? "" : `#${pieces.join("&")}`;
}

/**
 * Those of the texts that fields of the figure take, one after the other, with what `given` says of the rest: an
 * address comes from anybody, and what does not fit is passed over. So is what the figure cannot compute, unless it
 * cannot without the address either.
 */
export function fittingValues(
  figure: Figure,
  texts: ReadonlyMap<string, string>,
  given: (name: string) => unknown,
  data?: unknown,
): Map<string, Value> {
  const fitting = new Map<string, Value>();
  for (const [attribute, text] of texts) {
    let name: string | undefined;
    try {
      const values = completeValues(figure, (field) => {
        if (attributeName(field) !== attribute) return fitting.get(field) ?? given(field);
        name = field;
        return text;
      });
      const value = name === undefined ? undefined : values[name];
      if (name !== undefined && value !== undefined) fitting.set(name, value);
    } catch {
      // It, or what it brings along, is no value of this figure.
    }
  }
  const computes = (own: ReadonlyMap<string, Value>): boolean => {
    try {
      const values = completeValues(figure, (field) => own.get(field) ?? given(field));
      // What would hold the page up is tried in its own time.
      if (!figure.later?.task(values, data)) figure.compute(values, data);
      return true;
    } catch {
      return false;
    }
  };
  const kept = new Map<string, Value>();
  if (fitting.size === 0 || computes(fitting) || !computes(kept)) return fitting;
  for (const [name, value] of fitting) {
    kept.set(name, value);
    if (!computes(kept)) kept.delete(name);
  }
  return kept;
}

function piecesOf(hash: string): string[] {
  return hash.replace(/^#/, "").split("&").filter((piece) => piece !== "");
}
