#pragma once
// Product of attention weights and values, for weights other than softmax's too.

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// weights [.., Tq, Tk] · values [.., Tk, dv], where a weight of 0 gives 0 whatever the value is: a
/// value that is not finite reaches the queries that see it, and the gradients of no others.
Tensor weighted_values(const Tensor& weights, const Tensor& values);

}  // namespace ladon::detail
