#pragma once
// What samplers and particles are to sample.

#include "ladon/core/tensor.h"

namespace ladon {

/// density ∝ exp(−U(θ)/T), U = N·loss − log prior. The defaults take the loss itself as U.
struct Target {
  double count = 1;            ///< N: training items, when the loss is their mean.
  double prior_precision = 0;  ///< λ of the prior N(0, 1/λ) on every entry; 0: flat.
  double temperature = 1;      ///< T
};

/// Throws Error naming `operation` unless N and T are positive, λ is not negative, and all are finite.
void check_target(const char* operation, const Target& target);

/// ∇U(Θ)/T = (N·g + λ·Θ)/T, the negative score, from Θ and g = ∇loss of one dtype.
Tensor target_gradient(const Target& target, const Tensor& theta, const Tensor& g);

}  // namespace ladon
