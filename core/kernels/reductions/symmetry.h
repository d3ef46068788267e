#pragma once
// Whether a square matrix is symmetric, in one pass over it on all threads.

#include "ladon/core/tensor.h"

namespace ladon::kernels {

struct Symmetry {
  double largest;     ///< max |x_ij|
  double difference;  ///< max |x_ij − x_ji|
};

/// Symmetry of a contiguous f64 matrix x [n, n]. If an element is not finite, `largest` is not
/// finite either, but `difference` may be.
Symmetry symmetry(const Tensor& x);

}  // namespace ladon::kernels
