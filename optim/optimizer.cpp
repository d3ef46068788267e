#include "ladon/optim/optimizer.h"

#include <cmath>
#include <limits>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reductions/moments.h"
#include "ladon/optim/parameters.h"

namespace ladon {
namespace {

std::string entry(const std::string& parameter, const std::string& what) {
  return "parameter." + parameter + "." + what;
}

Tensor state_of(const Shape& shape) {
  return from_vector(std::vector<std::int64_t>(shape.begin(), shape.end()), {shape.rank()});
}

/// Whether a moment of this name is a sum or a mean of squares, so that steps take its square root.
bool of_squares(const std::string& moment) {
  return moment.starts_with("second_moment") || moment == "largest_second" ||
         moment == "sum_of_squares";
}

/// g without history and tangent, which gradients may have (create_graph, jvp).
Tensor plain(Tensor g) {
  if (g.history() || g.tangent()) return g.detach();
  return g;
}

/// Throws Error unless all elements of the gradient are finite and, if `squared`, their squares are
/// finite too: ∞ in a moment would stop the parameter from ever changing again.
void check_range(const std::string& name, const Tensor& gradient, bool squared) {
  const double largest = gradient.dtype() == f32 ? std::numeric_limits<float>::max()
                                                 : std::numeric_limits<double>::max();
  const double bound = squared ? std::sqrt(largest) : largest;
  if (kernels::all_within(gradient, -bound, bound)) return;
  const double worst = number_of("step", amax(abs(gradient)));
  const auto whose = [&] {
    return detail::join("the gradient of parameter ", name, " (", gradient.dtype(), " ",
                        gradient.shape(), ")");
  };
  LADON_CHECK(std::isfinite(worst), "step", whose(), " is not finite (", worst,
              "), and no parameter was changed; DetectAnomaly finds the operation that made it so");
  detail::fail(
      "step", whose(), " has an element of size ", worst,
      ", whose square overflows its dtype, and no parameter was changed; call clip_grad_norm() "
      "first, or scale the loss");
}

}  // namespace

Optimizer::Optimizer(ParameterGroups groups, double lr, double weight_decay,
                     std::vector<std::string> moment_names)
    : moment_names_(std::move(moment_names)) {
  set_lr(lr);
  detail::check_not_negative("optimizer", "weight_decay", weight_decay);
  ParameterSet all;
  for (const ParameterGroup& group : groups) {
    detail::check_not_negative("optimizer", "lr_scale", group.lr_scale);
    const double decay = group.weight_decay.value_or(weight_decay);
    detail::check_not_negative("optimizer", "a group's weight_decay", decay);
    for (const auto& [name, x] : group.parameters) {
      items_.push_back({items_.size(), name, x, group.lr_scale, decay, group.parameters.taken()});
      all.emplace_back(name, x);
    }
  }
  detail::check_parameters(all);
}

void Optimizer::check_ready() const {
  bool any = false;
  for (const Item& item : items_) {
    const Leaf& leaf = *Leaf::of(item.parameter);
    leaf.check_in_place("step", item.taken);
    leaf.check_own_value("step");
    any = any || (!leaf.frozen() && leaf.gradient().defined());
  }
  LADON_CHECK(any, "step", "none of the ", items_.size(),
              " parameters has a gradient; call backward() on a loss that depends on them, after "
              "zero_grad() and before step()");
  for (const Item& item : items_)
    if (const Tensor g = plain(item.parameter.grad()); g.defined()) {
      check_range(item.name, g, squares_gradients());
      check(item, g);
    }
}

Tensor Optimizer::initial(std::size_t, const Tensor& parameter) const {
  return zeros_like(parameter);
}

void Optimizer::step() {
  NoGrad no_grad;
  check_ready();
  const double scheduled = rate();
  ++steps_;
  for (Item& item : items_) {
    Leaf& leaf = *Leaf::of(item.parameter);
    if (leaf.frozen()) continue;
    const Tensor gradient = plain(leaf.gradient());
    if (!gradient.defined()) continue;
    if (item.moments.empty())
      for (std::size_t i = 0; i < moment_names_.size(); ++i)
        item.moments.push_back(initial(i, item.parameter));
    ++item.steps;
    const double rate = scheduled * item.lr_scale;
    update(item, gradient.contiguous() ? gradient : kernels::contiguous(gradient), rate);
    if (const auto at_step = leaf.use()) at_step(rate);
  }
}

void Optimizer::zero_grad() {
  for (Item& item : items_) item.parameter.set_grad(Tensor());
}

void Optimizer::set_lr(double lr) {
  detail::check_not_negative("optimizer", "lr", lr);
  lr_ = lr;
}

double Optimizer::rate() const {
  const double factor = schedule_ ? schedule_(steps_) : 1;
  detail::check_not_negative("optimizer", "the schedule's factor", factor);
  return lr_ * factor;
}

std::vector<std::string> Optimizer::state_names(const char* operation,
                                                const StateDict& state) const {
  const bool old = !state.empty() && detail::names_in(state, "parameter.", ".shape").empty();
  ParameterSet all;
  for (const Item& item : items_)
    all.emplace_back(old && detail::is_place(item.name) ? std::to_string(item.index) : item.name,
                     item.parameter);
  return detail::state_names(operation, all);
}

StateDict Optimizer::state_dict() const {
  StateDict state{{"lr", scalar(lr_, f64)}, {"steps", detail::state_of(steps_)}};
  const std::vector<std::string> names = state_names("state_dict");
  for (const Item& item : items_) {
    const std::string& name = names[item.index];
    state[entry(name, "steps")] = detail::state_of(item.steps);
    state[entry(name, "shape")] = state_of(item.parameter.shape());
    for (std::size_t j = 0; j < item.moments.size(); ++j)
      state[entry(name, moment_names_[j])] = kernels::clone(item.moments[j]);
  }
  return state;
}

/// Throws an Error listing the parameters whose shapes differ from their shapes in the state, if
/// the state has shapes.
void Optimizer::check_shapes(const StateDict& state, const std::vector<std::string>& names) const {
  const bool has_shapes = !detail::names_in(state, "parameter.", ".shape").empty();
  std::string misfits;
  for (const Item& item : items_) {
    const auto at = state.find(entry(names[item.index], "shape"));
    LADON_CHECK(!has_shapes || at != state.end(), "load_state_dict", "the state has no entry \"",
                entry(names[item.index], "shape"), "\", but it has shapes of other parameters");
    if (at == state.end() || !at->second.defined() || at->second.dtype() != i64) continue;
    const std::vector<std::int64_t> sizes = at->second.to_vector<std::int64_t>();
    if (Shape(sizes) == item.parameter.shape()) continue;
    misfits += detail::join(misfits.empty() ? "" : ", ", "`", names[item.index], "` has shape ",
                            Shape(sizes), " in the state and ", item.parameter.shape(), " here");
  }
  LADON_CHECK(misfits.empty(), "load_state_dict",
              "the state belongs to other parameters: ", misfits);
}

void Optimizer::load_state_dict(const StateDict& state) {
  detail::StateReader reader(state);
  const double lr = reader.number("lr");
  detail::check_not_negative("optimizer", "lr", lr);
  const std::int64_t steps = reader.count("steps");
  const std::vector<std::string> names = state_names("load_state_dict", state);
  detail::check_same_parameters(names, detail::parameters_of(state, names));
  check_shapes(state, names);
  std::vector<Item> items;
  for (const Item& present : items_) {
    const std::string& name = names[present.index];
    Item item = present;
    const std::string count = entry(name, "steps");
    item.steps = reader.has(count) ? reader.count(count) : 0;  // states of version 0.1 may lack it
    item.moments.clear();
    if (const std::string shape = entry(name, "shape"); reader.has(shape))
      reader.entry(shape, i64, {item.parameter.rank()});
    for (std::size_t j = 0; j < moment_names_.size() && item.steps > 0; ++j) {
      const Tensor like = initial(j, item.parameter);
      const Tensor& moment =
          reader.entry(entry(name, moment_names_[j]), like.dtype(), like.shape());
      LADON_CHECK(!of_squares(moment_names_[j]) || moment.count() == 0 ||
                      number_of("load_state_dict", amin(moment.detach())) >= 0,
                  "load_state_dict", "\"", entry(name, moment_names_[j]),
                  "\" has a negative or NaN element, but as a sum or mean of squares it must be at "
                  "least 0");
      reader.refuse_nan(entry(name, moment_names_[j]));
      item.moments.push_back(kernels::clone(moment.detach()));
    }
    items.push_back(std::move(item));
  }
  reader.finish(detail::join("this optimizer (", items_.size(), " parameters)"));
  items_ = std::move(items);
  steps_ = steps;
  lr_ = lr;
}

bool bias_or_vector(const std::string& name, const Tensor& parameter) {
  return name.ends_with("bias") || parameter.rank() <= 1;
}

namespace {

/// Two groups: first all parameters except `spared`, then `spared` without weight decay.
ParameterGroups groups_of(const ParameterSet& all, const ParameterSet& spared) {
  const ParameterSet decayed = all.except(spared);
  ParameterGroups groups;
  if (!decayed.empty()) groups.push_back({.parameters = decayed});
  if (!spared.empty()) groups.push_back({.parameters = spared, .weight_decay = 0});
  return groups;
}

}  // namespace

ParameterGroups decay_except(const ParameterSet& parameters, const ParameterChoice& spared) {
  LADON_CHECK(static_cast<bool>(spared), "decay_except",
              "`spared` is an empty function; pass one that returns true for parameters without "
              "weight decay");
  return groups_of(parameters, parameters.choose(spared));
}

ParameterGroups decay_except(const ParameterSet& parameters, const std::string& spared) {
  return groups_of(parameters, parameters.choose(spared));
}

ParameterGroups decay_except(const ParameterSet& parameters,
                             std::initializer_list<const char*> spared) {
  return groups_of(parameters, parameters.choose(spared));
}

}  // namespace ladon
