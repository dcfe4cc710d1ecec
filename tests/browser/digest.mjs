// One number for many results of the public API. Self-contained, since it is sent to browsers as text: the same
// function runs in Node, in Chromium with WebAssembly and in Chromium with the plain-JavaScript build.

/** FNV-1a over the bytes of tables, rotations, biases and attention; `rounds` repeats the work, past the tier-up of engines. */
export function digest(posenc, rounds = 1) {
  const { alibi, attention, bias, embed, encode, randomNormal, rope, rotate, shaw, sinusoidal } = posenc;
  let low = 0x811c9dc5;
  let high = 0x01234567;
  const add = (tensor) => {
    const bytes = new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
    for (const byte of bytes) {
      low = Math.imul(low ^ byte, 0x01000193) >>> 0;
      high = Math.imul(high ^ byte ^ (low >>> 24), 0x01000193) >>> 0;
    }
  };
  const positions = [-1234.5, -3, 0, 0.25, 1, 2, 3, 4, 5, 6, 7, 8, 1e6 + 0.5, 2 ** 40, 2 ** 53];
  const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([4, 133, 16], { seed }));
  for (let round = 0; round < rounds; round++) {
    low = 0x811c9dc5;
    high = 0x01234567;
    for (const layout of ["interleaved", "half"]) {
      add(encode(sinusoidal({ dim: 64, layout, base: 5e5 }), positions));
      add(encode(sinusoidal({ dim: 32, layout }), 131, { dtype: "float64" }));
      add(rotate(q, rope({ dim: 16, layout, base: 1e6 })));
      add(attention(q, k, v, { rotate: rope({ dim: 16, layout }), causal: true }).out);
    }
    add(embed(randomNormal([7, 8], { seed: 9 }), sinusoidal({ dim: 8 }), { scale: "sqrt" }));
    add(bias(alibi({ heads: 6 }), { queries: 65, keys: 130 }));
    for (const options of [
      { bias: alibi({ heads: 4 }), causal: true },
      { relate: shaw({ dim: 16, clip: 4, seed: 5 }), window: 9 },
      { bias: alibi({ heads: 4 }), rotate: rope({ dim: 16 }), relate: shaw({ dim: 16, clip: 3, seed: 6 }) },
    ]) {
      const { out, weights, lse } = attention(q, k, v, { ...options, weights: true });
      add(out);
      add(weights);
      add(lse);
    }
  }
  return low.toString(16).padStart(8, "0") + high.toString(16).padStart(8, "0");
}
