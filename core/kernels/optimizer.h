#pragma once
// Updates of parameters, in place. The rules stand in optimizer_steps.h, with the letters used
// here.

#include "ladon/core/kernels/optimizer_steps.h"
#include "ladon/core/tensor.h"

namespace ladon::kernels {

// All tensors contiguous, of one floating dtype and shape (Error).

/// m undefined: without momentum.
void sgd(Tensor x, const Tensor& g, Tensor m, const SgdStep& step);
/// First and second moments m and v, and the largest v so far, u, or undefined.
void adam(Tensor x, const Tensor& g, Tensor m, Tensor v, Tensor u, const AdamStep& step);
/// c undefined: not centered. m undefined: without momentum.
void rmsprop(Tensor x, const Tensor& g, Tensor v, Tensor c, Tensor m, const RmspropStep& step);
void adagrad(Tensor x, const Tensor& g, Tensor v, const AdagradStep& step);
void lion(Tensor x, const Tensor& g, Tensor m, const LionStep& step);

}  // namespace ladon::kernels
