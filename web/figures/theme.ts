// Light and dark: the palette a figure is drawn with, and how an element finds out which one its page is in.
import { amountTable, luminance, parseHex, signedTable, toHex, type Rgb } from "./colour.js";

/** Roles of colour in a drawing. Back ends look the role up, so one drawing serves every theme. */
export interface Palette {
  /** The page. Zero of a signed map. */
  paper: string;
  /** Text and cross-hairs. */
  ink: string;
  /** Secondary text: axes, captions. */
  grey: string;
  /** Hairlines. */
  faint: string;
  /** What is pointed at. */
  accent: string;
  /** The accent's partner. */
  cool: string;
  /** Cells that are masked. */
  blank: string;
}

export interface Theme extends Palette {
  dark: boolean;
  font: string;
  /** Colour tables, 256 x (r, g, b); see colour.ts. */
  signed: Uint8Array;
  amount: Uint8Array;
}

export const sansFont = 'system-ui, -apple-system, "Segoe UI", "Helvetica Neue", "DejaVu Sans", Arial, sans-serif';

const light: Palette = {
  paper: "#fffefb",
  ink: "#1c1b19",
  grey: "#66635d",
  faint: "#dad8d2",
  accent: "#b4460f",
  cool: "#1f5f99",
  blank: "#f2f1ed",
};
const dark: Palette = {
  paper: "#171614",
  ink: "#ece9e2",
  grey: "#a19d95",
  faint: "#3b3935",
  accent: "#ff9a5c",
  cool: "#79b8ff",
  blank: "#23221f",
};

export const paletteNames = Object.keys(light) as (keyof Palette)[];

const made = new Map<string, Theme>();

/**
 * The palette of a mode with some roles replaced (as #rrggbb), and the colour tables that follow from it. The same
 * request gives the same object.
 */
export function makeTheme(isDark: boolean, changes: Partial<Palette> = {}, font = sansFont): Theme {
  const palette: Palette = { ...(isDark ? dark : light), ...changes };
  const key = [isDark, font, ...Object.values(palette)].join();
  const known = made.get(key);
  if (known) return known;
  const blank = parseHex(palette.blank);
  const theme: Theme = {
    ...palette,
    dark: isDark,
    font,
    signed: signedTable(isDark, parseHex(palette.paper), parseHex(palette.accent), parseHex(palette.cool), blank),
    amount: amountTable(isDark, blank),
  };
  made.set(key, theme);
  return theme;
}

// ---------------------------------------------------------------- the page an element stands in

let probe: CanvasRenderingContext2D | null | undefined;

// Any CSS colour as r, g, b, a, by the browser's own reading of it; over one that covers what is under it.
function resolve(colour: string, under?: string): [number, number, number, number] | undefined {
  if (colour === "") return undefined;
  probe ??= Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", {
    willReadFrequently: true,
  });
  if (!probe) return undefined;
  probe.clearRect(0, 0, 1, 1);
  probe.fillStyle = "#010203";
  probe.fillStyle = colour;
  if (probe.fillStyle === "#010203") return undefined;
  if (under) {
    probe.fillStyle = under;
    probe.fillRect(0, 0, 1, 1);
    probe.fillStyle = colour;
  }
  probe.fillRect(0, 0, 1, 1);
  const [r = 0, g = 0, b = 0, a = 0] = probe.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a];
}

function* ancestors(element: Element): Generator<Element> {
  let node: Node | null = element;
  while (node) {
    if (node instanceof Element) yield node;
    node = (node as Element).assignedSlot ?? node.parentNode ?? (node instanceof ShadowRoot ? node.host : null);
  }
}

// The nearest ancestor that names a mode, in the ways sites and their builders do.
function namedMode(element: Element): boolean | undefined {
  for (const node of ancestors(element)) {
    for (const attribute of ["data-theme", "data-bs-theme", "data-color-mode", "data-md-color-scheme"]) {
      const value = node.getAttribute(attribute);
      if (value === null) continue;
      if (/dark|slate|night/i.test(value)) return true;
      if (/light|default|day/i.test(value)) return false;
    }
    if (node.classList.contains("dark")) return true;
    if (node.classList.contains("light")) return false;
  }
  return undefined;
}

function pageColour(element: Element): Rgb | undefined {
  for (const node of ancestors(element)) {
    const { backgroundColor } = getComputedStyle(node);
    // Pages' colours read so as a rule, and a canvas takes its time to say what another is.
    const plain = /^rgb\((.*)\)/.exec(backgroundColor)?.[1];
    if (plain) return plain.split(",").map(Number) as unknown as Rgb;
    if (backgroundColor === "rgba(0, 0, 0, 0)") continue;
    const colour = resolve(backgroundColor);
    if (colour && colour[3] > 250) return [colour[0], colour[1], colour[2]];
  }
  return undefined;
}

/**
 * The theme of the page around `element`; `wish` ("light" or "dark") overrides what the page says. Print is light, on
 * paper that no printer has to tint.
 */
export function themeOf(
  element: Element,
  wish: string | null,
  printing = matchMedia("print").matches,
): Theme {
  const style = getComputedStyle(element);
  const font = style.getPropertyValue("--posenc-font").trim() || sansFont;
  if (printing) return makeTheme(false, { paper: "#ffffff" }, font);
  const background = pageColour(element);
  const schemes = style.colorScheme.split(/\s+/);
  const prefersDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const forced = matchMedia("(forced-colors: active)").matches;
  // A context keeps what a name meant when it first met it; the system's colours change under their names.
  if (forced) probe = undefined;
  let isDark = false;
  if (wish === "light") isDark = false;
  else if (wish === "dark") isDark = true;
  else if (forced) isDark = luminance(hexless("Canvas")) < 0.2;
  else {
    const named = namedMode(element);
    if (named !== undefined) isDark = named;
    else if (background) isDark = luminance(background) < 0.2;
    else if (schemes.includes("dark")) isDark = !schemes.includes("light") || prefersDark;
  }
  const changes: Partial<Palette> = {};
  if (background && luminance(background) < 0.2 === isDark) changes.paper = toHex(background);
  for (const role of paletteNames) {
    const colour = resolve(style.getPropertyValue(`--posenc-${role}`).trim());
    if (colour) changes[role] = toHex([colour[0], colour[1], colour[2]]);
  }
  if (forced) {
    const [paper, ink] = [hexless("Canvas"), hexless("CanvasText")];
    changes.paper = changes.blank = toHex(paper);
    changes.ink = changes.grey = toHex(ink);
    // Hairlines in the system's grey, which may be a bright green, would outshine what is drawn over them.
    changes.faint = toHex(paper.map((value, k) => (value + (ink[k] as number)) / 2) as unknown as Rgb);
    changes.accent = toHex(hexless("Highlight"));
    changes.cool = toHex(hexless("LinkText"));
  }
  return makeTheme(isDark, changes, font);
}

// Chromium's Highlight is a thinner colour that looks like the system's on white.
function hexless(systemColour: string): Rgb {
  const [r, g, b] = resolve(systemColour, "#fff") ?? [0, 0, 0];
  return [r, g, b];
}

/** Calls `changed` whenever the page may have turned light or dark; returns the function that stops it. */
export function watchTheme(changed: () => void): () => void {
  const queries = ["(prefers-color-scheme: dark)", "(forced-colors: active)", "print"].map((q) => matchMedia(q));
  for (const query of queries) query.addEventListener("change", changed);
  const observer = new MutationObserver(changed);
  for (const root of [document.documentElement, document.body]) {
    if (root) {
      observer.observe(root, {
        attributeFilter: ["class", "style", "data-theme", "data-bs-theme", "data-color-mode", "data-md-color-scheme"],
      });
    }
  }
  document.addEventListener("transitionend", changed);
  return () => {
    document.removeEventListener("transitionend", changed);
    for (const query of queries) query.removeEventListener("change", changed);
    observer.disconnect();
  };
}
