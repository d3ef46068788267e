#pragma once
// Kernels between particles. (Liu and Wang 2016, arXiv 1608.04471)
//
// A kernel assigns to two particles a matrix K(θ, θ′) [D, D]. Methods never need the matrix itself,
// only its effect on all particles at once. So a kernel is defined by these functions, and may be a
// function of the distance (`radial`), any matrix k_ij (`of_matrix`), or one kernel per coordinate
// or block of coordinates.

#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "ladon/core/modes.h"
#include "ladon/optim/particles/alpha.h"
#include "ladon/optim/particles/bandwidth.h"

namespace ladon {

/// Functions of a kernel at the particles Θ [M, D], each evaluated when called, in the dtype of Θ
/// (share: of s) or in f64.
struct KernelAt {
  /// Σ_j K(θ_j, θ_i) s_j  [M, D]: kernel-weighted sum at particle i of the vectors s_j of all
  /// particles.
  std::function<Tensor(const Tensor& s)> share = {};
  /// R_i = Σ_j ∇_{θ_j}·K(θ_j, θ_i)  [M, D], the bandwidth held constant.
  std::function<Tensor()> repel = {};
  /// Σ_j k_ij  f64 [M, 1], M times a density estimate at the particles, if K = k·I; empty for other
  /// kernels.
  std::function<Tensor()> density = {};
  /// The squared bandwidth; NaN if the kernel has none, or several; 0 if its rule found no scale.
  double h2 = std::numeric_limits<double>::quiet_NaN();
  /// For kernels k_ij·I whose repulsion is R_i = Σ_j w_ij (θ_i − θ_j): k and w, f64 [M, M], by which
  /// a method forms both of its sums in one pass over memory. Set both or neither. A kernel sets them
  /// where no two particles are equal and the sums lose no digits when formed so
  /// (kernels::cancellation); `share` and `repel` give the same forces.
  Tensor k = {}, w = {};
};

/// A kernel is a function of the whole particle matrix, because bandwidth rules depend on all
/// particles.
struct SteinKernel {
  std::string name;
  std::function<KernelAt(const Tensor& theta)> at;
};

/// The kernel at the particles Θ [M, D] of a block, with its functions checked, for a method that
/// gives the repulsion the weight α. They throw Error naming kernel and block
/// - if the kernel itself throws one, or lacks the function;
/// - unless a result has the right shape and dtype, and the density is finite;
/// - under LookThrough, unless every result is finite;
/// - if h² and R are 0 though particles differ and α > 0, so that there would be no repulsion. This
/// happens under `paper` with two particles, and with two pairs of equal ones; under every rule but
/// `fixed` if most pairs of particles are equal (`liu` and `paper` count the diagonal's zeros as
/// equal pairs). If all particles are equal, R = 0 is the limit, and no error.
KernelAt checked_at(const SteinKernel& kernel, const std::string& block, const Tensor& theta,
                    Alpha alpha);

/// Warns on std::cerr, once per method and block, if two particles are equal in value and in
/// gradient: no kernel separates them, and without noise they stay equal for ever. (Equal particles
/// that are used differently by other parts of a model have different gradients, and separate.)
void warn_of_equal(const std::string& method, const std::string& block, const Tensor& theta,
                   const Tensor& gradient);

/// While one is alive on this thread, the functions of checked_at check every result. When a force
/// is not finite it is computed again under this scope, so that the Error names the kernel:
/// checking always would cost as many passes over memory as the forces themselves.
struct LookThrough : private detail::Scoped<bool> {
  LookThrough() : Scoped(detail::modes.looking, true) {}
};

/// K(θ_j, θ_i) = k_ij·I for a matrix k, f64 [M, M].
KernelAt of_matrix(const Tensor& k, std::function<Tensor()> repel,
                   double h2 = std::numeric_limits<double>::quiet_NaN());

struct BandwidthOptions {
  Bandwidth bandwidth = Bandwidth::median;
  /// h² for Bandwidth::fixed, 1 if empty; with another rule it must be empty (kernels throw Error).
  std::optional<double> h2 = {};
};

/// k_ij = κ(d²_ij/h²),  R_i = −(2/h²) Σ_j κ′(d²_ij/h²) (θ_i − θ_j),  where κ′ is obtained from κ as
/// its gradient. κ maps t [M, M] elementwise in recorded operations, κ(0) = 1:
///   radial("rational quadratic", {}, [](const Tensor& t) { return 1 / (1 + t); })
/// Equal particles do not repel each other, even if κ′(0) is infinite. With one particle, or h² = 0
/// (no scale), the kernel is the limit h → 0: k_ij = 1 between equal particles and 0 otherwise, R =
/// 0.
SteinKernel radial(std::string name, BandwidthOptions options,
                   std::function<Tensor(const Tensor& t)> profile);

/// k_ij = exp(−d²_ij/(2h²)),  R_i = Σ_j k_ij (θ_i − θ_j)/h².
SteinKernel rbf(BandwidthOptions options = {});

/// k_ij = (1 + d²_ij/h²)^(−1/2),  R_i = Σ_j k_ij³ (θ_i − θ_j)/h².  The inverse multiquadric, whose
/// repulsion has a longer range (Gorham and Mackey 2017).
SteinKernel imq(BandwidthOptions options = {});

/// The Matérn kernel of smoothness ν = ½, 3/2 or 5/2 (Error otherwise), with r = sqrt(2ν)·d_ij/h:
///   e^−r (the Laplace kernel),  (1 + r)·e^−r,  (1 + r + r²/3)·e^−r.
/// (Rasmussen and Williams 2006, eq. 4.17.) The smaller ν, the stronger the repulsion between close
/// particles: at ν = ½ it does not vanish as their distance goes to 0.
SteinKernel matern(double nu, BandwidthOptions options = {});

/// k_ij = θ_iᵀθ_j + 1,  R_i = M·θ_i.  With a Gaussian target SVGD's mean and covariance become
/// exact (Liu and Wang 2018).
SteinKernel linear_kernel();

}  // namespace ladon
