// The laws a scheme may claim, and what each says of each slot. Wherever positions move they are whole, below 2^40.
//
//                        embed p(i)               rotate R(i)             bias b(i, j)          relate
//   shift_invariant      <p(i+t), p(j+t)> =       <R(i+t)q, R(j+t)k> =    b(i+t, j+t) = b(i, j) terms of (i+t, j+t)
//                        <p(i), p(j)>             <R(i)q, R(j)k>          to the bit            and (i, j) equal
//   isometry             -                        |R(i)x| = |x|           -                     -
//   non_positive         -                        -                       b <= 0                -
//   monotone_in_distance -                        -                       |i-j| < |i-j'|: then  -
//                                                                         b(i,j) >= b(i,j')
//   bounded              |p| does not grow        |R(i)x|/|x| does not    |b| does not grow     terms do not grow
//                        with i                   grow with i             with |i-j|            with |i-j|
//   symmetric            -                        -                       b(i, j) = b(j, i)     terms of (i, j) and
//                                                                                               (j, i) equal
//   injective            p(i) != p(j), i != j,    R(i)x != R(j)x, i != j, -                     -
//                        as float32 rows          as float32 rows
//   extrapolates         p is finite for every i: R(i)x is finite for     b is finite for every terms are finite for
//                        no table ends            every i                 offset                every offset
//   identity_at_zero     p(0) = 0                 R(0)x = x               b(i, i) = +0          terms of (i, i) are 0
//
// `-`: the law does not speak of that slot (it would be trivially true or mean nothing), and claiming it is an error.
#pragma once

#include "schemes/scheme.h"

namespace posenc {

inline constexpr int kLawCount = 9;

// What the law says of a scheme of this slot, one sentence; nullptr where it says nothing.
const char* law_sentence(Law law, Slot slot);

}  // namespace posenc
