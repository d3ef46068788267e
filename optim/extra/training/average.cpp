#include "ladon/optim/extra/training/average.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/machine/warning.h"
#include "ladon/optim/parameters.h"

namespace ladon {
namespace {

/// Tensors that hold an average at present, because a WeightAverage::Scope is alive. Marks on
/// leaves (Leaf::lend) are not enough, since a tensor without history has no leaf, and two leaves
/// may share memory.
std::mutex lent_mutex;
std::vector<Tensor> lent;

void check_not_lent(const ParameterSet& parameters) {
  const std::lock_guard lock(lent_mutex);
  detail::Apart memory;
  std::set<detail::Identity> known;
  for (const Tensor& x : lent) {
    memory.add("", x);
    known.insert(detail::identity(x));
  }
  for (const auto& [name, x] : parameters)
    LADON_CHECK(
        !memory.find(x) && !known.contains(detail::identity(x)), "average", "parameter `", name,
        "` of shape ", x.shape(),
        " temporarily holds the value of a WeightAverage::apply(), perhaps of another average; "
        "end that scope first");
}

}  // namespace

WeightAverage::WeightAverage(const ParameterSet& parameters, WeightAverageOptions options)
    : parameters_(parameters), options_(options) {
  LADON_CHECK(options.decay >= 0 && options.decay <= 1, "average", "decay is ", options.decay,
              "; it must be in [0, 1]");
  LADON_CHECK(!parameters_.empty(), "average",
              "the model has no parameters; at least one is needed");
  detail::check_apart("average", parameters_.distinct());
  for (const auto& [name, x] : parameters_) means_.push_back(zeros(x.shape(), f64));
}

/// Throws Error if a parameter was replaced, or holds an average instead of its own value.
void WeightAverage::check_ready() const {
  parameters_.check_in_place("average");
  LADON_CHECK(applied_.expired(), "average",
              "the parameters temporarily hold the average; end the scope of apply() first");
  parameters_.check_own_values("average");
  check_not_lent(parameters_);
}

void WeightAverage::update() {
  const NoGrad no_grad;
  check_ready();
  ++updates_;
  const double weight = std::max(1 - options_.decay, 1 / static_cast<double>(updates_));
  for (std::size_t i = 0; i < means_.size(); ++i)
    add_(means_[i], cast(parameters_[i].second.detach(), f64) - means_[i], weight);
}

void WeightAverage::write_to(const std::vector<Tensor>& parameters) const {
  LADON_CHECK(updates_ > 0, "average",
              "there is no average before the first update(); call update() after a step");
  const NoGrad no_grad;
  for (std::size_t i = 0; i < means_.size(); ++i)
    detail::check_writable("average", parameters_[i].first, parameters[i]);
  for (std::size_t i = 0; i < means_.size(); ++i) copy_(parameters[i].detach(), means_[i]);
}

void WeightAverage::copy_to(const ParameterSet& theirs) const {
  theirs.check_in_place("average");
  LADON_CHECK(theirs.size() == parameters_.size(), "average",
              "the model must have the parameters of the average: the model has ", theirs.size(),
              " parameters, but the average has ", parameters_.size());
  const std::map<std::string, Tensor> named(theirs.begin(), theirs.end());
  LADON_CHECK(
      named.size() == theirs.size(), "average",
      "two parameters of the model have the same name, but the average identifies parameters by "
      "name; pass each parameter once, with a unique name");
  std::vector<Tensor> to;
  for (const auto& [name, x] : parameters_) {
    const auto at = named.find(name);
    LADON_CHECK(at != named.end(), "average", "the average has `", name, "` of shape ", x.shape(),
                ", but the model has no parameter of that name; the model's first parameter is `",
                theirs[0].first, "`");
    LADON_CHECK(at->second.shape() == x.shape(), "average",
                "shapes must be equal, but the model has `", name, "` of shape ",
                at->second.shape(), " where the average has ", x.shape());
    to.push_back(at->second);
  }
  write_to(to);
}

WeightAverage::Scope::Scope(const WeightAverage& average) : parameters_(average.parameters_) {
  average.check_ready();
  for (const auto& [name, x] : parameters_) before_.push_back(clone(x.detach()));
  try {
    average.write_to(parameters_.tensors());
    for (const auto& [name, x] : parameters_) {
      versions_.push_back(x.storage().version());
      if (Leaf* leaf = Leaf::of(x)) leaf->lend("WeightAverage::apply()");
    }
    average.applied_ = alive_ = std::make_shared<const bool>(true);
    const std::vector<Tensor> all = parameters_.tensors();
    const std::lock_guard lock(lent_mutex);
    lent.insert(lent.end(), all.begin(), all.end());
  } catch (...) {
    give_back();
    throw;
  }
}

void WeightAverage::Scope::give_back() const {
  const NoGrad no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    copy_(parameters_[i].second.detach(), before_[i]);
    if (Leaf* leaf = Leaf::of(parameters_[i].second)) leaf->give_back();
  }
}

WeightAverage::Scope::~Scope() {
  bool edited = false;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    edited = edited || parameters_[i].second.storage().version() != versions_[i];
  give_back();
  {
    const std::lock_guard lock(lent_mutex);
    for (const auto& [name, x] : parameters_)
      lent.erase(std::find_if(lent.begin(), lent.end(), [&, &x = x](const Tensor& y) {
        return detail::identity(x) == detail::identity(y);
      }));
  }
  static std::once_flag said;
  if (edited)
    std::call_once(said, [] {
      detail::warn("average",
                   "parameters were written to while they held an average: these values are lost; "
                   "write to them after the scope of apply()");
    });
}

WeightAverage::Scope WeightAverage::apply() const { return Scope(*this); }

StateDict WeightAverage::state_dict() const {
  StateDict state{{"updates", detail::state_of(updates_)}};
  const std::vector<std::string> names = detail::state_names("state_dict", parameters_);
  for (std::size_t i = 0; i < means_.size(); ++i) state["parameter." + names[i]] = clone(means_[i]);
  return state;
}

void WeightAverage::load_state_dict(const StateDict& state) {
  detail::StateReader reader(state);
  const std::int64_t updates = reader.count("updates");
  const std::vector<std::string> names = detail::state_names("load_state_dict", parameters_);
  const std::set<std::string> known = detail::names_in(state, "parameter.");
  // version 0.1 saved no parameters before the first update
  const bool new_in_0_1 = updates == 0 && known.empty();
  if (!new_in_0_1) detail::check_same_parameters(names, known);
  std::vector<Tensor> means;
  for (std::size_t i = 0; i < means_.size(); ++i)
    means.push_back(
        new_in_0_1 ? zeros_like(means_[i])
                   : clone(reader.entry("parameter." + names[i], f64, means_[i].shape()).detach()));
  reader.finish("this average");
  means_ = std::move(means);
  updates_ = updates;
}

}  // namespace ladon
