#pragma once
// Hamiltonian dynamics with minibatch gradients: samplers with momentum, which explore narrow
// valleys faster than Langevin dynamics. Units and seeds: sampler.h.

#include "ladon/optim/samplers/sampler.h"

namespace ladon {

struct SghmcOptions {
  double lr = 1e-4;
  double friction = 0.1;  ///< a in (0, 1]: one minus the momentum coefficient.
  TargetDensity target = {};
};

/// v ← (1−a)v − r·(g + (λ/N)θ) + sqrt(2arT/N)·ξ,  θ ← θ + v,  ξ ~ N(0, 1).
/// (Chen, Fox and Guestrin 2014, arXiv 1402.4102, eq. 15 with β̂ = 0: gradient noise is not
/// corrected for.) With T = 0 this is descent with momentum, with a = 1 it is Sgld.
///
/// Bias: for curvature κ of the loss (prior included) and exact gradients, the stationary variance
/// is T/(Nκ)·(2 − a)/(2 − a − rκ/2); for rκ ≥ 4 − 2a there is no stationary distribution.
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
  /// η > 0: rate at which the friction adapts. Near a²/2 it is fastest without overshooting; the
  /// paper's thermal mass of 1 is η = rT/N.
  double response = 0.005;
  TargetDensity target = {};
};

/// v ← (1−a)v − r·(g + (λ/N)θ) + sqrt(2a₀rT/N)·ξ,  θ ← θ + v,  a ← a + η·(|v|²/(n·rT/N) − 1).
/// The friction a is a thermostat, one per parameter tensor of n elements: it grows while they move
/// faster than at the temperature T, |v|²/n > rT/N, and falls while they move slower. So it
/// compensates for gradient noise of unknown size, and the density is unchanged. (Ding, Fang,
/// Babbush, Chen, Skeel and Neven 2014: with the step h = sqrt(r/N), v = h·p and a = h·ξ.)
///
/// For curvature κ (prior included), gradients of variance σ² per element and large n, the
/// stationary friction a solves  a·(2 − a − rκ/2) = 2a₀ + rNσ²/T,  and the variance is T/(Nκ)·(1 −
/// a/2): use small frictions and steps, for which a is about a₀ + rNσ²/(2T). (Both follow from E v²
/// = rT/N, which the thermostat enforces, and from stationarity of θ², θv and v². With a₀ = 0.2 and
/// exact gradients a is 0.23 for r → 0, and 0.4 at rκ = 1.2.) With few elements a fluctuates about
/// that by sqrt(η/n), and may be negative for a while. At T = 0 or r = 0 the friction does not
/// change.
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
