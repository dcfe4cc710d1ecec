// Packs the modules as web/src unpacks them: their code told apart (wasm-streams.ts), then four bytes of size and a raw
// LZMA stream (lzma.ts).
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { transform } from "esbuild";

const kRoot = join(import.meta.dirname, "..");
const kNice = [64, 96, 128, 192, 273];

function packer() {
  const source = join(kRoot, "web/pack.cpp");
  const program = join(kRoot, "build/pack/pack");
  if (!existsSync(program) || statSync(program).mtimeMs < statSync(source).mtimeMs) {
    mkdirSync(join(program, ".."), { recursive: true });
    // Under a name of its own until it is whole: tests run beside each other.
    const made = `${program}.${process.pid}`;
    execFileSync("g++", ["-std=c++20", "-O2", source, "-llzma", "-o", made], { stdio: "inherit" });
    renameSync(made, program);
  }
  return program;
}

/** `before`: what lies before the output when it is unpacked, and may be referred to. */
export function packLzma(bytes, { before = new Uint8Array(0), nice = [273] } = {}) {
  const input = Buffer.concat([before, bytes]);
  const stream = execFileSync(packer(), [before.length, ...nice].map(String), { input, maxBuffer: 1 << 28 });
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes.length);
  return Buffer.concat([size, stream]);
}

/** `before`: another module, whose code has much in common with this one's. */
export async function packModule(bytes, before) {
  const source = readFileSync(join(kRoot, "web/src/wasm-streams.ts"), "utf8");
  const { code } = await transform(source, { loader: "ts", format: "esm" });
  const { joinModule, splitModule } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const split = splitModule(bytes);
  if (Buffer.compare(joinModule(split), bytes) !== 0) {
    throw new Error("the module has instructions that web/src/wasm-streams.ts does not know");
  }
  return packLzma(split, { before: before && splitModule(before), nice: kNice });
}
