/** Four bytes of size, then a raw LZMA stream. */
export declare function packLzma(bytes: Uint8Array): Buffer;
