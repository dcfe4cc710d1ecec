// Products of the rows of a float64 matrix with each other, tiled for the machine's multiply-add peak.
#pragma once

#include <cstddef>

namespace posenc {

// Terms of a sum that are added in one go. Part of the definition of the result, like the order within a go.
inline constexpr std::size_t kGramDepth = 128;

/// a (m, k), element (i, c) at a[i row_stride + c column_stride], -> out (m, m), symmetric: out_ij = sum_c a_ic a_jc, c
/// rising, summed from zero over every kGramDepth terms and those sums in turn. Half the tiles are computed. scratch
/// holds gram_scratch(m) doubles. An element depends on its two rows alone.
void gram(const double* a, std::size_t m, std::size_t k, std::size_t row_stride, std::size_t column_stride, double* out,
          double* scratch);

/// Doubles of scratch memory that gram() needs.
std::size_t gram_scratch(std::size_t m);

}  // namespace posenc
