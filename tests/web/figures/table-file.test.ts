// Files that a reader drops on a figure: a table out of .npy and .safetensors, and what is said of others.
import { beforeAll, describe, expect, it } from "vitest";
import { ready, tensor } from "../../../web/src/index.js";
import { toNpy, toSafetensors } from "../../../web/src/files.js";
import { readTable, type FileTable } from "../../../web/figures/table-file.js";

beforeAll(() => ready());

const file = (bytes: Uint8Array<ArrayBuffer> | string, name: string): File => new File([bytes], name);
const read = (given: File): Promise<FileTable> => readTable(given);
const numbers = Float32Array.from({ length: 12 }, (_, i) => i / 8);

describe("readTable", () => {
  it("reads an array of NumPy's, of whole numbers too, and forgets a batch of one", async () => {
    const { table, name } = await read(file(toNpy(tensor(numbers, [1, 4, 3])), "wpe.npy"));
    expect(name).toBe("wpe.npy");
    expect([table.shape, table.dtype, [...table.data]]).toEqual([[4, 3], "float32", [...numbers]]);
    const whole = await read(file(toNpy(tensor([[1, 2]], undefined, "int32")), "A.NPY"));
    expect([whole.table.dtype, [...whole.table.data]]).toEqual(["float32", [1, 2]]);
    const wide = await read(file(toNpy(tensor([[0.1, 2]], undefined, "float64")), "a.npy"));
    expect([wide.table.dtype, wide.table.at(0, 0)]).toEqual(["float64", 0.1]);
  });

  it("finds the table of positions among a model's tensors", async () => {
    const weights = {
      "h.0.attn.c_attn.weight": tensor(new Float32Array(64), [8, 8]),
      "wpe.weight": tensor(numbers, [6, 2]),
      "wte.weight": tensor(new Float32Array(18), [9, 2]),
      "ln_f.bias": tensor(new Float32Array(2)),
    };
    const { table, name } = await read(file(toSafetensors(weights), "model.safetensors"));
    expect(name).toBe("model.safetensors, wpe.weight");
    expect([table.shape, [...table.data]]).toEqual([[6, 2], [...numbers]]);
    for (const known of [
      "bert.embeddings.position_embeddings.weight",
      "model.decoder.embed_positions.weight",
      "vit.embeddings.position_embeddings",
      "pos_embed",
      "transformer.positional_encoding",
    ]) {
      const { [known]: only } = { [known]: tensor(numbers, [1, 6, 2]) };
      const found = await read(file(toSafetensors({ a: weights["wte.weight"], [known]: only! }), "m.safetensors"));
      expect(found.name).toBe(`m.safetensors, ${known}`);
    }
  });

  it("takes the only table there is, whatever its name", async () => {
    const weights = { x: tensor(numbers, [3, 4]), bias: tensor(numbers) };
    expect((await read(file(toSafetensors(weights), "one.safetensors"))).name).toBe("one.safetensors, x");
  });

  it("says what is wrong", async () => {
    const refused = async (given: File, sentence: string | RegExp): Promise<void> =>
      expect(readTable(given)).rejects.toThrow(sentence);
    const two = { a: tensor(numbers, [3, 4]), b: tensor(numbers, [4, 3]) };
    await refused(
      file(toSafetensors(two), "m.safetensors"),
      "none of its 2 tables is named as one of positions (a, b)",
    );
    await refused(file(toSafetensors({ a: tensor(numbers) }), "m.safetensors"), "no table of positions by dimensions");
    await refused(
      file(toNpy(tensor(numbers)), "a.npy"),
      "the array must be a table of positions by dimensions, got [12]",
    );
    await refused(file("0,1", "a.csv"), "a table is read from .npy and .safetensors files");
    await refused(file("no array", "a.npy"), /readNpy/);
  });
});
