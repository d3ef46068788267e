#pragma once
// Kernels between particles, with the repulsion they give. (Liu and Wang 2016, arXiv 1608.04471)

#include <functional>
#include <limits>
#include <string>

#include "ladon/optim/particles/bandwidth.h"

namespace ladon {

/// What a kernel says of Θ [M, D]; all f64.
struct KernelValues {
  Tensor k;          ///< [M, M]: k_ij = k(θ_i, θ_j)
  Tensor repulsion;  ///< [M, D]: R_i = Σ_j ∇_{θ_j} k(θ_j, θ_i), the bandwidth held constant
  /// The squared bandwidth; NaN if the kernel has none; 0 where its rule found no scale.
  double h2 = std::numeric_limits<double>::quiet_NaN();
};

/// A kernel is a function of the particle matrix, so that a rule for the bandwidth can see all of
/// it. Any other kernel is made by filling the two members; checked_values() sees what it returns.
struct SteinKernel {
  std::string name;
  std::function<KernelValues(const Tensor& theta)> evaluate;
};

/// What a kernel says of the particles Θ [M, D] of a block, for a repulsion of weight α. Throws Error
/// naming kernel and block
/// - if `evaluate` is empty, k is not f64 [M, M], the repulsion not f64 [M, D], or one not finite;
/// - if h² and R are 0, though particles differ, and α > 0: none would repel another. Under `paper`
///   that is so with two particles, and with two pairs of equal ones; under every rule but `fixed`
///   where most pairs of particles are equal (`liu` and `paper` count the diagonal's zeros as such).
///   Where all are equal, R = 0 is their limit, and no error.
KernelValues checked_values(const SteinKernel& kernel, const std::string& block,
                            const Tensor& theta, double alpha);

struct BandwidthOptions {
  Bandwidth bandwidth = Bandwidth::median;
  double h2 = 1;  ///< h² under Bandwidth::fixed.
};

/// k_ij = exp(−d²_ij/(2h²)),  R_i = Σ_j k_ij (θ_i − θ_j)/h².
/// One particle, and h² = 0 (no scale), give the limit h → 0: k_ij = 1 between equal particles and 0
/// otherwise, R = 0.
SteinKernel rbf(BandwidthOptions options = {});

/// k_ij = (1 + d²_ij/h²)^(−1/2),  R_i = Σ_j k_ij³ (θ_i − θ_j)/h².  The inverse multiquadric; its
/// repulsion reaches further (Gorham and Mackey 2017). At h² = 0 as rbf.
SteinKernel imq(BandwidthOptions options = {});

/// k_ij = θ_iᵀθ_j + 1,  R_i = M·θ_i.  On a Gaussian target SVGD's mean and covariance become exact
/// (Liu and Wang 2018).
SteinKernel linear_kernel();

}  // namespace ladon
