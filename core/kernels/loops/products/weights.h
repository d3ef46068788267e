#pragma once
// The vector loops of products by packed weights (core/packed_weights.h).

#include <cstdint>

namespace ladon::kernels {

/// Rows of a panel that share one scale per column.
inline constexpr std::int64_t weight_group = 64;

/// Loops of one form of a panel: some columns of a matrix, its k rows one after another. A word of
/// a column holds `rows` of them, the first in its lowest bits. Scales [k / weight_group, columns],
/// rounded up, are of bytes alone.
struct WeightLoops {
  std::int64_t rows;
  /// A panel of floats [k, columns] in this form.
  void (*narrow)(std::int64_t k, const float* x, std::uint32_t* panel, float* scales);
  /// C ← A·panel + row, where row may be null.   [m, k] · [k, n] → [m, n], n ≤ columns; rows of A
  /// and C are contiguous. Sums run over k in order, by fused steps where the processor has them,
  /// of the f32 numbers that the panel stands for, and then meet the row.
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
