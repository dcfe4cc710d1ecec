// The one place that instantiates the modules and touches their heaps: compilation on first use, the power-on
// self-test, and frames that carry arguments in and results out in whole blocks. No view of a heap ever leaves this
// file, for one taken before the memory grows silently has length 0.
import { bytes as wasmBase64 } from "../../build/wasm/posenc_bytes.mjs";
import { marks } from "../../build/wasm/posenc_mark.mjs";
import { bytes as unpackerBase64 } from "../../build/wasm/unpack_bytes.mjs";
import type { PosencModule } from "../../build/wasm/posenc_fallback.mjs";
import { fromBase64 } from "./base64.js";
import {
  type ErrorCode,
  PosencError,
  printed,
  isRecord,
  refusal,
  refuse,
  refuseMissing,
  refuseUnknown,
} from "./error.js";
import { joinUnpacked, type Unpacked, type Unpacker, unpackInto } from "./lzma.js";

/** A module's bytes, or the module compiled. */
export type WasmSource = ArrayBuffer | ArrayBufferView | WebAssembly.Module;

/** What {@link init} records. */
export interface InitOptions {
  /** `"simd"` refuses the plain-JavaScript build; `"js"` asks for it (then `await ready()` first). */
  readonly backend?: "simd" | "js";
  /** The module's bytes, or the module compiled, in place of the inlined one. */
  readonly wasm?: WasmSource;
  /** The same of the module that analyses, which is a file of its own: posenc-analysis.wasm. */
  readonly analysisWasm?: WasmSource;
  /** The same of the module that works in float64 and takes gradients: posenc-exact.wasm. */
  readonly exactWasm?: WasmSource;
  /** Where the plain-JavaScript build lies, when not beside this file. */
  readonly fallbackUrl?: string | URL;
}

/** What runs. */
export interface Info {
  readonly version: string;
  /** `"simd"`: WebAssembly with SIMD128; `"js"`: the same C++ as plain JavaScript. */
  readonly backend: "simd" | "js";
  /** The compiler of the core, as it names itself. */
  readonly compiler: string;
  /** The vector unit the core was compiled for: `"wasm-simd128"` or `"scalar"`. */
  readonly lanes: string;
}

/** True in the build for classic scripts, which cannot import. */
declare const POSENC_CLASSIC: boolean | undefined;

type Backend = Info["backend"];

// The memory of an instance; replaced when it grows, so read anew after every call.
interface Heap {
  readonly u8: Uint8Array;
  readonly i32: Int32Array;
  readonly f32: Float32Array;
  readonly f64: Float64Array;
}

// The functions of the bindings, under the names they have there; texts are addresses.
interface Functions {
  posenc_call(index: number, block: number): number;
  posenc_layout(): number;
  posenc_schemes(): number;
  posenc_text(): number;
  posenc_about(): number;
  malloc(bytes: number): number;
  free(address: number): void;
  stackSave(): number;
  stackRestore(address: number): void;
}

interface Instance extends Functions {
  readonly heap: Heap;
}

// A way to a fresh instance, kept because a trap or an exhausted memory leaves an instance unusable.
interface Source {
  readonly backend: Backend;
  readonly module?: WebAssembly.Module;
  make(): Instance;
}

interface CallLayout {
  readonly index: number;
  readonly fields: readonly string[]; // one cell each
  readonly cells: ReadonlyMap<string, number>; // of each field
}

interface CatalogueEntry {
  readonly slot: string;
  readonly name: string;
  readonly params: readonly string[];
}

interface Running {
  readonly part: Part;
  readonly instance: Instance;
  readonly calls: ReadonlyMap<string, CallLayout>;
  block: number; // as the allocator gave it
  arena: number; // the same, aligned to 16
  capacity: number; // bytes from arena
}

/** One of the modules: the core, or what is downloaded only with the functions that need it. */
export class Part {
  source: Source | undefined;
  running: Running | undefined;
  failure: PosencError | undefined;
  calls: Running["calls"] | undefined; // the same of every instance, so read once

  /** `option` of {@link init} gives other bytes than the packed ones. */
  constructor(
    readonly option: (typeof partOptions)[number],
    readonly file: string,
    public packed: () => string | undefined,
  ) {
    parts.add(this);
  }
}

const parts = new Set<Part>();
const core = new Part("wasm", "posenc.wasm", () => wasmBase64);
let schemes: readonly CatalogueEntry[] | undefined; // of the core, read once
let settings: InitOptions = {};
let loading: Promise<void> | undefined;
let handedLate = false; // bytes that ready() has not seen
const partOptions = ["wasm", "analysisWasm", "exactWasm"] as const;

// Read while the classic script is evaluated: later there is no current script.
const classic = typeof POSENC_CLASSIC !== "undefined" && POSENC_CLASSIC === true;
/** The address of the classic script; undefined elsewhere, and where the script stands in the page itself. */
export const ownScript =
  classic && typeof document !== "undefined" ? (document.currentScript as HTMLScriptElement | null)?.src : undefined;

/**
 * Records a forced back end, other bytes or the place of the plain-JavaScript build; synchronous, optional, before the
 * first use. What one call says adds to what others said. The same call again is harmless; a different one after the
 * first use is `unsupported`, but bytes of a module may come until that module's own first use. Bytes of anything else,
 * or of a module cut short, are `invalid-file`.
 */
export function init(options: InitOptions = {}): void {
  if (!isRecord(options)) refuse("not-a-number", "init", "options", "an object", options);
  const known = ["backend", ...partOptions, "fallbackUrl"];
  for (const key of Object.keys(options)) if (!known.includes(key)) refuseUnknown("init", key, known);
  const said: { readonly [K in keyof InitOptions]: unknown } = options;
  const { backend, fallbackUrl } = said;
  if (backend !== undefined && backend !== "simd" && backend !== "js") {
    refuse("unknown-choice", "init", "backend", '"simd" or "js"', backend);
  }
  for (const name of partOptions) {
    const bytes = said[name] as WasmSource | undefined;
    if (bytes === undefined || isModule(bytes)) continue;
    const isBytes = ArrayBuffer.isView(bytes) || (bytes as unknown) instanceof ArrayBuffer;
    if (isBytes && holdsModule(bytes)) continue;
    const code = isBytes ? "invalid-file" : "not-a-number";
    refuse(code, "init", name, "the bytes of the module or a WebAssembly.Module", bytes);
  }
  if (fallbackUrl !== undefined && typeof fallbackUrl !== "string" && !(fallbackUrl instanceof URL)) {
    refuse("not-a-number", "init", "fallbackUrl", "a string or a URL", fallbackUrl);
  }
  const news = partOptions.filter((option) => said[option] !== undefined && said[option] !== settings[option]);
  const running = core.source?.backend;
  if (running !== undefined || loading !== undefined) {
    // What runs stays as it is; bytes of a part that has not started may come.
    const other =
      (backend !== undefined && backend !== settings.backend && backend !== running) ||
      (fallbackUrl !== undefined && String(fallbackUrl) !== String(settings.fallbackUrl ?? "") && backend !== running);
    const late = news.some((option) => option === "wasm" || partOf(option)?.source !== undefined);
    if (other || late) refuse("unsupported", "init", "options", "given before the first use", options);
    if (news.length === 0) return;
    loading = undefined;
    handedLate = true;
    settings = { ...settings, ...Object.fromEntries(news.map((option) => [option, said[option]])) };
  } else {
    settings = { ...settings, ...options };
    core.failure = undefined;
  }
  for (const option of news) {
    const part = partOf(option);
    if (part !== undefined) part.failure = undefined;
  }
}

/**
 * Makes the synchronous functions work where they cannot work at once: compiles asynchronously (where the engine
 * refuses synchronous compilation, and everywhere without holding up the page), and loads the plain-JavaScript build
 * where WebAssembly or SIMD is refused or fails its self-test. Resolves at once when the core runs already. Rejects
 * with `unsupported` if neither can be had.
 */
export function ready(): Promise<void> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** Version, back end and compiler of the core that runs; starts it if need be. */
export function info(): Info {
  const { instance } = current();
  const [version, compiler, lanes] = textAt(instance, instance.posenc_about()).split("\n") as [string, string, string];
  return Object.freeze({ version, backend: core.source!.backend, compiler, lanes });
}

/**
 * A frame for a call of cpp/bindings/exact, where something brought that part along (exact-part.ts, which
 * attentionGradient needs), or the plain-JavaScript build, which holds all. The core does not: it would double.
 */
export function exactFrame(subject: string): Frame {
  const part = partOf("exactWasm") ?? core;
  if (part === core && !current().calls.has("exact_attention")) {
    const allowed = '"float32" in a bundle without attentionGradient, which brings float64 along';
    refuse("unsupported", subject, "dtype", allowed, "float64");
  }
  return new Frame(subject, part);
}

/** The place of a scheme in the core's catalogue. */
export function schemeIndex(slot: string, name: string): number {
  const index = catalogue().findIndex((scheme) => scheme.slot === slot && scheme.name === name);
  if (index < 0) throw internal("posenc", `the core has no ${slot} scheme ${name}`);
  return index;
}

/** What another thread needs to run the modules that run here, without their bytes being carried twice. */
export interface Handed {
  readonly settings: InitOptions;
  /** Modules packed and in base64. */
  readonly texts: { readonly [option in Part["option"]]?: string };
}

/**
 * Gathers it. Compiled modules go over as they are where messages can hold them (`compiled`); `fallbackUrl` is where
 * the plain-JavaScript build lies, if init() was not told.
 */
export function handOver(compiled: boolean, fallbackUrl: string | undefined): Handed {
  const { backend } = settings;
  const place = settings.fallbackUrl ?? (classic ? classicFallback() : fallbackUrl);
  const modules: { [option in Part["option"]]?: WasmSource } = {};
  const texts: { [option in Part["option"]]?: string } = {};
  for (const part of parts) {
    const module = compiled ? part.source?.module : undefined;
    const own = module ?? settings[part.option];
    const text = part.packed();
    if (own !== undefined && (compiled || !isModule(own))) modules[part.option] = own;
    else if (text !== undefined) texts[part.option] = text;
  }
  // What was packed beside the core is unpacked beside it, however that one goes over itself.
  const coreText = core.packed();
  if (Object.keys(texts).length > 0 && coreText !== undefined) texts.wasm = coreText;
  const base = typeof document === "undefined" ? undefined : document.baseURI;
  return {
    settings: {
      ...(backend === undefined ? {} : { backend }),
      ...modules,
      ...(place === undefined ? {} : { fallbackUrl: new URL(String(place), base).href }),
    },
    texts,
  };
}

/** Takes over what another thread handed, before the first use. */
export function takeOver({ settings: theirs, texts }: Handed): void {
  for (const part of parts) part.packed = () => texts[part.option];
  init(theirs);
}

// ---------------------------------------------------------------- starting

function partOf(option: Part["option"]): Part | undefined {
  return [...parts].find((part) => part.option === option);
}

function catalogue(): readonly CatalogueEntry[] {
  const { instance } = current();
  schemes ??= wordsAt(instance, instance.posenc_schemes()).map(([slot, name, ...params]) => ({
    slot: slot!,
    name: name!,
    params,
  }));
  return schemes;
}

// Some pages and engines take WebAssembly away, or leave an empty name.
function wasmHere(): Partial<typeof WebAssembly> | undefined {
  return (globalThis as { WebAssembly?: Partial<typeof WebAssembly> | null }).WebAssembly ?? undefined;
}

function isModule(value: unknown): value is WebAssembly.Module {
  const Module = wasmHere()?.Module;
  return Module !== undefined && value instanceof Module;
}

// Not every engine takes a DataView. Views know where they start; a buffer starts at 0 and ends where it ends.
function bytesIn(given: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  const { buffer = given, byteOffset, byteLength } = given as DataView<ArrayBuffer>;
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

// Whether sections follow the head of a module to the end: another file, or half of one. What they hold is for the
// engine to take or not, which may lack SIMD.
function holdsModule(given: ArrayBuffer | ArrayBufferView): boolean {
  try {
    const bytes = bytesIn(given);
    let at = 8;
    if (String(bytes.subarray(0, at)) !== "0,97,115,109,1,0,0,0") return false;
    while (at < bytes.length) {
      let size = 0;
      for (let shift = 1, byte = 128; byte > 127; shift *= 128) {
        byte = bytes[++at]!;
        size += (byte & 127) * shift;
      }
      at += 1 + size;
    }
    return at === bytes.length;
  } catch {
    return false; // detached
  }
}

// What init() was given for a part, as every engine takes it; undefined where the inlined bytes serve.
function given(part: Part): BufferSource | WebAssembly.Module | undefined {
  if (!wasmHere()?.Module) throw new Error("this engine has no WebAssembly");
  const wasm = settings[part.option];
  return wasm === undefined || isModule(wasm) ? wasm : bytesIn(wasm);
}

// The bytes of web/unpack.cpp, which unpacks the others.
function unpackerBytes(): Uint8Array<ArrayBuffer> {
  return fromBase64(unpackerBase64!, true)!;
}

// The packed bytes of a part.
function inlined(part: Part): Uint8Array<ArrayBuffer> {
  const base64 = part.packed();
  const packed = base64 === undefined ? undefined : fromBase64(base64, true);
  if (packed === undefined || packed.length === 0) {
    const { option, file } = part;
    const allowed = `given to init({${option}}), the bytes of ${file} or the module compiled from them`;
    refuseMissing("posenc", option, allowed);
  }
  return packed;
}

function instanceOf(unpacker: WebAssembly.Module): Unpacker {
  return new WebAssembly.Instance(unpacker).exports as unknown as Unpacker;
}

// The core, till another part has been unpacked: a figure may need both.
let unpackedCore: Unpacked | undefined;

// Other parts are packed beside the core: they have schemes, kernels and the C library in common with it.
function unpacked(part: Part, packed: Uint8Array, fresh: Unpacker): Uint8Array<ArrayBuffer> {
  const place = part === core ? fresh : (unpackedCore ?? unpackInto(fresh, inlined(core)));
  const own = unpackInto(place, packed);
  unpackedCore = part === core ? own : undefined;
  return joinUnpacked(own);
}

// Chromium before 114 refuses modules of more than 4 KB on a page's own thread: one with nothing in it tells.
function compilesAtOnce(): boolean {
  const empty = new Uint8Array(4200);
  empty.set([0, 97, 115, 109, 1, 0, 0, 0, 0, 0xdd, 0x20]);
  try {
    return new WebAssembly.Module(empty) !== undefined;
  } catch {
    return false;
  }
}

interface Host {
  readonly Deno?: unknown;
  readonly process: { getBuiltinModule(name: "node:fs"): { readFileSync(file: URL): Uint8Array<ArrayBuffer> } };
}

// A part's file of the package that this file is of, where Node can read it: unpacking takes as long as all the rest of
// a first call. Nothing where there is none (browsers, bundles) or one of another build (web/build.mjs computes the
// same sum). Deno would ask its user for leave. One argument for URL: bundlers would take two for an asset.
function besideThis(part: Part): Uint8Array<ArrayBuffer> | undefined {
  const { Deno, process } = globalThis as unknown as Host;
  if (Deno !== undefined) return undefined;
  try {
    const file = new URL(`${import.meta.url}/../../${part.file}`);
    const bytes = process.getBuiltinModule("node:fs").readFileSync(file);
    let sum = bytes.length;
    for (let i = 0; i < bytes.length; i += 61) sum = (sum * 31 + bytes[i]!) | 0;
    if (sum === marks[part.file]) return bytes;
  } catch {}
  return undefined;
}

function compiled(part: Part): WebAssembly.Module {
  const wasm = given(part);
  if (isModule(wasm)) return wasm;
  if (wasm !== undefined) return new WebAssembly.Module(wasm);
  const packed = inlined(part);
  const bare = besideThis(part);
  if (bare !== undefined) return new WebAssembly.Module(bare);
  return new WebAssembly.Module(unpacked(part, packed, instanceOf(new WebAssembly.Module(unpackerBytes()))));
}

// The same, compiled off the page's thread.
async function compiledLater(part: Part): Promise<WebAssembly.Module> {
  const wasm = given(part);
  if (isModule(wasm)) return wasm;
  if (wasm !== undefined) return WebAssembly.compile(wasm);
  const packed = inlined(part);
  const bytes = unpackerBytes();
  // A rehearsal, as long as an engine needs to see before it optimises what unpacks; it keeps what it has compiled of
  // the same bytes. A page's other scripts and its layout, which the first figure waits for too, come before that.
  if (compilesAtOnce()) unpackInto(instanceOf(new WebAssembly.Module(bytes)), inlined(core), 2 ** 14);
  return WebAssembly.compile(unpacked(part, packed, instanceOf(await WebAssembly.compile(bytes))));
}

function simdSource(module: WebAssembly.Module): Source {
  return {
    backend: "simd",
    module,
    make() {
      let memory: WebAssembly.Memory | undefined;
      let heap: Heap;
      const look = (): void => {
        const { buffer } = memory!;
        heap = {
          u8: new Uint8Array(buffer),
          i32: new Int32Array(buffer),
          f32: new Float32Array(buffer),
          f64: new Float64Array(buffer),
        };
      };
      const stop = (): never => {
        throw new Error("abort");
      };
      const { exports } = new WebAssembly.Instance(module, {
        env: { emscripten_notify_memory_growth: look },
        wasi_snapshot_preview1: { proc_exit: stop },
      });
      const functions = exports as unknown as Functions & { memory: WebAssembly.Memory; _initialize(): void };
      memory = functions.memory;
      look();
      functions._initialize();
      return {
        ...functions,
        get heap() {
          return heap;
        },
      };
    },
  };
}

function jsSource(createJs: CreateModule): Source {
  return {
    backend: "js",
    make() {
      const glue = createJs({ print: () => undefined, printErr: () => undefined });
      // The glue's names are those of the bindings after a line.
      const named = Object.entries(glue).map(([name, value]) => [name.replace(/^_/, ""), value as unknown]);
      return {
        ...(Object.fromEntries(named) as Functions),
        get heap() {
          return { u8: glue.HEAPU8, i32: glue.HEAP32, f32: glue.HEAPF32, f64: glue.HEAPF64 };
        },
      };
    },
  };
}

// A text of the core, which ends with a zero.
function textAt({ heap: { u8 } }: Instance, address: number): string {
  const start = address >>> 0;
  return new TextDecoder().decode(u8.subarray(start, u8.indexOf(0, start)));
}

// Lines of words.
function wordsAt(instance: Instance, address: number): string[][] {
  const lines = textAt(instance, address).split("\n");
  return lines.filter(Boolean).map((line) => line.split(" "));
}

function start(part: Part, instance: Instance): Running {
  part.calls ??= new Map(
    wordsAt(instance, instance.posenc_layout()).map(([name, ...fields], index) => [
      name!,
      { index, fields, cells: new Map(fields.map((field, cell) => [field, cell])) },
    ]),
  );
  return { part, instance, calls: part.calls, block: 0, arena: 0, capacity: 0 };
}

// Takes a source of the core into use if its first instance passes the self-test.
function adopt(candidate: Source): void {
  core.calls = schemes = undefined;
  core.running = start(core, candidate.make());
  try {
    selfTest();
  } catch (error) {
    core.running = undefined;
    throw error;
  }
  core.source = candidate;
  core.failure = undefined;
}

// What runs of a part. The plain-JavaScript build of the core holds every part; else the machine that runs the core has
// been tested, and runs the others too.
function current(part: Part = core): Running {
  if (part !== core) {
    const base = current();
    if (core.source?.backend === "js") return base;
  }
  if (part.running !== undefined) return part.running;
  if (part.failure !== undefined) throw part.failure;
  try {
    if (part.source !== undefined) return (part.running = start(part, part.source.make()));
    if (settings.backend === "js") throw new Error("the plain-JavaScript build was asked for");
    const source = simdSource(compiled(part));
    if (part === core) {
      adopt(source);
    } else {
      part.running = start(part, source.make());
      part.source = source;
    }
  } catch (error) {
    if (error instanceof PosencError) throw error;
    // What may be otherwise at the next call is not remembered.
    if (stackRanOut(error)) throw error;
    if (part.source !== undefined) throw outOfMemory("posenc", "no room for another instance", error);
    part.failure = notReady(error);
    if (part !== core) loading = undefined; // the core alone was made ready
    throw part.failure;
  }
  return part.running!;
}

function stackRanOut(error: unknown): boolean {
  return error instanceof Error && /call stack|recursion/i.test(error.message);
}

function notReady(cause: unknown): PosencError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return refusal(
    {
      code: "unsupported",
      subject: "posenc",
      argument: "backend",
      allowed: "made ready first by `await ready()`",
      given: why,
    },
    `posenc: cannot start synchronously here (${why}); call \`await ready()\` once before the first use`,
    { cause },
  );
}

async function load(): Promise<void> {
  const failed = [...parts].some(({ failure }) => failure !== undefined);
  // Where the core was compiled synchronously, so will the others be.
  if (core.source !== undefined && !failed && !handedLate) return;
  // Then the other parts wait until they are used.
  const later = !failed && !handedLate && compilesAtOnce();
  handedLate = false;
  if (core.source === undefined) await loadCore();
  if (later || core.source!.backend === "js") return;
  for (const part of parts) {
    // Parts whose bytes were not handed over say so when they are used.
    if (part.source !== undefined || (given(part) === undefined && !part.packed())) continue;
    const source = simdSource(await compiledLater(part));
    part.source ??= source;
    part.failure = undefined;
  }
}

async function loadCore(): Promise<void> {
  if (settings.backend !== "js") {
    try {
      const module = await compiledLater(core);
      // A synchronous call may have come first.
      if (core.source === undefined) adopt(simdSource(module));
    } catch (error) {
      if (error instanceof PosencError) throw error;
      if (core.source === undefined) core.failure = notReady(error);
    }
    if (core.source !== undefined) return;
    if (settings.backend === "simd") {
      throw refusal(
        {
          code: "unsupported",
          subject: "posenc",
          argument: "backend",
          allowed: '"js" where WebAssembly SIMD cannot be had',
          given: core.failure?.given ?? "",
        },
        undefined,
        { cause: core.failure },
      );
    }
  }
  try {
    const createJs = await loadFallback();
    adopt(jsSource(createJs));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw refusal(
      {
        code: "unsupported",
        subject: "posenc",
        argument: "fallbackUrl",
        allowed: "the address of the plain-JavaScript build",
        given: why,
      },
      `posenc: neither WebAssembly SIMD nor the plain-JavaScript build can be had here (${why})`,
      { cause: error },
    );
  }
}

type CreateModule = (options: object) => PosencModule;

async function loadFallback(): Promise<CreateModule> {
  const url = settings.fallbackUrl;
  if (!classic) {
    const module =
      url === undefined
        ? await import("../../build/wasm/posenc_fallback.mjs")
        : ((await import(/* @vite-ignore */ /* webpackIgnore: true */ String(url))) as { default: CreateModule });
    return module.default as CreateModule;
  }
  const address = url === undefined ? classicFallback() : String(url);
  if (!address) throw new Error("the place of fallback.classic.js is unknown: give init({fallbackUrl})");
  const page = globalThis as { posencFallback?: CreateModule };
  if (page.posencFallback === undefined) await runScript(address);
  if (page.posencFallback === undefined) throw new Error(`${address} is not the plain-JavaScript build`);
  return page.posencFallback;
}

// What the script's address says of its version holds for the file beside it.
function classicFallback(): string | undefined {
  return ownScript ? new URL(`fallback.classic.js${new URL(ownScript).search}`, ownScript).href : undefined;
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

/** An address of a script of this package as pages with trusted types want it. */
export function trustedUrl(address: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  return trustedTypes?.createPolicy("posenc", { createScriptURL: (url) => url }).createScriptURL(address) ?? address;
}

function runScript(address: string): Promise<void> {
  if (typeof document === "undefined") {
    (globalThis as unknown as { importScripts(url: string): void }).importScripts(trustedUrl(address));
    return Promise.resolve();
  }
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = trustedUrl(address);
    script.onload = () => resolve();
    script.onerror = () => reject(new Error(`${address} could not be loaded`));
    document.head.append(script);
  });
}

// ---------------------------------------------------------------- frames

/** Bytes that one call may move in and out: more is `too-large`, in both builds alike. */
export const kMaxBytes = 2 ** 31 - 2 ** 26;

// An instance that has grown past this is let go after the call, for its memory never shrinks.
const kKeptBytes = 2 ** 29;

/** A block of the frame: its place is known only when the frame runs. */
export interface Place {
  readonly head: boolean; // among the cells, else among the data
  readonly offset: number; // bytes
}

export type Elements = Float32Array | Float64Array | Int32Array | Uint8Array;

/** Doubles `start`, `start` + 1 …: written down in the heap alone, for a browser is slow to make arrays. */
export class CountUp {
  readonly BYTES_PER_ELEMENT = 8;
  constructor(
    readonly start: number,
    readonly length: number,
  ) {}
}

/** The cells of one scheme, as scheme.ts holds them. */
export interface SpecCells {
  readonly index: number;
  readonly cells: readonly number[];
  readonly tables: readonly (
    { readonly shape: readonly number[]; readonly data: Float32Array | Float64Array } | undefined
  )[];
}

/** What a field of a call's block may hold. */
export type FieldValue = number | boolean | Place | undefined;

/**
 * One call: what goes in, where results lie, and the run. Everything is gathered first and moved in at once, so that
 * the caller's own code (getters, iterators) never runs while the heap is in use.
 */
export class Frame {
  readonly #subject: string;
  #cells = spareCells ?? new Float64Array(256);
  #count = 0; // cells in use
  readonly #places = new Map<number, Place>(); // of cells that hold an address, known only when the frame runs
  readonly #inputs: {
    readonly array: Elements | CountUp;
    readonly argument: string;
    readonly count: number;
    readonly offset: number;
  }[] = [];
  #dataBytes = 0;
  #dataStart = 0;
  #block = 0;
  #call: CallLayout | undefined;
  readonly #part: Part;
  #ran: Running | undefined;

  /** `part` is the module that has the call; the core where it is not said. */
  constructor(subject: string, part: Part = core) {
    this.#subject = subject;
    this.#part = part;
    spareCells = undefined;
  }

  /**
   * An array to be copied in: `count` elements, as its shape was read. Code of the caller's that ran since may have
   * taken its buffer away: then it is `detached`, here and again when the frame runs.
   */
  input(array: Elements | CountUp, argument: string, count: number): Place {
    this.#refuseShrunk(array, argument, count);
    const place = this.output(count * array.BYTES_PER_ELEMENT);
    this.#inputs.push({ array, argument, count, offset: place.offset });
    return place;
  }

  /** An array to be copied in, or nothing. */
  inputIf(array: Elements | undefined, argument: string, count: number): Place | undefined {
    return array === undefined ? undefined : this.input(array, argument, count);
  }

  #refuseShrunk(array: Elements | CountUp, argument: string, count: number): void {
    if (array.length === count) return;
    const allowed = `an array that keeps its ${count} elements during the call`;
    const given = `one of ${array.length}`;
    throw refusal({ code: "detached", subject: this.#subject, argument, allowed, given });
  }

  /** Room for a result. */
  output(bytes: number): Place {
    const offset = this.#dataBytes;
    this.#dataBytes += Math.ceil(bytes / 16) * 16;
    return { head: false, offset };
  }

  /** The spec block of one scheme. */
  scheme(spec: SpecCells): Place {
    const headers = spec.tables.map((table) => {
      if (table === undefined) return undefined;
      const [d0 = 0, d1 = 0, d2 = 0] = table.shape;
      return this.#pushCells([table.shape.length, d0, d1, d2, this.input(table.data, "a table", table.data.length)]);
    });
    return this.#pushCells([spec.index, ...spec.cells.map((cell, i) => headers[i] ?? cell)]);
  }

  /** The block of a list of schemes; nothing for an empty list. */
  schemes(specs: readonly SpecCells[]): Place | undefined {
    if (specs.length === 0) return undefined;
    const places = specs.map((spec) => this.scheme(spec));
    return this.#pushCells([specs.length, ...places]);
  }

  // Room for some cells, by the index of the first.
  #take(count: number): number {
    const start = this.#count;
    this.#count += count;
    if (this.#count > this.#cells.length) {
      const more = new Float64Array(2 * this.#count);
      more.set(this.#cells);
      this.#cells = more;
    }
    return start;
  }

  #put(cell: number, value: FieldValue): void {
    if (typeof value === "object") {
      this.#places.set(cell, value);
    } else {
      this.#cells[cell] = typeof value === "number" ? value : value === true ? 1 : 0;
    }
  }

  #pushCells(values: readonly FieldValue[]): Place {
    const start = this.#take(values.length);
    for (const [i, value] of values.entries()) this.#put(start + i, value);
    return { head: true, offset: start * 8 };
  }

  /** The block of a call, for another call that reads it. */
  block(name: string, values: Readonly<Record<string, FieldValue>>): Place {
    return this.#pushFields(this.#layout(current(this.#part), name), name, values);
  }

  #layout({ calls }: Running, name: string): CallLayout {
    const call = calls.get(name);
    if (call === undefined) throw internal(this.#subject, `no call ${name}`);
    return call;
  }

  #pushFields({ fields, cells }: CallLayout, name: string, values: Readonly<Record<string, FieldValue>>): Place {
    const start = this.#take(fields.length);
    let missing = fields.length;
    let next = 0; // most objects follow the block: then no field is looked for
    // Engines find values quickly in the order that the object has them, and slowly in any other.
    for (const field in values) {
      const cell = fields[next] === field ? next : cells.get(field);
      if (cell === undefined) continue;
      next = cell + 1;
      this.#put(start + cell, values[field]);
      missing--;
    }
    if (missing !== 0) {
      throw internal(this.#subject, `${name} needs ${String(fields.filter((field) => !(field in values)))}`);
    }
    return { head: true, offset: start * 8 };
  }

  /** Runs the call of calls.def with its fields given by name; a refusal by the core is thrown as PosencError. */
  run(name: string, values: Readonly<Record<string, FieldValue>>): this {
    for (const { array, argument, count } of this.#inputs) this.#refuseShrunk(array, argument, count);
    const running = current(this.#part);
    this.#call = this.#layout(running, name);
    this.#block = this.#pushFields(this.#call, name, values).offset;
    const dataAt = Math.ceil(this.#count / 2) * 16;
    const base = reserve(running, this.#subject, dataAt + this.#dataBytes);
    this.#dataStart = base + dataAt;
    for (const [cell, { head, offset }] of this.#places) this.#cells[cell] = offset + (head ? base : this.#dataStart);

    const { heap } = running.instance;
    heap.f64.set(this.#cells.subarray(0, this.#count), base / 8);
    spareCells = this.#cells;
    for (const { array, offset } of this.#inputs) {
      const size = array.BYTES_PER_ELEMENT;
      const at = (this.#dataStart + offset) / size;
      if (array instanceof CountUp) {
        const { f64 } = heap;
        for (let n = 0; n < array.length; n++) f64[at + n] = array.start + n;
        continue;
      }
      const view = size === 8 ? heap.f64 : size === 1 ? heap.u8 : array instanceof Int32Array ? heap.i32 : heap.f32;
      view.set(array, at);
    }
    this.#block += base;
    this.#ran = running;
    return this.again({});
  }

  /** Runs the same call again, with other values of some fields. */
  again(values: Readonly<Record<string, number>>): this {
    const { instance, part } = this.#ran!;
    const { f64 } = instance.heap;
    for (const field of Object.keys(values)) f64[this.#cell(field)] = values[field]!;
    const stack = instance.stackSave();
    let code: number;
    try {
      code = instance.posenc_call(this.#call!.index, this.#block);
    } catch (error) {
      part.running = undefined;
      throw trapped(this.#subject, instance, error);
    }
    instance.stackRestore(stack);
    if (instance.heap.u8.length > kKeptBytes) part.running = undefined;
    if (code !== 0) throw refused(this.#subject, textAt(instance, instance.posenc_text()));
    return this;
  }

  /** The JSON that the call left. */
  json(): unknown {
    const { instance } = this.#ran!;
    return JSON.parse(textAt(instance, instance.posenc_text()));
  }

  #cell(field: string): number {
    return this.#block / 8 + this.#call!.cells.get(field)!;
  }

  /** A field of the block after the run: calls may answer in it. */
  answer(field: string): number {
    return this.#ran!.instance.heap.f64[this.#cell(field)]!;
  }

  /** A result, copied into `out`, from its element `at` on, or into a new array. */
  float32(place: Place, count: number, out?: Float32Array, at?: number): Float32Array<ArrayBuffer> {
    return this.#out("f32", place, count, out, at) as Float32Array<ArrayBuffer>;
  }

  float64(place: Place, count: number, out?: Float64Array, at?: number): Float64Array<ArrayBuffer> {
    return this.#out("f64", place, count, out, at) as Float64Array<ArrayBuffer>;
  }

  /** Doubles that the call left elsewhere, at an address of its answer. */
  float64At(address: number, count: number): Float64Array<ArrayBuffer> {
    return this.float64({ head: false, offset: address - this.#dataStart }, count);
  }

  int32(place: Place, count: number): Int32Array<ArrayBuffer> {
    return this.#out("i32", place, count) as Int32Array<ArrayBuffer>;
  }

  uint8(place: Place, count: number): Uint8Array<ArrayBuffer> {
    return this.#out("u8", place, count) as Uint8Array<ArrayBuffer>;
  }

  #out(kind: keyof Heap, place: Place, count: number, out?: Elements, at?: number): Elements {
    const heap = this.#ran!.instance.heap[kind];
    const start = (this.#dataStart + place.offset) / heap.BYTES_PER_ELEMENT;
    const part = heap.subarray(start, start + count);
    if (out !== undefined) {
      // Not out.set: the caller may have overridden it.
      kSet.call(out, part, at);
      return out;
    }
    try {
      return part.slice();
    } catch (error) {
      throw outOfMemory(this.#subject, `${part.byteLength} bytes`, error);
    }
  }
}

// The cells of a frame that has run serve the next one: an array of this size is slower to make than to fill.
let spareCells: Float64Array | undefined;

const kSet = (Object.getPrototypeOf(Uint8Array) as { prototype: Uint8Array }).prototype.set as (
  this: Elements,
  from: ArrayLike<number>,
  at?: number,
) => void;

// One growing block; calls overwrite it from its start.
function reserve(running: Running, subject: string, bytes: number): number {
  if (bytes <= running.capacity) return running.arena;
  if (!(bytes <= kMaxBytes)) {
    throw refusal({
      code: "too-large",
      subject,
      argument: "arguments and results",
      allowed: `at most ${kMaxBytes} bytes together`,
      given: String(bytes),
    });
  }
  const { instance } = running;
  if (running.block !== 0) instance.free(running.block);
  running.block = 0;
  running.capacity = 0;
  const wanted = Math.ceil(bytes / 65536) * 65536;
  let address = 0;
  let cause: unknown;
  try {
    address = instance.malloc(wanted + 16) >>> 0;
  } catch (error) {
    cause = error;
  }
  if (address === 0) {
    running.part.running = undefined;
    throw outOfMemory(subject, `${bytes} bytes`, cause);
  }
  running.block = address;
  running.arena = Math.ceil(address / 16) * 16;
  running.capacity = wanted;
  return running.arena;
}

// ---------------------------------------------------------------- what goes wrong

function internal(subject: string, what: string, cause?: unknown): PosencError {
  return refusal(
    { code: "internal", subject, argument: "", allowed: `internal fault, ${what}`, given: "" },
    undefined,
    { cause },
  );
}

function outOfMemory(subject: string, given: string, cause?: unknown): PosencError {
  return refusal(
    {
      code: "out-of-memory",
      subject,
      argument: "arguments and results",
      allowed: "small enough for this machine's memory",
      given,
    },
    undefined,
    { cause },
  );
}

function trapped(subject: string, instance: Instance, cause: unknown): PosencError {
  const why = cause instanceof Error ? cause.message : String(cause);
  // The core never aborts by itself, but its library does where `new` finds no memory.
  const exhausted = /memory|OOM|alloc|abort/i.test(why) || instance.heap.u8.length > kMaxBytes;
  return exhausted
    ? outOfMemory(subject, `${instance.heap.u8.length} bytes`, cause)
    : internal(subject, `the core stopped (${why})`, cause);
}

function refused(subject: string, json: string): PosencError {
  try {
    const said = JSON.parse(json) as {
      code: ErrorCode;
      subject: string;
      argument: string;
      allowed: string;
      given: string;
    };
    // Schemes speak for themselves. Functions of the core may serve another, which is the one that the user called.
    const ofScheme = catalogue().some(({ name }) => name === said.subject);
    return refusal({ ...said, subject: ofScheme ? said.subject : subject });
  } catch (error) {
    return internal(subject, `the core said ${printed(json)}`, error);
  }
}

// ---------------------------------------------------------------- the self-test

// Positions 0, 3 and 2^40 in four columns, and the natural logarithms of 1 ... 10: known beforehand, not computed here.
const kTable = [
  0, 1, 0, 1, 0.14112, -0.9899925, 0.0299955, 0.99955, -0.405705, -0.9140041, 0.152307, -0.9883332,
];
const kLogarithms = [
  0, 0.69314718, 1.0986123, 1.3862944, 1.6094379, 1.7917595, 1.9459101, 2.0794415, 2.1972246, 2.3025851,
];

// A table of sines and a causal attention whose scores are logarithms of small integers: together they pass through the
// vector loops that every result comes from.
function selfTest(): void {
  const near = (value: number | undefined, expected: number): boolean => Math.abs(value! - expected) <= 4e-7;
  const index = schemeIndex("embed", "sinusoidal");
  const cells = catalogue()[index]!.params.map((param) => (param === "dim" ? 4 : NaN));

  const tableFrame = new Frame("posenc");
  const table = tableFrame.output(4 * 12);
  tableFrame.run("encode", {
    scheme: tableFrame.scheme({ index, cells, tables: cells.map(() => undefined) }),
    positions: tableFrame.input(Float64Array.of(0, 3, 2 ** 40), "positions", 3),
    axes: 1,
    tokens: 3,
    length: 0,
    float64: false,
    out: table,
  });
  const got = tableFrame.float32(table, 12);
  if (!kTable.every((value, i) => near(got[i], value))) throw new Error("the self-test's table is wrong");

  // q . k_j = ln(j + 1), so query i gives key j the weight (j + 1) / sum; v_j = 1 / (j + 1) makes every term 1 / sum.
  const count = kLogarithms.length;
  const q = new Float32Array(count * 4).map((_, i) => (i % 4 === 0 ? 1 : 0));
  const k = new Float32Array(count * 4).map((_, i) => (i % 4 === 0 ? kLogarithms[i / 4]! : i));
  const v = new Float32Array(count * 4).map((_, i) => 1 / (Math.floor(i / 4) + 1));
  const frame = new Frame("posenc");
  const order = frame.input(
    Float64Array.from(kLogarithms, (_, t) => t),
    "order",
    count,
  );
  const out = frame.output(count * 16);
  frame.run("attention", {
    ...Object.fromEntries(core.calls!.get("attention")!.fields.map((field) => [field, 0])),
    q: frame.input(q, "q", count * 4),
    k: frame.input(k, "k", count * 4),
    v: frame.input(v, "v", count * 4),
    batch: 1,
    heads: 1,
    kv_heads: 1,
    queries: count,
    keys: count,
    width: 4,
    value_width: 4,
    query_positions: order,
    query_axes: 1,
    key_positions: order,
    key_axes: 1,
    scale: 1,
    causal: true,
    window_left: Infinity,
    window_right: Infinity,
    out,
    lse: frame.output(count * 4),
  });
  const rows = frame.float32(out, count * 4);
  for (let i = 0; i < rows.length; i++) {
    const t = Math.floor(i / 4);
    if (!near(rows[i], 2 / (t + 2))) throw new Error("the self-test's attention is wrong");
  }
}
