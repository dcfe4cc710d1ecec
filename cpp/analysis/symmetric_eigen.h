// Eigenvalues and eigenvectors of a symmetric matrix, the largest first. In place of Eigen's solver, which weighs 25 kB
// gzipped in a module; the tests hold it against that.
#pragma once

#include <cstddef>

namespace posenc {

// a (n, n) symmetric, its lower triangle read and destroyed -> the `count` largest eigenvalues, falling (count), and
// their unit vectors (count, n), of either sign. Householder's reduction, bisection on Sturm counts, inverse iteration
// with every vector held at right angles to those before it (Golub and Van Loan, 8.3 to 8.5; Parlett, The Symmetric
// Eigenvalue Problem, 4). Values are within a few n 2^-53 |a|; vectors of values that lie as close as that are some
// basis of their common space. Equal values give equal bits everywhere. O(n^3 + n count^2) operations.
void symmetric_eigen(double* a, std::size_t n, std::size_t count, double* values, double* vectors);

}  // namespace posenc
