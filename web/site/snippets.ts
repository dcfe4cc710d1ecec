// The words that put a figure into another page.
import { attributeName } from "../figures/figure.js";
import type { Values } from "./questions.js";

/** Values by attribute name, of which those are left out that are as the figure has them by itself. */
export function attributesOf(values: Values, defaults: Values): readonly (readonly [string, string])[] {
  return Object.entries(values)
    .filter(([name, value]) => value !== undefined && value !== defaults[name])
    .map(([name, value]) => [attributeName(name), String(value)]);
}

const quoted = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/** `<posenc-embed positions="32"></posenc-embed>`, with the script that it needs. */
export function elementSnippet(figure: string, attributes: readonly (readonly [string, string])[]): string {
  const written = attributes.map(([name, value]) => (value === "true" ? ` ${name}` : ` ${name}="${quoted(value)}"`));
  return `<script src="posenc.js" defer></script>\n<posenc-${figure}${written.join("")}></posenc-${figure}>`;
}

/** The address of embed.html with these settings, relative to the pages. */
export function embedAddress(figure: string, attributes: readonly (readonly [string, string])[]): string {
  return `embed.html?${new URLSearchParams([["fig", figure], ...attributes.map(([name, value]) => [name, value])])}`;
}

/** An iframe of embed.html, and what gives it the height that it asks for. */
export function frameSnippet(figure: string, attributes: readonly (readonly [string, string])[]): string {
  const address = quoted(embedAddress(figure, attributes));
  return [
    `<iframe src="${address}" title="posenc-${figure}" width="100%" height="640" style="border: 0"></iframe>`,
    `<script>`,
    `addEventListener("message", ({ data, source }) => {`,
    `  if (data?.type !== "posenc-height") return;`,
    `  for (const frame of document.querySelectorAll("iframe"))`,
    `    if (frame.contentWindow === source) frame.height = data.height;`,
    `});`,
    `</script>`,
  ].join("\n");
}
