// The ceiling: how many multiply-adds of four floats this engine can do, measured by the simplest wasm loop there is.
// `count` accumulators, each acc = acc * x + y with multiply and add apart (as our arithmetic has them), independent of
// one another, so that latency hides; the instructions are written out here, no compiler can drop or hoist any.

const leb = (value) => {
  const bytes = [];
  do {
    bytes.push((value & 127) | (value > 127 ? 128 : 0));
    value >>>= 7;
  } while (value > 0);
  return bytes;
};
const section = (id, bytes) => [id, ...leb(bytes.length), ...bytes];
const float = (value) => [0x43, ...new Uint8Array(new Float32Array([value]).buffer)];

const kLocalGet = 0x20;
const kLocalSet = 0x21;
const kSplat = [0xfd, 0x13];
const kAdd = [0xfd, 0xe4, 0x01];
const kMultiply = [0xfd, 0xe6, 0x01];
const kUnroll = 4;

// (rounds: i32) -> f32
function assemble(count) {
  const [x, y, first] = [1, 2, 3];
  const accumulators = Array.from({ length: count }, (_, i) => first + i);
  const step = accumulators.flatMap((acc) => [
    kLocalGet,
    acc,
    kLocalGet,
    x,
    ...kMultiply,
    kLocalGet,
    y,
    ...kAdd,
    kLocalSet,
    acc,
  ]);
  const code = [
    ...float(0.999),
    ...kSplat,
    kLocalSet,
    x,
    ...float(0.001),
    ...kSplat,
    kLocalSet,
    y,
    ...accumulators.flatMap((acc) => [...float(1 + acc / 64), ...kSplat, kLocalSet, acc]),
    0x03,
    0x40,
    ...Array.from({ length: kUnroll }, () => step).flat(),
    // rounds = rounds - 1; again while it is not 0
    kLocalGet,
    0,
    0x41,
    1,
    0x6b,
    0x22,
    0,
    0x0d,
    0,
    0x0b,
    kLocalGet,
    first,
    ...accumulators.slice(1).flatMap((acc) => [kLocalGet, acc, ...kAdd]),
    0xfd,
    0x1f,
    0,
    0x0b,
  ];
  const body = [1, ...leb(2 + count), 0x7b, ...code];
  return new Uint8Array([
    0,
    0x61,
    0x73,
    0x6d,
    1,
    0,
    0,
    0,
    ...section(1, [1, 0x60, 1, 0x7f, 1, 0x7d]),
    ...section(3, [1, 0]),
    ...section(7, [1, 1, 0x66, 0, 0]),
    ...section(10, [1, ...leb(body.length), ...body]),
  ]);
}

/** Loops of 8, 10 and 12 accumulators: `run(rounds)`, and the operations of one round. */
export function peakLoops() {
  return [8, 10, 12].map((count) => {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(assemble(count)));
    return { count, run: exports.f, operations: count * 4 * 2 * kUnroll };
  });
}
