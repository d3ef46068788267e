#pragma once
// Updates of parameters, in place. The rules stand in optimizer_steps.h.

#include "ladon/core/kernels/optimizer_steps.h"
#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// x, g and m contiguous, of one floating dtype and shape (Error); m undefined: without momentum.
void sgd(Tensor x, const Tensor& g, Tensor m, const SgdStep& step);
/// The same with first and second moments m and v.
void adam(Tensor x, const Tensor& g, Tensor m, Tensor v, const AdamStep& step);

}  // namespace ladon::kernels
