#pragma once
// Convolution as products of patches (patches.h), which are read where they stand in the images, or
// made a block at a time. No gradients: see autograd/ops/convolution.h.
//
// Groups of so few channels that a vector holds whole ones lie side by side along the vectors
// instead.
//
// With g groups, outputs [i·out/g, (i + 1)·out/g) see the channels [i·C/g, (i + 1)·C/g). All three
// are one trilinear form, ⟨g, convolution(x, w)⟩, seen from each of its arguments:
//   x [N, positions.., C],  w [out, size.., C/groups],  g [N, counts.., out]

#include "ladon/core/kernels/windows/patches.h"

namespace ladon::kernels {

/// [N, counts.., out]: each patch times the weight, plus the bias [out] where it is defined.
Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const Windows& windows, std::int64_t groups);
/// Its gradient by x:  [N, positions.., C].
Tensor convolution_by_input(const Tensor& g, const Tensor& weight, const Windows& windows,
                            std::int64_t groups);
/// Its gradient by w:  [out, size.., C/groups].
Tensor convolution_by_weight(const Tensor& x, const Tensor& g, const Windows& windows,
                             std::int64_t groups);

}  // namespace ladon::kernels
