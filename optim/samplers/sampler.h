#pragma once
// Stochastic-gradient samplers. They are optimizers: gradient descent on a loss with added noise
// has a stationary density, from which its iterates are draws.
//
//   Sgld sgld(model.parameters(), {.lr = 1, .target = {.count = 5452, .prior_precision = 1}}, rng);
//   Collect kept({.after = 2000, .every = 20});   // collect.h
//   for (int step = 0; step < 10000; ++step) {
//     sgld.zero_grad();
//     backward(loss);  // the mean loss of a batch
//     sgld.step();     // descends and adds noise
//     if (kept.due(step)) kept.add(predict());
//   }
//
// Units. The loss is the mean over the N training items of the target, and r = lr·lr_scale is the
// learning rate of a step on this mean, as in any optimizer: a learning rate for Sgd also suits a
// sampler. In units of U = N·loss − ln prior, which papers use, the same step has size ε = r/N.
// With N = 1 and no prior the loss is U itself.
//
// All of these samplers run one chain, whose draws are correlated; have a finite step size, so that
// the stationary density is the target only up to terms of order r (see each header); and use
// minibatch gradients, whose noise raises the temperature above the target's. The gradient noise is
// negligible if r·N·v ≪ 2T (2aT with friction a), where v is the variance of an element of the
// batch's mean gradient.

#include "ladon/core/random.h"
#include "ladon/optim/optimizer.h"
#include "ladon/optim/target.h"

namespace ladon {

/// Optimizer whose step adds the noise of a sampler. A subclass must override `update`.
///
/// The noise of parameter i comes from the random stream rng.split(i) (after load_state_dict, from
/// the stream that the parameter of the same name had in the state). For a parameter of n elements
/// with u earlier updates it is drawn at block u·n of that stream (core/random.h). So the noise
/// depends neither on other parameters nor on the number of threads; and a sampler of any seed
/// continues bit for bit after load_state_dict, because the generator is in the state. Parallel
/// chains should use rng.split(0), rng.split(1), …; chains that all load the same state share its
/// generator, and draw the same noise.
///
/// A particle method may rewrite the gradients first, as with any optimizer: its forces move the
/// particles, and the sampler adds the noise. Only one of the two may have a prior. Spos adds its
/// own noise, so combine it with Sgd and not with a sampler: step() throws Error if prior or noise
/// would count twice. A parameter without a gradient is not changed, and gets no noise.
class Sampler : public Optimizer {
 public:
  /// Sets the temperature T of all later steps, for annealing. At T = 0 no noise is added, and
  /// steps are plain descent. Throws Error unless T is finite and ≥ 0.
  void set_temperature(double temperature);
  double temperature() const { return target_.temperature; }

  /// Optimizer::state_dict() with the additional entries "temperature" (f64), "generator" (i64
  /// [3]), and for each parameter "parameter.NAME.stream" (i64). If a loaded state has no generator
  /// or no streams, the sampler keeps its own.
  StateDict state_dict() const override;
  void load_state_dict(const StateDict& state) override;

 protected:
  /// Throws the Errors of Optimizer, and an Error for an invalid target (T may be 0), or if a group
  /// has a weight_decay, because the prior is in the target. (Add any prior p(θ) other than N(0,
  /// 1/λ) to the loss, as −ln p(θ)/N.)
  Sampler(ParameterGroups groups, double lr, const TargetDensity& target, Generator rng,
          std::vector<std::string> moment_names);

  /// Throws Error naming the parameter, and changes nothing, for a gradient rewritten by a particle
  /// method if noise or prior would count twice.
  void check(const Item& item, const Tensor& gradient) const override;

  /// ∇U/N = g + (λ/N)·θ of one parameter θ with gradient g.
  Tensor slope(const Item& item, const Tensor& gradient) const;
  /// r·T/N for learning rate r: half the variance of the noise in an Sgld step.
  double heat(double lr) const { return lr * target_.temperature / target_.count; }
  /// x ← x + stddev·scale∘ξ with fresh noise ξ ~ N(0, I), where x has the parameter's shape. Call
  /// it at most once per update, because a second call would draw the same ξ. `scale` has the same
  /// shape, or is undefined for 1.
  void add_noise(Tensor x, const Item& item, double stddev, const Tensor& scale = {}) const;

 private:
  TargetDensity target_;
  Generator rng_;
  std::vector<std::int64_t> streams_;  // stream of each parameter, by Item::index
};

}  // namespace ladon
