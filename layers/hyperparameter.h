#pragma once
// Use of hyper-parameters (Module::hyperparameters) in the forward pass of a finite layer; for
// authors of layers in NTK parameterization.

#include "ladon/core/tensor.h"

namespace ladon {

/// x·s in x's dtype, for an f64 number s computed from a hyper-parameter, such as
/// weight_std / sqrt(in). Differentiable with respect to both; multiplying by s.item() instead
/// would lose the derivative with respect to the hyper-parameter.
Tensor scaled(const Tensor& x, const Tensor& s);

}  // namespace ladon
