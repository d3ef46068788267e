#pragma once
// Means and mean squares over axes (normalized, ascending, distinct) of floating tensors, where a
// sum may leave the range of its dtype though the result does not. Powers of two bring it back, so
// that what is in range keeps its bits.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// Whether every number lies in [low, high]; false for NaN. One pass, which runs in parallel.
bool all_within(const Tensor& x, double low, double high);

/// The powers of two at or below positive elements; 1 for others, and for ∞ and NaN.
Tensor power_of_two(const Tensor& x);
/// power_of_two of the largest magnitude over the axes, kept.
Tensor scale_of(const Tensor& x, const std::vector<int>& axes);

/// Σx/n. Over nothing: NaN.
Tensor mean(const Tensor& x, const std::vector<int>& axes, bool keep);
/// sqrt(Σx²/divisor).
Tensor root_mean_square(const Tensor& x, const std::vector<int>& axes, bool keep, double divisor);
/// Σ(x − mean)²/divisor, and its root. Where the mean is large beside the deviations from it, what
/// rounding it lost is taken off them too.
Tensor variance(const Tensor& x, const std::vector<int>& axes, bool keep, double divisor);
Tensor deviation(const Tensor& x, const std::vector<int>& axes, bool keep, double divisor);

}  // namespace ladon::kernels
