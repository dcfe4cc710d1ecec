// The products of attention for one query alone, as in generating a text from a cache: rows of keys and values are read
// where they lie, once each, and lanes hold keys or channels. The same bits as score_tile and value_tile.
#pragma once

#include <cstddef>

namespace posenc {

// keys (rows, d)  query (d, 8), of which lane 0 counts -> s (rows, 8): s_jl = sum_c k_jc q_c in every lane l, summed
// with c rising; d is a multiple of 4.
void score_rows(const float* keys, std::size_t rows, std::size_t d, const float* query, float* s);

// o (dv, 8) = alpha o + sum_j v_jc p_j in lane 0, summed from zero with j rising; values (rows, dv)  p (rows, 8), of
// which lane 0 counts. Other lanes stay as they are; dv is a multiple of 16.
void value_rows(const float* values, std::size_t rows, std::size_t dv, const float* p, float alpha, float* o);

}  // namespace posenc
