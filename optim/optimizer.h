#pragma once
// Optimizers: what turns gradients into new parameters. The rule of each stands in its own header
// (sgd.h, adam.h); what they share stands here.
//
//   AdamW adam(decay_except(model), {.lr = 1e-3, .weight_decay = 0.1});
//   adam.set_schedule(schedule::cosine({.steps = 1000, .warmup = 50}));
//   for (…) {
//     adam.zero_grad();
//     backward(cross_entropy(model(x), y));
//     adam.step();
//   }
//
// Gradients add up until zero_grad(). So a batch of N items that is too large for memory goes
// through in parts, and the parts' means, weighed by their n_i items, are the mean of all:
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

/// Parameters with settings of their own.
struct ParameterGroup {
  ParameterSet parameters;
  double lr_scale = 1;                      ///< Their rate is lr·lr_scale.
  std::optional<double> weight_decay = {};  ///< Instead of the optimizer's.
};

/// Groups of parameters that an optimizer updates. A model's, a set of them, or tensors alone are
/// one group.
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

  /// Updates every parameter that has a gradient and is not frozen, in place; the others stay.
  /// Gradients are kept. Runs the at_step of each rewritten gradient (autograd/leaf.h) once, after
  /// its update: a sampler's noise. Throws Error, and changes nothing, if no parameter has a
  /// gradient, one was replaced by Module::to, or a gradient holds NaN or ∞, or an element whose
  /// square is beyond its dtype where the rule keeps squares (1.8e19 in f32): PyTorch takes those,
  /// and such a parameter never moves again.
  virtual void step();
  /// Clears the gradients.
  void zero_grad();

  double lr() const { return lr_; }
  /// Throws Error unless lr is finite and ≥ 0.
  void set_lr(double lr);
  /// From now on each step takes lr·factor(steps made before it). An empty function: lr alone. It
  /// is no part of the state: a resumed optimizer is given it anew, and goes on at its step.
  void set_schedule(Schedule factor) { schedule_ = std::move(factor); }
  /// The rate of the next step. Throws Error unless the schedule's factor is finite and ≥ 0.
  double rate() const;
  /// Calls of step() so far.
  std::int64_t steps() const { return steps_; }

  /// A copy of all that a resumed run needs beside the parameters: "lr" (f64), "steps" (i64), and
  /// for each parameter "parameter.NAME.steps" and "parameter.NAME.shape" (i64) and, once it was
  /// updated, its moments, such as "parameter.NAME.momentum". NAME is the parameter's name in its
  /// set; its group does not matter. Tensors without names (`Adam({a, b})`,
  /// `Adam(model.parameters())`) are numbered by their place in the set, "parameter.0.steps" (over
  /// all groups, if several have none): loaded into another order, their states go to the wrong
  /// tensors unless shapes differ. Throws Error where two parameters have one name
  /// (ParameterSet::with_prefix gives others). Tensors only: save it with save_safetensors.
  virtual StateDict state_dict() const;
  /// Restores such a state, by names; training then continues with the same bits. Throws Error, and
  /// changes nothing, where the state is of other parameters: it lists those that are missing, not
  /// known here, or of another shape. Also for an entry that is missing, unknown, or of another
  /// shape or dtype. States of version 0.1 number their parameters, and have no entry for those
  /// that were never updated. They load into an optimizer of tensors without names, in the same
  /// order as when they were saved.
  virtual void load_state_dict(const StateDict& state);

 protected:
  struct Item {
    std::size_t index;  ///< Its place among the parameters of all groups.
    std::string name;   ///< In its set.
    Tensor parameter;
    double lr_scale;
    double weight_decay;
    std::uint64_t taken;               ///< Time at which its set was taken (Leaf::check_in_place).
    std::int64_t steps = 0;            ///< Updates so far, this one included.
    std::vector<Tensor> moments = {};  ///< As named; `initial` before the first update.
  };

  /// Throws Error if there is no parameter, one is not a contiguous leaf that requires a gradient,
  /// one comes twice, or a setting is negative or not finite.
  Optimizer(ParameterGroups groups, double lr, double weight_decay,
            std::vector<std::string> moment_names);

  /// Updates one parameter with its (contiguous) gradient; `lr` already has the group's scale.
  virtual void update(Item& item, const Tensor& gradient, double lr) = 0;
  /// Throws Error to refuse a gradient. Asked of all of them before anything is changed.
  virtual void check(const Item&, const Tensor&) const {}
  /// Whether moments hold squares of gradients.
  virtual bool squares_gradients() const { return false; }
  /// Moment `which` of a parameter before its first update: zeros like it.
  virtual Tensor initial(std::size_t which, const Tensor& parameter) const;
  std::size_t size() const { return items_.size(); }  ///< Number of parameters.
  /// Names of the parameters in states, in the order of Item::index; in a state of version 0.1,
  /// which has no shapes, tensors without names are numbered over all groups. Throws Error of
  /// `operation` where two have one name.
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

/// Biases (names that end in "bias") and what has at most one axis (the weights of norms).
bool bias_or_vector(const std::string& name, const Tensor& parameter);
/// Parameters, of a model or of a part of it, in two groups: first those that weight decay is for,
/// then those it spares. A group that would be empty is left out. Throws Error if `spared` is
/// empty.
///   AdamW adam(decay_except(model, [](auto& name, auto&) { return name == "embedding.weight"; }));
ParameterGroups decay_except(const ParameterSet& parameters,
                             const ParameterChoice& spared = bias_or_vector);
/// The spared ones by patterns of their names, each of which must match one (ParameterSet::choose).
ParameterGroups decay_except(const ParameterSet& parameters, const std::string& spared);
///   AdamW adam(decay_except(model, {"*.bias", "embedding.weight"}));
ParameterGroups decay_except(const ParameterSet& parameters,
                             std::initializer_list<const char*> spared);

}  // namespace ladon
