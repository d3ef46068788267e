#pragma once
// The vector loops of matrix products. Operands are packed in panels, which the loop over a block
// of C in registers reads in order; so the speed does not depend on the operands' memory layout.

#include <cstdint>

namespace ladon::kernels {

template <class T>
struct GemmLoops {
  /// Rows and columns of the block of C that is kept in registers: the widths of panels.
  std::int64_t rows, columns;
  /// Pack rows of A (pack_left) in panels of w = `rows` lines, and columns of B (pack_right) in
  /// panels of w = `columns` lines:
  ///   to[(i / w)·w·k + p·w + i % w] = x[i·line + p·step] for i < lines, p < k,
  /// and 0 for lines that are missing in the last panel.
  void (*pack_left)(std::int64_t lines, std::int64_t k, const T* x, std::int64_t line,
                    std::int64_t step, T* to);
  void (*pack_right)(std::int64_t lines, std::int64_t k, const T* x, std::int64_t line,
                     std::int64_t step, T* to);
  /// C ← alpha·A·B + beta·C for packed A [m, k] and B [k, n]; if `row` is not null,
  /// C ← alpha·A·B with `row` [n] added to each row. beta = 0 overwrites C. Rows of C are
  /// contiguous. Sums run over k in order, with fused multiply-adds if the processor has them;
  /// beta·C or the row is added last.
  void (*multiply)(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* left,
                   const T* right, T beta, const T* row, T* c, std::int64_t c_row);
};

}  // namespace ladon::kernels
