#pragma once
// Quality of predictive distributions in regression: are they right, and no wider than necessary? A
// prediction is either Gaussian, mean [N] and variance [N] (noise included), or draws [S, N] of the
// target (noise included). Floating dtypes, targets [N]. No gradients; computed in f64. All throw
// Error for other shapes and dtypes, if N is 0, and for values that are not finite.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::metrics {

/// For each level c in [0, 1]: the share of targets inside the central interval that should hold
/// them with probability c, between the quantiles (1 − c)/2 and (1 + c)/2, ends included. A
/// calibrated prediction has share ≈ c, a too narrow one less. Throws Error for a level outside [0,
/// 1] and a negative variance.
std::vector<double> interval_coverage(const Tensor& mean, const Tensor& variance,
                                      const Tensor& targets, const std::vector<double>& levels);
/// From draws: the quantile q of S sorted draws has rank q·(S + 1), counted from 1, and lies on the
/// line between two draws if the rank does. So a target that is exchangeable with the draws is
/// covered with probability exactly c (to first order between ranks), however small S is. Throws
/// Error if c > (S − 1)/(S + 1), for which S draws have no such quantile.
std::vector<double> interval_coverage(const Tensor& draws, const Tensor& targets,
                                      const std::vector<double>& levels);

/// Mean of ½ ln(2πv) + (y − μ)²/(2v), in nats. Throws Error unless variances are positive.
double gaussian_nll(const Tensor& mean, const Tensor& variance, const Tensor& targets);

/// Mean of the continuous ranked probability score ∫ (F(x) − 1{x ≥ y})² dx, in the units of y; it
/// is |y − μ| for a prediction without spread. Gaussian, z = (y − μ)/σ:
///   σ·[z(2Φ(z) − 1) + 2φ(z) − 1/√π]   (Gneiting and Raftery 2007, section 4.2).
double crps(const Tensor& mean, const Tensor& variance, const Tensor& targets);
/// From S ≥ 2 draws (Error otherwise), unbiased for the score of the distribution they come from:
///   mean_s |x_s − y| − ½ mean_{s≠t} |x_s − x_t|   (Ferro 2014).
double crps(const Tensor& draws, const Tensor& targets);

}  // namespace ladon::metrics
