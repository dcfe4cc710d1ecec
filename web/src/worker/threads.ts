// Ways to have another thread: Node's, or a worker from a file or from a text made into a blob. A page's policy, its
// address or its host may forbid any of them, so they are tried in turn; where all are, this thread serves itself.
import { text as inlinedText } from "../../../build/worker/thread_text.mjs";
import { handOver, ownScript, trustedUrl } from "../module.js";
import { schemes as prose } from "../prose.gen.js";
import { type Reply, type Request, kThreadName, nodeThreads, serve } from "./serve.js";

/** A thread that answers. */
export interface Thread {
  /** False for this very thread. */
  readonly apart: boolean;
  post(message: Request, buffers: readonly ArrayBuffer[]): void;
  /** Ends it, whatever it does. */
  end(): void;
  /** Whether the process must wait for it. */
  hold(held: boolean): void;
}

/** What is heard of a thread. `lost` comes once, and nothing after it. */
export interface Listener {
  reply(message: Reply): void;
  lost(why: string): void;
}

/** One way to make a thread. It may throw, and may be lost before it is ready. */
export interface Way {
  readonly name: string;
  /** It leads to this very thread, which has all it needs. */
  readonly own?: boolean;
  make(listener: Listener): Thread;
}

/** The source of the classic script, for which the worker is the script itself. */
declare const POSENC_SOURCE: (() => unknown) | undefined;

interface NodeWorker {
  postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  on(event: string, take: (argument: unknown) => void): void;
  terminate(): Promise<number>;
  ref(): void;
  unref(): void;
}
interface NodeThreads {
  readonly Worker: new (source: string, options: object) => NodeWorker;
}

let count = 0;

function threadText(): string | undefined {
  if (typeof POSENC_SOURCE === "function") return `"use strict";(${String(POSENC_SOURCE)})();`;
  return inlinedText;
}

// Where this file lies, if it is as it was built: a bundler would have put it elsewhere, without its neighbours.
function neighbour(file: string): string | undefined {
  const own = import.meta.url as string | undefined;
  return own !== undefined && /\/worker\.js$/.test(own) ? new URL(`./${file}`, own).href : undefined;
}

function onThisOrigin(address: string): boolean {
  const { location } = globalThis as { location?: { readonly origin: string } };
  return /^https?:/.test(address) && new URL(address).origin === location?.origin;
}

/** The ways there are here; `url` is the caller's own worker file. */
export function waysHere(url: string | undefined): Way[] {
  const text = threadText();
  const node = nodeThreads<NodeThreads>();
  if (node !== undefined && text !== undefined) {
    return [{ name: "node", make: (heard) => nodeThread(node, text, heard) }];
  }
  if (typeof Worker !== "function") return [];
  const file = ownScript || neighbour("worker-thread.js");
  // A file of this origin is within every policy that lets the page run; a blob needs no request and no origin.
  const near = file !== undefined && onThisOrigin(file);
  const fromFile = (address: string): Way => ({ name: address, make: (heard) => webThread(address, heard) });
  return [
    ...(url === undefined ? [] : [fromFile(url)]),
    ...(near ? [fromFile(file)] : []),
    ...(text === undefined ? [] : [{ name: "blob", make: (heard: Listener) => blobThread(text, heard) }]),
    ...(file === undefined || near ? [] : [fromFile(file)]),
  ];
}

function nodeThread({ Worker: NodeWorker }: NodeThreads, text: string, listener: Listener): Thread {
  // Nothing of the process's own flags: a loader of modules has no business in it.
  const worker = new NodeWorker(text, { eval: true, name: kThreadName, execArgv: [], stdin: false });
  worker.on("message", (message) => listener.reply(message as Reply));
  worker.on("messageerror", () => listener.lost("a message could not be read"));
  worker.on("error", (error) => listener.lost(error instanceof Error ? error.message : String(error)));
  worker.on("exit", (code) => listener.lost(`it ended with code ${String(code)}`));
  return {
    apart: true,
    post: (message, buffers) => worker.postMessage(message, buffers),
    end: () => void worker.terminate(),
    hold: (held) => (held ? worker.ref() : worker.unref()),
  };
}

function blobThread(text: string, listener: Listener): Thread {
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const done = (): void => URL.revokeObjectURL(address);
  const heard: Listener = {
    reply(message) {
      done();
      listener.reply(message);
    },
    lost(why) {
      done();
      listener.lost(why);
    },
  };
  try {
    return webThread(address, heard);
  } catch (error) {
    done();
    throw error;
  }
}

function webThread(address: string, listener: Listener): Thread {
  const name = `${kThreadName}-${Date.now().toString(36)}-${performance.now().toString(36)}-${++count}`;
  // Deno knows modules only; the text is the same in both.
  const type = "Deno" in globalThis ? "module" : "classic";
  const worker = new Worker(trustedUrl(address), { name, type });
  const stopWaiting = new AbortController();
  const lost = (why: string): void => {
    stopWaiting.abort();
    listener.lost(why);
  };
  worker.onmessage = ({ data }) => {
    const reply = data as Reply;
    if ("ready" in reply) whenGone(name, stopWaiting.signal, () => lost("it was ended"));
    listener.reply(reply);
  };
  worker.onmessageerror = () => lost("a message could not be read");
  worker.onerror = (event) => {
    event.preventDefault?.();
    lost(event.message || "its script failed");
  };
  const held = worker as Worker & { ref?(): void; unref?(): void };
  return {
    apart: true,
    post: (message, buffers) => worker.postMessage(message, buffers as ArrayBuffer[]),
    end() {
      stopWaiting.abort();
      worker.terminate();
    },
    hold: (wanted) => (wanted ? held.ref?.() : held.unref?.()),
  };
}

// A worker that a browser ends for want of memory tells no one; but the lock that it held is free then.
function whenGone(name: string, signal: AbortSignal, tell: () => void): void {
  const { locks } = (globalThis as { navigator?: Partial<Navigator> }).navigator ?? {};
  locks?.request(name, { signal }, tell).catch(() => undefined);
}

/** This thread, answering itself: a call runs when the page has had its turn. */
export function ownThread(api: object, listener: Listener): Thread {
  const { port1, port2 } = new MessageChannel();
  const ports = [port1, port2] as (MessagePort & { ref?(): void; unref?(): void })[];
  serve(api, {
    post: (message, buffers) => port2.postMessage(message, buffers as ArrayBuffer[]),
    listen: (take) => {
      port2.onmessage = ({ data }) => take(data as Request);
    },
  });
  port1.onmessage = ({ data }) => listener.reply(data as Reply);
  const hold = (held: boolean): void => ports.forEach((port) => (held ? port.ref?.() : port.unref?.()));
  return {
    apart: false,
    post: (message, buffers) => port1.postMessage(message, buffers as ArrayBuffer[]),
    end: () => ports.forEach((port) => port.close()),
    hold,
  };
}

/**
 * Makes a thread by one way and sets it up; resolves when it is ready. Rejects where the way leads nowhere: the thread
 * could not be made, was lost, could not run the core, or did not answer in time.
 */
export function connect(way: Way, listener: Listener): Promise<Thread> {
  return new Promise((resolve, reject) => {
    let settled = false;
    let ready = false;
    let thread: Thread | undefined;
    const fail = (why: unknown): void => {
      if (settled) return;
      settled = true;
      clearTimeout(late);
      thread?.end();
      reject(why instanceof Error ? why : new Error(String(why)));
    };
    const late = way.own === true ? undefined : setTimeout(() => fail("it did not answer"), kPatience);
    try {
      thread = way.make({
        reply(message) {
          if ("failed" in message) return fail(message.failed);
          if (!("ready" in message)) return listener.reply(message);
          if (settled) return;
          settled = ready = true;
          clearTimeout(late);
          resolve(thread!);
        },
        // One that never was ready ends later than it failed: that concerns nobody.
        lost: (why) => (ready ? listener.lost(why) : fail(why)),
      });
      if (way.own === true) return thread.post({ setUp: undefined }, []);
      const fallback = neighbour("fallback.js");
      try {
        thread.post({ setUp: handOver(true, fallback), prose }, []);
      } catch {
        thread.post({ setUp: handOver(false, fallback), prose }, []); // messages hold no compiled modules here
      }
    } catch (error) {
      fail(error);
    }
  });
}

// Longer than any machine takes to start a worker.
const kPatience = 20_000;
