// Whether attention notices the order of its tokens.
#pragma once

#include <cstddef>

#include "core/status.h"

namespace posenc {

// scores (batch, queries, keys), -Infinity where a query does not see a key; values (batch / groups, keys, width), each
// shared by `groups` neighbours of the batch, which it divides -> out (batch, queries, width) = softmax(scores) values
// in float64, with every sum taken over the keys in an order that depends on their scores and values alone, never on
// where they stand: sorted by score, then by the row of values. Permuting the keys leaves every bit as it is. A query
// that sees nothing has zeros. O(batch queries keys (width + log keys)).
// Errors: scores or values that are NaN, or Infinity where a key is seen.
Status sorted_attention(const float* scores, const float* values, std::size_t batch, std::size_t groups,
                        std::size_t queries, std::size_t keys, std::size_t width, double* out);

// straight = Attn(X), permuted = Attn(P X), each (batch, tokens, width); (P X)_t = X_permutation[t] -> gap, the largest
// |Attn(P X) - P Attn(X)|. Unmasked self-attention is equivariant: 0 but for rounding.
// Errors: a permutation that is none of 0 .. tokens - 1, numbers that are not finite.
Status permutation_gap(const double* straight, const double* permuted, const double* permutation, std::size_t batch,
                       std::size_t tokens, std::size_t width, double& gap);

}  // namespace posenc
