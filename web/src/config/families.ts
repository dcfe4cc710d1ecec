// Which reader reads which model. Keys are model_type as configs write it.
import * as decoders from "./decoders.js";
import * as encoders from "./encoders.js";
import type { Keys } from "./keys.js";
import type { Reading } from "./result.js";
import * as vision from "./vision.js";

/** Readers by model_type. */
export const families: Readonly<Record<string, (keys: Keys) => Reading>> = {
  llama: decoders.llama,
  llama4_text: decoders.llama4,
  mistral: decoders.mistral,
  ministral3: decoders.mistral,
  mixtral: decoders.mistral,
  qwen: decoders.qwen1,
  qwen2: decoders.qwen2,
  qwen2_moe: decoders.qwen2,
  qwen2_vl: decoders.qwen2Vl,
  qwen2_vl_text: decoders.qwen2Vl,
  qwen2_5_vl: decoders.qwen2Vl,
  qwen2_5_vl_text: decoders.qwen2Vl,
  qwen3: decoders.qwen2,
  qwen3_moe: decoders.qwen2,
  qwen3_vl_text: decoders.qwen3Vl,
  qwen3_vl_moe_text: decoders.qwen3Vl,
  gemma: decoders.gemma,
  gemma2: decoders.gemma2,
  gemma3_text: decoders.gemma3,
  gemma3n_text: decoders.gemma3n,
  gemma4_text: decoders.gemma4,
  gemma4_unified_text: decoders.gemma4,
  phi: decoders.phi,
  phi3: decoders.phi3,
  phimoe: decoders.phi3,
  deepseek_v2: decoders.deepseek,
  deepseek_v3: decoders.deepseek,
  kimi_k2: decoders.deepseek,
  gpt_oss: decoders.gptOss,
  gptj: decoders.gptj,
  gpt_neox: decoders.gptNeox,
  glm: decoders.glm,
  glm4: decoders.glm,
  glm4_moe: decoders.glmMoe,
  chatglm: decoders.chatglm,
  falcon: decoders.falcon,
  RefinedWeb: decoders.falcon,
  RefinedWebModel: decoders.falcon,
  mpt: decoders.mpt,
  bloom: decoders.bloom,
  baichuan: decoders.baichuan,
  t5: encoders.t5,
  mt5: encoders.t5,
  umt5: encoders.t5,
  gpt2: encoders.gpt2,
  gpt_bigcode: encoders.gpt2,
  gpt_neo: encoders.gptNeo,
  opt: encoders.opt,
  bart: encoders.bart,
  mbart: encoders.bart,
  bert: encoders.bert,
  roberta: encoders.roberta,
  "xlm-roberta": encoders.roberta,
  camembert: encoders.roberta,
  deberta: encoders.deberta,
  "deberta-v2": encoders.deberta,
  "transfo-xl": encoders.transfoXl,
  vit: vision.vit,
  deit: vision.vit,
  vit_mae: vision.mae,
  detr: vision.detr,
  swin: vision.swin,
};

const kGpt2Names = ["n_head", "n_layer", "n_embd", "n_positions"];
const kT5Names = ["num_heads", "num_layers", "d_model"];

const spellings: Readonly<Record<string, readonly string[]>> = {
  gptj: kGpt2Names,
  gpt2: kGpt2Names,
  gpt_bigcode: kGpt2Names,
  gpt_neo: ["num_heads", "num_layers"],
  mpt: ["n_heads", "n_layers", "d_model"],
  bloom: ["n_layer", "n_embed"],
  RefinedWeb: kGpt2Names,
  RefinedWebModel: kGpt2Names,
  chatglm: ["num_layers"],
  t5: kT5Names,
  mt5: kT5Names,
  umt5: kT5Names,
  bart: ["d_model"],
  mbart: ["d_model"],
  "transfo-xl": ["n_head", "n_layer", "d_model"],
  detr: ["d_model"],
};

/** Of the names that keys go by, those that a family's configs write where they are not Llama's. */
export function spellingOf(family: string): readonly string[] {
  return Object.hasOwn(spellings, family) ? spellings[family]! : [];
}

// Letters and digits only, so that GPTNeoXForCausalLM finds gpt_neox and DebertaV2Model deberta-v2.
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** The family of a model_type or of the name of an architecture, or undefined. */
export function familyOf(name: string): string | undefined {
  if (Object.hasOwn(families, name)) return name;
  const short = plain(name.replace(/(For[A-Z].*|LMHead.*|Model|PreTrainedModel)$/, ""));
  return Object.keys(families).find((family) => plain(family) === short);
}
