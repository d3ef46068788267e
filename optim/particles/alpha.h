#pragma once
// Weight of the repulsion between particles.

namespace ladon {

/// Weight α of the repulsion: a number, or `automatic`. Below, θ_i are the M particles of dimension
/// D, θ̄ is their mean, R_i the repulsion on particle i, k_ij the kernel (kernel.h), s_j =
/// −∇U(θ_j)/T the score of the target density (target.h).
///
/// In high dimension the effect of α is known exactly. If all particles have equal distances
/// (approximately true if D ≫ ln M), the median rule (bandwidth.h) gives k_ij = 1/(M+1), and at a
/// fixed point of SVGD
///   mean_i (θ_i − θ̄)·∇U(θ_i)/T = α·ln(M+1)·(M−1)/M,                                          (1)
/// for any U: multiply the balance of forces Σ_j k_ij s_j + α·R_i = 0 by θ_i − θ̄ and sum over i.
/// For exact draws from the target the expectation of the left side is D (integrate by parts). So
/// the left side of (1), which we call the particles' energy, matches the target's at exactly one
/// α,
///   α* = M·D/((M−1)·ln(M+1)),
/// and α/α* is the effective temperature of the particles, relative to the target's temperature T.
/// For networks α/α* is near 0 at α = 1: the particles collapse to modes.
///
/// `automatic` chooses at every step the α for which the left side of (1) equals D, from the kernel
/// and the current particles:
///   α = M·D·c/Σ_i (θ_i − θ̄)·R_i,   c = Σ_i (θ_i − θ̄)·S_i/Σ_i ‖θ_i − θ̄‖²,
/// where S_i = Σ_j k_ij (θ_j − θ̄) (KernelAt::share), or c = 1 if the kernel does not average the
/// scores (Wgd, and Svgd without smoothing). The result is α* under the median rule with D ≫ ln M,
/// and 1 for many, dense particles. It is exact for a Gaussian target with covariance σ²·I and any
/// kernel.
///
/// No α makes the variance right in every direction: if D > M − 1, the particles span only M − 1
/// directions, settle in the directions of least curvature, and have no variance in the others.
/// Under N(0, Σ), with λ_a the eigenvalues of Σ⁻¹ and v_a the particles' variance along eigenvector
/// a, (1) reads Σ_a λ_a·v_a = D: if at least M − 1 directions share the largest variance σ², the
/// particles form a simplex in them, with total variance D·σ² instead of tr Σ. If fewer directions
/// share it, the particles' distances differ, and (1) holds to within some percent
/// (tests/optim/alpha_test.cpp).
///
/// Errors of α are amplified as well: a network's output is a product of several weights, so the
/// variance of the function grows with a power of α. In relu attention the weights of queries,
/// keys, values and outputs are multiplied, and around weights of mean 0 an α of 3·α* gives up to
/// 3⁴ times the variance.
class Alpha {
 public:
  constexpr Alpha(double value) : value_(value) {}  // NOLINT: implicit
  static constexpr Alpha by_the_particles() {
    Alpha alpha(0);
    alpha.automatic_ = true;
    return alpha;
  }
  constexpr bool automatic() const { return automatic_; }
  /// Whether the repulsion is switched off.
  constexpr bool off() const { return !automatic_ && value_ == 0; }
  /// The value of α; 0 if automatic.
  constexpr double value() const { return value_; }

 private:
  double value_;
  bool automatic_ = false;
};

inline constexpr Alpha automatic = Alpha::by_the_particles();

}  // namespace ladon
