#include <algorithm>
#include <cmath>
#include <type_traits>

#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/linalg/blas.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/linalg/lapack_operands.h"
#include "ladon/core/linalg/tridiagonal.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/storage.h"
#include "ladon/core/view.h"

// LAPACK's own names. A Fortran character argument brings its length at the end.
extern "C" {
void ssyevd_(const char* job, const char* uplo, const int* n, float* a, const int* stride, float* w,
             float* work, const int* work_size, int* iwork, const int* iwork_size, int* info,
             std::size_t, std::size_t);
void dsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* stride,
             double* w, double* work, const int* work_size, int* iwork, const int* iwork_size,
             int* info, std::size_t, std::size_t);
void sstedc_(const char* job, const int* n, float* d, float* e, float* z, const int* stride,
             float* work, const int* work_size, int* iwork, const int* iwork_size, int* info,
             std::size_t);
void dstedc_(const char* job, const int* n, double* d, double* e, double* z, const int* stride,
             double* work, const int* work_size, int* iwork, const int* iwork_size, int* info,
             std::size_t);
void sormtr_(const char* side, const char* uplo, const char* transposed, const int* rows,
             const int* columns, const float* a, const int* stride, const float* tau, float* c,
             const int* c_stride, float* work, const int* work_size, int* info, std::size_t,
             std::size_t, std::size_t);
void dormtr_(const char* side, const char* uplo, const char* transposed, const int* rows,
             const int* columns, const double* a, const int* stride, const double* tau, double* c,
             const int* c_stride, double* work, const int* work_size, int* info, std::size_t,
             std::size_t, std::size_t);
}

namespace ladon::lapack {
namespace {

// Row-major and lower is column-major and upper, of a symmetric matrix the same.
constexpr char upper = 'U';
constexpr int block = 64;  // columns that LAPACK's reductions take at a time, at most

/// Memory for a call.
template <class T>
class Room {
 public:
  explicit Room(std::int64_t elements) : storage_(static_cast<std::size_t>(elements) * sizeof(T)) {}
  T* data() { return reinterpret_cast<T*>(storage_.bytes()); }

 private:
  Storage storage_;
};

// Replaces `a` by its eigenvectors (as rows) where they are wanted.
template <class T>
int syevd(bool vectors, int n, T* a, T* values) {
  const int work_size = vectors ? 1 + 6 * n + 2 * n * n : 1 + 2 * n;
  const int iwork_size = vectors ? 3 + 5 * n : 1;
  Room<T> work(work_size);
  Room<int> iwork(iwork_size);
  const char job = vectors ? 'V' : 'N';
  int info = 0;
  if constexpr (std::is_same_v<T, float>)
    ssyevd_(&job, &upper, &n, a, &n, values, work.data(), &work_size, iwork.data(), &iwork_size,
            &info, 1, 1);
  else
    dsyevd_(&job, &upper, &n, a, &n, values, work.data(), &work_size, iwork.data(), &iwork_size,
            &info, 1, 1);
  return info;
}

// Eigenvalues of T, to d, and eigenvectors, to the rows of z [n, n], by divide and conquer.
template <class T>
int divide_and_conquer(int n, T* d, T* e, T* z) {
  const char own = 'I';
  const int work_size = 1 + 4 * n + n * n, iwork_size = 3 + 5 * n;
  Room<T> work(work_size);
  Room<int> iwork(iwork_size);
  int info = 0;
  if constexpr (std::is_same_v<T, float>)
    sstedc_(&own, &n, d, e, z, &n, work.data(), &work_size, iwork.data(), &iwork_size, &info, 1);
  else
    dstedc_(&own, &n, d, e, z, &n, work.data(), &work_size, iwork.data(), &iwork_size, &info, 1);
  return info;
}

// Rows of z, eigenvectors of T, become those of A: each by Q.
template <class T>
void turn_back(int n, int rows, const T* a, const T* tau, T* z) {
  const char left = 'L', plain = 'N';
  const int work_size = rows * block + 2 * block * block;
  Room<T> work(work_size);
  int info = 0;
  if constexpr (std::is_same_v<T, float>)
    sormtr_(&left, &upper, &plain, &n, &rows, a, &n, tau, z, &n, work.data(), &work_size, &info, 1,
            1, 1);
  else
    dormtr_(&left, &upper, &plain, &n, &rows, a, &n, tau, z, &n, work.data(), &work_size, &info, 1,
            1, 1);
}

// Whether squares of the elements, and sums of them, are far from the ends of T's range. (LAPACK's
// driver scales others.)
template <class T>
bool moderate(std::int64_t n, const T* a) {
  const auto& reduce = kernels::loops().of<T>().reduce;
  const T size = std::max(reduce[int(kernels::Reduce::max)](a, n * n),
                          -reduce[int(kernels::Reduce::min)](a, n * n));
  const T far = sizeof(T) == 4 ? T(1e12) : T(1e120);
  return size < far && size > 1 / far;
}

// The three steps of LAPACK's driver, of which all threads share the first and the last. The result
// are eigenvectors as rows.
template <class T>
int eigen_by_steps(int n, T* a, T* values, Tensor& rows) {
  const std::int64_t strip = std::max(128, (n + 3) / 4);  // eigenvectors; each strip reads all of Q
  Room<T> e(n), tau(n);
  make_tridiagonal(n, a, values, e.data(), tau.data());
  Tensor z = empty(rows.shape(), rows.dtype());
  T* vectors = z.mutable_data<T>();
  if (const int info = divide_and_conquer(n, values, e.data(), vectors)) return info;
  parallel::for_range(n, strip, [&](std::int64_t begin, std::int64_t end) {
    blas::use_one_thread();
    turn_back(n, static_cast<int>(end - begin), a, tau.data(), vectors + begin * n);
  });
  rows = z;
  return 0;
}

}  // namespace

std::pair<Tensor, Tensor> eigh(const Tensor& a) {
  check_square("eigh", a);
  constexpr std::int64_t largest = 32766;  // LAPACK counts a workspace of 1 + 6n + 2n² in 32 bits
  constexpr std::int64_t many = 256;       // LAPACK turns fewer back by a way that writes to Q
  LADON_CHECK(a.shape()[0] <= largest, "eigh", "n is ", a.shape()[0], ", above ", largest);
  return visit_floating("eigh", a.dtype(), [&]<class T>() -> std::pair<Tensor, Tensor> {
    const std::int64_t n = a.shape()[0];
    Tensor rows = copy<T>("eigh", a, Holds::lower);
    Tensor values = empty({n}, a.dtype());
    if (n == 0) return {values, rows};
    blas::use_one_thread();
    T *data = rows.mutable_data<T>(), *w = values.mutable_data<T>();
    const int size = static_cast<int>(n);
    const int info = n >= many && moderate(n, data) ? eigen_by_steps(size, data, w, rows)
                                                    : syevd(true, size, data, w);
    LADON_CHECK(info == 0, "eigh", "did not converge on a matrix ", a.shape());
    return {values, kernels::contiguous(view::transpose(rows, 0, 1))};
  });
}

Tensor eigenvalues(const Tensor& a) {
  check_square("eigenvalues", a);
  return visit_floating("eigenvalues", a.dtype(), [&]<class T>() {
    const std::int64_t n = a.shape()[0];
    Tensor work = copy<T>("eigenvalues", a, Holds::lower), values = empty({n}, a.dtype());
    if (n == 0) return values;
    blas::use_one_thread();
    const int info =
        syevd(false, static_cast<int>(n), work.mutable_data<T>(), values.mutable_data<T>());
    LADON_CHECK(info == 0, "eigenvalues", "did not converge on a matrix ", a.shape());
    return values;
  });
}

}  // namespace ladon::lapack
