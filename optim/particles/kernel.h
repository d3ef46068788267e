#pragma once
// Kernels between particles. (Liu and Wang 2016, arXiv 1608.04471)
//
// A kernel assigns to two particles θ, θ′ of dimension D a matrix K(θ, θ′) [D, D]. Particle methods
// never need the matrix itself, only sums over all particles. So a kernel is defined by the
// functions of KernelAt that compute these sums: K may be a function of the distance times the
// identity (`radial`), any matrix of values k_ij times the identity (`of_matrix`), or a separate
// kernel per coordinate or block of coordinates.

#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "ladon/core/modes.h"
#include "ladon/optim/particles/alpha.h"
#include "ladon/optim/particles/bandwidth.h"

namespace ladon {

/// A kernel at the particles Θ [M, D], given by functions that compute when called. Their results
/// have the dtype of Θ (the result of `share` has the dtype of s) or f64.
struct KernelAt {
  /// Σ_j K(θ_j, θ_i) s_j  [M, D]: kernel-weighted sum at particle i of the vectors s_j of all
  /// particles.
  std::function<Tensor(const Tensor& s)> share = {};
  /// Repulsion R_i = Σ_j ∇_{θ_j}·K(θ_j, θ_i)  [M, D]; derivatives are at constant bandwidth.
  std::function<Tensor()> repel = {};
  /// Σ_j k_ij  f64 [M, 1], proportional to a kernel density estimate at the particles, for kernels
  /// of the form K = k·I; empty for other kernels.
  std::function<Tensor()> density = {};
  /// The squared bandwidth; NaN if the kernel has no bandwidth or several; 0 if its bandwidth rule
  /// returned 0 (bandwidth.h).
  double h2 = std::numeric_limits<double>::quiet_NaN();
  /// For kernels k_ij·I whose repulsion is R_i = Σ_j w_ij (θ_i − θ_j): k and w, f64 [M, M], by
  /// which a method forms both of its sums in one pass over memory. Set both or neither. A kernel
  /// sets them if no two particles are equal and sums formed in this way lose no digits
  /// (kernels::cancellation); `share` and `repel` give the same forces.
  Tensor k = {}, w = {};
};

/// Kernel between particles. `at` takes the whole particle matrix [M, D], because bandwidth rules
/// depend on all particles.
struct SteinKernel {
  std::string name;
  std::function<KernelAt(const Tensor& theta)> at;
};

/// kernel.at(Θ) for the particles Θ [M, D] of a block, with functions that check their results, for
/// a method that gives the repulsion R the weight α. The functions throw an Error naming the kernel
/// and the block
/// - if the kernel throws an Error, or lacks the function;
/// - unless a result has the right shape and dtype, and the density is finite;
/// - while a LookThrough exists, unless every result is finite;
/// - if h² and R are 0 although particles differ and α > 0, so that there would be no repulsion.
/// The last case happens under the bandwidth rule `paper` with two particles, or with two pairs of
/// equal particles; and under every rule except `fixed` if most pairs of particles are equal (`liu`
/// and `paper` also count each particle paired with itself). If all particles are equal, R = 0 is
/// the correct limit and no Error is thrown.
KernelAt checked_at(const SteinKernel& kernel, const std::string& block, const Tensor& theta,
                    Alpha alpha);

/// Warns on std::cerr, once per method and block, if two particles are equal and have equal
/// gradients: no kernel separates them, and without noise they stay equal for ever. (Equal
/// particles that the rest of the model uses differently have different gradients, and separate.)
void warn_of_equal(const std::string& method, const std::string& block, const Tensor& theta,
                   const Tensor& gradient);

/// Scope (for the current thread) in which the functions of checked_at check that every result is
/// finite. It is used only to compute a force again that turned out not to be finite, so that the
/// Error names the kernel: checking always would cost as many passes over memory as computing the
/// forces.
struct LookThrough : private detail::Scoped<bool> {
  LookThrough() : Scoped(detail::modes.looking, true) {}
};

/// KernelAt of the kernel K(θ_j, θ_i) = k_ij·I for a matrix k, f64 [M, M]; `repel` as in KernelAt.
KernelAt of_matrix(const Tensor& k, std::function<Tensor()> repel,
                   double h2 = std::numeric_limits<double>::quiet_NaN());

struct BandwidthOptions {
  Bandwidth bandwidth = Bandwidth::median;
  /// h² for Bandwidth::fixed, 1 if empty. With any other rule it must be empty (otherwise kernels
  /// throw Error).
  std::optional<double> h2 = {};
};

/// Kernel that depends on the distance d_ij between particles alone: k_ij = κ(d²_ij/h²),  R_i =
/// −(2/h²) Σ_j κ′(d²_ij/h²) (θ_i − θ_j). κ is `profile`, which maps t [M, M] elementwise in
/// recorded operations, with κ(0) = 1; κ′ is computed by autograd:
///   radial("rational quadratic", {}, [](const Tensor& t) { return 1 / (1 + t); })
/// Equal particles do not repel each other, even if κ′(0) is infinite. With one particle, or if the
/// bandwidth rule returns h² = 0, the kernel is its limit for h → 0: k_ij = 1 between equal
/// particles, k_ij = 0 between different ones, and R = 0.
SteinKernel radial(std::string name, BandwidthOptions options,
                   std::function<Tensor(const Tensor& t)> profile);

/// Gaussian kernel: k_ij = exp(−d²_ij/(2h²)),  R_i = Σ_j k_ij (θ_i − θ_j)/h².
SteinKernel rbf(BandwidthOptions options = {});

/// Inverse multiquadric kernel: k_ij = (1 + d²_ij/h²)^(−1/2),  R_i = Σ_j k_ij³ (θ_i − θ_j)/h². Its
/// repulsion has a longer range than that of rbf (Gorham and Mackey 2017).
SteinKernel imq(BandwidthOptions options = {});

/// The Matérn kernel of smoothness ν = ½, 3/2 or 5/2 (Error otherwise), with r = sqrt(2ν)·d_ij/h:
///   e^−r (the Laplace kernel),  (1 + r)·e^−r,  (1 + r + r²/3)·e^−r.
/// (Rasmussen and Williams 2006, eq. 4.17.) The smaller ν, the stronger the repulsion between close
/// particles: at ν = ½ it does not vanish as their distance goes to 0.
SteinKernel matern(double nu, BandwidthOptions options = {});

/// Linear kernel: k_ij = θ_iᵀθ_j + 1,  R_i = M·θ_i.  At SVGD's fixed points for a Gaussian target
/// the particles' mean and covariance are exact (Liu and Wang 2018).
SteinKernel linear_kernel();

}  // namespace ladon
