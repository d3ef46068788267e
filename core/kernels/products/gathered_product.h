#pragma once
// Products with a matrix whose rows are scattered in pieces over memory
// (loops/products/gathered.h).

#include <cstdint>
#include <vector>

#include "ladon/core/linalg/blas.h"
#include "ladon/core/storage.h"

namespace ladon::kernels {

/// Products A·B of many matrices A with one B [pieces·width, n], which is packed once. Each row of
/// A [m, pieces·width] consists of `pieces` pieces of `width` contiguous elements. T is float or
/// double.
template <class T>
class GatheredProduct {
 public:
  GatheredProduct(std::int64_t pieces, std::int64_t width, std::int64_t n, blas::Matrix<const T> b);

  /// c ← A·B with `row` [n] added to each row, unless it is null; on this thread. Piece s of row i
  /// of A begins at the address at[i·pieces + s]; c [m, n] has column stride 1.
  void operator()(std::int64_t m, const T* const* at, const T* row, blas::Matrix<T> c) const;

 private:
  /// Part of the rows of A that is multiplied in one call: elements [first, first + length) of the
  /// pieces from `piece` on, and the rows of B from `row` on.
  struct Span {
    std::int64_t piece, pieces, first, length, row;
  };
  std::int64_t pieces_, n_, padded_;
  std::vector<Span> spans_;
  Storage packed_;
};

/// c ← Aᵀ·B + c for an A [m, pieces·width] whose rows are in pieces as in GatheredProduct, and
/// B [m, n], on this thread. c [pieces·width, n] has column stride 1; `space` is a buffer of
/// gathered_space(m, n) elements.
template <class T>
void add_gathered_product(std::int64_t m, std::int64_t pieces, std::int64_t width, std::int64_t n,
                          const T* const* at, blas::Matrix<const T> b, blas::Matrix<T> c, T* space);
template <class T>
std::int64_t gathered_space(std::int64_t m, std::int64_t n);

}  // namespace ladon::kernels
