#pragma once
// Precision of large matrix products in f32.

namespace ladon {

/// Precision of large matrix products of f32 tensors. `highest` computes in f32. `medium` rounds
/// the operands to bf16 and sums the products in f32, if the processor has bf16 instructions; if
/// not, it is the same as `highest`. With `medium`, an element Σ_p a_p·b_p of a product errs by up
/// to 2⁻⁷·Σ_p |a_p·b_p|, and large products take half the time at best. Small products, products
/// inside attention, and f64 are not affected.
///
/// The setting applies to the whole process and is `highest` by default; do not change it while
/// products run. The names are PyTorch's.
enum class MatmulPrecision { highest, medium };
void set_matmul_precision(MatmulPrecision precision);
MatmulPrecision matmul_precision();

}  // namespace ladon
