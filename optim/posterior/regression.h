#pragma once
// Bayesian regression tasks with a known posterior, to test approximate methods on.
//
// Weights are N(0, 1), targets are y = f(x) + N(0, σ²). Θ [P, D] holds the weights of P whole
// networks, not of single heads: with many heads and few data the posterior of each head alone is
// close to its prior, and the information from the data is in the correlations between heads.

#include <cstdint>
#include <functional>

#include "ladon/layers/attention/wide_heads.h"
#include "ladon/layers/layer.h"
#include "ladon/optim/samplers/log_density.h"

namespace ladon {

struct RegressionTask {
  std::int64_t dim = 0;  ///< D
  /// The functions of networks at the first `inputs` of the N training and M test inputs, recorded:
  /// Θ f64 [P, D] → [P, inputs].
  std::function<Tensor(const Tensor& theta, std::int64_t inputs)> functions = {};
  std::int64_t inputs = 0;  ///< N + M
  Tensor targets = {};      ///< [N]
  double noise = 0;         ///< σ²
};

/// Task of attention with infinitely wide heads and the mean over positions: inputs [N + M, T, d],
/// one output; latent_posterior.h samples its posterior exactly. A row of Θ is B_h and v_h, head
/// after head: D = H·(d² + d). Throws Error for other shapes, and unless the noise is positive.
RegressionTask wide_heads_task(const WideHeadsOptions& options, const Tensor& inputs,
                               const Tensor& targets, double noise);

/// Task of any network with one output per input, in NTK parameterization, where all weights are
/// N(0, 1). The rows of Θ are evaluated one after the other. The model must outlive the task, and
/// be in eval() mode.
RegressionTask network_task(Layer& model, const Tensor& inputs, const Tensor& targets,
                            double noise);

/// Σ_n (y_n − f_n)²/(2σ²) for each row of functions [P, ≥ N]: the negative log likelihood, up to a
/// constant. `targets` [P, N] replaces the task's targets by separate ones per row.
Tensor misfit(const RegressionTask& task, const Tensor& functions, const Tensor& targets = {});

/// ln p(Θ | y) = −½|θ|² − misfit, up to a constant.
LogDensity log_posterior(const RegressionTask& task);

/// The functions of Θ at the test inputs, [P, M], without history.
Tensor test_functions(const RegressionTask& task, const Tensor& theta);

}  // namespace ladon
