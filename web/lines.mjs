// Where the lines of a minified script end.
import ts from "typescript";

const kTexts = new Set([
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.RegularExpressionLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.TemplateHead,
  ts.SyntaxKind.TemplateMiddle,
  ts.SyntaxKind.TemplateTail,
]);

// Where the texts of a script begin and end, in their order: what stands there is no code.
function textsOf(script) {
  const texts = [];
  const visit = (node) => {
    if (kTexts.has(node.kind)) texts.push([node.getStart(source), node.end]);
    ts.forEachChild(node, visit);
  };
  const source = ts.createSourceFile("script.js", script, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS);
  visit(source);
  return texts;
}

/**
 * Engines print the line that threw with an error nobody caught. Functions, declarations and throws begin lines, which
 * weighs next to nothing (esbuild's lineLimit would break texts too). Long texts, such as modules in base64, have lines
 * of their own.
 */
export function inLines(script) {
  const texts = textsOf(script);
  let next = 0;
  return script
    .replace(/[;}](?=(?:async function|function|class|var|let|const|throw)\b)/g, (mark, at) => {
      while (next < texts.length && texts[next][1] <= at) next++;
      // The brace that ends a substitution of a template is the beginning of its next text.
      return next < texts.length && texts[next][0] <= at ? mark : `${mark}\n`;
    })
    .replace(/=((["'])(?:(?!\2)[^\\\n]|\\.){1000,}\2)/g, "=\n$1\n");
}
