// The gallery's own script: the lines that put a figure into another page follow the figure above them.
import type { FigureElement } from "../figures/element.js";
import { copyText } from "../figures/take-away.js";
import type { Api } from "./live.js";
import type { Values } from "./questions.js";
import { fail, firstFigure, followTheme, keepOffline, layOut } from "./shell.js";
import { attributesOf, elementSnippet, embedAddress, frameSnippet } from "./snippets.js";

declare const posenc: Api;

// What a screen reader hears of the buttons.
const said = document.getElementById("copied") as HTMLElement;

function follow(section: HTMLElement): void {
  const name = section.dataset.figure as string;
  const figure = section.querySelector(`posenc-${name}`) as FigureElement;
  const [element, frame] = section.querySelectorAll("pre");
  const link = section.querySelector<HTMLAnchorElement>(".alone");
  let defaults: Values | undefined;
  const update = (): void => {
    const values = figure.value as Values;
    defaults ??= values;
    const attributes = attributesOf(values, defaults);
    if (element) element.textContent = elementSnippet(name, attributes);
    if (frame) frame.textContent = frameSnippet(name, attributes);
    if (link) link.href = embedAddress(name, attributes);
  };
  figure.addEventListener("posenc-ready", update, { once: true });
  figure.addEventListener("change", update);
  for (const button of section.querySelectorAll<HTMLButtonElement>("button.copy")) {
    const text = button.parentElement?.querySelector("pre");
    button.addEventListener("click", () => {
      void copyText(text?.textContent ?? "").then((copied) => {
        if (!copied && text) getSelection()?.selectAllChildren(text);
        button.textContent = copied ? "copied" : "selected";
        const lines = `the lines of posenc-${name} are`;
        said.textContent = copied ? `Copied: ${lines} on the clipboard.` : `Not copied: ${lines} selected.`;
        setTimeout(() => (button.textContent = "copy"), 2000);
      });
    });
  }
}

async function start(): Promise<void> {
  followTheme();
  try {
    for (const section of document.querySelectorAll<HTMLElement>("section[data-figure]")) follow(section);
    await firstFigure();
    await layOut();
    keepOffline();
    await posenc.ready();
  } catch (error) {
    fail(error);
  }
}

void start();
