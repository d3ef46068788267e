#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "ladon/core/linalg/portable/triangular.h"
#include "ladon/core/linalg/routines.h"

namespace ladon::routines {

using std::int64_t;

namespace {

/// Exchanges row i with row swaps[i] of the column-major b [n, k], for i in [first, end).
template <class T>
void exchange_rows(int64_t n, int64_t k, int64_t first, int64_t end, const int* swaps, T* b) {
  for (int64_t c = 0; c < k; ++c)
    for (int64_t i = first; i < end; ++i) std::swap(b[c * n + i], b[c * n + swaps[i] - 1]);
}

/// Gaussian elimination in columns [first, end) of a column-major A [n, n], after the products of
/// all earlier columns have been subtracted: finds pivots, exchanges rows and computes multipliers.
template <class T>
void eliminate_panel(int64_t n, int64_t first, int64_t end, T* a, int* swaps) {
  for (int64_t j = first; j < end; ++j) {
    T* column = a + j * n;
    exchange_rows(n, 1, first, j, swaps, column);
    for (int64_t p = first; p < j; ++p) {
      const T *multipliers = a + p * n, factor = column[p];
      for (int64_t i = p + 1; i < n; ++i) column[i] -= multipliers[i] * factor;
    }
    const T* pivot = std::max_element(column + j, column + n,
                                      [](T x, T y) { return std::abs(x) < std::abs(y); });
    const int64_t row = pivot - column;
    swaps[j] = static_cast<int>(row) + 1;
    for (int64_t p = first; p <= j; ++p) std::swap(a[p * n + j], a[p * n + row]);
    const T head = column[j];
    for (int64_t i = j + 1; head != 0 && i < n; ++i) column[i] /= head;
  }
}

}  // namespace

// LU factorization, right-looking, by panels of columns (Golub and Van Loan, 3.4):
//   P·[A11; A21] = [L11; L21]·U11;  U12 = L11⁻¹·(P·A)12;  A22 −= L21·U12.
template <class T>
void getrf(int n, T* a, int* swaps) {
  constexpr int64_t panel = 32;
  for (int64_t p = 0, size = n; p < size; p += panel) {
    const int64_t q = std::min(size, p + panel);
    eliminate_panel(size, p, q, a, swaps);
    exchange_rows(size, p, p, q, swaps, a);
    T* right = a + q * size;
    exchange_rows(size, size - q, p, q, swaps, right);
    solve<T>(q - p, size - q, {{a + p * (size + 1), 1, size}, true, true}, {right + p, 1, size});
    subtract_product<T>(size - q, size - q, q - p, {a + p * size + q, 1, size},
                        {right + p, 1, size}, {right + q, 1, size});
  }
}

// Solves the systems of A = Pᵀ·L·U, or of Aᵀ = Uᵀ·Lᵀ·P, one factor after the other.
template <class T>
void getrs(bool transposed, int n, int k, const T* lu, const int* swaps, T* b) {
  const Triangle<T> l{{lu, 1, n}, true, true}, u{{lu, 1, n}, false, false};
  const blas::Matrix<T> x{b, 1, n};
  if (!transposed) {
    exchange_rows<T>(n, k, 0, n, swaps, b);
    solve(n, k, l, x);
    solve(n, k, u, x);
    return;
  }
  solve(n, k, u.transposed(), x);
  solve(n, k, l.transposed(), x);
  for (int64_t c = 0; c < k; ++c)
    for (int64_t i = n; i-- > 0;) std::swap(b[c * n + i], b[c * n + swaps[i] - 1]);
}

#define LADON_ROUTINES(T)             \
  template void getrf(int, T*, int*); \
  template void getrs(bool, int, int, const T*, const int*, T*);
LADON_ROUTINES(float)
LADON_ROUTINES(double)
#undef LADON_ROUTINES

}  // namespace ladon::routines
