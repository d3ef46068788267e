#pragma once
// Predictive distributions ("beliefs") of a function f at test inputs, from any inference method,
// and scores of an approximate one against the exact one.

#include <cstdint>

#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/posterior/latent_posterior.h"

namespace ladon {

/// Distribution of f (without noise) at M test inputs, for one output: its mean and covariance, and
/// at each input a mixture of S normal distributions with equal weights. If the belief consists of
/// S draws, the mixture's components have variance 0.
struct Belief {
  Tensor mean;        ///< [M]
  Tensor covariance;  ///< [M, M]
  Tensor means;       ///< [S, M]: means of the mixture's components.
  Tensor variances;   ///< [S, M]: variances of the mixture's components.
};

/// Belief from the values [S, M] of S ≥ 2 functions, which are draws of a sampler or members of an
/// ensemble. The covariance has the divisor S − 1. Throws Error for other shapes, and unless all
/// values are finite.
Belief belief_of_draws(const Tensor& values);
/// Belief from the prediction of a Gaussian process, whose covariance must be [M, M]. Throws Error
/// for another shape, and if there is no such output.
Belief belief_of(const GpPrediction& prediction, std::int64_t output = 0);
/// Belief from the posterior of a network with finitely many heads. At most 2,000 of its draws,
/// evenly spaced, become components of the mixture. Throws Error if there is no such output.
Belief belief_of(const LatentPosterior& posterior, std::int64_t output = 0);

/// Scores of a belief against the exact distribution, the truth. Coverage and log density are those
/// of noisy targets y = f + N(0, σ²).
struct BeliefScore {
  /// Root mean square over inputs of (mean − true mean)/true standard deviation. For S independent
  /// exact draws it is about 1/√S.
  double mean_error = 0;
  double variance_ratio = 0;  ///< Total variance/true total variance: below 1 if overconfident.
  /// W/√tr C_true, where W is the 2-Wasserstein distance between two normal distributions over all
  /// inputs jointly, one with the mean and covariance C of the belief, and one with those of the
  /// truth, C_true (Gelbrich 1990): W² = |Δm|² + tr(C + C_true − 2(C_true^½·C·C_true^½)^½), with Δm
  /// the difference of means.
  double w2 = 0;
  /// Probability under the truth of the belief's central 50% and 90% intervals of y, averaged over
  /// inputs.
  double coverage50 = 0, coverage90 = 0;
  /// Expected log density of y under the belief, minus that under the truth, with y drawn from the
  /// truth: at most 0, in nats per input. (Minus the Kullback–Leibler divergence KL(truth ‖ belief)
  /// of y, by the trapezoidal rule.)
  double log_density = 0;
};

/// Scores of `belief` against `truth`; `noise` is σ². Throws Error unless the noise is positive and
/// finite, or if the two have different numbers of inputs, members whose shapes disagree, elements
/// that are not finite, negative variances, or a covariance that is not positive semidefinite up to
/// rounding (10⁻⁶ of its largest eigenvalue).
BeliefScore score_belief(const Belief& belief, const Belief& truth, double noise);

}  // namespace ladon
