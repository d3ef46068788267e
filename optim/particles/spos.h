#pragma once
// Stochastic particle-optimization sampling (Zhang, Zhang, Carin and Chen 2018, arXiv 1809.01293).

#include "ladon/core/random.h"
#include "ladon/optim/particles/svgd.h"

namespace ladon {

struct SposOptions {
  SvgdOptions svgd = {};   ///< {.svgd = {.alpha = 0.1}, .diffusion = 0.01}
  double diffusion = 0.1;  ///< b ≥ 0, the inverse of the publication's β.
  /// The noise's ε is the optimizer's rate times this: 1/N where the loss is a mean over N items and
  /// Target::count is left at 1, as a step of rate r for the mean loss is one of r/N for U = N·loss.
  double step_scale = 1;
};

/// θ_i ← θ_i + ε [ φ_i + b·s_i ] + sqrt(2bε)·ξ_i,  φ of Svgd, ξ ~ N(0, 1).
/// apply() writes −(φ_i + b·s_i) and draws ξ; the step of the optimizer that holds the particles adds
/// the noise after its update, with its own rate (lr·lr_scale), so that no preconditioner rescales it.
/// It is this sampler under plain Sgd with rate ε; under Adam the drift is preconditioned and the
/// noise is not, which keeps particles apart but samples no stated density. b = 0 is Svgd bit for
/// bit.
class Spos : public Svgd {
 public:
  /// Draws from `rng`, which it owns; pass rng.split(i). Throws Error unless α and b are finite
  /// and ≥ 0, and step_scale is finite and positive.
  Spos(Particles particles, SposOptions options, Generator rng);
  std::string name() const override { return "spos"; }

  /// To save and restore its position.
  Generator& generator() & { return rng_; }

 protected:
  Forces forces(const ParticleBlock& block, const Tensor& theta,
                const Tensor& gradient) const override;
  Noise noise(const ParticleBlock& block) override;

 private:
  double diffusion_, step_scale_;
  Generator rng_;
};

}  // namespace ladon
