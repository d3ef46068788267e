#pragma once
// Normalization: over the last axis, or over positions and groups of channels. Channels are last.

#include "ladon/core/tensor.h"

namespace ladon {

/// (x − mean)/sqrt(var + eps)·weight + bias over the last axis (Ba et al. 2016), with x [.., n];
/// weight, bias: [n] or undefined; the variance has divisor n. The result and its gradients are
/// right even if squares of x overflow or underflow the dtype.
Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// x/sqrt(mean(x²) + eps)·weight over the last axis (Zhang and Sennrich 2019), with x [.., n];
/// weight [n] or undefined.
Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double eps = 1e-5);

/// (x − mean)/sqrt(var + eps)·weight + bias per channel (Ioffe and Szegedy 2015): x [.., C]; mean
/// and var [C]; weight, bias: [C] or undefined. In evaluation, pass running means as `mean` and
/// `var`. In training, pass the mean and variance of x over all axes but the last, mean(x, axes)
/// and var(x, axes, Dims::drop, 0), through which gradients then pass; normalize_batch does this in
/// one operation.
Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);
/// batch_norm of x [.., C] in training, as one operation: with the mean and variance of x over all
/// axes but the last, through which gradients pass. The result and its gradients are right even if
/// squares of x overflow or underflow the dtype. Throws Error whenever batch_norm() does.
struct NormalizedBatch {
  Tensor y, mean, var;  ///< y [.., C]; mean and var [C] have no gradients. var has the number of
                        ///< rows as divisor, and is ∞ where it overflows x's dtype.
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
