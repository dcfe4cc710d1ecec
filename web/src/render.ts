// posenc/render: pictures of the figures without a document.
export { type RenderPixelsOptions, renderPNG } from "../figures/raster-page.js";
export { type RenderOptions, renderSVG } from "../figures/render.js";
export type { Figure } from "../figures/figure.js";
export { figures } from "../figures/index.js";
