// The threads that calls run on: made when they are needed, given one task at a time, so that a thread that must be
// ended takes nothing with it but the task it was at.
import { refusal } from "../error.js";
import type { Scheme } from "../scheme.js";
import type { Reply } from "./serve.js";
import { keep, setWorking } from "./spares.js";
import { type Listener, type Thread, connect, ownThread, waysHere } from "./threads.js";
import { type Packed, packScheme, unpackError } from "./wire.js";

/** A call that is running or waiting, in one task or several. */
export interface Job {
  /** The function, for the thread that is this one, and its name. */
  readonly run: unknown;
  readonly name: string;
  /** The function that was called. */
  readonly subject: string;
  /** Each packed when it is asked for. */
  readonly tasks: readonly (() => Packed)[];
  /** Work of each task in multiply-adds; 0 where it is not known. */
  readonly work: readonly number[];
  /** What the tasks share, packed once for each thread that may have it; nothing where there is one task. */
  readonly copies: (() => Packed)[];
  /** The call in one task, where there are several: what is wrong with it, and where, only the whole can say. */
  readonly whole?: Job | undefined;
  /**
   * Takes the buffers that came back of a task's arguments. Where a task is refused the whole is made of them all, so
   * that it waits for the tasks that run.
   */
  readonly back?: ((task: number, buffers: readonly ArrayBuffer[]) => void) | undefined;
  /** One task is done: its result, packed. */
  take(task: number, result: unknown): void;
  /** All are. */
  finish(): void;
  fail(error: unknown): void;
}

interface Running {
  readonly job: Job;
  readonly task: number;
  readonly call: number;
}

interface State {
  readonly id: number;
  left: number;
  /** A task was refused. */
  broken: boolean;
}

interface Slot {
  thread: Thread | undefined; // until it is ready
  running: Running | undefined;
  closed: boolean;
  /** Not what configure() wants any more. */
  stale: boolean;
  /** Numbers of schemes that the thread has, the oldest first. */
  readonly schemes: Set<number>;
  readonly holds: Set<Job>;
}

// Schemes that a thread keeps.
const kKeptSchemes = 64;
// How long a task that nobody waits for may go on, before its thread is ended: starting one takes about as long.
const kGrace = 150;

// Functions that have been called, for the thread that is this one.
const functions: Record<string, unknown> = {};

let limit: number | undefined;
let url: string | undefined;
let slots: Slot[] = [];
let waiting: { readonly job: Job; readonly task: number }[] = [];
const jobs = new Map<Job, State>();
// Ways to a thread that did not work here, and one that did.
const closedWays = new Set<string>();
let openWay: string | undefined;
let calls = 0;
let ids = 0;
// Multiply-adds in a millisecond, as tasks of attention have shown it.
let speed: number | undefined;

/** True where calls run on this thread, as far as is known. */
export function onOwnThread(): boolean {
  return limit === 0 || slots.some(({ thread }) => thread?.apart === false);
}

/** How many threads there may be. */
export function threadLimit(): number {
  return onOwnThread() ? 1 : (limit ?? cores());
}

function cores(): number {
  const { navigator, process } = globalThis as {
    navigator?: { hardwareConcurrency?: number };
    process?: { getBuiltinModule?(name: string): unknown };
  };
  const os = process?.getBuiltinModule?.("node:os") as { availableParallelism(): number } | undefined;
  return Math.min(os?.availableParallelism() ?? navigator?.hardwareConcurrency ?? 1, kMostByDefault);
}

// More threads than this share the memory's bandwidth rather than the work.
const kMostByDefault = 8;

/** Sets what configure() was told, for threads to come; those too many go when they are done. */
export function limitThreads(workers: number | undefined, address: string | undefined): void {
  if (workers !== undefined) {
    limit = workers;
    for (const slot of [...slots].reverse()) {
      slot.stale = slot.thread?.apart === (workers === 0) || slots.length > Math.max(1, workers);
      if (slot.stale && slot.thread !== undefined && slot.running === undefined) close(slot);
    }
  }
  if (address !== undefined) url = address;
  closedWays.clear();
  openWay = undefined;
  pump();
}

/** Ends every thread; calls that wait or run reject with `worker-lost`. */
export function endThreads(): void {
  for (const slot of [...slots]) close(slot);
  closedWays.clear();
  openWay = undefined;
  waiting = [];
  for (const job of [...jobs.keys()]) fail(job, lost(job.subject, "terminate() was called"));
}

/** Multiply-adds that a thread does in a millisecond, about. */
export function threadSpeed(): number {
  return speed ?? kFirstGuess;
}

const kFirstGuess = 1e7;

/** Notes how long so many took. */
export function noteSpeed(multiplyAdds: number, ms: number): void {
  if (ms < 1) return;
  const now = multiplyAdds / ms;
  speed = speed === undefined ? now : 0.7 * speed + 0.3 * now;
}

/** Runs the tasks of a job, on as many threads as there may be. */
export function start(job: Job): void {
  functions[job.name] = job.run;
  jobs.set(job, { id: ++ids, left: job.tasks.length, broken: false });
  setWorking(true);
  job.tasks.forEach((_, task) => waiting.push({ job, task }));
  pump();
}

/** Stops a job without a word: its tasks that wait are dropped, those that run are ended if they do not end soon. */
export function drop(job: Job): void {
  if (!jobs.has(job)) return;
  forget(job);
  for (const slot of slots) {
    const { running } = slot;
    if (running?.job !== job) continue;
    setTimeout(() => {
      if (slot.running !== running || slot.thread?.apart !== true) return;
      close(slot);
      pump();
    }, kGrace);
  }
  pump();
}

function fail(job: Job, error: unknown): void {
  if (!jobs.has(job)) return;
  drop(job);
  job.fail(error);
}

function forget(job: Job): void {
  const { id } = jobs.get(job)!;
  jobs.delete(job);
  if (jobs.size === 0) setWorking(false);
  waiting = waiting.filter((task) => task.job !== job);
  for (const slot of slots) if (slot.holds.delete(job)) slot.thread?.post({ end: id }, []);
}

function lost(subject: string, why: string): unknown {
  return refusal(
    { code: "worker-lost", subject, argument: "", allowed: "", given: why },
    `${subject}: the worker that ran it was lost (${why}); the next call has another`,
  );
}

function close(slot: Slot): void {
  slot.closed = true;
  slots = slots.filter((other) => other !== slot);
  slot.thread?.end();
}

// ---------------------------------------------------------------- who runs what

function pump(): void {
  for (const slot of slots) {
    if (slot.thread === undefined || slot.running !== undefined) continue;
    const next = waiting.findIndex(({ job }) => fits(slot, job));
    if (next >= 0) {
      const [{ job, task }] = waiting.splice(next, 1) as [(typeof waiting)[0]];
      run(slot, job, task);
    }
  }
  const starting = slots.filter(({ thread }) => thread === undefined).length;
  const wanted = new Map<Job, number>(); // threads that each job could use beside those that have its share
  for (const { job } of waiting) wanted.set(job, (wanted.get(job) ?? 0) + 1);
  let open = 0;
  for (const [job, tasks] of wanted) open += job.tasks.length === 1 ? tasks : Math.min(tasks, job.copies.length);
  for (let more = Math.min(open - starting, threadLimit() - slots.length); more > 0; more--) void openSlot();
}

// A thread beyond those that have what the tasks share takes none of them.
function fits(slot: Slot, job: Job): boolean {
  return job.tasks.length === 1 || slot.holds.has(job) || job.copies.length > 0;
}

function run(slot: Slot, job: Job, task: number): void {
  const thread = slot.thread!;
  const call = ++calls;
  slot.running = { job, task, call };
  thread.hold(true);
  try {
    const { value, buffers, schemes } = job.tasks[task]!();
    const needed = new Map<number, Scheme>(schemes);
    const all = [...buffers];
    let share: { id: number; values?: unknown } | undefined;
    if (job.tasks.length > 1) {
      const { id } = jobs.get(job)!;
      share = { id };
      if (!slot.holds.has(job)) {
        const copy = job.copies.pop()!();
        share = { id, values: copy.value };
        all.push(...copy.buffers);
        for (const [number, scheme] of copy.schemes) needed.set(number, scheme);
        slot.holds.add(job);
      }
    }
    const news: [number, unknown][] = [];
    for (const [id, scheme] of needed) {
      if (!slot.schemes.delete(id)) {
        const packed = packScheme(scheme);
        news.push([id, packed.value]);
        all.push(...packed.buffers);
      }
      slot.schemes.add(id); // the youngest now
    }
    const old = [...slot.schemes].slice(0, Math.max(0, slot.schemes.size - Math.max(kKeptSchemes, needed.size)));
    for (const id of old) slot.schemes.delete(id);
    const message = { call, name: job.name, args: value, schemes: news, forget: old };
    thread.post(share === undefined ? message : { ...message, share }, all);
  } catch (error) {
    // A value that no message can hold; what went over is not known, so neither is the thread kept.
    close(slot);
    fail(job, error);
  }
}

function heard(slot: Slot, message: Reply): void {
  const { running } = slot;
  if (slot.closed || running === undefined || !("call" in message) || message.call !== running.call) return;
  const { job, task } = running;
  slot.running = undefined;
  slot.thread!.hold(false);
  const state = jobs.get(job);
  if (state !== undefined && job.back !== undefined) job.back(task, message.spent);
  else message.spent.forEach(keep);
  if (state !== undefined) {
    if (!("error" in message)) {
      if (!state.broken) done(job, task, message.result, message.ms, state);
    } else if (job.whole === undefined) fail(job, unpackError(message.error));
    else {
      state.broken = true;
      waiting = waiting.filter((other) => other.job !== job);
    }
    if (state.broken && (job.back === undefined || !slots.some((other) => other.running?.job === job))) {
      drop(job);
      start(job.whole!);
    }
  }
  if (slot.stale) close(slot);
  pump();
}

function done(job: Job, task: number, result: unknown, ms: number, state: State): void {
  try {
    if (job.work[task]! > 0) noteSpeed(job.work[task]!, ms);
    state.left--;
    job.take(task, result);
    if (state.left > 0 || !jobs.has(job)) return;
    forget(job);
    job.finish();
  } catch (error) {
    // What a caller's onProgress threw, or an `out` that is gone.
    drop(job);
    job.fail(error);
  }
}

async function openSlot(): Promise<void> {
  const [schemes, holds] = [new Set<number>(), new Set<Job>()];
  const slot: Slot = { thread: undefined, running: undefined, closed: false, stale: false, schemes, holds };
  slots.push(slot);
  const listener: Listener = {
    reply: (message) => heard(slot, message),
    lost: (why) => gone(slot, why),
  };
  const thread = await anyThread(listener);
  // Ended meanwhile, or not wanted: where another thread lives, this one is not needed.
  const others = slots.some((other) => other !== slot && other.thread !== undefined);
  if (slot.closed || slot.stale || (!thread.apart && others)) {
    thread.end();
    close(slot);
  } else {
    slot.thread = thread;
    thread.hold(false);
  }
  pump();
}

async function anyThread(listener: Listener): Promise<Thread> {
  const ways = limit === 0 ? [] : waysHere(url).filter(({ name }) => !closedWays.has(name));
  for (const way of ways) {
    try {
      const thread = await connect(way, listener);
      openWay = way.name;
      return thread;
    } catch {
      if (openWay === way.name) break; // it has worked: there is no room for more
      closedWays.add(way.name);
    }
  }
  return connect({ name: "here", own: true, make: (heard) => ownThread(functions, heard) }, listener);
}

function gone(slot: Slot, why: string): void {
  if (slot.closed) return;
  const { running } = slot;
  close(slot);
  if (running !== undefined) fail(running.job, lost(running.job.subject, why));
  pump();
}
