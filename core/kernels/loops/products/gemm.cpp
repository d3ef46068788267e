#include "ladon/core/kernels/loops/products/gemm.h"

#include "ladon/core/kernels/loops/products/panels.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

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
