#pragma once
// From a sequence to one vector:  [batch, T, dim] → [batch, dim]. `mask` (bool [batch, T], true =
// token) leaves padding out; undefined: every position counts. A sequence without tokens gives
// zeros.

#include <string_view>

#include "ladon/core/tensor.h"

namespace ladon {

enum class Pooling { mean, max, first };

/// The pooling of that name ("mean"). Throws Error listing the names otherwise.
Pooling pooling_from_name(std::string_view name);

Tensor mean_pool(const Tensor& x, const Tensor& mask = {});
Tensor max_pool(const Tensor& x, const Tensor& mask = {});
/// The first position's vector, whatever the mask.
Tensor first_token(const Tensor& x);
Tensor pool(Pooling kind, const Tensor& x, const Tensor& mask = {});

}  // namespace ladon
