#include "attention/places.h"

#include <cstring>

namespace posenc {

bool Places::spread(const Positions& given, std::size_t tokens, int axes, Buffer<double>& made,
                    const double*& positions) {
  const double* first = given.data == nullptr ? indices_.get() : given.data;
  positions = first;
  if (axes == 1 || (given.data != nullptr && given.axes == axes)) return true;
  if (!made.allocate(static_cast<double>(tokens) * axes)) return false;
  for (int a = 0; a < axes && tokens != 0; ++a) {
    std::memcpy(made.get() + static_cast<std::size_t>(a) * tokens, first, tokens * sizeof(double));
  }
  positions = made.get();
  return true;
}

bool Places::make(const AttentionOptions& call, int axes) {
  const bool index_queries = call.query_positions.data == nullptr, index_keys = call.key_positions.data == nullptr;
  const bool index_order = (!call.query_order && (index_queries || call.query_positions.axes > 1)) ||
                           (!call.key_order && (index_keys || call.key_positions.axes > 1));
  if (index_queries || index_keys || index_order) {
    const std::size_t tall = call.keys < call.queries ? call.queries : call.keys;
    if (!indices_.allocate(static_cast<double>(tall))) return false;
    for (std::size_t t = 0; t < tall; ++t) indices_[t] = static_cast<double>(t);
  }
  if (!spread(call.query_positions, call.queries, axes, queries_made_, queries)) return false;
  if (!spread(call.key_positions, call.keys, axes, keys_made_, keys)) return false;
  length = call.length;
  for (std::size_t t = 0; call.length == 0 && t < call.keys * static_cast<std::size_t>(axes); ++t) {
    length = length < keys[t] + 1 ? keys[t] + 1 : length;
  }
  const auto order = [&](const double* given, const Positions& positions, const double* used) {
    if (given != nullptr) return given;
    return positions.data != nullptr && positions.axes > 1 ? static_cast<const double*>(indices_.get()) : used;
  };
  visibility.query_order = order(call.query_order, call.query_positions, queries);
  visibility.key_order = order(call.key_order, call.key_positions, keys);
  visibility.causal = call.causal;
  visibility.window_left = call.window_left, visibility.window_right = call.window_right;
  visibility.prefix_length = call.prefix_length;
  return true;
}

void Places::enter_batch(const AttentionOptions& call, std::size_t b) {
  visibility.key_mask = call.key_mask;
  if (call.key_mask != nullptr && call.key_mask_batched) visibility.key_mask += b * call.keys;
  visibility.key_length = call.key_lengths == nullptr ? static_cast<double>(call.keys) : call.key_lengths[b];
}

}  // namespace posenc
