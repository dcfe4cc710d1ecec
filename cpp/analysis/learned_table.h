// What a table of free parameters can be, beside a formula: fitted to a kernel, spread over another length, continued.
#pragma once

#include <cstddef>

#include "core/status.h"

namespace posenc {

// target (n, n) -> table (n, width) whose products of rows come nearest to it: the minimum of |P P^T - K| in the
// Frobenius norm over all tables, which training could at best find (Eckart and Young 1936). Columns are eigenvectors
// times the roots of the eigenvalues, largest first; a negative or a missing eigenvalue leaves a column of zeros. Sign:
// of a column's entries the largest in magnitude is positive, the first of equal ones. residual = |P P^T - K| / |K|, 0
// for a target of zeros. The symmetric part of the target is what counts. O(n^3). Errors: numbers that are not finite.
Status fit_table(const double* target, std::size_t n, std::size_t width, double* table, double& residual);

enum class Corners { kAlign, kHalfPixel };

// table (rows, width) -> out (length, width): the rows spread over another length, linear between them. kAlign: the
// first and the last stay the first and the last, row t (rows - 1) / (length - 1) (a length of 1 takes the first).
// kHalfPixel: rows are the middles of cells, (t + 1/2) rows / length - 1/2 held within the table (PyTorch's
// align_corners=False). The convention of the learned scheme. Errors: a table without rows, numbers that are not
// finite.
Status resample_table(const double* table, std::size_t rows, std::size_t width, std::size_t length, Corners corners,
                      double* out);

// table (rows, width) -> out (length, width), length >= rows: the rows as they are and then each as M times the one
// before, where M (width, width) is the map of least norm that takes each row nearest to the next, in the least squares
// of all steps. misfit: the largest entry of |M row - next| within the table; near 0 for a table that turns, as
// sinusoids do. (In the eigenspaces of the rows' Gram matrix above 1e-12 of its largest eigenvalue.) O(rows width^2 +
// width^3). Errors: fewer than 2 rows, a shorter length, numbers that are not finite.
Status extend_table(const double* table, std::size_t rows, std::size_t width, std::size_t length, double* out,
                    double& misfit);

}  // namespace posenc
