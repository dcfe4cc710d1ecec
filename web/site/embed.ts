// embed.html?fig=embed&positions=32: one figure for an iframe. Its settings come from the address, which anybody may
// have written: names and values go through the figure's own checks, and nothing else is read. Where the page stands in
// a frame, it tells the page around it how tall the figure is.
import type { FigureElement } from "../figures/element.js";
import type { Api } from "./live.js";

declare const posenc: Api & { readonly figures: readonly { readonly name: string }[] };

// What an address may hold; browsers and hosts carry no more anyway.
const kMostSettings = 64;
const kMostLetters = 4000;

const main = document.querySelector("main") as HTMLElement;

function refuse(sentence: string): void {
  const box = document.getElementById("failure") as HTMLElement;
  box.hidden = false;
  box.textContent = sentence;
}

/** "scaling-type" is "scaling.type" and "token-seed" is "tokenSeed" among a figure's values; its setter knows both. */
function settings(given: URLSearchParams): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of [...given].slice(0, kMostSettings)) {
    if (name === "fig" || name === "theme") continue;
    if (!/^[a-z][a-z0-9-]{0,39}$/.test(name)) throw new RangeError(`“${name.slice(0, 40)}” is no attribute.`);
    if (value.length > kMostLetters) throw new RangeError(`${name} is longer than ${kMostLetters} letters.`);
    values[name] = value;
  }
  return values;
}

async function show(): Promise<void> {
  const given = new URLSearchParams(location.search);
  const wish = given.get("fig") ?? "";
  const names = posenc.figures.map(({ name }) => name);
  if (!names.includes(wish)) {
    const asked = wish === "" ? "no figure" : `“${wish.slice(0, 40)}”`;
    throw new RangeError(`The address asks for ${asked}; fig= must be one of ${names.join(", ")}.`);
  }
  const theme = given.get("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  const values = settings(given);
  await posenc.ready();
  const figure = document.createElement(`posenc-${wish}`) as FigureElement;
  figure.setAttribute("loading", "eager");
  figure.value = values;
  main.append(figure);
  await figure.drawn;
  const title = figure.shadowRoot?.querySelector("[part~=title]")?.textContent;
  if (title) {
    document.title = title;
    (document.getElementById("title") as HTMLElement).textContent = title;
  }
}

/** The height is a number and no secret, so it goes to whichever page has framed this one. */
function tellHeight(): void {
  if (parent === window) return;
  let last = 0;
  const tell = (): void => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    const fig = new URLSearchParams(location.search).get("fig");
    parent.postMessage({ type: "posenc-height", fig, height }, "*");
  };
  new ResizeObserver(tell).observe(document.documentElement);
  tell();
}

tellHeight();
show().catch((error: unknown) => refuse(error instanceof Error ? error.message : String(error)));
