#pragma once
// Log density of samplers: ln p(θ), up to a constant, and its gradient, at many θ at once.
//
//   const LogDensity ring{2, [](const Tensor& x) {                 // [M, 2] → [M]
//     return -8 * square(sqrt(sum(square(x), 1)) - 2);
//   }};
//   model.eval();
//   const LogDensity weights = log_posterior(model, loss, {.count = 5452, .prior_precision = 1});
//
// Rows of Θ [M, D] are chains or particles; each is judged by itself.

#include <cstdint>
#include <functional>

#include "ladon/core/tensor.h"
#include "ladon/layers/module.h"
#include "ladon/optim/target.h"

namespace ladon {

/// ln p and ∇ ln p of each row; f64, without history.
struct DensityScore {
  Tensor value;     ///< [M]
  Tensor gradient;  ///< [M, D]
};

class LogDensity {
 public:
  /// f: Θ f64 [M, D] → [M] in recorded operations, each row's value from that row alone. Throws
  /// Error unless dim ≥ 1 and there is an f.
  LogDensity(std::int64_t dim, std::function<Tensor(const Tensor& theta)> f);
  /// Or what computes both, for a density whose gradient is known otherwise.
  static LogDensity of_scores(std::int64_t dim,
                              std::function<DensityScore(const Tensor& theta)> score);

  std::int64_t dim() const { return dim_; }

  /// At Θ [M, D], any floating dtype. A value may be −∞ (outside the support) or NaN, and gradients
  /// are then whatever they are: samplers refuse such proposals. Throws Error for other shapes, of
  /// Θ or of what f returns, and where f records no gradient.
  DensityScore score(const Tensor& theta) const;
  Tensor operator()(const Tensor& theta) const { return score(theta).value; }

 private:
  LogDensity() = default;
  std::int64_t dim_ = 0;
  std::function<DensityScore(const Tensor& theta)> score_;
};

/// ln p(θ | data) = −U(θ)/T of parameters, U of target.h: a row θ is what set.to_row() gives. All
/// others stand still, so that a last layer, one block or its heads are sampled alone:
///   const ParameterSet head = model.choose("head.*");
///   hmc(log_posterior(head, loss), unsqueeze(head.to_row(), 0), {…}, rng);
/// `loss` computes the mean negative log likelihood with the parameters as they stand (of all data,
/// for an exact posterior; mse_loss/(2σ²) for noise of variance σ²), and must have no randomness of
/// its own: score() throws Error where dropout draws or a BatchNorm is in training mode. It writes
/// each row into the parameters, and puts their values back. Throws Error for a bad target, an
/// empty set, and as loss() does.
LogDensity log_posterior(const ParameterSet& set, std::function<Tensor()> loss,
                         const TargetDensity& target = {});
/// Log posterior of all parameters of a model, which must outlive the result. score() throws Error
/// while the model is in training mode.
LogDensity log_posterior(const Module& model, std::function<Tensor()> loss,
                         const TargetDensity& target = {});
LogDensity log_posterior(const Module&& model, std::function<Tensor()> loss,
                         const TargetDensity& target = {}) = delete;

[[deprecated("model.named_parameters().to_row()")]] Tensor parameters_to_row(Module& model);
[[deprecated("model.named_parameters().assign_row(row)")]] void row_to_parameters(const Tensor& row,
                                                                                  Module& model);

}  // namespace ladon
