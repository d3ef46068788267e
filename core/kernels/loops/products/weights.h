#pragma once
// The vector loops of products with packed weights (core/packed_weights.h).

#include <cstdint>

namespace ladon::kernels {

/// Number of rows of a panel that share one scale per column.
inline constexpr std::int64_t weight_group = 64;

/// Loops for one form of packed weights. A panel is some columns of a matrix, its k rows in order.
/// A word of a column holds `rows` rows, the first in its lowest bits. Only bytes have scales, [k /
/// weight_group, columns], rounded up.
struct WeightLoops {
  std::int64_t rows;
  /// Converts a panel of floats [k, columns] to this form.
  void (*narrow)(std::int64_t k, const float* x, std::uint32_t* panel, float* scales);
  /// C ← A·panel + row, where row may be null.   [m, k] · [k, n] → [m, n], n ≤ columns; rows of A
  /// and C are contiguous. Sums of the panel's values in f32 run over k in order, with fused
  /// multiply-adds if the processor has them; the row is added last.
  void (*multiply)(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                   std::int64_t a_row, const std::uint32_t* panel, const float* scales,
                   const float* row, float* c, std::int64_t c_row);
};

struct WeightForms {
  std::int64_t columns;  ///< Of a panel.
  WeightLoops of[3];     ///< In the order of WeightForm.
  /// The panel to[p·columns + j] = x[j·line + p·step] for p < k and j < n ≤ columns; 0 beyond.
  void (*pack)(std::int64_t n, std::int64_t k, const float* x, std::int64_t line, std::int64_t step,
               float* to);
};

}  // namespace ladon::kernels
