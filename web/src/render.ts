// posenc/render: pictures of the figures without a document.
export { type RenderPixelsOptions, renderPNG } from "../figures/raster-page.js";
export { type RenderOptions, renderSVG } from "../figures/render.js";
