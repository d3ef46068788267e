#pragma once
// Whether a square matrix is symmetric, in one pass over it on all threads.

#include "ladon/core/tensor.h"

namespace ladon::kernels {

struct Symmetry {
  double largest;     ///< max |x_ij|
  double difference;  ///< max |x_ij − x_ji|
};

/// Of a contiguous f64 [n, n]. `largest` is not finite if an element is not, which `difference`
/// then may hide.
Symmetry symmetry(const Tensor& x);

}  // namespace ladon::kernels
