#pragma once
// Sums over particles x_i, the m > 0 rows of a floating-point matrix x [m, n]. No gradients. The
// order of summation depends on the shape alone.

#include <array>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// ‖x_i − x_j‖², summed from the differences in f64: exactly symmetric, exactly 0 between equal
/// rows.  → f64 [m, m].
Tensor squared_distances(const Tensor& x);

/// x_i·x_j, in f64.  → f64 [m, m], exactly symmetric.
Tensor inner_products(const Tensor& x);

/// y_i = Σ_j w_ij x_j. w and y have the dtype of x.  [m, m], [m, n] → [m, n].
Tensor mix(const Tensor& w, const Tensor& x);

/// y_i = Σ_j w_ij (x_i − x_j). w and y have the dtype of x.  [m, m], [m, n] → [m, n].
Tensor mix_differences(const Tensor& w, const Tensor& x);

/// ‖x_i‖², in f64.
std::vector<double> squared_norms(const Tensor& x);

/// y = a·x + b·z, and the squared norms of the rows of x, of z and of y, in f64.
struct RowSums {
  Tensor y;
  std::array<std::vector<double>, 3> squared_norms;
};
/// x and z of one dtype and shape.
RowSums weighted_sum(double a, const Tensor& x, double b, const Tensor& z);

}  // namespace ladon::kernels
