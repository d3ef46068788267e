#pragma once
// Samplers are optimizers: descent on a loss with added noise converges to a density.
//
//   Sgld sgld(model.parameters(), {.lr = 1, .target = {.count = 5452, .prior_precision = 1}}, rng);
//   Collect kept({.after = 2000, .every = 20});   // collect.h
//   for (int step = 0; step < 10000; ++step) {
//     sgld.zero_grad();
//     backward(loss);  // the mean over a batch
//     sgld.step();     // with its noise
//     if (kept.due(step)) kept.add(predict());
//   }
//
// Units. The loss is the mean over the N items of the target, and the rate r = lr·lr_scale is that
// of a step on this mean, as in any optimizer: a rate for Sgd suits a sampler. For U = N·loss − ln
// prior, as in the papers, the same step has size ε = r/N. With N = 1 the loss is U itself.
//
// Common to all of them: one chain with correlated draws; a finite step size, so that the
// stationary density is the target only up to terms of order r (see each header); and minibatch
// gradients, whose noise acts as heat in addition to the target's temperature. That noise is
// negligible if r·N·v ≪ 2T (2aT with friction a), where v is the variance of an element of the
// batch's mean gradient.

#include "ladon/core/random.h"
#include "ladon/optim/optimizer.h"
#include "ladon/optim/target.h"

namespace ladon {

/// An optimizer whose step adds a sampler's noise. A subclass must override `update`.
///
/// The noise of parameter i comes from rng.split(i) (after loading a state, from the stream that
/// the parameter of this name had there), at a position that depends only on the number of that
/// parameter's updates: the block u·n for u earlier updates and n elements. So it depends neither
/// on the other parameters nor on the number of threads; and a new sampler continues with the same
/// bits after load_state_dict, whatever its seed, because the generator is in the state. Parallel
/// chains should use rng.split(0), rng.split(1), …; chains that all load the same state share its
/// generator, and draw the same noise.
///
/// A particle method may be applied before it, as with any optimizer: it drives the particles, and
/// the sampler adds the noise. Only one of the two may have a prior, and Spos, which adds its own
/// noise, needs Sgd: step() throws Error if prior or noise would count twice. A parameter without a
/// gradient stays as it is.
class Sampler : public Optimizer {
 public:
  /// Sets T for the steps from now on, for annealing. At 0 no noise is added, and steps are plain
  /// descent. Throws Error unless it is finite and ≥ 0.
  void set_temperature(double temperature);
  double temperature() const { return target_.temperature; }

  /// Optimizer::state_dict() with "temperature" (f64), "generator" (i64 [3]), and for each
  /// parameter "parameter.NAME.stream" (i64). If a loaded state has no generator or streams, the
  /// sampler keeps its own.
  StateDict state_dict() const override;
  void load_state_dict(const StateDict& state) override;

 protected:
  /// Throws Error as Optimizer does, for an invalid target (T may be 0), and if a group has a
  /// weight_decay, because the prior is in the target. (A prior other than N(0, 1/λ) belongs in the
  /// loss, as −ln p(θ)/N.)
  Sampler(ParameterGroups groups, double lr, const TargetDensity& target, Generator rng,
          std::vector<std::string> moment_names);

  /// Refuses gradients that are not finite, and gradients rewritten by a particle method if noise
  /// or prior would count twice: throws Error naming the parameter, and changes nothing.
  void check(const Item& item, const Tensor& gradient) const override;

  /// ∇U/N = g + (λ/N)·θ.
  Tensor slope(const Item& item, const Tensor& gradient) const;
  /// rT/N, half the variance of the noise of a plain step.
  double heat(double lr) const { return lr * target_.temperature / target_.count; }
  /// x ← x + stddev·scale∘ξ with this update's ξ ~ N(0, 1), x of the parameter's shape; call it
  /// once per update. `scale`: a tensor of the same shape, or undefined for 1.
  void add_noise(Tensor x, const Item& item, double stddev, const Tensor& scale = {}) const;

 private:
  TargetDensity target_;
  Generator rng_;
  std::vector<std::int64_t> streams_;  // stream of each parameter, by Item::index
};

}  // namespace ladon
