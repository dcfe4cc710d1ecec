// Packs the module as web/src/lzma.ts unpacks it: four bytes of size, then xz's raw LZMA stream.
import { execFileSync } from "node:child_process";

export function packLzma(bytes) {
  const options = ["--format=raw", "--lzma1=preset=9e,lc=3,lp=0,pb=0", "-c"];
  const stream = execFileSync("xz", options, { input: bytes, maxBuffer: 1 << 28 });
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes.length);
  return Buffer.concat([size, stream]);
}
