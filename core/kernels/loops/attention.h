#pragma once
// The vector loops of attention. A tile is [keys, n] for n queries, padded to a multiple of
// tile_lanes: queries are vector lanes. So keys and values are read one element at a time, with any
// strides, and every loop over queries is a loop over vectors. Logits are in base 2: logits/ln 2.

#include <cstdint>

namespace ladon::kernels {

/// Element (i, j) is data[i·row + j·column].
template <class T>
struct TileOperand {
  const T* data;
  std::int64_t row, column;
};

/// Rows of a tile are padded to whole vectors of the widest instruction set: 64 bytes.
template <class T>
inline constexpr std::int64_t tile_lanes = 64 / static_cast<std::int64_t>(sizeof(T));

template <class T>
struct AttentionLoops {
  /// C ← A·B + C·diag(keep), or C ← A·B if keep is null.  [m, k] · [k, n] → [m, n]; rows of B and C
  /// are contiguous, and n is a multiple of tile_lanes.
  void (*multiply)(std::int64_t m, std::int64_t n, std::int64_t k, TileOperand<T> a, const T* b,
                   std::int64_t b_row, const T* keep, T* c, std::int64_t c_row);
  /// C ← A·Bᵀ for few rows of A.   [m, k] · [n, k]ᵀ → [m, n]; rows of B and C are contiguous. Each
  /// sum adds its terms in the order of multiply(), so that the bits are the same.
  void (*multiply_turned)(std::int64_t m, std::int64_t n, std::int64_t k, TileOperand<T> a,
                          const T* b, std::int64_t b_row, T* c, std::int64_t c_row);
  /// y [columns, rows] ← (x·diag(factors))ᵀ for x [rows, columns]; rows of y are contiguous.
  void (*transpose)(std::int64_t rows, std::int64_t columns, TileOperand<T> x, const T* factors,
                    T* y, std::int64_t y_row);
  /// cap: s ← limit·tanh(s). uncap: d ← d·tanh'(s), with s as it was before cap().
  void (*cap)(T limit, T* s, std::int64_t count);
  void (*uncap)(const T* s, T* d, std::int64_t count);
  /// hide: s ← −∞ where `mask` is false. add: s ← s + mask.
  void (*hide)(const bool* mask, T* s, std::int64_t count);
  void (*add)(const T* mask, T* s, std::int64_t count);
  /// One step of the online softmax over a tile s [keys, n]. Updates the running maximum `top` and
  /// the running sum `sum` of each query, s ← 2^(s − top) with the new maximum, and
  /// keep ← 2^(previous top − top), the factor of earlier sums.
  void (*softmax)(T* s, std::int64_t keys, std::int64_t n, T* top, T* sum, T* keep);
  /// Computes what softmax() computes, bit for bit, for s [queries, n], in which the n keys of a
  /// query are contiguous.
  void (*softmax_rows)(T* s, std::int64_t queries, std::int64_t n, T* top, T* sum, T* keep);
  /// s ← 2^(s − log_sum), the weights.
  void (*weights)(T* s, std::int64_t keys, std::int64_t n, const T* log_sum);
  /// d ← s ∘ (d − mean), the gradient with respect to the logits.
  void (*softmax_backward)(const T* s, T* d, std::int64_t keys, std::int64_t n, const T* mean);
};

}  // namespace ladon::kernels
