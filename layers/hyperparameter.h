#pragma once
// Hyper-parameters of layers (Module::hyperparameters) in their finite forward pass: for authors of
// layers in NTK parameterization.

#include "ladon/core/tensor.h"

namespace ladon {

/// x·s in x's dtype, for an f64 number s that a hyper-parameter gives: weight_std / sqrt(in), say.
/// Differentiable by both. To multiply by s.item() instead would lose the derivative by the
/// hyper-parameter.
Tensor scaled(const Tensor& x, const Tensor& s);

}  // namespace ladon
