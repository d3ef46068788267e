#pragma once
// Conversion between f32 and the half-precision numbers f16 and bf16, which are given as their
// bits.

#include <cstdint>

namespace ladon::kernels {

using WidenLoop = void (*)(const std::uint16_t* x, float* y, std::int64_t n);
using NarrowLoop = void (*)(const float* x, std::uint16_t* y, std::int64_t n);

struct HalfLoops {
  // Exact conversions.
  WidenLoop widen_f16, widen_bf16;
  // Rounding to nearest, ties to even; numbers beyond the largest become ±∞, and NaN stays NaN.
  NarrowLoop narrow_f16, narrow_bf16;
  /// LoopsOf::transpose for 16-bit elements.
  void (*transpose)(std::int64_t rows, std::int64_t columns, const std::uint16_t* x,
                    std::int64_t x_row, std::uint16_t* y, std::int64_t y_row);
};

}  // namespace ladon::kernels
