#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {

const Loops& table() {
  static const Loops filled = [] {
    Loops t{};
    add_pointwise(t);
    add_reductions(t);
    add_rows(t);
    add_optimizers(t);
    add_attention(t);
    add_columns(t);
    add_duals(t);
    add_halves(t);
    add_gathered(t);
    add_gemm(t);
#ifdef __AVX512F__
    add_gemm_of_bf16(t);
#endif
    add_rectifier(t);
    add_largest(t);
    add_products(t);
    add_particles(t);
    add_piecewise(t);
    add_places(t);
    add_random(t);
    add_symmetric(t);
    add_transpositions(t);
    add_triangular(t);
    add_weights(t);
    return t;
  }();
  return filled;
}

}  // namespace ladon::kernels::LADON_LEVEL
