// The custom element of a figure: everything around the drawing that a reader sees and touches, the same for all.
import { info, ready } from "../src/core.js";
import { kindOf } from "../src/error.js";
import type { Background } from "./background.js";
import { CanvasBackEnd } from "./canvas.js";
import { handOver, make, makeControl, type Control } from "./controls.js";
import {
  allFields,
  attributeName,
  checkValue,
  completeValues,
  knownNames,
  stateOf,
  type Cells,
  type ChoiceField,
  type Field,
  type Figure,
  type State,
  type Value,
  type Values,
} from "./figure.js";
import { count, inLanguage, short } from "./format.js";
import { inTurn, whenIdle } from "./idle.js";
import type { Lens } from "./lens.js";
import { drawPage, pageHeight, pageSvg, readingText } from "./page.js";
import { refuseValue, requireKnown, requireObject, sentenceOf } from "./refusal.js";
import { standAlonePage } from "./stand-alone.js";
import { sheetFor } from "./style.js";
import { Surface, type Cell } from "./surface.js";
import { copyText, download, toCsv, toJson, toNpyBytes } from "./take-away.js";
import { paletteNames, themeOf, watchTheme, type Theme } from "./theme.js";

/** True in the classic script, which knows its own text: the function that it is. */
declare const POSENC_CLASSIC: boolean | undefined;
declare const POSENC_SOURCE: (() => unknown) | undefined;

// Modules that hold elements may be imported where there is no document (servers, workers).
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

const exportWidth = 760;
const mostTableRows = 40;
const mostTableColumns = 16;
const readingDelay = 350;
// Of A4 and Letter, without their margins.
const paperWidth = 700;
// For a picture, which has words above and below it.
const paperHeight = 800;
// Pixels of a printed canvas a CSS pixel. Chromium rounds the share of one down to 1/64: this is a hair less than 64/21.
const paperRatio = 3.046;
// Frames do not come where nobody looks (a hidden tab, a frame out of sight): who waits for a drawing gets it then.
const longestWait = 400;
// What a first drawing takes of a turn of the page before it lets others come.
const slice = 8;

// False once the core has refused to start at once; then it takes ready().
let startsAtOnce = true;

// Listeners hear the figure as `this`.
type Listening<Kind> = {
  <K extends keyof HTMLElementEventMap>(
    type: K,
    listener: (this: Kind, event: HTMLElementEventMap[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  (type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
};

/** What every figure element offers beside the properties of its attributes. */
export interface FigureElement {
  addEventListener: Listening<this>;
  removeEventListener: Listening<this>;
}
export class FigureElement extends Base {
  /** What follows "posenc-" in the element's name. */
  static figureName: string;
  /** The figure, once it is here. */
  static figure: Figure | undefined;
  /** Brings the figure here; once for all elements of its kind. */
  static load: () => Promise<void>;

  readonly #root: HTMLElement;
  #found: Parts | undefined;
  /** Of figures that have them. */
  #lens: Lens | undefined;
  #background: Background | undefined;
  readonly #own = new Map<string, Value>();
  readonly #controls = new Map<string, { signature: string; control: Control; field: Field }>();
  readonly #attributeObserver: MutationObserver;
  readonly #sizeObserver: ResizeObserver;
  #tabs: { signature: string; field: ChoiceField | undefined } = { signature: "", field: undefined };
  #rich: unknown;
  #state: State<unknown> | undefined;
  #cells: Cells = {};
  #modelKey: string | undefined;
  #hover: Cell | undefined;
  #backEnd: CanvasBackEnd | undefined;
  #theme: Theme | undefined;
  /** Takes back the update that is to come. */
  #frame: (() => void) | undefined;
  #speaking: ReturnType<typeof setTimeout> | undefined;
  #phase: "waiting" | "starting" | "running" = "waiting";
  #watching = false;
  /** From the top of what the reader sees: of figures that start, the nearest comes first. */
  #distance = Infinity;
  /** A model made ahead of the update that shows it. */
  #made: { key: string; rich: unknown; model: unknown } | undefined;
  #paintedWidth = 0;
  /** Attributes whose values have been drawn: where others move their bounds since, they follow. */
  #fitted = new Set<string>();
  /** Something has changed since the last update. */
  #stale = true;
  #updating = false;
  #announced = false;
  #printing = false;
  #final = false;
  #cursorOnly = false;
  #release: (() => void)[] = [];
  #settle: (() => void)[] = [];
  #file: { say: (words: string) => void; serial: number } | undefined;
  /** Values that were set before the figure was here, which knows their names. */
  #early: Values[] = [];
  /** Of figures that keep their values in the page's address. */
  #permalink: import("./permalink.js").Permalink | undefined;
  /** Somebody has read values before there were any. */
  #askedEarly = false;

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.append((this.#root = copyParts(this.#kind.figureName)));
    // A reader who comes by keyboard does not wait to be seen.
    this.#root.addEventListener("focusin", () => {
      if (this.#phase !== "running") void this.#start();
      if (!this.#announced) this.#bring();
    });
    this.#attributeObserver = new MutationObserver((records) => this.#attributesChanged(records));
    this.#attributeObserver.observe(this, { attributes: true });
    this.#sizeObserver = new ResizeObserver(() => {
      if (this.#parts.drawing.clientWidth !== this.#paintedWidth) this.#schedule();
      this.#align();
    });
  }

  /**
   * Resolves after the next drawing (at once if nothing is to be drawn), or when it has turned out that the figure
   * cannot be drawn, or a reader has cancelled it. Starts a figure that waits to be seen; one outside of the document
   * is computed and not drawn.
   */
  get drawn(): Promise<void> {
    this.#attributesChanged(this.#attributeObserver.takeRecords());
    if (!this.#stale && !this.#background?.busy) return Promise.resolve();
    const drawn = new Promise<void>((resolve) => this.#settle.push(resolve));
    if (this.#phase === "running") this.#schedule();
    else void this.#start();
    setTimeout(() => {
      // A first drawing comes in a turn of the page, which there are everywhere.
      if (this.#settle.length > 0 && this.#announced) this.#update();
    }, longestWait);
    return drawn;
  }

  // Looked for when one is needed: a page that starts has many figures, and draws one.
  get #parts(): Parts {
    return (this.#found ??= partsOf(this.#root));
  }

  get #kind(): typeof FigureElement {
    return this.constructor as typeof FigureElement;
  }

  get #figure(): Figure {
    return this.#kind.figure as Figure;
  }

  /**
   * The values of all fields, the cursor among them. Set some of them to change those: a PosencError where that is no
   * object, holds what no field can or has a name that is not known. Before the figure's own file has been
   * loaded (await `drawn`) there are only those that were set, and what is set is checked afterwards; who read values
   * then hears `input` once they are known.
   */
  get value(): Values {
    if (!this.#kind.figure) {
      this.#askedEarly = true;
      return Object.freeze({ ...Object.fromEntries(this.#own), ...Object.assign({}, ...this.#early) });
    }
    this.#bring();
    let values: Values = this.#state?.values ?? {};
    try {
      if (this.#stale || !this.#state || this.#modelKey === undefined) values = this.#readValues();
    } catch {
      // An attribute that does not fit is told in the figure's box; the last good values stand.
    }
    return Object.freeze({ ...values });
  }

  set value(values: Values) {
    requireObject(`The value of posenc-${this.#kind.figureName}`, values);
    if (!this.#kind.figure) {
      this.#early.push(values);
      return;
    }
    this.#arrive();
    const given = new Map<string, Value>();
    for (const [name, value] of Object.entries(values as Record<string, unknown>)) {
      if (value === undefined) continue;
      requireValue(name, value);
      given.set(name, value);
    }
    const known = this.#namesWith(given);
    const plain = [...given].map(([n, v]) => [known.find((field) => attributeName(field) === n) ?? n, v] as const);
    requireKnown(`The value of posenc-${this.#figure.name}:`, plain.map(([name]) => name), known);
    for (const [name, value] of plain) this.setValue(name, value);
  }

  /** Rich data for the figure (see the figure's own documentation): a scheme, a Tensor, … */
  get data(): unknown {
    return this.#rich;
  }

  set data(data: unknown) {
    this.#rich = data;
    this.#background?.stop();
    this.#modelKey = undefined;
    this.#schedule();
  }

  /**
   * Takes a file as if a reader had dropped it on the figure. Rejects where the figure takes no files, where this is
   * none, or with what is wrong with it, which the figure also says; it stays as it was then.
   */
  async takeFile(file: File): Promise<void> {
    // Of whatever window.
    if (kindOf(file) !== "File") refuseValue("not-a-number", "file", "a File", file);
    await this.#kind.load();
    this.#arrive();
    const { files, name } = this.#figure;
    if (!files || !this.#file) {
      return refuseValue("unsupported", "file", "left out", file, `posenc-${name} takes no files.`);
    }
    const serial = ++this.#file.serial;
    this.#file.say(`reading ${file.name} \u2026`);
    try {
      await ready();
      const { values = {}, ...content } = await files.read(file, this.value);
      // Another file has come meanwhile.
      if (serial !== this.#file.serial) return;
      this.#take(values);
      if ("data" in content) this.#rich = content.data;
      this.#background?.stop();
      this.#modelKey = undefined;
      this.#file.say(`read ${file.name}`);
      this.#updateAndTell(true, false);
    } catch (error) {
      if (serial === this.#file.serial) this.#file.say(`${file.name} cannot be read: ${sentenceOf(error)}`);
      throw error;
    }
  }

  /** The picture as SVG markup, in the document or out of it; throws a sentence where the figure cannot be drawn. */
  toSvg(): string {
    this.#bring();
    if (!this.#state || this.#background?.busy) {
      throw new Error(
        this.#parts.faultText.textContent || "The figure is not ready here: await its `drawn` first.",
      );
    }
    return this.#svg(this.#state);
  }

  connectedCallback(): void {
    this.adoptedCallback();
    this.#adopt(["value", "data"]);
    // Its file is asked for now, whenever it is drawn: a page that has loaded asks for nothing more.
    if (this.#kind.figure) this.#arrive();
    else void this.#kind.load().then(() => this.#arrive(), () => {});
    void this.#loadLink(true);
    // The core is compiled while the page is laid out; where that fails, the figure says so when it starts.
    ready().catch(() => {});
    const before = (): void => this.#print(true);
    const after = (): void => this.#print(false);
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    this.#release.push(() => {
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    });
    this.#stale = true;
    if (this.#phase === "running") this.#run();
    else this.#startWhenSeen();
  }

  disconnectedCallback(): void {
    for (const stop of this.#release.splice(0)) stop();
    for (const { control } of this.#controls.values()) control.stop();
    this.#watching = false;
    this.#sizeObserver.disconnect();
    this.#background?.stop();
    this.#frame?.();
    this.#frame = undefined;
    if (this.#settle.length > 0) this.#schedule();
  }

  adoptedCallback(): void {
    (this.shadowRoot as ShadowRoot).adoptedStyleSheets = [sheetFor(this.ownerDocument)];
  }

  /** A value by name, as the accessors of the attributes' names do it. */
  getValue(name: string): Value | undefined {
    return this.value[name];
  }

  setValue(name: string, value: Value): void {
    if (value === undefined || value === null) {
      // So frameworks take a property back.
      this.#own.delete(name);
      this.removeAttribute(attributeName(name));
    } else {
      requireValue(name, value);
      this.#take({ [name]: value });
    }
    this.#schedule();
  }

  // ---------------------------------------------------------------- life

  // A property set before the accessor of its name was defined hides it.
  #adopt(names: readonly string[]): void {
    for (const name of names) {
      if (!Object.hasOwn(this, name)) continue;
      const before = (this as Record<string, unknown>)[name];
      delete (this as Record<string, unknown>)[name];
      toldLater(() => ((this as Record<string, unknown>)[name] = before));
    }
  }

  // What had to wait for the figure.
  #arrive(): void {
    this.#listenForFiles();
    this.#adopt(Object.keys(this.#figure.attributes));
    for (const values of this.#early.splice(0)) toldLater(() => (this.value = values));
  }

  #startWhenSeen(): void {
    if (this.getAttribute("loading") === "eager" || typeof IntersectionObserver === "undefined") {
      void this.#start();
      return;
    }
    this.#release.push(
      whenIdle(async () => {
        await this.#start();
        await this.drawn;
      }),
    );
    const observer = new IntersectionObserver(
      (entries) => {
        const seen = entries.find((entry) => entry.isIntersecting);
        if (seen) {
          observer.disconnect();
          this.#distance = Math.abs(seen.boundingClientRect.top);
          void this.#start();
        }
      },
      { rootMargin: "1000px" },
    );
    observer.observe(this);
    this.#release.push(() => observer.disconnect());
  }

  async #start(): Promise<void> {
    if (this.#phase !== "waiting") return;
    this.#phase = "starting";
    try {
      await Promise.all([this.#kind.load(), ready(), this.#loadLink()]);
      this.#arrive();
    } catch (error) {
      // It may have been started at once meanwhile.
      if ((this.#phase as string) === "running") return;
      this.#phase = "waiting";
      this.#fail(error);
      for (const done of this.#settle.splice(0)) done();
      return;
    }
    this.#run();
  }

  // What a figure listens to once it has started.
  #run(): void {
    if (this.#phase !== "running") {
      this.#phase = "running";
      this.#equip();
      this.#listen();
    }
    if (this.isConnected && !this.#watching) {
      this.#watching = true;
      // Once the page has been laid out for paper, its width is known; no frame comes before it is printed.
      const redraw = (): void => (this.#printing ? this.#update() : this.#schedule());
      this.#sizeObserver.observe(this.#parts.drawing);
      addEventListener("hashchange", redraw);
      this.#release.push(watchTheme(redraw), watchPixelRatio(redraw), () => {
        removeEventListener("hashchange", redraw);
      });
    }
    if (this.#stale) this.#schedule();
  }

  // Starts without waiting, which the core can wherever pages may compile at once.
  #startAtOnce(): boolean {
    if (this.#phase === "running") return true;
    if (!startsAtOnce || !this.#kind.figure) return false;
    try {
      info();
    } catch {
      return (startsAtOnce = false);
    }
    this.#run();
    return true;
  }

  // Brings the state up to date at once, where that is possible.
  #bring(): void {
    if (this.#kind.figure) this.#arrive();
    this.#attributesChanged(this.#attributeObserver.takeRecords());
    if (this.#stale && !this.#updating && this.#startAtOnce()) this.#update();
  }

  #schedule(): void {
    this.#stale = true;
    if (this.#phase !== "running" || this.#frame) return;
    if (!this.isConnected) {
      // No frame comes for what is in no document; only who waits for it makes it worth the work.
      if (this.#settle.length > 0) {
        queueMicrotask(() => {
          if (this.#stale && !this.isConnected) this.#update();
        });
      }
      return;
    }
    const update = (): void => {
      this.#frame = undefined;
      if (this.#stale) this.#update();
    };
    // A first drawing is work for several turns of the page, and one figure's at a time.
    this.#frame = this.#announced
      ? nextFrame(update)
      : inTurn(() => this.#prepare(this.#makeAhead(), update), this.#distance);
  }

  // Goes on with what is made ahead, a slice a turn of the page; what cannot be made is told by the update.
  #prepare(making: Iterator<unknown>, update: () => void): void {
    const end = performance.now() + slice;
    let done: boolean | undefined = true;
    try {
      this.#say(() => {
        do done = making.next().done;
        while (!done && performance.now() < end);
      });
    } catch {}
    this.#frame = inTurn(done ? update : () => this.#prepare(making, update), -1);
  }

  *#makeAhead(): Generator<unknown, void> {
    this.#readLink();
    const figure = this.#figure;
    const values = this.#readValues();
    const rich = this.#rich;
    if (figure.later?.task(values, rich)) return;
    const key = this.#keyOf(values);
    const model = figure.steps ? yield* figure.steps(values, rich) : figure.compute(values, rich);
    this.#made = { key, rich, model };
  }

  #print(on: boolean): void {
    this.#printing = on;
    // Paper does not wait: what is drawn after this event is left out.
    if (on ? this.#startAtOnce() : this.#phase === "running") this.#update();
    else if (on) void this.#start();
  }

  // `cursorOnly`: nothing but the cursor has moved, so the page need not be asked for its colours again.
  #update(cursorOnly?: boolean): void {
    this.#say(() => this.#updateNow(cursorOnly));
  }

  #updateNow(cursorOnly?: boolean): void {
    this.#attributesChanged(this.#attributeObserver.takeRecords());
    this.#readLink();
    this.#stale = false;
    this.#updating = true;
    // Asked for after the words are written, it would have the page laid out once more.
    const width = this.#parts.drawing.clientWidth;
    if (!cursorOnly || !this.#theme) {
      this.#theme = themeOf(this, this.getAttribute("theme"), this.#printing || undefined);
    }
    try {
      const values = this.#readValues();
      let shown = values;
      try {
        const key = this.#keyOf(values);
        let model = this.#state?.model;
        if (key !== this.#modelKey || !this.#state) {
          this.#modelKey = undefined;
          const later = this.#figure.later?.task(values, this.#rich);
          const made = later && this.#background?.model(key, later);
          if (!later) this.#background?.stop();
          else if (!made) {
            this.#wait(key, width);
            return;
          }
          const ahead = this.#made?.key === key && this.#made.rich === this.#rich ? this.#made : undefined;
          this.#made = undefined;
          model = (made ?? ahead ?? { model: this.#figure.compute(values, this.#rich) }).model;
          this.#modelKey = key;
        }
        this.#cells = this.#figure.cells?.(stateOf(this.#figure, values, model)) ?? {};
        this.#modelKey = this.#keyOf(values);
        this.#fitted = new Set(Object.keys(values).map(attributeName));
        const part = this.#lens?.part(this.#cells);
        this.#state = stateOf(this.#figure, values, model, { ...this.#hover, part });
        shown = this.#state.values;
        // Before the words: a canvas has the page work out its styles anew wherever something has been written.
        this.#paint(this.#state, width);
      } finally {
        const { figure } = this.#parts;
        figure.classList.toggle("dark", this.#theme.dark);
        for (const role of paletteNames) figure.style.setProperty(`--${role}`, this.#theme[role]);
        this.#syncTabs(values);
        this.#syncControls(shown);
        for (const [name, { control }] of this.#controls) if (values[name] !== undefined) control.show(values[name]);
      }
      for (const [name, { control }] of this.#controls) control.show(this.#state.values[name]);
      this.#syncWords(this.#state);
      this.#showDrawing(true);
      if (!this.#announced) {
        this.#announced = true;
        this.#tell("posenc-ready");
        if (this.#askedEarly) this.#tell("input");
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#updating = false;
    for (const done of this.#settle.splice(0)) done();
  }

  // The model is on its way, or the reader wants none: what was drawn stands till then.
  #wait(key: string, width: number): void {
    this.#updating = false;
    this.#showDrawing(true);
    if (this.#state) this.#paint(this.#state, width);
    if (this.#background?.cancelled(key)) for (const done of this.#settle.splice(0)) done();
  }

  #showDrawing(on: boolean): void {
    const { actions, caption, content, details, fault, footer } = this.#parts;
    fault.hidden = on;
    // What there is nothing to say in where a figure cannot be drawn.
    for (const part of [content, footer, caption, details]) part.hidden = !on;
    // A first model may be on its way still, or cancelled.
    actions.inert = details.inert = !this.#state;
  }

  #fail(error: unknown): void {
    this.#state = undefined;
    this.#background?.stop();
    this.#showDrawing(false);
    this.#parts.faultText.textContent = `This figure cannot be drawn: ${sentenceOf(error)}`;
    this.dispatchEvent(new CustomEvent("posenc-error", { bubbles: true, composed: true, detail: { error } }));
  }

  // ---------------------------------------------------------------- values

  #readValues(): Values {
    return completeValues(this.#figure, (name) => this.#given(name), (name) => this.#fitted.has(attributeName(name)));
  }

  // What a program or the reader has set, or the attribute says; null for neither.
  #given(name: string): Value | null {
    return this.#own.get(name) ?? this.getAttribute(attributeName(name));
  }

  // Every name that may be set together with these values, which may bring fields of their own.
  #namesWith(given: ReadonlyMap<string, Value>): readonly string[] {
    const ask = (name: string): unknown => given.get(name) ?? given.get(attributeName(name)) ?? this.#given(name);
    try {
      return knownNames(this.#figure, completeValues(this.#figure, ask));
    } catch {
      // A value that does not fit is told in the figure's box.
      return knownNames(this.#figure, {});
    }
  }

  // What the model depends on: all values but the cursor's, and the language, as it may hold words.
  #keyOf(values: Values): string {
    const cursor = [this.#cells.row?.name, this.#cells.column?.name];
    return this.#language + JSON.stringify(Object.entries(values).filter(([name]) => !cursor.includes(name)));
  }

  #attributesChanged(records: readonly MutationRecord[]): void {
    if (records.length === 0) return;
    const changed = new Set(records.map((record) => record.attributeName as string));
    for (const attribute of changed) this.#fitted.delete(attribute);
    for (const name of [...this.#own.keys()]) {
      const attribute = attributeName(name);
      if (changed.has(attribute) && this.getAttribute(attribute) !== String(this.#own.get(name)))
        this.#own.delete(name);
    }
    this.#schedule();
  }

  #take(values: Values = {}, final = true): void {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) continue;
      this.#own.set(name, value);
      if (final) this.#reflect(name, value);
    }
  }

  #reflect(name: string, value: Value): void {
    this.setAttribute(attributeName(name), String(value));
  }

  #tell(type: string): void {
    this.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  }

  // A change by the reader. While a slider moves the attribute stays; it follows when the hand lets go.
  #changed(name: string, value: Value, final: boolean): void {
    this.#take({ [name]: value }, final);
    this.#updateAndTell(final, false);
  }

  #updateAndTell(final: boolean, cursorOnly: boolean): void {
    this.#stale = true;
    this.#final ||= final;
    this.#cursorOnly = cursorOnly && (!this.#frame || this.#cursorOnly);
    this.#frame?.();
    this.#frame = nextFrame(() => {
      const told = this.#final;
      const only = this.#cursorOnly;
      this.#frame = undefined;
      this.#final = this.#cursorOnly = false;
      this.#update(only);
      this.#tell("input");
      if (!told) return;
      this.#permalink?.keep();
      this.#tell("change");
    });
  }

  // ---------------------------------------------------------------- what is kept

  // The values that were set, by attribute or otherwise.
  #setValues(values: Values): [string, Value][] {
    return Object.keys(values).flatMap((name): [string, Value][] => {
      const value = this.#given(name);
      return value === null ? [] : [[name, value]];
    });
  }

  get #linkKey(): string | undefined {
    const given = this.getAttribute("permalink");
    return given === null ? undefined : given || this.id || this.#kind.figureName;
  }

  // Its file alone is asked for ahead.
  async #loadLink(ahead = false): Promise<void> {
    if (this.#linkKey === undefined || this.#permalink) return;
    try {
      const { Permalink } = await import("./permalink.js");
      if (ahead) return;
      const own = (): [string, Value][] => this.#setValues(this.value).filter(([name]) => this.#own.has(name));
      this.#permalink ??= new Permalink(() => this.#linkKey, own);
      this.#parts.code.before(this.#permalink.button);
      this.#schedule();
    } catch {
      // The figure does without.
    }
  }

  #readLink(): void {
    if (!this.isConnected) return;
    void this.#loadLink();
    this.#take(Object.fromEntries(this.#permalink?.read(this.#figure, (own) => this.#given(own), this.#rich) ?? []));
  }

  // ---------------------------------------------------------------- the cursor

  #moveTo(cell: Cell, final: boolean): void {
    if (!this.#state) return;
    if (final) {
      const { values } = stateOf(this.#figure, this.#state.values, this.#state.model, cell);
      this.#hover = undefined;
      for (const way of ["row", "column"] as const) {
        const axis = cell[way] === undefined ? undefined : this.#cells[way];
        if (axis) this.#take({ [axis.name]: values[axis.name] });
      }
      this.#take(cell.choose);
      this.#lens?.follow(cell);
    } else this.#hover = cell;
    this.#updateAndTell(final, cell.choose === undefined);
    if (final) this.#speak();
  }

  #key(event: KeyboardEvent): void {
    const { row, column, transposed = false } = this.#cells;
    if (!this.#state || event.altKey || event.metaKey) return;
    const [across, along] = transposed ? [row, column] : [column, row];
    // Keys of an axis that is not there are the page's.
    if (!(/Up|Down/.test(event.key) ? along : across)) return;
    const at = transposed
      ? { across: this.#state.row, along: this.#state.column }
      : { across: this.#state.column, along: this.#state.row };
    const step = event.shiftKey ? 10 : 1;
    const end = event.ctrlKey ? Infinity : 0;
    const by = {
      ArrowLeft: [-step, 0],
      ArrowRight: [step, 0],
      ArrowUp: [0, -step],
      ArrowDown: [0, step],
      PageUp: [0, -10],
      PageDown: [0, 10],
      Home: [-Infinity, -end],
      End: [Infinity, end],
    }[event.key] as [number, number] | undefined;
    if (!by) return;
    event.preventDefault();
    const bound = (value: number, total: number | undefined): number => Math.max(0, Math.min((total ?? 1) - 1, value));
    const to = { across: bound(at.across + by[0], across?.count), along: bound(at.along + by[1], along?.count) };
    const { below } = this.#cells;
    if (below && /^Arrow[UD]/.test(event.key)) {
      to.across = below(at.across, Math.sign(by[1]), this.#paintedWidth) ?? at.across;
      to.along = at.along;
    }
    const cell = transposed ? { row: to.across, column: to.along } : { row: to.along, column: to.across };
    // Several keys may come before the next frame: each starts from the last.
    this.#state = { ...this.#state, row: cell.row, column: cell.column };
    this.#moveTo(cell, true);
  }

  #cellUnder(event: { clientX: number; clientY: number }): Cell | undefined {
    const box = this.#parts.canvas.getBoundingClientRect();
    // The element may be scaled by a transform; the drawing knows its own pixels.
    const scale = box.width === 0 ? 1 : this.#parts.canvas.clientWidth / box.width;
    return this.#backEnd?.cellAt((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
  }

  get #language(): string {
    return this.closest<HTMLElement>("[lang]")?.lang || "en";
  }

  // What the reader sees and hears has the numbers of the language around it.
  #say<T>(work: () => T): T {
    return inLanguage(this.#language, work);
  }

  // Says the reading to those who listen, once the cursor rests.
  #speak(): void {
    clearTimeout(this.#speaking);
    const speak = (): void => {
      const readings = (this.#state && this.#figure.readout(this.#state)) ?? [];
      this.#parts.live.textContent = readings.filter(({ constant }) => !constant).map(readingText).join(", ");
    };
    this.#speaking = setTimeout(() => this.#say(speak), readingDelay);
  }

  #listen(): void {
    const { drawing, figure } = this.#parts;
    // The figure's own events replace those of its inputs.
    for (const type of ["input", "change"]) figure.addEventListener(type, (event) => event.stopPropagation());
    drawing.addEventListener("keydown", (event) => this.#key(event));
    drawing.addEventListener("pointermove", (event) => {
      const cell = this.#cellUnder(event);
      if (cell) this.#moveTo(cell, false);
      else if (this.#hover) this.#moveTo({}, false);
    });
    drawing.addEventListener("pointerleave", () => {
      if (this.#hover) this.#moveTo({}, false);
    });
    drawing.addEventListener("click", (event) => {
      const cell = this.#cellUnder(event);
      if (cell) this.#moveTo(cell, true);
    });
    drawing.addEventListener("pointerup", (event) => {
      // A finger that slides over the drawing reads as it goes; where it is lifted is what it meant.
      const cell = event.pointerType === "mouse" ? undefined : this.#cellUnder(event);
      if (cell) this.#moveTo(cell, true);
    });
    // Where nothing is drawn, there is nothing to take away.
    const offer = (button: HTMLElement, give: (state: State<unknown>) => void): void =>
      button.addEventListener("click", () => {
        this.#bring();
        if (this.#state) give(this.#state);
      });
    offer(this.#parts.png, (state) => this.#say(() => this.#savePng(state)));
    offer(this.#parts.svg, (state) => this.#save(this.#svg(state), "image/svg+xml", "svg"));
    offer(this.#parts.csv, (state) => this.#save(toCsv(this.#figure.table(state)), "text/csv", "csv"));
    offer(this.#parts.json, (state) => this.#save(toJson(this.#figure, state), "application/json", "json"));
    // Hidden where there is no array.
    type Take = NonNullable<Figure["array"]>;
    offer(this.#parts.npy, (state) =>
      this.#save(toNpyBytes((this.#figure.array as Take)(state)), "application/octet-stream", "npy"),
    );
    // Written out here, so that modules, which have no such text, leave all of it behind.
    if (typeof POSENC_CLASSIC !== "undefined" && POSENC_CLASSIC && typeof POSENC_SOURCE === "function") {
      const page = action("page", "Save a page of its own, which works without a network");
      this.#parts.code.before(page);
      offer(page, (state) => {
        const { name, title, caption } = this.#figure;
        const words = { name, lang: this.#language, title: title(state), caption: caption(state) };
        try {
          const values = this.#setValues(state.values);
          const source = String(POSENC_SOURCE);
          this.#save(standAlonePage({ ...words, values, data: this.#rich, source }), "text/html", "html");
        } catch (error) {
          this.#parts.live.textContent = error instanceof Error ? error.message : String(error);
        }
      });
    }
    const { code, codePanel, details } = this.#parts;
    code.addEventListener("click", () => {
      const open = codePanel.hidden;
      codePanel.hidden = !open;
      code.setAttribute("aria-expanded", String(open));
      if (open && this.#state) this.#syncCode(this.#state);
    });
    figure.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || codePanel.hidden) return;
      event.preventDefault();
      code.click();
      code.focus();
    });
    details.addEventListener("toggle", () => {
      if (this.#state) this.#syncTable(this.#state);
    });
  }

  // What some figures have and others do not load.
  #equip(): void {
    const { lens, later } = this.#figure;
    if (lens) {
      this.#lens = new lens({
        drawing: this.#parts.drawing,
        cellUnder: (event) => this.#cellUnder(event),
        cursor: () => ({ row: this.#state?.row ?? 0, column: this.#state?.column ?? 0 }),
        changed: () => this.#schedule(),
      });
      this.#parts.panel.append(this.#lens.root);
    }
    if (later) {
      const say = (words: string): void => void (this.#parts.live.textContent = words);
      this.#background = new later.background(() => this.#schedule(), say, () => this.#state);
      this.#parts.footer.prepend(this.#background.root);
    }
  }

  #listenForFiles(): void {
    const { files } = this.#figure;
    if (!files || this.#file) return;
    const { figure, controls } = this.#parts;
    // What is wrong with a file has been told.
    const write = files.attach(files, figure, controls, (file) => void this.takeFile(file).catch(() => {}));
    // A figure has one region that speaks.
    const say = (words: string): void => {
      write(words);
      this.#parts.live.textContent = words;
    };
    this.#file = { say, serial: 0 };
  }

  // ---------------------------------------------------------------- what is shown

  #syncTabs(values: Values): void {
    const field = this.#figure.tabs?.(values, this.#state?.model);
    const { tablist, panel } = this.#parts;
    const signature = JSON.stringify(field?.choices ?? []);
    if (signature !== this.#tabs.signature) {
      tablist.replaceChildren();
      tablist.hidden = !field || field.choices.length < 2;
      for (const { value, label } of field?.choices ?? []) {
        const tab = make(
          "button",
          { type: "button", textContent: label, id: `tab-${value}` },
          { role: "tab", "aria-controls": "panel", part: "tab" },
        );
        tab.addEventListener("click", () => this.#changed((field as ChoiceField).name, value, true));
        tab.addEventListener("keydown", (event) => this.#tabKey(event));
        tablist.append(tab);
      }
      if (field) tablist.setAttribute("aria-label", field.label);
      if (tablist.hidden) panel.removeAttribute("role");
      else panel.setAttribute("role", "tabpanel");
    }
    this.#tabs = { signature, field };
    // What is asked for may not be there (a view of another model): then the first is shown.
    const asked = Math.max(0, field?.choices.findIndex(({ value }) => value === values[field.name]) ?? 0);
    field?.choices.forEach((_, i) => {
      const tab = tablist.children[i] as HTMLElement;
      const chosen = i === asked;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen && !tablist.hidden) panel.setAttribute("aria-labelledby", tab.id);
    });
  }

  #tabKey(event: KeyboardEvent): void {
    const tabs = [...this.#parts.tablist.children] as HTMLElement[];
    const at = tabs.indexOf(event.currentTarget as HTMLElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length];
    tab?.focus();
    tab?.click();
  }

  #syncControls(values: Values): void {
    const tab = this.#tabs.field?.name;
    const fields = allFields(this.#figure, values).filter((field) => field.place !== "none" && field.name !== tab);
    const names = new Set(fields.map((field) => field.name));
    let changed = false;
    for (const [name, { control }] of this.#controls) {
      if (names.has(name)) continue;
      changed = true;
      control.stop();
      control.root.remove();
      this.#controls.delete(name);
    }
    for (const place of ["row", "more"] as const) {
      const parent = place === "row" ? this.#parts.controls : this.#parts.more;
      let next = parent.firstElementChild;
      let total = 0;
      for (const field of fields) {
        if ((field.place ?? "row") !== place) continue;
        total++;
        const before = this.#controls.get(field.name)?.control.root;
        const { root } = this.#controlFor(field);
        // A control that changed was replaced where it stood.
        if (next !== null && next === before) next = root;
        // Only what is out of place is moved: a control under the reader's hand keeps its focus.
        if (root === next) next = next.nextElementSibling;
        else {
          parent.insertBefore(root, next);
          changed = true;
        }
      }
      (place === "row" ? parent : this.#parts.moreDetails).hidden = total === 0;
    }
    if (!changed) return;
    // Of a first drawing the page has not been laid out yet.
    if (this.#announced) this.#align();
    else nextFrame(() => this.#align());
  }

  // Controls of several lines: as many on each, one under another, and none alone on the last.
  #align(): void {
    const { controls } = this.#parts;
    controls.removeAttribute("style");
    const fields = [...controls.querySelectorAll<HTMLElement>(".field:not(.wide)")];
    const feet = fields.map((field) => field.offsetTop + field.offsetHeight);
    const lines = new Set(feet).size;
    if (lines < 2 || this.#paintedWidth <= 420) return;
    controls.style.display = "grid";
    controls.style.gridTemplateColumns = `repeat(${Math.ceil(feet.length / lines)}, auto)`;
  }

  #controlFor(field: Field): Control {
    const signature = JSON.stringify({ ...field, value: undefined });
    const known = this.#controls.get(field.name);
    if (known?.signature === signature) return known.control;
    const control = makeControl(field, (value, final) => this.#changed(field.name, checkValue(field, value), final));
    if (known) {
      const { activeElement } = this.shadowRoot as ShadowRoot;
      const held = activeElement !== null && known.control.root.contains(activeElement);
      known.control.stop();
      const hold = held ? handOver(activeElement, control.root) : undefined;
      known.control.root.replaceWith(control.root);
      hold?.();
    }
    this.#controls.set(field.name, { signature, control, field });
    return control;
  }

  #syncWords(state: State<unknown>): void {
    const [parts, figure] = [this.#parts, this.#figure];
    parts.title.textContent = figure.title(state);
    parts.caption.textContent = figure.caption(state);
    parts.summary.textContent = figure.summary(state);
    parts.readout.replaceChildren(
      ...figure
        .readout(state)
        .map((reading) =>
          make("span", {}, { part: "reading" }, [
            reading.label,
            " ",
            make("b", { textContent: reading.value }),
            reading.unit === undefined ? "" : ` ${reading.unit}`,
          ]),
        ),
    );
    const live = this.#cells.row !== undefined || this.#cells.column !== undefined;
    parts.drawing.classList.toggle("still", !live);
    parts.drawing.setAttribute("role", live ? "application" : "img");
    if (live) {
      parts.drawing.tabIndex = 0;
      parts.drawing.setAttribute("aria-roledescription", "interactive drawing");
    } else parts.drawing.removeAttribute("tabindex");
    parts.drawing.setAttribute("aria-label", figure.title(state));
    // Landmarks are told apart by their names.
    parts.scroll.setAttribute("aria-label", `numbers: ${figure.title(state)}`);
    parts.help.textContent = live
      ? "Arrow keys move the cursor, with Shift by ten; Home and End go to the ends." +
        (this.#lens?.open ? " Plus and minus show fewer or more cells, 0 all of them; dragging moves them." : "")
      : "";
    parts.code.hidden = figure.code === undefined;
    parts.npy.hidden = !(figure.hasArray?.(state) ?? figure.array);
    if (!parts.codePanel.hidden) this.#syncCode(state);
    this.#syncTable(state);
  }

  #paint(state: State<unknown>, given: number): void {
    this.#paintedWidth = given;
    if (given === 0 || !this.#theme) return;
    // Paper has another width than the window: the picture is drawn for it, or its words would shrink beside the
    // page's own, and keeps its proportions where it is not quite as wide.
    const width = this.#printing ? Math.min(given, paperWidth) : given;
    const height = this.#figure.height(state, width);
    const ratio = this.#printing ? (paperRatio * given) / width : devicePixelRatio;
    const style = this.#printing ? "auto" : `${height}px`;
    // One that is a little too tall for a page would leave its words to the next.
    const pages = (height * given) / width / paperHeight;
    const { canvas } = this.#parts;
    canvas.style.width = this.#printing && pages > 1 && pages < 1.6 ? `${100 / pages}%` : "";
    if (canvas.style.height !== style) canvas.style.height = style;
    this.#backEnd = new CanvasBackEnd(canvas, this.#theme, width, height, ratio);
    this.#figure.draw(new Surface(this.#backEnd, this.#theme, width, height), state);
  }

  #syncCode(state: State<unknown>): void {
    const code = this.#figure.code?.(state);
    if (!code) return;
    const block = (language: string, program: string): HTMLElement[] => {
      const named = { "aria-label": `Copy the ${language} code` };
      const copy = make("button", { type: "button", textContent: "copy" }, named);
      const pre = make(
        "pre",
        { textContent: program, tabIndex: 0 },
        // Landmarks are told apart by their names.
        { role: "region", "aria-label": `${language} code: ${this.#parts.title.textContent}` },
      );
      copy.addEventListener("click", () => {
        void copyText(program).then((copied) => {
          if (!copied) getSelection()?.selectAllChildren(pre);
          copy.textContent = copied ? "copied" : "selected";
          setTimeout(() => (copy.textContent = "copy"), 2000);
        });
      });
      return [make("div", { class: "line" }, {}, [language, copy]), pre];
    };
    const blocks = this.#parts.codeBlocks;
    const shown = block("JavaScript", code.javascript);
    blocks.replaceChildren(...shown);
    // It comes later and is added, so that what has the focus keeps it, if the code is still this state's. Without a
    // network any more, JavaScript is all there is.
    code.numpy?.().then(
      (program) => {
        if (program !== undefined && shown[0]?.parentNode === blocks) blocks.append(...block("NumPy", program));
      },
      () => {},
    );
  }

  #syncTable(state: State<unknown>): void {
    if (!this.#parts.details.open) return;
    const data = this.#figure.table(state);
    const rows = sampled(data.rows, mostTableRows);
    // The first names the rows.
    const columns = [0, ...sampled(data.header.length - 1, mostTableColumns).map((c) => c + 1)];
    const cut = rows.length < data.rows || columns.length < data.header.length;
    const table = make("table");
    const note = cut
      ? `: ${rows.length} of ${count(data.rows, "row")}, ${columns.length} of ` +
        `${count(data.header.length, "column")} (CSV has all)`
      : "";
    table.append(make("caption", { textContent: `${this.#figure.title(state)}${note}` }));
    const heads = columns.map((c) => make("th", { textContent: data.header[c] ?? "" }, { scope: "col" }));
    table.append(make("thead", {}, {}, [make("tr", {}, {}, heads)]));
    table.append(
      make(
        "tbody",
        {},
        {},
        rows.map((r) =>
          make(
            "tr",
            {},
            {},
            columns.map((c, k) => {
              const value = data.cell(r, c);
              const textContent =
                typeof value === "string"
                  ? value
                  : Number.isNaN(value)
                    ? ""
                    : short(value, 6);
              return k === 0 ? make("th", { textContent }, { scope: "row" }) : make("td", { textContent });
            }),
          ),
        ),
      ),
    );
    this.#parts.scroll.replaceChildren(table);
  }

  // ---------------------------------------------------------------- take-away

  #save(content: string | Uint8Array<ArrayBuffer>, type: string, extension: string): void {
    download(new Blob([content], { type }), `posenc-${this.#figure.name}.${extension}`);
  }

  #svg(state: State<unknown>): string {
    return this.#say(() => pageSvg(this.#figure, state, this.#theme as Theme, exportWidth));
  }

  #savePng(state: State<unknown>): void {
    const theme = this.#theme as Theme;
    const margin = 20;
    const height = pageHeight(this.#figure, state, theme, exportWidth);
    const canvas = make("canvas");
    const [wide, tall] = [exportWidth + 2 * margin, height + 2 * margin];
    const surface = new Surface(new CanvasBackEnd(canvas, theme, wide, tall, 2), theme, wide, tall);
    surface.rect(0, 0, wide, tall, { fill: "paper" });
    drawPage(surface.inset(margin, margin, exportWidth, height), this.#figure, state);
    canvas.toBlob((blob) => {
      if (blob) download(blob, `posenc-${this.#figure.name}.png`);
    }, "image/png");
  }
}

function requireValue(name: string, value: unknown): asserts value is Value {
  if (["number", "string", "boolean"].includes(typeof value)) return;
  refuseValue("unknown-choice", name, "a number, a text, true or false", value);
}

function nextFrame(work: () => void): () => void {
  const frame = requestAnimationFrame(work);
  return () => cancelAnimationFrame(frame);
}

// At most `most` of the indices below `total`, evenly, the first among them.
function sampled(total: number, most: number): number[] {
  const step = Math.ceil(total / most);
  return Array.from({ length: Math.ceil(total / Math.max(1, step)) }, (_, i) => i * step);
}

// The ratio changes with zoom and when a window moves to another screen; each value needs its own query.
function watchPixelRatio(changed: () => void): () => void {
  let query: MediaQueryList;
  const listen = (): void => {
    query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    query.addEventListener("change", again, { once: true });
  };
  const again = (): void => {
    listen();
    changed();
  };
  listen();
  return () => query.removeEventListener("change", again);
}

type Parts = ReturnType<typeof makeParts>;

// Nodes are made once, and every element takes copies, which are there at once however many stand in a page.
let pattern: Parts | undefined;

const nodesOf = (root: HTMLElement): Element[] => [root, ...root.querySelectorAll("*")];

function copyParts(label: string): HTMLElement {
  pattern ??= makeParts();
  pattern.drawing.setAttribute("aria-label", label);
  return pattern.figure.cloneNode(true) as HTMLElement;
}

function partsOf(copy: HTMLElement): Parts {
  const [from, to] = [nodesOf(pattern!.figure), nodesOf(copy)];
  return Object.fromEntries(Object.entries(pattern!).map(([name, part]) => [name, to[from.indexOf(part)]])) as Parts;
}

function action(textContent: string, title: string, attributes: Record<string, string> = {}): HTMLButtonElement {
  return make("button", { type: "button", textContent }, { title, part: "action", ...attributes });
}

function makeParts() {
  const title = make("div", { class: "title", id: "title" }, { part: "title" });
  const tablist = make("div", { hidden: true }, { role: "tablist", part: "tabs" });
  const canvas = make("canvas", {}, { part: "canvas", "aria-hidden": "true" });
  // The keyboard reaches a figure before it has been drawn, and thereby starts it.
  const drawing = make(
    "div",
    { class: "drawing", tabIndex: 0 },
    { part: "drawing", role: "application", "aria-describedby": "summary help" },
    [canvas],
  );
  const panel = make("div", { id: "panel" }, {}, [drawing]);
  const controls = make("div", { class: "controls", hidden: true }, { part: "controls" });
  const more = make("div", { class: "controls" });
  const moreDetails = make("details", { class: "more", hidden: true }, {}, [
    make("summary", { textContent: "more settings" }),
    more,
  ]);
  const readout = make(
    "output",
    { class: "readout" },
    { "aria-live": "off", part: "readout", "aria-label": "reading" },
  );
  const png = action("PNG", "Save the picture as PNG");
  const svg = action("SVG", "Save the picture as SVG");
  const csv = action("CSV", "Save the numbers as CSV");
  const npy = action("NPY", "Save the array for NumPy");
  const json = action("JSON", "Save the settings and numbers as JSON");
  const code = action("code", "Show the code that makes these numbers", {
    "aria-expanded": "false",
    "aria-controls": "code",
  });
  const actions = make("div", { class: "actions" }, { part: "actions" }, [png, svg, csv, code]);
  const footer = make("footer", {}, {}, [readout, actions]);
  const caption = make("figcaption", { class: "caption" }, { part: "caption" });
  const codeBlocks = make("div");
  const codePanel = make("div", { class: "code", id: "code", hidden: true }, { part: "code" }, [
    codeBlocks,
    make("div", { class: "line" }, {}, ["the numbers as", npy, json]),
  ]);
  const scroll = make("div", { class: "scroll", tabIndex: 0 }, { role: "region", "aria-label": "numbers" });
  const details = make("details", {}, { part: "table" }, [
    make("summary", { textContent: "the numbers as a table" }),
    scroll,
  ]);
  const summary = make("p", { class: "hidden", id: "summary" });
  const help = make("p", { class: "hidden", id: "help" });
  const live = make("div", { class: "hidden" }, { role: "status", "aria-live": "polite" });
  // Children of the element are what is left to read where nothing can be drawn.
  const faultText = make("p", {}, { role: "alert" });
  const fault = make("div", { class: "fault", hidden: true }, { part: "error" }, [faultText, make("slot")]);
  const head = make("header", {}, {}, [title, tablist]);
  const content = make("div", {}, {}, [panel]);
  const figure = make("figure", { class: "figure" }, { part: "figure", "aria-labelledby": "title" }, [
    head,
    content,
    fault,
    controls,
    moreDetails,
    footer,
    caption,
    codePanel,
    details,
    summary,
    help,
    live,
  ]);
  return {
    figure,
    title,
    tablist,
    canvas,
    drawing,
    panel,
    controls,
    more,
    moreDetails,
    readout,
    png,
    svg,
    csv,
    npy,
    json,
    code,
    actions,
    caption,
    codeBlocks,
    codePanel,
    footer,
    scroll,
    details,
    summary,
    help,
    live,
    faultText,
    fault,
    content,
  };
}

/**
 * Defines <posenc-NAME>, of a figure or of what will bring it; again is harmless, and so is a page without custom
 * elements.
 */
export function defineElement(figureName: string, source: Figure | (() => Promise<Figure>)): void {
  const name = `posenc-${figureName}`;
  if (typeof customElements === "undefined" || customElements.get(name)) return;
  const Element = class extends FigureElement {
    static override figureName = figureName;
    static override load = (): Promise<void> => {
      if (typeof source !== "function" || this.figure) return Promise.resolve();
      return (loading ??= source().then(arrived, (error: unknown) => {
        loading = undefined;
        throw new Error("its own file could not be loaded", { cause: error });
      }));
    };
  };
  let loading: Promise<void> | undefined;
  const arrived = (figure: Figure): void => {
    Element.figure = figure;
    defineAccessors(Element.prototype, Object.keys(figure.attributes));
  };
  if (typeof source !== "function") arrived(source);
  customElements.define(name, Element);
}

function defineAccessors(prototype: FigureElement, attributes: readonly string[]): void {
  for (const attribute of attributes) {
    if (attribute in prototype) throw new Error(`An element has a property \u201c${attribute}\u201d already.`);
    Object.defineProperty(prototype, attribute, {
      configurable: true,
      enumerable: true,
      get(this: FigureElement) {
        return this.getValue(attribute);
      },
      set(this: FigureElement, value: Value) {
        this.setValue(attribute, value);
      },
    });
  }
}

// What goes wrong in `set` is told as the setter would have told it, had it been there; the caller goes on.
function toldLater(set: () => void): void {
  try {
    set();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
