/** A contour's points in units of the em, y upwards; closed. */
export type Contour = { x: number; y: number; on: boolean }[];

export interface Font {
  unitsPerEm: number;
  xHeight: number;
  glyphOf(code: number): number;
  advance(glyph: number): number;
  contours(glyph: number): Contour[];
}

export const kGlyphPackage: string;
export function wantedCharacters(): number[];
export function readFont(bytes: Uint8Array): Font;
export function packFaces(fonts: readonly Font[], codes: readonly number[]): Uint8Array;
export function writeGlyphs(folder: string, root?: string): void;
