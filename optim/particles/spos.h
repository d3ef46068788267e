#pragma once
// Stochastic particle-optimization sampling (Zhang, Zhang, Carin and Chen 2018, arXiv 1809.01293).

#include "ladon/core/random.h"
#include "ladon/optim/particles/svgd.h"

namespace ladon {

struct SposOptions {
  SvgdOptions svgd = {};   ///< {.svgd = {.alpha = 0.1}, .diffusion = 0.01}
  double diffusion = 0.1;  ///< b ≥ 0, the inverse of β in the paper.
};

/// θ_i ← θ_i + ε [ φ_i + b·s_i ] + sqrt(2bε)·ξ_i,  φ of Svgd, ξ ~ N(0, 1).
/// apply() writes −(φ_i + b·s_i)·T/N and draws ξ; the step of the optimizer that updates the
/// particles adds the noise after its update, with its own rate (lr·lr_scale), so that no
/// preconditioner rescales it. With plain Sgd this is the sampler above: a step of rate r has ε =
/// r·T/N. With Adam the drift is preconditioned and the noise is not, which keeps particles apart
/// but samples no known density. b = 0 is Svgd bit for bit.
class Spos : public Svgd {
 public:
  /// Draws from `rng`, a copy that it owns; pass rng.split(i). Throws Error unless α and b are
  /// finite and ≥ 0.
  Spos(Particles particles, SposOptions options, Generator rng);
  std::string name() const override { return "spos"; }

  /// Access for saving and restoring the generator's state.
  Generator& generator() & { return rng_; }

 protected:
  Forces forces(const std::string& block, const Tensor& theta,
                const Tensor& gradient) const override;
  Noise noise(const ParticleBlock& block) override;
  bool has_noise() const override { return diffusion_ > 0; }

 private:
  double diffusion_;
  Generator rng_;
};

}  // namespace ladon
