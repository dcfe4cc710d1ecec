// The score that turned pairs make of an offset alone, and how it decays.
#pragma once

#include <cstddef>

#include "core/status.h"
#include "kernels/frequencies.h"

namespace posenc {

/// offsets (count) -> out (count): g(k) = sum_i cos(omega_i k), the dot product of p(m) and p(n) at k = m - n (Su,
/// note 000: <p_m, p_n> = g(m - n)); with `normalize` divided by the number of pairs, so that g(0) = 1. Each cosine is
/// within 0.51 ULP and the sum rounded once: |error| <= pairs 2^-53 before the division.
/// Errors, in the voice of `subject`: offsets that are not finite or beyond 2^53; no pairs.
Status score_kernel(const Frequencies& frequencies, const double* offsets, std::size_t count, bool normalize,
                    double* out, const char* subject = "kernel");

/// offsets (count) -> out (count): B(k) = 1 / (d/2) sum_{j=1}^{d/2} |S_j|, S_j = sum_{i<j} e^(i k omega_i) (Su et al.
/// 2021, RoFormer, section 3.4.3, equation 37). For queries and keys with h_i = q_i conj(k_i) pair by pair and
/// h_{d/2} = 0, |<R(m) q, R(n) k>| <= d/2 max_i |h_{i+1} - h_i| B(m - n). Errors as score_kernel.
Status decay_bound(const Frequencies& frequencies, const double* offsets, std::size_t count, double* out);

}  // namespace posenc
