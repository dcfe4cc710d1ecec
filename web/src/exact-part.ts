// The module that works in float64 by the plain way. It holds every scheme once more, so it stands apart from the core:
// a page that takes no gradients does not download it. The classic script has it beside it, not inside.
import { bytes } from "../../build/wasm/posenc-exact_bytes.mjs";
import { Part } from "./module.js";

/** True in the build for classic scripts. */
declare const POSENC_CLASSIC: boolean | undefined;

/** Made once, whereupon `exactFrame()` of module.ts finds it. */
export const exact = /* @__PURE__ */ new Part("exactWasm", "posenc-exact.wasm", () =>
  typeof POSENC_CLASSIC !== "undefined" && POSENC_CLASSIC === true ? undefined : bytes,
);
