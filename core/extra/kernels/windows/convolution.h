#pragma once
// Convolution as products of patches (patches.h), which are read in place in the images, or copied
// a block at a time. No gradients: see autograd/ops/convolution.h.
//
// If groups are so small that a vector holds whole groups, channels lie along the vectors instead.
//
// With g groups, outputs [i·out/g, (i + 1)·out/g) see the channels [i·C/g, (i + 1)·C/g). All three
// functions are derivatives of one trilinear form, ⟨g, convolution(x, w)⟩, in one of its arguments:
//   x [N, positions.., C],  w [out, size.., C/groups],  g [N, counts.., out]

#include "ladon/core/extra/kernels/windows/patches.h"

namespace ladon::kernels {

/// [N, counts.., out]: each patch times the weight, plus the bias [out] where it is defined.
Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const Windows& windows, std::int64_t groups);
/// Gradient with respect to x:  [N, positions.., C].
Tensor convolution_by_input(const Tensor& g, const Tensor& weight, const Windows& windows,
                            std::int64_t groups);
/// Gradient with respect to w:  [out, size.., C/groups].
Tensor convolution_by_weight(const Tensor& x, const Tensor& g, const Windows& windows,
                             std::int64_t groups);

}  // namespace ladon::kernels
