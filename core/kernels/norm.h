#pragma once
// Layer norm and RMS norm of rows (the last axis) and batch norm of columns, each as one kernel.

#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// y = (x − mean)·rstd·weight + bias over the last axis of x [.., n]; rstd = 1/sqrt(var + eps),
/// where var has the divisor n. weight and bias are [n] or undefined. `mean` and `rstd` are
/// [.., 1], or [.., 0] if rows have no elements.
struct LayerNormResult {
  Tensor y, mean, rstd;
};
LayerNormResult layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps);

/// Gradients with respect to x, weight and bias; the gradient of an undefined weight or bias is
/// undefined.
struct LayerNormGradients {
  Tensor x, weight, bias;
};
LayerNormGradients layer_norm_backward(const Tensor& g, const Tensor& x, const Tensor& mean,
                                       const Tensor& rstd, const Tensor& weight, bool has_bias);

/// y = x·r·weight over the last axis of x [.., n], with r = 1/sqrt(mean x² + eps). weight is [n] or
/// undefined; r is [.., 1].
struct RmsNormResult {
  Tensor y, r;
};
RmsNormResult rms_norm(const Tensor& x, const Tensor& weight, double eps);
/// Gradients with respect to x and weight (undefined if weight is undefined); the gradient of bias
/// is undefined. r⁵ must be in the range of x's dtype.
LayerNormGradients rms_norm_backward(const Tensor& g, const Tensor& x, const Tensor& r,
                                     const Tensor& weight);

/// Moments of the columns of x [R, C], each [C], for normalization over the R rows. The mean is
/// mean + rest: `mean` is rounded, and `rest` is the part that rounding lost if that matters, else
/// 0. `var` has divisor R, and may be out of the range of x's dtype even if rstd = 1/sqrt(var +
/// eps) is in range.
struct ColumnMoments {
  Tensor mean, rest, var, rstd;
};
struct ColumnNormResult {
  Tensor y;
  ColumnMoments moments;
};
/// y = (x − mean)·rstd·weight + bias for x [R, C], with the moments of each column; weight and bias
/// are [C] or undefined.
ColumnNormResult column_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps);

/// Whether rstd² and 1/rstd² are in the range of the dtype of rstd.
bool squares_in_range(const Tensor& rstd);
/// Gradients of column_norm(). Requires squares_in_range(rstd).
LayerNormGradients column_norm_backward(const Tensor& g, const Tensor& x, const ColumnMoments& f,
                                        const Tensor& weight, bool has_bias);

}  // namespace ladon::kernels
