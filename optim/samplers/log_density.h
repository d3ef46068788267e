#pragma once
// Log density for samplers: ln p(θ), up to a constant, and its gradient, at many θ at once.
//
//   const LogDensity ring{2, [](const Tensor& x) {                 // [M, 2] → [M]
//     return -8 * square(sqrt(sum(square(x), 1)) - 2);
//   }};
//   model.eval();
//   const LogDensity weights = log_posterior(model, loss, {.count = 5452, .prior_precision = 1});
//
// Rows of Θ [M, D] are chains or particles; each is evaluated independently.

#include <cstdint>
#include <functional>

#include "ladon/core/tensor.h"
#include "ladon/layers/module.h"
#include "ladon/optim/target.h"

namespace ladon {

/// ln p and ∇ ln p for each row; f64, without history.
struct DensityScore {
  Tensor value;     ///< [M]
  Tensor gradient;  ///< [M, D]
};

class LogDensity {
 public:
  /// Log density f: Θ f64 [M, D] → [M], computed in differentiable tensor operations; its gradient
  /// comes from autograd. Each row's value must depend on that row alone. Throws Error unless dim ≥
  /// 1 and f is not empty.
  LogDensity(std::int64_t dim, std::function<Tensor(const Tensor& theta)> f);
  /// Log density from a function that computes value and gradient together, for a gradient that
  /// does not come from autograd. Throws Error unless dim ≥ 1 and `score` is not empty.
  static LogDensity of_scores(std::int64_t dim,
                              std::function<DensityScore(const Tensor& theta)> score);

  std::int64_t dim() const { return dim_; }

  /// Value and gradient at Θ [M, D], of any floating dtype. A value may be −∞ (outside the support)
  /// or NaN, and its gradient is then arbitrary: samplers reject such proposals. Throws Error for
  /// other shapes of Θ or of the result of f, and if the result of f has no gradient.
  DensityScore score(const Tensor& theta) const;
  Tensor operator()(const Tensor& theta) const { return score(theta).value; }

 private:
  LogDensity() = default;
  std::int64_t dim_ = 0;
  std::function<DensityScore(const Tensor& theta)> score_;
};

/// Log posterior ln p(θ | data) = −U(θ)/T, up to a constant, of the parameters of a set, with U as
/// in target.h. A row θ has the layout of set.to_row(). Parameters outside the set stay fixed, so
/// that for example a last layer can be sampled alone:
///   const ParameterSet head = model.choose("head.*");
///   hmc(log_posterior(head, loss), unsqueeze(head.to_row(), 0), {…}, rng);
/// `loss` computes the mean negative log likelihood with the current values of the parameters: over
/// all data, for an exact posterior; mse_loss/(2σ²) for observation noise of variance σ². It must
/// be deterministic: score() throws Error if dropout is active or a BatchNorm is in training mode.
/// score() writes each row into the parameters, and restores their values afterwards. Throws Error
/// for an invalid target, for an empty set, and if loss() throws.
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
