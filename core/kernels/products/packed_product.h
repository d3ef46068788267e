#pragma once
// Large matrix products, where B is packed once for all rows of A. Called by core/linalg/blas.cpp.

#include <cstdint>

#include "ladon/core/linalg/blas.h"

namespace ladon::kernels {

/// Whether packing makes a product [m, k] · [k, n] faster: m, n and k are not small, and k is not
/// so large that the sum should be split. (For up to a million multiply-adds, if the rows of B are
/// dense, OpenBLAS has faster kernels that read B in place.)
bool packs(std::int64_t m, std::int64_t n, std::int64_t k, bool dense_rows);

enum class On { all_threads, this_thread };

/// C ← alpha·A·B + beta·C, as blas::gemm, or C ← alpha·A·B with `row` [n] added to each row. The
/// result has the same bits on all threads and on one thread. m, n, k ≥ 1; T is float or double.
template <class T>
void packed_product(On on, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                    blas::Matrix<const T> a, blas::Matrix<const T> b, T beta, blas::Matrix<T> c,
                    const T* row = nullptr);

/// Lower triangle of C ← alpha·A·Aᵀ + beta·C, as blas::syrk; n, k ≥ 1.
template <class T>
void packed_square(std::int64_t n, std::int64_t k, T alpha, blas::Matrix<const T> a, T beta,
                   blas::Matrix<T> c);

}  // namespace ladon::kernels
