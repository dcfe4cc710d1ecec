// Work for when a page has nothing better to do: after it has loaded and painted, one piece at a time.

type Work = () => Promise<unknown>;

const waiting = new Set<Work>();
let running = false;

/** Does `work` once the page is idle, after what waits already; returns what takes it back. */
export function whenIdle(work: Work): () => void {
  waiting.add(work);
  if (!running) {
    running = true;
    // A frame first: what is heavy must not come before the first paint.
    afterLoad(() => requestAnimationFrame(next));
  }
  return () => waiting.delete(work);
}

function next(): void {
  idle(() => {
    const [work] = waiting;
    if (work === undefined) running = false;
    else {
      waiting.delete(work);
      void work().then(next, next);
    }
  });
}

function afterLoad(done: () => void): void {
  if (document.readyState === "complete") done();
  else addEventListener("load", done, { once: true });
}

// Safari has no idle callbacks.
function idle(done: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(done);
  else setTimeout(done, 50);
}
