#include <algorithm>
#include <cmath>
#include <vector>

#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/linalg/lapack_operands.h"
#include "ladon/core/linalg/routines.h"
#include "ladon/core/linalg/tridiagonal.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/view.h"

namespace ladon::lapack {
namespace {

// Whether the largest magnitude in `a` is such that squares of elements, and sums of squares, are
// well within the range of T. (LAPACK's driver scales other matrices.)
template <class T>
bool moderate(std::int64_t n, const T* a) {
  const auto& reduce = kernels::loops().of<T>().reduce;
  const T size = std::max(reduce[int(kernels::Reduce::max)](a, n * n),
                          -reduce[int(kernels::Reduce::min)](a, n * n));
  const T far = sizeof(T) == 4 ? T(1e12) : T(1e120);
  return size < far && size > 1 / far;
}

// The three steps of LAPACK's driver syevd: reduction to tridiagonal form, eigenvectors of the
// tridiagonal matrix, and back-transformation. The first and the last step use all threads. Writes
// the eigenvectors to the rows of `rows`. Returns 0, or another number if the iteration does not
// converge.
template <class T>
int eigen_by_steps(int n, T* a, T* values, Tensor& rows) {
  // Number of eigenvectors per task; every task reads all of Q.
  const std::int64_t strip = std::max(128, (n + 3) / 4);
  std::vector<T> e(n), tau(e);
  make_tridiagonal(n, a, values, e.data(), tau.data());
  Tensor z = empty(rows.shape(), rows.dtype());
  T* vectors = z.mutable_data<T>();
  if (const int info = routines::stedc(n, values, e.data(), vectors)) return info;
  parallel::for_range(n, strip, [&](std::int64_t begin, std::int64_t end) {
    routines::ormtr(n, static_cast<int>(end - begin), a, tau.data(), vectors + begin * n);
  });
  rows = z;
  return 0;
}

}  // namespace

std::pair<Tensor, Tensor> eigh(const Tensor& a) {
  check_square("eigh", a);
  constexpr std::int64_t largest = 32766;  // the workspace size 1 + 6n + 2n² must fit in 32 bits
  // For smaller n, LAPACK's back-transformation writes to Q, so that tasks could not share Q.
  constexpr std::int64_t many = 256;
  LADON_CHECK(a.shape()[0] <= largest, "eigh", "the matrix [n, n] has n = ", a.shape()[0],
              "; n must be at most ", largest);
  return visit_floating("eigh", a.dtype(), [&]<class T>() -> std::pair<Tensor, Tensor> {
    const std::int64_t n = a.shape()[0];
    Tensor rows = copy<T>("eigh", a, Holds::lower);
    Tensor values = empty({n}, a.dtype());
    if (n == 0) return {values, rows};
    T *data = rows.mutable_data<T>(), *w = values.mutable_data<T>();
    const int size = static_cast<int>(n);
    const int info = n >= many && moderate(n, data) ? eigen_by_steps(size, data, w, rows)
                                                    : routines::syevd(true, size, data, w);
    LADON_CHECK(info == 0, "eigh", "LAPACK's iteration did not converge for a matrix of shape ",
                a.shape(), " (info = ", info, "); scale the matrix, or compute in f64");
    return {values, kernels::contiguous(view::transpose(rows, 0, 1))};
  });
}

Tensor eigenvalues(const Tensor& a) {
  check_square("eigenvalues", a);
  return visit_floating("eigenvalues", a.dtype(), [&]<class T>() {
    const std::int64_t n = a.shape()[0];
    Tensor work = copy<T>("eigenvalues", a, Holds::lower), values = empty({n}, a.dtype());
    if (n == 0) return values;
    const int info = routines::syevd(false, static_cast<int>(n), work.mutable_data<T>(),
                                     values.mutable_data<T>());
    LADON_CHECK(info == 0, "eigenvalues",
                "LAPACK's iteration did not converge for a matrix of shape ", a.shape(),
                " (info = ", info, "); scale the matrix, or compute in f64");
    return values;
  });
}

}  // namespace ladon::lapack
