// What all pages share: the choice of light and dark, and the copy that is kept for when there is no network.

/** The select of the header follows the reader; the choice stays with the tab. */
export function followTheme(): void {
  const select = document.querySelector<HTMLSelectElement>("#theme");
  if (!select) return;
  const apply = (theme: string): void => {
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  try {
    select.value = sessionStorage.getItem("theme") ?? "";
  } catch {
    // Pages without storage (opaque frames, some policies) do without.
  }
  if (select.selectedIndex < 0) select.value = "";
  apply(select.value);
  select.addEventListener("change", () => {
    apply(select.value);
    try {
      sessionStorage.setItem("theme", select.value);
    } catch {
      // As above.
    }
  });
}

// Milliseconds.
const kPatience = 1000;

/** Resolves when the first figure stands there, which all else lets go before; it does not wait for one for long. */
export function firstFigure(): Promise<void> {
  return new Promise((resolve) => {
    // Its events are told in the midst of its work.
    const done = (): void => void setTimeout(resolve);
    for (const type of ["posenc-ready", "posenc-error"]) addEventListener(type, done, { once: true });
    setTimeout(resolve, kPatience);
  });
}

/** Lays out the parts of a long page, which site.css has put off, a turn of the page each. */
export async function layOut(): Promise<void> {
  for (const section of document.querySelectorAll<HTMLElement>("main > section")) {
    section.classList.add("laid");
    // Asked for its height, it is laid out now and not together with the others.
    void section.offsetHeight;
    await new Promise((resolve) => setTimeout(resolve));
  }
}

interface ScriptAddress {
  createScriptURL(url: string): string;
}

interface Policies {
  createPolicy(name: string, rules: ScriptAddress): ScriptAddress;
}

/** Over http the pages are kept by a service worker; a page on a disk is there anyway. */
export function keepOffline(): void {
  if (!/^https?:$/.test(location.protocol) || !("serviceWorker" in navigator)) return;
  const register = async (): Promise<void> => {
    const policies = (globalThis as { trustedTypes?: Policies }).trustedTypes;
    const own = policies?.createPolicy("posenc-site", { createScriptURL: () => "service-worker.js" });
    try {
      await navigator.serviceWorker.register(own ? own.createScriptURL("") : "service-worker.js");
    } catch {
      // Where a host or a policy does not want it, the pages work as they are, with a network.
    }
  };
  if (document.readyState === "complete") void register();
  else addEventListener("load", () => void register());
}

/** A sentence for what went wrong, in the page's own box. */
export function fail(error: unknown): void {
  const box = document.querySelector<HTMLElement>("#failure");
  if (!box) return;
  box.hidden = false;
  const why = error instanceof Error ? error.message : String(error);
  box.textContent = `The numbers of this page cannot be computed here: ${why}`;
}
