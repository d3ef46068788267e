#pragma once
// Stein variational gradient descent (Liu and Wang 2016, arXiv 1608.04471), over heads as in
// "Repulsive Attention" (An et al. 2020, arXiv 2009.09364).

#include "ladon/optim/particles/kernel.h"
#include "ladon/optim/particles/method.h"

namespace ladon {

struct SvgdOptions {
  SteinKernel kernel = rbf();
  Alpha alpha = 1;  ///< α ≥ 0: weight of the repulsion; or `automatic`.
  /// Whether driving forces are averaged by the kernel. In high dimension the median rule gives
  /// k_ij ≈ 1/(M+1) between particles, so the sum over j attenuates the part of a score that is
  /// specific to one particle.
  bool smoothing = true;
  TargetDensity target = {};
  double max_ratio = 100;  ///< Bound on the ratio of repulsion to driving force: see
                           ///< ParticleMethod.

  /// Options as published: N = 1, no prior, T = 1 (so α is also a temperature), rbf with the lower
  /// median, for which the number of particles must not be two (kernel.h, checked_at), and
  /// unbounded repulsion.
  static SvgdOptions paper(double alpha);
};

/// φ_i = (1/M) [ Σ_j k_ij s_j + α R_i ],  s_j = −∇U(θ_j)/T, R as in kernel.h.
///
/// Without smoothing φ_i = (1/M) [ s_i + α R_i ]: the driving sum keeps only its term j = i, with
/// weight k_ii = 1 for a radial kernel. The factor 1/M stays, so that α weights R_i relative to a
/// particle's own score as it does with smoothing for particles far apart, and switching smoothing
/// off changes nothing but the averaging.
///
/// With one particle K = 1 and R = 0, so the gradients keep every bit.
class Svgd : public ParticleMethod {
 public:
  /// Throws Error unless α is finite and ≥ 0; apply() throws if the kernel's results are invalid
  /// (kernel.h, checked_at).
  explicit Svgd(Particles particles, SvgdOptions options = {});
  /// Without particles: for use with act_on() only.
  explicit Svgd(SvgdOptions options) : Svgd(Particles(), std::move(options)) {}
  std::string name() const override { return "svgd"; }

  /// α from the next step on, for annealing. Errors as in the constructor.
  void set_alpha(Alpha alpha);

 protected:
  Forces forces(const std::string& block, const Tensor& theta,
                const Tensor& gradient) const override;
  double fair_alpha(const std::string& block, const Tensor& theta) const override;

 private:
  SvgdOptions options_;
};

}  // namespace ladon
