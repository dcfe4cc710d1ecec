// t-SNE: rows of a table as points of a plane in which near rows stay near.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/status.h"

namespace posenc {

inline constexpr std::size_t kMaxTsneRows = 2048;

// affinities (rows (rows - 1) / 2), of rows i and j < i at i (i - 1) / 2 + j: (p_{j|i} + p_{i|j}) / (2 rows), where
// p_{.|i} is a normal density about row i whose entropy is log(perplexity) (to 1e-10, by bisection); floored at 1e-300.
// Errors: as tsne.
Status tsne_affinities(const double* table, std::size_t rows, std::size_t columns, double perplexity,
                       double* affinities);

// table (rows, columns) -> points (rows, 2), centred on the origin, and the divergence KL(P | Q) in nats. Exact t-SNE
// (van der Maaten and Hinton 2008): gradient descent from seeded normal points of deviation 1e-4, step
// max(rows / 48, 50) with gains per coordinate, momentum 0.5, then 0.8 from iteration 250; until then affinities count
// twelvefold (the first half of the iterations where there are fewer than 500). Same seed, same bits, everywhere.
// O(rows^2 iterations). Errors: fewer than 4 rows or more than kMaxTsneRows, a perplexity outside 1 .. (rows - 1) / 3,
// numbers that are not finite.
Status tsne(const double* table, std::size_t rows, std::size_t columns, double perplexity, std::size_t iterations,
            std::uint64_t seed, double* points, double& divergence);

// tsne() in parts, for who has other things to do meanwhile; one after the other they give its bits.
//   tsne_squares    table -> pairs (rows (rows - 1) / 2), placed as affinities are: the squares of the distances of rows
//                   first .. end - 1 to those before them, in one unit for all. Errors: as tsne.
//   tsne_densities  pairs, all squares -> the affinities, in place
//   tsne_start      -> state (6 rows): x, y, their last steps, their gains
//   tsne_descend    iterations first .. end - 1 of `iterations` in all
//   tsne_map        state -> points (rows, 2) and divergence
Status tsne_squares(const double* table, std::size_t rows, std::size_t columns, double perplexity, std::size_t first,
                    std::size_t end, double* pairs);
void tsne_densities(std::size_t rows, double perplexity, double* pairs);
void tsne_start(std::size_t rows, std::uint64_t seed, double* state);
void tsne_descend(const double* affinities, std::size_t rows, std::size_t iterations, std::size_t first,
                  std::size_t end, double* state);
void tsne_map(const double* affinities, std::size_t rows, const double* state, double* points, double& divergence);

}  // namespace posenc
