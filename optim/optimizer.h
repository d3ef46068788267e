#pragma once
// Optimizers: they compute new parameters from gradients. Each update rule has its own header
// (sgd.h, adam.h); this one has what they share.
//
//   AdamW adam(decay_except(model), {.lr = 1e-3, .weight_decay = 0.1});
//   adam.set_schedule(schedule::cosine({.steps = 1000, .warmup = 50}));
//   for (…) {
//     adam.zero_grad();
//     backward(cross_entropy(model(x), y));
//     adam.step();
//   }
//
// Gradients add up until zero_grad(). A batch of N items that is too large for memory can therefore
// be split: the sum of the parts' mean losses, weighted by n_i/N for n_i items, is the mean of all:
//     for (const Batch& part : parts)
//       backward(cross_entropy(model(part.x), part.labels) * (double(part.labels.count()) / N));
//     adam.step();

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/layers/module.h"
#include "ladon/optim/schedule.h"

namespace ladon {

/// Parameters with their own settings.
struct ParameterGroup {
  ParameterSet parameters;
  double lr_scale = 1;                      ///< Their learning rate is lr·lr_scale.
  std::optional<double> weight_decay = {};  ///< Replaces the optimizer's.
};

/// Groups of parameters that an optimizer updates. A model, a set of parameters, or a list of
/// tensors makes one group.
struct ParameterGroups : std::vector<ParameterGroup> {
  ParameterGroups() = default;
  ParameterGroups(std::vector<ParameterGroup> groups) : vector(std::move(groups)) {}
  ParameterGroups(std::initializer_list<ParameterGroup> groups) : vector(groups) {}
  ParameterGroups(const Module& model) : ParameterGroups(ParameterSet(model)) {}
  ParameterGroups(ParameterSet parameters) : vector{{.parameters = std::move(parameters)}} {}
  ParameterGroups(const std::vector<Tensor>& parameters)
      : ParameterGroups(ParameterSet(parameters)) {}
  ParameterGroups(std::initializer_list<Tensor> parameters)
      : ParameterGroups(ParameterSet(parameters)) {}
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates in place every parameter that has a gradient and is not frozen; the others stay.
  /// Gradients are kept. Calls the at_step of each rewritten gradient (autograd/leaf.h) once, after
  /// its update: a sampler's noise. Throws Error, and changes nothing, if no parameter has a
  /// gradient, if one was replaced by Module::to, if a gradient contains NaN or ∞, or, for rules
  /// that keep squares, an element whose square overflows its dtype (1.8e19 in f32): PyTorch
  /// accepts these, and such a parameter never moves again.
  virtual void step();
  /// Clears the gradients.
  void zero_grad();

  double lr() const { return lr_; }
  /// Throws Error unless lr is finite and ≥ 0.
  void set_lr(double lr);
  /// From now on each step uses the rate lr·factor(number of steps before it). An empty function:
  /// lr alone. The schedule is not part of the state: set it again on a resumed optimizer, which
  /// continues at its step.
  void set_schedule(Schedule factor) { schedule_ = std::move(factor); }
  /// The learning rate of the next step. Throws Error unless the schedule's factor is finite and ≥
  /// 0.
  double rate() const;
  /// Calls of step() so far.
  std::int64_t steps() const { return steps_; }

  /// A copy of all that a resumed run needs besides the parameters: "lr" (f64), "steps" (i64), and
  /// for each parameter "parameter.NAME.steps" and "parameter.NAME.shape" (i64) and, once it was
  /// updated, its moments, such as "parameter.NAME.momentum". NAME is the parameter's name in its
  /// set; its group does not matter. Tensors without names (`Adam({a, b})`,
  /// `Adam(model.parameters())`) are numbered in the order of the set, "parameter.0.steps" (over
  /// all groups, if several have no names): if loaded in another order, their states go to the
  /// wrong tensors unless shapes differ. Throws Error where two parameters have the same name
  /// (ParameterSet::with_prefix renames them). Tensors only: save it with save_safetensors.
  virtual StateDict state_dict() const;
  /// Restores such a state by names; training then continues with the same bits. Throws Error, and
  /// changes nothing, if the state belongs to other parameters, listing those that are missing,
  /// unknown, or of another shape; also for any other entry that is missing, unknown, or of another
  /// shape or dtype. States of version 0.1 number their parameters, and have no entry for those
  /// that were never updated. They load into an optimizer of tensors without names, in the order in
  /// which they were saved.
  virtual void load_state_dict(const StateDict& state);

 protected:
  struct Item {
    std::size_t index;  ///< Index among the parameters of all groups.
    std::string name;   ///< Name in its set.
    Tensor parameter;
    double lr_scale;
    double weight_decay;
    std::uint64_t taken;               ///< Time at which its set was taken (Leaf::check_in_place).
    std::int64_t steps = 0;            ///< Updates so far, this one included.
    std::vector<Tensor> moments = {};  ///< In the order of moment_names; empty before the first
                                       ///< update.
  };

  /// Throws Error if there is no parameter, if one is not a contiguous leaf that requires a
  /// gradient, if one occurs twice, or if a setting is negative or not finite.
  Optimizer(ParameterGroups groups, double lr, double weight_decay,
            std::vector<std::string> moment_names);

  /// Updates one parameter with its (contiguous) gradient; `lr` includes the group's scale.
  virtual void update(Item& item, const Tensor& gradient, double lr) = 0;
  /// Throws Error to refuse a gradient. Called for all parameters before any is changed.
  virtual void check(const Item&, const Tensor&) const {}
  /// Whether moments hold squares of gradients.
  virtual bool squares_gradients() const { return false; }
  /// Moment number `which` of a parameter before its first update; by default zeros of its shape.
  virtual Tensor initial(std::size_t which, const Tensor& parameter) const;
  std::size_t size() const { return items_.size(); }  ///< Number of parameters.
  /// Names of the parameters in states, in the order of Item::index. For a state of version 0.1,
  /// which has no shapes, tensors without names are numbered over all groups. Throws Error naming
  /// `operation` if two parameters have the same name.
  std::vector<std::string> state_names(const char* operation, const StateDict& state = {}) const;

 private:
  void check_ready() const;
  void check_shapes(const StateDict& state, const std::vector<std::string>& names) const;

  std::vector<Item> items_;
  std::vector<std::string> moment_names_;
  double lr_ = 0;
  Schedule schedule_;
  std::int64_t steps_ = 0;
};

/// Whether a parameter is a bias (its name ends in "bias") or has at most one axis (the weights of
/// norms).
bool bias_or_vector(const std::string& name, const Tensor& parameter);
/// The parameters of a model, or of a part of it, in two groups: first those with weight decay,
/// then the spared ones without. An empty group is left out. Throws Error if `spared` is an empty
/// function.
///   AdamW adam(decay_except(model, [](auto& name, auto&) { return name == "embedding.weight"; }));
ParameterGroups decay_except(const ParameterSet& parameters,
                             const ParameterChoice& spared = bias_or_vector);
/// The same with the spared parameters given by patterns of names, each of which must match at
/// least one (ParameterSet::choose).
ParameterGroups decay_except(const ParameterSet& parameters, const std::string& spared);
///   AdamW adam(decay_except(model, {"*.bias", "embedding.weight"}));
ParameterGroups decay_except(const ParameterSet& parameters,
                             std::initializer_list<const char*> spared);

}  // namespace ladon
