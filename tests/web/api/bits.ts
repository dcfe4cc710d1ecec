// The tests' own generator and hash, as tests/cpp/support has them.

/** FNV-1a of 64 bits, in two halves: the prime is 2^40 + 435. */
export class Fnv1a {
  #high = 0xcbf29ce4;
  #low = 0x84222325;

  add(array: ArrayBufferView): void {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    let [high, low] = [this.#high, this.#low];
    for (let i = 0; i < bytes.length; i++) {
      const mixed = (low ^ bytes[i]!) >>> 0;
      const product = mixed * 435;
      low = product >>> 0;
      high = (Math.imul(high, 435) + Math.floor(product / 2 ** 32) + (mixed << 8)) >>> 0;
    }
    [this.#high, this.#low] = [high, low];
  }

  hex(): string {
    return this.#high.toString(16).padStart(8, "0") + this.#low.toString(16).padStart(8, "0");
  }
}

/** splitmix64. */
export class Dice {
  #state: bigint;

  constructor(seed: bigint) {
    this.#state = seed;
  }

  bits(): bigint {
    this.#state = BigInt.asUintN(64, this.#state + 0x9e3779b97f4a7c15n);
    let z = this.#state;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
  }

  real(low: number, high: number): number {
    return low + (high - low) * (Number(this.bits() >> 11n) / 2 ** 53);
  }
}
