#pragma once
// Product of attention weights and values; the weights need not come from a softmax.

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// weights [.., Tq, Tk] · values [.., Tk, dv] → [.., Tq, dv], where 0 times a value that is not
/// finite gives 0: such a value affects only the results and gradients of the queries that attend
/// to it.
Tensor weighted_values(const Tensor& weights, const Tensor& values);

}  // namespace ladon::detail
