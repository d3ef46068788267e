#pragma once
// Rules of numerical integration: f64 nodes in ascending order, and their weights.

#include <utility>

#include "ladon/core/tensor.h"

namespace ladon::infinite {

/// Nodes z_j and weights w_j, [n] each: E[f(z)] = Σ w_j·f(z_j) for standard normal z, exact for
/// polynomials f of degree below 2n. Throws Error unless 1 ≤ n ≤ 512.
std::pair<Tensor, Tensor> gauss_hermite(int n);

/// Nodes x_j and weights w_j, [n] each: the integral of f over [−1, 1] is Σ w_j·f(x_j), exact for
/// polynomials f of degree below 2n. Throws Error unless 1 ≤ n ≤ 512.
std::pair<Tensor, Tensor> gauss_legendre(int n);

}  // namespace ladon::infinite
