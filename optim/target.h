#pragma once
// Target density that samplers and particle methods sample from.

#include "ladon/core/tensor.h"

namespace ladon {

/// Density ∝ exp(−U(θ)/T) of the parameters θ, with U = N·loss − log prior. With the defaults U is
/// the loss itself.
struct TargetDensity {
  double count = 1;  ///< N: number of training items, if the loss is their mean.
  double prior_precision =
      0;                   ///< λ of the prior N(0, 1/λ) on every element of θ; if 0, it is flat.
  double temperature = 1;  ///< T: divides U.
};

namespace detail {

/// Throws Error naming `operation` unless N and T are positive, λ is not negative, and all are
/// finite.
void check_target(const char* operation, const TargetDensity& target);

}  // namespace detail

/// ∇U(Θ)/N = g + (λ/N)·Θ from Θ and g = ∇loss of the same dtype: the gradient of U in units of the
/// mean loss. A step of rate r along it equals a step of rate r·T/N along ∇U/T, the negative score.
Tensor mean_gradient(const TargetDensity& target, const Tensor& theta, const Tensor& g);

/// ∇U(Θ)/T, the negative score, from Θ and g = ∇loss.
Tensor target_gradient(const TargetDensity& target, const Tensor& theta, const Tensor& g);

}  // namespace ladon
