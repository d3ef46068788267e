#include "ladon/core/kernels/loops/products/gemm.h"

#include "ladon/core/kernels/loops/products/panels.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

/// Fused multiply-adds in the precision of the elements.
struct Fused {
  template <class T>
  LADON_INLINE static void add(int64_t k, const T* a, const T* b, Sums<T>& sum) {
    for (int64_t p = 0; p < k; ++p) {
      alignas(vector_bytes) Row<T> of_b[block_vectors];
#pragma GCC unroll 2
      for (int j = 0; j < block_vectors; ++j)
        of_b[j] = row_at(b + p * block_columns<T> + j * row_lanes<T>);
#pragma GCC unroll 8
      for (int i = 0; i < block_rows; ++i) {
        const T x = a[p * block_rows + i];
#pragma GCC unroll 2
        for (int j = 0; j < block_vectors; ++j) sum[i][j] += x * of_b[j];
      }
    }
  }
};

template <class T>
GemmLoops<T> gemm_loops() {
  return {block_rows, block_columns<T>, pack<block_rows, T>, pack<block_columns<T>, T>,
          multiply<Fused, T>};
}

}  // namespace

void add_gemm(Loops& table) {
  table.f32.gemm = gemm_loops<float>();
  table.f64.gemm = gemm_loops<double>();
}

}  // namespace ladon::kernels::LADON_LEVEL
