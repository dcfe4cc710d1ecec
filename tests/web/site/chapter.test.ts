// The chapter holds every formula, worked example, figure and system of the notes it tells anew: the lists below were
// made from the notes, section by section, and what is wrong in them stands here put right. Numbers are the notes', or
// worked out by hand, and are looked for in the page as built.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import temml from "temml";
import { describe, expect, it } from "vitest";

const kPage = readFileSync(join(import.meta.dirname, "../../../dist/site/index.html"), "utf8");

// What a formula says, without how it is spaced, styled and grouped; limits above and beside a sum are the same.
const said = (mathml: string): string =>
  mathml
    .replace(/<mspace\b[^>]*>(<\/mspace>)?/g, "")
    .replace(/<\/?(math|mrow|mstyle|mpadded|mtable)\b[^>]*>/g, "")
    .replace(/<(\/?)munderover\b[^>]*>/g, "<$1msubsup>")
    .replace(/<(\w+)\b[^>]*>/g, "<$1>")
    .replace(/<mo>\u2061<\/mo>/g, "");
const kSaid = new Map<string, string>();
const saidOf = (tex: string): string => {
  if (!kSaid.has(tex)) kSaid.set(tex, said(temml.renderToString(tex, { annotate: false, throwOnError: true })));
  return kSaid.get(tex)!;
};
const formulasOf = (page: string): string[] =>
  Array.from(page.matchAll(/<math\b[\s\S]*?<\/math>/g), ([all]) => said(all));
const wordsOf = (html: string): string =>
  html
    .replace(/<(script|style)[\s\S]*?<\/\1>/g, "")
    .replace(/<[^>]*>/g, "")
    .replace(/\s+/g, " ");
const liveOf = (page: string, request: string): string | undefined =>
  new RegExp(`<output\\b[^>]*data-live="${request}"[^>]*>([^<]*)</output>`).exec(page)?.[1]?.replaceAll("\u00a0", " ");
const tableOf = (page: string, caption: string): string =>
  wordsOf(new RegExp(`<caption id="${caption}"[\\s\\S]*?</table>`).exec(page)?.[0].replace(/<\/t[hd]>/g, " ") ?? "");

/** By the notes' sections, in TeX, as fragments of the page's formulas. */
const kFormulas: Readonly<Record<string, readonly string[]>> = {
  "why order is needed": [
    "\\operatorname{softmax}\\Big(\\frac{Q K^\\top}{\\sqrt d}\\Big)\\, V",
    "Q = X W_Q",
    "\\operatorname{softmax}\\Big(\\frac{\\Pi Q K^\\top \\Pi^\\top}{\\sqrt d}\\Big)",
    "\\Pi \\operatorname{Attn}(X)",
  ],
  "recurrence and convolution": [
    "h_t = \\sigma(W_h h_{t-1} + W_x x_t + b)",
    "(x * K)_i = \\sum_{j=0}^{k-1} K_j\\, x_{i + j - \\lfloor k/2 \\rfloor}",
  ],
  "the sinusoidal encoding": [
    "\\sin(\\omega t)",
    "2\\pi/\\omega",
    "\\omega_i = 10000^{-2i/d}",
    "p_{t,2i} = \\sin(\\omega_i t)",
    "p_{t,2i+1} = \\cos(\\omega_i t)",
    "i = 0, \\dots, d/2",
    "\\omega_i = \\exp(-2i \\ln 10000 / d)",
    "W [x; p] = W_x x + W_p p",
    "\\tilde x_t = \\sqrt d\\; x_t + \\alpha\\, p_t",
    "\\sqrt{d/2}",
  ],
  "wavelengths and digits": [
    "\\lambda_i = 2\\pi/\\omega_i = 2\\pi \\cdot 10000^{2i/d}",
    "2\\pi \\cdot 10000^{1-2/d}",
    "10000^{510/512}",
    "p(t) = (e^{\\mathrm i \\omega_k t})_{k=1,\\dots,n}",
    "\\omega_k = b^{-(k-1)/n}",
    "e^{\\mathrm i b^{-(n-1)/n} t}",
    "2\\pi\\, b^{1/n}",
    "2\\pi\\, b^{(n-1)/n}",
    "b^{1/n}",
  ],
  "a shift is linear": [
    "\\begin{pmatrix} \\sin\\omega(t+k) \\\\ \\cos\\omega(t+k) \\end{pmatrix}",
    "\\begin{pmatrix} \\cos\\omega k & \\sin\\omega k \\\\ -\\sin\\omega k & \\cos\\omega k \\end{pmatrix}",
    "\\cos\\omega_i\\; p_{t,2i} + \\sin\\omega_i\\; p_{t,2i+1}",
    "\\cos\\omega_i\\; p_{t,2i+1} - \\sin\\omega_i\\; p_{t,2i}",
    "p_{t+k} = M_k\\, p_t",
    "p_{t+k}^\\top = p_t^\\top M_k^\\top",
    "e^{\\pm \\mathrm i \\omega_i k}",
  ],
  "products of rows": [
    "\\sin\\omega_i t\\, \\sin\\omega_i(t+k) + \\cos\\omega_i t\\, \\cos\\omega_i(t+k)",
    "\\sum_{i=0}^{d/2-1} \\cos \\omega_i k",
    "S_{ij} = \\frac{p_i \\cdot p_j}{\\lVert p_i \\rVert\\, \\lVert p_j \\rVert}",
  ],
  "the derivation": [
    "f(\\dots, x_n, \\dots, x_m, \\dots)",
    "f(\\dots, x_m + p_m, \\dots, x_n + p_n, \\dots)",
    "p_m^\\top \\frac{\\partial f}{\\partial x_m}",
    "\\tfrac12\\, p_n^\\top \\frac{\\partial^2 f}{\\partial x_n^2}\\, p_n",
    "H = \\frac{\\partial^2 f}{\\partial x_m \\partial x_n}",
    "\\langle p_m, p_n \\rangle = g(m - n)",
    "\\operatorname{Re}[p_m p_n^*]",
    "p_m p_n^* = q_{m-n}",
    "r_m r_n\\, e^{\\mathrm i (\\varphi_m - \\varphi_n)} = R_{m-n}\\, e^{\\mathrm i \\Phi_{m-n}}",
    "\\varphi_m - \\varphi_{m-1} = \\varphi_1",
    "p_m = e^{\\mathrm i m \\theta}",
    "\\begin{pmatrix} e^{\\mathrm i m \\theta_0} \\\\ \\vdots \\\\ e^{\\mathrm i m \\theta_{d/2-1}} \\end{pmatrix}",
    "\\begin{pmatrix} \\cos m\\theta_0 \\\\ \\sin m\\theta_0 \\\\ \\vdots \\\\ \\cos m\\theta_{d/2-1} \\\\ " +
      "\\sin m\\theta_{d/2-1} \\end{pmatrix}",
  ],
  "how similarity fades": [
    "\\theta(s) = 10000^{-s}",
    "e^{\\mathrm i (m-n)\\theta_0} + e^{\\mathrm i (m-n)\\theta_1} + \\dots + e^{\\mathrm i (m-n)\\theta_{d/2-1}}",
    "e^{\\mathrm i (m-n)\\, 10000^{-i/(d/2)}}\\, \\frac{1}{d/2}",
    "\\int_0^1 e^{\\mathrm i (m-n)\\, \\theta(s)}\\, ds",
    "\\theta(s) = s^\\alpha",
    "\\theta(s) = s",
    "\\theta(s) = 1000^{-s}",
    "H_{2i,2i} \\cos m\\theta_i \\cos n\\theta_i + H_{2i+1,2i+1} \\sin m\\theta_i \\sin n\\theta_i",
    "\\tfrac12 \\big(H_{2i,2i} + H_{2i+1,2i+1}\\big) \\cos(m-n)\\theta_i",
    "\\tfrac12 \\big(H_{2i,2i} - H_{2i+1,2i+1}\\big) \\cos(m+n)\\theta_i",
    "\\int_0^1 h(s)\\, e^{\\mathrm i (m-n)\\, \\theta(s)}\\, ds",
  ],
  "learned tables": ["x_t + E_t", "E \\in \\mathbb R^{n_{\\max} \\times d}", "n_{\\max}\\, d"],
  "attention's weights, and another sequence's": [
    "-\\sum_j A_{ij} \\ln A_{ij}",
    "\\sum_j A_{ij}\\, |i - j|",
    "\\frac{\\big(q_i + p^{q}_i\\big) \\cdot \\big(k_j + p^{kv}_j\\big)}{\\sqrt d}",
    "\\frac{q_i \\cdot k_j + q_i \\cdot r_{j-i}}{\\sqrt d}",
  ],
  RoPE: [
    "\\begin{pmatrix} \\cos m\\omega_i & -\\sin m\\omega_i \\\\ \\sin m\\omega_i & \\cos m\\omega_i \\end{pmatrix}",
    "x_{2i} \\cos m\\omega_i - x_{2i+1} \\sin m\\omega_i",
    "x_{2i} \\sin m\\omega_i + x_{2i+1} \\cos m\\omega_i",
    "\\langle R(m)\\, q,\\; R(n)\\, k \\rangle = \\langle q,\\; R(n - m)\\, k \\rangle",
    "(W_q x_m)^\\top R(n - m)\\, (W_k x_n)",
    "\\langle R(m + \\Delta)\\, q,\\; R(n + \\Delta)\\, k \\rangle = \\langle R(m)\\, q,\\; R(n)\\, k \\rangle",
    "z_i \\mapsto e^{\\mathrm i t \\omega_i} z_i",
    "\\operatorname{softmax}\\Big(\\frac{R(Q)\\, R(K)^\\top}{\\sqrt d} + M\\Big)\\, V",
    "R(Q) = \\begin{pmatrix} R(0)\\, q_0 \\\\ R(1)\\, q_1 \\\\ \\vdots \\end{pmatrix}",
  ],
  "biases and relations": [
    "\\begin{matrix} b_0 & b_{-1} & b_{-2} & \\cdots \\\\ b_1 & b_0 & b_{-1} & \\cdots \\end{matrix}",
    "\\frac{Q K^\\top}{\\sqrt d} + B",
    "b_h(i, j) = -m_h\\,|i - j|",
    "m_h = 2^{-8h/H}",
    "\\frac{Q K^\\top}{\\sqrt d} + M + m_h B",
    "B = \\begin{pmatrix} 0 & -1 & -2 & \\cdots \\\\ -1 & 0 & -1 & \\cdots \\\\ -2 & -1 & 0 & \\cdots \\\\ " +
      "\\vdots & \\vdots & \\vdots & \\ddots \\end{pmatrix}",
    "M_{\\text{causal}} = \\begin{pmatrix} 0 & -\\infty & -\\infty & \\cdots \\\\ 0 & 0 & -\\infty & \\cdots \\\\ " +
      "0 & 0 & 0 & \\cdots \\\\ \\vdots & \\vdots & \\vdots & \\ddots \\end{pmatrix}",
    "1/(1 + (x/32)^2)",
    "\\frac{q_i \\cdot (k_j + a^K_{ij})}{\\sqrt d}",
    "v_j + a^V_{ij}",
    "w_{\\max(-c,\\, \\min(c,\\, j - i))}",
    "O(T^2 d)",
    "q_i^\\top k_j + q_i^\\top W_R\\, r_{i-j} + u^\\top k_j + v^\\top W_R\\, r_{i-j}",
  ],
  "longer and wider": ["L' = sL", "\\omega'_i", "p(y, x) = c(x) \\oplus c(y)"],
};

const kMinus = "\u2212";

/** Worked examples: numbers in the text, as they are asked of the core, with what they must say. */
const kExamples: Readonly<Record<string, string>> = {
  // Sines and cosines of 3 and 0.03.
  "row 4 3 4": `[0.1411, ${kMinus}0.9900, 0.0300, 0.9996]`,
  // sin 3 = sin 2 cos 1 + cos 2 sin 1, cos 3 = cos 2 cos 1 - sin 2 sin 1; cos 2 is below zero.
  "step 4 2 0": `0.9093 · 0.5403 ${kMinus} 0.4161 · 0.8415 = 0.1411`,
  "step 4 2 1": `${kMinus}0.9093 · 0.8415 ${kMinus} 0.4161 · 0.5403 = ${kMinus}0.9900`,
  // 2 pi 10000^(2i/d).
  "wavelength 512 0": "6.28",
  "wavelength 512 255": "60\u202f611",
  "wavelength 16 7": "19\u202f869",
  "wavelength-timing 512": "62\u202f832",
  "wavelength 100 0": "6.28",
  "wavelength 100 1": "7.55",
  "wavelength 100 49": "52\u202f261",
  "slowness 512 255": "9646.6",
  // 710 = 226 pi + 6.0e-5, a near miss with one pair alone; with a second of speed 0.01, |2 sin 3.55| = 0.794.
  "closest 2 1000": "6.0\u00d710\u207b\u2075",
  "closest-at 2 1000": "0 and 710",
  "between 4 0 710 3": "0.794",
  // Both orders of both sentences, without positions.
  "gap-none 3": "0",
  "gap-none 6": "0",
  // The root of 256; 0.02 times the root of 512.
  "norm 512": "16.00",
  "norm-words 512": "0.45",
  // The mean cosine of 64 pairs one step apart.
  "cosine 128 1": "0.9702",
  // 1 - i/64 for i = 0 ... 63, summed.
  "weighted 128 0": "32.50",
  // 512 rows of 768, 1,024 rows of 768; row 32 of 32 is row 0.
  "parameters 512 768": "393\u202f216",
  "parameters 1024 768": "786\u202f432",
  "wrapped 32": "0 and 32",
  // cos 1 - 2 sin 1, sin 1 + 2 cos 1; 3 and 4 by the hundredth of it.
  "turned 0": `[${kMinus}1.1426, 1.9221, 2.9599, 4.0298]`,
  "turned-by-hand 0": `1 · 0.5403 ${kMinus} 2 · 0.8415 = ${kMinus}1.1426`,
  "turned-by-hand 1": "1 · 0.8415 + 2 · 0.5403 = 1.9221",
  "slopes 8": "1/2, 1/4, 1/8, 1/16, 1/32, 1/64, 1/128 and 1/256",
  // A sum of two terms minds no order.
  "mirrored 64 1": "0",
};

/** Tables, by their captions, and what must stand in them. */
const kTables: Readonly<Record<string, readonly string[]>> = {
  "cap-four": [`1 0.841 0.540 0.010 1`, `2 0.909 ${kMinus}0.416 0.020 1`, `3 0.141 ${kMinus}0.990 0.030 1`],
  // Words, their places, and the sums.
  "cap-cat": [
    `The [0.2, ${kMinus}0.5, 0.8, 0.1] [0, 1, 0, 1] [0.2, 0.5, 0.8, 1.1]`,
    `0.8415, 0.5403, 0.0100, 0.99995]`,
    `[0.5415, 0.9403, 0.2100, 0.39995]`,
    `[1.6093, ${kMinus}0.3161, ${kMinus}0.3800, 1.2998]`,
  ],
  "cap-layers": ["2 T d²", "k T d²", "4 T d² + 2 T² d"],
  "cap-wheels": ["first", "second", "last", "52 261"],
  // The first of eight heads: half a point a step.
  "cap-alibi": [`3 ${kMinus}1.5 ${kMinus}1 ${kMinus}0.5 0`],
  "cap-bases": ["100 ", "10 000 "],
  "cap-compared": ["Sinusoidal", "Learned", "T5", "ALiBi", "RoPE"],
  "cap-changed": ["reading in order", "any length, with a weak memory"],
};

/** Figures, each in place of the notes' drawings of the same. */
const kFigures = [
  "permutation", // two sentences of the same words
  "embed", // stripes, and four of sixteen dimensions
  "addition", // embedding + encoding = input
  "spectrum", // frequency bands
  "shift", // the rotation of a pair
  "similarity", // products of positions
  "decay", // the integral near and far, by several laws
  "expansion", // a matrix between two positions
  "attention", // heads, in one sequence and across two
  "rotate", // queries and keys turned
  "bias", // penalties and buckets
  "relate", // clipped offsets
  "projection", // a table's rows in two dimensions
  "extrapolation", // trained and beyond
  "grid", // two axes
  "compare", // the table of schemes
];

/** Systems, and what the notes say of each that a reader must meet. */
const kSystems = [
  ...["LSTM", "GRU", "convolution", "BERT", "[CLS]", "GPT-2", "T5", "bucket", "KERPLE", "Transformer-XL", "DeBERTa"],
  ...["Llama 3", "Llama 4", "YaRN", "padding mask", "causal mask", "dropout acts on the sum", "Toeplitz matrix"],
  ...["class LearnedPositions(nn.Module)", "torch.arange(T, device=x.device))", "if T &gt; n_max:"],
  ...["arange(T) % n_max", "second table of two rows", "from 8 thousand tokens to 64 to 512"],
  ...["once and not again in later ones", "sentences, paragraphs or syntax"],
];

function missing(page: string): string[] {
  const formulas = formulasOf(page);
  const words = wordsOf(page);
  return [
    ...Object.values(kFormulas)
      .flat()
      .filter((tex) => !formulas.some((formula) => formula.includes(saidOf(tex)))),
    ...Object.entries(kExamples)
      .filter(([request, text]) => liveOf(page, request) !== text)
      .map(([request]) => request),
    ...Object.entries(kTables).flatMap(([caption, texts]) => {
      const table = tableOf(page, caption);
      return texts.filter((text) => !table.includes(text)).map((text) => `${caption}: ${text}`);
    }),
    ...kFigures.filter((name) => !page.includes(`<posenc-${name} id="fig-`)),
    ...kSystems.filter((name) => !words.includes(name)),
  ];
}

describe("what the notes hold", () => {
  it("stands in the chapter, all of it", () => {
    expect(missing(kPage)).toEqual([]);
  });

  it("is missed where it is not", () => {
    const all = [kFormulas, kTables].map((lists) => Object.values(lists).flat().length).reduce((a, b) => a + b);
    const singles = Object.keys(kExamples).length + kFigures.length + kSystems.length;
    expect(missing("").length).toBe(all + singles);
    // One formula, one number and one row less.
    const less = kPage
      .replace(/<div class="formula display">(?:(?!<\/div>)[\s\S])*σ[\s\S]*?<\/div>/, "")
      .replace("60\u202f611", "62\u202f393")
      .replace("[1.6093", "[1.6094");
    expect(missing(less)).toEqual([
      ...kFormulas["recurrence and convolution"]!,
      "wavelength 512 255",
      `cap-cat: [1.6093, ${kMinus}0.3161, ${kMinus}0.3800, 1.2998]`,
    ]);
  });
});
