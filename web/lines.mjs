// Where the lines of a minified script end.

/**
 * Engines print the line that threw with an error nobody caught. Functions, declarations and throws begin lines, which
 * weighs next to nothing (esbuild's lineLimit would break texts too). Long texts, such as modules in base64, have lines
 * of their own.
 */
export function inLines(script) {
  return script
    .replace(/([;}])(?=(?:async function|function|class|var|let|const|throw)\b)/g, "$1\n")
    .replace(/=((["'])(?:(?!\2)[^\\\n]|\\.){1000,}\2)/g, "=\n$1\n");
}
