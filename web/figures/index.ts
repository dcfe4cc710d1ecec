// The figures: one line each, and one in later.ts.
import { addition } from "./addition.js";
import { attention } from "./attention.js";
import { bias } from "./bias.js";
import { compare } from "./compare.js";
import { config } from "./config.js";
import { decay } from "./decay.js";
import { embed } from "./embed.js";
import { expansion } from "./expansion.js";
import { extrapolation } from "./extrapolation.js";
import type { Figure } from "./figure.js";
import { grid } from "./grid.js";
import { permutation } from "./permutation.js";
import { precision } from "./precision.js";
import { projection } from "./projection.js";
import { relate } from "./relate.js";
import { rotate } from "./rotate.js";
import { shift } from "./shift.js";
import { similarity } from "./similarity.js";
import { spectrum } from "./spectrum.js";

/** The definition of every figure. */
export const figures: readonly Figure[] = [
  embed, // an embedding table: heat map, waves, circles
  rotate, // a query and a key turned pair by pair; mixed layouts
  bias, // what a bias scheme adds to the scores of each head
  relate, // which table row a pair of tokens falls on, and what it adds
  addition, // embeddings + encoding = input, of a typed sentence
  spectrum, // the pairs as clocks beside a context, and a position as a number in their places
  shift, // moving every position by k as one matrix: a pair on its circle, the error over all positions
  decay, // the score of an offset and the integral it tends to, for several laws of the frequencies
  expansion, // p(m)^T H p(n) by what it sees of m and n, and the expansion that it comes from
  attention, // who looks at whom, under any scheme, and why
  permutation, // the same words in two orders, and who can tell
  similarity, // every position compared with every other one
  projection, // a table as a path in two dimensions, beside another
  config, // what a model's config.json says of positions
  precision, // what four arithmetics make of far positions
  compare, // the table of schemes, computed
  extrapolation, // beyond the positions trained: where schemes end or go on, phases never met, rules for RoPE
  grid, // encodings of the cells of an image, and what one of them is like
];
