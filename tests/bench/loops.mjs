// Loops as one writes them in TypeScript: plain ones, and ones tuned as far as the language goes.

// Softmax attention of one head as one would write it: flat arrays, indices hoisted out of the inner loops.
export function plainAttention(q, k, v, n, d, causal, out, row) {
  const scale = 1 / Math.sqrt(d);
  for (let i = 0; i < n; i++) {
    const last = causal ? i + 1 : n;
    const qi = i * d;
    let top = -Infinity;
    for (let j = 0; j < last; j++) {
      const kj = j * d;
      let sum = 0;
      for (let c = 0; c < d; c++) sum += q[qi + c] * k[kj + c];
      sum *= scale;
      row[j] = sum;
      if (sum > top) top = sum;
    }
    let total = 0;
    for (let j = 0; j < last; j++) {
      const weight = Math.exp(row[j] - top);
      row[j] = weight;
      total += weight;
    }
    for (let c = 0; c < d; c++) out[qi + c] = 0;
    for (let j = 0; j < last; j++) {
      const weight = row[j] / total;
      const vj = j * d;
      for (let c = 0; c < d; c++) out[qi + c] += weight * v[vj + c];
    }
  }
}

export function plainTable(tokens, dim, out) {
  for (let t = 0; t < tokens; t++) {
    for (let c = 0; c < dim; c += 2) {
      const angle = t / Math.pow(10000, c / dim);
      out[t * dim + c] = Math.sin(angle);
      out[t * dim + c + 1] = Math.cos(angle);
    }
  }
}

/** Attention of one head in blocks of four queries by four keys, sixteen sums in registers. q, k, v, out (n, d). */
export function tunedAttention(q, k, v, n, d, causal, out, scores) {
  const scale = 1 / Math.sqrt(d);
  for (let i = 0; i < n; i += 4) {
    const last = causal ? i + 4 : n;
    const [q0, q1, q2, q3] = [i * d, (i + 1) * d, (i + 2) * d, (i + 3) * d];
    for (let j = 0; j < last; j += 4) {
      let [s00, s01, s02, s03, s10, s11, s12, s13] = [0, 0, 0, 0, 0, 0, 0, 0];
      let [s20, s21, s22, s23, s30, s31, s32, s33] = [0, 0, 0, 0, 0, 0, 0, 0];
      const k0 = j * d;
      const k1 = k0 + d;
      const k2 = k1 + d;
      const k3 = k2 + d;
      for (let c = 0; c < d; c++) {
        const a = k[k0 + c];
        const b = k[k1 + c];
        const e = k[k2 + c];
        const f = k[k3 + c];
        let x = q[q0 + c];
        s00 += x * a;
        s01 += x * b;
        s02 += x * e;
        s03 += x * f;
        x = q[q1 + c];
        s10 += x * a;
        s11 += x * b;
        s12 += x * e;
        s13 += x * f;
        x = q[q2 + c];
        s20 += x * a;
        s21 += x * b;
        s22 += x * e;
        s23 += x * f;
        x = q[q3 + c];
        s30 += x * a;
        s31 += x * b;
        s32 += x * e;
        s33 += x * f;
      }
      scores[j] = s00 * scale;
      scores[j + 1] = s01 * scale;
      scores[j + 2] = s02 * scale;
      scores[j + 3] = s03 * scale;
      scores[n + j] = s10 * scale;
      scores[n + j + 1] = s11 * scale;
      scores[n + j + 2] = s12 * scale;
      scores[n + j + 3] = s13 * scale;
      scores[2 * n + j] = s20 * scale;
      scores[2 * n + j + 1] = s21 * scale;
      scores[2 * n + j + 2] = s22 * scale;
      scores[2 * n + j + 3] = s23 * scale;
      scores[3 * n + j] = s30 * scale;
      scores[3 * n + j + 1] = s31 * scale;
      scores[3 * n + j + 2] = s32 * scale;
      scores[3 * n + j + 3] = s33 * scale;
    }
    for (let r = 0; r < 4; r++) {
      const end = causal ? i + r + 1 : n;
      const row = r * n;
      let top = -Infinity;
      for (let j = 0; j < end; j++) if (scores[row + j] > top) top = scores[row + j];
      let total = 0;
      for (let j = 0; j < end; j++) {
        const weight = Math.exp(scores[row + j] - top);
        scores[row + j] = weight;
        total += weight;
      }
      for (let j = end; j < last; j++) scores[row + j] = 0;
      for (let j = 0; j < end; j++) scores[row + j] /= total;
    }
    for (let c = 0; c < d; c += 2) {
      let [o00, o01, o10, o11, o20, o21, o30, o31] = [0, 0, 0, 0, 0, 0, 0, 0];
      for (let j = 0, at = c; j < last; j++, at += d) {
        const a = v[at];
        const b = v[at + 1];
        let p = scores[j];
        o00 += p * a;
        o01 += p * b;
        p = scores[n + j];
        o10 += p * a;
        o11 += p * b;
        p = scores[2 * n + j];
        o20 += p * a;
        o21 += p * b;
        p = scores[3 * n + j];
        o30 += p * a;
        o31 += p * b;
      }
      out[q0 + c] = o00;
      out[q0 + c + 1] = o01;
      out[q1 + c] = o10;
      out[q1 + c + 1] = o11;
      out[q2 + c] = o20;
      out[q2 + c + 1] = o21;
      out[q3 + c] = o30;
      out[q3 + c + 1] = o31;
    }
  }
}

/** Sinusoidal table by angle addition in float64, from an exact row every 64. */
export function tunedTable(tokens, dim, out) {
  const pairs = dim / 2;
  const [cos, sin, stepCos, stepSin] = [0, 1, 2, 3].map(() => new Float64Array(pairs));
  const frequencies = new Float64Array(pairs);
  for (let i = 0; i < pairs; i++) {
    frequencies[i] = Math.pow(10000, (-2 * i) / dim);
    stepCos[i] = Math.cos(frequencies[i]);
    stepSin[i] = Math.sin(frequencies[i]);
  }
  for (let t = 0, at = 0; t < tokens; t++) {
    if (t % 64 === 0) {
      for (let i = 0; i < pairs; i++) {
        cos[i] = Math.cos(t * frequencies[i]);
        sin[i] = Math.sin(t * frequencies[i]);
      }
    }
    for (let i = 0; i < pairs; i++, at += 2) {
      const c = cos[i];
      const s = sin[i];
      out[at] = s;
      out[at + 1] = c;
      cos[i] = c * stepCos[i] - s * stepSin[i];
      sin[i] = s * stepCos[i] + c * stepSin[i];
    }
  }
}

/** a (n, n) b (n, n) -> out, four rows of a at a time. */
export function tunedProduct(a, b, n, out) {
  for (let i = 0; i < n; i += 4) {
    out.fill(0, i * n, (i + 4) * n);
    const [r0, r1, r2, r3] = [i * n, (i + 1) * n, (i + 2) * n, (i + 3) * n];
    for (let c = 0; c < n; c++) {
      const x0 = a[r0 + c];
      const x1 = a[r1 + c];
      const x2 = a[r2 + c];
      const x3 = a[r3 + c];
      for (let j = 0, at = c * n; j < n; j++, at++) {
        const y = b[at];
        out[r0 + j] += x0 * y;
        out[r1 + j] += x1 * y;
        out[r2 + j] += x2 * y;
        out[r3 + j] += x3 * y;
      }
    }
  }
}

/** Softmax of the rows of (n, n). */
export function plainSoftmax(x, n, out) {
  for (let i = 0; i < n; i++) {
    const row = i * n;
    let top = -Infinity;
    for (let j = 0; j < n; j++) if (x[row + j] > top) top = x[row + j];
    let total = 0;
    for (let j = 0; j < n; j++) {
      const weight = Math.exp(x[row + j] - top);
      out[row + j] = weight;
      total += weight;
    }
    const factor = 1 / total;
    for (let j = 0; j < n; j++) out[row + j] *= factor;
  }
}

// Cosines and sines of every position and pair, as a tuned loop keeps them.
export function ropeTables(tokens, dim, cos, sin) {
  const pairs = dim / 2;
  for (let i = 0; i < pairs; i++) {
    const frequency = Math.pow(10000, (-2 * i) / dim);
    for (let t = 0; t < tokens; t++) {
      cos[t * pairs + i] = Math.cos(t * frequency);
      sin[t * pairs + i] = Math.sin(t * frequency);
    }
  }
}

// x (heads, tokens, dim), neighbouring columns a pair.
export function tunedRope(x, heads, tokens, dim, cos, sin, out) {
  for (let h = 0, at = 0; h < heads; h++) {
    for (let t = 0, pair = 0; t < tokens; t++) {
      for (let c = 0; c < dim; c += 2, at += 2, pair++) {
        const a = x[at];
        const b = x[at + 1];
        out[at] = a * cos[pair] - b * sin[pair];
        out[at + 1] = a * sin[pair] + b * cos[pair];
      }
    }
  }
}
