// Which rows of a table lie closest, and which lie within a tolerance: how well an encoding tells positions apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/status.h"

namespace posenc {

struct Pair {
  std::size_t i = 0, j = 0;  // i < j
  double distance = 0;
};

// table (rows, columns) -> the pair of rows at the smallest Euclidean distance, of equal ones that of the smallest i,
// then j: exactly what comparing every pair gives, to the bit. Pairs are left out by the boxes round groups of rows
// near in index or near in space, whichever lie closer, so a table that is smooth along its index or scattered in few
// dimensions takes about rows log(rows) columns operations; rows without structure take rows^2 columns / 2. Errors:
// fewer than 2 rows, numbers that are not finite.
Status closest_pair(const double* table, std::size_t rows, std::size_t columns, Pair& pair);

// The pairs of rows at most `tolerance` apart: how many, and the first `limit` of them by i, then j.
// Errors: as closest_pair; a tolerance below 0 or not finite. Time and memory grow with the number of pairs found.
Status near_pairs(const double* table, std::size_t rows, std::size_t columns, double tolerance, std::size_t limit,
                  double& total, std::vector<Pair>& pairs);

// origin (columns), rows (count, columns) -> distances (count): |row - origin|, what a scheme whose distances depend on
// the offset alone needs to know. Errors: numbers that are not finite.
Status distances_from(const double* origin, const double* rows, std::size_t count, std::size_t columns,
                      double* distances);

}  // namespace posenc
