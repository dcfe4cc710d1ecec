// The module that analyses. It stands apart from the core, so that a page which analyses nothing does not download it.
import { bytes } from "../../build/wasm/posenc-analysis_bytes.mjs";
import { Frame, Part } from "./module.js";

const analysis = /* @__PURE__ */ new Part("analysisWasm", "posenc-analysis.wasm", () => bytes);

/** A frame for a call of cpp/bindings/analysis. */
export function analysisFrame(subject: string): Frame {
  return new Frame(subject, analysis);
}
