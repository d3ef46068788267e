#pragma once
// Langevin dynamics with gradients of batches. Units and seeds: sampler.h.

#include "ladon/optim/samplers/sampler.h"

namespace ladon {

struct SgldOptions {
  double lr = 1e-4;
  TargetDensity target = {};
};

/// θ ← θ − r·(g + (λ/N)θ) + sqrt(2rT/N)·ξ,  ξ ~ N(0, 1).
/// (Welling and Teh 2011; their ε is 2r/N.)
///
/// Bias: at curvature κ of the loss (prior included: κ = κ_loss + λ/N) and exact gradients, the
/// variance at rest is T/(Nκ)/(1 − rκ/2), too large by about rκ/2; from rκ = 2 on there is no rest.
class Sgld : public Sampler {
 public:
  Sgld(ParameterGroups groups, SgldOptions options, Generator rng);

 protected:
  void update(Item& item, const Tensor& gradient, double lr) override;
};

struct PsgldOptions {
  double lr = 1e-4;
  double beta = 0.99;  ///< Of the running mean of g², in [0, 1).
  double eps = 1e-5;   ///< > 0: the largest element of G is 1/eps.
  TargetDensity target = {};
};

/// V ← βV + (1−β)g²,  G = 1/(eps + sqrt V),
/// θ ← θ − r·G∘(g + (λ/N)θ) + sqrt(2rT/N·G)∘ξ.
/// Preconditioned as RMSprop is: steep directions take small steps. (Li, Chen, Carlson and Carin
/// 2016, arXiv 1512.07666, algorithm 1; their ε is 2r/N.) V is zero at first, without a correction:
/// the first steps are larger by up to 1/sqrt(1−β). Where g stays 0, G is 1/eps.
///
/// G depends on θ, and a sampler with such a G needs the drift (rT/N)·∂G/∂θ beside it (Γ there). It
/// is left out, as in the publication's experiments, and this costs: where V follows θ at once, the
/// density at rest is exp(−U/T)/G, with too little where gradients are small; it is the target
/// where G hardly changes over the support, or where V averages over a time, 1/(1−β) steps, in
/// which the chain has been everywhere. So smaller steps make it worse: N(0, 1) gets, at β = 0.99
/// and eps = 0.01, the variances 1.11, 1.34 and 1.75 for r = 0.1, 0.01 and 0.001 (measured), and 2
/// for r → 0.
class Psgld : public Sampler {
 public:
  Psgld(ParameterGroups groups, PsgldOptions options, Generator rng);

 protected:
  void update(Item& item, const Tensor& gradient, double lr) override;
  bool squares_gradients() const override { return true; }

 private:
  PsgldOptions options_;
};

}  // namespace ladon
