// Colour maps as tables of 256 entries (r, g, b). Entry 255 is the blank of masked cells; 0 to 254 hold the map, so a
// map of signed values has its zero at entry 127 exactly, and that entry is the paper.

/** What colours mean: signed values about zero, or amounts from `min` to `max`. */
export type ColourScale = { kind: "signed"; extent: number } | { kind: "amount"; min: number; max: number };

export type Rgb = readonly [number, number, number];

const blankEntry = 255;
const lastEntry = 254;
const zeroEntry = 127;

// Viridis (van der Walt and Smith, 2015) at 33 points; a straight line between them is within 3 of 255.
const viridis = (
  "#440154 #470d60 #48186a #482374 #472d7b #453781 #424086 #3e4989 #3b528b #375b8d #33638d #2f6b8e #2c728e " +
  "#297a8e #26828e #23898e #21918c #1f988b #1fa088 #22a785 #28ae80 #32b67a #3fbc73 #4ec36b #5ec962 #70cf57 " +
  "#84d44b #98d83e #addc30 #c2df23 #d8e219 #ece51b #fde725"
).split(" ");
// ColorBrewer's RdBu without its middle, from near zero outwards.
const reds = ["#fbdcc9", "#f3a683", "#d6604d", "#b2182b", "#780a24"];
const blues = ["#d3e6f1", "#93c5de", "#4393c3", "#2166ac", "#0a3a6e"];

export function parseHex(hex: string): Rgb {
  const digits = hex.length === 4 ? [...hex.slice(1)].map((c) => c + c).join("") : hex.slice(1, 7);
  const packed = Number.parseInt(digits, 16);
  return [(packed >> 16) & 255, (packed >> 8) & 255, packed & 255];
}

export function toHex([r, g, b]: Rgb): string {
  return `#${((1 << 24) | (r << 16) | (g << 8) | b).toString(16).slice(1)}`;
}

/** Amounts: viridis with the large end dark on light paper and light on dark paper. */
export function amountTable(dark: boolean, blank: Rgb): Uint8Array {
  const stops = viridis.map(parseHex);
  return tableOf((u) => along(stops, dark ? u : 1 - u), blank);
}

/** Signed values: red above and blue below zero on light paper; `warm` above and `cool` below on dark paper. */
export function signedTable(dark: boolean, paper: Rgb, warm: Rgb, cool: Rgb, blank: Rgb): Uint8Array {
  const above = dark ? [paper, warm] : [paper, ...reds.map(parseHex)];
  const below = dark ? [paper, cool] : [paper, ...blues.map(parseHex)];
  return tableOf((u) => (u >= 0.5 ? along(above, 2 * u - 1) : along(below, 1 - 2 * u)), blank);
}

/** The same for the core, which counts entries from `low`: (value - low) * factor. */
export function lawOf(scale: ColourScale): { low: number; factor: number } {
  const [low, span] =
    scale.kind === "signed" ? [-(scale.extent || 1), 2 * (scale.extent || 1)] : [scale.min, scale.max - scale.min || 1];
  return { low, factor: Math.min(lastEntry / span, 3e38) };
}

/** Entry of a value in a colour table; NaN is blank, values outside the scale take its ends. */
export function entryOf(scale: ColourScale, value: number): number {
  if (Number.isNaN(value)) return blankEntry;
  const u =
    scale.kind === "signed"
      ? zeroEntry + (zeroEntry * value) / (scale.extent || 1)
      : (lastEntry * (value - scale.min)) / (scale.max - scale.min || 1);
  return u <= 0 ? 0 : u >= lastEntry ? lastEntry : Math.round(u);
}

/** The colour of a value. */
export function colourOf(table: Uint8Array, scale: ColourScale, value: number): Rgb {
  const at = 3 * entryOf(scale, value);
  return [table[at] ?? 0, table[at + 1] ?? 0, table[at + 2] ?? 0];
}

/** Relative luminance, 0 to 1 (a quick form: enough to choose ink or paper for a number on a cell). */
export function luminance([r, g, b]: Rgb): number {
  return (0.2126 * r * r + 0.7152 * g * g + 0.0722 * b * b) / 65025;
}

function tableOf(colour: (u: number) => Rgb, blank: Rgb): Uint8Array {
  const table = new Uint8Array(768);
  for (let i = 0; i <= lastEntry; i++) table.set(colour(i / lastEntry), 3 * i);
  table.set(blank, 3 * blankEntry);
  return table;
}

function along(stops: readonly Rgb[], u: number): Rgb {
  const place = u * (stops.length - 1);
  const left = Math.min(Math.floor(place), stops.length - 2);
  const a = stops[left] as Rgb;
  const b = stops[left + 1] as Rgb;
  const mix = (i: 0 | 1 | 2): number => Math.round(a[i] + (b[i] - a[i]) * (place - left));
  return [mix(0), mix(1), mix(2)];
}
