#pragma once
// Classification by regression: targets are one-hot vectors, and the predicted class is the largest
// output.

#include <cstdint>

#include "ladon/core/tensor.h"

namespace ladon {

/// One-hot minus 1/classes, so that every row sums to 0:  labels i64 [N] → f64 [N, classes].
/// Throws Error for a label outside [0, classes) and for less than two classes.
Tensor classification_targets(const Tensor& labels, std::int64_t classes);

/// The probability that class c has the largest output, where the outputs are independent
/// N(mean_mc, variance_m): the multinomial probit rule (Girolami and Rogers 2006)
///   p_mc = E_z[Π_{c' ≠ c} Φ(z + (mean_mc − mean_mc')/√variance_m)],   z ~ N(0, 1),
/// by a fixed quadrature, accurate to about 1e-12. mean [M, C], variance [M], of the noisy outputs
/// (posterior variance plus noise) → f64 [M, C], rows sum to 1. For two classes it is Φ((mean_0 −
/// mean_1)/√(2 variance)). At variance 0 the largest outputs share the probability. Throws Error
/// where shapes disagree, C < 2, a value is not finite or a variance is negative.
///
/// If the kernel has an arbitrary scale its variances are not in units of the targets: multiply
/// them by GaussianProcess::amplitude() first (the variances of GradientFlow::ensemble by the
/// amplitude of the NNGP kernel).
Tensor class_probabilities(const Tensor& mean, const Tensor& variance);

}  // namespace ladon
