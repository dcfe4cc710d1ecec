// Layers and gradients on real threads: the bits, the progress and the refusals of one thread, and an end when asked.
import { afterAll, describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import * as worker from "../../../web/src/worker.js";
import { noteSpeed } from "../../../web/src/worker/pool.js";

const { Tensor, alibi, randomNormal, rope, sinusoidal, t5 } = posenc;
type Any = (...args: unknown[]) => Promise<unknown>;

afterAll(() => worker.terminate());

// As if this machine were slow: what follows is long enough to be cut.
const slow = (): void => {
  for (let i = 0; i < 50; i++) noteSpeed(3e4, 1);
};
const bytes = ({ data }: posenc.Tensor): string =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
const written = (value: unknown): unknown =>
  value instanceof Tensor
    ? [value.dtype, [...value.shape], bytes(value)]
    : typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, written(entry)]))
      : value;

const sides = ["wq", "wk", "wv", "wo"];
const weights = Object.fromEntries(sides.map((name, i) => [name, randomNormal([32, 32], { seed: i })]));
const x = randomNormal([180, 32], { seed: 5 });
const [q, k, v, dOut] = [1, 2, 3, 4].map((seed) => randomNormal([4, 150, 8], { seed })) as [
  posenc.Tensor, posenc.Tensor, posenc.Tensor, posenc.Tensor,
];
const layer = { ...weights, heads: 4, causal: true, bias: alibi({ heads: 4 }), embed: sinusoidal({ dim: 32 }) };
const kCalls: Readonly<Record<string, readonly unknown[]>> = {
  multiHeadAttention: [x, layer],
  attentionGradient: [q, k, v, dOut, { causal: true, rotate: rope({ dim: 8 }), bias: t5({ heads: 4, seed: 1 }) }],
};
const sync = posenc as unknown as Readonly<Record<string, (...args: unknown[]) => unknown>>;
const later = worker as unknown as Readonly<Record<string, Any>>;

describe.each([
  ["two workers", 2],
  ["no worker", 0],
])("with %s", (_, workers) => {
  it.each(Object.keys(kCalls))("%s goes in blocks, with the bits of one thread, and stops when asked", async (name) => {
    worker.configure({ workers });
    const args = kCalls[name]!.slice(0, -1);
    const options = kCalls[name]!.at(-1) as object;
    const whole = written(sync[name]!(...args, options));
    slow();
    const done: number[] = [];
    const onProgress = ({ done: now, total }: worker.Progress): number => done.push(now / total);
    expect(written(await later[name]!(...args, { ...options, onProgress }))).toEqual(whole);
    expect(done.length).toBeGreaterThan(2);
    expect([...done].sort((a, b) => a - b)).toEqual(done);
    expect(done.at(-1)).toBe(1);

    slow();
    const controller = new AbortController();
    const reports: number[] = [];
    const stopped = later[name]!(...args, {
      ...options,
      signal: controller.signal,
      onProgress: () => reports.push(1) === 2 && controller.abort("enough"),
    });
    await expect(stopped).rejects.toBe("enough");
    expect(reports.length).toBe(2);
  });

  it("what is wrong with a part is said of the whole", async () => {
    worker.configure({ workers });
    const bad = new Tensor(x.data.slice() as Float32Array, x.shape, "float32");
    bad.data[170 * 32 + 3] = NaN;
    const huge = new Tensor(new Float32Array(32 * 32).fill(1e38), [32, 32], "float32");
    const wrong = new Tensor(dOut.data.slice() as Float32Array, dOut.shape, "float32");
    wrong.data[4000] = Infinity;
    for (const [name, args] of [
      ["multiHeadAttention", [bad, layer]],
      ["multiHeadAttention", [x, { ...layer, wv: huge }]],
      ["multiHeadAttention", [x, { ...layer, wo: huge }]],
      ["attentionGradient", [q, k, v, wrong, {}]],
      ["attentionGradient", [q, k, v, dOut, { bias: alibi({ heads: 3 }) }]],
    ] as const) {
      slow();
      let expected: unknown;
      try {
        sync[name]!(...args);
      } catch (error) {
        expected = error;
      }
      const refused = await later[name]!(...args).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(posenc.PosencError);
      expect((refused as Error).message).toBe((expected as Error).message);
    }
  });
});
