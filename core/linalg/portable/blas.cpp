#include "ladon/core/linalg/blas.h"

#include <algorithm>
#include <memory>

#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/products/packed_product.h"
#include "ladon/core/linalg/routines.h"

namespace ladon::routines {
namespace {

template <class T>
blas::Matrix<const T> matrix(Operand<T> x) {
  const blas::Matrix<const T> rows{x.data, x.stride, 1};
  return x.transposed ? rows.transposed() : rows;
}

// gemv with a workspace `room` of k + m elements. For a row-major A, elements of y are inner
// products; for a transposed A, y is a weighted sum of rows.
template <class T>
void multiply(int m, int k, T alpha, Operand<T> a, const T* x, int x_step, T beta, T* y, int y_step,
              T* room) {
  const auto& loop = kernels::loops().of<T>().symmetric;
  T *dense = room, *product = room + k;
  for (std::int64_t i = 0; i < k; ++i) dense[i] = alpha * x[i * x_step];
  if (a.transposed) {
    std::fill_n(product, m, T(0));
    loop.add_rows(k, m, dense, a.data, a.stride, product);
  } else {
    loop.dots(m, k, a.data, a.stride, dense, product);
  }
  for (std::int64_t i = 0; i < m; ++i) {
    T& to = y[i * y_step];
    to = beta == 0 ? product[i] : product[i] + beta * to;
  }
}

}  // namespace

template <class T>
void gemv(int m, int k, T alpha, Operand<T> a, const T* x, int x_step, T beta, T* y, int y_step) {
  const auto room = std::unique_ptr<T[]>(new T[std::size_t(k) + std::size_t(m)]);
  multiply(m, k, alpha, a, x, x_step, beta, y, y_step, room.get());
}

// Products with few rows or few multiply-adds are not worth packing. They are computed row by row:
// (row of C) = Bᵀ·(row of A).
template <class T>
void gemm(int m, int n, int k, T alpha, Operand<T> a, Operand<T> b, T beta, T* c, int stride) {
  constexpr double worth_packing = 0x1p13;
  if (m >= 4 && double{1} * m * n * k >= worth_packing)
    return kernels::packed_product<T>(kernels::On::this_thread, m, n, k, alpha, matrix(a),
                                      matrix(b), beta, {c, stride, 1});
  const auto room = std::unique_ptr<T[]>(new T[std::size_t(k) + std::size_t(n)]);
  const Operand<T> turned{b.data, !b.transposed, b.stride};
  for (std::int64_t i = 0; i < m; ++i)
    multiply(n, k, alpha, turned, a.data + i * (a.transposed ? 1 : a.stride),
             a.transposed ? a.stride : 1, beta, c + i * stride, 1, room.get());
}

#define LADON_ROUTINES(T)                                                   \
  template void gemm(int, int, int, T, Operand<T>, Operand<T>, T, T*, int); \
  template void gemv(int, int, T, Operand<T>, const T*, int, T, T*, int);
LADON_ROUTINES(float)
LADON_ROUTINES(double)
#undef LADON_ROUTINES

}  // namespace ladon::routines
