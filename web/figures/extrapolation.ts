// <posenc-extrapolation>: a training range and what lies beyond it: where schemes end or go on, which phases each pair
// never met, and what each rule of context extension does about it.
import {
  contextExtension,
  extrapolation as extrapolationOf,
  type ContextExtension,
  type Extrapolation,
} from "../src/analysis/index.js";
import {
  arange,
  bias as biasOf,
  alibi,
  encode,
  frequencies,
  fromJSON,
  learned,
  rope,
  sinusoidal,
  t5,
  type LearnedOptions,
  type RotateScheme,
} from "../src/core.js";
import { inSteps, type Step } from "./background.js";
import type { ColourScale } from "./colour.js";
import {
  choice,
  cursorField,
  defineFigure,
  range,
  type Code,
  type State,
  type Values,
} from "./figure.js";
import { book, count, short } from "./format.js";
import { givenScheme } from "./given-data.js";
import { brokenLines, drawFrames, indexTicks, labelSize, legend, wholeTicks } from "./marks.js";
import { descriptorOf, literal, schemeText } from "./scheme-fields.js";
import type { Box, Surface } from "./surface.js";

/** RoPE under one rule, against what was trained. */
interface Rule {
  name: string;
  scheme: RotateScheme;
  code: string;
  phases: Extrapolation;
  extension: ContextExtension;
}

/** What schemes hand to attention at positions, or at distances, 0 to length - 1. */
interface Lanes {
  /** [dim, samples]. */
  sinusoids: Float32Array;
  /** [dim, samples]; NaN where the table has ended. */
  table: Float32Array;
  /** Of the head shown, by distance. */
  alibi: Float32Array;
  t5: Float32Array;
}

export interface Model {
  trained: number;
  length: number;
  dim: number;
  pairs: number;
  /** Tokens from one sample to the next. */
  step: number;
  samples: number;
  head: number;
  past: string;
  rules: readonly Rule[];
  /** The rule chosen, among them: the only one but in the view of rules. */
  chosen: number;
  /** The call that makes RoPE as it was trained. */
  plain: string;
  lanes: Lanes | undefined;
  /** Tokens a turn of each pair of the chosen rule takes; null where it does not turn. */
  wavelengths: readonly (number | null)[];
  /** Sine and cosine along the arc of phases met in training and along the new one, of each of these pairs. */
  arcs: readonly { seen: Float32Array; met: Float32Array }[];
}

type Drawn = State<Model>;

const heads = 8;
const mostSamples = 2048;
const mostRuleSamples = 512;
const mostDials = 48;
// Less of a circle is the last step of the last position, which (length - 1) / factor leaves over trained - 1.
const leastShare = 0.005;
const past = ["error", "wrap", "clamp", "interpolate"] as const;
const pastNames: Readonly<Record<string, string>> = {
  error: "ends",
  wrap: "wraps round",
  clamp: "stays at its last row",
  interpolate: "is stretched",
};
const ruleNames: Readonly<Record<string, string>> = {
  none: "as it is",
  linear: "linear scaling",
  ntk: "NTK-aware",
  dynamic: "dynamic NTK",
  "dynamic-static": "dynamic, static",
  qwen: "Qwen",
  yarn: "YaRN",
  llama3: "Llama 3",
};

export const extrapolation = defineFigure<Model>({
  name: "extrapolation",
  attributes: {
    trained: "How many positions were trained, 2 to 131\u202f072; 512 by default.",
    factor: "How many times as many are given now, 1 to 64; 4 by default.",
    dim: "The width of encodings and of RoPE, 2 to 512; 64 by default.",
    base: "The base of the wavelengths.",
    scaling: "RoPE's rule in the views of schemes and of phases: none, linear, ntk, dynamic, yarn, llama3 \u2026",
    past: "What a learned table does past its end: error, wrap, clamp or interpolate.",
    head: "The head of the biases, 1 to 8.",
    view: "schemes, phases or rules.",
    position: "The position or distance under the cursor.",
    rule: "The rule under the cursor, from 0.",
    pair: "The pair under the cursor.",
  },

  tabs: () =>
    choice("view", "view", "schemes", [
      "schemes",
      { value: "phases", label: "phases of RoPE" },
      "rules",
    ]),

  fields: (values) => {
    const schemes = (values.view ?? "schemes") === "schemes";
    const place = schemes ? "row" : "none";
    const ends = past.map((value) => ({ value, label: pastNames[value] as string }));
    return [
      range("trained", "trained", 512, 64, 8192, { integer: true, log: true, least: 2, most: 131072 }),
      range("factor", "factor", 4, 1, 32, { log: true, most: 64, format: (value) => `\u00d7 ${short(value)}` }),
      range("dim", "dimensions", 64, 4, 128, { integer: true, step: 2, least: 2, most: 512 }),
      range("base", "base", 10000, 100, 1e6, { log: true, least: null, most: null, format: (value) => book(value) }),
      choice("scaling", "RoPE\u2019s rule", "none", ruleChoices(), { place: values.view === "rules" ? "none" : "row" }),
      choice("past", "past its end a table", "error", ends, { place }),
      range("head", "head of the biases", 4, 1, heads, { integer: true, place }),
      cursorField("position", "The position or distance under the cursor."),
      cursorField("rule", "The rule under the cursor."),
      cursorField("pair", "The pair under the cursor."),
    ];
  },

  ...inSteps(modelOf, ({ trained, factor, dim }) => Number(trained) * Number(factor) * Number(dim) > muchWork),

  cells: ({ view, model }) => {
    if (view === "schemes") {
      return { column: { name: "position", count: model.length, start: Math.floor(1.2 * model.trained) } };
    }
    const pair = { name: "pair", count: model.pairs, start: Math.floor(0.62 * model.pairs) };
    return view === "phases" ? { column: pair } : { row: { name: "rule", count: model.rules.length }, column: pair };
  },

  height: ({ view, model }, width) =>
    view === "schemes"
      ? lanesLayout(width).height
      : view === "phases"
        ? dials(model, width).height
        : rulesLayout(model, width).height,

  draw: (surface, state) => {
    if (state.view === "schemes") drawLanes(surface, state);
    else if (state.view === "phases") drawPhases(surface, state);
    else drawRules(surface, state);
  },

  title: ({ view, model }) => {
    const to = `${book(model.length)} positions, ${book(model.trained)}\u00a0of them trained`;
    if (view === "schemes") return `Schemes at ${to}`;
    return view === "phases" ? `Phases of RoPE${under(chosenRule(model))} at ${to}` : `Rules for RoPE at ${to}`;
  },

  caption: ({ view, model }) => {
    if (view === "schemes") {
      const goesOn = " That a formula goes on does not say that a model does well there.";
      return lanesSentences(model) + (model.length > model.trained ? goesOn : "");
    }
    if (view === "phases") {
      return (
        `Each circle is a pair: the thin arc has the phases it met in training, the thick one those it meets for the ` +
        `first time now. ` +
        `${phasesSentence(model)} Below each stands how many tokens it takes for one turn.`
      );
    }
    return (
      "The first map: how much of its circle each pair meets for the first time; the second: what a rule leaves of " +
      "its frequency. Fast pairs have met every phase and need no rule; slow ones do. Below, the score of a query " +
      "and a key all of whose pairs are (1, 0), by distance."
    );
  },

  readout: (state) => readingsOf(state),

  summary: ({ view, model }) => {
    const range = `${book(model.length)} positions where ${book(model.trained)} were trained`;
    if (view === "schemes") return `What five schemes hand to attention at ${range}. ${lanesSentences(model)}`;
    if (view === "phases") {
      const circles = `Circles of ${count(model.pairs, "pair")} of RoPE${under(chosenRule(model))}`;
      return `${circles} at ${range}. ${phasesSentence(model)}`;
    }
    const each = model.rules.map((rule) => `${rule.name}: ${newPairs(rule)}`).join(", ");
    return `Pairs of RoPE that meet phases for the first time at ${range}, of ${model.pairs}, by rule: ${each}.`;
  },

  table: ({ view, model }) => {
    const { rules, pairs, lanes, step, samples } = model;
    if (view === "schemes" && lanes) {
      const kernel = chosenRule(model).extension.kernel.after.data;
      return {
        header: ["position", "ALiBi", "T5", "RoPE"],
        rows: samples,
        cell: (r, c) => [r * step, lanes.alibi[r], lanes.t5[r], kernel[r]][c] as number,
      };
    }
    if (view === "phases") {
      const { seen, reached, unseen } = chosenRule(model).phases;
      return {
        header: ["pair", "turns in training", "turns now", "share of the circle met for the first time"],
        rows: pairs,
        cell: (r, c) => (c === 0 ? r : ([seen, reached, unseen][c - 1]!.data[r] as number)),
      };
    }
    return {
      header: ["rule", ...Array.from({ length: pairs }, (_, i) => `pair ${i}`)],
      rows: rules.length,
      cell: (r, c) => (c === 0 ? rules[r]!.name : (rules[r]!.phases.unseen.data[c - 1] as number)),
    };
  },

  array: ({ view, model }) => {
    const { rules, pairs, lanes, samples } = model;
    if (view === "phases") return { data: chosenRule(model).phases.unseen.data as Float64Array, shape: [pairs] };
    if (view === "rules") {
      const data = new Float64Array(rules.length * pairs);
      rules.forEach(({ phases }, r) => data.set(phases.unseen.data, r * pairs));
      return { data, shape: [rules.length, pairs] };
    }
    const data = new Float64Array(3 * samples);
    const { alibi: one, t5: two } = lanes as Lanes;
    [one, two, chosenRule(model).extension.kernel.after.data].forEach((line, k) => data.set(line, k * samples));
    return { data, shape: [3, samples] };
  },

  code: (state) => codeOf(state),
});

// ---------------------------------------------------------------- the model

function chosenRule({ rules, chosen }: Model): Rule {
  return rules[chosen] as Rule;
}

// "RoPE under YaRN", but "RoPE as given".
function under({ name }: Rule): string {
  return name === ruleNames.none ? "" : ` ${name === "given" ? "as" : "under"} ${name}`;
}

type Param = ReturnType<typeof descriptorOf>["params"][number];

// Rules that numbers alone make; one that needs lists is given as data.
function ruleTypes(): { value: string; params: readonly Param[] }[] {
  const { params } = descriptorOf("rotate", "rope");
  const choices = params.find(({ name }) => name === "scaling.type")?.choices ?? [];
  return choices.flatMap((value) => {
    const needed = params.filter((param) => param.where === "scaling.type" && param.neededBy?.includes(value));
    return needed.some(({ kind }) => kind === "list" || kind === "table") ? [] : [{ value, params: needed }];
  });
}

function ruleName(value: string): string {
  return ruleNames[value] ?? value;
}

function ruleChoices(): { value: string; label: string }[] {
  return ruleTypes().map(({ value }) => ({ value, label: ruleName(value) }));
}

// A rule's numbers: lengths are those trained, factors the factor, others as they are shown.
function scalingOf(type: string, params: readonly Param[], trained: number, factor: number): Record<string, unknown> {
  const scaling: Record<string, unknown> = { type };
  for (const { name, kind, shown } of params) {
    const short = name.replace("scaling.", "");
    scaling[short] = short === "factor" ? factor : kind === "integer" ? trained : shown?.value;
  }
  return scaling;
}

// Angles of a rule: more take longer than a page should wait.
const muchWork = 2 ** 22;

function* modelOf(values: Values, data: unknown): Generator<Step, Model> {
  const trained = Number(values.trained);
  const factor = Number(values.factor);
  const given = givenScheme(data, ["rotate"]);
  // A scheme with a base of its own is compared with plain RoPE of that base.
  const base = Number((given as { base?: unknown } | undefined)?.base ?? values.base);
  const length = Math.round(trained * factor);
  // Of a width, a scheme may turn a part alone: what it is compared with turns as many pairs.
  const turned = given && 2 * frequencies(given, { length }).inverse.length;
  const dim = Number((given as { dim?: unknown } | undefined)?.dim ?? turned ?? values.dim);
  const all = values.view === "rules";
  const step = Math.ceil(length / (values.view === "schemes" ? mostSamples : mostRuleSamples));
  const offsets = arange(0, length, step);
  const samples = Math.ceil(length / step);
  const part = turned === undefined || turned === dim ? {} : { rotaryDim: turned };
  const options = { dim, ...part, ...(base === 10000 ? {} : { base }) };
  const plain = rope(options);
  const ruleOf = (name: string, scheme: RotateScheme, code: string): Rule => ({
    name,
    scheme,
    code,
    phases: extrapolationOf(scheme, { trained, length, trainedWith: plain }),
    extension: contextExtension(plain, scheme, { length, beforeLength: trained, offsets, normalize: true }),
  });
  const ruleAt = (value: string, params: readonly Param[]): Rule => {
    const scaled = value === "none" ? options : { ...options, scaling: scalingOf(value, params, trained, factor) };
    const scheme = fromJSON({ slot: "rotate", name: "rope", ...scaled }) as RotateScheme;
    return ruleOf(ruleName(value), scheme, `rope(${literal(scaled)})`);
  };
  const rules: Rule[] = [];
  for (const { value, params } of ruleTypes()) {
    const wanted = !given && value === values.scaling;
    if (!all && !wanted) continue;
    yield { done: rules.length, total: all ? ruleTypes().length : 1 };
    try {
      rules.push(ruleAt(value, params));
    } catch (error) {
      // Some rules need more pairs than there are.
      if (wanted && !all) throw error;
    }
  }
  if (given) rules.push(ruleOf("given", given, schemeText(given)));
  const chosen = all ? 0 : rules.length - 1;
  const { phases } = rules[chosen] as Rule;
  const head = Number(values.head) - 1;
  const common = { trained, length, dim, pairs: phases.seen.size, step, samples, head, past: String(values.past) };
  const lanes = values.view === "schemes" ? lanesOf(common, Number(values.base)) : undefined;
  const arcs = values.view === "phases" ? arcsOf(phases) : [];
  const wavelengths = Array.from(frequencies((rules[chosen] as Rule).scheme, { length }).wavelength);
  return { ...common, rules, chosen, plain: `rope(${literal(options)})`, lanes, wavelengths, arcs };
}

type Sizes = Pick<Model, "trained" | "length" | "dim" | "step" | "samples" | "head" | "past">;

function lanesOf({ trained, length, dim, step, samples, head, past: rule }: Sizes, base: number): Lanes {
  const positions = arange(0, length, step);
  const table = new Float32Array(dim * samples).fill(Number.NaN);
  const rows = learned({ length: trained, dim, std: 1, outOfRange: rule as NonNullable<LearnedOptions["outOfRange"]> });
  const reach = rule === "error" ? Math.min(samples, Math.ceil(trained / step)) : samples;
  // Stretched over all positions, the table has none past its end.
  const stretch = rule === "interpolate" ? { length } : {};
  transpose(encode(rows, arange(0, reach * step, step), stretch).data, dim, samples, table);
  const sinusoids = new Float32Array(dim * samples);
  transpose(encode(sinusoidal({ dim, base }), positions).data, dim, samples, sinusoids);
  // The last query and the keys before it: by distance.
  const line = (scheme: Parameters<typeof biasOf>[0]): Float32Array =>
    biasOf(scheme, { queries: arange(0, length, step), keys: [0], heads: [head] }).data as Float32Array;
  return { sinusoids, table, alibi: line(alibi({ heads })), t5: line(t5({ heads, seed: 1 })) };
}

function transpose(rows: ArrayLike<number>, dim: number, samples: number, into: Float32Array): void {
  for (let at = 0; at < rows.length; at++) into[(at % dim) * samples + Math.floor(at / dim)] = rows[at] as number;
}

// Points of the circle at shares of a turn, sine and cosine by turns, from the core.
function arcsOf({ seen, unseen }: Extrapolation): Model["arcs"] {
  const circle = sinusoidal({ dim: 2, frequencies: [2 * Math.PI] });
  const arc = (from: number, long: number): Float32Array => {
    if (!(long > 0)) return new Float32Array();
    const points = 2 + Math.ceil(64 * long);
    return encode(circle, Float64Array.from({ length: points }, (_, k) => from + (long * k) / (points - 1))).data;
  };
  return Array.from(seen.data, (turns, i) => {
    const whole = Math.min(1, turns);
    return { seen: arc(0, whole), met: arc(whole, unseen.data[i] as number) };
  });
}

function newPairs({ phases }: Rule): number {
  return phases.unseen.data.filter((share) => share > leastShare).length;
}

// ---------------------------------------------------------------- words

function lanesSentences(model: Model): string {
  const { trained, past: rule, length } = model;
  if (length <= trained) return "All positions were trained: raise the factor.";
  const ends = {
    error: `A learned table has no row from ${book(trained)} on.`,
    wrap: `A learned table that wraps round takes position ${book(trained)} for 0.`,
    clamp: `A learned table that stays at its last row takes all later positions for ${book(trained - 1)}.`,
    interpolate: "A stretched table has a row for every position, and none of them, nearly, is one that was trained.",
  }[rule] as string;
  return (
    `${ends} Sinusoids go on, in slow dimensions to values never met. ALiBi goes on falling by the same for each ` +
    "token, and T5 stays at its last bucket: both are functions of the distance that stay what they were. RoPE\u2019s " +
    "score goes on turning."
  );
}

function phasesSentence(model: Model): string {
  const rule = chosenRule(model);
  const never = rule.phases.seen.data.filter((turns) => turns < 1).length;
  const met = newPairs(rule);
  const first = `${never === 0 ? "All pairs" : `${book(never)} of ${count(model.pairs, "pair")}`} `;
  return (
    `${first}${never === 0 ? "" : "never "}went round in training; ` +
    (met === 0
      ? "none meets new phases, half a percent of a turn aside."
      : `${met} meet${met === 1 ? "s" : ""} new phases.`)
  );
}

function readingsOf({ view, model, row, column }: Drawn): { label: string; value: string; unit?: string }[] {
  if (view === "schemes") {
    const { step, lanes, trained, past: pastRule } = model;
    const at = Math.min(model.samples - 1, Math.round(column / step));
    const place = at * step;
    const { alibi: one, t5: two } = lanes as Lanes;
    const gone = place >= trained;
    const beyond = { error: "no row", wrap: "a row again", clamp: `row ${book(trained - 1)}` }[pastRule];
    const between = pastRule === "interpolate" && model.length > trained;
    const row = between ? "between rows" : gone ? beyond : `row ${book(place)}`;
    const score = chosenRule(model).extension.kernel.after.data[at] as number;
    return [
      { label: "position", value: book(place), unit: gone ? "(not trained)" : "(trained)" },
      { label: "learned table", value: row as string },
      { label: `ALiBi, ${book(place)} back`, value: book(one[at] as number, { decimals: 3 }) },
      { label: "T5", value: book(two[at] as number, { decimals: 3, signed: true }) },
      { label: "RoPE", value: book(score, { decimals: 3, signed: true }) },
    ];
  }
  const rule = view === "rules" ? (model.rules[row] as Rule) : chosenRule(model);
  const value = (of: { data: ArrayLike<number> }): number => of.data[column] as number;
  const { attentionFactor } = rule.extension;
  return [
    ...(view === "rules" ? [{ label: "rule", value: rule.name }] : []),
    { label: "pair", value: String(column) },
    { label: "turns in training", value: short(value(rule.phases.seen)) },
    { label: "now", value: short(value(rule.phases.reached)) },
    { label: "of its circle new", value: `${book(100 * value(rule.phases.unseen), { decimals: 1 })}\u00a0%` },
    { label: "frequency \u00d7", value: short(value(rule.extension.ratio)) },
    ...(attentionFactor.after === 1 ? [] : [{ label: "attention factor", value: short(attentionFactor.after) }]),
  ];
}

// ---------------------------------------------------------------- schemes over positions

interface LanesLayout {
  left: number;
  plot: number;
  tops: readonly number[];
  body: number;
  foot: number;
  height: number;
}

function lanesLayout(width: number): LanesLayout {
  const narrow = width < 500;
  const left = 50;
  const plot = width - left - 6;
  const body = narrow ? 48 : 56;
  const tops = [0, 1, 2, 3, 4].map((k) => 46 + k * (body + 34));
  const foot = (tops[4] as number) + body;
  return { left, plot, tops, body, foot, height: foot + 26 };
}

function drawLanes(surface: Surface, { model, column }: Drawn): void {
  const { left, plot, tops, body, foot } = lanesLayout(surface.width);
  const { length, trained, samples, step, dim, lanes } = model;
  const own = lanes as Lanes;
  const x = (position: number): number => left + (plot * (position + 0.5)) / length;
  const edge = left + (plot * Math.min(trained, length)) / length;
  const head = tops[0]! - 30;
  if (length > trained) surface.rect(edge, head, left + plot - edge, foot - head, { fill: "blank" });
  const box = (k: number): Box => ({ x: left, y: tops[k] as number, width: plot, height: body });
  const [signed, free] = [
    { kind: "signed", extent: 1 },
    { kind: "signed", extent: 2.5 },
  ] as const;
  const names = [
    ["Sinusoidal", "goes on"],
    [`Learned table of ${book(trained)}`, length > trained ? (pastNames[model.past] as string) : ""],
    ["ALiBi, by distance", "goes on"],
    ["T5, by distance", "stays at its last bucket"],
    [`RoPE${under(chosenRule(model))}, by distance`, "goes on turning"],
  ] as const;
  surface.heatMap(box(0), { values: own.sinusoids, rows: dim, columns: samples, scale: signed });
  surface.heatMap(box(1), { values: own.table, rows: dim, columns: samples, scale: free });
  legend(surface, signed, left - 14, tops[0] as number, body);
  legend(surface, free, left - 14, tops[1] as number, body);
  const at = Math.min(samples - 1, Math.round(column / step));
  const { kernel } = chosenRule(model).extension;
  const lines: [number, ArrayLike<number>, ArrayLike<number> | undefined][] = [
    [2, own.alibi, undefined],
    [3, own.t5, undefined],
    [4, kernel.after.data, kernel.before.data],
  ];
  for (const [k, values, before] of lines) {
    drawLine(surface, box(k), (n) => x(n * step), values, before, at);
  }
  names.forEach(([name, beyond], k) => {
    const y = (tops[k] as number) - 11;
    surface.text(left, y, name, { ink: "ink", size: labelSize });
    const from = left + surface.textWidth(name, { size: labelSize }) + 12;
    const wide = surface.textWidth(beyond, { size: labelSize });
    const wish = Math.max(from, edge + 6);
    if (beyond !== "" && length > trained && wish + wide <= left + plot) {
      surface.text(wish, y, beyond, { ink: "accent", size: labelSize });
    }
  });
  surface.path([edge, head, edge, head + 8], { stroke: "accent" });
  const trainedText = `trained to ${book(trained)}`;
  const half = surface.textWidth(trainedText, { size: labelSize }) / 2;
  surface.text(Math.max(left + half, Math.min(left + plot - half, edge)), 8, trainedText, {
    ink: "accent",
    align: "middle",
    size: labelSize,
  });
  const down = tops.flatMap((y) => [x(at * step), y, x(at * step), y + body, Number.NaN, Number.NaN]);
  surface.path(down, { stroke: "ink" });
  surface.path(down.map((place, k) => (k % 2 === 0 && !Number.isNaN(place) ? edge : place)), { stroke: "accent" });
  const label = book(at * step);
  const wide = surface.textWidth(label, { size: labelSize, bold: true }) / 2;
  const middle = Math.max(left + 8, Math.min(surface.width - wide - 1, x(at * step)));
  surface.text(middle, foot + 14, label, { ink: "ink", align: "middle", bold: true, size: labelSize });
  const clear = wide + 24;
  for (const tick of wholeTicks(0, length - 1, surface.narrow ? 4 : 8)) {
    if (Math.abs(x(tick) - middle) >= clear) drawTick(surface, x(tick), foot + 14, tick);
  }
  surface.region({ x: left, y: 0, width: plot, height: foot }, (u) => ({ column: Math.floor(u * length) }));
}

// Under its place, or as near as the edge allows.
function drawTick(surface: Surface, x: number, y: number, value: number): void {
  const half = surface.textWidth(book(value), { size: labelSize }) / 2;
  surface.text(Math.min(x, surface.width - half - 1), y, book(value), { align: "middle", size: labelSize });
}

// A curve with the ends of its scale at the left, and what it was before a rule beneath it.
function drawLine(
  surface: Surface,
  box: Box,
  x: (sample: number) => number,
  values: ArrayLike<number>,
  before: ArrayLike<number> | undefined,
  cursor: number | undefined,
): void {
  let [low, high] = [0, 0];
  for (const line of [values, before ?? []]) {
    for (let n = 0; n < line.length; n++) {
      low = Math.min(low, line[n] as number);
      high = Math.max(high, line[n] as number);
    }
  }
  const room = high - low || 1;
  const y = (value: number): number => box.y + ((high - value) * box.height) / room;
  surface.path([box.x, y(0), box.x + box.width, y(0)], { stroke: "faint" });
  // An end too near zero to be told from its line gives way to it.
  const ends = [low, high].filter((value) => Math.abs(y(0) - y(value)) > 18);
  for (const value of ends) {
    const far = Math.abs(value) >= 1;
    const written = Number.isInteger(value) ? book(value) : book(value, far ? { significant: 3 } : { decimals: 2 });
    surface.text(box.x - 6, y(value) + (value === high ? 4 : -4), written, { align: "end", size: 11 });
  }
  surface.text(box.x - 6, y(0), "0", { align: "end", size: 11 });
  const points = (line: ArrayLike<number>): Float64Array =>
    Float64Array.from({ length: 2 * line.length }, (_, n) => (n % 2 === 0 ? x(n / 2) : y(line[(n - 1) / 2] as number)));
  if (before) surface.path(points(before), { stroke: "grey", width: 1.2, dash: [4, 3] });
  surface.path(points(values), { stroke: "cool", width: 1.4 });
  if (cursor !== undefined) surface.disc(x(cursor), y(values[cursor] as number), 3, { fill: "cool" });
}

// ---------------------------------------------------------------- phases

interface Dials {
  pairs: readonly number[];
  perRow: number;
  side: number;
  height: number;
}

function dials(model: Model, width: number): Dials {
  const step = Math.max(1, Math.ceil(model.pairs / mostDials));
  const pairs = Array.from({ length: Math.ceil(model.pairs / step) }, (_, k) => k * step);
  const most = Math.max(1, Math.floor(width / (width < 500 ? 58 : 68)));
  const rows = Math.max(1, Math.ceil(pairs.length / most));
  const perRow = Math.max(1, Math.ceil(pairs.length / rows));
  const side = Math.min(width / perRow, 120);
  return { pairs, perRow, side, height: Math.round(rows * (side + 18)) + 4 };
}

function drawPhases(surface: Surface, { model, column }: Drawn): void {
  const { pairs, perRow, side } = dials(model, surface.width);
  const { phases } = chosenRule(model);
  const radius = side / 2 - 8;
  pairs.forEach((pair, k) => {
    const next = pairs[k + 1] ?? model.pairs;
    const own = column >= pair && column < next;
    const left = (k % perRow) * side;
    const top = Math.floor(k / perRow) * (side + 18);
    const [x, y] = [left + side / 2, top + side / 2];
    const curve = (arc: Float32Array): number[] =>
      Array.from(arc, (value, n) => (n % 2 === 0 ? x + radius * value : y - radius * value));
    surface.disc(x, y, radius, { stroke: "faint", width: 1.5 });
    const arcs = model.arcs[pair] as Model["arcs"][number];
    if (arcs.seen.length > 0) surface.path(curve(arcs.seen), { stroke: "cool", width: 2.5 });
    if (arcs.met.length > 0) surface.path(curve(arcs.met), { stroke: "accent", width: 6 });
    surface.path([x, y - radius + 5, x, y - radius + 9], { stroke: "grey" });
    if (own) surface.disc(x, y, radius + 5, { stroke: "ink", width: 1.2 });
    const wavelength = model.wavelengths[pair] as number | null;
    const written = book(wavelength ?? Infinity, { significant: 3 });
    surface.text(x, top + side + 6, written, { align: "middle", size: 11, ink: own ? "ink" : "grey", bold: own });
    const share = phases.unseen.data[pair] as number;
    if (share > leastShare && radius > 18) {
      surface.text(x, y, `${book(100 * share, { decimals: 0 })}\u00a0%`, { align: "middle", size: 11, ink: "accent" });
    }
    surface.region({ x: left, y: top, width: side, height: side + 18 }, () => ({ column: own ? column : pair }));
  });
}

// ---------------------------------------------------------------- rules

interface RulesLayout {
  maps: readonly [Box, Box];
  panel: Box;
  height: number;
}

const ruleHeight = 20;

function rulesLayout({ rules }: Model, width: number): RulesLayout {
  const narrow = width < 500;
  const left = narrow ? 104 : 112;
  const tall = rules.length * ruleHeight;
  const wide = narrow ? width - left - 4 : (width - left - 34) / 2;
  const first = { x: left, y: 24, width: wide, height: tall };
  const below = 24 + tall + 62;
  const second = narrow ? { ...first, y: below + 24 } : { ...first, x: left + wide + 30 };
  const top = second.y + tall + 62 + 30;
  const panel = { x: 50, y: top, width: width - 56, height: narrow ? 110 : 130 };
  return { maps: [first, second], panel, height: top + panel.height + 26 };
}

function drawRules(surface: Surface, { model, row, column }: Drawn): void {
  const { rules, pairs, trained, length, step } = model;
  const { maps, panel } = rulesLayout(model, surface.width);
  const amount: ColourScale = { kind: "amount", min: 0, max: 1 };
  const titles = ["phases met for the first time", "frequency, after / before"];
  maps.forEach((map, k) => {
    const values = new Float64Array(rules.length * pairs);
    rules.forEach(({ phases, extension }, r) => {
      values.set((k === 0 ? phases.unseen : extension.ratio).data, r * pairs);
    });
    surface.text(map.x, map.y - 12, titles[k] as string, { size: labelSize });
    surface.heatMap(map, { values, rows: rules.length, columns: pairs, scale: amount });
    surface.region(map, (u, v) => ({ row: Math.floor(v * rules.length), column: Math.floor(u * pairs) }));
    const cell = map.width / pairs;
    for (let r = 1; r < rules.length; r++) {
      surface.rect(map.x - 0.5, map.y + r * ruleHeight - 1, map.width + 1, 2, { fill: "paper" });
    }
    if (k === 0 || surface.narrow) {
      rules.forEach(({ name }, r) => {
        const style = { align: "end", size: labelSize, ink: r === row ? "accent" : "ink", bold: r === row } as const;
        surface.text(map.x - 8, map.y + (r + 0.5) * ruleHeight, name, style);
      });
      surface.region({ ...map, x: 0, width: map.x }, (_, v) => ({ row: Math.floor(v * rules.length) }));
    }
    const frame = Math.max(5, cell);
    drawFrames(surface, [
      { x: map.x - 0.5, y: map.y + row * ruleHeight - 0.5, width: map.width + 1, height: ruleHeight },
      { x: map.x + (column + 0.5) * cell - frame / 2, y: map.y - 0.5, width: frame, height: map.height + 1 },
    ]);
    const y = map.y + map.height + 13;
    for (const i of indexTicks(pairs, map.width, 40)) {
      if (Math.abs(i - column) * cell > 40) surface.text(map.x + (i + 0.5) * cell, y, String(i), { align: "middle" });
    }
    const name = `pair ${column}`;
    const half = surface.textWidth(name) / 2;
    const middle = Math.max(map.x + half - 4, Math.min(map.x + map.width - half + 4, map.x + (column + 0.5) * cell));
    surface.text(middle, y, name, { align: "middle", ink: "ink" });
    legend(surface, amount, map.x, y + 14, Math.min(130, map.width), false);
  });
  const { kernel } = (rules[row] as Rule).extension;
  const x = (position: number): number => panel.x + (panel.width * (position + 0.5)) / length;
  const edge = panel.x + (panel.width * Math.min(trained, length)) / length;
  if (length > trained) {
    surface.rect(edge, panel.y, panel.x + panel.width - edge, panel.height, { fill: "blank" });
  }
  drawLine(surface, panel, (n) => x(n * step), kernel.after.data, kernel.before.data, undefined);
  surface.path([edge, panel.y, edge, panel.y + panel.height], { stroke: "accent" });
  // Half a sentence says less than none, and where nothing is changed there is no line to name.
  const { name, code } = rules[row] as Rule;
  const heading = `score by distance, ${name}`;
  const whole = code === model.plain ? heading : `${heading}; dashed, as it was`;
  const room = surface.width - panel.x;
  const fits = surface.textWidth(whole, { size: labelSize }) <= room;
  const [line = ""] = fits ? [whole] : brokenLines(surface, heading, room);
  surface.text(panel.x, panel.y - 14, line, { ink: "cool", size: labelSize });
  for (const tick of wholeTicks(0, length - 1, surface.narrow ? 4 : 8)) {
    drawTick(surface, x(tick), panel.y + panel.height + 14, tick);
  }
}

// ---------------------------------------------------------------- code

function codeOf({ view, model }: Drawn): Code {
  const { trained, length, step, head, rules, plain } = model;
  const rule = chosenRule(model);
  const name = /^\w+/.exec(rule.code)?.[0] as string;
  const measured = `{ trained: ${trained}, length: ${length}, trainedWith: plain }`;
  if (view === "phases") {
    const javascript =
      `import { ${[...new Set(["extrapolation", "rope", name])].join(", ")} } from "posenc";\n\n` +
      `const plain = ${plain};\n` +
      `const { seen, reached, unseen } = extrapolation(${rule.code}, ${measured});\n`;
    return {
      javascript,
      numpy: async () => {
        const { phasesNumpy } = await import("./numpy-programs.js");
        return phasesNumpy(model, rule.scheme);
      },
    };
  }
  if (view === "rules") {
    return {
      javascript: [
        `import { extrapolation, ${[...new Set(["rope", name])].join(", ")} } from "posenc";`,
        "",
        `const plain = ${plain};`,
        "const rules = [",
        ...rules.map(({ code }) => `  ${code},`),
        "];",
        `const unseen = rules.map((rule) => extrapolation(rule, ${measured}).unseen);`,
        "",
      ].join("\n"),
      numpy: async () => {
        const { rulesNumpy } = await import("./numpy-programs.js");
        return rulesNumpy(model);
      },
    };
  }
  const names = [...new Set(["alibi", "arange", "bias", "contextExtension", "rope", name, "t5"])];
  return {
    javascript: [
      `import { ${names.join(", ")} } from "posenc";`,
      "",
      `const distances = arange(0, ${length}, ${step});`,
      "const line = (scheme) =>",
      `  bias(scheme, { queries: distances, keys: [0], heads: [${head}] });`,
      `const lines = [line(alibi({ heads: ${heads} })), line(t5({ heads: ${heads}, seed: 1 }))];`,
      `const { kernel } = contextExtension(${plain}, ${rule.code}, {`,
      `  length: ${length}, beforeLength: ${trained}, offsets: distances, normalize: true,`,
      "});",
      "const score = kernel.after;  // of RoPE",
      "",
    ].join("\n"),
    numpy: async () => {
      const { schemesNumpy } = await import("./numpy-programs.js");
      return schemesNumpy(model, rule.scheme, heads, frequencies(rule.scheme, { length }).attentionFactor);
    },
  };
}
