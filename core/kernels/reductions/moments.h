#pragma once
// Means and mean squares over axes (normalized, ascending, distinct) of floating tensors, also
// where a sum leaves the range of its dtype but the result does not. Scaling is by powers of two,
// so that results of sums in range keep their bits.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// Whether every number lies in [low, high]; false for NaN. One pass, which runs in parallel.
bool all_within(const Tensor& x, double low, double high);

/// For each positive finite element the largest power of two not above it; 1 for all others.
Tensor power_of_two(const Tensor& x);
/// power_of_two() of the largest magnitude over the axes, which are kept.
Tensor scale_of(const Tensor& x, const std::vector<int>& axes);

/// Σx/n; NaN if there are no elements.
Tensor mean(const Tensor& x, const std::vector<int>& axes, bool keep);
/// sqrt(Σx²/divisor).
Tensor root_mean_square(const Tensor& x, const std::vector<int>& axes, bool keep, double divisor);
/// Σ(x − mean)²/divisor, and its root. If the mean is large compared with the deviations from it,
/// these are corrected for its rounding error.
Tensor variance(const Tensor& x, const std::vector<int>& axes, bool keep, double divisor);
Tensor deviation(const Tensor& x, const std::vector<int>& axes, bool keep, double divisor);

}  // namespace ladon::kernels
