// What compilers make of addresses, where that costs.
#pragma once

#include "simd/backend.h"

namespace posenc::simd {

/// Keeps an address as it is, where the compiler would tell it as an earlier one and an offset.
template <class T>
POSENC_INLINE void keep_address(T*& address) {
#if defined(POSENC_BACKEND_WASM)
  __asm__("" : "+r"(address));
#else
  static_cast<void>(address);
#endif
}

}  // namespace posenc::simd
