#pragma once
// Convolution as products of patches (patches.h), which are read in place in the images, or copied
// a block at a time. No gradients are recorded: see autograd/extra/windows/convolution.h.
//
// Vector lanes are outputs of one group; if groups are so small that a vector holds whole groups,
// vector lanes are channels of several groups.
//
// The outputs [i·out/groups, (i + 1)·out/groups) of group i see its channels, which are
// [i·C/groups, (i + 1)·C/groups). All three functions are derivatives of the trilinear form
// ⟨g, convolution(x, weight)⟩ with respect to one of its arguments:
//   x [N, positions.., C],  weight [out, size.., C/groups],  g [N, counts.., out]
// for N images of C channels, with positions.., counts.. (of windows) and size.. as in Windows.

#include "ladon/core/extra/kernels/windows/patches.h"

namespace ladon::kernels {

/// Convolution [N, counts.., out]: each patch times the weight, plus the bias [out] if it is
/// defined.
Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const Windows& windows, std::int64_t groups);
/// Gradient with respect to x:  [N, positions.., C].
Tensor convolution_by_input(const Tensor& g, const Tensor& weight, const Windows& windows,
                            std::int64_t groups);
/// Gradient with respect to weight: [out, size.., C/groups].
Tensor convolution_by_weight(const Tensor& x, const Tensor& g, const Windows& windows,
                             std::int64_t groups);

}  // namespace ladon::kernels
