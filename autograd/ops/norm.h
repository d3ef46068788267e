#pragma once
// Normalization: over the last axis, or over positions and groups of channels. Channels are last.

#include "ladon/core/tensor.h"

namespace ladon {

/// (x − mean)/sqrt(var + eps)·weight + bias over the last axis (Ba et al. 2016); var with divisor
/// n. x [.., n]; weight, bias: [n] or undefined. Squares may overflow or underflow the dtype of x,
/// also in gradients: the result is still right.
Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// x/sqrt(mean x² + eps)·weight over the last axis (Zhang and Sennrich 2019).
Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double eps = 1e-5);

/// (x − mean)/sqrt(var + eps)·weight + bias per channel (Ioffe and Szegedy 2015): x [.., C]; mean
/// and var [C]; weight, bias: [C] or undefined. In training mean and var are those of x over all
/// axes but the last, mean(x, axes) and var(x, axes, Dims::drop, 0), and gradients pass through
/// them (normalize_batch does all this in one operation); later they are running means.
Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);
/// batch_norm of x [.., C] by its own mean and variance over all axes but the last, through which
/// gradients pass, as in training; in one operation. Squares may overflow or underflow the dtype of
/// x, also in gradients: the result is still right. Throws as batch_norm does.
struct NormalizedBatch {
  Tensor y, mean, var;  ///< [.., C]; [C] and [C] with divisor n, without gradients; var is ∞ where
                        ///< it overflows x's dtype.
};
NormalizedBatch normalize_batch(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                                double eps = 1e-5);
/// Normalizes each group of neighbouring channels of each example, over all positions, to mean 0
/// and variance 1 (divisor n), then multiplies by weight and adds bias (Wu and He 2018): x [N,
/// positions.., C]; weight, bias: [C] or undefined. Throws Error unless `groups` divides C.
Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);
/// Instance normalization: group_norm() with one channel per group (Ulyanov et al. 2016).
Tensor instance_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                     double eps = 1e-5);

}  // namespace ladon
