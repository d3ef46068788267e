#include <cstddef>
#include <type_traits>

#include "ladon/core/linalg/openblas/one_thread.h"
#include "ladon/core/linalg/routines.h"
#include "ladon/core/storage.h"

// Functions of LAPACK. The length of a Fortran character argument is passed at the end.
extern "C" {
void sgetrf_(const int* m, const int* n, float* a, const int* stride, int* swaps, int* info);
void dgetrf_(const int* m, const int* n, double* a, const int* stride, int* swaps, int* info);
void sgetrs_(const char* transposed, const int* n, const int* k, const float* lu, const int* stride,
             const int* swaps, float* b, const int* b_stride, int* info, std::size_t);
void dgetrs_(const char* transposed, const int* n, const int* k, const double* lu,
             const int* stride, const int* swaps, double* b, const int* b_stride, int* info,
             std::size_t);
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

namespace ladon::routines {
namespace {

// LAPACK reads the row-major lower triangle of a matrix as the column-major upper triangle of its
// transpose, which for a symmetric matrix is the matrix itself.
constexpr char upper = 'U';
constexpr int block = 64;  // largest number of columns that LAPACK's reductions take at a time

/// Workspace of one call.
template <class T>
class Room {
 public:
  explicit Room(std::int64_t elements) : storage_(static_cast<std::size_t>(elements) * sizeof(T)) {}
  T* data() { return reinterpret_cast<T*>(storage_.bytes()); }

 private:
  Storage storage_;
};

}  // namespace

template <class T>
void getrf(int n, T* a, int* swaps) {
  use_one_thread();
  int info = 0;  // position of the first pivot that is 0; such a pivot is no failure
  if constexpr (std::is_same_v<T, float>)
    sgetrf_(&n, &n, a, &n, swaps, &info);
  else
    dgetrf_(&n, &n, a, &n, swaps, &info);
}

template <class T>
void getrs(bool transposed, int n, int k, const T* lu, const int* swaps, T* b) {
  use_one_thread();
  const char t = transposed ? 'T' : 'N';
  int info = 0;
  if constexpr (std::is_same_v<T, float>)
    sgetrs_(&t, &n, &k, lu, &n, swaps, b, &n, &info, 1);
  else
    dgetrs_(&t, &n, &k, lu, &n, swaps, b, &n, &info, 1);
}

template <class T>
int syevd(bool vectors, int n, T* a, T* values) {
  use_one_thread();
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

// Calls LAPACK's divide-and-conquer method for tridiagonal matrices.
template <class T>
int stedc(int n, T* d, T* e, T* z) {
  use_one_thread();
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

template <class T>
void ormtr(int n, int rows, const T* a, const T* tau, T* z) {
  use_one_thread();
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

#define LADON_ROUTINES(T)                                        \
  template void getrf(int, T*, int*);                            \
  template void getrs(bool, int, int, const T*, const int*, T*); \
  template int syevd(bool, int, T*, T*);                         \
  template int stedc(int, T*, T*, T*);                           \
  template void ormtr(int, int, const T*, const T*, T*);
LADON_ROUTINES(float)
LADON_ROUTINES(double)
#undef LADON_ROUTINES

}  // namespace ladon::routines
