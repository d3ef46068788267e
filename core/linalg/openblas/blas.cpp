#include <cblas.h>

#include <mutex>
#include <type_traits>

#include "ladon/core/linalg/openblas/one_thread.h"
#include "ladon/core/linalg/routines.h"

namespace ladon::routines {
namespace {

[[maybe_unused]] const bool chosen = choose_kernels();

CBLAS_TRANSPOSE turned(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

}  // namespace

// Limits OpenBLAS to one thread. Each calling thread does so, because an OpenBLAS that was built
// with OpenMP stores the number of threads per thread.
void use_one_thread() {
  thread_local const bool said = [] {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(said);
}

template <class T>
void gemm(int m, int n, int k, T alpha, Operand<T> a, Operand<T> b, T beta, T* c, int stride) {
  use_one_thread();
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemm(CblasRowMajor, turned(a.transposed), turned(b.transposed), m, n, k, alpha, a.data,
                a.stride, b.data, b.stride, beta, c, stride);
  else
    cblas_dgemm(CblasRowMajor, turned(a.transposed), turned(b.transposed), m, n, k, alpha, a.data,
                a.stride, b.data, b.stride, beta, c, stride);
}

template <class T>
void gemv(int m, int k, T alpha, Operand<T> a, const T* x, int x_step, T beta, T* y, int y_step) {
  use_one_thread();
  const int rows = a.transposed ? k : m, columns = a.transposed ? m : k;  // of A as stored
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemv(CblasRowMajor, turned(a.transposed), rows, columns, alpha, a.data, a.stride, x,
                x_step, beta, y, y_step);
  else
    cblas_dgemv(CblasRowMajor, turned(a.transposed), rows, columns, alpha, a.data, a.stride, x,
                x_step, beta, y, y_step);
}

#define LADON_ROUTINES(T)                                                   \
  template void gemm(int, int, int, T, Operand<T>, Operand<T>, T, T*, int); \
  template void gemv(int, int, T, Operand<T>, const T*, int, T, T*, int);
LADON_ROUTINES(float)
LADON_ROUTINES(double)
#undef LADON_ROUTINES

}  // namespace ladon::routines
