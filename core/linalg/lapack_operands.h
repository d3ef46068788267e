#pragma once
// Checks and copies of LAPACK operands. Internal to core/linalg/lapack.cpp and lapack_eigen.cpp.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string_view>

#include "ladon/core/error.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reductions/reduction.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/tensor.h"
#include "ladon/core/view.h"

namespace ladon::lapack {

inline void check_square(std::string_view operation, const Tensor& a) {
  LADON_CHECK(a.rank() == 2 && a.shape()[0] == a.shape()[1], operation,
              "needs a square matrix [n, n], got ", a.shape());
  LADON_CHECK(a.shape()[0] <= std::numeric_limits<int>::max(), operation,
              "the matrix [n, n] has n = ", a.shape()[0],
              "; n must be at most 2^31 - 1, the largest integer of LAPACK");
}

inline void check_right_side(std::string_view operation, const Tensor& a, const Tensor& b) {
  LADON_CHECK(b.rank() == 2 && b.shape()[0] == a.shape()[0], operation, "needs a right side [",
              a.shape()[0], ", k] for a matrix ", a.shape(), ", got ", b.shape());
  LADON_CHECK(a.dtype() == b.dtype(), operation,
              "the matrix and the right side must have the same dtype, got ", a.dtype(), " and ",
              b.dtype());
  LADON_CHECK(b.shape()[1] <= std::numeric_limits<int>::max(), operation,
              "the right side [n, k] has k = ", b.shape()[1],
              "; k must be at most 2^31 - 1, the largest integer of BLAS");
}

// Throws Error if the diagonal of a row-major matrix [n, n] contains a zero.
template <class T>
void check_diagonal(std::string_view operation, std::int64_t n, const T* l) {
  for (std::int64_t i = 0; i < n; ++i)
    LADON_CHECK(l[i * (n + 1)] != 0, operation, "the diagonal element at [", i, ", ", i,
                "] is 0: the matrix is singular, but must be invertible");
}

// The part of a matrix that is read, and the layout of its copy. `rows`: the whole matrix,
// row-major. `lower`: the lower triangle, row-major with zeros above it. `columns`: the whole
// matrix, column-major.
enum class Holds { rows, lower, columns };

// Calls body(begin, end) for the rows [begin, end) of a matrix, on all threads.
template <class Body>
void for_rows(std::int64_t rows, std::int64_t columns, const Body& body) {
  parallel::for_range(rows, 1 + (1 << 16) / std::max<std::int64_t>(1, columns), body);
}

// Throws Error for NaN or infinity in the part `what` of a row-major matrix. All elements of a row
// are finite if their sum is finite, or if both the largest and the smallest element are.
template <class T>
void check_finite(std::string_view operation, std::int64_t rows, std::int64_t columns, const T* x,
                  Holds what) {
  const auto read = [what, columns](std::int64_t i) {
    return what == Holds::lower ? i + 1 : columns;
  };
  const auto& reduce = kernels::loops().of<T>().reduce;
  std::atomic<std::int64_t> bad = rows;  // the first row with such an element
  for_rows(rows, columns, [x, columns, &read, &reduce, &bad](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) {
      if (std::isfinite(reduce[int(kernels::Reduce::sum)](x + i * columns, read(i)))) continue;
      const T least = reduce[int(kernels::Reduce::min)](x + i * columns, read(i));
      const T most = reduce[int(kernels::Reduce::max)](x + i * columns, read(i));
      if (std::isfinite(least) && std::isfinite(most)) continue;
      for (std::int64_t first = bad; i < first && !bad.compare_exchange_weak(first, i);) continue;
      return;
    }
  });
  if (bad == rows) return;
  const T* row = x + bad * columns;
  const T* at = std::find_if_not(row, row + columns, [](T y) { return std::isfinite(y); });
  const std::int64_t i = bad, j = at - row;
  const bool turned = what == Holds::columns;
  detail::fail(operation, "the element at [", turned ? j : i, ", ", turned ? i : j, "] is ", *at,
               "; all elements must be finite");
}

// Copies the lower triangle of A [n, n] to `to`, row-major, with zeros above it.
template <class T>
void copy_lower(const Tensor& a, T* to) {
  const std::int64_t n = a.shape()[0];
  const Tensor rows = kernels::contiguous(a);
  const T* from = rows.data<T>();
  for_rows(n, n, [from, to, n](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) {
      std::copy_n(from + i * n, i + 1, to + i * n);
      std::fill(to + i * n + i + 1, to + (i + 1) * n, T{0});
    }
  });
}

// A copy of the part `what` of a, in the layout of Holds. Throws Error for NaN or infinity.
template <class T>
Tensor copy(std::string_view operation, const Tensor& a, Holds what = Holds::rows) {
  const bool turned = what == Holds::columns;
  const Tensor from = turned ? view::transpose(a, 0, 1) : a;
  Tensor result = empty(from.shape(), a.dtype());
  const std::int64_t rows = from.shape()[0], columns = from.shape()[1];
  T* to = result.mutable_data<T>();
  if (what == Holds::lower)
    copy_lower<T>(from, to);
  else
    kernels::copy(result, from);
  check_finite(operation, rows, columns, to, what);
  return result;
}

// l itself if it is row-major, else a copy of its lower triangle. Throws Error for NaN or infinity
// in the lower triangle.
template <class T>
Tensor lower_of(std::string_view operation, const Tensor& l) {
  if (!l.contiguous()) return copy<T>(operation, l, Holds::lower);
  check_finite(operation, l.shape()[0], l.shape()[1], l.data<T>(), Holds::lower);
  return l;
}

}  // namespace ladon::lapack
