#pragma once
// Beliefs about f at test inputs from any method, and scores of one against another.

#include <cstdint>

#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/posterior/latent_posterior.h"

namespace ladon {

/// Distribution of f (without noise) at M test inputs, for one output: its first two moments, and
/// at each input a mixture of S normal distributions with equal weights. Draws are components of
/// variance 0.
struct Belief {
  Tensor mean;        ///< [M]
  Tensor covariance;  ///< [M, M]
  Tensor means;       ///< [S, M]
  Tensor variances;   ///< [S, M]
};

/// Belief from S ≥ 2 functions [S, M]: draws of a sampler, or members of an ensemble. The
/// covariance has the divisor S − 1. Throws Error for other shapes, and unless all values are
/// finite.
Belief belief_of_draws(const Tensor& values);
/// Belief from the prediction of a Gaussian process, whose covariance must be [M, M].
Belief belief_of(const GpPrediction& prediction, std::int64_t output = 0);
/// Belief of a network with finitely many heads. Keeps at most 2,000 of the draws as components,
/// evenly spaced.
Belief belief_of(const LatentPosterior& posterior, std::int64_t output = 0);

/// Scores of a belief against the truth; coverage and log density are for noisy targets y = f +
/// N(0, σ²).
struct BeliefScore {
  /// Root mean square over inputs of (mean − true mean)/true standard deviation. For S independent
  /// exact draws it is about 1/√S.
  double mean_error = 0;
  double variance_ratio = 0;  ///< tr C/tr C_true: below 1 for an overconfident belief.
  /// 2-Wasserstein distance between normal distributions with these moments, over all inputs
  /// jointly (Gelbrich 1990), divided by √tr C_true: W² = |Δm|² + tr(C + C_t − 2(C_t^½·C·C_t^½)^½).
  double w2 = 0;
  /// True probability of the belief's central 50% and 90% intervals of y; means over inputs.
  double coverage50 = 0, coverage90 = 0;
  /// E ln p(y) under the truth, minus its value for the true density: at most 0, in nats per input.
  /// (Minus the Kullback–Leibler divergence between the distributions of y, by the trapezoidal
  /// rule.)
  double log_density = 0;
};

/// Throws Error if the two have different inputs, or if the noise is not positive.
BeliefScore score_belief(const Belief& belief, const Belief& truth, double noise);

}  // namespace ladon
