// Drives the pairwise slots over whole matrices, tile by tile, as attention does, without attention.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "schemes/scheme.h"

namespace posenc_test {

using Reals = std::vector<double>;

// first, first + 1, ... (count)
inline Reals run(double first, std::size_t count) {
  Reals positions(count);
  for (std::size_t t = 0; t < count; ++t) positions[t] = first + static_cast<double>(t);
  return positions;
}

// Calls visit(tile) for every tile. Positions have one axis; the same ones are shown on each of `axes`.
template <class Visit>
void for_each_tile(const Reals& queries, const Reals& keys, int head, bool diagonals, bool descending, Visit visit,
                   int axes = 1) {
  using namespace posenc;
  Reals all_keys;
  for (int axis = 0; axis < axes; ++axis) all_keys.insert(all_keys.end(), keys.begin(), keys.end());
  const bool steps =
      diagonals && axes == 1 && unit_steps(queries.data(), queries.size()) && unit_steps(keys.data(), keys.size());
  for (std::size_t i = 0; i < queries.size(); i += kLanes) {
    Reals lanes;
    for (std::size_t n = 0; n < static_cast<std::size_t>(axes * kLanes); ++n) {
      lanes.push_back(queries[std::min(i + n % kLanes, queries.size() - 1)]);
    }
    const std::size_t blocks = (keys.size() + kKeyBlock - 1) / kKeyBlock;
    for (std::size_t n = 0; n < blocks; ++n) {
      const std::size_t j = (descending ? blocks - 1 - n : n) * kKeyBlock;
      RelateTile tile;
      tile.head = head;
      tile.queries = static_cast<int>(std::min<std::size_t>(kLanes, queries.size() - i));
      tile.keys = static_cast<int>(std::min<std::size_t>(kKeyBlock, keys.size() - j));
      tile.first_query = i;
      tile.first_key = j;
      tile.query_positions = lanes.data();
      tile.key_positions = all_keys.data() + j;
      tile.key_stride = keys.size();
      tile.query_axes = tile.key_axes = axes;
      tile.unit_step = steps;
      tile.unit_offset = steps ? keys[j] - queries[i] : 0;
      visit(tile);
    }
  }
}

// -> b (Tq, Tk)
inline std::vector<float> bias_matrix(const posenc::Bias& bias, int head, const Reals& queries, const Reals& keys,
                                      bool diagonals = true) {
  using namespace posenc;
  std::vector<float> matrix(queries.size() * keys.size());
  for_each_tile(
      queries, keys, head, diagonals, false,
      [&](const Tile& tile) {
        float b[kKeyBlock * kLanes];
        bias.fill(tile, b);
        for (int j = 0; j < tile.keys; ++j) {
          for (int l = 0; l < tile.queries; ++l) {
            matrix[(tile.first_query + static_cast<std::size_t>(l)) * keys.size() + tile.first_key +
                   static_cast<std::size_t>(j)] = b[j * kLanes + l];
          }
        }
      },
      bias.axes());
  return matrix;
}

// -> rows (Tq, Tk) of the scheme's table; empty where it has none
template <class Pairwise>
std::vector<std::int32_t> index_matrix(const Pairwise& scheme, bool raw, const Reals& queries, const Reals& keys,
                                       bool diagonals = true) {
  using namespace posenc;
  std::vector<std::int32_t> matrix(queries.size() * keys.size());
  bool has = true;
  for_each_tile(
      queries, keys, 0, diagonals, false,
      [&](const Tile& tile) {
        std::int32_t rows[kKeyBlock * kLanes];
        has = has && scheme.index(tile, raw, rows);
        for (int j = 0; has && j < tile.keys; ++j) {
          for (int l = 0; l < tile.queries; ++l) {
            matrix[(tile.first_query + static_cast<std::size_t>(l)) * keys.size() + tile.first_key +
                   static_cast<std::size_t>(j)] = rows[j * kLanes + l];
          }
        }
      },
      scheme.axes());
  if (!has) matrix.clear();
  return matrix;
}

struct RelateResult {
  std::vector<float> scores;  // (Tq, Tk)
  std::vector<float> values;  // (Tq, dv): sum_j p_ij a^V(i, j), empty without a value side
};

// q (Tq, d)  k (Tk, d)  p (Tq, Tk), all keys visible; content scores are <q, k> scale.
inline RelateResult relate_matrices(const posenc::Relate& relate, int head, std::span<const float> q,
                                    std::span<const float> k, std::size_t d, float scale, std::span<const float> p,
                                    const Reals& queries, const Reals& keys, bool diagonals = true) {
  using namespace posenc;
  const auto width = static_cast<std::size_t>(relate.value_width());
  RelateResult result;
  result.scores.resize(queries.size() * keys.size());
  result.values.resize(queries.size() * width);
  std::vector<float> key_state(relate.key_state_size(keys.size())), query_state(relate.query_state_size(), 77.0f);
  relate.prepare_keys(head, k.data(), keys.size(), d, {keys.data(), keys.size(), 1}, key_state.data());

  std::vector<float> lanes_q(d * kLanes), content(kKeyBlock * kLanes), visible(kKeyBlock * kLanes, 1.0f),
      r(kKeyBlock * kLanes), weights(kKeyBlock * kLanes), o(width * kLanes);
  std::size_t tiles_left = 0;
  for_each_tile(queries, keys, head, diagonals, relate.descending(), [&](RelateTile& tile) {
    const auto cell = [&](int j, int l) {
      const auto live = static_cast<std::size_t>(std::min(l, tile.queries - 1));
      return (tile.first_query + live) * keys.size() + tile.first_key + static_cast<std::size_t>(j);
    };
    for (int l = 0; l < kLanes; ++l) {
      const std::size_t i = tile.first_query + static_cast<std::size_t>(std::min(l, tile.queries - 1));
      for (std::size_t c = 0; c < d; ++c) lanes_q[c * kLanes + static_cast<std::size_t>(l)] = q[i * d + c];
    }
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < kLanes; ++l) {
        float sum = 0;
        for (std::size_t c = 0; c < d; ++c) {
          sum += lanes_q[c * kLanes + static_cast<std::size_t>(l)] *
                 k[(tile.first_key + static_cast<std::size_t>(j)) * d + c];
        }
        content[static_cast<std::size_t>(j * kLanes + l)] = sum * scale;
        weights[static_cast<std::size_t>(j * kLanes + l)] = p.empty() ? 0 : p[cell(j, l)];
      }
    }
    tile.q = lanes_q.data();
    tile.k = k.data() + tile.first_key * d;
    tile.d = d;
    tile.content = content.data();
    tile.visible = visible.data();
    tile.scale = scale;
    if (tiles_left == 0) {
      tiles_left = (keys.size() + kKeyBlock - 1) / kKeyBlock;
      relate.begin(tile, query_state.data());
    }
    relate.scores(tile, key_state.data(), query_state.data(), r.data());
    if (width > 0) relate.accumulate(tile, weights.data(), query_state.data());
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < tile.queries; ++l) result.scores[cell(j, l)] = r[static_cast<std::size_t>(j * kLanes + l)];
    }
    if (--tiles_left == 0 && width > 0) {
      std::fill(o.begin(), o.end(), 0.0f);
      relate.finish(head, query_state.data(), o.data());
      for (int l = 0; l < tile.queries; ++l) {
        for (std::size_t c = 0; c < width; ++c) {
          result.values[(tile.first_query + static_cast<std::size_t>(l)) * width + c] =
              o[c * kLanes + static_cast<std::size_t>(l)];
        }
      }
    }
  });
  return result;
}

}  // namespace posenc_test
