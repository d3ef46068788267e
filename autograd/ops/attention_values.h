#pragma once
// Parts of attention that is formed, for forms of weights that are not softmax's.

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// weights [.., Tq, Tk] · values [.., Tk, dv], where a weight of 0 gives 0 whatever the value is: a
/// value that is not finite reaches the queries that see it, and the gradients of no others.
Tensor weighted_values(const Tensor& weights, const Tensor& values);

}  // namespace ladon::detail
