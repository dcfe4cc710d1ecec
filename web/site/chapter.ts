// The chapter's own script: the reader's sentence drives the figures, the numbers in the text are computed again on the
// page, and the questions follow their figures. It uses the global of the classic script, so that the built folder
// opens from disk.
import type { FigureElement } from "../figures/element.js";
import { liveRows, liveText, type Api } from "./live.js";
import { languageOf, numbersOf } from "./numbers.js";
import { questions } from "./questions.js";
import { fail, firstFigure, followTheme, keepOffline, layOut } from "./shell.js";

declare const posenc: Api;

// So that a page that is being scrolled goes on: one number, which cannot be halved, may take longer than a frame.
const kSlice = 4;
// A slider that is being dragged is judged when it rests.
const kRest = 350;

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

function rowOf([head = "", ...cells]: readonly string[]): HTMLElement {
  const row = document.createElement("tr");
  const th = document.createElement("th");
  th.scope = "row";
  th.textContent = head;
  row.append(th);
  for (const text of cells) row.insertCell().textContent = text;
  return row;
}

// Every number in the text, a few at a time.
async function computeNumbers(): Promise<void> {
  let since = performance.now();
  const pause = async (): Promise<void> => {
    if (performance.now() - since < kSlice) return;
    await new Promise((resolve) => setTimeout(resolve));
    since = performance.now();
  };
  for (const place of document.querySelectorAll<HTMLElement>("[data-live], [data-rows]")) {
    const write = numbersOf(languageOf(place));
    const { live, rows } = place.dataset;
    if (live !== undefined) {
      const text = liveText(posenc, write, live);
      if (place.textContent !== text) place.textContent = text;
    } else if (rows !== undefined) {
      const made: HTMLElement[] = [];
      for (const row of liveRows(posenc, write, rows)) {
        made.push(rowOf(row));
        await pause();
      }
      place.replaceChildren(...made);
    }
    await pause();
  }
}

function sayWhatRuns(): void {
  const { backend, version } = posenc.info();
  element("backend").textContent =
    `posenc ${version} (${backend === "simd" ? "C++ as WebAssembly with SIMD" : "the same C++ as plain JavaScript"})`;
}

function followSentence(): void {
  const input = element<HTMLInputElement>("sentence");
  const followers = document.querySelectorAll<HTMLElement>("posenc-addition, posenc-attention");
  const update = (): void => {
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

// The question once more, to stand below its figure, which may be many screens away: who answers sees what comes of it,
// and finds the way back. The one in its own place is the one that is spoken.
function questionBeside(place: HTMLElement, link: HTMLAnchorElement): { root: HTMLElement; verdict: HTMLElement } {
  const root = document.createElement("div");
  root.className = "question beside";
  const [back, text, verdict] = ["a", "p", "p"].map((name) => document.createElement(name)) as [
    HTMLAnchorElement,
    HTMLElement,
    HTMLElement,
  ];
  const heading = place.querySelector("h3") as HTMLElement;
  back.href = `#${heading.id}`;
  back.textContent = `Back to ${heading.textContent.replace("Q", "q")}`;
  back.addEventListener("click", (event) => {
    event.preventDefault();
    place.scrollIntoView({ block: "center" });
    link.focus({ preventScroll: true });
  });
  text.className = "ask";
  text.append(`${link.previousSibling?.textContent ?? ""}`, back);
  verdict.className = "verdict";
  root.append(text, verdict);
  return { root, verdict };
}

function askQuestions(): void {
  for (const { name, figure: id, holds } of questions) {
    const place = document.querySelector<HTMLElement>(`[data-question="${name}"]`);
    const figure = document.getElementById(id) as FigureElement | null;
    const verdict = place?.querySelector<HTMLElement>(".verdict");
    if (!place || !figure || !verdict) continue;
    const link = place.querySelector("a");
    const beside = link && questionBeside(place, link);
    let resting: ReturnType<typeof setTimeout> | undefined;
    const judge = (): void => {
      // Formats are slow to make, and a page that starts has no time for them.
      const { right, words } = holds(figure.value, posenc, numbersOf(languageOf(place)));
      const said = `${right ? "Right." : "Not yet."} ${words}`;
      if (verdict.textContent !== said) verdict.textContent = said;
      if (beside) beside.verdict.textContent = said;
      for (const told of [place, ...(beside ? [beside.root] : [])]) told.dataset.right = String(right);
    };
    // Nobody has answered before the reader has touched the figure.
    const answered = (): void => {
      clearTimeout(resting);
      resting = setTimeout(judge, kRest);
    };
    figure.addEventListener("input", answered);
    figure.addEventListener("change", answered);
    // From the question to its figure without a mouse: the keyboard is to go where the eye goes.
    link?.addEventListener("click", (event) => {
      event.preventDefault();
      if (beside && !beside.root.isConnected) figure.after(beside.root);
      figure.scrollIntoView({ block: "start" });
      figure.shadowRoot?.querySelector<HTMLElement>("[part~=drawing]")?.focus({ preventScroll: true });
    });
  }
}

// The contents say where the reader is.
function followReading(): void {
  const links = new Map(
    Array.from(document.querySelectorAll<HTMLAnchorElement>(".contents a"), (link) => [link.hash.slice(1), link]),
  );
  const seen = new Set<string>();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) seen.add(target.id);
        else seen.delete(target.id);
      }
      const now = [...links.keys()].find((id) => seen.has(id));
      for (const [id, link] of links) {
        if (id === now) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    },
    { rootMargin: "-20% 0px -60% 0px" },
  );
  for (const id of links.keys()) observer.observe(element(id));
}

// A formula that is wider than the page is scrolled, by the keyboard too.
function reachFormulas(): void {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const formula = target as HTMLElement;
      if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0;
      else formula.removeAttribute("tabindex");
    }
  });
  for (const formula of document.querySelectorAll(".display")) observer.observe(formula);
}

// The letters of formulas, before the first formula is laid out: their request belongs to the page's load. A page that
// does not get them shows formulas in the reader's own.
function fetchLetters(): void {
  for (const face of document.fonts) face.load().catch(() => undefined);
}

async function start(): Promise<void> {
  followTheme();
  fetchLetters();
  followSentence();
  // Before the page pauses: a reader may follow a link at once.
  askQuestions();
  await firstFigure();
  followReading();
  reachFormulas();
  await layOut();
  keepOffline();
  try {
    await posenc.ready();
    sayWhatRuns();
    await computeNumbers();
  } catch (error) {
    fail(error);
  }
}

void start();
