// What a reader takes away: the data as CSV, NPY and JSON, and the file itself.
import { attributeName, type DataTable, type Figure, type State } from "./figure.js";

/** Comma-separated values with a header line (RFC 4180, lines end in LF); numbers in full, masked cells empty. */
export function toCsv(table: DataTable): string {
  const lines = [table.header.map(quoted).join(",")];
  for (let r = 0; r < table.rows; r++) {
    lines.push(table.header.map((_, c) => quoted(table.cell(r, c))).join(","));
  }
  return `${lines.join("\n")}\n`;
}

function quoted(value: number | string): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  return /[",\n\r]/.test(value) ? `"${value.replace(/"/g, '""')}"` : value;
}

/** The values and the data of a figure; NaN and infinities are null. */
export function toJson(figure: Figure, state: State<unknown>): string {
  const table = figure.table(state);
  const rows = Array.from({ length: table.rows }, (_, r) => table.header.map((_, c) => table.cell(r, c)));
  const attributes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(state.values)) {
    if (value !== undefined) attributes[attributeName(name)] = value;
  }
  const whole = { figure: figure.name, title: figure.title(state), attributes, header: table.header, rows };
  return JSON.stringify(whole, (_, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? null : value,
  );
}

/** An .npy file, version 1.0, little-endian, C order. */
export function toNpyBytes(array: {
  data: Float32Array | Float64Array | Int32Array;
  shape: readonly number[];
}): Uint8Array<ArrayBuffer> {
  const { data, shape } = array;
  const [type, set] =
    data instanceof Float64Array
      ? (["<f8", "setFloat64"] as const)
      : data instanceof Int32Array
        ? (["<i4", "setInt32"] as const)
        : (["<f4", "setFloat32"] as const);
  const tuple = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  let header = `{'descr': '${type}', 'fortran_order': False, 'shape': (${tuple}), }`;
  header += `${" ".repeat(63 - ((header.length + 10) % 64))}\n`;
  const file = new Uint8Array(10 + header.length + data.byteLength);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  file.set(new TextEncoder().encode(header), 10);
  const view = new DataView(file.buffer, 10 + header.length);
  data.forEach((value, i) => view[set](i * data.BYTES_PER_ELEMENT, value, true));
  return file;
}

/** Hands a file to the reader. */
export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Copies text; false where the page may not. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
