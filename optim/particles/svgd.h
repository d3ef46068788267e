#pragma once
// Stein variational gradient descent (Liu and Wang 2016, arXiv 1608.04471), over heads as in
// "Repulsive Attention" (An et al. 2020, arXiv 2009.09364).

#include "ladon/optim/particles/kernel.h"
#include "ladon/optim/particles/method.h"

namespace ladon {

struct SvgdOptions {
  SteinKernel kernel = rbf();
  Alpha alpha = 1;  ///< α ≥ 0: weight of the repulsion; or `automatic`.
  /// Whether particles share their scores. In high dimension the median rule gives k_ij ≈ 1/(M+1)
  /// between particles, so that sharing weakens what is particular to one of them.
  bool smoothing = true;
  TargetDensity target = {};
  double max_ratio = 100;  ///< Bounds the repulsion by the driving force: see ParticleMethod.

  /// Options as published: N = 1, no prior, T = 1 (so α is also a temperature), rbf with the lower
  /// median, which needs three particles or one (kernel.h, checked_at), and unbounded repulsion.
  static SvgdOptions paper(double alpha);
};

/// φ_i = (1/M) [ Σ_j k_ij s_j + α R_i ],  s_j = −∇U(θ_j)/T, R as in kernel.h.
///
/// Without smoothing φ_i = (1/M) [ s_i + α R_i ]: the driving sum keeps only its term j = i, with
/// weight k_ii = 1 of a radial kernel. The factor 1/M stays, so that α weighs R_i against a
/// particle's own score just as with smoothing between particles far apart, and switching smoothing
/// off changes the sharing and nothing else.
///
/// One particle: K = 1 and R = 0, so the gradients keep every bit.
class Svgd : public ParticleMethod {
 public:
  /// Throws Error unless α is finite and ≥ 0; apply() does where the kernel's values will not do
  /// (kernel.h, checked_at).
  explicit Svgd(Particles particles, SvgdOptions options = {});
  /// Without particles: it acts where act_on() puts it.
  explicit Svgd(SvgdOptions options) : Svgd(Particles(), std::move(options)) {}
  std::string name() const override { return "svgd"; }

  /// From the next step on: annealing. Errors as in the constructor.
  void set_alpha(Alpha alpha);

 protected:
  Forces forces(const std::string& block, const Tensor& theta,
                const Tensor& gradient) const override;
  double fair_alpha(const std::string& block, const Tensor& theta) const override;

 private:
  SvgdOptions options_;
};

}  // namespace ladon
