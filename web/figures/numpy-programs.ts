// The programs in NumPy of all figures: a page loads them when a reader asks for the code of one. They take types of
// figures and nothing else, or a page would load other figures with them.
export * from "./numpy-addition.js";
export * from "./numpy-attention.js";
export * from "./numpy-bias.js";
export * from "./numpy-decay.js";
export * from "./numpy-expansion.js";
export * from "./numpy-extrapolation.js";
export * from "./numpy-grid.js";
export * from "./numpy-permutation.js";
export * from "./numpy-precision.js";
export * from "./numpy-relate.js";
export * from "./numpy-rotate.js";
export * from "./numpy-shift.js";
export * from "./numpy-table.js";
export * from "./numpy-wavelengths.js";
