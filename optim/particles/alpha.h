#pragma once
// Weight of the repulsion between particles.

namespace ladon {

/// The weight α of the repulsion: a number, or `automatic`.
///
/// The effect of α in high dimension is known exactly. If all M particles have equal distances (d ≫
/// ln M), the median rule gives k_ij = 1/(M+1), and where SVGD's forces balance,
///   mean_i (θ_i − θ̄)·∇U(θ_i)/T = α·ln(M+1)·(M−1)/M,                                          (1)
/// for any U: multiply the balance Σ_j k_ij s_j + α·R_i = 0 by θ_i − θ̄ and sum over i. Under the
/// target itself the left side is D (integrate by parts). So particles have the target's energy at
/// exactly one α,
///   α* = M·D/((M−1)·ln(M+1)),
/// and α/α* is the effective temperature of the particles, in units of the target's. For networks
/// it is near 0 at α = 1: the particles collapse to modes.
///
/// `automatic` chooses at every step the α for which the left side of (1) equals D, from the kernel
/// and the current particles:
///   α = M·D·c/Σ_i (θ_i − θ̄)·R_i,   c = Σ_i (θ_i − θ̄)·S_i/Σ_i ‖θ_i − θ̄‖²,
/// where S = share(Θ − θ̄) (kernel.h; c = 1 without smoothing). The result is α* under the median
/// rule with d ≫ ln M, and 1 for many, dense particles. Exact for N(m, σ²·1) with any kernel.
///
/// No α gives every variance: with D > M − 1 the particles span only M − 1 directions, settle in
/// those of least curvature, and have no variance in the others. Under N(0, Σ), with λ the
/// eigenvalues of Σ⁻¹, (1) reads Σ_a λ_a·v_a = D: if at least M − 1 directions share the largest
/// variance σ², the particles form a simplex in them, with total variance D·σ² instead of tr Σ. If
/// fewer do, distances differ, and (1) holds to within some percent. (tests/optim/alpha_test.cpp.)
/// Errors of α are amplified too: a network's output is a product of several weights, so that the
/// variance of the function grows with a power of α. In relu attention queries, keys, values and
/// outputs are multiplied, and around weights of mean 0 three times α* gives up to 3⁴ times the
/// variance.
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
  /// The number; 0 if automatic.
  constexpr double value() const { return value_; }

 private:
  double value_;
  bool automatic_ = false;
};

inline constexpr Alpha automatic = Alpha::by_the_particles();

}  // namespace ladon
