#pragma once
// Rounding of f32 to bf16, which is the upper half of an f32.

#include "ladon/core/kernels/loops/math.h"

namespace ladon::kernels::LADON_LEVEL {

using std::uint32_t;

inline constexpr uint32_t f32_infinity = 0x7f800000;

/// w without its last `drop` bits, rounded to nearest even.
template <int drop>
LADON_INLINE uint32_t rounded(uint32_t w) {
  return (w + ((1u << (drop - 1)) - 1) + (w >> drop & 1)) >> drop;
}

LADON_INLINE uint32_t to_bf16(float x) {
  const uint32_t w = bits(x), quiet = w >> 16 | 0x40;
  return (w & 0x7fffffff) > f32_infinity ? quiet : rounded<16>(w);
}

}  // namespace ladon::kernels::LADON_LEVEL
