// Files are little-endian; so is nearly every machine.
const kLittle = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Whether elements of typed arrays have the byte order `little` says. */
export function hasOrder(little: boolean): boolean {
  return little === kLittle;
}

/** The elements as little-endian bytes: a view of them where they are, else a copy. */
export function littleBytes(
  data: Exclude<ArrayBufferView, DataView> & { readonly BYTES_PER_ELEMENT: number },
): Uint8Array {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (kLittle) return bytes;
  const turned = bytes.slice();
  const width = data.BYTES_PER_ELEMENT;
  for (let at = 0; at < turned.length; at += width) turned.subarray(at, at + width).reverse();
  return turned;
}
