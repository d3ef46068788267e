#pragma once
// The vector loops of products with packed weights (core/packed_weights.h).

#include <cstdint>

namespace ladon::kernels {

/// Number of rows of a panel that share one scale per column.
inline constexpr std::int64_t weight_group = 64;

/// Loops for one WeightForm (float32, bfloat16 or int8) of packed weights. A panel consists of some
/// columns of a matrix [k, n], with the k rows in order. Each 32-bit word of a column holds the
/// values of `rows` rows, the first in its lowest bits. Only int8 has scales,
/// [⌈k / weight_group⌉, columns].
struct WeightLoops {
  std::int64_t rows;
  /// Packs a panel of floats [k, columns] into 32-bit words, and for int8 computes its scales.
  void (*narrow)(std::int64_t k, const float* x, std::uint32_t* panel, float* scales);
  /// C ← A·panel + row, where row may be null.   [m, k] · [k, n] → [m, n], n ≤ columns; rows of A
  /// and C are contiguous. Values of the panel are converted to f32; sums run over k in order, with
  /// fused multiply-adds if the processor has them, and the row is added last.
  void (*multiply)(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                   std::int64_t a_row, const std::uint32_t* panel, const float* scales,
                   const float* row, float* c, std::int64_t c_row);
};

struct WeightForms {
  std::int64_t columns;  ///< Number of columns of a panel.
  WeightLoops of[3];     ///< In the order of WeightForm.
  /// Packs a panel: to[p·columns + j] = x[j·line + p·step] for p < k and j < n ≤ columns, and 0 for
  /// j ≥ n.
  void (*pack)(std::int64_t n, std::int64_t k, const float* x, std::int64_t line, std::int64_t step,
               float* to);
};

}  // namespace ladon::kernels
