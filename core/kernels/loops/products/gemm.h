#pragma once
// The vector loops of matrix products. Operands are packed in panels, which a block of C in
// registers reads in order; so its speed does not depend on how they lie in memory.

#include <cstdint>

namespace ladon::kernels {

template <class T>
struct GemmLoops {
  /// Rows and columns of the block of C that stands in registers: the widths of panels.
  std::int64_t rows, columns;
  /// A in panels of `rows` lines, B in panels of `columns`, of width w:
  ///   to[(i / w)·w·k + p·w + i % w] = x[i·line + p·step] for i < lines, p < k,
  /// and 0 for the lines that the last panel is short of.
  void (*pack_left)(std::int64_t lines, std::int64_t k, const T* x, std::int64_t line,
                    std::int64_t step, T* to);
  void (*pack_right)(std::int64_t lines, std::int64_t k, const T* x, std::int64_t line,
                     std::int64_t step, T* to);
  /// C ← alpha·A·B + beta·C for A [m, k] and B [k, n] in panels of `rows` and `columns`, or
  /// alpha·A·B + the same row [n] in each row, if `row` is not null; beta = 0 overwrites C, whose
  /// rows are contiguous. Sums run over k in order, by fused steps where the processor has them,
  /// and then meet C or the row.
  void (*multiply)(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* left,
                   const T* right, T beta, const T* row, T* c, std::int64_t c_row);
};

}  // namespace ladon::kernels
