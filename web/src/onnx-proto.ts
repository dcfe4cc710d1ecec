// The part of ONNX's schema (onnx.proto, IR version 8) that toOnnx writes, field numbers as there. Fields that repeat
// are not packed, as the schema is of proto2.
import { littleBytes } from "./byte-order.js";

// The fields of a protocol-buffer message: a tag (number << 3 | kind), and a number or the bytes after their length.
class Fields {
  readonly #parts: Uint8Array[] = [];

  // Seven bits a byte, the lowest first; of a number below 0 those of its 64 bits.
  #number(value: number): void {
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
    this.#parts.push(Uint8Array.of(...bytes, Number(rest)));
  }

  writeVarintField(field: number, value: number): void {
    this.#number(field << 3);
    this.#number(value);
  }

  writeBytesField(field: number, bytes: Uint8Array): void {
    this.#number((field << 3) | 2);
    this.#number(bytes.length);
    this.#parts.push(bytes);
  }

  writeStringField(field: number, text: string): void {
    this.writeBytesField(field, new TextEncoder().encode(text));
  }

  writeMessage<T>(field: number, write: (value: T, out: Fields) => void, value: T): void {
    const message = new Fields();
    write(value, message);
    this.writeBytesField(field, message.finish());
  }

  finish(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.#parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}

/** A tensor kept in the model. */
export interface Initializer {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array | BigInt64Array | Uint8Array;
}

/** The value of a node's attribute: a whole number, some of them, or a word. */
export type Attribute = number | readonly number[] | string;

/** One operation. */
export interface Node {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

/** An input or output: a number is a fixed length, a word names a free one. */
export interface Value {
  readonly name: string;
  readonly type: "float32" | "bool";
  readonly shape: readonly (number | string)[];
}

/** A whole model. */
export interface Model {
  readonly version: string;
  readonly opset: number;
  readonly name: string;
  readonly doc: string;
  readonly nodes: readonly Node[];
  readonly initializers: readonly Initializer[];
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
}

const kIrVersion = 8;
// TensorProto.DataType
export const kFloat = 1;
export const kInt64 = 7;
const kBool = 9;
// AttributeProto.AttributeType
const kInt = 2;
const kString = 3;
const kInts = 7;

function writeTensor({ name, shape, data }: Initializer, out: Fields): void {
  for (const length of shape) out.writeVarintField(1, length);
  out.writeVarintField(2, data instanceof Float32Array ? kFloat : data instanceof BigInt64Array ? kInt64 : kBool);
  out.writeStringField(8, name);
  out.writeBytesField(9, littleBytes(data));
}

function writeAttribute([name, value]: readonly [string, Attribute], out: Fields): void {
  out.writeStringField(1, name);
  if (typeof value === "number") {
    out.writeVarintField(3, value);
    out.writeVarintField(20, kInt);
  } else if (typeof value === "string") {
    out.writeStringField(4, value);
    out.writeVarintField(20, kString);
  } else {
    for (const entry of value) out.writeVarintField(8, entry);
    out.writeVarintField(20, kInts);
  }
}

function writeNode({ op, inputs, outputs, attributes }: Node, out: Fields): void {
  for (const input of inputs) out.writeStringField(1, input);
  for (const output of outputs) out.writeStringField(2, output);
  out.writeStringField(3, outputs[0]!);
  out.writeStringField(4, op);
  for (const attribute of Object.entries(attributes)) out.writeMessage(5, writeAttribute, attribute);
}

function writeDimension(length: number | string, out: Fields): void {
  if (typeof length === "number") out.writeVarintField(1, length);
  else out.writeStringField(2, length);
}

function writeShape(shape: Value["shape"], out: Fields): void {
  for (const length of shape) out.writeMessage(1, writeDimension, length);
}

function writeTensorType({ type, shape }: Value, out: Fields): void {
  out.writeVarintField(1, type === "float32" ? kFloat : kBool);
  out.writeMessage(2, writeShape, shape);
}

function writeType(value: Value, out: Fields): void {
  out.writeMessage(1, writeTensorType, value);
}

function writeValue(value: Value, out: Fields): void {
  out.writeStringField(1, value.name);
  out.writeMessage(2, writeType, value);
}

function writeGraph(model: Model, out: Fields): void {
  for (const node of model.nodes) out.writeMessage(1, writeNode, node);
  out.writeStringField(2, model.name);
  for (const initializer of model.initializers) out.writeMessage(5, writeTensor, initializer);
  for (const input of model.inputs) out.writeMessage(11, writeValue, input);
  for (const output of model.outputs) out.writeMessage(12, writeValue, output);
}

function writeOpset(opset: number, out: Fields): void {
  out.writeStringField(1, "");
  out.writeVarintField(2, opset);
}

/** The bytes of a ModelProto. */
export function writeModel(model: Model): Uint8Array<ArrayBuffer> {
  const out = new Fields();
  out.writeVarintField(1, kIrVersion);
  out.writeStringField(2, "posenc");
  out.writeStringField(3, model.version);
  out.writeStringField(6, model.doc);
  out.writeMessage(7, writeGraph, model);
  out.writeMessage(8, writeOpset, model.opset);
  return out.finish();
}
