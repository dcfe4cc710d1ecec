// The forces between the points of a plane in exact t-SNE, every pair once.
#pragma once

#include <cstddef>

namespace posenc {

/// x, y (n) points of a plane; p (n (n - 1) / 2), the affinity of points i and j < i at i (i - 1) / 2 + j. With
/// w_ij = 1 / (1 + |y_i - y_j|^2): attraction (2, n) = sum_j p_ij w_ij (y_i - y_j), repulsion (2, n) =
/// sum_j w_ij^2 (y_i - y_j), and the result is the sum of w_ij over pairs. (van der Maaten and Hinton 2008, eq. 5.)
double neighbour_forces(const double* p, const double* x, const double* y, std::size_t n, double* attraction,
                        double* repulsion);

}  // namespace posenc
