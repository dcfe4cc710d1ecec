// The graphs that ONNX Runtime is timed with, as bytes: a few messages of onnx.proto (field numbers beside them).

const leb = (value) => {
  const bytes = [];
  do {
    const low = value % 128;
    value = Math.floor(value / 128);
    bytes.push(low | (value > 0 ? 128 : 0));
  } while (value > 0);
  return bytes;
};
const number = (field, value) => [...leb(field * 8), ...leb(value)];
const message = (field, bytes) => [...leb(field * 8 + 2), ...leb(bytes.length), ...bytes];
const text = (field, value) => message(field, [...new TextEncoder().encode(value)]);
const float = (field, value) => [...leb(field * 8 + 5), ...new Uint8Array(new Float32Array([value]).buffer)];

const kFloat = 1; // TensorProto.DataType

function attribute([name, value]) {
  const body = text(1, name);
  if (Array.isArray(value)) body.push(...value.flatMap((entry) => number(8, entry)), ...number(20, 7));
  else if (Number.isInteger(value)) body.push(...number(3, value), ...number(20, 2));
  else body.push(...float(2, value), ...number(20, 1));
  return message(5, body);
}

const node = ({ op, inputs, output, domain = "", ...attributes }) =>
  message(1, [
    ...inputs.flatMap((name) => text(1, name)),
    ...text(2, output),
    ...text(4, op),
    ...Object.entries(attributes).flatMap(attribute),
    ...text(7, domain),
  ]);

const value = (field, name, shape) =>
  message(field, [
    ...text(1, name),
    ...message(2, message(1, [...number(1, kFloat), ...message(2, shape.flatMap((n) => message(1, number(1, n))))])),
  ]);

function model({ opset, nodes, inputs, output }) {
  const graph = [
    ...nodes.flatMap(node),
    ...text(2, "bench"),
    ...Object.entries(inputs).flatMap(([name, shape]) => value(11, name, shape)),
    ...value(12, "y", output),
  ];
  return new Uint8Array([
    ...number(1, 10),
    ...message(7, graph),
    ...message(8, [...text(1, ""), ...number(2, opset)]),
    ...message(8, [...text(1, "com.microsoft"), ...number(2, 1)]),
  ]);
}

/** softmax(q k^T scale (+ mask)) v with the plain operators; the runtime fuses what it can. */
export function matmulSoftmax({ heads, n, d, masked }) {
  const qkv = [heads, n, d];
  return model({
    opset: 21,
    nodes: [
      { op: "FusedMatMul", domain: "com.microsoft", inputs: ["q", "k"], output: "s", transB: 1, alpha: d ** -0.5 },
      ...(masked ? [{ op: "Add", inputs: ["s", "mask"], output: "t" }] : []),
      { op: "Softmax", inputs: [masked ? "t" : "s"], output: "p", axis: 2 },
      { op: "MatMul", inputs: ["p", "v"], output: "y" },
    ],
    inputs: { q: qkv, k: qkv, v: qkv, ...(masked ? { mask: [n, n] } : {}) },
    output: qkv,
  });
}

/** The contributed operator; its heads lie side by side: (1, n, heads d). */
export function multiHead({ heads, n, d, causal }) {
  const wide = [1, n, heads * d];
  return model({
    opset: 21,
    nodes: [
      {
        op: "MultiHeadAttention",
        domain: "com.microsoft",
        inputs: ["q", "k", "v"],
        output: "y",
        num_heads: heads,
        unidirectional: causal ? 1 : 0,
      },
    ],
    inputs: { q: wide, k: wide, v: wide },
    output: wide,
  });
}

/** The operator Attention of opset 23. */
export function attention23({ heads, n, d, causal }) {
  const qkv = [1, heads, n, d];
  return model({
    opset: 23,
    nodes: [{ op: "Attention", inputs: ["q", "k", "v"], output: "y", is_causal: causal ? 1 : 0 }],
    inputs: { q: qkv, k: qkv, v: qkv },
    output: qkv,
  });
}

/** a (n, n) b (n, n). */
export const product = ({ n }) =>
  model({
    opset: 21,
    nodes: [{ op: "MatMul", inputs: ["a", "b"], output: "y" }],
    inputs: { a: [n, n], b: [n, n] },
    output: [n, n],
  });

/** Softmax over the rows of (n, n). */
export const softmax = ({ n }) =>
  model({
    opset: 21,
    nodes: [{ op: "Softmax", inputs: ["a"], output: "y", axis: 1 }],
    inputs: { a: [n, n] },
    output: [n, n],
  });

/** Cosine similarity of the rows of (n, d) to one another. */
export const cosine = ({ n, d }) =>
  model({
    opset: 21,
    nodes: [
      { op: "LpNormalization", inputs: ["a"], output: "b", axis: 1, p: 2 },
      { op: "FusedMatMul", domain: "com.microsoft", inputs: ["b", "b"], output: "y", transB: 1 },
    ],
    inputs: { a: [n, d] },
    output: [n, n],
  });

/** Sinusoidal table from positions (n, 1) and frequencies (1, d / 2): sines, then cosines. */
export const table = ({ n, d }) =>
  model({
    opset: 21,
    nodes: [
      { op: "Mul", inputs: ["t", "f"], output: "angle" },
      { op: "Sin", inputs: ["angle"], output: "sin" },
      { op: "Cos", inputs: ["angle"], output: "cos" },
      { op: "Concat", inputs: ["sin", "cos"], output: "y", axis: 1 },
    ],
    inputs: { t: [n, 1], f: [1, d / 2] },
    output: [n, d],
  });
