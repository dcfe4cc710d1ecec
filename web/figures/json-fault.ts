// Where a text stops being JSON: engines say it differently, or not at all.

const token =
  /[ \t\n\r]*(?:([{}[\]:,])|("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.]))/uy;

/** "line 3, column 11: a value was expected, got x"; undefined for what is JSON. */
export function jsonFault(text: string): string | undefined {
  const open: string[] = [];
  let expected = "a value";
  let first = false;
  token.lastIndex = 0;
  for (;;) {
    const at = token.lastIndex + (/^[ \t\n\r]*/.exec(text.slice(token.lastIndex))?.[0].length ?? 0);
    if (expected === "nothing more" && at === text.length) return undefined;
    const match = token.exec(text);
    const [, mark, string] = match ?? [];
    const isValue = match !== null && mark === undefined;
    const closes = mark === "}" || mark === "]";
    const inner = open[open.length - 1];
    let fits = true;
    if (expected === "a value" && (mark === "{" || mark === "[")) open.push(mark);
    else if (expected === "a value" || (expected === "a key in double quotes" && first)) {
      // An empty object or list closes at once.
      if (closes && first && (mark === "}") === (inner === "{")) open.pop();
      else fits = expected === "a value" ? isValue : string !== undefined;
    } else if (expected === "a key in double quotes") fits = string !== undefined;
    else if (expected === "a colon") fits = mark === ":";
    else if (closes && (mark === "}") === (inner === "{") && inner !== undefined) open.pop();
    else fits = mark === "," && inner !== undefined;
    if (!fits) return placed(text, at, expected);
    // What comes next.
    const opened = mark === "{" || mark === "[";
    first = opened;
    if (opened) expected = mark === "{" ? "a key in double quotes" : "a value";
    else if (expected === "a key in double quotes" && !closes) expected = "a colon";
    else if (mark === ":") expected = "a value";
    else if (mark === ",") expected = inner === "{" ? "a key in double quotes" : "a value";
    else expected = open.length === 0 ? "nothing more" : `a comma or ${open[open.length - 1] === "{" ? "}" : "]"}`;
  }
}

function placed(text: string, at: number, expected: string): string {
  const before = text.slice(0, at).split("\n");
  const column = (before[before.length - 1] as string).length + 1;
  const given = /^(?:"[^"\n]{0,20}"?|[\w.+-]{1,20}|[^])/.exec(text.slice(at))?.[0];
  return `line ${before.length}, column ${column}: ${expected} was expected, got ${given ?? "its end"}`;
}
