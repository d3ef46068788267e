#pragma once
// Samplers are optimizers: what follows a loss downhill, and adds noise, settles at a density.
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
// Units. The loss is the mean over the N items of the target, and the rate r = lr·lr_scale that of
// a step on it, as of any optimizer: a rate for Sgd is one for a sampler. On U = N·loss − ln prior,
// as publications write, the same step is of size ε = r/N. With N = 1 the loss is U itself.
//
// All have in common: one chain, whose draws depend on each other; a step that is not 0, so that
// the density at rest is the target only up to terms of order r (each header says which); and
// gradients of batches, whose own noise is heat that the target does not have. It is small beside
// the sampler's where r·N·v ≪ 2T (2aT, with a friction a), v the variance of an entry of the
// batch's mean gradient.

#include "ladon/core/random.h"
#include "ladon/optim/optimizer.h"
#include "ladon/optim/target.h"

namespace ladon {

/// An optimizer whose step adds the noise of a sampler. To write one, derive from it and give
/// `update`.
///
/// The noise of parameter i comes from rng.split(i) (of a loaded state from the stream that the
/// parameter of this name had there), and its place there follows from how often that parameter was
/// updated: the block u·n, with u updates before and n elements. So it does not
/// depend on the other parameters nor on the number of threads; and a new sampler goes on with the
/// same bits after load_state_dict, whatever its seed: the generator is in the state. Chains beside
/// each other take rng.split(0), …; chains that all begin at the state of one lose theirs, and draw
/// the same noise.
///
/// A particle method may stand before it, as before any optimizer: it drives the particles, the
/// sampler adds the noise. The prior belongs to one of the two, and Spos, which brings noise of its
/// own, before Sgd: step() throws Error where prior or noise would count twice. A parameter without
/// gradient stays as it is.
class Sampler : public Optimizer {
 public:
  /// T of the steps from now on: annealing. 0 is descent: no noise is added. Throws Error unless it
  /// is finite and ≥ 0.
  void set_temperature(double temperature);
  double temperature() const { return target_.temperature; }

  /// Optimizer::state_dict() with "temperature" (f64), "generator" (i64 [3]), and for each
  /// parameter "parameter.NAME.stream" (i64). A loaded state without generator or streams leaves
  /// the sampler its own.
  StateDict state_dict() const override;
  void load_state_dict(const StateDict& state) override;

 protected:
  /// Throws Error as Optimizer does, for a target that is none (T may be 0), and where a group has
  /// a weight_decay: the prior is in the target. (Another prior than N(0, 1/λ) belongs in the loss,
  /// as −ln p(θ)/N.)
  Sampler(ParameterGroups groups, double lr, const TargetDensity& target, Generator rng,
          std::vector<std::string> moment_names);

  /// Refuses gradients that are not finite, and those of a particle method with which noise or
  /// prior would count twice: an Error that names the parameter, and nothing is changed.
  void check(const Item& item, const Tensor& gradient) const override;

  /// ∇U/N = g + (λ/N)·θ.
  Tensor slope(const Item& item, const Tensor& gradient) const;
  /// rT/N, half the variance of the noise that a plain step needs.
  double heat(double lr) const { return lr * target_.temperature / target_.count; }
  /// x ← x + stddev·scale∘ξ with the ξ ~ N(0, 1) of this update, x like the parameter; once an
  /// update. `scale`: a tensor like x, or none.
  void add_noise(Tensor x, const Item& item, double stddev, const Tensor& scale = {}) const;

 private:
  TargetDensity target_;
  Generator rng_;
  std::vector<std::int64_t> streams_;  // of the parameters, by Item::index
};

}  // namespace ladon
