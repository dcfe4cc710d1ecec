// The chapter's own script: the reader's sentence drives the figures, and the worked examples are computed on the page.
// It uses the global of the classic script, so that the built folder opens from disk.
import type * as Posenc from "../src/index.js";

declare const posenc: typeof Posenc;

// The embeddings of the worked example "The cat sat".
const kWords = ["The", "cat", "sat"];
const kEmbeddings = [[0.2, -0.5, 0.8, 0.1], [-0.3, 0.4, 0.2, -0.6], [0.7, 0.1, -0.4, 0.3]];

const kMinus = "\u2212";
const kThinSpace = "\u2009";

function signed(text: string): string {
  return text.replace("-", kMinus);
}

// A number as the notes print it: short where it is short, else with the given decimals.
function printed(value: number, decimals: number): string {
  const short = value.toFixed(1);
  if (Math.abs(value - Number(short)) < 1e-7) return signed(String(Number(short)));
  const long = value.toFixed(decimals);
  return signed(decimals > 4 ? long.replace(/0$/, "") : long);
}

function vector(values: Iterable<number>, decimals: number | readonly number[]): string {
  const parts = Array.from(values, (v, c) => printed(v, typeof decimals === "number" ? decimals : decimals[c] ?? 4));
  return `[${parts.join(", ")}]`;
}

// Wavelengths: one decimal below a thousand, else whole with thin spaces in thousands.
function tokens(value: number): string {
  if (value < 1000) return value.toFixed(2);
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, value < 10000 ? "" : kThinSpace);
}

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

function addRow(table: string, heading: string, cells: readonly string[]): void {
  const row = document.createElement("tr");
  const th = document.createElement("th");
  th.scope = "row";
  th.textContent = heading;
  row.append(th);
  for (const text of cells) {
    const td = document.createElement("td");
    td.textContent = text;
    row.append(td);
  }
  element<HTMLTableElement>(table).tBodies[0]!.append(row);
}

function workedExamples(): void {
  const { encode, embed, rotate, sinusoidal, rope, alibi, frequencies, bias } = posenc;
  const four = sinusoidal({ dim: 4 });

  const table = encode(four, 4);
  for (let t = 0; t < 4; t++) addRow("table-four", String(t), Array.from(table.row(t), (v) => printed(v, 3)));
  element("pe-three").textContent = vector(encode(four, [3]).row(0), 4);

  const encoding = encode(four, 3);
  const input = embed(kEmbeddings, four);
  const decimals = [4, 4, 4, 5];
  kWords.forEach((word, t) => addRow("table-cat", word, [
    vector(kEmbeddings[t]!, decimals), vector(encoding.row(t), decimals), vector(input.row(t), decimals)]));

  for (const layout of ["interleaved", "half"] as const) {
    const turned = rotate([[1, 2, 3, 4]], rope({ dim: 4, layout }), { positions: [1] });
    element(`rope-${layout}`).textContent = vector(turned.row(0), 4);
  }

  // The slope of a head is what one step of distance costs.
  const step = bias(alibi({ heads: 8 }), { queries: [1], keys: [0] });
  element("alibi-slopes").textContent = Array.from(step.data as Float32Array, (b) => `1/${Math.round(-1 / b)}`).join(", ");

  for (const out of document.querySelectorAll<HTMLOutputElement>("output[data-live^=wavelength]")) {
    const [, dim, pair] = out.dataset.live!.split(" ");
    out.textContent = tokens(frequencies(sinusoidal({ dim: Number(dim) })).wavelength[Number(pair)]!);
  }
}

function catalogue(): void {
  for (const scheme of posenc.schemes) {
    const laws = [...new Set(scheme.laws.map((claim) => claim.law.replaceAll("_", " ")))];
    addRow("table-schemes", scheme.title, [scheme.slot, scheme.summary, laws.join(", "), scheme.reference]);
  }
  const { backend, version } = posenc.info();
  element("backend").textContent =
    `posenc ${version} (${backend === "simd" ? "C++ as WebAssembly with SIMD" : "the same C++ as plain JavaScript"})`;
}

function followSentence(): void {
  const input = element<HTMLInputElement>("sentence");
  const followers = document.querySelectorAll<HTMLElement>("posenc-addition, posenc-attention");
  const update = () => {
    const sentence = input.value.trim();
    const words = sentence.split(/\s+/).filter(Boolean);
    element("sentence-count").textContent =
      words.length === 0 ? "No word yet." : words.length === 1 ? "One word." : `${words.length} words.`;
    if (words.length > 0) for (const figure of followers) figure.setAttribute("sentence", sentence);
  };
  input.addEventListener("input", update);
  element("sentence-form").addEventListener("submit", (event) => event.preventDefault());
  update();
}

function followTheme(): void {
  const select = element<HTMLSelectElement>("theme");
  const apply = (theme: string) => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  select.addEventListener("change", () => apply(select.value));
}

async function start(): Promise<void> {
  followTheme();
  try {
    await posenc.ready();
    workedExamples();
    catalogue();
    followSentence();
  } catch (error) {
    const failure = element("failure");
    failure.hidden = false;
    failure.textContent = `The numbers of this page cannot be computed here: ${error instanceof Error ? error.message : String(error)}`;
  }
}

void start();
