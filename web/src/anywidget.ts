// posenc/anywidget: a figure as a widget of notebooks (Jupyter, marimo, Colab) and of MyST pages, by the anywidget
// protocol: one file with everything in it, whose default export renders a model's traits.
import { defineElement, type FigureElement } from "../figures/element.js";
import { figureFiles } from "../figures/later.js";
import { isRecord, refuse } from "./error.js";
import { ready } from "./module.js";
import { tensor } from "./tensor.js";

/** What a figure needs of a widget's model. */
export interface WidgetModel {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, hear: () => void): void;
  off(event: string, hear: () => void): void;
}

/** What anywidget hands to a rendering. */
export interface WidgetView {
  readonly model: WidgetModel;
  readonly el: HTMLElement;
}

type Values = FigureElement["value"];

const typed = { float32: Float32Array, float64: Float64Array, int32: Int32Array };

/**
 * Renders the figure that the trait `figure` names ("embed" of <posenc-embed>, the default) with the values of the
 * trait `value` (a mapping of names to numbers, texts, booleans) and `theme` ("light", "dark"). `data` is a scheme as
 * JSON or a list of those, or `{table, name}` with a table as nested lists or as `{shape, dtype, data: bytes}`. What
 * the reader sets goes back into `value`, with `live` also while a slider or the cursor moves. Gives what takes it away
 * again.
 */
export function render(view: WidgetView): () => void {
  const { model, el } = isRecord(view) ? view : ({} as Partial<WidgetView>);
  if (!isRecord(model) || !isRecord(el)) {
    refuse("not-a-number", "render", "view", "what anywidget gives: {model, el}", view);
  }
  let element: FigureElement | undefined;

  // `anew`: of another figure than before, whose values need not be this one's.
  const show = (anew: boolean): void => {
    const given = model.get("figure");
    const name = typeof given === "string" && given !== "" ? given : "embed";
    const source = Object.hasOwn(figureFiles, name) ? figureFiles[name as keyof typeof figureFiles] : undefined;
    if (source === undefined) {
      element = undefined;
      const names = Object.keys(figureFiles).join(", ");
      el.replaceChildren(`There is no figure \u201c${name}\u201d; figure is one of ${names}.`);
      return;
    }
    defineElement(name, source);
    const made = document.createElement(`posenc-${name}`) as FigureElement;
    element = made;
    made.setAttribute("loading", "eager");
    // Before anything is read, which would bring the figure to life without it.
    setValue(anew);
    made.addEventListener("posenc-ready", tell);
    made.addEventListener("change", tell);
    made.addEventListener("input", () => {
      if (model.get("live") === true) tell();
    });
    follow("theme");
    follow("data");
    el.replaceChildren(made, told);
  };

  // What is wrong with a value is told below the figure, which stays as it was.
  const told = document.createElement("div");
  told.setAttribute("role", "status");
  const tellFault = (error: unknown): void => {
    told.textContent = error instanceof Error ? error.message : String(error);
  };
  const setValue = (anew = false): void => {
    const given = model.get("value");
    told.textContent = "";
    if (!element || typeof given !== "object" || given === null) return;
    try {
      element.value = given as Values;
    } catch (error) {
      if (!anew) tellFault(error);
    }
  };

  const tell = (): void => {
    if (!element) return;
    const values = plain(element.value);
    if (sameValues(values, model.get("value"))) return;
    model.set("value", values);
    model.save_changes();
  };

  const follow = (trait: "theme" | "data" | "value"): void => {
    if (!element) return;
    const given = model.get(trait);
    if (trait === "theme") {
      if (given === "light" || given === "dark") element.setAttribute("theme", given);
      else element.removeAttribute("theme");
    } else if (trait === "value") {
      if (typeof given !== "object" || given === null || sameValues(given, plain(element.value))) return;
      setValue();
    } else {
      const own = element;
      const set = (): void => void (own.data = revived(given));
      if (given !== undefined && given !== null) void ready().then(set).catch(tellFault);
      else own.data = undefined;
    }
  };

  const heard = (["theme", "data", "value"] as const).map((trait) => {
    const hear = (): void => follow(trait);
    model.on(`change:${trait}`, hear);
    return [`change:${trait}`, hear] as const;
  });
  const another = (): void => show(true);
  model.on("change:figure", another);
  show(false);
  return () => {
    model.off("change:figure", another);
    for (const [event, hear] of heard) model.off(event, hear);
    element?.remove();
    told.remove();
    element = undefined;
  };
}

export default { render };

// Without fields that have no value, which JSON would not hold.
function plain(values: Values): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

// True where every value of the first is in the second.
function sameValues(values: object, others: unknown): boolean {
  if (typeof others !== "object" || others === null) return false;
  return Object.entries(values).every(([name, value]) => (others as Record<string, unknown>)[name] === value);
}

// Schemes stay JSON: the copy of the package that defined the elements makes them, which may be another than this one.
function revived(given: unknown): unknown {
  if (typeof given !== "object" || given === null) return given;
  const { slot, name, table } = given as { slot?: unknown; name?: unknown; table?: unknown };
  if (slot !== undefined || table === undefined) return given;
  return { ...given, name: typeof name === "string" ? name : "table", table: revivedTable(table) };
}

interface TableBytes {
  shape?: number[];
  dtype?: keyof typeof typed;
  data?: unknown;
}

function revivedTable(table: unknown): unknown {
  const { shape, dtype = "float32", data } = (table ?? {}) as TableBytes;
  // Bytes of a buffer come as a view of a message; lists are the figure's to read.
  if (!(data instanceof DataView) || shape === undefined || !Object.hasOwn(typed, dtype)) return table;
  const bytes = Uint8Array.from(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return tensor(new typed[dtype](bytes.buffer), shape);
}
