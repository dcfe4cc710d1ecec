// Which functions of a script with all figures an engine compiles as it receives it. All others it looks through, and
// compiles each when it is called, while a page waits for its first figure.

/** Files of web, most of whose functions run before any figure is drawn. */
export const kEarly = [
  ...["attention", "base64", "catalogue", "lzma", "module", "options", "pixels", "scheme", "tensor"].map(
    (name) => `src/${name}.ts`,
  ),
  ...["colour", "controls", "cut-word", "element", "figure", "format", "idle", "matrix", "sentence", "theme"].map(
    (name) => `figures/${name}.ts`,
  ),
  "figures/scheme-fields.ts",
];

/**
 * The source with its functions in brackets, which engines take for a sign that they are called at once. They stand
 * before all else in their file: unlike declarations they are not there before the place where they stand.
 */
export function compiledEarly(source) {
  const head = /^(export )?(async )?function(\*?) (\w+)/;
  const functions = [];
  const rest = source.replace(/^(export |async )*function\b.*[^;}\n]\n[^]*?^\}\n/gm, (text) => {
    if (/^\).*;$/m.test(text)) return text; // overloads
    functions.push(text.trimEnd().replace(head, "$1const $4 = ($2function$3") + ");\n");
    return "";
  });
  return functions.join("") + rest;
}
