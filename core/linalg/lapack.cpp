#include "ladon/core/linalg/lapack.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include "ladon/core/linalg/blas.h"
#include "ladon/core/linalg/cholesky.h"
#include "ladon/core/linalg/lapack_operands.h"
#include "ladon/core/linalg/routines.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/view.h"

namespace ladon::lapack {
namespace {

// Number of right-hand sides per task, if there are k. With more per task, L is packed less often;
// with fewer, more threads have work.
std::int64_t strip_of(std::int64_t k) { return std::clamp<std::int64_t>(k / 1024 * 64, 64, 256); }

// Throws the error for a matrix that is not positive definite.
template <class T>
[[noreturn]] void fail_indefinite(const Tensor& a, std::int64_t minor) {
  const std::int64_t n = a.shape()[0];
  const Tensor values = eigenvalues(a);
  const double least = values.data<T>()[0],
               most = std::max(-least, double{values.data<T>()[n - 1]});
  double mean = 0;
  for (std::int64_t i = 0; i < n; ++i)
    mean += a.strided_data<T>()[i * (a.strides()[0] + a.strides()[1])] / static_cast<double>(n);
  // Rounding moves eigenvalues by about n·ε·‖A‖.
  const double rounding =
      static_cast<double>(n) * std::numeric_limits<T>::epsilon() * (most > 0 ? most : 1);
  const double jitter = 2 * (std::max(-least, 0.0) + rounding);
  const std::string relative =
      mean > 0 ? detail::join(" (", jitter / mean, " times its mean ", mean, ")") : "";
  throw NotPositiveDefinite(
      detail::join("[cholesky] the matrix is not positive definite: its leading minor of order ",
                   minor, " is not, and its smallest eigenvalue is ", least,
                   "; add a jitter of at least ", jitter, relative, " to the diagonal"),
      least, jitter);
}

// Computes W = L⁻¹ [n, n], with zeros above the diagonal, in strips of columns. The strip of
// columns [p, q) is zero above row p, so it is the solution of L[p:, p:] · W[p:, p:q] = I[:, :q−p].
template <class T>
void invert_triangular(std::int64_t n, const T* l, T* w) {
  std::fill(w, w + n * n, T{0});
  parallel::for_range(n, strip_of(n), [&](std::int64_t p, std::int64_t q) {
    for (std::int64_t i = p; i < q; ++i) w[i * (n + 1)] = 1;
    solve_in_place<T>(n - p, q - p, {l + p * (n + 1), n, 1}, false, {w + p * (n + 1), n, 1});
  });
}

// Computes X = WᵀW for a lower triangular W [n, n], tile by tile: X_ij = Σ_{k ≥ i} W_kiᵀ W_kj for
// j ≤ i. The tiles above the diagonal are mirror images of the tiles below it.
template <class T>
void multiply_by_own_transpose(std::int64_t n, const T* w, T* x) {
  constexpr std::int64_t block = 128;
  const std::int64_t tiles = (n + block - 1) / block;
  parallel::for_range(tiles * tiles, 1, [&](std::int64_t t, std::int64_t) {
    const std::int64_t i = t / tiles * block, j = t % tiles * block;
    if (j > i) return;
    const std::int64_t rows = std::min(block, n - i), columns = std::min(block, n - j);
    blas::gemm_serial<T>(rows, columns, n - i, 1, {w + i * (n + 1), 1, n}, {w + i * n + j, n, 1}, 0,
                         {x + i * n + j, n, 1});
    for (std::int64_t r = i; r < i + rows; ++r)
      for (std::int64_t c = j; c < std::min(r, j + columns); ++c) x[c * n + r] = x[r * n + c];
  });
}

}  // namespace

Tensor cholesky(const Tensor& a) { return cholesky(a, 0); }

Tensor cholesky(const Tensor& a, double ridge) {
  check_square("cholesky", a);
  return visit_floating("cholesky", a.dtype(), [&]<class T>() {
    const std::int64_t n = a.shape()[0];
    const auto sum = [&] {
      Tensor x = copy<T>("cholesky", a, Holds::lower);
      T* values = x.mutable_data<T>();
      for (std::int64_t i = 0; i < n; ++i) values[i * (n + 1)] += static_cast<T>(ridge);
      return x;
    };
    Tensor result = sum();
    if (n == 0) return result;
    T* l = result.mutable_data<T>();
    if (const std::int64_t minor = factor_in_place(n, l)) fail_indefinite<T>(sum(), minor);
    return result;
  });
}

namespace {

// Solves one system after the other: for each entry of `transposed`, with Lᵀ if it is true, else
// with L.
Tensor solve_by_factor(std::string_view operation, const Tensor& l, const Tensor& b,
                       std::initializer_list<bool> transposed) {
  check_square(operation, l);
  check_right_side(operation, l, b);
  return visit_floating(operation, l.dtype(), [&]<class T>() {
    const Tensor factor = lower_of<T>(operation, l);
    check_diagonal(operation, l.shape()[0], factor.data<T>());
    Tensor x = copy<T>(operation, b);
    const std::int64_t n = x.shape()[0], k = x.shape()[1];
    for (const bool turned : transposed)
      if (k > 0)
        solve_in_place<T>(n, k, {factor.data<T>(), n, 1}, turned, {x.mutable_data<T>(), k, 1});
    return x;
  });
}

}  // namespace

Tensor solve_triangular(const Tensor& l, const Tensor& b, bool transposed) {
  return solve_by_factor("solve_triangular", l, b, {transposed});
}

Tensor cholesky_solve(const Tensor& l, const Tensor& b) {
  return solve_by_factor("cholesky_solve", l, b, {false, true});
}

Tensor cholesky_inverse(const Tensor& l) {
  constexpr std::string_view operation = "cholesky_inverse";
  check_square(operation, l);
  return visit_floating(operation, l.dtype(), [&]<class T>() {
    const std::int64_t n = l.shape()[0];
    const Tensor factor = lower_of<T>(operation, l);
    check_diagonal(operation, n, factor.data<T>());
    Tensor w = empty_like(factor), x = empty_like(factor);
    invert_triangular(n, factor.data<T>(), w.mutable_data<T>());
    multiply_by_own_transpose(n, w.data<T>(), x.mutable_data<T>());  // A⁻¹ = L⁻ᵀL⁻¹
    return x;
  });
}

Lu lu(const Tensor& a) {
  check_square("lu", a);
  return visit_floating("lu", a.dtype(), [&]<class T>() -> Lu {
    const std::int64_t n = a.shape()[0];
    Tensor columns = copy<T>("lu", a, Holds::columns), swaps = empty({n}, i64);
    std::vector<int> from_one(n);
    if (n > 0) routines::getrf(static_cast<int>(n), columns.mutable_data<T>(), from_one.data());
    std::transform(from_one.begin(), from_one.end(), swaps.mutable_data<std::int64_t>(),
                   [](int row) { return row - 1; });
    return {view::transpose(columns, 0, 1), swaps};
  });
}

Tensor lu_solve(const Lu& lu, const Tensor& b, bool transposed) {
  constexpr std::string_view operation = "lu_solve";
  check_square(operation, lu.factors);
  check_right_side(operation, lu.factors, b);
  const std::int64_t n = b.shape()[0], k = b.shape()[1];
  LADON_CHECK(lu.swaps.dtype() == i64 && lu.swaps.shape() == Shape{n}, operation,
              "swaps must be i64 [", n, "], got ", lu.swaps.dtype(), " ", lu.swaps.shape(),
              "; use the result of lu()");
  std::vector<int> from_one;
  for (const std::int64_t row : lu.swaps.to_vector<std::int64_t>()) {
    const auto i = static_cast<std::int64_t>(from_one.size());
    LADON_CHECK(row >= i && row < n, operation, "swaps[", i, "] is ", row,
                ", but must be a row in [", i, ", ", n, "); use the result of lu()");
    from_one.push_back(static_cast<int>(row) + 1);
  }
  return visit_floating(operation, b.dtype(), [&]<class T>() -> Tensor {
    const Tensor columns = copy<T>(operation, lu.factors, Holds::columns);
    Tensor x = copy<T>(operation, b, Holds::columns);
    const T* data = columns.data<T>();
    check_diagonal(operation, n, data);
    T* to = x.mutable_data<T>();
    if (n == 0) return view::transpose(x, 0, 1);
    parallel::for_range(k, strip_of(k), [&](std::int64_t begin, std::int64_t end) {
      routines::getrs(transposed, static_cast<int>(n), static_cast<int>(end - begin), data,
                      from_one.data(), to + begin * n);
    });
    return view::transpose(x, 0, 1);
  });
}

}  // namespace ladon::lapack
