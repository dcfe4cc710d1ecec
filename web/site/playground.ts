// The playground: one scheme in every figure that can draw it. What is shown comes from a choice, from a model's
// config.json or from a table in a file; the part of the address behind # holds it, and is checked like any input.
import type { FigureFault } from "../figures/element-types.js";
import type { FigureElement } from "../figures/element.js";
import { allFields, attributeName, completeValues, type Field, type Figure, type Value } from "../figures/figure.js";
import { count } from "../figures/format.js";
import { jsonFault } from "../figures/json-fault.js";
import { copyText } from "../figures/take-away.js";
import { typeset } from "../figures/typeset.js";
import type * as Config from "../src/config.js";
import type * as Files from "../src/files.js";
import type { AnyScheme, PosencError, RotateScheme, Tensor } from "../src/core.js";
import type { Api } from "./live.js";
import type { Values } from "./questions.js";
import { followedOf, fittingOf, unfollowedSentence } from "./followed.js";
import { refusedSentences } from "./refused.js";
import { fail, firstFigure, followTheme, keepOffline } from "./shell.js";

declare const posenc: Api & typeof Config & typeof Files & { readonly figures: readonly Figure[] };

// A config beyond this is no config; addresses beyond the other do not travel.
const kMostConfig = 200_000;
const kMostAddress = 8_000;
const kMostSettings = 64;
// Tables that a first layer adds: GPT-2's wpe, BERT's position_embeddings, ViT's pos_embed.
const kPositional = /wpe|pos(ition)?[._]?(al)?[._]?(emb|enc|bias|table)|embed_positions/i;
const kMostRows = 8192;
// Schemes that are numbers which a model learns and nothing else: figures seed them.
const kLearned: readonly string[] = ["toeplitz", "swin"];

/** What the figures show. */
interface Shown {
  /** By slot where a model has several. */
  schemes: readonly AnyScheme[];
  /** Settings that the figures are given, by the names of their fields; of a config, those that a figure has. */
  values: Values;
  /** The scheme is made of more than settings (a table, lists), and the figures get it as it is. */
  given: boolean;
  /** The model's config, for the figure that reads it. */
  config?: string;
  /** A table for figures that take one by itself. */
  table?: { table: Tensor; name: string };
  title: string;
  notes: readonly string[];
  /** What stands behind #; undefined where it would not fit there. */
  address?: URLSearchParams;
}

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const chooser = element<HTMLSelectElement>("scheme");
const place = element("figures");
const told = element("told");
let shown: Shown | undefined;
// What figures that were handed a scheme say of it, where they can say all.
const handed = new WeakMap<FigureElement, Values>();
// The scheme that was chosen last, by its name.
let chosen = "rope";
type Refused = (readonly [figure: string, refusal: string])[];
/** Figures that could not draw it, and those that draw it otherwise than a config says, and what they said. */
let refused: Refused = [];
let unfollowed: Refused = [];

/** Further figures, which have no such scheme to choose from, but take it as their data or by its settings. */
function others(scheme: AnyScheme, next: Shown): (readonly [figure: string, values: Values, data?: unknown])[] {
  const { slot, name } = scheme;
  const turning = { view: "phases" };
  if (slot === "rotate" && next.given && turns(scheme)) {
    return [["extrapolation", following("extrapolation", scheme, turning, next), scheme]];
  }
  return name === "rope" && !next.given ? [["extrapolation", { ...next.values, ...turning, scheme: undefined }]] : [];
}

/** A figure's own values and what it can follow of the config's; the notes tell what it cannot. */
function following(name: string, scheme: AnyScheme, own: Values, next: Shown): Values {
  const figure = posenc.figures.find((one) => one.name === name);
  const { values, refused: left } = figure ? fittingOf(figure, scheme, own, next.values) : { values: own, refused: [] };
  for (const refusal of left) unfollowed.push([`posenc-${name}`, refusal]);
  return values;
}

/** Whether it turns pairs, and does not only scale what it is given. */
function turns(scheme: AnyScheme): boolean {
  try {
    return posenc.frequencies(scheme as RotateScheme).wavelength.length > 0;
  } catch {
    return false;
  }
}

/** The figures that have this scheme to choose from. */
function fitting(name: string): readonly Figure[] {
  const offers = (field: Field): boolean =>
    field.name === "scheme" && field.kind === "choice" && field.choices.some(({ value }) => value === name);
  return posenc.figures.filter((figure) => allFields(figure, completeValues(figure, () => undefined)).some(offers));
}

function show(next: Shown): void {
  shown = next;
  refused = [];
  unfollowed = [];
  if (typeof next.values.scheme === "string") chosen = next.values.scheme;
  chooser.value = next.given ? "" : chosen;
  if (next.config === undefined) element<HTMLTextAreaElement>("config").value = "";
  told.textContent = next.title;
  sayAddress();
  const figures: FigureElement[] = [];
  const add = (name: string, values: Values, data?: unknown): FigureElement => {
    const figure = document.createElement(`posenc-${name}`) as FigureElement;
    figure.className = "wide";
    for (const [key, value] of Object.entries(values)) {
      if (value !== undefined) figure.setAttribute(attributeName(key), String(value));
    }
    if (data !== undefined) figure.data = data;
    figure.addEventListener("posenc-error", unfit, { once: true });
    figure.addEventListener("posenc-ready", () => figure.removeEventListener("posenc-error", unfit), { once: true });
    figures.push(figure);
    return figure;
  };
  if (next.config !== undefined && posenc.figures.some(({ name }) => name === "config"))
    add("config", { config: next.config });
  for (const scheme of next.schemes) {
    for (const figure of fitting(scheme.name)) {
      const tables = figure.files?.accept.includes(".npy") === true;
      // A table ends where it ends.
      const rows = next.table && "positions" in figure.attributes ? { positions: next.table.table.shape[0] } : {};
      if (next.table && tables) add(figure.name, {}, next.table);
      else if (next.given) {
        const said = saidOf(figure, scheme);
        const made = add(figure.name, { ...following(figure.name, scheme, said, next), ...rows }, scheme);
        if (saysAll(said, scheme)) handed.set(made, said);
      }
      else add(figure.name, next.values);
    }
    for (const [figure, values, data] of others(scheme, next)) add(figure, values, data);
  }
  const rows = next.given ? next.schemes : [];
  if (rows[0]) add("compare", following("compare", rows[0], {}, next), rows);
  place.replaceChildren(...figures);
  sayNotes();
}

/** What a figure's controls say of a scheme that it is handed, as far as they can: else they would deny the drawing. */
function saidOf(figure: Figure, scheme: AnyScheme): Values {
  let said: Values = { scheme: scheme.name };
  for (const { name } of posenc.schemes.find((known) => known.name === scheme.name)?.params ?? []) {
    const held = (of: unknown, key: string): unknown => (of as Record<string, unknown> | undefined)?.[key];
    const value = name.split(".").reduce<unknown>(held, scheme);
    if (!["number", "string", "boolean"].includes(typeof value)) continue;
    try {
      const next = { ...said, [name]: value as Value };
      if (name in completeValues(figure, (field) => next[field])) said = next;
    } catch {
      // Beyond what the control can be set to.
    }
  }
  return said;
}

/** Do these values make that scheme? Not where it has lists, or numbers beyond what the controls can be set to. */
function saysAll(said: Values, scheme: AnyScheme): boolean {
  const holds = (part: unknown, path: string): boolean =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.entries(part).every(([key, value]) => holds(value, path === "" ? key : `${path}.${key}`))
      : path === "slot" || path === "name" || said[path] === part;
  return holds(scheme.toJSON(), "");
}

// A figure that was handed a scheme draws its own settings once the reader changes one: until then they are the
// scheme's.
function letGo({ target }: Event): void {
  const figure = target as FigureElement;
  const said = handed.get(figure);
  if (!said || Object.entries(said).every(([name, value]) => figure.value[name] === value)) return;
  handed.delete(figure);
  figure.data = undefined;
}

function sayNotes(): void {
  const left = refusedSentences(unfollowed, "Not followed by");
  const notes = [...(shown?.notes ?? []), ...left, ...refusedSentences(refused)];
  element("notes").replaceChildren(
    ...notes.map((note) => Object.assign(document.createElement("li"), { textContent: note })),
  );
}

// A figure that cannot draw this scheme, whatever its chooser says, is not one that fits; the notes say why.
function unfit(event: CustomEvent<FigureFault>): void {
  const figure = event.currentTarget as HTMLElement;
  // One that was replaced meanwhile speaks of what is no longer asked for.
  if (figure.parentElement !== place) return;
  figure.remove();
  const { error } = event.detail;
  const refusal = error instanceof Error ? error.message : String(error);
  refused.push([figure.localName, refusal]);
  sayNotes();
  if (place.childElementCount === 0) told.textContent = refusal;
}

// A setting of the scheme that the reader changes in one figure is the others' too.
function spread({ target }: Event): void {
  const from = target as FigureElement;
  const scheme = shown?.schemes[0];
  // What a figure was handed has no settings.
  if (!shown || shown.given || !scheme || !from.localName.startsWith("posenc-") || from.data !== undefined) return;
  const changed = from.value as Values;
  if (changed.scheme !== scheme.name) {
    if (typeof changed.scheme === "string") show(named(changed.scheme));
    return;
  }
  const params = posenc.schemes.find(({ name }) => name === scheme.name)?.params ?? [];
  const values: Record<string, string | number | boolean> = { scheme: scheme.name };
  for (const { name, default: usual } of params) {
    const value = changed[name];
    if (value !== undefined && value !== usual) values[name] = value;
    if (value === undefined) continue;
    for (const figure of place.children) {
      if (figure === from || (figure as FigureElement).value[name] === value) continue;
      if (name in (figure as FigureElement).value) figure.setAttribute(attributeName(name), String(value));
    }
  }
  shown = { ...shown, values, address: addressOf(values) };
  sayAddress();
}

// ---------------------------------------------------------------- a scheme by name

function named(name: string, values: Values = {}): Shown {
  const known = posenc.schemes.find((scheme) => scheme.name === name);
  if (!known) throw new RangeError(`There is no scheme “${name.slice(0, 40)}”.`);
  const own: Values = { ...values, scheme: name };
  const { title, slot, summary } = known;
  return {
    // The figures make the scheme from the values, and say in their boxes what does not fit.
    schemes: [{ slot, name } as AnyScheme],
    values: own,
    given: false,
    title: `${title} (${slot}): ${summary}`,
    notes: kLearned.includes(name) ? ["A model learns these numbers. Here they are random."] : [],
    address: addressOf(own),
  };
}

function addressOf(values: Values): URLSearchParams {
  return new URLSearchParams(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

// ---------------------------------------------------------------- a model's config

function ofConfig(text: string): Shown {
  if (text.length > kMostConfig) throw new RangeError(`A config has at most ${kMostConfig} letters.`);
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    throw new TypeError(`This is no JSON: ${jsonFault(text) ?? "it is too deep"}.`);
  }
  const model = modelOf(config as object);
  const { embed, rotate, bias, relate } = model;
  const schemes = [embed, rotate, bias, relate].flat().filter((scheme): scheme is AnyScheme => scheme !== undefined);
  const address = new URLSearchParams({ config: JSON.stringify(config) });
  return {
    schemes,
    values: followedOf(config as object, model),
    given: true,
    config: text,
    title:
      schemes.length === 0
        ? `${model.model}: no scheme at all.`
        : `${model.model}: ${schemes.map((scheme) => `${scheme.name} (${scheme.slot})`).join(", ")}`,
    notes: [...model.notes.map(typeset), unfollowedSentence(model)],
    ...(address.toString().length <= kMostAddress ? { address } : {}),
  };
}

// A reader asks for a model, not for a function: of one that is not known, its name is enough.
function modelOf(config: object): Config.ModelPositions {
  try {
    return posenc.fromConfig(config);
  } catch (error) {
    const { code, argument, given } = error as Partial<PosencError>;
    if (!/\bmodel_type$/.test(argument ?? "")) throw error;
    throw new RangeError(
      code === "missing-option"
        ? "This config does not say whose it is: it has no model_type."
        : `No model ${String(given).slice(0, 80)} is known here.`,
    );
  }
}

// ---------------------------------------------------------------- a table

function ofTable(table: Tensor, name: string): Shown {
  let { shape } = table;
  // Leading axes of one entry are batches.
  while (shape.length > 2 && shape[0] === 1) shape = shape.slice(1);
  if (shape.length !== 2) throw new RangeError(`${name} is no table: its shape is [${table.shape.join(", ")}].`);
  const [rows = 0, columns = 0] = shape;
  if (rows > kMostRows) throw new RangeError(`${name} has ${rows} rows; the figures draw at most ${kMostRows}.`);
  const flat = posenc.tensor(table.data, [...shape]);
  return {
    schemes: [posenc.learned({ table: flat })],
    values: {},
    given: true,
    table: { table: flat, name },
    title: `${name}: ${count(rows, "position")}, ${count(columns, "dimension")}, as a learned table.`,
    notes: [],
  };
}

async function ofFile(file: File): Promise<Shown> {
  const line = element("tensor-line");
  line.hidden = true;
  if (/\.json$/i.test(file.name)) {
    if (file.size > 4 * kMostConfig) throw new RangeError(`${file.name} is too long for a config.`);
    const text = await file.text();
    element<HTMLTextAreaElement>("config").value = text;
    return ofConfig(text);
  }
  if (/\.npy$/i.test(file.name)) return ofTable(await posenc.readNpy(file), file.name);
  if (/\.safetensors$/i.test(file.name)) return ofTensors(file, line);
  throw new TypeError(`${file.name}: a file is a config.json, a .npy or a .safetensors.`);
}

async function ofTensors(file: File, line: HTMLElement): Promise<Shown> {
  const { tensors } = await posenc.safetensorsHeader(file);
  const size = (shape: readonly number[]): number => shape.reduce((most, n) => most * n, 1);
  const tables = Object.entries(tensors).filter(
    ([, { shape }]) => shape.filter((length) => length > 1).length === 2 && size(shape) <= 2 ** 25,
  );
  if (tables.length === 0) throw new RangeError(`${file.name} holds no table that the figures could draw.`);
  const select = element<HTMLSelectElement>("tensor");
  select.replaceChildren(...tables.map(([name]) => new Option(name, name)));
  line.hidden = tables.length < 2;
  const read = async (name: string): Promise<Shown> => {
    const { [name]: table } = await posenc.readSafetensors(file, { names: [name] });
    return ofTable(table as Tensor, `${file.name}, ${name}`);
  };
  select.onchange = () => void attempt(() => read(select.value));
  select.value = (tables.find(([name]) => kPositional.test(name)) ?? tables[0]!)[0];
  return read(select.value);
}

// ---------------------------------------------------------------- the address

function sayAddress(): void {
  const link = element<HTMLAnchorElement>("permalink");
  const address = shown?.address;
  link.hidden = element("copy").hidden = !address;
  if (!address) return;
  link.href = `#${address}`;
}

/** From what stands behind #, which anybody may have written. */
function ofAddress(): Shown {
  const given = new URLSearchParams(location.hash.slice(1, kMostAddress + 1));
  const config = given.get("config");
  if (config !== null) {
    element<HTMLTextAreaElement>("config").value = config;
    return ofConfig(config);
  }
  const values: Record<string, string> = {};
  for (const [name, value] of [...given].slice(0, kMostSettings)) {
    if (/^[a-z][\w.]{0,39}$/i.test(name) && value.length <= 400) values[name] = value;
  }
  const { scheme = "rope", ...rest } = values;
  const params = new Set(posenc.schemes.find(({ name }) => name === scheme)?.params.map(({ name }) => name));
  return named(scheme, Object.fromEntries(Object.entries(rest).filter(([name]) => params.has(name))));
}

// ---------------------------------------------------------------- the reader

// Files take their time: what was asked for last is what is shown.
let asked = 0;
// What is asked for before the module is there waits for it.
let prepared: Promise<void> | undefined;
async function attempt(work: () => Shown | Promise<Shown>): Promise<void> {
  const turn = ++asked;
  try {
    await prepared;
    const next = await work();
    if (turn === asked) show(next);
  } catch (error) {
    if (turn !== asked) return;
    shown = undefined;
    chooser.value = "";
    told.textContent = error instanceof Error ? error.message : String(error);
    element("notes").replaceChildren();
    place.replaceChildren();
    sayAddress();
  }
}

function offerSchemes(): void {
  chooser.append(Object.assign(new Option("what is given below", ""), { hidden: true }));
  for (const slot of ["embed", "rotate", "bias", "relate"] as const) {
    const group = document.createElement("optgroup");
    group.label = slot;
    for (const scheme of posenc.schemes.filter((one) => one.slot === slot))
      group.append(new Option(scheme.title, scheme.name));
    chooser.append(group);
  }
}

function listen(): void {
  element("settings").addEventListener("submit", (event) => event.preventDefault());
  chooser.addEventListener("change", () => void attempt(() => named(chooser.value)));
  const config = element<HTMLTextAreaElement>("config");
  config.addEventListener("input", () => {
    // Emptied, it hands the page back to the scheme that was chosen last.
    void attempt(() => (config.value.trim() === "" ? named(chosen) : ofConfig(config.value)));
  });
  const file = element<HTMLInputElement>("file");
  file.addEventListener("change", () => {
    const [chosen] = file.files ?? [];
    if (chosen) void attempt(() => ofFile(chosen));
  });
  addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    const [dropped] = event.dataTransfer?.files ?? [];
    // A figure that takes files by itself has taken this one.
    if (!dropped || event.defaultPrevented) return;
    event.preventDefault();
    void attempt(() => ofFile(dropped));
  });
  place.addEventListener("input", letGo);
  place.addEventListener("change", spread);
  addEventListener("hashchange", () => void attempt(ofAddress));
  const copy = element("copy");
  copy.addEventListener("click", () => {
    void copyText(element<HTMLAnchorElement>("permalink").href).then((copied) => {
      copy.textContent = copied ? "copied" : "not copied";
      setTimeout(() => (copy.textContent = "copy"), 2000);
    });
  });
}

async function start(): Promise<void> {
  followTheme();
  void firstFigure().then(keepOffline);
  prepared = posenc.ready().then(offerSchemes);
  void attempt(ofAddress);
  // At once: a file that is dropped where nobody listens leaves the page.
  listen();
  try {
    await prepared;
  } catch (error) {
    fail(error);
  }
}

void start();
