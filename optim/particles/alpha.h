#pragma once
// Weight of the repulsion between particles.

namespace ladon {

/// The weight α of the repulsion: a number, or `automatic`.
///
/// The effect of α in high dimension is known exactly. Where M particles are all equally far from
/// each other (d ≫ ln M), the median rule gives k_ij = 1/(M+1), and where SVGD's forces balance,
///   mean_i (θ_i − θ̄)·∇U(θ_i)/T = α·ln(M+1)·(M−1)/M,                                          (1)
/// for any U: multiply the balance Σ_j k_ij s_j + α·R_i = 0 by θ_i − θ̄ and sum over i. Under the
/// target itself the left side is D (integrate by parts). So there is one α at which particles have
/// the target's energy,
///   α* = M·D/((M−1)·ln(M+1)),
/// and α/α* is the temperature of what they show, in units of the target's. At α = 1 it is near 0
/// for networks: the particles collapse to their modes.
///
/// `automatic` takes at every step the α that makes the left side of (1) equal to D, from the
/// kernel at hand and the particles where they are:
///   α = M·D·c/Σ_i (θ_i − θ̄)·R_i,   c = Σ_i (θ_i − θ̄)·S_i/Σ_i ‖θ_i − θ̄‖²,
/// where S is what sharing makes of Θ − θ̄ (c = 1 without smoothing): α* under the median rule with
/// d ≫ ln M, and 1 where particles are many and dense. Exact for N(m, σ²·1), for whatever kernel.
///
/// No α gives every variance: with D > M − 1 the particles lie in M − 1 directions, and settle in
/// those of least curvature; all others are empty. Under N(0, Σ) with λ the eigenvalues of Σ⁻¹, (1)
/// is Σ_a λ_a·v_a = D: where at least M − 1 directions share the largest variance σ², the particles
/// are a simplex in them, and their total variance is D·σ², not tr Σ. Where fewer do, distances
/// differ, and (1) holds to some percent. (tests/optim/alpha_test.cpp.)
/// Nor does the error stay small: what a network computes is a product of several weights, so that
/// the variance of the function goes with a power of α. In relu attention queries, keys, values and
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
  /// Whether there is no repulsion at all.
  constexpr bool off() const { return !automatic_ && value_ == 0; }
  /// The number; 0 if automatic.
  constexpr double value() const { return value_; }

 private:
  double value_;
  bool automatic_ = false;
};

inline constexpr Alpha automatic = Alpha::by_the_particles();

}  // namespace ladon
