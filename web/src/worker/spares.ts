// Buffers that have been to another thread and came back: filling them again costs a fifth of filling fresh memory.
const kLeast = 2 ** 16; // bytes of a buffer worth keeping
const kMost = 2 ** 26; // bytes kept in all
const kIdle = 1000; // milliseconds without work after which they are let go

const spares = new Map<number, ArrayBuffer[]>();
let held = 0;
let idle: ReturnType<typeof setTimeout> | undefined;

/** A buffer of so many bytes, whatever they are. */
export function bufferOf(bytes: number): ArrayBuffer {
  const spare = spares.get(bytes)?.pop();
  if (spare === undefined) return new ArrayBuffer(bytes);
  held -= bytes;
  return spare;
}

/** A copy of bytes. */
export function copyOf(bytes: Uint8Array): ArrayBuffer {
  const copy = bufferOf(bytes.length);
  new Uint8Array(copy).set(bytes);
  return copy;
}

/** True for a buffer that should come back. */
export function isWorthKeeping({ byteLength }: { readonly byteLength: number }): boolean {
  return byteLength >= kLeast;
}

/** Keeps a buffer that nobody else has. */
export function keep(buffer: ArrayBuffer): void {
  const { byteLength } = buffer;
  if (!isWorthKeeping(buffer) || held + byteLength > kMost) return;
  held += byteLength;
  const same = spares.get(byteLength);
  if (same === undefined) spares.set(byteLength, [buffer]);
  else same.push(buffer);
}

/** Whether there is work: without, what is kept is let go after a while. */
export function setWorking(working: boolean): void {
  clearTimeout(idle);
  idle = undefined;
  if (working) return;
  idle = setTimeout(() => {
    spares.clear();
    held = 0;
  }, kIdle);
  (idle as { unref?(): void }).unref?.(); // nothing to wait for
}
