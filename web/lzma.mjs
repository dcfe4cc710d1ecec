// Packs the module as web/src unpacks it: its code told apart (wasm-streams.ts), then four bytes of size and xz's raw
// LZMA stream (lzma.ts).
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transform } from "esbuild";

export function packLzma(bytes) {
  const options = ["--format=raw", "--lzma1=preset=9e,lc=1,lp=0,pb=0", "-c"];
  const stream = execFileSync("xz", options, { input: bytes, maxBuffer: 1 << 28 });
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
  return packLzma(split);
}
