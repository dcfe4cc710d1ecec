// Configs of published models: tests/golden/configs has their keys, what is known of them, and the numbers that follow,
// computed by expected.mjs beside them with whole numbers alone.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type LayerPositions, type ModelPositions, type PartPositions, fromConfig } from "../../../web/src/config.js";
import {
  type BiasScheme,
  PosencError,
  type RotateScheme,
  attention,
  bias,
  encode,
  frequencies,
  fromJSON,
  randomNormal,
  relativeIndex,
  rope,
  rotate,
} from "../../../web/src/index.js";

const kFolder = join(import.meta.dirname, "../../golden/configs");

interface Turned {
  readonly inverse: number[];
  readonly attentionFactor: number;
}
type Rotation = Turned | { readonly byLength: Readonly<Record<string, Turned>> };
interface RotateFacts {
  readonly width: number;
  readonly base: number;
  readonly layout: string;
  readonly rotary?: number;
  readonly sections?: number[];
  readonly interleaved?: boolean;
  readonly rule?: { readonly type: string; readonly length?: number };
}
interface Facts {
  readonly rotate?: RotateFacts;
  readonly local?: RotateFacts;
  readonly scale: { readonly root?: number };
  readonly causal?: boolean;
  readonly heads: number | number[];
  readonly kvHeads?: number;
  readonly valueDim?: number;
  readonly window?: number;
  readonly slide?: number;
  readonly softcap?: number;
  readonly chunk?: number;
  readonly kinds?: string;
  readonly queryScale?: { readonly floor: number; readonly by: number };
  readonly logn?: number;
  readonly alibi?: object;
  readonly t5?: { readonly buckets: number; readonly maxDistance: number };
  readonly learned?: object;
  readonly segments?: number;
  readonly firstPosition?: number;
  readonly shaw?: object;
  readonly deberta?: object;
  readonly transformerXL?: object;
  readonly sinusoidal2d?: object;
  readonly swin?: { readonly window: number; readonly heads: number[]; readonly shifts: number[] };
  readonly grid?: number[];
  readonly parts?: boolean;
  readonly notes?: string[];
}
interface File {
  readonly model: string;
  readonly source: string;
  readonly odd?: string;
  readonly config: { readonly model_type?: string };
  readonly facts: Facts;
  readonly expected: {
    readonly rotate?: Rotation;
    readonly local?: Rotation;
    readonly scale: number;
    readonly slopes?: number[];
    readonly offsets?: number[];
    readonly encoderBuckets?: number[];
    readonly decoderBuckets?: number[];
  };
}

const files = readdirSync(kFolder).filter((name) => name.endsWith(".json"));
const load = (name: string): File => JSON.parse(readFileSync(join(kFolder, `${name}.json`), "utf8")) as File;
const models = files.map((name) => [name.slice(0, -5), load(name.slice(0, -5))] as const);

// Relative, in float64: the rules are a few operations on frequencies that are right to the last digit or two.
function close(actual: ArrayLike<number>, expected: readonly number[], tolerance: number): void {
  expect(actual.length).toBe(expected.length);
  const worst = expected.map((value, i) => Math.abs(actual[i]! - value) - tolerance * Math.abs(value));
  expect(Math.max(...worst), `${Array.from(actual).join()} against ${expected.join()}`).toBeLessThanOrEqual(0);
}

const one = (scheme: LayerPositions["rotate"]): RotateScheme =>
  (Array.isArray(scheme) ? scheme[0] : scheme) as RotateScheme;

function turns(scheme: LayerPositions["rotate"], facts: RotateFacts, expected: Rotation): void {
  const turned = one(scheme);
  expect(turned).toMatchObject({
    name: facts.sections === undefined ? "rope" : "mrope",
    dim: facts.width,
    base: facts.base,
    layout: facts.layout,
  });
  expect(turned).toMatchObject({ rotaryDim: facts.rotary ?? facts.width });
  if (facts.sections === undefined) expect(turned).not.toHaveProperty("sections");
  else {
    const { sections, interleaved } = turned as unknown as { sections: Iterable<number>; interleaved: boolean };
    expect([...sections]).toEqual(facts.sections);
    expect(interleaved).toBe(facts.interleaved);
  }
  const lengths = "byLength" in expected ? Object.entries(expected.byLength) : [["", expected] as const];
  for (const [length, { inverse, attentionFactor }] of lengths) {
    const report = frequencies(turned, length === "" ? {} : { length: Number(length) });
    close(report.inverse, inverse, 1e-13);
    close([report.attentionFactor], [attentionFactor], 1e-14);
  }
}

const slopesOf = (scheme: BiasScheme): number[] =>
  Array.from(bias(scheme, { queries: [1], keys: [0] }).data, (value) => -value);

const kKinds: Record<string, string> = { s: "sliding_attention", f: "full_attention", c: "chunked_attention" };

describe("the configs of published models", () => {
  it("are many, of every family, and ten of them odd", () => {
    expect(models.length).toBeGreaterThanOrEqual(40);
    expect(models.filter(([, { odd }]) => odd !== undefined).length).toBeGreaterThanOrEqual(10);
    const types = new Set(
      models.map(([, { config }]) => (config as { text_config?: object }).text_config ?? config).map((config) => {
        const { model_type: type } = config as { model_type?: string };
        return type;
      }),
    );
    const families =
      "llama llama4_text mistral mixtral qwen qwen2 qwen3 qwen2_vl gemma gemma2 gemma3_text gemma4_text phi phi3 " +
      "deepseek_v2 deepseek_v3 gpt_oss gptj gpt_neox chatglm glm4 falcon mpt bloom baichuan t5 gpt2 opt bart bert " +
      "roberta deberta deberta-v2 transfo-xl vit vit_mae detr swin";
    for (const family of families.split(" ")) expect(types, family).toContain(family);
  });

  it("have the numbers that the script beside them computes", () => {
    execFileSync(process.execPath, [join(kFolder, "expected.mjs"), "--check"], { stdio: "pipe" });
  });

  it.each(models)("%s", (_, { config, facts, expected, model }) => {
    const read = fromConfig(config);
    const { rotate: rotation, attention: options } = read;
    expect(Object.isFrozen(read)).toBe(true);
    expect(read.notes.every((note) => /[.;]$/.test(note)), read.notes.join("\n")).toBe(true);
    for (const words of facts.notes ?? []) expect(read.notes.join("\n"), model).toMatch(new RegExp(words));

    close([options.scale], [expected.scale], 4e-16);
    expect(options.causal ?? false).toBe(facts.causal ?? false);
    expect(options.softcap).toBe(facts.softcap);
    expect(options.window).toBe(facts.window);
    expect(read.heads).toEqual(facts.heads);
    if (facts.kvHeads !== undefined) expect(read.kvHeads).toBe(facts.kvHeads);
    expect(read.valueDim).toBe(facts.valueDim);
    expect(read.chunkSize).toBe(facts.chunk);
    expect(read.firstPosition ?? 0).toBe(facts.firstPosition ?? 0);
    expect(read.grid).toEqual(facts.grid);
    expect(read.parts !== undefined).toBe((facts.parts ?? facts.t5 !== undefined) || facts.sinusoidal2d !== undefined);

    if (facts.rotate === undefined) expect(rotation).toBeUndefined();
    else turns(rotation, facts.rotate, expected.rotate!);
    if (facts.logn !== undefined) {
      expect((rotation as readonly RotateScheme[])[1]).toMatchObject({
        name: "queryScale",
        law: "logn",
        trainLength: facts.logn,
      });
    }
    layers(read, facts, expected);

    if (facts.alibi !== undefined) close(slopesOf(read.bias!), expected.slopes!, 1e-7);
    if (facts.t5 !== undefined) buckets(read, facts.t5, expected);
    if (facts.learned !== undefined) expect(read.embed).toMatchObject({ name: "learned", ...facts.learned });
    if (facts.sinusoidal2d !== undefined) {
      expect(read.embed).toMatchObject({ name: "sinusoidal2d", ...facts.sinusoidal2d });
    }
    if (facts.segments !== undefined) expect(read.segments).toMatchObject({ name: "learned", length: facts.segments });
    if (facts.shaw !== undefined) expect(read.relate).toMatchObject({ name: "shaw", values: false, ...facts.shaw });
    if (facts.deberta !== undefined) {
      const { terms, ...rest } = facts.deberta as { terms: string[] };
      expect(read.relate).toMatchObject({ name: "deberta", dim: 64, heads: 12, ...rest });
      const { terms: own } = read.relate as unknown as { terms: unknown };
      for (const term of terms) expect(JSON.stringify(own)).toContain(term);
    }
    if (facts.transformerXL !== undefined) {
      expect(read.relate).toMatchObject({ name: "transformerXL", ...facts.transformerXL });
    }
    if (facts.swin !== undefined) {
      const { window, heads, shifts } = facts.swin;
      expect(read.shifts).toEqual(shifts);
      expect(read.layers?.map((layer) => (layer.bias as unknown as { heads: number }).heads)).toEqual(heads);
      for (const layer of read.layers!) expect(layer.bias).toMatchObject({ name: "swin", window });
    }
  });

  it("make schemes that last through JSON", () => {
    for (const [, { config }] of models) {
      const { embed, rotate: rotation, bias: penalty, relate } = fromConfig(config);
      for (const scheme of [embed, one(rotation), penalty, relate]) {
        if (scheme === undefined) continue;
        expect(fromJSON(JSON.parse(JSON.stringify(scheme)) as never).toJSON()).toEqual(scheme.toJSON());
      }
    }
  });
});

function layers(read: ModelPositions, facts: Facts, expected: File["expected"]): void {
  if (facts.kinds === undefined) {
    if (facts.swin === undefined) expect(read.layers).toBeUndefined();
    return;
  }
  expect(read.layerTypes).toEqual([...facts.kinds].map((kind) => kKinds[kind]));
  expect(read.layers?.length).toBe(facts.kinds.length);
  [...facts.kinds].forEach((kind, i) => {
    const layer = read.layers![i]!;
    expect(layer).toBe(read.byLayerType![kKinds[kind]!]);
    expect(layer.window).toBe(kind === "s" ? facts.slide : undefined);
    if (facts.queryScale !== undefined && kind === "f") {
      expect(one(layer.rotate)).toMatchObject({
        name: "queryScale",
        law: "llama4",
        floorScale: facts.queryScale.floor,
        attnScale: facts.queryScale.by,
      });
    }
  });
  if (facts.queryScale === undefined) {
    turns(read.byLayerType!["full_attention"]!.rotate, facts.rotate!, expected.rotate!);
    turns(
      read.byLayerType!["sliding_attention"]!.rotate,
      facts.local ?? facts.rotate!,
      expected.local ?? expected.rotate!,
    );
  }
}

function buckets(read: ModelPositions, facts: object, { offsets, ...expected }: File["expected"]): void {
  const { encoder, decoder, cross } = read.parts!;
  const index = (part: PartPositions): number[] =>
    Array.from(
      relativeIndex(part.bias!, { queries: [1000], keys: offsets!.map((offset) => 1000 + offset) }).data as Int32Array,
    );
  expect(encoder.bias).toMatchObject({ name: "t5", bidirectional: true, heads: read.heads, ...facts });
  expect(index(encoder)).toEqual(expected.encoderBuckets);
  expect(index(decoder)).toEqual(expected.decoderBuckets);
  expect(decoder.attention).toEqual({ scale: 1, causal: true });
  // huggingface/transformers PR #8518: cross-attention was given a bias by mistake.
  expect(cross).toEqual({ attention: { scale: 1 } });
}

// ---------------------------------------------------------------- the core's own words for what a config asks

const kLlama = {
  model_type: "llama",
  hidden_size: 4096,
  num_attention_heads: 32,
  num_hidden_layers: 2,
  max_position_embeddings: 131072,
};
const yarn = (rule: object): object => ({
  ...kLlama,
  rope_scaling: { type: "yarn", factor: 64, original_max_position_embeddings: 2048, ...rule },
});
const factorOf = (config: object): number => frequencies(one(fromConfig(config).rotate)).attentionFactor;

describe("faults of others", () => {
  it("takes an explicit attention_factor as it is (vllm PR #48351, mlx-lm PR #1507)", () => {
    expect(factorOf(yarn({ attention_factor: 1 }))).toBe(1);
    expect(factorOf(yarn({}))).toBeCloseTo(1.415888308, 9);
  });

  it("applies YaRN's factor once (sglang PR #33558, TensorRT-LLM PR #16379)", () => {
    const config = yarn({ factor: 128 });
    expect(factorOf(config)).toBeCloseTo(1.485203026, 9);
    expect(fromConfig(config).attention.scale).toBe(1 / Math.sqrt(128));
  });

  it("reads mscale and mscale_all_dim as a quotient (vllm PR #48623)", () => {
    expect(factorOf(yarn({ factor: 16, mscale: 1, mscale_all_dim: 1 }))).toBe(1);
  });

  it("does not round gpt-oss's ramp, and divides by the factor outside the power (apache/tvm PR #18576)", () => {
    const { inverse } = frequencies(one(fromConfig(load("gpt-oss-20b").config).rotate));
    expect(inverse[12]).toBeCloseTo(0.00679496, 8);
  });

  it("switches LongRoPE's lists at the trained length, for all tokens (llama.cpp #8995, onnxruntime-genai PR #1161)", () => {
    const { config, facts } = load("phi-3.5-mini");
    const turned = one(fromConfig(config).rotate);
    const rule = facts.rotate!.rule as unknown as { short: number[]; long: number[] };
    const slowest = (length: number): number => frequencies(turned, { length }).inverse[47]!;
    expect(slowest(4096) / slowest(4097)).toBeCloseTo(rule.long[47]! / rule.short[47]!, 12);
    expect(slowest(4095)).toBe(slowest(4096));
    expect(slowest(4097)).toBe(slowest(131072));
  });

  it("refuses an odd number of turning columns, with the number (transformers #48101, #35233)", () => {
    const odd = { ...kLlama, head_dim: 130, partial_rotary_factor: 0.5 };
    expect(() => fromConfig(odd)).toThrow(
      "fromConfig: partial_rotary_factor must be such that an even number of columns turns, got 65 of the 130 columns " +
        "of a head",
    );
  });

  it("has one split of the pairs among the axes, and it must add up (diffusers #12538)", () => {
    const sections = (list: number[]): object => ({
      ...kLlama,
      model_type: "qwen2_vl",
      rope_scaling: { type: "mrope", mrope_section: list },
    });
    expect(() => fromConfig(sections([24, 20, 20]))).not.toThrow();
    const quarter = { head_dim: 256, rope_theta: 1e7, partial_rotary_factor: 0.25, mrope_interleaved: true };
    const { rotate } = fromConfig({ ...quarter, rope_type: "default", mrope_section: [11, 11, 10] });
    expect(one(rotate)).toMatchObject({ name: "mrope", dim: 256, rotaryDim: 64, interleaved: true });
    expect(() => fromConfig({ ...quarter, rope_type: "default", mrope_section: [24, 20, 20] })).toThrow(
      "pairs that make 32 together, half the 64 columns that turn, got [24, 20, 20], 64 together",
    );
    expect(() => fromConfig(sections([22, 21, 20]))).toThrow(
      "rope_scaling.mrope_section must be whole numbers of pairs that make 64 together, half the width of a head, " +
        "got [22, 21, 20], 63 together",
    );
  });
});

describe("a model of three axes", () => {
  const error = (config: object): object => {
    try {
      return fromConfig({ ...kLlama, ...config });
    } catch (caught) {
      return caught as object;
    }
  };
  const [inScaling, inParameters] = ["rope_scaling.mrope_section", "rope_parameters.mrope_section"];

  it.each([
    [{ model_type: "qwen2_vl", rope_scaling: { type: "mrope" } }, inScaling],
    [{ model_type: "llama", rope_scaling: { type: "mrope" } }, inScaling],
    [{ model_type: "llama", rope_scaling: { type: "mrope", rope_type: "default" } }, inScaling],
    [{ model_type: "qwen2_5_vl", rope_scaling: { type: "default" } }, inScaling],
    [{ model_type: "qwen2_5_vl_text", rope_parameters: { rope_type: "default" } }, inParameters],
    [{ model_type: "qwen2_vl" }, inScaling],
    [{ model_type: "qwen2_vl", use_sliding_window: true, sliding_window: 8 }, inScaling],
  ])("is never read as one of one axis: %j", (config, argument) => {
    expect(error(config)).toMatchObject({ code: "missing-option", argument });
  });

  it("has the sections of transformers' class where that has some, and then deals pairs in turn", () => {
    for (const model_type of ["qwen3_vl_text", "qwen3_vl_moe_text"]) {
      for (const rule of [{}, { rope_scaling: { rope_type: "default" } }]) {
        const read = fromConfig({ ...kLlama, model_type, ...rule });
        const { sections, interleaved } = one(read.rotate) as unknown as { sections: number[]; interleaved: boolean };
        expect([[...sections], interleaved]).toEqual([[24, 20, 20], true]);
        expect(read.notes.join("\n")).toContain("[24, 20, 20] was read");
      }
    }
  });

  it.each([[[16, 16, 16, 16]], [[32, 32]], [[64]], [[]]])("has three sections, not %j", (mrope_section) => {
    for (const model_type of ["qwen2_vl", "qwen3_vl_text", "llama"]) {
      const found = error({ model_type, rope_scaling: { type: "mrope", mrope_section } });
      expect(found).toMatchObject({ code: "shape-mismatch", argument: inScaling, given: `${mrope_section.length}` });
    }
  });
});

// ---------------------------------------------------------------- snapshots that others publish

describe("published snapshots", () => {
  // The values that transformers' own tests of its rope rules print, to five digits.
  const part = (rule: object): Float64Array =>
    frequencies(one(fromConfig({ head_dim: 128, max_position_embeddings: 2048, ...rule }).rotate)).inverse;

  it("agree: default, linear, YaRN", () => {
    const plain = part({ rope_type: "default", rope_theta: 10000 });
    close([plain[1]!, plain[2]!, plain[63]!], [0.86596, 0.74989, 1.1548e-4], 2e-5);
    close([part({ rope_type: "linear", factor: 10 })[1]!], [0.086596], 1e-5);
    const yarned = part({ rope_type: "yarn", factor: 10, original_max_position_embeddings: 2048 });
    close([yarned[17]!, yarned[40]!, yarned[41]!, yarned[63]!], [8.3479e-2, 4.3007e-4, 2.7384e-4, 1.1548e-5], 2e-5);
  });

  it("agree: dynamic at 16,384 of 2,048", () => {
    const rule = { rope_type: "dynamic", factor: 10, max_position_embeddings: 2048 };
    const { rotate: turned } = fromConfig({ head_dim: 128, ...rule });
    const { inverse } = frequencies(one(turned), { length: 16384 });
    close([inverse[1]!, inverse[63]!], [8.0931e-1, 1.6265e-6], 3e-5);
  });
});

// ---------------------------------------------------------------- keys, old and new

describe("keys", () => {
  const same = (a: object, b: object): void =>
    expect(JSON.stringify(one(fromConfig(a).rotate))).toBe(JSON.stringify(one(fromConfig(b).rotate)));

  it("may be old or new", () => {
    const rule = { factor: 8, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 8192 };
    const old = { ...kLlama, rope_theta: 500000, rope_scaling: { type: "llama3", ...rule } };
    same(old, { ...kLlama, rope_theta: 500000, rope_scaling: { rope_type: "llama3", ...rule } });
    same(old, { ...kLlama, rope_parameters: { rope_type: "llama3", rope_theta: 500000, ...rule } });
    same(load("llama-3.1-8b").config, load("llama-3.1-8b-new-keys").config);
    const { config } = load("phi-3.5-mini") as unknown as { config: { rope_scaling: object } };
    same(config, { ...config, rope_scaling: { ...config.rope_scaling, type: "su" } });
    const neox = { model_type: "gpt_neox", hidden_size: 512, num_attention_heads: 8, num_hidden_layers: 2 };
    same(
      { ...neox, rotary_pct: 0.5, rotary_emb_base: 5000 },
      { ...neox, partial_rotary_factor: 0.5, rope_theta: 5000 },
    );
    same({ ...neox, rotary_pct: 0.5 }, { ...neox, rope_parameters: { partial_rotary_factor: 0.5, rope_theta: 10000 } });
  });

  it("may be nested by kind of layer", () => {
    const { config } = load("gemma-3-1b") as unknown as { config: Record<string, unknown> };
    const { rope_local_base_freq: _, rope_theta: __, rope_scaling: ___, ...rest } = config;
    const nested = fromConfig({
      ...rest,
      rope_parameters: {
        full_attention: { rope_type: "default", rope_theta: 1000000 },
        sliding_attention: { rope_type: "default", rope_theta: 10000 },
      },
    });
    expect(JSON.stringify(nested.byLayerType)).toBe(JSON.stringify(fromConfig(config).byLayerType));
    // The rules nested, the bases still outside.
    const between = { full_attention: { rope_type: "default" }, sliding_attention: { rope_type: "default" } };
    expect(JSON.stringify(fromConfig({ ...config, rope_parameters: between }).byLayerType)).toBe(
      JSON.stringify(nested.byLayerType),
    );
    const layerTypes = Array.from({ length: 26 }, (___, i) => (i === 0 ? "full_attention" : "sliding_attention"));
    const own = fromConfig({ ...config, layer_types: layerTypes });
    expect(own.layerTypes).toEqual(layerTypes);
  });

  it("may be rope_parameters or rope_scaling alone, with head_dim beside", () => {
    const alone = fromConfig({ rope_type: "linear", factor: 4, rope_theta: 100000, head_dim: 128 });
    expect(alone).toMatchObject({ model: "rope", headDim: 128, attention: { scale: 1 / Math.sqrt(128) } });
    same({ rope_type: "linear", factor: 4, rope_theta: 100000, head_dim: 128 }, load("deepseek-coder-6.7b").config);
    const nested = fromConfig({
      head_dim: 64,
      full_attention: { rope_type: "default", rope_theta: 1000000, head_dim: 128 },
      sliding_attention: { rope_theta: 10000 },
    });
    expect(one(nested.rotate)).toMatchObject({ dim: 128, base: 1000000 });
    expect(one(nested.byLayerType!["sliding_attention"]!.rotate)).toMatchObject({ dim: 64, base: 10000 });
    expect(() => fromConfig({ rope_type: "linear", factor: 4 })).toThrow(/head_dim is missing, it must be given beside a rope part/);
  });

  it("turns a share of the columns under every rule", () => {
    const qwen = { model_type: "qwen", hidden_size: 4096, num_attention_heads: 32, kv_channels: 128, seq_length: 2048 };
    for (const use_dynamic_ntk of [false, true]) {
      const { rotate } = fromConfig({ ...qwen, num_hidden_layers: 2, use_dynamic_ntk, rotary_pct: 0.5 });
      expect((rotate as { rotaryDim?: number }).rotaryDim).toBe(64);
      const wrong = { ...qwen, num_hidden_layers: 2, use_dynamic_ntk, rotary_pct: "abc" };
      expect(() => fromConfig(wrong)).toThrow(/rotary_pct/);
    }
  });

  it("may name the model by its architecture, or through its text part", () => {
    for (const [architecture, model] of [
      ["LlamaForCausalLM", "llama"],
      ["GPTNeoXForCausalLM", "gpt_neox"],
      ["Qwen3MoeForCausalLM", "qwen3_moe"],
      ["Phi3ForCausalLM", "phi3"],
    ] as const) {
      const { model_type: _, ...rest } = kLlama;
      expect(fromConfig({ ...rest, architectures: [architecture] }).model).toBe(model);
    }
    const wrapped = fromConfig({ model_type: "llava", text_config: kLlama, vision_config: {} });
    expect(wrapped.model).toBe("llama");
    expect(wrapped.notes[0]).toBe("text_config was read, the part that reads text.");
    expect(fromConfig({ model_type: "gemma3", text_config: { hidden_size: 2560 } }).byLayerType).toBeDefined();
  });
});

// ---------------------------------------------------------------- keys that say what others do not

const kSmall = { hidden_size: 512, num_attention_heads: 8, num_hidden_layers: 6, max_position_embeddings: 8192 };

describe("a note", () => {
  it("speaks of what the config has, not of what it might have", () => {
    const notes = (name: string, others: object = {}): string =>
      fromConfig({ ...load(name).config, ...others }).notes.join();
    expect(notes("baichuan2-7b")).toMatch(/hidden_size.* 4096 means RoPE\./);
    expect(notes("baichuan2-13b")).toMatch(/hidden_size.* 5120 means ALiBi\./);
    expect(notes("gemma-2-9b")).toContain("attn_logit_softcapping");
    expect(notes("gemma-2-9b", { attn_logit_softcapping: null })).not.toContain("attn_logit_softcapping");
  });
});

describe("GPT-Neo's attention_types", () => {
  const read = (num_layers: number, attention_types: unknown, others: object = {}): ModelPositions =>
    fromConfig({
      ...{ model_type: "gpt_neo", hidden_size: 96, num_heads: 4, max_position_embeddings: 32, window_size: 8 },
      ...{ num_layers, attention_types, ...others },
    });
  const kinds = (given: ModelPositions): string => given.layerTypes!.map((kind) => kind[0]).join("");

  it("are written out, one kind a layer, where there are no attention_layers", () => {
    expect(kinds(read(6, [[["global", "local"], 3]]))).toBe("fsfsfs");
    expect(kinds(read(4, [[["local"], 3], [["global"], 1]]))).toBe("sssf");
    expect(kinds(read(2, [[["global", "local"], 3]], { attention_layers: ["local", "global"] }))).toBe("sf");
    expect(kinds(read(4, null))).toBe("fsfs");
  });

  it.each([
    [[[["global", "local"], 3]], "attention_types must be a list of 4 words, one a layer, got 6"],
    [[[["global", "local"], 1]], "attention_types must be a list of 4 words, one a layer, got 2"],
    [[[["global", "local"], 1e9]], "attention_types must be a list of 4 words"],
    [[[["global", "near"], 2]], "attention_types[1] must be"],
    [[["global", "local"]], "attention_types must be a list of pairs"],
    [[[[], 1e9]], "attention_types must be a list of pairs"],
    [["global", 4], "attention_types must be a list of pairs"],
    ["global", "attention_types must be a list of pairs"],
  ])("are refused where they are not: %j", (types, message) => {
    expect(() => read(4, types)).toThrow(`fromConfig: ${message}`);
  });
});

describe("MPT's attn_config", () => {
  const read = (attn_config?: object): ModelPositions =>
    fromConfig({ model_type: "mpt", d_model: 96, n_heads: 12, n_layers: 2, max_seq_len: 32, attn_config });

  it("shares keys and values among heads by attn_type, or by kv_n_heads", () => {
    expect(read({ alibi: true }).kvHeads).toBe(12);
    expect(read({ alibi: true, attn_type: "multiquery_attention" }).kvHeads).toBe(1);
    expect(read({ alibi: true, attn_type: "grouped_query_attention", kv_n_heads: 4 }).kvHeads).toBe(4);
  });

  it("has ALiBi where it does not say, as in transformers, with a note", () => {
    for (const silent of [read(), read({}), read({ attn_type: "multihead_attention" })]) {
      expect(silent.bias).toMatchObject({ name: "alibi" });
      expect(silent.notes.join("\n")).toContain("attn_config.alibi is left out");
    }
    expect(read({ alibi: false }).embed).toBeDefined();
    expect(read({ rope: true }).rotate).toBeDefined();
    for (const said of [{ alibi: true }, { alibi: false }, { rope: true }]) {
      expect(read(said).notes.join("\n")).not.toContain("left out");
    }
  });

  it("has windows that do not count the query", () => {
    expect(read({ alibi: true, sliding_window_size: 16 }).attention.window).toBe(17);
    expect(read({ alibi: true, sliding_window_size: 0 }).attention.window).toBe(1);
    expect(read({ alibi: true, sliding_window_size: -1 }).attention).not.toHaveProperty("window");
  });
});

describe("a model whose tokens see both sides", () => {
  it.each([
    ["gemma3_text", true],
    ["gemma4_text", "all"],
  ])("is not causal, and its window is half on each side: %s", (model_type, use_bidirectional_attention) => {
    const config = { ...kSmall, model_type, sliding_window: 512 };
    const read = fromConfig({ ...config, use_bidirectional_attention });
    expect(read.attention).not.toHaveProperty("causal");
    expect(read.layers![0]!.window).toBe(257); // |i - j| < 257
    expect(read.notes.join("\n")).toContain("use_bidirectional_attention");
    const usual = fromConfig(config);
    expect([usual.attention.causal, usual.layers![0]!.window]).toEqual([true, 512]);
  });
});

// ---------------------------------------------------------------- faults of a config

describe("a config that is wrong", () => {
  const scaled = (rule: object): object => ({ ...kLlama, rope_scaling: rule });
  const llama3 = { rope_type: "llama3", factor: 8, low_freq_factor: 1, high_freq_factor: 4 };
  const { config: gemma } = load("gemma-3-1b");
  const { config: scout } = load("llama-4-scout") as unknown as { config: { text_config: object } };
  const { config: phi } = load("phi-3.5-mini") as unknown as { config: { rope_scaling: { long_factor: number[] } } };

  const longFactor = (list: unknown[]): object => ({
    ...phi,
    rope_scaling: { ...phi.rope_scaling, long_factor: list },
  });

  it.each([
    ["rope_theta 0 (nntrainer PR #3982)", { ...kLlama, rope_theta: 0 }, "out-of-range", "rope_theta"],
    ["rope_theta Infinity", { ...kLlama, rope_theta: Infinity }, "not-finite", "rope_theta"],
    ["rope_theta of text", { ...kLlama, rope_theta: "1e6" }, "not-a-number", "rope_theta"],
    [
      "rope_theta 0 inside",
      { ...kLlama, rope_parameters: { rope_theta: 0 } },
      "out-of-range",
      "rope_parameters.rope_theta",
    ],
    [
      "rotary_emb_base 0",
      { ...kLlama, model_type: "gpt_neox", rotary_emb_base: 0 },
      "out-of-range",
      "rotary_emb_base",
    ],
    ["a factor below 1", scaled({ type: "linear", factor: 0.5 }), "out-of-range", "rope_scaling.factor"],
    ["no factor", scaled({ type: "linear" }), "missing-option", "rope_scaling.factor"],
    [
      "no trained length, llama3",
      scaled(llama3),
      "missing-option",
      "rope_scaling.original_max_position_embeddings",
    ],
    [
      "no trained length, yarn",
      scaled({ type: "yarn", factor: 2 }),
      "missing-option",
      "rope_scaling.original_max_position_embeddings",
    ],
    [
      "factors the wrong way round",
      scaled({ ...llama3, high_freq_factor: 0.5, original_max_position_embeddings: 8192 }),
      "out-of-range",
      "rope_scaling.high_freq_factor",
    ],
    [
      "a list too short",
      { ...phi, rope_scaling: { ...phi.rope_scaling, short_factor: [1, 2] } },
      "shape-mismatch",
      "rope_scaling.short_factor",
    ],
    [
      "a list too long",
      longFactor([...phi.rope_scaling.long_factor, 64]),
      "shape-mismatch",
      "rope_scaling.long_factor",
    ],
    [
      "a hole in a list",
      longFactor(phi.rope_scaling.long_factor.map((x, i) => (i === 3 ? null : x))),
      "not-a-number",
      "rope_scaling.long_factor[3]",
    ],
    ["an odd rotary_dim", { ...kLlama, model_type: "gptj", rotary_dim: 65 }, "out-of-range", "rotary_dim"],
    [
      "a rotary_dim wider than a head",
      { ...kLlama, model_type: "gptj", rotary_dim: 256 },
      "out-of-range",
      "rotary_dim",
    ],
    ["an odd head_dim", { ...kLlama, head_dim: 127 }, "out-of-range", "head_dim"],
    [
      "an odd qk_rope_head_dim",
      { ...load("deepseek-v3").config, qk_rope_head_dim: 63 },
      "out-of-range",
      "qk_rope_head_dim",
    ],
    ["a width no multiple of the heads", { ...kLlama, hidden_size: 4097 }, "out-of-range", "hidden_size"],
    [
      "no width",
      { model_type: "llama", num_attention_heads: 32, num_hidden_layers: 2 },
      "missing-option",
      "hidden_size",
    ],
    [
      "no layers",
      { model_type: "llama", hidden_size: 64, num_attention_heads: 2 },
      "missing-option",
      "num_hidden_layers",
    ],
    ["half a layer", { ...kLlama, num_hidden_layers: 2.5 }, "not-integer", "num_hidden_layers"],
    [
      "key heads that do not divide",
      { ...kLlama, num_key_value_heads: 5 },
      "out-of-range",
      "num_key_value_heads",
    ],
    [
      "an unknown rope type",
      scaled({ rope_type: "yarm", factor: 2 }),
      "unknown-choice",
      "rope_scaling.rope_type",
    ],
    ["a rope_scaling that is no object", { ...kLlama, rope_scaling: 4 }, "unknown-choice", "rope_scaling"],
    [
      "architectures that are no list",
      { ...kLlama, model_type: null, architectures: "LlamaForCausalLM" },
      "shape-mismatch",
      "architectures",
    ],
    ["architectures beside model_type", { ...kLlama, architectures: {} }, "shape-mismatch", "architectures"],
    ["an architecture that is no name", { ...kLlama, architectures: [7] }, "shape-mismatch", "architectures"],
    ["layer_types too few", { ...gemma, layer_types: ["full_attention"] }, "shape-mismatch", "layer_types"],
    [
      "an unknown layer type",
      { ...kLlama, layer_types: ["full_attention", "linear_attention"] },
      "unknown-choice",
      "layer_types[1]",
    ],
    [
      "no_rope_layers too few",
      { text_config: { ...scout.text_config, no_rope_layers: [1, 0] } },
      "shape-mismatch",
      "text_config.no_rope_layers",
    ],
    [
      "rope_parameters without a kind",
      { ...kLlama, rope_parameters: { sliding_attention: {}, chunked_attention: {} } },
      "missing-option",
      "rope_parameters.full_attention",
    ],
    [
      "heads a stage too few",
      { ...load("swin-tiny").config, num_heads: [3, 6] },
      "shape-mismatch",
      "num_heads",
    ],
    [
      "no such term",
      { ...load("deberta-base").config, pos_att_type: "c2c" },
      "unknown-choice",
      "pos_att_type",
    ],
    [
      "what no scheme expresses",
      { ...load("bert-base-uncased").config, position_embedding_type: "relative_key_query" },
      "unsupported",
      "position_embedding_type",
    ],
  ])("%s", (_, config, code, argument) => {
    let error: unknown;
    try {
      fromConfig(config);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(PosencError);
    expect(error).toMatchObject({ code, argument, subject: "fromConfig" });
    expect((error as Error).message).toContain(`fromConfig: ${argument}`);
    expect(error instanceof RangeError).toBe(code === "out-of-range");
  });

  // Each key that goes by several names taken away in turn: where it is missed, it is missed by the name that it had.
  it("of a key that is missing names it as this model's configs do, and the other names that it goes by", () => {
    const kAliases = [
      ["num_attention_heads", "n_head", "n_heads", "num_heads"],
      ["num_hidden_layers", "n_layer", "n_layers", "num_layers"],
      ["hidden_size", "n_embd", "n_embed", "d_model"],
      ["n_positions", "max_position_embeddings", "n_ctx"],
    ];
    const without = (value: object, path: readonly string[]): object => {
      const { [path[0]!]: inner, ...rest } = value as Record<string, object>;
      return path.length === 1 ? rest : { ...rest, [path[0]!]: without(inner!, path.slice(1)) };
    };
    const paths = (value: object): string[][] =>
      Object.entries(value).flatMap(([key, inner]) =>
        typeof inner === "object" && inner !== null && !Array.isArray(inner)
          ? [[key], ...paths(inner as object).map((path) => [key, ...path])]
          : [[key]],
      );
    const missed = new Set<string>();
    for (const [name, { config }] of models) {
      for (const path of paths(config)) {
        const lost = path.at(-1)!;
        const aliases = kAliases.find((list) => list.includes(lost));
        if (aliases === undefined) continue;
        let error: unknown;
        try {
          fromConfig(without(config, path));
          continue;
        } catch (caught) {
          error = caught;
        }
        expect(error).toBeInstanceOf(PosencError);
        const { code, argument, message } = error as PosencError;
        if (code !== "missing-option") continue;
        if (!aliases.includes(argument.split(".").at(-1)!)) continue; // another key is missed in its place
        expect(argument, name).toBe(path.join("."));
        missed.add(lost);
        const others = /\(or ([^)]*)\) is missing/.exec(message)?.[1]?.split(", ") ?? [];
        for (const other of others) expect(aliases, message).toContain(other);
        expect(others).not.toContain(lost);
      }
    }
    for (const key of ["n_head", "n_embd", "n_heads", "num_heads", "num_attention_heads"]) {
      expect(missed, key).toContain(key);
    }
    expect(() => fromConfig({ model_type: "gpt2", n_head: 12, n_layer: 1, n_embd: 768 })).toThrow(
      "fromConfig: n_positions (or max_position_embeddings, n_ctx) is missing, it must be a whole number from 1",
    );
    expect(() => fromConfig({ model_type: "llama" })).toThrow("fromConfig: num_attention_heads (or n_head, ");
  });

  it("of a picture smaller than a patch is refused, and what is no multiple of one is cut", () => {
    const { config } = load("vit-base-patch16-224");
    for (const name of ["vit-base-patch16-224", "vit-mae-base", "swin-tiny"]) {
      const own = load(name).config;
      for (const sizes of [
        { image_size: 8, patch_size: 16 },
        { image_size: [224, 15], patch_size: 16 },
        { image_size: 224, patch_size: [16, 225] },
      ]) {
        expect(() => fromConfig({ ...own, ...sizes }), name).toThrow(
          expect.objectContaining({ code: "out-of-range", argument: "patch_size" }),
        );
      }
      expect(() => fromConfig({ ...own, image_size: [224, 112.5] })).toThrow(
        expect.objectContaining({ code: "out-of-range", argument: "image_size" }),
      );
      const cut = fromConfig({ ...own, image_size: [239, 225], patch_size: 16, num_channels: 3 });
      expect(cut.grid).toEqual([14, 14]);
    }
    expect(fromConfig({ ...config, image_size: 16, patch_size: 16 }).grid).toEqual([1, 1]);
    expect(() => fromConfig({ ...config, image_size: 8 })).toThrow(
      "fromConfig: patch_size must be at most image_size, 8 x 8, got 16 x 16",
    );
  });

  it("of an unknown model says what was looked for", () => {
    expect(() => fromConfig({ model_type: "mamba", architectures: ["MambaForCausalLM"] })).toThrow(
      /no reader for a config of model_type "mamba", "MambaForCausalLM"; looked for: model_type and architectures, here and in text_config, among llama, .*swin; or/,
    );
    expect(() => fromConfig({})).toThrow(/no reader for a config without model_type/);
    expect(() => fromConfig(null as never)).toThrow(/config must be an object/);
    expect(() => fromConfig("{}" as never)).toThrow(PosencError);
    expect(() => fromConfig({ ...kLlama, rope_scaling: { type: "yarm", factor: 2 } })).toThrow(
      /rope_scaling.type must be a rope type among "default", "linear", .*got "yarm"/,
    );
  });

  // Every number, word, list and object of a config in turn replaced by what does not belong there.
  it("gets an answer or an error of ours, whatever is wrong with it", () => {
    const junk = ["x", -1, 0, 1.5, NaN, Infinity, 1e300, 2 ** 40, [], {}, true, [null], "\u0000"];
    const spoilt = (value: unknown, wrong: unknown): unknown[] => {
      if (typeof value !== "object" || value === null) return [wrong];
      if (Array.isArray(value)) return [wrong, [...(value as unknown[]).slice(1), wrong]];
      return [
        wrong,
        ...Object.entries(value).flatMap(([key, inner]) =>
          [undefined, ...spoilt(inner, wrong)].map((other) => ({ ...value, [key]: other })),
        ),
      ];
    };
    let refused = 0;
    // Thousands of calls: of models that cannot come to want a large table.
    const names =
      "llama-4-scout qwen-7b qwen2-vl-7b gemma-3-1b gemma-4-26b-a4b phi-3.5-mini deepseek-v3 gpt-j-6b falcon-rw-1b " +
      "bloom glm-4-9b-chat";
    for (const name of names.split(" ")) {
      const { config } = load(name);
      for (const wrong of junk) {
        for (const other of spoilt(config, wrong) as object[]) {
          try {
            fromConfig(other);
          } catch (error) {
            refused += 1;
            if (!(error instanceof PosencError)) throw new Error(`${name}: ${JSON.stringify(other)}`, { cause: error });
            expect(error.message).toMatch(/^fromConfig: ./);
          }
        }
      }
    }
    expect(refused).toBeGreaterThan(1000);
  });

  it("is refused where its parts lie in parts without end", () => {
    const deep = JSON.parse('{"text_config":'.repeat(20_000) + "{}" + "}".repeat(20_000)) as object;
    const round: Record<string, unknown> = {};
    round["text_config"] = round;
    for (const odd of [deep, round])
      expect(() => fromConfig(odd)).toThrow(expect.objectContaining({ code: "unsupported" }));
    expect(fromConfig({ text_config: { text_config: kLlama } }).heads).toBe(32);
  });

  it("leaves the next call as it was", () => {
    expect(() => fromConfig({ ...kLlama, rope_theta: 0 })).toThrow();
    expect(fromConfig(kLlama).heads).toBe(32);
  });
});

// ---------------------------------------------------------------- used

describe("what comes out", () => {
  it("goes into attention as it is", () => {
    const gemma = fromConfig({ ...load("gemma-3-1b").config, head_dim: 16, num_hidden_layers: 6 });
    const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([4, 9, 16], { seed })) as [never, never, never];
    const run = (layer: number): Float32Array =>
      attention(q, k, v, { ...gemma.attention, ...gemma.layers![layer]! }).out.data as Float32Array;
    const byHand = attention(q, k, v, {
      causal: true,
      scale: 1 / 16,
      window: 512,
      rotate: rope({ dim: 16, base: 10000, layout: "half" }),
    });
    expect(run(0)).toEqual(byHand.out.data);
    expect(run(5)).not.toEqual(run(0));
  });

  it("turns the columns that the layout says, DeepSeek's turning ones first", () => {
    const { rotate: turned } = fromConfig(load("deepseek-v3").config);
    const x = Array.from({ length: 192 }, (_, c) => (c === 0 || c === 64 ? 1 : 0));
    const y = rotate([x], one(turned), { positions: [1] }).tolist() as number[][];
    expect(y[0]![0]).toBeCloseTo(Math.cos(1), 6);
    expect(y[0]![1]).toBeCloseTo(Math.sin(1), 6);
    expect(y[0]![64]).toBe(1);
  });

  it("holds tables that encode", () => {
    const { embed, firstPosition } = fromConfig(load("opt-125m").config);
    expect(encode(embed!, [firstPosition!, firstPosition! + 2047]).shape).toEqual([2, 768]);
    expect(() => encode(embed!, [firstPosition! + 2048])).toThrow(PosencError);
  });
});
