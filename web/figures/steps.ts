// A model that is made in steps: its figure is first drawn without holding the page up.
import type { Figure, Values } from "./figure.js";

/** A figure's steps, each a few milliseconds of work, and compute(), which takes them in one go. */
export function stepwise<Model>(
  steps: (values: Values, data: unknown) => Generator<unknown, Model>,
): Pick<Figure<Model>, "compute" | "steps"> {
  return {
    steps,
    compute: (values, data) => {
      const making = steps(values, data);
      let step = making.next();
      while (!step.done) step = making.next();
      return step.value;
    },
  };
}
