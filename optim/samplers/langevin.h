#pragma once
// Langevin dynamics with minibatch gradients. Units and seeds: sampler.h.

#include "ladon/optim/samplers/sampler.h"

namespace ladon {

struct SgldOptions {
  double lr = 1e-4;
  TargetDensity target = {};
};

/// Stochastic-gradient Langevin dynamics of parameters θ with minibatch gradient g and learning
/// rate r (λ, N and T as in target.h):
///   θ ← θ − r·(g + (λ/N)θ) + sqrt(2rT/N)·ξ,  ξ ~ N(0, I).
/// (Welling and Teh 2011; their ε is 2r/N.)
///
/// Bias: for a quadratic loss of curvature κ (prior included: κ = κ_loss + λ/N) and exact
/// gradients, the stationary variance is T/(Nκ)/(1 − rκ/2), too large by a fraction of about rκ/2;
/// for rκ ≥ 2 there is no stationary distribution.
class Sgld : public Sampler {
 public:
  Sgld(ParameterGroups groups, SgldOptions options, Generator rng);

 protected:
  void update(Item& item, const Tensor& gradient, double lr) override;
};

struct PsgldOptions {
  double lr = 1e-4;
  double beta = 0.99;  ///< Decay rate of the running mean of g², in [0, 1).
  double eps = 1e-5;   ///< > 0: the elements of the preconditioner G are at most 1/eps.
  TargetDensity target = {};
};

/// Sgld with the diagonal preconditioner G of RMSprop, so that steep directions take small steps:
///   V ← βV + (1−β)g²,  G = 1/(eps + sqrt V),
///   θ ← θ − r·G∘(g + (λ/N)θ) + sqrt(2rT/N·G)∘ξ,  ξ ~ N(0, I).
/// (Li, Chen, Carlson and Carin 2016, arXiv 1512.07666, algorithm 1; their ε is 2r/N.) V starts at
/// zero, without bias correction: the first steps are larger by up to 1/sqrt(1−β). Where g stays 0,
/// G is 1/eps.
///
/// G depends on θ, and a correct sampler with such a G needs the additional drift (rT/N)·∂G/∂θ (Γ
/// in Li et al.). The drift is left out, as in their experiments, at a cost: if V follows θ
/// immediately, the stationary density is ∝ exp(−U/T)/G, with too little mass where gradients are
/// small. The stationary density is the target only if G hardly changes over the support, or if V
/// averages over a time, 1/(1−β) steps, in which the chain explores the whole support. So smaller
/// steps increase the bias: for the target N(0, 1), at β = 0.99 and eps = 0.01, the variances are
/// 1.11, 1.34 and 1.75 for r = 0.1, 0.01 and 0.001 (measured), and 2 for r → 0.
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
