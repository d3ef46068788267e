#pragma once
// Sums over particles x_i, the m > 0 rows of a floating-point matrix x [m, n]. No gradients are
// recorded. The order of summation depends on the shape alone.

#include <array>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// ‖x_i − x_j‖², summed from the differences: exactly symmetric, exactly 0 between equal rows.
/// → f64 [m, m]. For f32, differences and sums of up to 256 squares are f32 (relative error about
/// 1e-7), and sums of more squares are f64; if a sum leaves the range in which f32 squares are
/// accurate enough, all of them are computed again in f64.
Tensor squared_distances(const Tensor& x);

/// The inner products x_i·x_j, computed in f64.  → f64 [m, m], exactly symmetric.
Tensor inner_products(const Tensor& x);

/// y_i = Σ_j w_ij x_j. w and y have the dtype of x.  [m, m], [m, n] → [m, n].
Tensor mix(const Tensor& w, const Tensor& x);

/// y_i = Σ_j w_ij (x_i − x_j). w and y have the dtype of x.  [m, m], [m, n] → [m, n].
Tensor mix_differences(const Tensor& w, const Tensor& x);

/// The squared norms ‖x_i‖², computed in f64.
std::vector<double> squared_norms(const Tensor& x);

/// Whether every element of x is finite.
bool all_finite(const Tensor& x);

/// The matrix y = a·x + b·z, and the squared norms, in f64, of the rows of x, of z and of y.
struct RowSums {
  Tensor y;
  std::array<std::vector<double>, 3> squared_norms;
};
/// x and z must have the same dtype and shape.
RowSums weighted_sum(double a, const Tensor& x, double b, const Tensor& z);

/// y_i = a·F_i + b·R_i with F_i = Σ_j k_ij g_j (g_i if k is undefined) and R_i = Σ_j w_ij (x_i −
/// x_j), in one pass over g and x [m, n]; g, x and the weights k and w [m, m] have the same dtype.
/// `squared_norms` are of the rows of F, of R and of y. R is the difference of two sums;
/// its error is cancellation(w, d²) times as large as that of a sum of differences. For f32, the
/// squared norm of a row overflows if its norm exceeds about 1e19.
RowSums forces(double a, const Tensor& k, const Tensor& g, double b, const Tensor& w,
               const Tensor& x);

/// Whether the squared distances, f64 [m, m], of different rows are all above 0.
bool all_apart(const Tensor& squared_distances);

/// How much larger the rounding error of R_i = (Σ_j w_ij)·x̃_i − Σ_j w_ij x̃_j, x̃ = x − mean of
/// all rows, may be than ε times the root mean square of the R_i. From w and the squared distances
/// d², both f64 [m, m]:  with r_i = ‖x̃_i‖, r_i² = mean_j d²_ij − ½ mean_jk d²_jk,
///   √Σ_i (Σ_j |w_ij| (r_i + r_j))² · √Σ_i r_i² / (½ Σ_ij w_ij d²_ij),
/// since Σ_i x̃_i·R_i = ½ Σ_ij w_ij d²_ij for symmetric w bounds ‖R‖ from below. Infinite, NaN or
/// negative if Σ_ij w_ij d²_ij is not positive.
double cancellation(const Tensor& w, const Tensor& squared_distances);

}  // namespace ladon::kernels
