#pragma once
// Products whose value is in range although their factors or partial products are not.

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// Numbers m·2^e with separate exponents e, so that their products do not overflow. The exponents
/// (f64) are constants in derivatives.
struct Scaled {
  Tensor m, e;
};

/// g·m·2^e for x = (m, e). The result is right even if 2^e or g·m overflows or underflows.
Tensor times(const Tensor& g, const Scaled& x);

}  // namespace ladon::detail
