#pragma once
// Classification by regression: targets are one-hot vectors, and the predicted class is the one
// with the largest output.

#include <cstdint>

#include "ladon/core/tensor.h"

namespace ladon {

/// Regression targets of class labels: one-hot vectors minus 1/classes, so that every row sums to
/// 0:  labels i64 [N] → f64 [N, classes]. Throws Error for a label outside [0, classes) and for
/// fewer than two classes.
Tensor classification_targets(const Tensor& labels, std::int64_t classes);

/// Probability p_mc that class c has the largest output at test input m, where the outputs are
/// independent N(mean_mc, variance_m): the multinomial probit rule (Girolami and Rogers 2006)
///   p_mc = E_z[Π_{c' ≠ c} Φ(z + (mean_mc − mean_mc')/√variance_m)],   z ~ N(0, 1),
/// by a fixed quadrature, accurate to about 1e-12. mean [M, C] and variance [M] must describe noisy
/// outputs (posterior variance plus noise); the result is f64 [M, C], rows sum to 1. For two
/// classes p_m0 is Φ((mean_m0 − mean_m1)/√(2 variance_m)). At variance 0 the classes with the
/// largest mean share the probability equally. Throws Error where shapes disagree, C < 2, a value
/// is not finite, a variance is negative, or an argument has a derivative, which would be lost: if
/// it requires a gradient and recording is on, or has a tangent of jvp.
///
/// If the kernel has an arbitrary scale, its variances are not in units of the targets: multiply
/// the variances by GaussianProcess::amplitude() first (the variances of GradientFlow::ensemble by
/// the amplitude of the NNGP kernel).
Tensor class_probabilities(const Tensor& mean, const Tensor& variance);

}  // namespace ladon
