// A model's config.json says what it does with positions. Gemma 3 has two bases, and windows in five layers of six.
import { attention, randomNormal } from "posenc";
import { fromConfig } from "posenc/config";

const config = {
  model_type: "gemma3_text",
  head_dim: 256,
  hidden_size: 1152,
  num_attention_heads: 4,
  num_key_value_heads: 1,
  num_hidden_layers: 26,
  query_pre_attn_scalar: 256,
  rope_local_base_freq: 10000,
  rope_theta: 1000000,
  sliding_window: 512,
  sliding_window_pattern: 6,
};
const gemma = fromConfig(config);
console.log(gemma.attention);
//> { scale: 0.0625, causal: true }
for (const layer of [0, 5]) console.log(String(gemma.layers[layer].rotate), gemma.layers[layer].window);
//> rope({dim: 256, layout: "half"}) 512
//> rope({dim: 256, base: 1000000, layout: "half"}) undefined

const [q, k, v] = [4, 1, 1].map((heads, seed) => randomNormal([heads, 8, 256], { seed }));
console.log(attention(q, k, v, { ...gemma.attention, ...gemma.layers[0] }).out.shape);
//> [ 4, 8, 256 ]

try {
  fromConfig({ ...config, rope_theta: 0 });
} catch ({ message }) {
  console.log(message);
}
//> fromConfig: rope_theta must be a finite number above 0, got 0
