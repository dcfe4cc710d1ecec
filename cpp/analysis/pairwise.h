// What a matrix of numbers of pairs (a bias, weights, similarities) says of distance: profiles by offset and the
// properties by which positional encodings are compared (Wang et al. 2021, "On position embeddings in BERT").
#pragma once

#include <cstddef>

#include "core/status.h"

namespace posenc {

// batch matrices (queries, keys), row-major. Key j and query i are j - i - start apart: `start` is the position of the
// first query where the first key is at 0, as in attention over a cache.
struct PairMatrices {
  const double* data = nullptr;
  std::size_t batch = 0, queries = 0, keys = 0;
  double start = 0;
};

// Offsets from -(start + queries - 1) up: queries + keys - 1 of them where neither is 0.
std::size_t offset_count(const PairMatrices& m);

// Each (batch, offset_count): over the pairs at that offset, their mean, smallest, largest, and the root of their mean
// squared distance from the mean. The smallest and the largest of a Toeplitz matrix are equal.
// Errors: numbers that are not finite.
Status offset_profile(const PairMatrices& m, double* mean, double* lowest, double* highest, double* deviation);

// gap (batch): the largest difference of two numbers at one offset, 0 exactly for a Toeplitz matrix.
Status toeplitz_gap(const PairMatrices& m, double* gap);

// Square matrices: share (batch) = |(M + M^T) / 2|^2 / |M|^2 in squared Frobenius norms, 1 for a symmetric matrix (and
// for zeros), 0 for an antisymmetric one; gap (batch), the largest |m_ij - m_ji|.
// Errors: queries other than keys, numbers that are not finite.
Status symmetry(const PairMatrices& m, double* share, double* gap);

// Steps from a key to the next one farther from the query, on either side: share (batch) of them on which the number
// does not rise, 1 where there is no step; rise (batch), the largest rise, 0 for a matrix that is monotone in distance.
Status monotonicity(const PairMatrices& m, double* share, double* rise);

// share (batch): how much of a query's weight lies on keys at most `radius` away, the mean over the queries whose
// weights are not all zero (0 where all are). `scores`: the numbers are scores (a bias), and their softmax is taken
// first. Errors: numbers that are not finite; weights below 0; a radius that is negative or not finite.
Status locality(const PairMatrices& m, double radius, bool scores, double* share);

}  // namespace posenc
