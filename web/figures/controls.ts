// Native controls for the fields of a figure: label, input, output.
import { short } from "./format.js";
import type { Field, RangeField, Value } from "./figure.js";

export interface Control {
  root: HTMLElement;
  /** Shows a value without telling anyone. */
  show(value: Value | undefined): void;
  /** Stops a running play. */
  stop(): void;
}

/** Called with the new value; `final` when the reader has let go. */
export type Changed = (value: Value, final: boolean) => void;

let serial = 0;

/** A name for a control that its label and others refer to. */
export function freshId(): string {
  return `f${++serial}`;
}

/** Makes an element; properties only, never markup. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> & { class?: string } = {},
  attributes: Record<string, string> = {},
  children: readonly (Node | string)[] = [],
): HTMLElementTagNameMap[K] {
  const { class: className, ...rest } = properties as Record<string, unknown> & { class?: string };
  const node = Object.assign(document.createElement(tag), rest);
  if (className !== undefined) node.className = className;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export function makeControl(field: Field, changed: Changed): Control {
  const id = freshId();
  const label = make("label", { htmlFor: id, textContent: field.label });
  const root = make("div", { class: "field" }, { part: "field" });
  const control = controlOf(field, id, label, root, changed);
  // For those who point at the words, and for those who come to the control by keyboard or are read to.
  if (field.sentence !== undefined) {
    for (const node of root.querySelectorAll<HTMLElement>(`label, #${id}`)) node.title = field.sentence;
  }
  return control;
}

function controlOf(
  field: Field,
  id: string,
  label: HTMLLabelElement,
  root: HTMLElement,
  changed: Changed,
): Control {
  switch (field.kind) {
    case "range":
      return rangeControl(field, id, label, root, changed);
    case "choice": {
      const options = field.choices.map((c) => make("option", { value: c.value, textContent: c.label }));
      const select = make("select", { id }, { part: "select" }, options);
      select.addEventListener("change", () => changed(select.value, true));
      root.classList.add("choice");
      root.append(label, select);
      // Choosing anew what is chosen costs as much as a change.
      const show = (value: Value | undefined): void => {
        if (select.value !== String(value)) select.value = String(value);
      };
      return { root, show, stop: () => {} };
    }
    case "flag": {
      const box = make("input", { id, type: "checkbox" });
      box.addEventListener("change", () => changed(box.checked, true));
      // As wide as its words.
      root.classList.add("choice");
      root.append(make("div", { class: "flag" }, {}, [box, label]));
      return { root, show: (value) => void (box.checked = value === true), stop: () => {} };
    }
    case "text": {
      const { placeholder = "" } = field;
      const plain = { id, spellcheck: false, autocomplete: "off", placeholder } as const;
      const input =
        field.lines === undefined || field.lines < 2
          ? make("input", { ...plain, type: "text" }, { part: "text" })
          : make("textarea", { ...plain, rows: field.lines }, { part: "text" });
      if (field.maxLength !== undefined) input.maxLength = field.maxLength;
      input.addEventListener("input", () => changed(input.value, false));
      input.addEventListener("change", () => changed(input.value, true));
      root.classList.add("wide");
      root.append(label, input);
      return {
        root,
        show: (value) => {
          // The reader's caret stays where it is while they type.
          if (input.value !== String(value ?? "")) input.value = String(value ?? "");
        },
        stop: () => {},
      };
    }
  }
}

/**
 * What gives the focus of `held`, to be called once `root` stands in place of its control, and the caret: a long text
 * turns an input into a textarea.
 */
export function handOver(held: Element, root: ParentNode): () => void {
  const { value, selectionStart, selectionEnd } = held as HTMLInputElement;
  const next =
    root.querySelector<HTMLInputElement>(held.localName) ?? root.querySelector<HTMLInputElement>("input, textarea");
  return () => {
    next?.focus();
    if (typeof selectionStart !== "number") return;
    Object.assign(next ?? {}, { value, selectionStart, selectionEnd });
  };
}

const logSteps = 1000;

function rangeControl(
  field: RangeField,
  id: string,
  label: HTMLLabelElement,
  root: HTMLElement,
  changed: Changed,
): Control {
  const input = make("input", { id, type: "range" }, { part: "slider" });
  const output = make("output", {}, { for: id, "aria-live": "off", part: "value" });
  const write = field.format ?? short;
  const log = field.log === true && field.min > 0;
  let high = field.max;
  let low = field.min;
  const ends = (): void => {
    input.min = String(log ? 0 : low);
    input.max = String(log ? logSteps : high);
    input.step = String(log ? 1 : (field.step ?? (field.integer === true ? 1 : "any")));
  };
  const toSlider = (value: number): number =>
    log ? (logSteps * Math.log(Math.max(value, low) / low)) / Math.log(high / low) : value;
  const fromSlider = (): number => {
    if (!log) return Number(input.value);
    const at = Number(input.value);
    if (at <= 0) return low;
    if (at >= logSteps) return high;
    const exact = low * (high / low) ** (at / logSteps);
    // Two digits are as fine as a hand is; whole steps where they are coarser.
    const value = Number(exact.toPrecision(2));
    // What is counted often is a power of two, as 512 tokens, which two digits have not and are not to round across.
    const power = 2 ** Math.round(Math.log(exact) / Math.LN2);
    if (field.integer && (Math.round(toSlider(power)) === at || (value - power) * (exact - power) < 0)) return power;
    const step = field.step ?? (field.integer === true ? 1 : 0);
    return step > 0 ? Math.max(low, Math.round(value / step) * step) : value;
  };
  ends();
  let last: number | undefined;
  const tell = (value: number, final: boolean): void => {
    last = value;
    changed(value, final);
  };
  if (log) {
    // A step of the slider is often less than the two digits of a value: an arrow key goes on to the next value from
    // the one that is shown, which need not be its place's.
    input.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const before = last ?? fromSlider();
      let at = Number(input.value);
      do input.value = String((at += step));
      while ((fromSlider() - before) * step <= 0 && at > 0 && at < logSteps);
      if (fromSlider() !== before) tell(fromSlider(), true);
    });
  }
  input.addEventListener("input", () => tell(fromSlider(), false));
  input.addEventListener("change", () => tell(fromSlider(), true));
  let timer = 0;
  const stop = (): void => {
    cancelAnimationFrame(timer);
    timer = 0;
  };
  root.append(label, output);
  if (field.play === true) {
    const button = make(
      "button",
      { type: "button", textContent: "play" },
      { "aria-label": `Play ${field.label}`, part: "play" },
    );
    const size = (): number => field.step ?? (field.integer === true ? 1 : (high - low) / 200);
    const step = (): void => {
      const next = (last ?? low) + size();
      tell(next > high ? low : next, false);
      input.value = String(toSlider(last as number));
    };
    let before = 0;
    const run = (now: number): void => {
      if (now - before > 90) {
        before = now;
        step();
      }
      timer = requestAnimationFrame(run);
    };
    button.addEventListener("click", () => {
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) step();
      else if (timer) stop();
      else timer = requestAnimationFrame(run);
      button.textContent = timer ? "pause" : "play";
      button.setAttribute("aria-label", `${timer ? "Pause" : "Play"} ${field.label}`);
    });
    root.append(make("div", { class: "run" }, {}, [input, button]));
  } else root.append(input);
  return {
    root,
    stop,
    show: (value) => {
      if (typeof value !== "number" || Number.isNaN(value)) {
        output.textContent = "\u2013";
        return;
      }
      if (value > high || (value < low && (value > 0 || !log))) {
        // A value from an attribute may lie beyond the ends; the slider stretches to it, but a logarithm not to zero.
        high = Math.max(high, value);
        low = Math.min(low, value);
        ends();
        last = undefined;
      }
      // What the reader just set stays where the hand is, though the value was rounded.
      if (value !== last) input.value = String(toSlider(value));
      last = value;
      output.textContent = write(value);
      input.setAttribute("aria-valuetext", write(value));
    },
  };
}
