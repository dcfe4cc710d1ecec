// A computation that would hold a page up, in slices: how far it is, and a button that cancels it.
import { make } from "./controls.js";
import type { Figure, Task, Values } from "./figure.js";
import { turnOfPage } from "./idle.js";
import { stepwise } from "./steps.js";

// Between two turns of the page; a frame has sixteen milliseconds.
const slice = 8;

type Outcome = { model: unknown } | { error: unknown } | "running" | "cancelled";

export class Background {
  /** What a reader sees of it; hidden where there is nothing to say. */
  readonly root: HTMLElement;
  readonly #words = make("span");
  readonly #bar = make("progress", {}, { part: "progress", "aria-label": "computed" });
  readonly #button = make("button", { type: "button" }, { part: "action" });
  readonly #changed: () => void;
  readonly #say: (words: string) => void;
  readonly #drawn: () => unknown;
  #key: string | undefined;
  #outcome: Outcome = "cancelled";
  #controller = new AbortController();

  /**
   * `changed` hears that there is an outcome, or none any more; `say` what a listener should; `drawn` is what a reader
   * sees meanwhile, undefined for nothing.
   */
  constructor(changed: () => void, say: (words: string) => void, drawn: () => unknown) {
    this.#changed = changed;
    this.#say = say;
    this.#drawn = drawn;
    this.#button.addEventListener("click", () => {
      if (this.busy) this.#cancel();
      else this.stop();
      changed();
    });
    this.root = make("div", { class: "background", hidden: true }, { part: "background" }, [
      this.#words,
      this.#bar,
      this.#button,
    ]);
  }

  get busy(): boolean {
    return this.#key !== undefined && this.#outcome === "running";
  }

  /** True where the reader has cancelled what this key stands for. */
  cancelled(key: string): boolean {
    return this.#key === key && this.#outcome === "cancelled";
  }

  /** The model of this key if it is there; else it is on its way, or was cancelled. Throws what the making threw. */
  model(key: string, make: (task: Task) => Promise<unknown>): { model: unknown } | undefined {
    if (key !== this.#key) this.#start(key, make);
    const outcome = this.#outcome;
    if (outcome === "running" || outcome === "cancelled") return undefined;
    this.#key = undefined;
    if ("error" in outcome) throw outcome.error;
    return outcome;
  }

  /** Nothing is to be computed. */
  stop(): void {
    this.#controller.abort();
    this.#key = undefined;
    this.root.hidden = true;
  }

  #cancel(): void {
    this.#controller.abort();
    this.#outcome = "cancelled";
    this.#show(`cancelled; ${this.#drawn() ? "the drawing is as it was" : "nothing is drawn yet"}`, "compute");
    this.#say("cancelled");
  }

  #show(words: string, button: string): void {
    this.root.hidden = false;
    this.#words.textContent = words;
    this.#button.textContent = button;
    this.#bar.hidden = !this.busy;
  }

  #start(key: string, compute: (task: Task) => Promise<unknown>): void {
    this.#controller.abort();
    const controller = (this.#controller = new AbortController());
    this.#key = key;
    this.#outcome = "running";
    const { signal } = controller;
    let turn = 0;
    let quarter = 0;
    const step = async (done: number, total: number): Promise<void> => {
      if (performance.now() - turn >= slice) {
        this.#bar.max = total;
        this.#bar.value = done;
        this.#words.textContent = `computing, ${Math.floor((100 * done) / total)}\u2009%`;
        if (Math.floor((4 * done) / total) > quarter) {
          quarter = Math.floor((4 * done) / total);
          this.#say(`${25 * quarter} per cent computed`);
        }
        await turnOfPage();
        turn = performance.now();
      }
      signal.throwIfAborted();
    };
    const end = (outcome: Outcome): void => {
      if (signal.aborted) return;
      this.#outcome = outcome;
      this.root.hidden = true;
      this.#changed();
    };
    this.#show("computing \u2026", "cancel");
    this.#say("computing");
    // The first slice too waits for what is on its way to the screen.
    turnOfPage()
      .then(() => {
        turn = performance.now();
        signal.throwIfAborted();
        return compute({ signal, step });
      })
      .then(
        (model) => end({ model }),
        (error: unknown) => end({ error }),
      );
  }
}

/** How far a model is, between two steps of its making. */
export interface Step {
  done: number;
  total: number;
}

/** A figure's compute(), steps and later of a model made in steps; `long` where a page would wait for it. */
export function inSteps<Model>(
  steps: (values: Values, data: unknown) => Generator<Step, Model>,
  long: (values: Values, data: unknown) => boolean,
): Pick<Figure<Model>, "compute" | "steps" | "later"> {
  return {
    ...stepwise(steps),
    later: {
      background: Background,
      task: (values, data) =>
        long(values, data)
          ? async (task) => {
              const making = steps(values, data);
              let step = making.next();
              for (; !step.done; step = making.next()) await task.step(step.value.done, step.value.total);
              return step.value;
            }
          : undefined,
    },
  };
}
