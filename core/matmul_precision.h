#pragma once
// Precision of large products of f32.

namespace ladon {

/// `highest`: in f32. `medium`: of operands rounded to bf16, with sums in f32, where the processor
/// has such products, else as `highest`. An element of A·B then errs by up to 2⁻⁷·Σ_p |a_p·b_p|,
/// and large products take half the time at best. Small products, attention's own, and f64 are as
/// ever.
///
/// Of the whole process, `highest` at first; not to be changed while products run. The names are
/// PyTorch's.
enum class MatmulPrecision { highest, medium };
void set_matmul_precision(MatmulPrecision precision);
MatmulPrecision matmul_precision();

}  // namespace ladon
