#pragma once
// Base class of optimizers, which update parameters from their gradients, and groups of parameters.
// Each update rule has its own header (sgd.h, adam.h).
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
// be split into parts: the mean loss of a part of n_i items, weighted by n_i/N and summed over the
// parts, is the mean loss of the batch:
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

/// Parameters with a learning-rate factor and a weight decay that differ from the optimizer's.
struct ParameterGroup {
  ParameterSet parameters;
  double lr_scale = 1;                      ///< The group's learning rate is lr·lr_scale.
  std::optional<double> weight_decay = {};  ///< Overrides the optimizer's weight decay.
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

  /// Updates in place every parameter that has a gradient and is not frozen. Gradients are kept
  /// until zero_grad(). If a particle method has rewritten a gradient and needs noise, that noise
  /// is added to the parameter after its update (Rewrite::at_step, autograd/leaf.h). Throws Error,
  /// and changes nothing, if no parameter has a gradient, if a parameter was replaced by
  /// Module::to, if a gradient contains NaN or ∞, or, for update rules that keep squared gradients,
  /// if the square of an element overflows its dtype (above 1.8e19 in f32): PyTorch accepts such
  /// gradients, and the parameter never moves again.
  virtual void step();
  /// Clears the gradients of all parameters.
  void zero_grad();

  double lr() const { return lr_; }
  /// Throws Error unless lr is finite and ≥ 0.
  void set_lr(double lr);
  /// Makes each later step use the rate lr·factor(number of steps before it); an empty function
  /// means factor 1. The schedule is not part of the saved state: set it again on a resumed
  /// optimizer, which continues the schedule at its saved number of steps.
  void set_schedule(Schedule factor) { schedule_ = std::move(factor); }
  /// The learning rate of the next step, including the schedule. Throws Error unless the schedule's
  /// factor is finite and ≥ 0.
  double rate() const;
  /// Number of calls of step() so far.
  std::int64_t steps() const { return steps_; }

  /// A copy of the optimizer's state, which a resumed run needs in addition to the parameters: "lr"
  /// (f64), "steps" (i64), and for each parameter "parameter.NAME.steps" and "parameter.NAME.shape"
  /// (i64) and, once it was updated, its moments, such as "parameter.NAME.momentum". NAME is the
  /// parameter's name in its set; its group does not matter. Tensors without names (`Adam({a, b})`,
  /// `Adam(model.parameters())`) are numbered in the order of the set, "parameter.0.steps" (if
  /// several groups have no names, the numbers run over all groups): loaded in another order, the
  /// states go to the wrong tensors, which is an Error only if shapes differ. Throws Error if two
  /// parameters have the same name (ParameterSet::with_prefix renames them). All entries are
  /// tensors, so save_safetensors can save the state.
  virtual StateDict state_dict() const;
  /// Restores a state from state_dict() by parameter names; training then continues bit for bit.
  /// Throws Error, and changes nothing, if the state belongs to other parameters (the message lists
  /// those that are missing, unknown, or of another shape), and for any other entry that is
  /// missing, unknown, or of another shape or dtype. States of version 0.1 number their parameters
  /// and have no entry for parameters that were never updated; they load into an optimizer of
  /// tensors without names, given in the order in which they were saved.
  virtual void load_state_dict(const StateDict& state);

 protected:
  struct Item {
    std::size_t index;  ///< Index among the parameters of all groups.
    std::string name;   ///< Name in its ParameterSet.
    Tensor parameter;
    double lr_scale;
    double weight_decay;
    std::uint64_t taken;     ///< When the parameter's set was made: ParameterSet::taken().
    std::int64_t steps = 0;  ///< Number of updates so far, including the one in progress.
    std::vector<Tensor> moments = {};  ///< In the order of moment_names; empty before the first
                                       ///< update.
  };

  /// Throws Error if there is no parameter, if a parameter is not a contiguous leaf that requires a
  /// gradient, if a parameter occurs twice, if two parameters share memory, or if lr, a weight
  /// decay or an lr_scale is negative or not finite.
  Optimizer(ParameterGroups groups, double lr, double weight_decay,
            std::vector<std::string> moment_names);

  /// Updates one parameter with its (contiguous) gradient; `lr` includes the schedule's factor and
  /// the group's lr_scale.
  virtual void update(Item& item, const Tensor& gradient, double lr) = 0;
  /// Override to throw Error for a gradient that the update rule cannot use. Called for all
  /// parameters before any parameter is changed.
  virtual void check(const Item&, const Tensor&) const {}
  /// Whether the moments include squared gradients, so that step() checks squares for overflow.
  virtual bool squares_gradients() const { return false; }
  /// Initial value of a parameter's moment moment_names[which]; by default zeros of its shape.
  virtual Tensor initial(std::size_t which, const Tensor& parameter) const;
  std::size_t size() const { return items_.size(); }  ///< Number of parameters.
  /// Names of the parameters as keys of a state, in the order of Item::index. For a `state` of
  /// version 0.1, recognized by its lack of shapes, tensors without names are numbered over all
  /// groups. Throws Error naming `operation` if two parameters have the same name.
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

/// Whether a parameter is a bias (its name ends in "bias") or has at most one axis, as the weights
/// of LayerNorm have.
bool bias_or_vector(const std::string& name, const Tensor& parameter);
/// Splits parameters into two groups: first those with the optimizer's weight decay, then those
/// without weight decay, for which spared(name, parameter) is true. An empty group is left out.
/// Throws Error if `spared` is an empty function.
///   AdamW adam(decay_except(model, [](auto& name, auto&) { return name == "embedding.weight"; }));
ParameterGroups decay_except(const ParameterSet& parameters,
                             const ParameterChoice& spared = bias_or_vector);
/// Splits parameters into two groups, with and without weight decay, like the decay_except() that
/// takes a function. The parameters without weight decay are those whose names match the pattern
/// `spared`, which must match at least one parameter (ParameterSet::choose).
ParameterGroups decay_except(const ParameterSet& parameters, const std::string& spared);
/// Like the decay_except() that takes one pattern, with several patterns, each of which must match
/// at least one parameter.
///   AdamW adam(decay_except(model, {"*.bias", "embedding.weight"}));
ParameterGroups decay_except(const ParameterSet& parameters,
                             std::initializer_list<const char*> spared);

}  // namespace ladon
