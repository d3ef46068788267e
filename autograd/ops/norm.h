#pragma once
// Normalization over the last axis.

#include "ladon/core/tensor.h"

namespace ladon {

/// (x − mean)/sqrt(var + eps)·weight + bias over the last axis (Ba et al. 2016); var with divisor
/// n. x [.., n]; weight, bias: [n] or undefined. Squares may leave the range of x, also in gradients.
Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// x/sqrt(mean x² + eps)·weight over the last axis (Zhang and Sennrich 2019).
Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double eps = 1e-5);

}  // namespace ladon
