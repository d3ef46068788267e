#pragma once
// Exercises of lesson 9: a kernel and its repulsion, the SVGD direction φ, two particles at rest.

#include <algorithm>
#include <functional>
#include <vector>

#include "exercise.h"

/// RBF kernel k_ij = exp(−‖θ_i − θ_j‖²/(2h²)) of particles Θ [M, D], and its repulsion.
struct RbfForces {
  double h2;                ///< The squared bandwidth.
  ladon::Tensor kernel;     ///< k  [M, M]
  ladon::Tensor repulsion;  ///< R_i = Σ_j ∇_{θ_j}·k(θ_j, θ_i)  [M, D], h² held constant.
};

/// 1. The kernel with h² from the median rule, ½·median(‖θ_i − θ_j‖², i ≠ j)/ln(M + 1), and its
/// repulsion, for M ≥ 2 particles. The median of an even number of values is the mean of the middle
/// two. If h² is 0, k is 1 between equal particles and 0 between different ones, and the repulsion
/// is 0.
RbfForces rbf_forces(const ladon::Tensor& theta);
void check_rbf_forces(decltype(rbf_forces)* yours);

/// Kernel k(x, y) of two particles [D], computed by recorded operations; a scalar.
using PairKernel = std::function<ladon::Tensor(const ladon::Tensor& x, const ladon::Tensor& y)>;

/// 2. The negative SVGD direction −φ [M, D] at particles Θ [M, D], which an optimizer uses as the
/// gradient. Row i of `gradients` [M, D] is the gradient of the loss −ln p at particle i; α is the
/// weight of the repulsion.
ladon::Tensor stein_gradient(const ladon::Tensor& theta, const ladon::Tensor& gradients,
                             const PairKernel& kernel, double alpha);
void check_stein_gradient(decltype(stein_gradient)* yours);

/// 3. Distance at which two particles under SVGD come to rest, on a density in one dimension that
/// is symmetric about 0 and has one peak: `score` is the derivative of its logarithm. The kernel is
/// RBF with this h²; α > 0.
double pair_distance(const std::function<double(double)>& score, double alpha, double h2);
void check_pair_distance(decltype(pair_distance)* yours);
