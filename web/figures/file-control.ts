// How a figure takes files: a native input with its label, and dropping one anywhere on the figure. Apart from the
// elements, for few figures do.
import { freshId, make } from "./controls.js";
import type { Files } from "./figure.js";

/** Attaches both; gives the function that says what became of a file. */
export const attachFiles: Files["attach"] = (files, figure, before, take) => {
  const id = freshId();
  const told = `${id}-told`;
  const input = make("input", { id, type: "file", accept: files.accept }, { part: "file", "aria-describedby": told });
  const status = make("span", { id: told }, { part: "status" });
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    // Emptied, so that the same file chosen again, mended meanwhile, is read again.
    if (file) take(file);
    input.value = "";
  });
  const label = make("label", { htmlFor: id, textContent: `${files.label}, chosen or dropped here` });
  before.after(make("div", { class: "file" }, { part: "field" }, [label, input, status]));
  const held = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") === true;
  figure.addEventListener("dragover", (event) => {
    if (!held(event)) return;
    event.preventDefault();
    (event.dataTransfer as DataTransfer).dropEffect = "copy";
    figure.classList.add("over");
  });
  figure.addEventListener("dragleave", (event) => {
    if (!figure.contains(event.relatedTarget as Node | null)) figure.classList.remove("over");
  });
  figure.addEventListener("drop", (event) => {
    figure.classList.remove("over");
    const file = event.dataTransfer?.files[0];
    if (!held(event) || !file) return;
    event.preventDefault();
    take(file);
  });
  return (words) => void (status.textContent = words);
};
