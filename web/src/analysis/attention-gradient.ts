// The gradient of attention, worked out in float64 by the module that stands apart from the core.
import { type AttentionOptions, type HeadsOf, kAttentionOptions, readAsked, readOperands } from "../attention.js";
import { printedShape, refuse, verbatim } from "../error.js";
import { exact } from "../exact-part.js";
import { Frame } from "../module.js";
import { readOptions } from "../options.js";
import { Tensor, type TensorLike, asFloat32, asFloat64, product, readNumbers } from "../tensor.js";

/** Options of {@link attentionGradient}: those of `attention()` that the output depends on. */
export type AttentionGradientOptions = Omit<AttentionOptions, "weights" | "trace" | "out">;

/** What {@link attentionGradient} returns. */
export interface AttentionGradient<D extends "float32" | "float64" = "float32" | "float64"> {
  /** Shaped as q. */
  readonly dq: Tensor<D>;
  /** Shaped as k; of grouped queries the sum over their heads. */
  readonly dk: Tensor<D>;
  /** Shaped as v. */
  readonly dv: Tensor<D>;
  /** [H], where sinks are given. */
  readonly dsinks?: Tensor<D>;
  /**
   * By the name of the scheme and of its parameter, shaped as the parameter: tables, lists (one number a head or pair
   * where none were given), single numbers with shape []. A second scheme of a name is "name#2".
   */
  readonly parameters: Readonly<Record<string, Readonly<Record<string, Tensor<D>>>>>;
}

interface Learned {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: number;
}

const kSubject = "attentionGradient";
const kResults: readonly string[] = ["weights", "trace", "out"];

/**
 * The gradient of sum(attention(q, k, v, options).out * dOut) by q, k, v, by the sinks, and by every parameter of the
 * schemes that is flagged differentiable: tables of biases and relations, slopes, rates, frequencies. Exact, through
 * softmax, soft-cap, scale, rotation, bias and relation with its value side; worked out in float64 by a plain way in
 * O(Tq Tk (d + dv)) time a head and O((Tq + Tk) d) memory. What an embed scheme adds before attention has the gradient
 * of the tokens that it is added to, which is the caller's. Results are float64 where q is (a Float64Array or float64
 * tensor) or `dtype` says so, else float32. At clips and bucket edges each scheme's file states which side counts.
 *
 * dOut is shaped as the output, q's shape with v's width. Masked pairs and rows that see nothing have gradient 0.
 * Errors: those of `attention()`; `out-of-range` where gradients leave the dtype.
 */
export function attentionGradient(
  q: Float64Array | Tensor<"float64">,
  k: TensorLike,
  v: TensorLike,
  dOut: TensorLike,
  options?: Omit<AttentionGradientOptions, "dtype">,
): AttentionGradient<"float64">;
export function attentionGradient(
  q: TensorLike,
  k: TensorLike,
  v: TensorLike,
  dOut: TensorLike,
  options?: AttentionGradientOptions,
): AttentionGradient;
export function attentionGradient(
  q: TensorLike,
  k: TensorLike,
  v: TensorLike,
  dOut: TensorLike,
  options?: AttentionGradientOptions,
): AttentionGradient {
  return gradientOf(q, k, v, dOut, options);
}

/** @internal attentionGradient() of some heads of a call. */
export function gradientOf(
  q: TensorLike,
  k: TensorLike,
  v: TensorLike,
  dOut: TensorLike,
  options?: AttentionGradientOptions,
  part?: HeadsOf,
): AttentionGradient {
  const known = [...kAttentionOptions.filter((name) => !kResults.includes(name)), "dtype"];
  const given = readOptions(kSubject, options, known);
  const read = readNumbers(kSubject, "q", q);
  const follows = read.data instanceof Float64Array && !read.nested ? "float64" : "float32";
  const { dtype = follows } = given;
  if (dtype !== "float32" && dtype !== "float64") {
    refuse("unknown-choice", kSubject, "dtype", '"float32" or "float64"', dtype);
  }
  const shapes = { ...readOperands(kSubject, q, k, v, "float64"), part };
  const { leading, batch, heads, kvHeads, queries, keys, width, valueWidth } = shapes;
  const asked = readAsked(kSubject, given, shapes, "float64");
  const outShape = [...leading, queries, valueWidth];
  const upstream = readNumbers(kSubject, "dOut", dOut);
  const fits = upstream.shaped
    ? printedShape(upstream.shape) === printedShape(outShape)
    : upstream.data.length === product(outShape);
  if (!fits) {
    const found = upstream.shaped ? `shape ${printedShape(upstream.shape)}` : `${upstream.data.length} elements`;
    refuse("shape-mismatch", kSubject, "dOut", `of shape ${printedShape(outShape)}`, verbatim(found));
  }

  const frame = new Frame(kSubject, exact);
  const kvLeading = leading.length === 0 ? [] : [...leading.slice(0, -1), kvHeads];
  const shaped = {
    dq: [...leading, queries, width],
    dk: [...kvLeading, keys, width],
    dv: [...kvLeading, keys, valueWidth],
    ...(given.sinks === undefined ? {} : { dsinks: [heads] }),
  };
  const rows = batch * kvHeads * keys;
  const places = new Map(Object.entries(shaped).map(([name, shape]) => [name, frame.output(product(shape) * 8)]));
  frame.run("exact_attention", {
    ...asked.fields(frame),
    q: frame.input(shapes.q, "q", batch * heads * queries * width),
    k: frame.input(shapes.k, "k", rows * width),
    v: frame.input(shapes.v, "v", rows * valueWidth),
    out: undefined,
    d_out: frame.input(asFloat64(upstream.data), "dOut", product(outShape)),
    dq: places.get("dq"),
    dk: places.get("dk"),
    dv: places.get("dv"),
    dsinks: places.get("dsinks"),
  });

  const tensor = (name: string, data: Float64Array, shape: readonly number[]): Tensor<"float32" | "float64"> =>
    new Tensor(dtype === "float64" ? data : asFloat32(kSubject, name, data), shape, dtype);
  const results = Object.entries(shaped).map(([name, shape]) => [
    name,
    tensor(name, frame.float64(places.get(name)!, product(shape)), shape),
  ]);
  const parameters: Record<string, Record<string, Tensor<"float32" | "float64">>> = {};
  const schemes = [given.rotate ?? [], given.bias ?? [], given.relate ?? []].flat() as { readonly name: string }[];
  (frame.json() as Learned[][]).forEach((learned, n) => {
    const { name } = schemes[n]!;
    let key = name;
    for (let count = 2; key in parameters; count++) key = `${name}#${count}`;
    parameters[key] = Object.fromEntries(
      learned.map((one) => [
        one.name,
        tensor(one.name, frame.float64At(one.data, product(one.shape)), one.shape),
      ]),
    );
  });
  return { ...Object.fromEntries(results), parameters } as unknown as AttentionGradient;
}
