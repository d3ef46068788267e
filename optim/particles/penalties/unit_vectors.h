#pragma once
// Internal to this folder.

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// x/‖x‖ along the last axis, whatever the size of x. 0, without a gradient, for a zero vector, and
/// for one that is shorter than the dtype's smallest normal number, whose 1/‖x‖ it may not hold.
Tensor unit_vectors(const Tensor& x);

}  // namespace ladon::detail
