// <posenc-spectrum>: the pairs of a scheme as clocks beside a context, before and after a scaling rule, and a position
// as a number in their places.
import { radix, spectrum as spectrumOf, type Radix, type Spectrum } from "../src/analysis/index.js";
import { encode, frequencies, sinusoidal, type Frequencies } from "../src/core.js";
import { drawChart, type ChartLine } from "./chart.js";
import {
  choice,
  cursorField,
  defineFigure,
  range,
  type Code,
  type DataTable,
  type Reading,
  type State,
} from "./figure.js";
import { book, count, short } from "./format.js";
import { drawPlate, labelSize } from "./marks.js";
import { schemeCode, schemeFields, schemeText, type ChosenScheme } from "./scheme-fields.js";
import type { Ink, Surface } from "./surface.js";
import { beforeScaling, chosenTurning, turningChooser, turningDescriptor, type Turning } from "./turning.js";

interface Model {
  chosen: ChosenScheme<Turning>;
  title: string;
  context: number;
  pairs: number;
  /** As the scheme is, and as it was before its scaling rule. */
  after: Spectrum;
  before: Spectrum | undefined;
  beforeScheme: Turning | undefined;
  rule: string | undefined;
  bands: Frequencies["band"];
}

type Drawn = State<Model>;

const mostDials = 64;

export const spectrum = defineFigure<Model>({
  name: "spectrum",
  attributes: {
    scheme: 'A scheme that turns pairs: "rope" (the default), "sinusoidal" or another.',
    dim: "The width, two columns a pair; 64 by default, 8 for a number.",
    base: "The base of the wavelengths.",
    context: "Positions in the context, from 1; 4096 by default.",
    view: "wavelengths or number.",
    pair: "The pair under the cursor, from 0.",
    position: "The position that is written as a number.",
    place: "The place of the number under the cursor, from 0 for the greatest.",
  },

  tabs: () =>
    choice("view", "view", "wavelengths", [
      { value: "wavelengths", label: "wavelengths" },
      { value: "number", label: "a position as a number" },
    ]),

  fields: (values) => {
    const number = values.view === "number";
    const context = Number(values.context ?? 4096);
    const types = values["scaling.type"];
    return [
      ...(number
        ? [
            range("position", "position", undefined, 0, Math.max(1, context - 1), {
              integer: true,
              least: null,
              most: null,
              play: true,
              format: (value) => book(value),
            }),
          ]
        : []),
      turningChooser("spectrum", "rope"),
      ...schemeFields(turningDescriptor(String(values.scheme ?? "rope")), {
        values,
        row: ["dim", "base", "scaling.type", ...(types === "none" ? [] : ["scaling.factor"])],
        start: { dim: number ? 8 : 64 },
        change: { dim: { label: "dimensions", max: 256, step: 2 }, "scaling.type": { label: "scaling rule" } },
      }),
      range("context", "context", 4096, 64, 2 ** 20, { integer: true, log: true, least: 1, most: 2 ** 53 }),
      ...(number ? [] : [cursorField("position", "The position that is written as a number.")]),
      cursorField("pair", "The pair under the cursor."),
      cursorField("place", "The place under the cursor."),
    ];
  },

  compute: (values, data) => {
    const chosen = chosenTurning(values, data);
    const context = Number(values.context);
    const beforeScheme = beforeScaling(chosen.scheme);
    const after = spectrumOf(chosen.scheme, { context });
    return {
      chosen,
      title: chosen.title,
      context,
      pairs: after.frequency.length,
      after,
      before: beforeScheme && spectrumOf(beforeScheme, { context }),
      beforeScheme,
      rule: beforeScheme && String((chosen.scheme as { scaling?: { type?: string } }).scaling?.type),
      bands: frequencies(chosen.scheme, { length: context }).band,
    };
  },

  cells: ({ model, view }) =>
    view === "number"
      ? {
          row: { name: "position", count: model.context, start: Math.floor(0.66 * (model.context - 1)) },
          column: { name: "place", count: model.pairs, start: hiddenPlaces(model) },
        }
      : { column: { name: "pair", count: model.pairs, start: Math.floor(0.4 * model.pairs) } },

  height: ({ view, model }, width) => {
    if (view === "number") return numberLayout(model, width).height;
    return width < 500 ? 330 : Math.min(420, Math.round(0.5 * width));
  },

  draw: (surface, state) => {
    if (state.view === "number") drawNumber(surface, state);
    else drawWavelengths(surface, state);
  },

  title: ({ model, view, row }) => {
    const rule = model.rule === undefined ? "" : `, ${model.rule} scaling`;
    if (view === "number") return `${model.title}${rule}, ${count(model.pairs, "pair")}: position ${book(row)} as a number`;
    return `${model.title}${rule}: ${count(model.pairs, "wavelength")} and a context of ${book(model.context)}`;
  },

  caption: ({ model, view }) => {
    if (view === "number") {
      const ratio = ratioOf(model);
      const places =
        ratio === undefined
          ? "Each place is worth one radian of its pair"
          : `Each place is worth ${short(ratio)} of the next and is one radian of its pair`;
      const hidden = hiddenPlaces(model);
      const drawn = hidden === 0 ? "" : ` Drawn are the ${book(mostDials)} least places of ${book(model.pairs)}.`;
      return (
        `${places}; digits are as large as they can be from the greatest place down. The hand below is where the ` +
        `pair stands: fast ones tell neighbours apart, slow ones the far from the near.${drawn}`
      );
    }
    const never = model.after.neverTurn.length;
    const now =
      `Pairs above the line never complete a turn within the context (${book(never)} of ${book(model.pairs)}): ` +
      "of their circle only a part is ever seen.";
    if (!model.before) return now;
    const earlier = model.before.neverTurn.length;
    const parts = ["kept", "ramped", "scaled"].flatMap((band) => {
      const many = model.bands.filter((own) => own === band).length;
      return many === 0 ? [] : [`${band} ${book(many)}`];
    });
    return `${now} Before the rule there were ${earlier === 0 ? "none" : book(earlier)}. Of the pairs it has ${parts.join(", ")}.`;
  },

  readout: (state) => (state.view === "number" ? numberReadings(state) : wavelengthReadings(state)),

  summary: ({ model, view, row }) => {
    const { wavelength } = model.after;
    const [first, last] = [wavelength[0] as number, wavelength[model.pairs - 1] as number];
    if (view === "number") {
      const { digits } = radix(model.chosen.scheme, row, { length: model.context });
      return (
        `Position ${book(row)} as ${count(model.pairs, "digit")}, from the greatest place: ` +
        `${Array.from(digits).reverse().map(String).join(" ")}. Under each a clock hand of its pair.`
      );
    }
    return (
      `Wavelengths of ${count(model.pairs, "pair")} of ${model.title} on a log axis, from ` +
      `${book(first, { significant: 4 })} to ${book(last, { significant: 4 })} positions a turn` +
      `${model.rule === undefined ? "" : `, with ${model.rule} scaling and before it`}. ` +
      `In a context of ${book(model.context)}, ${noFullTurn(count(model.after.neverTurn.length, "pair"))}.`
    );
  },

  table: (state) => (state.view === "number" ? numberTable(state) : wavelengthTable(state.model)),

  array: ({ model, view, row }) => {
    if (view === "number") {
      return { data: radix(model.chosen.scheme, row, { length: model.context }).digits, shape: [model.pairs] };
    }
    if (!model.before) return { data: model.after.wavelength, shape: [model.pairs] };
    const both = new Float64Array(2 * model.pairs);
    both.set(model.before.wavelength);
    both.set(model.after.wavelength, model.pairs);
    return { data: both, shape: [2, model.pairs] };
  },

  code: (state) => codeOf(state),
});

// ---------------------------------------------------------------- wavelengths

function wavelengthReadings({ model, column }: Drawn): Reading[] {
  const { after, before } = model;
  const turn = (value: number): string => (value === Infinity ? "stands still" : book(value, { significant: 4 }));
  const [now, then] = [after.wavelength[column] as number, before?.wavelength[column]];
  return [
    { label: "pair", value: book(column) },
    { label: "wavelength", value: turn(now), ...(now === Infinity ? {} : { unit: "positions" }) },
    ...(then === undefined
      ? []
      : [
          { label: "before", value: turn(then) },
          { label: "this pair is", value: model.bands[column] ?? "kept" },
        ]),
    { label: "turns in the context", value: book(after.turns[column] as number, { significant: 3 }) },
  ];
}

function wavelengthTable({ after, before, bands, pairs }: Model): DataTable {
  const columns: [string, (pair: number) => number | string][] = [
    ["pair", (pair) => pair],
    ["wavelength", (pair) => after.wavelength[pair] as number],
    ["frequency", (pair) => after.frequency[pair] as number],
    ["turns", (pair) => after.turns[pair] as number],
    ...(before
      ? ([
          ["wavelength before", (pair) => before.wavelength[pair] as number],
          ["band", (pair) => bands[pair] as string],
        ] as [string, (pair: number) => number | string][])
      : []),
  ];
  return { header: columns.map(([name]) => name), rows: pairs, cell: (r, c) => columns[c]![1](r) };
}

function drawWavelengths(surface: Surface, { model, column }: Drawn): void {
  const { after, before, context, pairs, bands } = model;
  const finite = [...after.wavelength, ...(before?.wavelength ?? [])].filter(Number.isFinite);
  const least = finite.reduce((a, b) => Math.min(a, b), context);
  const most = finite.reduce((a, b) => Math.max(a, b), context);
  // Above the lines there is room for what the rule did to their pairs.
  const [min, max] = [least / 1.6, most * (before ? 5 : 2.2)];
  // A pair that stands still would be at infinity: it stands above all others.
  const shown = (of: Spectrum, pair: number): number => Math.min(of.wavelength[pair] as number, 1.6 * most);
  // Two pairs a pixel are enough to be seen; the last of all is always one of them.
  const step = Math.max(1, Math.floor(pairs / (2 * surface.width)));
  const x = Array.from({ length: Math.ceil(pairs / step) }, (_, k) => pairs - 1 - k * step).reverse();
  const curve = (of: Spectrum): number[] => x.map((pair) => shown(of, pair));
  const never = new Set(after.neverTurn);
  const radius = Math.max(1.4, Math.min(3, surface.width / pairs / 5));
  const lines: ChartLine[] = [{ x, y: curve(after), ink: "ink", width: 0.8, alpha: 0.5 }];
  if (before) {
    lines[0]!.name = "after";
    lines.unshift({ x, y: curve(before), ink: "grey", width: 1, dash: [3, 3], name: "before" });
  }
  const charted = drawChart(surface, {
    box: { x: 0, y: 0, width: surface.width, height: surface.height },
    x: { min: -0.5, max: pairs - 0.5, wish: surface.narrow ? 4 : 8, tick: book },
    y: { min, max, log: true, wish: 6, label: "positions a turn" },
    lines,
    cursor: {
      at: column,
      name: `pair ${column}`,
      ink: "ink",
      dots: before ? [{ y: shown(before, column), ink: "grey" }] : [],
    },
    locate: (at) => ({ column: Math.max(0, Math.min(pairs - 1, Math.round(at))) }),
  });
  const { plot } = charted;
  const y = charted.y.place(context);
  surface.path([plot.x, y, plot.x + plot.width, y], { stroke: "cool", width: 1.6 });
  // In their order, the cursor's among them.
  const dots = x.includes(column) ? x : [...x, column].sort((a, b) => a - b);
  const places = dots.map((pair) => [charted.x.place(pair), charted.y.place(shown(after, pair))] as const);
  dots.forEach((pair, k) => {
    const ink = never.has(pair) ? "accent" : "ink";
    surface.disc(...places[k]!, pair === column ? radius + 1.6 : radius, { fill: ink });
  });
  // At the end that is farther from where the pairs cross the line, else where there is room: on a dot nothing may lie.
  const late = 2 * never.size > pairs;
  const write = (side: number, words: string, ink: Ink): void => {
    const style = { size: labelSize, ink };
    const wide = surface.textWidth(words, style) + 6 + radius;
    const free = ([end, away]: readonly [boolean, number]): boolean =>
      !places.some(([px, py]) => {
        const inside = end ? plot.x + plot.width - px : px - plot.x;
        return inside < wide && Math.abs(py - y - side * away) < 7 + radius;
      });
    const near = [11, 25, 39, 53, 67, 81].flatMap((away) => [[late, away], [!late, away]] as const);
    const [end, away] = near.find(free) ?? near[0]!;
    const align = end ? "end" : "start";
    drawPlate(surface, plot.x + (end ? plot.width - 4 : 4), y + side * away, words, { ...style, align });
  };
  write(1, `context ${book(context)}`, "cool");
  const told = surface.narrow ? book(never.size) : count(never.size, "pair");
  if (never.size > 0) write(-1, noFullTurn(told), "accent");
  if (before) drawBands(surface, charted, bands);
}

function noFullTurn(pairs: string): string {
  return `no full turn: ${pairs}`;
}

// What the rule did to runs of pairs, told under the upper edge.
function drawBands(surface: Surface, { plot, x }: ReturnType<typeof drawChart>, bands: readonly string[]): void {
  for (let from = 0; from < bands.length; ) {
    let to = from;
    while (to + 1 < bands.length && bands[to + 1] === bands[from]) to++;
    const [left, right] = [x.place(from - 0.5), x.place(to + 0.5)];
    if (from > 0) surface.path([left, plot.y, left, plot.y + plot.height], { stroke: "grey", dash: [1, 3] });
    const word = bands[from] as string;
    if (surface.textWidth(word, { size: labelSize }) < right - left - 4) {
      drawPlate(surface, (left + right) / 2, plot.y + 9, word, { align: "middle", size: labelSize });
    }
    from = to + 1;
  }
}

// ---------------------------------------------------------------- a position as a number

interface NumberLayout {
  /** Pairs shown, from the greatest place. */
  perRow: number;
  side: number;
  rowHeight: number;
  height: number;
}

function numberLayout({ pairs }: Model, width: number): NumberLayout {
  const shown = Math.min(pairs, mostDials);
  const rows = Math.ceil(shown / Math.max(1, Math.floor(width / (width < 500 ? 52 : 62))));
  const perRow = Math.ceil(shown / rows);
  const side = Math.min(width / perRow, 120);
  const rowHeight = Math.round(54 + side * 0.8 + 22);
  return { perRow, side, rowHeight, height: rows * rowHeight + 6 };
}

// The least places are shown where there is no room for all.
function hiddenPlaces({ pairs }: Model): number {
  return Math.max(0, pairs - mostDials);
}

// Pairs by place: the slowest first, those that stand still before all.
function placesOf({ after, pairs }: Model): number[] {
  return Array.from({ length: pairs }, (_, i) => i).sort(
    (a, b) => (after.frequency[a] as number) - (after.frequency[b] as number) || b - a,
  );
}

// The ratio of neighbouring places where it is the same for all.
function ratioOf(model: Model): number | undefined {
  const { frequency } = model.after;
  const ratio = (i: number): number => (frequency[i] as number) / (frequency[i + 1] as number);
  const first = ratio(0);
  for (let i = 0; i + 1 < model.pairs; i++) if (!(Math.abs(ratio(i) / first - 1) < 1e-9)) return undefined;
  return model.pairs < 2 || !Number.isFinite(first) ? undefined : first;
}

function numberAt({ model, row }: Drawn): Radix {
  return radix(model.chosen.scheme, row, { length: model.context });
}

function worthOf(model: Model, pair: number): string {
  const frequency = model.after.frequency[pair] as number;
  return frequency === 0 ? "\u221e" : short(1 / frequency);
}

function numberReadings(state: Drawn): Reading[] {
  const { model, row, column } = state;
  const { digits, phase, rest } = numberAt(state);
  const pair = placesOf(model)[column] as number;
  const worth = worthOf(model, pair);
  return [
    { label: "position", value: book(row) },
    { label: "pair", value: book(pair) },
    { label: "worth", value: worth, unit: worth === "1" ? "position" : "positions" },
    { label: "digit", value: book(digits[pair] as number) },
    { label: "phase", value: book(phase[pair] as number, { decimals: 4 }), unit: "of a turn" },
    ...(rest === 0 ? [] : [{ label: "left over", value: book(rest, { significant: 3 }) }]),
  ];
}

function numberTable(state: Drawn): DataTable {
  const { digits, phase } = numberAt(state);
  const { frequency } = state.model.after;
  return {
    header: ["pair", "frequency", "digit", "phase"],
    rows: state.model.pairs,
    cell: (r, c) => [r, frequency[r], digits[r], phase[r]][c] as number,
  };
}

function drawNumber(surface: Surface, state: Drawn): void {
  const { model, row, column } = state;
  const { perRow, side, rowHeight } = numberLayout(model, surface.width);
  const { digits } = numberAt(state);
  const hands = handsAt(model, row);
  const indent = (surface.width - perRow * side) / 2;
  const radius = side * 0.36;
  const places = placesOf(model);
  const hidden = hiddenPlaces(model);
  places.slice(hidden).forEach((pair, k) => {
    const left = indent + (k % perRow) * side;
    const top = Math.floor(k / perRow) * rowHeight;
    const own = k + hidden === column;
    const middle = left + side / 2;
    // No wider than their place.
    const write = (y: number, words: string, most: number, ink: Ink): void => {
      const size = Math.min(most, (0.94 * most * side) / surface.textWidth(words, { size: most }));
      surface.text(middle, y, words, { align: "middle", size, ink });
    };
    write(top + 18, book(digits[pair] as number), side < 60 ? 18 : 26, own ? "accent" : "ink");
    write(top + 42, `\u00d7 ${worthOf(model, pair)}`, 11, own ? "accent" : "grey");
    const y = top + 54 + radius + 2;
    surface.disc(middle, y, radius, { stroke: own ? "accent" : "faint" });
    surface.path([middle, y - radius, middle, y - radius + 4], { stroke: "grey" });
    const [sine, cosine] = [hands[pair] as number, hands[model.pairs + pair] as number];
    const tip: [number, number] = [middle + radius * sine, y - radius * cosine];
    surface.path([middle, y, ...tip], { stroke: own ? "accent" : "ink", width: own ? 2 : 1.4 });
    surface.disc(...tip, own ? 3.4 : 2.6, { fill: own ? "accent" : "cool" });
    surface.text(middle, y + radius + 12, `pair ${pair}`, { align: "middle", size: 11 });
    surface.region({ x: left, y: top, width: side, height: rowHeight }, () => ({ column: k + hidden }));
  });
}

// Sines, then cosines, of the pairs at a position.
function handsAt(model: Model, position: number): ArrayLike<number> {
  const unit = sinusoidal({ dim: 2 * model.pairs, frequencies: model.after.frequency, layout: "half" });
  return encode(unit, [position], { dtype: "float64" }).data as Float64Array;
}

// ---------------------------------------------------------------- code

function codeOf({ model, values, view, row }: Drawn): Code {
  const { chosen, beforeScheme, context } = model;
  const made = `const scheme = ${chosen.code};\n`;
  if (view === "number") {
    return {
      javascript:
        `import { radix, ${chosen.name} } from "posenc";\n\n${made}` +
        `const { digits, phase, rest } = radix(scheme, ${row}, { length: ${context} });\n`,
      numpy: async () => {
        const { digitsNumpy } = await import("./numpy-programs.js");
        return digitsNumpy(chosen.scheme, context, model.pairs, row);
      },
    };
  }
  const scaled = Object.keys(values).filter((name) => name.startsWith("scaling."));
  const plain =
    beforeScheme &&
    (chosen.given
      ? schemeText(beforeScheme)
      : schemeCode(chosen.scheme.slot, chosen.name, values, scaled));
  const before = plain === undefined ? "" : `const before = spectrum(${plain}, { context: ${context} }).wavelength;\n`;
  return {
    javascript:
      `import { ${chosen.name}, spectrum } from "posenc";\n\n${made}` +
      `const { wavelength, turns, neverTurn } = spectrum(scheme, { context: ${context} });\n${before}`,
    numpy: async () => {
      const { wavelengthsNumpy } = await import("./numpy-programs.js");
      return wavelengthsNumpy(chosen.scheme, context, { before: true });
    },
  };
}
