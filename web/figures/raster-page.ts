// renderPNG of posenc/render: figures as pixels, without a document.
import { drawPage, pageHeight, pageMargin } from "./page.js";
import { RasterBackEnd } from "./raster.js";
import { encodePicture } from "./raster-png.js";
import { refuseValue } from "./refusal.js";
import { figureNamed, figureState, pageOptions, type RenderOptions } from "./render.js";
import { Surface } from "./surface.js";

export interface RenderPixelsOptions extends RenderOptions {
  /** Pixels of the picture to each pixel of the drawing, from 0.5 to 8; 2 by default. */
  scale?: number;
}

const mostPixels = 1 << 26;

/**
 * The figure with its title, read-out and caption as a PNG file: `renderPNG("embed", {positions: 96, dim: 64})`. Takes
 * the attributes of the element of that name; the same call gives the same bytes everywhere. Its own letters are Latin
 * and Greek: what is written in other scripts, and emoji, become boxes (renderSVG leaves letters to whoever shows it).
 * A PosencError where the figure cannot be drawn, and where an attribute or an option is not known.
 */
export function renderPNG(
  figure: string,
  attributes: Readonly<Record<string, unknown>> = {},
  options: RenderPixelsOptions = {},
): Uint8Array {
  const { width, theme, data, scale = 2 } = pageOptions(options, ["width", "theme", "data", "scale"]);
  if (typeof scale !== "number") refuseValue("not-a-number", "scale", "from 0.5 to 8", scale);
  if (!(scale >= 0.5 && scale <= 8)) refuseValue("out-of-range", "scale", "from 0.5 to 8", scale);
  const known = figureNamed(figure);
  const state = figureState(figure, attributes, data);
  const measuring = new RasterBackEnd(theme, 1, 1, scale);
  const height = pageHeight(known, state, theme, width, measuring) + 2 * pageMargin;
  const whole = width + 2 * pageMargin;
  if (whole * height * scale * scale > mostPixels) {
    const sentence = `The picture would have more than ${mostPixels} pixels: ${whole} by ${height} at scale ${scale}.`;
    refuseValue("too-large", "scale", `small enough for ${mostPixels} pixels`, scale, sentence);
  }
  const backEnd = new RasterBackEnd(theme, whole, height, scale);
  drawPage(new Surface(backEnd, theme, width, height - 2 * pageMargin, pageMargin, pageMargin), known, state);
  const { pixels } = backEnd;
  return encodePicture(pixels, backEnd.width, backEnd.height, scale, known.title(state), known.summary(state));
}
