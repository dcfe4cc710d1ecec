/** Four bytes of size, then a raw LZMA stream. */
export declare function packLzma(bytes: Uint8Array): Buffer;
/** The module told apart by its streams, so packed; `unpackLzma` and `joinModule` undo it. */
export declare function packModule(bytes: Uint8Array): Promise<Buffer>;
