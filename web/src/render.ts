// posenc/render: pictures of the figures without a document.
export { type RenderOptions, renderSVG } from "../figures/render.js";
