// The frequencies of a scheme read as clocks, and as the places of a number system.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/status.h"

namespace posenc {

// omega (pairs), radians a position -> wavelength (pairs) = 2 pi / |omega|, positions a turn, Infinity for a pair that
// stands still; turns (pairs) = context |omega| / 2 pi, what each pair does within `context` positions; never_turns
// (pairs): 1 where that is less than one whole turn. Within 2 ULP. (Vaswani et al. 2017, 3.5; Peng et al. 2023, 3.1.)
// Errors: frequencies or a context that are not finite, a context of 0 or less.
Status spectrum(const double* omega, std::size_t pairs, double context, double* wavelength, double* turns,
                std::uint8_t* never_turns);

// position (>= 0) in the number system whose places are 1 / omega_i: digits (pairs), whole numbers from the greatest
// place down, each as large as it can be (the greedy expansion of Renyi 1957, with any real ratio of places), so that
// position = sum_i digit_i / omega_i + rest with 0 <= rest < the smallest place. 1 / omega_i within 2^-51 of a whole
// number is that number, and whole positions have their exact digits there, up to 2^53. What is short of another place
// by position 2^-50 and 2^-20 of it at most counts as standing on it, with nothing left, so that the sum holds within
// position 2^-50; of equal places only one is used. For omega_i = b^(-i/pairs) that is
// base b^(1/pairs): ordinary digits where it is whole. phase (pairs): the share of a turn, in [0, 1), at which pair i's
// hand stands, within 2^-50 of omega_i as given. A pair that stands still has digit and phase 0. Errors: a position
// that is negative or above 2^53, frequencies that are negative or not finite.
Status radix(const double* omega, std::size_t pairs, double position, double* digits, double* phase, double* rest);

}  // namespace posenc
