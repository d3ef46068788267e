#pragma once
// What samplers draw from: ln p(θ), up to a constant, and its gradient, at many θ at once.
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
struct Score {
  Tensor value;     ///< [M]
  Tensor gradient;  ///< [M, D]
};

class LogDensity {
 public:
  /// f: Θ f64 [M, D] → [M] in recorded operations, each row's value from that row alone. Throws Error
  /// unless dim ≥ 1 and there is an f.
  LogDensity(std::int64_t dim, std::function<Tensor(const Tensor& theta)> f);
  /// Or what computes both, for a density whose gradient is known otherwise.
  static LogDensity of_scores(std::int64_t dim, std::function<Score(const Tensor& theta)> score);

  std::int64_t dim() const { return dim_; }

  /// At Θ [M, D], any floating dtype. A value may be −∞ (outside the support) or NaN, and gradients are
  /// then whatever they are: samplers refuse such proposals. Throws Error for other shapes, of Θ or of
  /// what f returns, and where f records no gradient.
  Score score(const Tensor& theta) const;
  Tensor operator()(const Tensor& theta) const { return score(theta).value; }

 private:
  LogDensity() = default;
  std::int64_t dim_ = 0;
  std::function<Score(const Tensor& theta)> score_;
};

/// ln p(θ | data) = −U(θ)/T of a model's parameters, U of target.h: θ is their concatenation in visiting
/// order, flattened. `loss` computes the mean loss with the parameters as they stand (of all data, for
/// an exact posterior). score() writes each row into the model, and puts its own parameters and
/// gradients back. Throws Error for a bad target, a model without parameters, and as loss() does;
/// score() also for a model in training mode: it must have no randomness of its own.
LogDensity log_posterior(Module& model, std::function<Tensor()> loss, const Target& target = {});

/// A model's parameters as such a row, f64 [D].
Tensor parameters_to_row(Module& model);
/// Writes a row [D] (of any floating dtype, cast) into them. Throws Error for another shape.
void row_to_parameters(const Tensor& row, Module& model);

}  // namespace ladon
