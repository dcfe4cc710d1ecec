// A figure as a page of its own: one file with the script in it, which a reader keeps and opens without a network.
import { Tensor, tensor, type TensorLike } from "../src/core.js";
import { isScheme } from "../src/scheme.js";
import { attributeName, type Value } from "./figure.js";
import { refuseValue } from "./refusal.js";
import { escape } from "./svg.js";
import { base64 } from "./png.js";
import { toNpyBytes } from "./take-away.js";

export interface StandAlone {
  /** "embed" of <posenc-embed>. */
  name: string;
  title: string;
  /** What to see in it, for where scripts do not run. */
  caption: string;
  lang: string;
  values: Iterable<readonly [string, Value]>;
  /** The figure's rich data. */
  data: unknown;
  /** The text of the function that the classic script is. */
  source: string;
}

const style =
  ":root{color-scheme:light dark}" +
  "body{margin:2.5rem auto;padding:0 1.25rem;max-width:880px;background:#fffefb;color:#1c1b19}" +
  "@media(prefers-color-scheme:dark){body{background:#171614;color:#ece9e2}}";

/** The page as HTML; throws a sentence where the data cannot be written down. */
export function standAlonePage({ name, title, caption, lang, values, data, source }: StandAlone): string {
  const attributes = [...values].map(([field, value]) => ` ${attributeName(field)}="${escape(String(value))}"`);
  const tag = `posenc-${name}`;
  return [
    "<!doctype html>",
    `<html lang="${escape(lang)}">`,
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">',
    `<title>${escape(title)}</title><link rel="icon" href="data:,"><style>${style}</style></head>`,
    `<body><main><${tag} loading="eager"${attributes.join("")}>${escape(`${title}. ${caption}`)}</${tag}></main>`,
    `<script>var posenc=(${inHtml(source)})();</script>`,
    ...(data === undefined
      ? []
      : [`<script>document.querySelector("${tag}").data=${inHtml(program(data))};</script>`]),
    "</body></html>",
    "",
  ].join("\n");
}

// A script may not hold the end of its own element, nor what begins a comment.
function inHtml(script: string): string {
  return script.replace(/<(?=\/script|!--)/gi, "\\x3C");
}

// The expression that makes the data anew.
function program(data: unknown): string {
  // What is no scheme yet, such as its JSON, is written as it is.
  if (isScheme(data)) return `posenc.fromJSON(${JSON.stringify(data)})`;
  if (data instanceof Tensor) {
    if (data.dtype === "bool") refuseData(data, "a table of booleans cannot be written into a page");
    return `posenc.readNpy(${bytesProgram(toNpyBytes(data as Tensor<"float32">))})`;
  }
  if (ArrayBuffer.isView(data) && !(data instanceof DataView)) {
    const { buffer, byteOffset, byteLength } = data;
    const kind = (data as Uint8Array)[Symbol.toStringTag];
    return `new ${kind}(${bytesProgram(new Uint8Array(buffer, byteOffset, byteLength))}.buffer)`;
  }
  if (Array.isArray(data)) return `[${data.map(program).join()}]`;
  if (typeof data === "object" && data !== null) {
    if (Object.getPrototypeOf(data) !== Object.prototype) return program(numbersOf(data));
    // Computed, so that no key is taken for a prototype.
    return `{${Object.entries(data).map(([key, value]) => `[${JSON.stringify(key)}]:${program(value)}`)}}`;
  }
  if (typeof data === "number" && !Number.isFinite(data)) return String(data);
  if (data === undefined) return "undefined";
  const text = JSON.stringify(data) as string | undefined;
  return text ?? refuseData(data, "the figure's data cannot be written into a page");
}

function bytesProgram(bytes: Uint8Array): string {
  return `Uint8Array.from(atob("${base64(bytes)}"),(c)=>c.charCodeAt(0))`;
}

// A tensor of another library, and whatever else holds numbers and their shape.
function numbersOf(data: object): Tensor {
  try {
    return tensor(data as TensorLike);
  } catch {
    return refuseData(data, "the figure's data cannot be written into a page");
  }
}

function refuseData(data: unknown, sentence: string): never {
  return refuseValue("unsupported", "data", "numbers, texts or schemes", data, sentence);
}
