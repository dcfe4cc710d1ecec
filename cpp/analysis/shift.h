// Moving every position by k as one linear map of the encoding.
#pragma once

#include <cstddef>

#include "core/status.h"

namespace posenc {

// How the two members of a pair lie in a row.
struct PairPlaces {
  std::size_t width = 0;    // of a row
  std::size_t pairs = 0;    // 2 pairs <= width; columns behind the pairs stay as they are
  bool halves = false;      // members i and i + pairs, else 2 i and 2 i + 1
  bool sine_first = false;  // the first member is the sine (tables), else the cosine (tables, and vectors that turn)
  double factor = 1;        // what the sines and cosines given were multiplied by
};

// sine, cosine (pairs) of omega_i k -> matrix M (width, width), row-major, with p(t + k) = M p(t) for every t: a
// rotation of each pair, sine first [[cos, sin], [-sin, cos]], else [[cos, -sin], [sin, cos]]. Its determinant is 1 and
// its eigenvalues e^(+-i omega k) lie on the unit circle. (Vaswani et al. 2017, 3.5; Su et al. 2021, 3.2.2.)
void shift_matrix(const PairPlaces& places, const double* sine, const double* cosine, double* matrix);

// The same as blocks (pairs, 2, 2), of the rows and columns of each pair's members; all else is the identity.
void shift_blocks(const PairPlaces& places, const double* sine, const double* cosine, double* blocks);

// sine, cosine (count, pairs) of omega_i e_t, rows (count, width) at some positions -> in place, the rows e_t later,
// e_t being what t + k is past its rounded sum.
void turn_rows(const PairPlaces& places, const double* sine, const double* cosine, std::size_t count, double* rows);

// blocks (pairs, 2, 2) of M, rows (count, width) at some positions, moved (count, width) at those k later -> error
// (count): the largest |M row - moved|, each sum in the order of the columns. Errors: numbers that are not finite.
Status shift_error(const PairPlaces& places, const double* blocks, const double* rows, const double* moved,
                   std::size_t count, double* error);

// found, expected (count) -> the largest |found - expected| and the largest |expected|: whether moving all positions
// changed a score. Errors: numbers that are not finite.
Status largest_difference(const double* found, const double* expected, std::size_t count, double& difference,
                          double& size);

}  // namespace posenc
