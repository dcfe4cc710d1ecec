// A table of numbers from a file of the reader's: .npy, or .safetensors with a table of positions in it. What reads
// them is loaded with the first file.
import { tensor, type Tensor } from "../src/core.js";
import type { ErrorCode } from "../src/error.js";
import { attachFiles } from "./file-control.js";
import { completeValues, type Figure, type Files, type Values } from "./figure.js";
import { book } from "./format.js";
import { refuseValue } from "./refusal.js";

/** What a figure gets as its data from a table's file. */
export interface FileTable {
  /** float32 or float64 [positions, dimensions]. */
  table: Tensor;
  /** The file's name, and the tensor's where it holds several. */
  name: string;
}

/**
 * Files of a figure whose data is a {@link FileTable}. One that it cannot draw at its values is refused, so that it
 * stays as it was; `quick` are values that make this sooner known.
 */
export function tableFiles(figure: () => Figure, quick: Values = {}): Files {
  return {
    label: "a table from a file",
    accept: ".npy,.safetensors",
    read: async (file, values = {}) => {
      const data = await readTable(file);
      const drawn = figure();
      drawn.compute({ ...completeValues(drawn, (name) => values[name]), ...quick }, data);
      return { data };
    },
    attach: attachFiles,
  };
}

// Tables that a model's first layer adds: GPT-2's wpe, BERT's position_embeddings, ViT's pos_embed.
const positional = /wpe|pos(ition)?[._]?(al)?[._]?(emb|enc|bias|table)|embed_positions/i;
const mostNumbers = 2 ** 25;

/** Reads a table; throws a sentence where there is none, or no telling which. */
export async function readTable(file: File): Promise<FileTable> {
  const { readNpy, readSafetensors, safetensorsHeader } = await import("../src/files.js");
  if (/\.npy$/i.test(file.name)) {
    const table = await readNpy(file);
    return { table: asTable(table, "the array"), name: file.name };
  }
  if (!/\.safetensors$/i.test(file.name)) refuseFile(file.name, "a table is read from .npy and .safetensors files");
  const { tensors } = await safetensorsHeader(file);
  const tables = Object.entries(tensors).filter(([, { shape }]) => isTable(shape));
  const named = tables.filter(([name]) => positional.test(name));
  const [only] = named.length > 0 ? named : tables.length === 1 ? tables : [];
  if (!only) {
    const names = tables.slice(0, 6).map(([name]) => name);
    return refuseFile(
      file.name,
      tables.length === 0
        ? "there is no table of positions by dimensions in it"
        : `none of its ${book(tables.length)} tables is named as one of positions (${names.join(", ")}` +
            `${tables.length > names.length ? ", \u2026" : ""})`,
    );
  }
  const [name] = only;
  const read = await readSafetensors(file, { names: [name] });
  return { table: asTable(read[name] as Tensor, name), name: `${file.name}, ${name}` };
}

function refuseFile(given: unknown, sentence: string, code: ErrorCode = "invalid-file"): never {
  return refuseValue(code, "file", `a table of at most ${mostNumbers} numbers`, given, sentence);
}

// Leading axes of one entry are batches: ViT keeps [1, T, d].
function tableShape(shape: readonly number[]): readonly number[] {
  return shape.length > 2 && shape[0] === 1 ? tableShape(shape.slice(1)) : shape;
}

function isTable(shape: readonly number[]): boolean {
  return tableShape(shape).length === 2 && shape.every((length) => length > 0);
}

function asTable(read: Tensor, what: string): Tensor {
  if (!isTable(read.shape)) {
    const shape = `[${read.shape.join(", ")}]`;
    refuseFile(shape, `${what} must be a table of positions by dimensions, got ${shape}`);
  }
  if (read.size > mostNumbers) refuseFile(read.size, `${what} has more than ${book(mostNumbers)} numbers`, "too-large");
  return tensor(read.data, tableShape(read.shape), read.dtype === "float64" ? "float64" : "float32");
}
