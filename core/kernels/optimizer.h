#pragma once
// Updates of parameters, in place. The update rules, with the same letters, are in
// optimizer_steps.h.

#include "ladon/core/kernels/optimizer_steps.h"
#include "ladon/core/tensor.h"

namespace ladon::kernels {

// x is the parameter and g its gradient. All tensors must be contiguous and have the same floating
// dtype and the same shape; else the functions throw Error.

/// m is the momentum buffer; if it is undefined, the step has no momentum.
void sgd(Tensor x, const Tensor& g, Tensor m, const SgdStep& step);
/// m and v are the first and second moments; u is the largest v so far, or undefined (no AMSGrad).
void adam(Tensor x, const Tensor& g, Tensor m, Tensor v, Tensor u, const AdamStep& step);
/// v is the running mean of squared gradients. c is the running mean of gradients, or undefined for
/// the variant that is not centered. m is the momentum buffer; if undefined, there is no momentum.
void rmsprop(Tensor x, const Tensor& g, Tensor v, Tensor c, Tensor m, const RmspropStep& step);
void adagrad(Tensor x, const Tensor& g, Tensor v, const AdagradStep& step);
void lion(Tensor x, const Tensor& g, Tensor m, const LionStep& step);

}  // namespace ladon::kernels
