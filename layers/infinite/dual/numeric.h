#pragma once
// Dual activations of any function by its Hermite expansion: what dual() does for Kind::numeric.

#include "ladon/core/kernels/dual.h"
#include "ladon/layers/infinite/dual/dual.h"

namespace ladon::infinite {

/// E[φ(u)φ(v)] and E[φ'(u)φ'(v)].
kernels::DualPair numeric_dual(const DualFunction& f, const Tensor& p, const Tensor& q,
                               const Tensor& c, bool with_derivative);

/// ∂E/∂c and ∂E/∂p, 0 for the latter where p = 0.
kernels::DualPair numeric_dual_slopes(const DualFunction& f, const Tensor& p, const Tensor& q,
                                      const Tensor& c);

}  // namespace ladon::infinite
