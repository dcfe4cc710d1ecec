// Functions of the API as promises, run on another thread.
import type { AskedOf, AttentionOptions, AttentionResult } from "../attention.js";
import { isList, isRecord, refuse } from "../error.js";
import type { MultiHeadAttentionOptions } from "../multi-head.js";
import { readOptions, readWhole } from "../options.js";
import { type Scheme, isScheme } from "../scheme.js";
import { Tensor, type TensorLike } from "../tensor.js";
import { type Blocks, type Parts, snapshot } from "./blocks.js";
import { type Job, drop, endThreads, limitThreads, onOwnThread, start, threadLimit, threadSpeed } from "./pool.js";
import { isWorthKeeping, keep } from "./spares.js";
import { type Packed, Packer, type PackerOptions, Unpacker, dataOfOut, withoutProperties } from "./wire.js";

/** How far a call is. */
export interface Progress {
  /** What is done of `total`; never less than before, and in the end `total`. */
  readonly done: number;
  /** What the call costs, in its own measure, where it runs in blocks; else 1. */
  readonly total: number;
}

/** What every function here takes among its options; a function without options takes it as one argument more. */
export interface RunOptions {
  /** Stops the call, which then rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
  /** Hears how far the call is. What it throws, the call rejects with. */
  readonly onProgress?: (progress: Progress) => void;
  /**
   * True: the buffers of all arrays among the arguments (but `out`) are moved rather than copied, and detached here.
   * A list: those of these arrays, which must be among the arguments. Shared or growing buffers, and those of
   * WebAssembly memories, are copied still.
   */
  readonly transfer?: boolean | readonly (ArrayBuffer | ArrayBufferView | Tensor)[];
}

// ---------------------------------------------------------------- types

// A last argument of one of these kinds is none of options.
type Positional =
  | string
  | number
  | bigint
  | boolean
  | symbol
  | null
  | undefined
  | readonly unknown[]
  | ArrayBufferView
  | Tensor
  | Scheme
  | { readonly data: unknown }
  | ((...args: never[]) => unknown);

type IsOptions<T> = [Extract<T, Exclude<Positional, undefined>>] extends [never] ? true : false;
type LastIndex<A extends readonly unknown[]> = Required<A> extends [unknown, ...infer Rest] ? Rest["length"] : never;
type Last<A extends readonly unknown[]> = Required<A> extends [...unknown[], infer L] ? L : never;

// The arguments with RunOptions among the options, or behind them where there are none.
type WithRun<A extends readonly unknown[]> =
  IsOptions<Last<A>> extends true
    ? { [I in keyof A]: I extends `${LastIndex<A>}` ? A[I] & RunOptions : A[I] }
    : [...A, run?: RunOptions];

type LaterOf<A extends readonly unknown[], R> = (...args: WithRun<A>) => Promise<Awaited<R>>;

/** A function of the API as a promise: every overload of it, with {@link RunOptions}. */
export type Later<F> = F extends {
  (...args: infer A1): infer R1;
  (...args: infer A2): infer R2;
  (...args: infer A3): infer R3;
  (...args: infer A4): infer R4;
}
  ? LaterOf<A1, R1> & LaterOf<A2, R2> & LaterOf<A3, R3> & LaterOf<A4, R4>
  : F extends { (...args: infer A1): infer R1; (...args: infer A2): infer R2; (...args: infer A3): infer R3 }
    ? LaterOf<A1, R1> & LaterOf<A2, R2> & LaterOf<A3, R3>
    : F extends { (...args: infer A1): infer R1; (...args: infer A2): infer R2 }
      ? LaterOf<A1, R1> & LaterOf<A2, R2>
      : F extends (...args: infer A1) => infer R1
        ? LaterOf<A1, R1>
        : F; // a value, which is there at once

/** {@link attention} as a promise: what was asked for is there, as in its result. */
export type LaterAttention = <
  W extends boolean = false,
  T extends boolean = false,
  D extends "float32" | "float64" = "float32",
>(
  q: TensorLike,
  k: TensorLike,
  v: TensorLike,
  options?: AttentionOptions & AskedOf<W, T, D> & RunOptions,
) => Promise<AttentionResult<D, W, T>>;

/** {@link multiHeadAttention} as a promise. */
export type LaterMultiHeadAttention = <W extends boolean = false, T extends boolean = false>(
  x: TensorLike,
  options: MultiHeadAttentionOptions & Pick<AskedOf<W, T>, "weights" | "trace"> & RunOptions,
) => Promise<AttentionResult<"float32", W, T>>;

/** @internal `L` is written out where the types of a result follow from those of its options. */
export function later<F, L = Later<F>>(name: string, run: F, parts?: Parts): L {
  if (typeof run !== "function") return run as unknown as L;
  return ((...args: unknown[]) => call(name, run, args, parts)) as L;
}

/** @internal */
export function laterAll(api: object, names: readonly string[], parts: Readonly<Record<string, Parts>>): object {
  const functions = api as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.map((name) => [name, later(name, functions[name], parts[name])]));
}

// ---------------------------------------------------------------- threads

/** Options of {@link configure}. */
export interface ConfigureOptions {
  /**
   * How many workers there may be, from 0 to 64; by default as many as the machine has cores, but no more than 8. With
   * 0, calls run on this thread, those of attention in slices with the page's turn between them.
   */
  readonly workers?: number;
  /** The address of worker-thread.js of this package, for pages whose policy takes workers from files only. */
  readonly url?: string | URL;
}

/** Says how many workers there may be, and where their script lies; calls that run go on. */
export function configure(options: ConfigureOptions): void {
  const { workers, url } = readOptions("configure", options, ["workers", "url"]);
  const allowed = "a whole number from 0 to 64";
  const count = workers === undefined ? undefined : readWhole("configure", "workers", workers, allowed, 64);
  if (url !== undefined && typeof url !== "string" && !(url instanceof URL)) {
    refuse("not-a-number", "configure", "url", "a string or a URL", url);
  }
  limitThreads(count, url === undefined ? undefined : String(url));
}

/** Ends the workers. Calls that run or wait reject with `worker-lost`; the next call starts others. */
export function terminate(): void {
  endThreads();
}

// ---------------------------------------------------------------- calls

const kRunOptions = ["signal", "onProgress", "transfer"];

function call(name: string, run: unknown, all: readonly unknown[], parts: Parts | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const { args, options, holder } = withoutRunOptions(name, all);
    const { signal, onProgress } = options;
    if (signal?.aborted === true) throw signal.reason;
    const out = holder === undefined ? undefined : (holder as { readonly out?: unknown }).out;
    const room = holder === undefined ? undefined : { options: holder, out };
    const moves = movesOf(name, options.transfer, args, room);

    const ends = { subject: name, fail: (error: unknown) => end(() => reject(error as Error)) };
    const blocks = inBlocks(parts, args);
    let total = blocks?.total ?? blocks?.work.reduce((sum, amount) => sum + amount, 0) ?? 1;
    if (total === 0) total = 1;
    let done = 0;
    const advance = (amount: number, last: boolean): void => {
      done = last ? total : Math.min(done + amount, total);
      onProgress?.({ done, total });
    };

    // The call in one piece, where it is not made of its blocks' arguments.
    let one: Packed | undefined;
    let rest: object | undefined;
    const came = new Map<ArrayBufferLike, ArrayBuffer>();
    const restored = (): Packed => {
      const arrays = blocks!.restored!((buffer) => came.get(buffer) ?? buffer) as Tensor[];
      const options = holder === undefined ? [] : [{ ...rest, ...(out === undefined ? {} : { out }) }];
      const own = new Set(arrays.map(({ data }) => data.buffer));
      return new Packer({ own, room: { options: options[0]!, out } }).packed([...arrays, ...options]);
    };
    let result: unknown;
    const whole: Job = {
      ...ends,
      name,
      run,
      tasks: [() => (one ??= restored())],
      work: [0],
      copies: [],
      whole: undefined,
      take(_, packed) {
        result = new Unpacker({ out, subject: name }).unpack(packed);
        advance(0, true);
      },
      finish: () => end(() => resolve(result)),
    };
    const jobOf = (blocks: Blocks): Job => {
      let left = blocks.args.length;
      const { tasks, copies, sent } = tasksOf(blocks);
      const { name: part, work } = blocks;
      return {
        ...ends,
        name: part,
        run: parts!.functions[part],
        tasks,
        work,
        copies,
        whole,
        back: one === undefined && blocks.restored !== undefined && moves === undefined
          ? (task, buffers) => buffers.forEach((buffer, i) => came.set(sent[task]![i]!, buffer))
          : undefined,
        take(task, packed) {
          blocks.take(task, new Unpacker().unpack(packed));
          left--;
          advance(work[task]!, left === 0 && blocks.next === undefined);
        },
        finish() {
          const after = blocks.next;
          try {
            if (after !== undefined) return begin(jobOf(after()));
            result = blocks.result();
          } catch {
            return begin(whole); // it says what is wrong, if anything is
          }
          end(() => {
            [...(one?.buffers ?? []), ...came.values()].forEach(keep);
            resolve(result);
          });
        },
      };
    };
    let running = whole;
    const begin = (job: Job): void => {
      running = job;
      start(job);
    };
    const end = (then: () => void): void => {
      settle();
      then();
    };
    const settle = whenAborted(signal, () => {
      drop(running);
      drop(whole);
      reject(signal!.reason as Error);
    });
    try {
      const first = blocks === undefined ? undefined : jobOf(blocks);
      if (first !== undefined) begin(first);
      // Threads that are there run already; now what they do not have yet is taken from the caller's arrays. The call
      // in one piece comes last, for what is to be moved leaves with it.
      for (const pack of [...(first?.tasks ?? []), ...(first?.copies ?? [])]) pack();
      if (first?.back === undefined) one = new Packer({ room, ...(moves === undefined ? {} : { moves }) }).packed(args);
      else if (holder !== undefined) rest = snapshot(withoutProperties(holder, ["out"]));
      if (first === undefined) begin(whole);
    } catch (error) {
      drop(running);
      settle();
      throw error;
    }
  });
}

interface Split {
  readonly args: readonly unknown[];
  readonly options: RunOptions;
  /** The last argument, where it is an object of options. */
  readonly holder: object | undefined;
}

// A last argument that says one of the run options is split from them; without others it was given for their sake.
function withoutRunOptions(name: string, all: readonly unknown[]): Split {
  const last = all[all.length - 1];
  const isOptions = isRecord(last) && !(last instanceof Tensor) && !isScheme(last);
  if (!isOptions) return { args: all, options: {}, holder: undefined };
  if (!kRunOptions.some((option) => option in last)) return { args: all, options: {}, holder: last };
  const { signal, onProgress, transfer } = last as { readonly [K in keyof RunOptions]: unknown };
  const isSignal =
    typeof signal === "object" && signal !== null && typeof (signal as AbortSignal).addEventListener === "function";
  if (signal !== undefined && !isSignal) refuse("not-a-number", name, "signal", "an AbortSignal", signal);
  if (onProgress !== undefined && typeof onProgress !== "function") {
    refuse("not-a-number", name, "onProgress", "a function", onProgress);
  }
  const options = { signal, onProgress, transfer } as RunOptions;
  const rest = withoutProperties(last, kRunOptions);
  return { args: [...all.slice(0, -1), ...(rest === undefined ? [] : [rest])], options, holder: rest };
}

// One listener for all calls that a signal may stop: Node warns of more than ten.
const waitingFor = new WeakMap<AbortSignal, { readonly stops: Set<() => void>; readonly listener: () => void }>();

// Calls `stop` when the signal is aborted, unless the function given back was called before.
function whenAborted(signal: AbortSignal | undefined, stop: () => void): () => void {
  if (signal === undefined) return () => undefined;
  let waiting = waitingFor.get(signal);
  if (waiting === undefined) {
    const stops = new Set<() => void>();
    const listener = (): void => {
      waitingFor.delete(signal);
      stops.forEach((each) => each());
    };
    waitingFor.set(signal, (waiting = { stops, listener }));
    signal.addEventListener("abort", listener, { once: true });
  }
  const { stops, listener } = waiting;
  stops.add(stop);
  return () => {
    if (!stops.delete(stop) || stops.size > 0 || waitingFor.get(signal)?.stops !== stops) return;
    waitingFor.delete(signal);
    signal.removeEventListener("abort", listener);
  };
}

type Moves = (buffer: ArrayBufferLike) => boolean;
type Room = PackerOptions["room"];

// Which buffers are to be moved: never that of `out`, though an argument may lie in it as well.
function movesOf(name: string, transfer: unknown, args: readonly unknown[], room: Room): Moves | undefined {
  if (transfer === undefined || transfer === false) return undefined;
  const out = dataOfOut(room?.out);
  const stays = ArrayBuffer.isView(out) ? out.buffer : undefined;
  if (transfer === true) return (buffer) => buffer !== stays;
  const allowed = "true, or a list of arrays among the arguments";
  if (!isList(transfer)) refuse("not-a-number", name, "transfer", allowed, transfer);
  const among = new Set<unknown>();
  new Packer({ own: true, room, moves: (buffer) => !among.add(buffer) }).pack(args);
  const buffers = new Set<unknown>();
  for (const entry of transfer) {
    const data = entry instanceof Tensor ? entry.data : entry;
    const buffer = ArrayBuffer.isView(data) ? data.buffer : data;
    if (!among.has(buffer)) refuse("not-a-number", name, "transfer", allowed, entry);
    buffers.add(buffer);
  }
  return (buffer) => buffer !== stays && buffers.has(buffer);
}

function inBlocks(parts: Parts | undefined, args: readonly unknown[]): Blocks | undefined {
  try {
    return parts?.cut(args, planned);
  } catch {
    return undefined; // refused again, in the words of the function itself, where it runs
  }
}

// Every block has its own arguments, packed when a thread is there for them; what blocks share goes once to each thread
// that may take some.
function tasksOf({ args, shared, fresh, work }: Blocks): Pick<Job, "tasks" | "copies"> & {
  /** Buffers of each task's arguments that will come back, in the order in which they do. */
  readonly sent: readonly (readonly ArrayBuffer[])[];
} {
  const once = (pack: () => Packed): (() => Packed) => {
    let packed: Packed | undefined;
    return () => (packed ??= pack());
  };
  const sent: (readonly ArrayBuffer[])[] = [];
  const pack = (values: readonly unknown[], task: number): Packed => {
    // One alone brings along what several would share.
    const packed = new Packer({ shared: args.length === 1 ? [] : shared, own: fresh }).packed(values);
    sent[task] = packed.buffers.filter(isWorthKeeping);
    return packed;
  };
  const tasks = args.map((make, task) => once(() => pack(make(), task)));
  const count = Math.min(threadsFor(work.reduce((sum, amount) => sum + amount, 0)), tasks.length);
  const copies = tasks.length === 1 ? 0 : count;
  return { tasks, copies: Array.from({ length: copies }, () => once(() => new Packer().packed(shared))), sent };
}

// A thread more is worth its copies from so many milliseconds of work.
const kWorthAThread = 6;
// Between two looks at whether a call is still wanted, and between two reports of progress.
const kBlock = 100;
const kOwnBlock = 30;

function threadsFor(multiplyAdds: number): number {
  const ms = multiplyAdds / threadSpeed();
  return Math.max(1, Math.min(threadLimit(), Math.floor(ms / kWorthAThread)));
}

// How many blocks a call is cut into: as many as there are threads for it, and more where these would be long.
function planned(multiplyAdds: number): number {
  const threads = threadsFor(multiplyAdds);
  const ms = multiplyAdds / threadSpeed();
  const blocks = Math.ceil(ms / (onOwnThread() ? kOwnBlock : kBlock));
  return threads * Math.ceil(blocks / threads);
}
