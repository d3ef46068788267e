#pragma once
// Bayesian regression whose posterior is known: what approximate methods are tried on.
//
// Weights are N(0, 1), targets are y = f(x) + N(0, σ²). Θ [P, D] holds the weights of P whole
// networks, for predictive uncertainty is carried by whole networks: with many heads and few data
// each head's own posterior is its prior, and what the data say is in the correlations between
// heads.

#include <cstdint>
#include <functional>

#include "ladon/layers/attention/variants/wide_heads.h"
#include "ladon/layers/layer.h"
#include "ladon/optim/samplers/log_density.h"

namespace ladon {

struct RegressionTask {
  std::int64_t dim = 0;  ///< D
  /// The functions of networks at the first of N training and M test inputs, recorded: Θ f64 [P, D]
  /// → [P, inputs].
  std::function<Tensor(const Tensor& theta, std::int64_t inputs)> functions = {};
  std::int64_t inputs = 0;  ///< N + M
  Tensor targets = {};      ///< [N]
  double noise = 0;         ///< σ²
};

/// Task of attention with infinitely wide heads and the mean over positions: inputs [N + M, T, d],
/// one output, what latent_posterior.h samples exactly. A row of Θ is B_h and v_h, head after head:
/// D = H·(d² + d). Throws Error for other shapes, and unless the noise is positive.
RegressionTask wide_heads_task(const WideHeadsOptions& options, const Tensor& inputs,
                               const Tensor& targets, double noise);

/// Task of any network with one output per input, in ntk parameterization, where all weights are
/// N(0, 1). The rows of Θ go through the model one after the other. The model must outlive the
/// task, in eval() mode.
RegressionTask network_task(Layer& model, const Tensor& inputs, const Tensor& targets,
                            double noise);

/// Σ_n (y_n − f_n)²/(2σ²) of each row of functions [P, ≥ N]: −ln of the likelihood, up to a
/// constant. The targets are the task's, or rows of their own [P, N].
Tensor misfit(const RegressionTask& task, const Tensor& functions, const Tensor& targets = {});

/// ln p(Θ | y) = −½|θ|² − misfit, up to a constant.
LogDensity log_posterior(const RegressionTask& task);

/// The functions of Θ at the test inputs, [P, M], without history.
Tensor test_functions(const RegressionTask& task, const Tensor& theta);

}  // namespace ladon
