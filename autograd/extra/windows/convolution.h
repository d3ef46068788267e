#pragma once
// Convolution over as many axes as the window has, channels last.
//
// Options per axis are lists, {2} for sequences, {2, 1} for images; an empty list means the default
// on each axis. No number exceeds 2³¹. `before` and `after` are numbers of zeros padded at both
// ends; an empty `after` equals `before`: PyTorch's padding = p is .before = {p, p}.

#include "ladon/core/tensor.h"

namespace ladon {

struct ConvolutionOptions {
  Shape stride = {};              ///< 1
  Shape before = {}, after = {};  ///< 0
  Shape dilation = {};            ///< 1
  std::int64_t groups = 1;        ///< Outputs of a group use only its share of the channels.
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
  Shape before = {}, after = {};  ///< Positions cropped at the ends; 0
  Shape dilation = {};            ///< 1
  Shape output_padding = {};      ///< Positions added at the end, fewer than stride or dilation; 0
  std::int64_t groups = 1;
};
/// The gradient of `convolution` with respect to its input, plus a bias: x [N, positions.., C],
/// weight [C, window.., out/groups], bias [out] or undefined → [N, positions'.., out], where n
/// positions become (n − 1)·stride − before − after + dilation·(window − 1) + output_padding + 1.
/// Throws Error where that is negative, or where shapes or groups do not fit.
Tensor transposed_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                              const TransposedConvolutionOptions& options = {});

struct WindowOptions {
  Shape stride = {};              ///< 1; for pooling the window size, so that windows do not
                                  ///< overlap.
  Shape before = {}, after = {};  ///< 0
  Shape dilation = {};            ///< 1
};
/// Elements of each window ("im2col"):  x [N, positions.., C] → [N, counts.., taps·C], the taps of
/// a window in row-major order, each with its channels. Convolution is then a product with the
/// flattened weight: linear(unfold(x, window), reshape(weight, {out, -1})).
Tensor unfold(const Tensor& x, const Shape& window, const WindowOptions& options = {});
/// The adjoint of `unfold`, which sums overlapping windows:  [N, counts.., taps·C] →
/// [N, positions.., C]. Throws Error unless the number of windows on `positions` is `counts`.
Tensor fold(const Tensor& patches, const Shape& positions, const Shape& window,
            const WindowOptions& options = {});

}  // namespace ladon
