// posenc/elements: importing it defines the <posenc-...> elements.
import { defineElements } from "../figures/index.js";

defineElements();

export { defineElements, figures } from "../figures/index.js";
