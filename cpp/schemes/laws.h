// The laws a scheme may claim, and what each says of each slot. Wherever positions move they are whole, below 2^40.
//
//                       embed p(i)                 rotate R(i)                bias b(i, j)              relate
//   shift_invariant     <p(i+t), p(j+t)> =         <R(i+t)q, R(j+t)k> =       b(i+t, j+t) = b(i, j)     its terms of (i+t, j+t)
//                       <p(i), p(j)>               <R(i)q, R(j)k>             to the bit                and (i, j) are equal
//   isometry            -                          |R(i)x| = |x|              -                         -
//   non_positive        -                          -                          b <= 0                    -
//   monotone_in_        -                          -                          |i-j| < |i-j'| makes      -
//     distance                                                                b(i,j) >= b(i,j')
//   bounded             |p| does not grow          |R(i)x|/|x| does not grow  |b| does not grow         terms do not grow with |i-j|
//                       with i                     with i                     with |i-j|                for given q, k
//   symmetric           -                          -                          b(i, j) = b(j, i)         terms of (i, j), (j, i) equal
//   injective           p(i) != p(j), i != j,      R(i)x != R(j)x, i != j,    -                         -
//                       as float32 rows            as float32 rows
//   extrapolates        p, R, b and the terms are finite numbers at every position and offset: no table ends
//   identity_at_zero    p(0) = 0                   R(0)x = x to the bit       b(i, i) = 0               terms of (i, i) are 0
//
// `-`: the law does not speak of that slot (it would be trivially true or mean nothing), and claiming it is an error.
#pragma once

#include "schemes/scheme.h"

namespace posenc {

inline constexpr int kLawCount = 9;

// What the law says of a scheme of this slot, one sentence; nullptr where it says nothing.
const char* law_sentence(Law law, Slot slot);

}  // namespace posenc
