#pragma once
// Arithmetic on particle matrices x [M, D] (f32 or f64) with rows x_i. Parallel, with an order of
// summation that depends on the shape alone, not on the number of threads. Distances, inner
// products and norms are summed in f64, linear combinations of particles in the particles' dtype.
// Not differentiable. All functions throw Error for other shapes and dtypes, and for M = 0.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::rows {

/// ‖x_i − x_j‖² as f64 [M, M], computed from differences: exactly symmetric, exactly 0 between
/// equal rows; from f32 with a relative error of about 1e-7 (core/kernels/particles.h).
Tensor squared_distances(const Tensor& x);

/// Inner products x_i·x_j as f64 [M, M], exactly symmetric.
Tensor inner_products(const Tensor& x);

/// y_i = Σ_j w_ij x_j:  f64 [M, M] · [M, D] → [M, D] in x's dtype.
Tensor mix(const Tensor& w, const Tensor& x);

/// y_i = Σ_j w_ij (x_i − x_j):  f64 [M, M], [M, D] → [M, D] in x's dtype.
Tensor mix_differences(const Tensor& w, const Tensor& x);

/// Whether the largest |w_ij| of f64 weights is far enough within the range of `dtype` for sums
/// with them to be formed in it.
bool representable(const Tensor& w, DType dtype);

/// The norm ‖x_i‖ of each row.
std::vector<double> norms(const Tensor& x);

/// Binary exponent e of the largest finite |x_k| among n numbers: 2^(e−1) ≤ max|x_k| < 2^e; 0 if
/// all are 0. After scaling by 2^(−e) their squares do not overflow, and the square of the largest
/// does not underflow f64.
int largest_exponent(const double* x, std::int64_t n);

/// Throws Error naming the first pair of particles whose element of `pairs`, contiguous f64 [M, M],
/// is not finite; `what` says what the elements are, such as "inner product".
void check_finite(const char* operation, const char* what, const Tensor& pairs);

}  // namespace ladon::rows
