#pragma once
// Stein variational gradient descent (Liu and Wang 2016, arXiv 1608.04471); with attention heads as
// particles, "Repulsive Attention" (An et al. 2020, arXiv 2009.09364).

#include "ladon/optim/particles/kernel.h"
#include "ladon/optim/particles/method.h"

namespace ladon {

struct SvgdOptions {
  SteinKernel kernel = rbf();
  /// α ≥ 0: weight of the repulsion; or `automatic`. α = 0 switches the repulsion off; without
  /// smoothing the kernel then changes no gradient. The kernel and max_ratio may be set
  /// nevertheless, so that α can be varied or annealed down to 0; report() still gives the kernel's
  /// bandwidth.
  Alpha alpha = 1;
  /// Whether the driving force is the kernel-weighted sum of all particles' scores (as published)
  /// or each particle's own score. In high dimension the median rule gives k_ij ≈ 1/(M+1) between
  /// different particles, so that the weighted sum attenuates the part of a score that is specific
  /// to one particle.
  bool smoothing = true;
  TargetDensity target = {};
  double max_ratio = 100;  ///< Upper bound on the ratio of repulsive to driving force: see
                           ///< ParticleMethod.

  /// Options of An et al. 2020: N = 1, no prior, T = 1 (so α is also a temperature), unbounded
  /// repulsion, and rbf with Bandwidth::paper, which throws Error if there are only two particles
  /// (kernel.h, checked_at).
  static SvgdOptions paper(double alpha);
};

/// SVGD's update direction φ_i = (1/M) [ Σ_j k_ij s_j + α R_i ] of M particles θ_i, with the score
/// s_j = −∇U(θ_j)/T (target.h), kernel k and repulsion R_i (kernel.h).
///
/// Without smoothing φ_i = (1/M) [ s_i + α R_i ]: the sum over j is reduced to its term j = i,
/// whose weight k_ii is 1 for a radial kernel. The factor 1/M stays, so that switching smoothing
/// off changes only the averaging: α weights R_i relative to s_i as it does with smoothing if
/// particles are far apart.
///
/// With one particle and a radial kernel, k = 1 and R = 0, so with the default target the gradients
/// are unchanged bit for bit.
class Svgd : public ParticleMethod {
 public:
  /// Throws Error unless α is `automatic`, or finite and ≥ 0; apply() throws if the kernel's
  /// results are invalid (kernel.h, checked_at).
  explicit Svgd(Particles particles, SvgdOptions options = {});
  /// The method without particles, for use with act_on() only.
  explicit Svgd(SvgdOptions options) : Svgd(Particles(), std::move(options)) {}
  std::string name() const override { return "svgd"; }

  /// Sets α from the next step on, for annealing. Throws Error unless α is `automatic`, or finite
  /// and ≥ 0.
  void set_alpha(Alpha alpha);

 protected:
  Forces forces(const std::string& block, const Tensor& theta,
                const Tensor& gradient) const override;
  double fair_alpha(const std::string& block, const Tensor& theta) const override;

 private:
  SvgdOptions options_;
};

}  // namespace ladon
