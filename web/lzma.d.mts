/** Four bytes of size, then a raw LZMA stream that may refer to `before`. */
export declare function packLzma(bytes: Uint8Array, options?: { before?: Uint8Array; nice?: number[] }): Buffer;
/** The module told apart by its streams, so packed beside those of `before`; `unpackModule` undoes it. */
export declare function packModule(bytes: Uint8Array, before?: Uint8Array): Promise<Buffer>;
