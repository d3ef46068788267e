#pragma once
// Rules of numerical integration: f64 nodes in ascending order, and their weights.

#include <utility>

#include "ladon/core/tensor.h"

namespace ladon::infinite {

/// E[f(z)] = Σ w_j·f(z_j) for standard normal z, exact for polynomials below degree 2n.
/// Both [n]. Throws Error unless 1 ≤ n ≤ 512.
std::pair<Tensor, Tensor> gauss_hermite(int n);

/// ∫ f over [−1, 1] = Σ w_j·f(x_j), exact for polynomials below degree 2n.
/// Both [n]. Throws Error unless 1 ≤ n ≤ 512.
std::pair<Tensor, Tensor> gauss_legendre(int n);

}  // namespace ladon::infinite
