#pragma once
// What every optimizer asks of the tensors that it is to change.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// Throws Error if there is no parameter, one is not a contiguous leaf that requires a gradient, or
/// one comes twice.
void check_parameters(const std::vector<Tensor>& parameters);

}  // namespace ladon::detail
