// Integrals of e^(i x theta_t) over [0, 1], the asymptotics behind the long-range decay of sinusoidal encodings (Su,
// "Tracing the origins of sinusoidal positional encoding"), and the Riemann sums that encodings make of them.
#pragma once

#include <cstddef>

#include "analysis/frequency_law.h"
#include "core/status.h"

namespace posenc {

/// offsets (count) -> out (count): Re of the integral over [0, 1] of e^(i x theta_t) dt, to 1e-10 at every |x| <= 2^53
/// (measured: 1e-14). Exponential laws by Ci(|x|) - Ci(|x| / b) over ln b, power laws by the incomplete gamma function
/// (alpha = 1: sin x / x; alpha = 2: Fresnel), samples segment by segment. Even in x.
/// Errors: those of check_law; offsets that are not finite or beyond 2^53.
Status oscillatory_integral(const FrequencyLaw& law, const double* offsets, std::size_t count, double* out);

/// offsets (count) -> out (count): 1 / (d/2) sum_{i < d/2} cos(x theta_{2i/d}), the left Riemann sum of that integral:
/// what an encoding of `dim` columns makes of it. `dim` is even, from 2 to 65536; errors otherwise as above.
Status riemann_sum(const FrequencyLaw& law, double dim, const double* offsets, std::size_t count, double* out);

}  // namespace posenc
