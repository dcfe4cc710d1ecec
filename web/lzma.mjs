// Packs the module as web/src unpacks it: its code told apart (wasm-streams.ts), then four bytes of size and xz's raw
// LZMA stream (lzma.ts).
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transform } from "esbuild";

// Lengths of a match from which on xz looks for no better way: the longest is not always the best.
const kNice = [64, 96, 128, 192, 273];

export function packLzma(bytes, nice = [273]) {
  const streams = nice.map((length) => {
    const options = ["--format=raw", `--lzma1=preset=9e,lc=1,lp=0,pb=0,nice=${length},depth=2000`, "-c"];
    return execFileSync("xz", options, { input: bytes, maxBuffer: 1 << 28 });
  });
  const stream = streams.reduce((best, one) => (one.length < best.length ? one : best));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes.length);
  return Buffer.concat([size, stream]);
}

export async function packModule(bytes) {
  const source = readFileSync(join(import.meta.dirname, "src/wasm-streams.ts"), "utf8");
  const { code } = await transform(source, { loader: "ts", format: "esm" });
  const { joinModule, splitModule } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const split = splitModule(bytes);
  if (Buffer.compare(joinModule(split), bytes) !== 0) {
    throw new Error("the module has instructions that web/src/wasm-streams.ts does not know");
  }
  return packLzma(split, kNice);
}
