// A symmetric matrix reduced to three diagonals by Householder reflections.
#pragma once

#include <cstddef>

namespace posenc {

/// a (n, n), of which the lower triangle is read and destroyed, = Q T Q^T: T has diagonal (n) and, between i - 1 and i,
/// below[i] (below[0] = 0). The largest entries are near 1; those below 2^-450 beside them are dropped. Q = H_{n-1} ...
/// H_1 with H_i = I - factor[i] v v^T, v the first i entries of a's row i. 4/3 n^3 operations. scratch holds 4 n
/// doubles. (Golub and Van Loan, Matrix Computations, 8.3.1, from the last row.)
void tridiagonalise(double* a, std::size_t n, double* diagonal, double* below, double* factor, double* scratch);

/// z (n) -> Q z, with the reflections that tridiagonalise left in a.
void apply_reflections(const double* a, std::size_t n, const double* factor, double* z);

}  // namespace posenc
