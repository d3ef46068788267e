#pragma once
// Convolution over any number of axes (that of the window), channels last.
//
// Numbers of an axis are lists, {2} for sequences, {2, 1} for images; an empty list is the default
// on each axis. None is above 2³¹. `before` and `after` are zeros put in front and behind; an empty
// `after` is as `before`: PyTorch's padding = p is .before = {p, p}.

#include "ladon/core/tensor.h"

namespace ladon {

struct ConvolutionOptions {
  Shape stride = {};              ///< 1
  Shape before = {}, after = {};  ///< 0
  Shape dilation = {};            ///< 1
  std::int64_t groups = 1;        ///< Outputs of a group see its share of the channels alone.
};
/// y[n, i, o] = bias[o] + Σ_{t,c} x[n, i·stride − before + t·dilation, c]·weight[o, t, c] on each
/// axis, with zeros outside:  x [N, positions.., C], weight [out, window.., C/groups], bias [out]
/// or undefined → [N, counts.., out], where an axis of n positions has
/// ⌊(n + before + after − dilation·(window − 1) − 1)/stride⌋ + 1 windows. Throws Error where there
/// is none, or shapes or groups do not fit.
Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                   const ConvolutionOptions& options = {});

struct TransposedConvolutionOptions {
  Shape stride = {};              ///< 1
  Shape before = {}, after = {};  ///< Positions that are cut off at the ends; 0
  Shape dilation = {};            ///< 1
  Shape output_padding = {};      ///< Positions more at the end, fewer than stride or dilation; 0
  std::int64_t groups = 1;
};
/// The gradient of `convolution` by its input, plus a bias: of x [N, positions.., C] and weight
/// [C, window.., out/groups], with bias [out] or undefined → [N, positions'.., out], where n
/// positions become (n − 1)·stride − before − after + dilation·(window − 1) + output_padding + 1.
/// Throws Error where that is negative, or shapes or groups do not fit.
Tensor transposed_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                              const TransposedConvolutionOptions& options = {});

struct WindowOptions {
  Shape stride = {};              ///< 1; of pooling: the window, so that windows do not overlap.
  Shape before = {}, after = {};  ///< 0
  Shape dilation = {};            ///< 1
};
/// Elements of each window ("im2col"):  x [N, positions.., C] → [N, counts.., taps·C], the taps of
/// a window in row-major order, their channels side by side. So convolution is a product with the
/// flattened weight: linear(unfold(x, window), reshape(weight, {out, -1})).
Tensor unfold(const Tensor& x, const Shape& window, const WindowOptions& options = {});
/// The gradient of `unfold`, which adds up what overlaps:  [N, counts.., taps·C] → [N, positions..,
/// C]. Throws Error where the windows on `positions` are not `counts`.
Tensor fold(const Tensor& patches, const Shape& positions, const Shape& window,
            const WindowOptions& options = {});

}  // namespace ladon
