#pragma once
// Stochastic particle-optimization sampling (Zhang, Zhang, Carin and Chen 2018, arXiv 1809.01293).

#include "ladon/core/random.h"
#include "ladon/optim/particles/svgd.h"

namespace ladon {

struct SposOptions {
  SvgdOptions svgd = {};   ///< For example {.svgd = {.alpha = 0.1}, .diffusion = 0.01}.
  double diffusion = 0.1;  ///< b ≥ 0, the inverse of β in Zhang et al. 2018.
};

/// θ_i ← θ_i + ε [ φ_i + b·s_i ] + sqrt(2bε)·ξ_i, with the score s_i and direction φ_i of svgd.h
/// and ξ_i ~ N(0, I): SVGD plus Langevin dynamics of weight b. apply() writes −(φ_i + b·s_i)·T/N to
/// the gradients and draws ξ; step() of the optimizer adds the noise after its update, with its own
/// learning rate (lr·lr_scale), so that no preconditioner rescales the noise. With Sgd without
/// momentum this is the sampler above: a step of rate r has ε = r·T/N. With Adam the drift is
/// preconditioned and the noise is not, which keeps particles apart but samples no known density.
/// With b = 0 it is Svgd, bit for bit.
class Spos : public Svgd {
 public:
  /// Copies `rng` and draws its noise from the copy. Pass a generator of its own, such as
  /// rng.split(0): other draws from the same generator would repeat the noise. Throws Error unless
  /// b is finite and ≥ 0, and α is `automatic`, or finite and ≥ 0.
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
