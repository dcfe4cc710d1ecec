// Positions beyond those a model was trained on: phases never met, and what rules that stretch the frequencies change.
#pragma once

#include <cstddef>

#include "core/status.h"
#include "kernels/frequencies.h"

namespace posenc {

/// For each pair, with positions 0 .. trained - 1 seen at the frequencies `old` and 0 .. length - 1 to be met at `now`
/// (the same where no rule changed them), in turns of 2 pi:
///   seen     |omega_old| (trained - 1) / 2 pi, how often it went round in training; below 1 it never went round
///   reached  |omega_now| (length - 1) / 2 pi
///   unseen   the share of the circle that is met for the first time: min(1, reached) - min(1, seen), at least 0; arcs
///            between whole positions count as seen
/// Each (pairs), rounded once but for unseen. Errors: trained or length not whole numbers from 1 to 2^53, length below
/// trained; no pairs; `now` of another number of them.
Status unseen_phases(const Frequencies& old, const Frequencies& now, double trained, double length, double* seen,
                     double* reached, double* unseen);

/// Two settings of the frequencies of one rotation, and the factors that multiply queries and keys in each.
struct Extension {
  const Frequencies* before = nullptr;
  const Frequencies* after = nullptr;  // as many pairs
  double factor_before = 1, factor_after = 1;
};

/// ratio (pairs): omega after over before (1 where both are 0, infinite where only the first is). For each offset k
/// (count), scores of q = k = (1, 0) in every pair, over their number where `normalize`:
///   kernel_before, kernel_after  factor^2 sum_i cos(omega_i k)
///   stale                        a query at length - 1 turned by the new setting meets a key at n = length - 1 - |k|
///                                that a cache kept from the old one: factor factor' sum_i cos((length - 1) omega'_i -
///                                n omega_i)
///   error                        stale - kernel_after
/// Errors: other numbers of pairs; offsets not finite or beyond length - 1; length not a whole number from 1 to 2^53.
Status extend_context(const Extension& extension, double length, const double* offsets, std::size_t count,
                      bool normalize, double* ratio, double* kernel_before, double* kernel_after, double* stale,
                      double* error);

}  // namespace posenc
