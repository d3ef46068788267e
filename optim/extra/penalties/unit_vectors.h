#pragma once
// Normalization of vectors to length 1. Internal to this folder.

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// x/‖x‖ along the last axis, without overflow or underflow. The result is 0, without a gradient,
/// for a zero vector and for a vector whose norm is below the dtype's smallest normal number,
/// because 1/‖x‖ may overflow.
Tensor unit_vectors(const Tensor& x);

}  // namespace ladon::detail
