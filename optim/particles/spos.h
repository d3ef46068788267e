#pragma once
// Stochastic particle-optimization sampling (Zhang, Zhang, Carin and Chen 2018, arXiv 1809.01293).

#include "ladon/core/random.h"
#include "ladon/optim/particles/svgd.h"

namespace ladon {

struct SposOptions {
  SteinKernel kernel = rbf();
  double alpha = 1;        ///< α ≥ 0: weight of the repulsion.
  double diffusion = 0.1;  ///< b ≥ 0, the inverse of the publication's β.
  bool smoothing = true;   ///< As for Svgd.
  Target target = {};
};

/// θ_i ← θ_i + ε [ φ_i + b·s_i ] + sqrt(2bε)·ξ_i,  φ of Svgd, ξ ~ N(0, 1).
/// apply() writes −(φ_i + b·s_i) and diffuse(ε) adds the noise, which no optimizer rescales. It is
/// this sampler under plain Sgd with rate ε; under Adam the drift is preconditioned and the noise
/// is not, which keeps particles apart but samples no stated density. b = 0 is Svgd bit for bit.
class Spos : public Svgd {
 public:
  /// Draws from `rng`, which it owns; pass rng.split(i). Throws Error unless α and b are finite
  /// and ≥ 0.
  Spos(Particles particles, SposOptions options, Generator rng);

  /// Throws Error unless ε is finite and ≥ 0.
  void diffuse(double step_size) override;
  /// To save and restore its position.
  Generator& generator() { return rng_; }

 protected:
  Forces forces(const ParticleBlock& block, const Tensor& theta,
                const Tensor& gradient) const override;

 private:
  double diffusion_;
  Generator rng_;
};

}  // namespace ladon
