#pragma once
// Arithmetic on particle matrices Θ [M, D] (f32 or f64), in parallel, in an order of summation that
// depends on the shape alone. Distances, products and norms are summed in f64; linear combinations
// of particles in their dtype. Not differentiable. Throws Error for other shapes and dtypes, and
// for M = 0.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::rows {

/// ‖x_i − x_j‖², computed from differences: exactly symmetric, exactly 0 between equal rows. [M, D]
/// → f64 [M, M], from f32 with a relative error of about 1e-7 (kernels/particles.h).
Tensor squared_distances(const Tensor& x);

/// x_i·x_j:  [M, D] → f64 [M, M], exactly symmetric.
Tensor inner_products(const Tensor& x);

/// y_i = Σ_j w_ij x_j:  f64 [M, M] · [M, D] → [M, D] in x's dtype.
Tensor mix(const Tensor& w, const Tensor& x);

/// y_i = Σ_j w_ij (x_i − x_j):  f64 [M, M], [M, D] → [M, D] in x's dtype.
Tensor mix_differences(const Tensor& w, const Tensor& x);

/// Whether the largest |w_ij| of f64 weights is far enough within the range of `dtype` for sums
/// with them to be formed in it.
bool representable(const Tensor& w, DType dtype);

/// ‖x_i‖ of each row.
std::vector<double> norms(const Tensor& x);

/// The e with 2^(e−1) ≤ max|x_k| < 2^e over the finite x_k among n numbers, 0 if all are 0: squares
/// of x_k·2^(−e) neither overflow nor underflow f64.
int largest_exponent(const double* x, std::int64_t n);

/// Throws Error naming the first two particles whose entry of `pairs`, contiguous f64 [M, M], is
/// not finite: "the inner product of particles 0 and 1 is inf".
void check_finite(const char* operation, const char* what, const Tensor& pairs);

}  // namespace ladon::rows
