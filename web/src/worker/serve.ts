// The other side: a thread that runs functions of the API as messages ask, one after the other.
import { type Handed, info, ready, takeOver } from "../module.js";
import { takeProse } from "../prose.js";
import type { AnyScheme, Descriptor } from "../scheme.js";
import { Packer, Unpacker, madeAgain, packError } from "./wire.js";

/** The name that marks a worker as one of ours: the classic script looks for it. */
export const kThreadName = "posenc-worker";

/** Asks for one call. */
export interface CallMessage {
  readonly call: number;
  readonly name: string;
  /** The arguments, packed. */
  readonly args: unknown;
  /** Schemes that this thread has not seen yet, by their number, and numbers it may forget. */
  readonly schemes: readonly (readonly [id: number, packed: unknown])[];
  readonly forget: readonly number[];
  /** Values that several calls share, packed as a list when the first of them comes. */
  readonly share?: { readonly id: number; readonly values?: unknown };
}

export type Request =
  | CallMessage
  | { readonly setUp: Handed | undefined; readonly prose?: readonly Descriptor[] }
  | { readonly end: number };

export type Reply =
  | { readonly ready: true }
  | { readonly failed: string }
  | { readonly call: number; readonly result: unknown; readonly ms: number; readonly spent: readonly ArrayBuffer[] }
  | { readonly call: number; readonly error: ReturnType<typeof packError>; readonly spent: readonly ArrayBuffer[] };

/** The end of a channel, in a browser's worker, in Node's, or on this very thread. */
export interface Port {
  post(message: Reply, buffers: readonly ArrayBuffer[]): void;
  listen(take: (message: Request) => void): void;
}

/** Answers what comes in at `port` with the functions of `api`; it is ready when `before` is. */
export function serve(api: object, port: Port, before: Promise<unknown> = Promise.resolve()): void {
  const functions = api as Readonly<Record<string, (...args: unknown[]) => unknown>>;
  const schemes = new Map<number, AnyScheme>();
  const shares = new Map<number, readonly unknown[]>();

  const run = async (message: CallMessage): Promise<void> => {
    const { call, name, share } = message;
    const begun = performance.now();
    let unpacker: Unpacker | undefined;
    try {
      for (const id of message.forget) schemes.delete(id);
      for (const [id, packed] of message.schemes) schemes.set(id, madeAgain(packed));
      if (share?.values !== undefined) {
        shares.set(share.id, new Unpacker({ schemes }).unpack(share.values) as unknown[]);
      }
      unpacker = new Unpacker({ schemes, shared: share === undefined ? [] : shares.get(share.id)! });
      const args = unpacker.unpack(message.args) as unknown[];
      const result = await functions[name]!(...args);
      const { value, buffers } = new Packer({ own: true, filled: unpacker.room }).packed(result);
      // The arguments' buffers go back, but for one that a result lies in.
      const spent = [...unpacker.read].filter((buffer) => !buffers.includes(buffer));
      port.post({ call, result: value, ms: performance.now() - begun, spent }, [...buffers, ...spent]);
    } catch (error) {
      const spent = [...(unpacker?.read ?? [])];
      port.post({ call, error: packError(error), spent }, spent);
    }
  };

  port.listen((message) => {
    if ("call" in message) void run(message);
    else if ("end" in message) shares.delete(message.end);
    else {
      if (message.prose !== undefined) takeProse(message.prose);
      void before.then(() => setUp(message.setUp, port));
    }
  });
}

async function setUp(handed: Handed | undefined, port: Port): Promise<void> {
  try {
    if (handed !== undefined) takeOver(handed);
    try {
      info();
    } catch {
      await ready(); // where modules must be compiled asynchronously, or the plain-JavaScript build loaded
    }
  } catch (error) {
    const failed = error instanceof Error ? error.message : String(error);
    // On the thread that asks, calls say themselves what is wrong.
    if (handed !== undefined) return port.post({ failed }, []);
  }
  port.post({ ready: true }, []);
}

// ---------------------------------------------------------------- where this runs

interface NodePort {
  postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  on(event: "message", take: (message: Request) => void): void;
}
interface NodeThreads {
  readonly parentPort: NodePort | null;
}
interface Process {
  readonly versions?: { readonly node?: string; readonly bun?: string };
  getBuiltinModule?(name: string): unknown;
}

/** Node's module of threads, in Node and in Deno, whose processes end with these at rest; elsewhere the web's serve. */
export function nodeThreads<T>(): T | undefined {
  const { process } = globalThis as { process?: Process };
  const { node, bun } = process?.versions ?? {};
  if (node === undefined || bun !== undefined) return undefined;
  return process?.getBuiltinModule?.("node:worker_threads") as T | undefined;
}

/** Serves the thread that made this worker. */
export function serveMaker(api: object): void {
  const parent = nodeThreads<NodeThreads>()?.parentPort;
  if (parent) {
    serve(api, {
      post: (message, buffers) => parent.postMessage(message, buffers),
      listen: (take) => parent.on("message", take),
    });
    return;
  }
  const scope = globalThis as unknown as DedicatedScope;
  const port: Port = {
    post: (message, buffers) => scope.postMessage(message, buffers),
    listen: (take) => {
      scope.onmessage = ({ data }) => take(data as Request);
      scope.onmessageerror = () => {
        throw new Error("a message could not be read");
      };
    },
  };
  serve(api, port, heldLock(scope.name));
}

interface DedicatedScope {
  readonly name: string;
  postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  onmessageerror: (() => void) | null;
}

/** Serves where the classic script finds itself in one of our workers. */
export function serveIfWorker(api: object): void {
  const name = (globalThis as { name?: unknown }).name;
  if (typeof document === "undefined" && typeof name === "string" && name.startsWith(kThreadName)) serveMaker(api);
}

// A lock of this worker's name is free again only when the worker is gone, however it went: its maker waits for that.
// Resolves when it is held, or cannot be.
function heldLock(name: string): Promise<void> {
  const { locks } = (globalThis as { navigator?: Partial<Navigator> }).navigator ?? {};
  return new Promise((resolve) => {
    const held = (): Promise<void> => {
      resolve();
      return new Promise(() => undefined);
    };
    if (locks === undefined) resolve();
    else locks.request(name, held).catch(() => resolve());
  });
}
