#pragma once
// Target density of samplers and particles.

#include "ladon/core/tensor.h"

namespace ladon {

/// density ∝ exp(−U(θ)/T), U = N·loss − log prior. The defaults take the loss itself as U.
struct TargetDensity {
  double count = 1;            ///< N: training items, when the loss is their mean.
  double prior_precision = 0;  ///< λ of the prior N(0, 1/λ) on every entry; 0: flat.
  double temperature = 1;      ///< T
};

namespace detail {

/// Throws Error naming `operation` unless N and T are positive, λ is not negative, and all are
/// finite.
void check_target(const char* operation, const TargetDensity& target);

}  // namespace detail

/// ∇U(Θ)/N = g + (λ/N)·Θ from Θ and g = ∇loss of one dtype: U in the units of the mean loss. A step
/// of rate r along it is one of rate r·T/N along the negative score ∇U/T.
Tensor mean_gradient(const TargetDensity& target, const Tensor& theta, const Tensor& g);

/// ∇U(Θ)/T, the negative score.
Tensor target_gradient(const TargetDensity& target, const Tensor& theta, const Tensor& g);

}  // namespace ladon
