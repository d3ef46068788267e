#pragma once
// Means and mean squares over axes (normalized, ascending, distinct) of floating tensors. They are
// right even if a sum leaves the range of the dtype but the result does not: then elements are
// scaled by powers of two, which does not change the bits of results.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// Whether every element lies in [low, high]; false if one is NaN. One pass, which runs in
/// parallel.
bool all_within(const Tensor& x, double low, double high);

/// For each positive finite element the largest power of two not above it; 1 for all other
/// elements.
Tensor power_of_two(const Tensor& x);
/// power_of_two() of the largest magnitude over the axes, or of `least` if that is larger; the axes
/// are kept with size 1.
Tensor scale_of(const Tensor& x, const std::vector<int>& axes, double least = 0);

/// Mean Σx/n over the axes, which have n elements; NaN if n is 0.
Tensor mean(const Tensor& x, const std::vector<int>& axes, bool keep);
/// The root mean square sqrt(Σx²/divisor) over the axes.
Tensor root_mean_square(const Tensor& x, const std::vector<int>& axes, bool keep, double divisor);
/// The variance Σ(x − mean)²/divisor, and its square root, deviation(). If the mean is large
/// compared with the deviations x − mean, the deviations are corrected for the rounding error of
/// the mean.
Tensor variance(const Tensor& x, const std::vector<int>& axes, bool keep, double divisor);
Tensor deviation(const Tensor& x, const std::vector<int>& axes, bool keep, double divisor);

}  // namespace ladon::kernels
