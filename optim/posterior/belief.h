#pragma once
// Beliefs about f at test inputs, by whatever method, and their distances.

#include <cstdint>

#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/posterior/latent_posterior.h"

namespace ladon {

/// The law of f at M test inputs (without noise), of one output: its first two moments, and at each
/// input a mixture of S normal laws, each as likely as another. Draws are components of variance 0.
struct Belief {
  Tensor mean;        ///< [M]
  Tensor covariance;  ///< [M, M]
  Tensor means;       ///< [S, M]
  Tensor variances;   ///< [S, M]
};

/// Belief from S ≥ 2 functions [S, M]: draws of a sampler, or members of an ensemble. The
/// covariance has the divisor S − 1. Throws Error for other shapes, and unless all is finite.
Belief belief_of_draws(const Tensor& values);
/// Belief from the prediction of a Gaussian process, which needs its covariance [M, M].
Belief belief_of(const GpPrediction& prediction, std::int64_t output = 0);
/// Belief of finitely many heads. Keeps at most 2,000 of the draws as components, evenly chosen.
Belief belief_of(const LatentPosterior& posterior, std::int64_t output = 0);

/// Scores of a belief against the truth. Of noisy targets y = f + N(0, σ²) where it says so.
struct BeliefScore {
  /// Root mean square over inputs of (mean − true mean)/true standard deviation. Of S independent
  /// exact draws it is about 1/√S.
  double mean_error = 0;
  double variance_ratio = 0;  ///< tr C/tr C_true: below 1, too sure of itself.
  /// 2-Wasserstein distance of the normal laws with these moments, over all inputs together
  /// (Gelbrich 1990), divided by √tr C_true: W² = |Δm|² + tr(C + C_t − 2(C_t^½·C·C_t^½)^½).
  double w2 = 0;
  /// Mass that the truth gives to the central intervals of y which the belief holds to have 50% and
  /// 90%; means over inputs.
  double coverage50 = 0, coverage90 = 0;
  /// E ln p(y) under the truth, less what the truth itself would have: 0 at best, in nats per
  /// input. (Minus the Kullback–Leibler divergence of y's laws, by the trapezoidal rule.)
  double log_density = 0;
};

/// Throws Error where the two are of other inputs, or the noise is not positive.
BeliefScore score_belief(const Belief& belief, const Belief& truth, double noise);

}  // namespace ladon
