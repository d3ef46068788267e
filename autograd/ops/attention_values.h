#pragma once
// Product of attention weights and values; the weights need not come from a softmax.

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// weights [.., Tq, Tk] · values [.., Tk, dv], where a weight of 0 gives 0 even if the value is not
/// finite: such a value affects only the queries that attend to it, and only their gradients.
Tensor weighted_values(const Tensor& weights, const Tensor& values);

}  // namespace ladon::detail
