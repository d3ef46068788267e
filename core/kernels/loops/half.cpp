#include "ladon/core/kernels/loops/half.h"

#include "ladon/core/kernels/loops/bf16.h"
#include "ladon/core/kernels/loops/table.h"

// f32 has 8 bits of exponent (bias 127) and 23 of fraction; bf16 is the upper half of an f32; f16
// has 5 bits of exponent (bias 15) and 10 of fraction. The bits of positive numbers, read as
// integers, have the same order as the numbers, so rounding is integer arithmetic, even if it
// carries into the exponent.

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;
using std::uint16_t;
using std::uint32_t;

constexpr uint32_t f16_infinity = 0x7c00;
constexpr uint32_t bias_shift = (127 - 15) << 10;  // difference of biases, in f16's exponent bits
constexpr uint32_t f16_normal = 0x38800000;        // 2⁻¹⁴ as f32, the least normal f16

// A subnormal f16 is a multiple of 2⁻²⁴, the last bit of 1/2 in f32, so adding 1/2 to x rounds it
// to such a multiple.
LADON_INLINE uint32_t to_f16(float x) {
  const uint32_t w = bits(x), sign = w >> 16 & 0x8000, size = w & 0x7fffffff;
  const uint32_t steps = bits(from_bits<float>(size) + 0.5f) - bits(0.5f);
  const uint32_t normal = rounded<13>(size) - bias_shift;
  const uint32_t bounded = normal < f16_infinity ? normal : f16_infinity;
  const uint32_t finite = size < f16_normal ? steps : bounded;
  const uint32_t quiet = f16_infinity | 0x200 | (size >> 13 & 0x1ff);
  return sign | (size > f32_infinity ? quiet : finite);
}

LADON_INLINE float from_f16(uint32_t h) {
  const uint32_t sign = (h & 0x8000) << 16, size = h & 0x7fff;
  const uint32_t steps = bits(static_cast<float>(static_cast<std::int32_t>(size)) * 0x1p-24f);
  const uint32_t normal = (size + bias_shift) << 13, special = size << 13 | f32_infinity;
  const uint32_t finite = size < 0x400 ? steps : normal;
  return from_bits<float>(sign | (size < f16_infinity ? finite : special));
}

void widen_f16(const uint16_t* x, float* y, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = from_f16(x[i]);
}

void widen_bf16(const uint16_t* x, float* y, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = from_bits<float>(static_cast<uint32_t>(x[i]) << 16);
}

void narrow_f16(const float* x, uint16_t* y, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<uint16_t>(to_f16(x[i]));
}

void narrow_bf16(const float* x, uint16_t* y, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<uint16_t>(to_bf16(x[i]));
}

}  // namespace

void add_halves(Loops& table) {
  table.half.widen_f16 = widen_f16;
  table.half.widen_bf16 = widen_bf16;
  table.half.narrow_f16 = narrow_f16;
  table.half.narrow_bf16 = narrow_bf16;
}

}  // namespace ladon::kernels::LADON_LEVEL
