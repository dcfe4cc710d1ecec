// The style sheet of every figure, as a constructable sheet: no <style>, no style attribute, so strict policies hold.

const css = `
:host { display: block; direction: ltr; position: relative; margin-block: 1.5em; contain: layout style; min-width: 0;
  font-family: var(--posenc-font, system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", Arial,
  sans-serif);
  font-size: var(--posenc-size, 13px); line-height: 1.4; text-align: start; letter-spacing: normal; }
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
.figure { --ink: #1c1b19; --grey: #66635d; --faint: #dad8d2; --accent: #b4460f; --paper: #fffefb;
  color: var(--ink); border-top: 1px solid var(--ink); padding-top: 7px; margin: 0; font-variant-numeric:
  tabular-nums;
  color-scheme: light; accent-color: var(--accent); container-type: inline-size; }
.figure.dark { color-scheme: dark; }
header { display: flex; flex-wrap: wrap; gap: 2px 24px; align-items: baseline; justify-content: space-between;
  margin-bottom: 8px; }
.title { font-weight: 600; font-size: 13.5px; }
[role=tablist] { display: flex; flex-wrap: wrap; gap: 0 14px; }
button { font: inherit; color: var(--grey); background: none; border: 0; padding: 2px 0; margin: 0; cursor:
  pointer; border-radius: 0; }
button:hover, summary:hover { color: var(--ink); }
[role=tab] { border-bottom: 2px solid transparent; padding: 2px 0 1px; min-height: 24px; }
[role=tab][aria-selected=true] { color: var(--ink); border-bottom-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; }
:is(.field, .run) > :focus-visible { outline-offset: 0; }
.drawing { display: block; outline-offset: 4px; touch-action: pan-y pinch-zoom; cursor: crosshair; user-select:
  none; -webkit-user-select: none; }
.drawing.still { cursor: default; }
.drawing.closer { touch-action: none; cursor: grab; }
.drawing.closer:active { cursor: grabbing; }
.lens { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 13px; justify-content: flex-end; margin-top: 6px; font-size: 12px;
  color: var(--grey); }
canvas { display: block; width: 100%; }
.controls { display: flex; flex-wrap: wrap; flex-wrap: balance; gap: 10px 26px; margin-top: 14px; align-items: end; }
.field { display: grid; grid-template-columns: 1fr auto; column-gap: 8px; align-items: baseline; min-width: min-content;
  flex: 1 1 118px; max-width: 280px; }
.field.choice { flex-basis: auto; min-width: 0; max-width: 100%; }
.field label { color: var(--grey); }
.field:not(.wide) > label { white-space: nowrap; }
.field output { text-align: end; white-space: nowrap; }
.field > :is(input[type=range], select, input[type=text], .run) { grid-column: 1 / -1; width: 100%; min-width: 0;
  margin: 0; }
input, select { font: inherit; color: inherit; }
::placeholder { color: var(--grey); opacity: 1; }
input[type=range] { height: 24px; accent-color: var(--accent); }
select, input[type=text] { background: transparent; border: 0; border-bottom: 1px solid var(--faint);
  border-radius: 0; padding: 1px 0; height: 24px; }
textarea { font: 12px/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; color: inherit;
  background: transparent; border: 1px solid var(--faint); border-radius: 0; padding: 5px 7px; grid-column: 1 / -1;
  width: 100%; min-width: 0; margin: 3px 0 0; resize: vertical; tab-size: 2; }
.file { display: flex; flex-wrap: wrap; gap: 2px 12px; align-items: baseline; margin-top: 12px; color: var(--grey); }
.file input { min-height: 24px; max-width: 100%; font-size: 0; }
.file ::file-selector-button { font-size: var(--posenc-size, 13px); color: var(--ink); background: none; border: 0; border-bottom: 1px solid
  var(--faint); border-radius: 0; padding: 1px 0; margin-inline-end: 10px; cursor: pointer; }
.over { outline: 2px dashed var(--accent); outline-offset: 6px; }
select option { color: #1c1b19; background: #fffefb; }
.dark select option { color: #ece9e2; background: #171614; }
.run { display: flex; gap: 10px; align-items: center; }
.run input { flex: 1; min-width: 0; margin: 0; }
.flag { grid-column: 1 / -1; display: flex; gap: 7px; align-items: center; min-height: 24px; }
.flag input { margin: 0; }
.field.wide { flex-basis: 100%; grid-column: 1 / -1; max-width: none; }
details { margin-top: 10px; font-size: 12px; }
summary { cursor: pointer; width: fit-content; color: var(--grey); }
details.more .controls { margin-top: 8px; }
footer { display: flex; flex-wrap: wrap; gap: 4px 24px; align-items: baseline; justify-content: space-between;
  border-top: 1px solid var(--faint); margin-top: 12px; padding-top: 8px; }
.readout { display: flex; flex-wrap: wrap; gap: 2px 20px; color: var(--grey); flex: 1 1 24em; }
.background { display: flex; flex-wrap: wrap; gap: 0 13px; align-items: baseline; color: var(--ink); }
.background progress { width: 9em; accent-color: var(--accent); }
.readout b { color: var(--ink); font-weight: 600; }
.actions { display: flex; flex-wrap: wrap; gap: 0 13px; font-size: 12px; margin-inline-start: auto; }
[inert] { opacity: .5; }
.caption { color: var(--grey); margin: 10px 0 0; max-width: 44em; }
.title, .caption, .file { text-wrap: pretty; }
.fault { color: var(--ink); border-inline-start: 2px solid var(--accent); padding: 4px 0 4px 12px; margin: 14px 0;
  max-width: 44em; }
.code { margin-top: 12px; }
.code pre { margin: 4px 0 12px; padding: 8px 0 8px 12px; border-inline-start: 2px solid var(--faint); overflow-x:
  auto; color: var(--ink);
  font: 12px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.code .line { display: flex; align-items: baseline; gap: 14px; color: var(--grey); }
.scroll { overflow: auto; max-height: 22em; margin-top: 8px; }
table { border-collapse: collapse; color: var(--ink); font-size: 12px; }
table caption { text-align: start; color: var(--grey); padding-bottom: 4px; max-width: 100cqw; }
th, td { text-align: end; padding: 1px 0 1px 14px; font-weight: 400; white-space: nowrap; }
th { color: var(--grey); }
th:first-child, td:first-child { padding-inline-start: 0; }
.hidden { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
[hidden] { display: none !important; }
@container (max-width: 420px) { .field.choice { flex-basis: 100%; } .field { max-width: none; } }
@media (pointer: coarse) { input[type=range] { height: 34px; } button, select, input[type=text] { min-height:
  34px; } }
@media (forced-colors: active) { [role=tab] { border-bottom-color: Canvas; } .figure { --ink: CanvasText; --grey: CanvasText; --faint: GrayText; --accent:
  Highlight; --paper: Canvas; } }
@media print { :focus-visible { outline: none; } .caption { break-inside: avoid; } .controls, .file, .actions, details, .code .line, [role=tab][aria-selected=false] { display: none
  !important; } :host { break-inside: avoid; } }
`;

const sheets = new WeakMap<Document, CSSStyleSheet>();

/** The sheet for a document; one is shared by all figures in it. */
export function sheetFor(document: Document): CSSStyleSheet {
  let sheet = sheets.get(document);
  if (!sheet) {
    const Sheet = document.defaultView?.CSSStyleSheet ?? CSSStyleSheet;
    sheet = new Sheet();
    sheet.replaceSync(css);
    sheets.set(document, sheet);
  }
  return sheet;
}
