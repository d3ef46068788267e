#include "ladon/optim/optimizer.h"

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon {
namespace {

void check_setting(const char* name, double value) {
  LADON_CHECK(std::isfinite(value) && value >= 0, "optimizer", name, " is ", value,
              "; it must be finite and at least 0");
}

std::string entry(std::size_t index, const std::string& name) {
  return detail::join("parameter.", index, ".", name);
}

/// The entry of that name, of the shape and dtype of `like`.
const Tensor& checked_entry(const StateDict& state, const std::string& name, const Tensor& like) {
  const auto at = state.find(name);
  LADON_CHECK(at != state.end(), "load_state_dict", "the state has no \"", name, "\"");
  const Tensor& x = at->second;
  LADON_CHECK(x.defined() && x.shape() == like.shape() && x.dtype() == like.dtype(),
              "load_state_dict", "\"", name, "\" is ", x.dtype(), " of shape ", x.shape(),
              ", expected ", like.dtype(), " of shape ", like.shape());
  return x;
}

std::int64_t checked_steps(const StateDict& state, const std::string& name) {
  const auto steps = checked_entry(state, name, scalar(0, i64)).item<std::int64_t>();
  LADON_CHECK(steps >= 0, "load_state_dict", "\"", name, "\" is ", steps,
              "; it must be at least 0");
  return steps;
}

}  // namespace

Optimizer::Optimizer(std::vector<ParameterGroup> groups, double lr, double weight_decay,
                     std::vector<std::string> moment_names)
    : moment_names_(std::move(moment_names)) {
  set_lr(lr);
  check_setting("weight_decay", weight_decay);
  for (const ParameterGroup& group : groups) {
    check_setting("lr_scale", group.lr_scale);
    check_setting("a group's weight_decay", group.weight_decay.value_or(0));
    for (const Tensor& x : group.parameters)
      add(x, group.lr_scale, group.weight_decay.value_or(weight_decay));
  }
  LADON_CHECK(!items_.empty(), "optimizer", "there is no parameter to optimize");
}

void Optimizer::add(const Tensor& x, double lr_scale, double weight_decay) {
  LADON_CHECK(x.defined() && x.requires_grad(), "optimizer", "parameter ", items_.size(),
              " requires no gradient; make it with parameter(x)");
  LADON_CHECK(x.contiguous(), "optimizer", "parameter ", items_.size(), " of shape ", x.shape(),
              " is not contiguous (strides ", x.strides(), ")");
  Tensor(x).set_requires_grad();  // Error for the result of an operation: it keeps no gradient
  for (std::size_t i = 0; i < items_.size(); ++i)
    LADON_CHECK(items_[i].parameter.history() != x.history(), "optimizer", "parameters ", i,
                " and ", items_.size(), " are the same tensor; it would be updated twice a step");
  items_.push_back({items_.size(), x, lr_scale, weight_decay});
}

void Optimizer::check_ready() const {
  bool any = false;
  for (const Item& item : items_) {
    Leaf::of(item.parameter)->check_in_place("step");
    any = any || item.parameter.grad().defined();
  }
  LADON_CHECK(
      any, "step", "none of the ", items_.size(),
      " parameters has a gradient; call backward() on a loss of them, after zero_grad() and "
      "before step()");
  for (const Item& item : items_)
    if (const Tensor g = item.parameter.grad(); g.defined()) check(item, g.detach());
}

Tensor Optimizer::initial(std::size_t, const Tensor& parameter) const {
  return zeros_like(parameter);
}

void Optimizer::step() {
  NoGrad no_grad;
  check_ready();
  ++steps_;
  for (Item& item : items_) {
    const Tensor gradient = item.parameter.grad();
    if (!gradient.defined()) continue;
    if (item.moments.empty())
      for (std::size_t i = 0; i < moment_names_.size(); ++i)
        item.moments.push_back(initial(i, item.parameter));
    ++item.steps;
    const double rate = lr_ * item.lr_scale;
    update(item, kernels::contiguous(gradient.detach()), rate);
    if (const auto at_step = Leaf::of(item.parameter)->take_at_step()) at_step(rate);
  }
}

void Optimizer::zero_grad() {
  for (Item& item : items_) item.parameter.set_grad(Tensor());
}

void Optimizer::set_lr(double lr) {
  check_setting("lr", lr);
  lr_ = lr;
}

StateDict Optimizer::state_dict() const {
  StateDict state{{"lr", scalar(lr_, f64)}, {"steps", scalar(double(steps_), i64)}};
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].steps == 0) continue;
    state[entry(i, "steps")] = scalar(double(items_[i].steps), i64);
    for (std::size_t j = 0; j < moment_names_.size(); ++j)
      state[entry(i, moment_names_[j])] = kernels::clone(items_[i].moments[j]);
  }
  return state;
}

void Optimizer::load_state_dict(const StateDict& state) {
  const double lr = checked_entry(state, "lr", scalar(0, f64)).item();
  check_setting("lr", lr);
  const std::int64_t steps = checked_steps(state, "steps");
  std::vector<Item> items;
  std::size_t used = 2;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& present = items_[i];
    Item item{i, present.parameter, present.lr_scale, present.weight_decay};
    if (state.contains(entry(i, "steps"))) {
      item.steps = checked_steps(state, entry(i, "steps"));
      for (std::size_t j = 0; j < moment_names_.size(); ++j) {
        const Tensor like = initial(j, item.parameter);
        item.moments.push_back(
            kernels::clone(checked_entry(state, entry(i, moment_names_[j]), like).detach()));
      }
      used += 1 + moment_names_.size();
    }
    items.push_back(std::move(item));
  }
  LADON_CHECK(used == state.size(), "load_state_dict", "the state has ", state.size(),
              " entries, of which this optimizer (", items_.size(), " parameters) knows ", used);
  items_ = std::move(items);
  steps_ = steps;
  lr_ = lr;
}

std::vector<ParameterGroup> one_group(std::vector<Tensor> parameters) {
  return {ParameterGroup{.parameters = std::move(parameters)}};
}

}  // namespace ladon
