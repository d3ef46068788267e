#pragma once
// Precision of large matrix products in f32.

namespace ladon {

/// `highest`: in f32. `medium`: operands are rounded to bf16 and products summed in f32, if the
/// processor has bf16 products; else as `highest`. An element of A·B then errs by up to
/// 2⁻⁷·Σ_p |a_p·b_p|, and large products take half the time at best. Small products, those inside
/// attention, and f64 are not affected.
///
/// A setting of the whole process, `highest` by default; do not change it while products run. The
/// names are PyTorch's.
enum class MatmulPrecision { highest, medium };
void set_matmul_precision(MatmulPrecision precision);
MatmulPrecision matmul_precision();

}  // namespace ladon
