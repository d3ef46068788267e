#pragma once
// Updates of parameters, in place. The update rules, with the same letters, are in
// optimizer_steps.h.

#include "ladon/core/kernels/optimizer_steps.h"
#include "ladon/core/tensor.h"

namespace ladon::kernels {

// All tensors must be contiguous, of one floating dtype and one shape (else Error).

/// m undefined: without momentum.
void sgd(Tensor x, const Tensor& g, Tensor m, const SgdStep& step);
/// First and second moments m and v, and u, the largest v so far, which may be undefined.
void adam(Tensor x, const Tensor& g, Tensor m, Tensor v, Tensor u, const AdamStep& step);
/// c undefined: not centered. m undefined: without momentum.
void rmsprop(Tensor x, const Tensor& g, Tensor v, Tensor c, Tensor m, const RmspropStep& step);
void adagrad(Tensor x, const Tensor& g, Tensor v, const AdagradStep& step);
void lion(Tensor x, const Tensor& g, Tensor m, const LionStep& step);

}  // namespace ladon::kernels
