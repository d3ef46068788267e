#pragma once
// Quality of predictive distributions in regression: their calibration, and scores that also reward
// sharpness. The predictions for N targets are either Gaussian, with mean [N] and variance [N], or
// S draws [S, N]; variance and draws include the observation noise. All dtypes are floating,
// targets are [N]. All functions compute in f64 and record no gradients. They throw Error for other
// shapes and dtypes, if N is 0, and for values that are not finite.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::metrics {

/// Coverage of central prediction intervals. For each level c in [0, 1]: the fraction of targets
/// between the quantiles (1 − c)/2 and (1 + c)/2 of their predictions, ends included. It is about c
/// for calibrated predictions, and less for predictions that are too narrow. Throws Error for a
/// level outside [0, 1] and for a negative variance.
std::vector<double> interval_coverage(const Tensor& mean, const Tensor& variance,
                                      const Tensor& targets, const std::vector<double>& levels);
/// interval_coverage() from S draws per target. The quantile q is the draw of rank q·(S + 1) among
/// the S sorted draws, counted from 1, interpolated linearly if the rank is not an integer. So a
/// target that is exchangeable with the draws is covered with probability exactly c (to first order
/// if the ranks are not integers), however small S is. Throws Error if c > (S − 1)/(S + 1), because
/// S draws are too few for this quantile.
std::vector<double> interval_coverage(const Tensor& draws, const Tensor& targets,
                                      const std::vector<double>& levels);

/// Mean negative log likelihood ½ ln(2πv) + (y − μ)²/(2v) of targets y under predictions of mean μ
/// and variance v, in nats. Throws Error unless variances are positive.
double gaussian_nll(const Tensor& mean, const Tensor& variance, const Tensor& targets);

/// Mean of the continuous ranked probability score ∫ (F(x) − 1{x ≥ y})² dx of targets y under
/// predictions with distribution function F, in the units of y. It is |y − μ| for a prediction of
/// variance 0. For Gaussian predictions, with z = (y − μ)/σ:
///   σ·[z(2Φ(z) − 1) + 2φ(z) − 1/√π]   (Gneiting and Raftery 2007, section 4.2).
double crps(const Tensor& mean, const Tensor& variance, const Tensor& targets);
/// crps() from S draws x_s per target: an unbiased estimate of the score of their distribution,
///   mean_s |x_s − y| − ½ mean_{s≠t} |x_s − x_t|   (Ferro 2014).
/// Throws Error if S < 2.
double crps(const Tensor& draws, const Tensor& targets);

}  // namespace ladon::metrics
