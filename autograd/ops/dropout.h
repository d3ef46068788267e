#pragma once
// Dropout (Srivastava et al. 2014).

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// x with each element set to 0 with probability p, else divided by 1 − p. Returns x itself at
/// p = 0. Throws Error unless 0 ≤ p ≤ 1.
Tensor dropout(const Tensor& x, double p, Generator& rng);

}  // namespace ladon
