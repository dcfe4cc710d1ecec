// posenc/files: files written by another's hand read back; what is written is what the formats say; and no file,
// however broken, does more than be refused.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type RangeReader,
  readNpy,
  readSafetensors,
  safetensorsHeader,
  toCsv,
  toNpy,
  toSafetensors,
} from "../../../web/src/files.js";
import {
  PosencError,
  Tensor,
  attention,
  encode,
  fromJSON,
  randomNormal,
  schemes,
  shaw,
  sinusoidal,
  tensor,
} from "../../../web/src/index.js";

interface Written {
  readonly name: string;
  readonly file: string;
  readonly tensors: Record<string, { dtype: string; shape: number[]; values: (number | string)[] }>;
}

const kFolder = join(import.meta.dirname, "../../golden/files");
const files = JSON.parse(readFileSync(join(kFolder, "files.json"), "utf8")) as Written[];
const bytesOf = ({ file }: Written): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(file, "base64"));
const found = (name: string): Uint8Array<ArrayBuffer> => bytesOf(files.find((file) => file.name === name)!);

function check(read: Tensor, { dtype, shape, values }: Written["tensors"][string]): void {
  expect(read).toBeInstanceOf(Tensor);
  expect([read.dtype, read.shape]).toEqual([dtype, shape]);
  expect(Array.from(read.data)).toEqual(values.map(Number)); // toEqual tells -0 from 0
}

// A reader over bytes that keeps what was asked for.
function reader(bytes: Uint8Array, later = true): RangeReader & { asked: [number, number][] } {
  const asked: [number, number][] = [];
  return {
    asked,
    size: bytes.length,
    read(start, end) {
      asked.push([start, end]);
      const part = bytes.slice(start, end);
      return later ? Promise.resolve(part.buffer) : part;
    },
  };
}

// A safetensors file of any header and data.
function safetensors(header: unknown, data: Uint8Array | number = 0): Uint8Array {
  const text = typeof header === "string" ? header : JSON.stringify(header);
  const head = Buffer.alloc(8);
  const body = Buffer.from(text, "utf8");
  head.writeBigUInt64LE(BigInt(body.length));
  return new Uint8Array(Buffer.concat([head, body, typeof data === "number" ? Buffer.alloc(data) : data]));
}

function npy(text: string, data: Uint8Array | number = 0, version = 1): Uint8Array {
  const body = Buffer.from(`${text}\n`, "latin1");
  const head = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0, body.length & 255, body.length >> 8, 0, 0]);
  const parts = [head.subarray(0, version === 1 ? 10 : 12), body, typeof data === "number" ? Buffer.alloc(data) : data];
  return new Uint8Array(Buffer.concat(parts));
}

function refusalOf(attempt: () => unknown): PosencError {
  try {
    attempt();
  } catch (error) {
    expect(error).toBeInstanceOf(PosencError);
    return error as PosencError;
  }
  throw new Error("not refused");
}

const kHasPython = spawnSync("python3", ["--version"]).status === 0;

describe("files by another's hand", () => {
  it.skipIf(!kHasPython)("are what their script writes", () => {
    const folder = mkdtempSync(join(tmpdir(), "posenc-files-"));
    try {
      const fresh = join(folder, "files.json");
      const { status, stderr } = spawnSync("python3", [join(kFolder, "write_files.py"), fresh], { encoding: "utf8" });
      expect(stderr).toBe("");
      expect(status).toBe(0);
      expect(readFileSync(fresh, "utf8")).toBe(readFileSync(join(kFolder, "files.json"), "utf8"));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.each(files)("$name: from bytes, a Blob and a reader", async (written) => {
    const bytes = bytesOf(written);
    const names = Object.keys(written.tensors);
    if (written.name.endsWith(".npy")) {
      check(readNpy(bytes), written.tensors[""]!);
      check(await readNpy(new Blob([bytes])), written.tensors[""]!);
      check(await readNpy(reader(bytes)), written.tensors[""]!);
      return;
    }
    const all = [
      readSafetensors(bytes),
      readSafetensors(bytes.buffer),
      await readSafetensors(new Blob([bytes])),
      await readSafetensors(new File([bytes], "model.safetensors")),
      await readSafetensors(reader(bytes)),
      await readSafetensors(reader(bytes, false)),
    ];
    for (const tensors of all) {
      expect(Object.keys(tensors)).toEqual(names);
      for (const name of names) check(tensors[name]!, written.tensors[name]!);
    }
  });

  it("are read at any alignment, from views, shared memory and node's buffers, and copied", () => {
    const bytes = found("<f4 v1.npy");
    for (let shift = 0; shift < 8; shift++) {
      const around = new Uint8Array(bytes.length + 16);
      around.set(bytes, shift);
      check(
        readNpy(around.subarray(shift, shift + bytes.length)),
        files.find(({ name }) => name === "<f4 v1.npy")!.tensors[""]!,
      );
    }
    const shared = new SharedArrayBuffer(bytes.length);
    new Uint8Array(shared).set(bytes);
    const read = [readNpy(shared), readNpy(Buffer.from(bytes)), readNpy(new DataView(bytes.buffer))];
    bytes.fill(0);
    for (const { data } of read) expect(data[3]).toBe(7.25);
  });

  it("tell what they hold by their header alone", async () => {
    const bytes = found("every type.safetensors");
    const source = reader(bytes);
    const { tensors, metadata } = await safetensorsHeader(source);
    expect({ ...metadata }).toEqual({ format: "pt", "made by": "hand" });
    expect(tensors.brain).toEqual({ dtype: "BF16", shape: [3, 2], bytes: 12 });
    expect(tensors.empty).toEqual({ dtype: "F32", shape: [0, 4], bytes: 0 });
    const end = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true));
    expect(source.asked).toEqual([
      [0, 8],
      [8, end],
    ]);
    expect(safetensorsHeader(bytes).tensors).toEqual(tensors);
  });

  it("give only what is asked for, in that order", async () => {
    const bytes = found("every type.safetensors");
    const source = reader(bytes);
    const read = await readSafetensors(source, { names: ["brain", "h.0.bias"] });
    expect(Object.keys(read)).toEqual(["brain", "h.0.bias"]);
    const asked = source.asked.slice(2).map(([start, end]) => end - start);
    expect(asked).toEqual([12, 16]);
    expect(Object.keys(readSafetensors(bytes, { names: [] }))).toEqual([]);
    expect(Object.keys(readSafetensors(bytes, { names: ["__proto__"] }))).toEqual(["__proto__"]);
  });
});

describe("a file of two gigabytes", () => {
  it("is never held: a table in its middle takes its own bytes", async () => {
    const hole = 2 ** 31;
    const header = {
      a: { dtype: "U8", shape: [hole], data_offsets: [0, hole] },
      wpe: { dtype: "BF16", shape: [4, 8], data_offsets: [hole, hole + 64] },
      b: { dtype: "U8", shape: [hole], data_offsets: [hole + 64, 2 * hole + 64] },
    };
    const head = safetensors(header);
    const asked: number[] = [];
    const source: RangeReader = {
      size: head.length + 2 * hole + 64,
      read(start, end) {
        asked.push(end - start);
        return start < head.length ? head.slice(start, end) : new Uint8Array(end - start).fill(0x3f);
      },
    };
    const { wpe } = await readSafetensors(source, { names: ["wpe"] });
    expect(wpe!.shape).toEqual([4, 8]);
    expect(wpe!.at(3, 7)).toBe(0.74609375); // 0x3f3f0000
    expect(asked.reduce((sum, size) => sum + size, 0)).toBe(head.length + 64);
    await expect(readSafetensors(source)).rejects.toMatchObject({ code: "too-large", argument: 'tensor "a"' });
  });

  it("is read in pieces where one tensor is large", async () => {
    const size = 3 * 2 ** 21 + 5;
    const head = safetensors({ t: { dtype: "F16", shape: [size], data_offsets: [0, 2 * size] } });
    let most = 0;
    const source: RangeReader = {
      size: head.length + 2 * size,
      read(start, end) {
        most = Math.max(most, end - start);
        if (start < head.length) return head.slice(start, end);
        const part = new Uint8Array(end - start);
        for (let i = 0; i < part.length; i += 2) part[i + 1] = (start - head.length + i) / 2 === size - 1 ? 0x3c : 0;
        return part;
      },
    };
    const { t } = await readSafetensors(source);
    expect(most).toBeLessThanOrEqual(2 ** 22);
    expect([t!.size, t!.at(-1), t!.at(-2), t!.at(2 ** 21)]).toEqual([size, 1, 0, 0]);
  });
});

describe("half precision", () => {
  it("widens exactly: all 65,536 of both kinds", () => {
    const all = Uint16Array.from({ length: 65536 }, (_, i) => i);
    const raw = new Uint8Array(all.buffer);
    const entry = (dtype: string): object => ({ x: { dtype, shape: [65536], data_offsets: [0, 131072] } });
    const brain = readSafetensors(safetensors(entry("BF16"), raw)).x!.data;
    const half = readSafetensors(safetensors(entry("F16"), raw)).x!.data;
    const view = new DataView(new ArrayBuffer(4));
    for (let bits = 0; bits < 65536; bits++) {
      view.setUint16(0, bits);
      view.setUint16(2, 0);
      expect(Object.is(brain[bits], view.getFloat32(0)), bits.toString(16)).toBe(true);
      // IEEE 754's own words: (-1)^s 2^(e - 15) (1 + f / 1024).
      const [s, e, f] = [bits >> 15, (bits >> 10) % 32, bits % 1024];
      const size =
        e === 31 ? (f === 0 ? Infinity : NaN) : e === 0 ? 2 ** -14 * (f / 1024) : 2 ** (e - 15) * (1 + f / 1024);
      expect(Object.is(half[bits], s === 1 ? -size : size), bits.toString(16)).toBe(true);
    }
  });
});

describe("a malformed file", () => {
  const entry = (begin: number, end: number, more: object = {}): object => ({
    dtype: "F32",
    shape: [(end - begin) / 4],
    data_offsets: [begin, end],
    ...more,
  });
  const text = (begin: number, end: number): string => JSON.stringify(entry(begin, end));
  const deep = `{"a":${"[".repeat(100_000)}`;
  it.each<[string, Uint8Array, RegExp]>([
    ["is empty", new Uint8Array(0), /the file must be of at least 8 bytes.*got 0/],
    ["ends in its length", new Uint8Array(7), /at least 8 bytes/],
    [
      "says a longer header",
      Uint8Array.of(9, 0, 0, 0, 0, 0, 0, 0, 0x7b),
      /length in bytes 0 to 7 must be at most 1, got 9/,
    ],
    ["says a header past 2^53", new Uint8Array(16).fill(255, 0, 8), /at most 8, got 18446744073709551615/],
    ["is not JSON", safetensors("{"), /header from byte 8 must be a JSON object in UTF-8, got a text that is no JSON$/],
    ["is no UTF-8", new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0, 0xff, 0x7d]), /header from byte 8 .* that are no UTF-8$/],
    ["begins with a blank", safetensors(" {}"), /header's first byte, 8, must be the object's \{, got a blank/],
    ["begins with a line's end", safetensors("\n{}"), /header's first byte, 8, must be the object's \{/],
    [
      "has a name twice",
      safetensors(`{"a":${text(0, 4)},"b":${text(4, 8)},"a":${text(0, 4)}}`, 8),
      /header must be of distinct names in each object, got "a" twice/,
    ],
    [
      "has a name twice, once in escapes",
      safetensors(`{"a:{":${text(0, 4)},"\\u0061:{":${text(0, 4)}}`, 4),
      /got "a:\{" twice/,
    ],
    [
      "has a field twice",
      safetensors('{"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 4),
      /got "dtype" twice/,
    ],
    ["has metadata twice", safetensors('{"__metadata__":{},"__metadata__":{}}'), /got "__metadata__" twice/],
    ["has a note twice", safetensors('{"__metadata__":{"\\"":"b:","\\"":"c"}}'), /got "\\"" twice/],
    ["has __proto__ twice", safetensors('{"__metadata__":{"__proto__":"b","__proto__":"c"}}'), /got "__proto__" twice/],
    ["is a list", safetensors("[]"), /header from byte 8 must be a JSON object, got an array/],
    ["nests", safetensors(deep), /nested at most 3 deep.*byte 15/],
    ["has no dtype", safetensors({ a: { shape: [], data_offsets: [0, 0] } }), /tensor "a"'s dtype/],
    ["has no entry", safetensors({ a: null }), /tensor "a"'s dtype/],
    ["has no shape", safetensors({ a: { dtype: "F32", data_offsets: [0, 0] } }), /tensor "a"'s shape/],
    ["has a negative length", safetensors({ a: entry(0, 4, { shape: [-1] }) }, 4), /tensor "a"'s shape/],
    ["has a broken length", safetensors({ a: entry(0, 4, { shape: [0.5, 2] }) }, 4), /tensor "a"'s shape/],
    ["has a text for a length", safetensors({ a: entry(0, 4, { shape: ["1"] }) }, 4), /tensor "a"'s shape/],
    ["has one offset", safetensors({ a: entry(0, 4, { data_offsets: [0] }) }, 4), /tensor "a"'s data_offsets/],
    [
      "ends before it begins",
      safetensors({ a: entry(4, 0, { shape: [1] }) }, 4),
      /tensor "a"'s data_offsets.*got \[4, 0\]/,
    ],
    ["leaves the file", safetensors({ a: entry(0, 8) }, 4), /begin <= end <= 4, got \[0, 8\]/],
    ["leaves the file by far", safetensors({ a: entry(0, 2 ** 60, { shape: [1] }) }, 4), /data_offsets/],
    [
      "has the wrong size",
      safetensors({ a: entry(0, 8, { shape: [3] }) }, 8),
      /12 bytes long for F32 of shape \[3\], got 8/,
    ],
    ["has a size past all", safetensors({ a: entry(0, 4, { shape: [2 ** 40, 2 ** 40] }) }, 4), /data_offsets/],
    ["overlaps", safetensors({ a: entry(0, 8), b: entry(4, 12) }, 12), /tensor "b"'s data_offsets must be from byte 8/],
    [
      "holds one twice",
      safetensors({ a: entry(0, 8), b: entry(0, 8) }, 8),
      /tensor "b"'s data_offsets must be from byte 8/,
    ],
    [
      "has a hole",
      safetensors({ a: entry(0, 4), b: entry(8, 12) }, 12),
      /tensor "b"'s data_offsets must be from byte 4/,
    ],
    ["has bytes left over", safetensors({ a: entry(0, 4) }, 5), /the file must be of \d+ bytes/],
    [
      "names one twice",
      safetensors(
        '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}',
        2,
      ),
      /got "a" twice/,
    ],
    ["notes a number", safetensors({ __metadata__: { a: 1 } }), /__metadata__ "a" must be a text, got 1/],
    ["notes a list", safetensors({ __metadata__: [] }), /__metadata__/],
  ])("of safetensors that %s is refused, saying where", (_, bytes, message) => {
    for (const attempt of [() => readSafetensors(bytes), () => safetensorsHeader(bytes)]) {
      const error = refusalOf(attempt);
      expect(error.code).toBe("invalid-file");
      expect(error.message).toMatch(message);
    }
  });

  it("of too many parts is refused before it is built", () => {
    const error = refusalOf(() => readSafetensors(safetensors(`{"a":[${"0,".repeat(2 ** 23)}0]}`)));
    expect(error).toMatchObject({ code: "invalid-file", argument: "the header" });
  });

  const dict = (descr: string, shape: string, more = ""): string =>
    `{'descr': ${descr}, 'fortran_order': False, 'shape': ${shape}${more}}`;
  it.each<[string, Uint8Array, RegExp]>([
    ["is empty", new Uint8Array(0), /at least 10 bytes/],
    ["is another kind", new Uint8Array(80), /begins with/],
    ["is of version 4", npy(dict("'<f4'", "()"), 4, 4), /bytes 6 and 7 must be 1.0, 2.0 or 3.0, got 4.0/],
    ["ends in its header", npy(dict("'<f4'", "()"), 4).subarray(0, 30), /length in bytes 8 to 9 must be at most 20/],
    ["ends in its long length", npy("{}", 0, 2).subarray(0, 11), /at least 12 bytes/],
    [
      "says a huge header",
      Uint8Array.from([...npy("{}", 0, 2).subarray(0, 8), 255, 255, 255, 255, 0]),
      /bytes 8 to 11/,
    ],
    ["is no dict", npy("[]"), /the header at byte 10 must be {/],
    ["calls a function", npy("{'descr': f(), 'shape': ()}"), /the header at byte 19/],
    ["lacks a key", npy("{'descr': '<f4', 'shape': ()}", 4), /descr, fortran_order and shape/],
    ["has a strange key", npy(dict("'<f4'", "()", ", 'more': 1"), 4), /descr, fortran_order or shape, got "'more'/],
    ["goes on after its dict", npy(`${dict("'<f4'", "()")} + 1`, 4), /blanks to its end/],
    ["is not closed", npy("{'descr': '<f4', "), /header at byte/],
    ["has a number for a type", npy(dict("4", "()"), 4), /a quoted type, got "4/],
    ["has a text for a flag", npy("{'fortran_order': 'no'}"), /True or False/],
    ["has a number for a shape", npy(dict("'<f4'", "4"), 16), /must be \(/],
    ["has a shape in brackets only", npy(dict("'<f4'", "(4)"), 16), /a comma/],
    ["has a negative shape", npy(dict("'<f4'", "(-1,)"), 4), /header at byte/],
    ["has a shape past 2^53", npy(dict("'<f4'", "(99999999999999999999,)")), /whole numbers/],
    ["has no byte order", npy(dict("'f4'", "(1,)"), 4), /byte order, < or >/],
    ["has too little data", npy(dict("'<f4'", "(2,)"), 7), /must be 8 bytes for <f4 of shape \[2\], got 7/],
    ["has too much data", npy(dict("'<f4'", "(2,)"), 9), /got 9/],
    ["says more than all memory", npy(dict("'<f8'", "(99999999, 99999999)"), 8), /bytes for <f8/],
  ])("of npy that %s is refused, saying where", (_, bytes, message) => {
    const error = refusalOf(() => readNpy(bytes));
    expect(error.code).toBe("invalid-file");
    expect(error.message).toMatch(message);
  });

  it("that is whole but not for this package is unsupported", () => {
    for (const descr of ["'|O'", "'<c8'", "'<U5'", "'|S3'", "'<M8[ns]'", "[('a', '<f4')]", "'|V4'", "'<f16'"]) {
      expect(refusalOf(() => readNpy(npy(dict(descr, "(1,)"), 16))).code, descr).toBe("unsupported");
    }
    expect(refusalOf(() => readNpy(npy(dict("'<f4'", `(${"1, ".repeat(9)})`), 4))).code).toBe("unsupported");
    const bytes = safetensors(
      {
        fp8: { dtype: "F8_E4M3", shape: [4], data_offsets: [0, 4] },
        fp4: { dtype: "F4", shape: [8], data_offsets: [4, 8] },
        good: { dtype: "F32", shape: [1], data_offsets: [8, 12] },
      },
      12,
    );
    expect(refusalOf(() => readSafetensors(bytes))).toMatchObject({ code: "unsupported", argument: 'tensor "fp8"' });
    expect(refusalOf(() => readSafetensors(bytes, { names: ["fp4"] })).code).toBe("unsupported");
    expect(readSafetensors(bytes, { names: ["good"] }).good!.tolist()).toEqual([0]);
    expect(safetensorsHeader(bytes).tensors.fp4).toEqual({ dtype: "F4", shape: [8], bytes: 4 });
  });

  it("of whole numbers that no double holds is refused, not rounded", () => {
    const long = (value: bigint): Uint8Array => new Uint8Array(BigInt64Array.of(value).buffer);
    for (const value of [2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 62n]) {
      const error = refusalOf(() => readNpy(npy(dict("'<i8'", "(1,)"), long(value))));
      expect(error).toMatchObject({ code: "out-of-range", given: `${value}n` });
    }
    expect(refusalOf(() => readNpy(npy(dict("'<u8'", "(1,)"), long(-1n)))).given).toBe("18446744073709551615n");
  });

  it("never does more than be refused, cut or bent anywhere", () => {
    const cases = files
      .filter(({ name }) => /every type|v3|columns|old/.test(name))
      .map((file) => ({ file, bytes: bytesOf(file) }));
    const tried = { refused: 0, read: 0 };
    const attempt = ({ name }: Written, bytes: Uint8Array): void => {
      const before = process.memoryUsage().arrayBuffers;
      try {
        const tensors = name.endsWith(".npy") ? [readNpy(bytes)] : Object.values(readSafetensors(bytes));
        // What is read is no larger than the file can hold: an element takes a byte there and at most eight here.
        const held = tensors.reduce((sum, { data }) => sum + data.byteLength, 0);
        expect(held).toBeLessThanOrEqual(8 * bytes.length);
        tried.read++;
      } catch (error) {
        expect(error).toBeInstanceOf(PosencError);
        expect(["invalid-file", "unsupported", "out-of-range"]).toContain((error as PosencError).code);
        tried.refused++;
      }
      // Refused or read, no more memory is asked for than the file can hold; what is collected meanwhile is less.
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThanOrEqual(32 * bytes.length + 2 ** 16);
    };
    for (const { file, bytes } of cases)
      for (let end = 0; end < bytes.length; end++) attempt(file, bytes.subarray(0, end));
    const some = fc.constantFrom(...cases);
    const changes = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 2,
    });
    fc.assert(
      fc.property(some, changes, ({ file, bytes }, list) => {
        const bent = bytes.slice();
        for (const [where, value] of list) bent[Math.floor(where * (bent.length - 1))] = value;
        attempt(file, bent);
      }),
      { numRuns: 4000, seed: 5 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(...files), (noise, file) => attempt(file, noise)),
      { numRuns: 1000, seed: 6 },
    );
    // Headers of the right make and wrong numbers.
    const whole = fc.oneof(fc.integer({ min: -1, max: 40 }), fc.constantFrom(2 ** 31, 2 ** 53, 2 ** 60, 1e308, 0.5));
    const part = fc.record({
      dtype: fc.constantFrom("F32", "F64", "BOOL", "BF16", "I64", "X"),
      shape: fc.array(whole, { maxLength: 4 }),
      data_offsets: fc.tuple(whole, whole),
    });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), part), fc.nat(40), (header, size) =>
        attempt(files[0]!, safetensors(header, size)),
      ),
      { numRuns: 2000, seed: 7 },
    );
    expect(tried.refused).toBeGreaterThan(1000);
    expect(tried.read).toBeGreaterThan(25);
  });
});

describe("what is asked wrongly", () => {
  it("is said at once, or by the promise", async () => {
    const bytes = found("every type.safetensors");
    expect(refusalOf(() => readSafetensors("model.safetensors" as never))).toMatchObject({
      code: "not-a-number",
      argument: "file",
    });
    expect(refusalOf(() => readNpy(null as never)).argument).toBe("file");
    expect(refusalOf(() => readSafetensors({ size: -1, read: () => bytes })).argument).toBe("file.size");
    expect(refusalOf(() => readSafetensors(bytes, { name: ["a"] } as never))).toMatchObject({ code: "unknown-option" });
    expect(refusalOf(() => readSafetensors(bytes, { names: "half" as never })).argument).toBe("names");
    const missing = refusalOf(() => readSafetensors(bytes, { names: ["brain", "h.0.weigth"] }));
    expect(missing.code).toBe("unknown-choice");
    expect(missing.message).toContain('such as "h.0.weight", got "h.0.weigth"');
    await expect(readSafetensors(new Blob([bytes]), { names: ["no"] })).rejects.toMatchObject({
      code: "unknown-choice",
    });
    const detached = new Uint8Array(8);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    expect(refusalOf(() => readSafetensors(detached)).code).toBe("detached");
  });

  it("of a reader that gives other bytes, or fails", async () => {
    const short: RangeReader = { size: 100, read: () => new Uint8Array(3) };
    await expect(readSafetensors(short)).rejects.toMatchObject({ code: "invalid-file", argument: "file.read()" });
    const gone: RangeReader = { size: 100, read: () => Promise.reject(new Error("gone")) };
    await expect(readNpy(gone)).rejects.toThrow("gone");
    await expect(readNpy({ size: 100, read: () => "text" as never })).rejects.toMatchObject({ code: "invalid-file" });
  });
});

it("a header may have blanks behind it, the same names in several objects, and colons in its texts", () => {
  const entry = (begin: number): object => ({ dtype: "F32", shape: [1], data_offsets: [begin, begin + 4] });
  const text = JSON.stringify({ __metadata__: { a: '":{', b: "\\" }, a: entry(0), "b:": entry(4) });
  const { tensors, metadata } = safetensorsHeader(safetensors(`${text} \n  `, 8) as Uint8Array<ArrayBuffer>);
  expect(Object.keys(tensors)).toEqual(["a", "b:"]);
  expect({ ...metadata }).toEqual({ a: '":{', b: "\\" });
});

describe("what is written", () => {
  const some = {
    float32: tensor(randomNormal([3, 5], { seed: 1 })),
    float64: tensor([0.1, -0, NaN, Infinity, 5e-324], [5], "float64"),
    int32: tensor([[1, -(2 ** 31)]], undefined, "int32"),
    bool: tensor([[[true], [false]]]),
    scalar: tensor([2.5], []),
    empty: tensor(new Float32Array(0), [2, 0, 3]),
  };

  it.each(Object.entries(some))("reads back: %s", (_, array) => {
    const same = (read: Tensor): void => {
      expect([read.dtype, read.shape, read.data]).toEqual([array.dtype, array.shape, array.data]);
    };
    same(readNpy(toNpy(array)));
    same(readSafetensors(toSafetensors({ array })).array!);
  });

  it("is an npy file to the byte", () => {
    const text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    const file = Buffer.from(toNpy([1, -2]));
    expect(file.toString("latin1", 0, 128)).toBe(`\x93NUMPY\x01\x00\x76\x00${text.padEnd(117)}\n`);
    expect(file.subarray(128).toString("hex")).toBe("0000803f000000c0");
    expect(Buffer.from(toNpy(some.bool)).toString("latin1")).toContain(
      "'descr': '|b1', 'fortran_order': False, 'shape': (1, 2, 1)",
    );
    expect(Buffer.from(toNpy(some.scalar)).toString("latin1")).toContain("'shape': ()");
  });

  it("is a safetensors file to the byte: the widest first, aligned", () => {
    const file = toSafetensors(
      new Map([
        ["b", tensor([true])],
        ["a", tensor([1])],
        ["w", tensor([1], [1], "float64")],
      ]),
      { metadata: { made: "here" } },
    );
    const length = Number(new DataView(file.buffer).getBigUint64(0, true));
    expect(length % 8).toBe(0);
    expect(JSON.parse(Buffer.from(file.subarray(8, 8 + length)).toString())).toEqual({
      __metadata__: { made: "here" },
      w: { dtype: "F64", shape: [1], data_offsets: [0, 8] },
      a: { dtype: "F32", shape: [1], data_offsets: [8, 12] },
      b: { dtype: "BOOL", shape: [1], data_offsets: [12, 13] },
    });
    expect(Buffer.from(file.subarray(8 + length)).toString("hex")).toBe("000000000000f03f0000803f01");
    expect({ ...safetensorsHeader(file).metadata }).toEqual({ made: "here" });
    expect(Object.keys(readSafetensors(toSafetensors({})))).toEqual([]);
    for (const dtype of ["__proto__", "constructor", "F128"]) {
      const header = JSON.stringify({ a: { dtype, shape: [1], data_offsets: [0, 4] } });
      const bytes = Buffer.concat([Buffer.alloc(8), Buffer.from(header), Buffer.alloc(4)]);
      bytes.writeBigUInt64LE(BigInt(header.length));
      expect(() => readSafetensors(bytes), dtype).toThrow(expect.objectContaining({ code: "unsupported" }));
    }
    const odd = JSON.parse('{"__proto__": [1], "constructor": [2]}') as Record<string, number[]>;
    expect(Object.keys(readSafetensors(toSafetensors(odd))).sort()).toEqual(["__proto__", "constructor"]);
  });

  it("reads back whatever it was", () => {
    const shape = fc.array(fc.nat(4), { maxLength: 4 });
    const dtype = fc.constantFrom("float32", "float64", "int32", "bool");
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.tuple(shape, dtype, fc.nat(1000))), (made) => {
        const arrays: [string, Tensor][] = Object.entries(made)
          .filter(([name]) => name !== "__metadata__")
          .map(([name, [dims, kind, seed]]) => {
            const size = dims.reduce((a, b) => a * b, 1);
            const values = Float64Array.from({ length: size }, (_, i) => ((seed + i) * 2654435761) % 1e6);
            return [name, tensor(kind === "bool" ? values.map((x) => x % 2) : values, dims, kind as "float32")];
          });
        const read = readSafetensors(toSafetensors(new Map(arrays)));
        expect(Object.keys(read).sort()).toEqual(arrays.map(([name]) => name).sort());
        for (const [name, { dtype: kind, shape: dims, data }] of arrays) {
          expect([read[name]!.dtype, read[name]!.shape, read[name]!.data]).toEqual([kind, dims, data]);
          expect(readNpy(toNpy(read[name]!)).data).toEqual(data);
        }
      }),
      { numRuns: 100, seed: 9 },
    );
  });

  it("refuses what the format has no room for", () => {
    expect(refusalOf(() => toSafetensors({ __metadata__: [1] })).code).toBe("out-of-range");
    expect(refusalOf(() => toSafetensors(tensor([1]) as never)).argument).toBe("tensors");
    expect(refusalOf(() => toSafetensors({}, { metadata: { a: 1 } as never })).argument).toBe("metadata");
    expect(refusalOf(() => toCsv([[[1]]])).code).toBe("shape-mismatch");
    expect(refusalOf(() => toCsv([[1, 2]], { header: ["a"] })).code).toBe("shape-mismatch");
    expect(refusalOf(() => toCsv([1], { header: 3 as never })).argument).toBe("header");
    expect(refusalOf(() => toCsv([1], { headers: true } as never)).code).toBe("unknown-option");
  });
});

describe("comma-separated values", () => {
  it("are rows after RFC 4180", () => {
    expect(
      toCsv([
        [1, 0.1],
        [-2.5, 1e-7],
      ]),
    ).toBe("1,0.1\r\n-2.5,1e-7\r\n");
    expect(toCsv([1, 2])).toBe("1\r\n2\r\n");
    expect(toCsv([[1, 2]], { header: true })).toBe("0,1\r\n1,2\r\n");
    expect(toCsv([[1, 2, 3]], { header: ['a "b"', "c,d", "e\nf"] })).toBe('"a ""b""","c,d","e\nf"\r\n1,2,3\r\n');
    expect(toCsv([1], { header: [""] })).toBe('""\r\n1\r\n');
    expect(toCsv(tensor([[true, false]]))).toBe("true,false\r\n");
    expect(toCsv(tensor([0.1, -0, NaN, -Infinity, 1e21], undefined, "float64"))).toBe(
      "0.1\r\n-0\r\nNaN\r\n-Infinity\r\n1e+21\r\n",
    );
    expect(toCsv(tensor([2 ** 31 - 1], [1], "int32"))).toBe("2147483647\r\n");
    expect(toCsv(new Float32Array(0))).toBe("");
  });

  it("hold the shortest numbers that read back the same", () => {
    const bits = fc.integer({ min: 0, max: 2 ** 32 - 1 });
    fc.assert(
      fc.property(fc.array(bits, { minLength: 1, maxLength: 40 }), (list) => {
        const values = new Float32Array(Uint32Array.from(list).buffer);
        const lines = toCsv(values).split("\r\n").slice(0, -1);
        lines.forEach((line, i) => {
          const value = values[i]!;
          expect(Object.is(Math.fround(Number(line)), value), line).toBe(true);
          // No shorter decimal in the float's neighbourhood: the nearest of one digit less is another float.
          const digits = line
            .replace(/e.*/, "")
            .replace(/^-?0*\.?0*|[-.]/g, "")
            .replace(/0+$/, "").length;
          if (digits > 1 && Number.isFinite(value))
            expect(Math.fround(Number(value.toPrecision(digits - 1)))).not.toBe(value);
        });
      }),
      { numRuns: 300, seed: 3 },
    );
    expect(toCsv(Float32Array.of(0.1, 16777216, 3.4028234663852886e38, 1e-45))).toBe(
      "0.1\r\n16777216\r\n3.4028235e+38\r\n1e-45\r\n",
    );
    const table = encode(sinusoidal({ dim: 8 }), 16);
    const back = toCsv(table)
      .trim()
      .split("\r\n")
      .map((line) => line.split(",").map(Number));
    expect(tensor(back).data).toEqual(table.data);
  });
});

describe("a table out of a file", () => {
  // Schemes of the catalogue that take a learned table, by the option that takes it.
  const takers: [slot: string, name: string, options: object, table: string, shape: number[]][] = [
    ["relate", "shaw", { dim: 4, clip: 2, values: false }, "keys", [5, 4]],
    ["embed", "learned", {}, "table", [9, 4]],
    ["bias", "t5", { heads: 2, buckets: 8, maxDistance: 16 }, "weights", [8, 2]],
  ];
  it.each(takers.filter(([, name]) => schemes.some((known) => known.name === name)))(
    "serves %s %s, in float16 as widened",
    (slot, name, options, option, shape) => {
      const values = Array.from({ length: shape[0]! * shape[1]! }, (_, i) => (i % 7) / 4 - 0.75); // exact in float16
      const bits = (x: number): number => {
        // Whole quarters below 2: by their own table, so that nothing here widens what it is to check.
        const of: Record<string, number> = { "0": 0, "0.25": 0x3400, "0.5": 0x3800, "0.75": 0x3a00 };
        return of[String(Math.abs(x))]! | (x < 0 ? 0x8000 : 0);
      };
      const data = new Uint8Array(Uint16Array.from(values, bits).buffer);
      const header = { t: { dtype: "F16", shape, data_offsets: [0, data.length] } };
      const { t } = readSafetensors(safetensors(header, data));
      const make = (table: unknown): object => fromJSON({ slot: slot as "bias", name, ...options, [option]: table });
      expect(JSON.stringify(make(t))).toBe(JSON.stringify(make(tensor(values, shape))));
      expect([...(make(t) as Record<string, Tensor>)[option]!.data]).toEqual(values);
    },
  );

  it("is a scheme's table, to the last bit", () => {
    const keys = randomNormal([2, 5, 4], { seed: 3 });
    const { rel } = readSafetensors(toSafetensors({ rel: keys }));
    const [q, k, v] = [4, 5, 6].map((seed) => randomNormal([2, 7, 4], { seed })) as [Tensor, Tensor, Tensor];
    const run = (table: Tensor): Tensor =>
      attention(q, k, v, { relate: shaw({ dim: 4, clip: 2, keys: table, values: false }) }).out;
    expect(run(rel!).data).toEqual(run(keys).data);
    expect(run(readNpy(toNpy(keys))).data).toEqual(run(keys).data);
  });
});
