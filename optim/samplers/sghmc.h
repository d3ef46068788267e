#pragma once
// Hamiltonian dynamics with minibatch gradients: stochastic-gradient samplers with momentum, which
// explore narrow valleys faster than Langevin dynamics. Units and random streams: sampler.h.

#include "ladon/optim/samplers/sampler.h"

namespace ladon {

struct SghmcOptions {
  double lr = 1e-4;
  double friction = 0.1;  ///< a in (0, 1]: one minus the momentum coefficient.
  TargetDensity target = {};
};

/// Stochastic-gradient HMC of parameters θ with velocity v, friction a, minibatch gradient g and
/// learning rate r (λ, N and T as in target.h):
///   v ← (1−a)v − r·(g + (λ/N)θ) + sqrt(2arT/N)·ξ,  θ ← θ + v,  ξ ~ N(0, I).
/// (Chen, Fox and Guestrin 2014, arXiv 1402.4102, eq. 15 with β̂ = 0: gradient noise is not
/// corrected for.) With T = 0 this is gradient descent with momentum, with a = 1 it is Sgld.
///
/// Bias: for a quadratic loss of curvature κ (prior included) and exact gradients, the stationary
/// variance is T/(Nκ)·(2 − a)/(2 − a − rκ/2); for rκ ≥ 4 − 2a there is no stationary distribution.
class Sghmc : public Sampler {
 public:
  Sghmc(ParameterGroups groups, SghmcOptions options, Generator rng);

 protected:
  void update(Item& item, const Tensor& gradient, double lr) override;

 private:
  double friction_;
};

struct SgnhtOptions {
  double lr = 1e-4;
  double friction =
      0.1;  ///< a₀ in (0, 1]: initial friction of the thermostat, and strength of the added noise.
  /// η > 0: rate at which the friction a adapts. η near a²/2 adapts fastest without overshooting;
  /// the thermal mass of 1 of Ding et al. 2014 (below) corresponds to η = rT/N.
  double response = 0.005;
  TargetDensity target = {};
};

/// Stochastic-gradient Nosé-Hoover thermostat: Sghmc whose friction a adapts (symbols as for Sghmc,
/// ξ ~ N(0, I)):
///   v ← (1−a)v − r·(g + (λ/N)θ) + sqrt(2a₀rT/N)·ξ,  θ ← θ + v,  a ← a + η·(|v|²/(n·rT/N) − 1).
/// Each parameter tensor of n elements has one friction a, which grows while its elements move
/// faster than at the temperature T, |v|²/n > rT/N, and falls while they move slower. So the
/// friction compensates for gradient noise of unknown size, and the stationary density remains the
/// target. (Ding, Fang, Babbush, Chen, Skeel and Neven 2014: with the step h = sqrt(r/N), v = h·p
/// and a = h·ξ, where p and ξ are those of that article.)
///
/// For a quadratic loss of curvature κ (prior included), gradients of variance σ² per element and
/// large n, the stationary friction a solves  a·(2 − a − rκ/2) = 2a₀ + rNσ²/T,  and the variance of
/// θ is T/(Nκ)·(1 − a/2): use small frictions and steps, for which a is about a₀ + rNσ²/(2T). (Both
/// follow from E v² = rT/N, which the thermostat enforces, and from stationarity of θ², θv and v².
/// With a₀ = 0.2 and exact gradients a is 0.23 for r → 0, and 0.4 at rκ = 1.2.) For small n the
/// friction fluctuates about this value by sqrt(η/n), and may be negative for a while. At T = 0 or
/// r = 0 the friction does not change.
class Sgnht : public Sampler {
 public:
  Sgnht(ParameterGroups groups, SgnhtOptions options, Generator rng);

 protected:
  void update(Item& item, const Tensor& gradient, double lr) override;
  Tensor initial(std::size_t which, const Tensor& parameter) const override;

 private:
  double friction_, response_;
};

}  // namespace ladon
