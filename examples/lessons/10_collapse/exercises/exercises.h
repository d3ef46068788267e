#pragma once
// Exercises of lesson 10: variance per coordinate, how it collapses, and a step of SPOS.

#include <functional>

#include "exercise.h"

/// 1. Variance per coordinate of particles Θ [M, D], M ≥ 2: the mean over coordinates of their
/// sample variances. For independent particles its expectation must equal the variance of the
/// density that they are drawn from, for any M and any mean of the density.
double coordinate_variance(const ladon::Tensor& theta);
void check_coordinate_variance(decltype(coordinate_variance)* yours);

/// Kernel k_ij = κ(‖θ_i − θ_j‖²/h²), given by its profile κ(t) (`value`) with κ(0) = 1, and the
/// derivative κ′(t) (`slope`).
struct RadialProfile {
  std::function<double(double)> value, slope;
};

/// 2. Variance per coordinate, as in exercise 1, of M particles that SVGD has moved to rest on
/// N(0, I) in D = dim ≥ M − 1 dimensions, where they form a regular simplex; h² follows the median
/// rule, ½·median(‖θ_i − θ_j‖², i ≠ j)/ln(M + 1), and α is the weight of the repulsion.
double simplex_variance(const RadialProfile& kernel, int particles, int dim, double alpha);
void check_simplex_variance(decltype(simplex_variance)* yours);

/// Settings of SPOS with an RBF kernel k_ij = exp(−‖θ_i − θ_j‖²/(2h²)).
struct SposSettings {
  double h2;         ///< h²
  double alpha;      ///< α, the weight of the repulsion.
  double diffusion;  ///< b, the weight of the noise.
  double step;       ///< ε
};

/// 3. Particles Θ [M, D] after one step of SPOS. `gradients` [M, D] are those of the loss −ln p;
/// `noise` [M, D] is ξ ~ N(0, 1).
ladon::Tensor spos_step(const ladon::Tensor& theta, const ladon::Tensor& gradients,
                        const ladon::Tensor& noise, const SposSettings& settings);
void check_spos_step(decltype(spos_step)* yours);
