#pragma once
// Convolution over as many axes as the window has, channels last.
//
// Options have one number per axis, such as {2} for sequences or {2, 1} for images; an empty list
// means the default on each axis. Numbers above 2³¹ throw Error. `before` and `after` are the
// numbers of zeros padded at the beginning and at the end of each axis; if `after` is empty,
// `before` holds for both ends. For images, PyTorch's padding = p is .before = {p, p}.

#include "ladon/core/tensor.h"

namespace ladon {

struct ConvolutionOptions {
  Shape stride = {};              ///< Default 1.
  Shape before = {}, after = {};  ///< Number of zeros padded at the two ends; default 0.
  Shape dilation = {};            ///< Default 1.
  std::int64_t groups = 1;        ///< Input and output channels are divided into `groups` parts;
                                  ///< outputs use only the input channels of their part.
};
/// Convolution of N examples:  x [N, positions.., C], weight [out, window.., C/groups], bias [out]
/// or undefined → y [N, counts.., out], with the number of windows per axis as `counts`. For one
/// axis and one group, with windows i, elements t of the window, and channels c and o:
///   y[n, i, o] = bias[o] + Σ_{t,c} x[n, i·stride − before + t·dilation, c]·weight[o, t, c],
/// where x is 0 outside its positions. An axis of P positions has
/// ⌊(P + before + after − dilation·(window − 1) − 1)/stride⌋ + 1 windows. Throws Error if it has no
/// window, or if shapes or groups do not fit.
Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                   const ConvolutionOptions& options = {});

struct TransposedConvolutionOptions {
  Shape stride = {};              ///< Default 1.
  Shape before = {}, after = {};  ///< Positions cropped at the two ends. Default 0.
  Shape dilation = {};            ///< Default 1.
  Shape output_padding = {};      ///< Positions added at the end: fewer than the larger of stride
                                  ///< and dilation. Default 0.
  std::int64_t groups = 1;
};
/// Transposed convolution: the gradient of `convolution` with respect to its input, plus a bias.
/// x [N, positions.., C], weight [C, window.., out/groups], bias [out] or undefined →
/// [N, positions'.., out], where P positions become
/// (P − 1)·stride − before − after + dilation·(window − 1) + output_padding + 1. Throws Error if
/// that is negative, or if shapes or groups do not fit.
Tensor transposed_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                              const TransposedConvolutionOptions& options = {});

struct WindowOptions {
  Shape stride = {};              ///< Default 1; in pooling the window size, so that windows do
                                  ///< not overlap.
  Shape before = {}, after = {};  ///< Positions padded at the two ends; default 0.
  Shape dilation = {};            ///< Default 1.
};
/// Elements of each window ("im2col"):  x [N, positions.., C] → [N, counts.., taps·C], with the
/// number of windows per axis as `counts` and `taps` positions per window, in row-major order, each
/// with its C channels. A convolution is a product with the flattened weight:
/// linear(unfold(x, window), reshape(weight, {out, -1})).
Tensor unfold(const Tensor& x, const Shape& window, const WindowOptions& options = {});
/// The adjoint of `unfold`, which adds the windows where they overlap:  [N, counts.., taps·C] →
/// [N, positions.., C]. Throws Error unless the number of windows on `positions` is `counts`.
Tensor fold(const Tensor& patches, const Shape& positions, const Shape& window,
            const WindowOptions& options = {});

}  // namespace ladon
