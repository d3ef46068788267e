#pragma once
// Bayesian regression tasks with a known posterior, for testing approximate inference methods.
//
// Weights have the prior N(0, 1), targets are y = f(x) + N(0, σ²). Θ [P, D] contains the weights of
// P whole networks, not of single heads: with many heads and few data the posterior of each head
// alone is close to its prior, and the information from the data is in the correlations between
// heads.

#include <cstdint>
#include <functional>

#include "ladon/layers/attention/wide_heads.h"
#include "ladon/layers/layer.h"
#include "ladon/optim/samplers/log_density.h"

namespace ladon {

struct RegressionTask {
  std::int64_t dim = 0;  ///< D, number of weights of a network.
  /// Outputs of P networks at the first `inputs` of the N training and M test inputs, in
  /// differentiable operations: Θ f64 [P, D] → [P, inputs].
  std::function<Tensor(const Tensor& theta, std::int64_t inputs)> functions = {};
  std::int64_t inputs = 0;  ///< N + M, number of training and test inputs.
  Tensor targets = {};      ///< [N]
  double noise = 0;         ///< Variance σ² of the noise on the targets.
};

/// Task of a layer of attention with H infinitely wide heads and one output, averaged over the T
/// positions: inputs [N + M, T, d]. latent_posterior.h samples its posterior exactly. A row of Θ
/// contains B_h [d, d] and v_h [d] of wide_heads(), head after head, so D = H·(d² + d). Throws
/// Error for other shapes, and unless the noise is positive and finite.
RegressionTask wide_heads_task(const WideHeadsOptions& options, const Tensor& inputs,
                               const Tensor& targets, double noise);

/// Task of any network with one output per input. The network must be in NTK parameterization, in
/// which all weights have the prior N(0, 1). The rows of Θ are evaluated one after another. The
/// model must outlive the task, and be in eval() mode. Throws Error if the model has no parameters,
/// or no layer in NTK parameterization.
RegressionTask network_task(Layer& model, const Tensor& inputs, const Tensor& targets,
                            double noise);

/// Negative log likelihood up to a constant, Σ_n (y_n − f_n)²/(2σ²), of each row f of functions [P,
/// ≥ N]. `targets`, [P, N] with a row for each row of functions, or [1, N] for all rows, replaces
/// the task's targets.
/// This and the functions below throw Error unless the noise is positive and finite, shapes agree
/// with RegressionTask, and there are as many inputs as targets.
Tensor misfit(const RegressionTask& task, const Tensor& functions, const Tensor& targets = {});

/// Log posterior ln p(θ | y) = −½|θ|² − misfit of each row θ of Θ, up to a constant.
LogDensity log_posterior(const RegressionTask& task);

/// Outputs of the networks Θ at the test inputs, [P, M], without history.
Tensor test_functions(const RegressionTask& task, const Tensor& theta);

}  // namespace ladon
