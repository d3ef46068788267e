#pragma once
// Target density of samplers and particles.

#include "ladon/core/tensor.h"

namespace ladon {

/// Density ∝ exp(−U(θ)/T) with U = N·loss − log prior. With the defaults U is the loss itself.
struct TargetDensity {
  double count = 1;            ///< N: number of training items, if the loss is their mean.
  double prior_precision = 0;  ///< λ of the prior N(0, 1/λ) on every element; 0: flat.
  double temperature = 1;      ///< T
};

namespace detail {

/// Throws Error naming `operation` unless N and T are positive, λ is not negative, and all are
/// finite.
void check_target(const char* operation, const TargetDensity& target);

}  // namespace detail

/// ∇U(Θ)/N = g + (λ/N)·Θ from Θ and g = ∇loss of the same dtype, that is, U in units of the mean
/// loss. A step of rate r along it equals a step of rate r·T/N along the negative score ∇U/T.
Tensor mean_gradient(const TargetDensity& target, const Tensor& theta, const Tensor& g);

/// ∇U(Θ)/T, the negative score.
Tensor target_gradient(const TargetDensity& target, const Tensor& theta, const Tensor& g);

}  // namespace ladon
