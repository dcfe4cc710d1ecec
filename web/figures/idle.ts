// Work in turns, so that a page stays alive: what a reader waits for, the nearest first, and what can wait until the
// page has nothing better to do.

interface Turn {
  work: () => void;
  distance: number;
}

const turns: Turn[] = [];
let turning = false;

/** Does `work` in a turn of the page of its own, before all that is more distant; returns what takes it back. */
export function inTurn(work: () => void, distance: number): () => void {
  const turn = { work, distance };
  turns.push(turn);
  if (!turning) {
    turning = true;
    void turnOfPage().then(takeTurn);
  }
  return () => void (turns.includes(turn) && turns.splice(turns.indexOf(turn), 1));
}

function takeTurn(): void {
  turns.sort((a, b) => a.distance - b.distance);
  const turn = turns.shift();
  try {
    turn?.work();
  } finally {
    turning = turns.length > 0;
    if (turning) void turnOfPage().then(takeTurn);
  }
}

/** A message comes soon, but after input and drawing that wait; timers come late, and rarely where nobody looks. */
export function turnOfPage(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

// ---------------------------------------------------------------- when idle

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
