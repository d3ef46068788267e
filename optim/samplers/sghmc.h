#pragma once
// Hamiltonian dynamics with gradients of batches: samplers with momentum, which explore narrow
// valleys faster than Langevin dynamics. Units and seeds: sampler.h.

#include "ladon/optim/samplers/sampler.h"

namespace ladon {

struct SghmcOptions {
  double lr = 1e-4;
  double friction = 0.1;  ///< a in (0, 1]: one minus the momentum.
  TargetDensity target = {};
};

/// v ← (1−a)v − r·(g + (λ/N)θ) + sqrt(2arT/N)·ξ,  θ ← θ + v,  ξ ~ N(0, 1).
/// (Chen, Fox and Guestrin 2014, arXiv 1402.4102, eq. 15 with β̂ = 0: nothing is assumed of the
/// gradient's noise.) Of T = 0 this is descent with momentum; of a = 1 it is Sgld.
///
/// Bias: at curvature κ of the loss (prior included) and exact gradients, the variance at rest
/// is T/(Nκ)·(2 − a)/(2 − a − rκ/2); from rκ = 4 − 2a on there is no rest.
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
      0.1;  ///< a₀ in (0, 1]: where the thermostat starts, and the noise that is added.
  /// η > 0: how fast the friction answers. Around a²/2 it does so soonest without overshooting; the
  /// publication's thermal mass of 1 is η = rT/N.
  double response = 0.005;
  TargetDensity target = {};
};

/// v ← (1−a)v − r·(g + (λ/N)θ) + sqrt(2a₀rT/N)·ξ,  θ ← θ + v,  a ← a + η·(|v|²/(n·rT/N) − 1).
/// The friction a is a thermostat, one for each parameter tensor of n elements: it grows where they
/// move faster than at the temperature T, |v|²/n = rT/N, and falls where they are slower. So it
/// takes up noise that nobody told it of, and the density stays. (Ding, Fang, Babbush, Chen, Skeel
/// and Neven 2014: with the step h = sqrt(r/N), v = h·p and a = h·ξ.)
///
/// With curvature κ (prior included), gradients of variance σ² per entry and n large, the friction
/// at rest is the a of  a·(2 − a − rκ/2) = 2a₀ + rNσ²/T,  and the variance T/(Nκ)·(1 − a/2): take
/// small frictions and steps, of which a is about a₀ + rNσ²/(2T). (The thermostat holds E v² =
/// rT/N; that θ², θv and v² stay then gives both. With a₀ = 0.2 and exact gradients a is 0.23 for r
/// → 0, and 0.4 at rκ = 1.2.) Fewer entries let a scatter about that by sqrt(η/n); it may be
/// negative for a while. At T = 0 or r = 0 the thermostat keeps its value.
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
