// Models of images: positions of patches.
import { refuse, verbatim } from "../error.js";
import { type Keys, headCount, headWidth, kMostLayers, kSubject, usualScale } from "./keys.js";
import { make } from "./make.js";
import type { LayerPositions, PartPositions, Reading } from "./result.js";

// A side given once, or as [height, width].
function sides(keys: Keys, key: string, fallback?: number): readonly [number, number] {
  if (!Array.isArray(keys.values[key])) {
    const side = keys.whole(key, fallback);
    return [side, side];
  }
  const [height, width] = keys.numbers(key, 2, "height and width") as [number, number];
  for (const side of [height, width]) {
    if (side >= 1 && Number.isInteger(side)) continue;
    refuse("out-of-range", kSubject, keys.at(key), "whole numbers from 1", side);
  }
  return [height, width];
}

// Whole patches only, as the models' convolution takes them: a rest at the edge is not seen.
function patches(keys: Keys, patch = 16): readonly [number, number] {
  const [height, width] = sides(keys, "image_size", 224);
  const [tall, wide] = sides(keys, "patch_size", patch);
  if (tall > height || wide > width) {
    const allowed = `at most image_size, ${height} x ${width}`;
    refuse("out-of-range", kSubject, keys.at("patch_size"), allowed, verbatim(`${tall} x ${wide}`));
  }
  return [Math.floor(height / tall), Math.floor(width / wide)];
}

function viewing(keys: Keys): { heads: number; headDim: number; attention: { scale: number } } {
  const headDim = headWidth(keys);
  return { heads: headCount(keys), headDim, attention: { scale: usualScale(headDim) } };
}

export function vit(keys: Keys): Reading {
  const grid = patches(keys);
  // DeiT distils into a second token.
  const tokens = keys.text("model_type") === "deit" ? 2 : 1;
  const length = grid[0] * grid[1] + tokens;
  const dim = keys.whole("hidden_size");
  keys.note(
    `A learned table, seeded here: embeddings.position_embeddings of the weights, [${length}, ${dim}]; ` +
      `the first ${tokens === 1 ? "row is" : "2 rows are"} not a patch's.`,
  );
  return { embed: make("embed", "learned", { length, dim }), grid, firstPosition: 0, ...viewing(keys) };
}

export function mae(keys: Keys): Reading {
  const grid = patches(keys);
  const sinusoids = (dim: number): PartPositions["embed"] => make("embed", "sinusoidal2d", { dim, style: "mae" });
  const width = keys.whole("decoder_hidden_size", 512);
  const heads = keys.whole("decoder_num_attention_heads", 16);
  if (width % heads !== 0) {
    refuse("out-of-range", kSubject, keys.at("decoder_num_attention_heads"), `a divisor of ${width}`, heads);
  }
  keys.note("The class token, before the patches, gets zeros. Half of the columns is each axis's, the width's first.");
  const { attention, ...rest } = viewing(keys);
  const encoder = { embed: sinusoids(keys.whole("hidden_size"))!, attention };
  const decoder = { embed: sinusoids(width)!, attention: { scale: usualScale(width / heads) } };
  return { ...encoder, ...rest, grid, parts: { encoder, decoder } };
}

export function detr(keys: Keys): Reading {
  const dim = keys.whole(["d_model", "hidden_size"]);
  const kind = keys.text("position_embedding_type") ?? "sine";
  if (kind !== "sine") {
    keys.unsupported("position_embedding_type", `${JSON.stringify(kind)} is not expressible: only "sine" is`);
  }
  const scaleBy = (key: string): number => {
    const heads = keys.whole(key, 8);
    if (dim % heads !== 0) refuse("out-of-range", kSubject, keys.at(key), `a divisor of d_model, ${dim}`, heads);
    return usualScale(dim / heads);
  };
  const heads = keys.whole("encoder_attention_heads", 8);
  const embed = make("embed", "sinusoidal2d", { dim, style: "detr", normalize: true });
  const encoder = { embed, attention: { scale: scaleBy("encoder_attention_heads") } };
  const queries = make("embed", "learned", { length: keys.whole("num_queries", 100), dim });
  const attention = { scale: scaleBy("decoder_attention_heads") };
  keys.note("Positions are added to queries and keys in every layer, never to values.");
  keys.note("The decoder's table is learned: model.query_position_embeddings.weight of the weights.");
  return {
    ...encoder,
    heads,
    headDim: dim / heads,
    parts: { encoder, decoder: { embed: queries, attention }, cross: { embed, attention } },
  };
}

/** Swin: a bias within windows, whose place alternates; heads double from stage to stage. */
export function swin(keys: Keys): Reading {
  const depths = keys.numbers("depths");
  depths.forEach((depth, stage) => {
    if (!Number.isInteger(depth) || depth < 1 || depth > kMostLayers) {
      refuse("out-of-range", kSubject, keys.at(`depths[${stage}]`), `a whole number from 1 to ${kMostLayers}`, depth);
    }
  });
  const stageHeads = keys.numbers("num_heads", depths.length, "one a stage, as depths has them");
  const window = keys.whole("window_size", 7);
  const width = keys.whole("embed_dim");
  const grid = patches(keys, 4);
  const layers: LayerPositions[] = [];
  const shifts: number[] = [];
  let headDim = 0;
  depths.forEach((depth, stage) => {
    const heads = stageHeads[stage]!;
    const channels = width * 2 ** stage;
    if (!(heads >= 1) || channels % heads !== 0) {
      refuse("out-of-range", kSubject, keys.at(`num_heads[${stage}]`), `a divisor of the ${channels} channels`, heads);
    }
    // Where the picture is no larger than a window, that is the window, and nothing is shifted.
    const side = Math.floor(Math.min(...grid) / 2 ** stage);
    const whole = side <= window;
    const cells = whole ? side : window;
    const bias = make("bias", "swin", { window: cells, heads });
    if (stage === 0) headDim = channels / heads;
    for (let block = 0; block < depth; block++) {
      layers.push({ bias, scale: usualScale(channels / heads) });
      shifts.push(block % 2 === 0 || whole ? 0 : Math.floor(window / 2));
    }
  });
  keys.note("The tables are learned: relative_position_bias_table of each block of the weights.");
  keys.note("Odd blocks shift their windows by shifts[layer] cells, and mask what comes round the edge.");
  return {
    bias: layers[0]!.bias!,
    ...(keys.flag("use_absolute_embeddings", false)
      ? { embed: make("embed", "learned", { length: grid[0] * grid[1], dim: width }) }
      : {}),
    grid,
    layers,
    shifts,
    heads: stageHeads,
    headDim,
    attention: { scale: usualScale(headDim) },
  };
}
