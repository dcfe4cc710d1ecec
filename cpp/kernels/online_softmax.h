// Softmax over tiles that come one after another (Milakov and Gimelshein 2018): a running maximum m and a running sum l
// per query, eight queries in lanes.
#pragma once

#include <cstddef>

namespace posenc {

// s (rows, 8) += b (rows, 8), and the largest score of each lane -> m (8), -inf where none is above it. A null b adds
// nothing. NaN scores do not count.
void add_and_find_largest(float* s, const float* b, std::size_t rows, float* m);

// Folds a tile into the running softmax.
// s (rows, 8): scores in, weights e^(s - m) out   tile_largest (8)   m (8), l (8): running, updated
// -> alpha (8): what earlier sums and outputs are to be multiplied by; exactly 1 where the maximum stands.
// Lanes with no score above -inf so far keep m = -inf and l = 0.
void softmax_tile(float* s, std::size_t rows, const float* tile_largest, float* m, float* l, float* alpha);

// o (channels, 8) -> o / l * scale in place; zero where l is 0; zeros are +0.
void normalise_output(float* o, std::size_t channels, const float* l, float scale);

// s (n) -> e^(s - m) / l in place: final weights of one query; zero everywhere where l is 0.
void normalise_weights(float* s, std::size_t n, float m, float l);

}  // namespace posenc
