#include "ladon/optim/parameters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/core/error.h"

namespace ladon::detail {
namespace {

/// Marks the parameters that need new numbers in a state: all unnamed tensors, if two sets of them,
/// each numbered "0", "1", …, share a number. No parameter is marked if a name is a number that
/// does not continue such a sequence.
std::vector<bool> to_be_numbered(const ParameterSet& parameters) {
  std::vector<bool> alone;
  std::set<std::string> known;
  bool meet = false, part = false;
  std::size_t next = 0;  // next number expected in a set of unnamed tensors
  for (const auto& [name, x] : parameters) {
    if (name == "0") next = 0;
    alone.push_back(name == std::to_string(next));
    next = alone.back() ? next + 1 : 0;
    part = part || (is_place(name) && !alone.back());
    meet = meet || (!known.insert(name).second && alone.back());
  }
  return meet && !part ? alone : std::vector<bool>(alone.size(), false);
}

/// Text that lists at most eight of the names, and says how many more there are: "`a`, `b`, … and 3
/// more".
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 8; ++i)
    text += (i == 0 ? "`" : ", `") + names[i] + "`";
  return names.size() > 8 ? join(text, " and ", names.size() - 8, " more") : text;
}

}  // namespace

bool is_place(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

std::vector<std::string> state_names(const char* operation, const ParameterSet& parameters) {
  const std::vector<bool> places = to_be_numbered(parameters);
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const auto& [name, x] : parameters) {
    names.push_back(places[names.size()] ? std::to_string(names.size()) : name);
    LADON_CHECK(known.insert(names.back()).second, operation, "two parameters are named `", name,
                "`, but states identify parameters by name; rename those of one model: "
                "model.named_parameters().with_prefix(\"decoder.\")");
  }
  return names;
}

std::set<std::string> names_in(const StateDict& state, const std::string& prefix,
                               const std::string& ending) {
  std::set<std::string> names;
  for (const auto& [key, x] : state)
    if (key.size() > prefix.size() + ending.size() && key.starts_with(prefix) &&
        key.ends_with(ending))
      names.insert(key.substr(prefix.size(), key.size() - prefix.size() - ending.size()));
  return names;
}

std::set<std::string> parameters_of(const StateDict& state, const std::vector<std::string>& names) {
  std::set<std::string> known = names_in(state, "parameter.", ".steps");
  const bool of_0_1 = names_in(state, "parameter.", ".shape").empty();
  if (of_0_1 && std::all_of(names.begin(), names.end(), is_place))
    known.insert(names.begin(), names.end());
  return known;
}

void check_same_parameters(const std::vector<std::string>& names,
                           const std::set<std::string>& in_state) {
  const std::set<std::string> own(names.begin(), names.end());
  std::vector<std::string> missing, surplus;
  for (const std::string& name : names)
    if (!in_state.contains(name)) missing.push_back(name);
  for (const std::string& name : in_state)
    if (!own.contains(name)) surplus.push_back(name);
  if (missing.empty() && surplus.empty()) return;
  const bool numbered = std::all_of(surplus.begin(), surplus.end(), is_place);
  fail("load_state_dict", "the state belongs to other parameters:",
       missing.empty() ? "" : " it lacks " + listed(missing),
       missing.empty() || surplus.empty() ? "" : ", and",
       surplus.empty() ? "" : " it has " + listed(surplus) + ", not known to this optimizer",
       !surplus.empty() && numbered
           ? "; states of version 0.1, and of optimizers made from tensors without names, number "
             "their parameters: load them into an optimizer of model.parameters(), or rename "
             "\"parameter.0.…\" to the parameters' names"
           : "");
}

void check_parameters(const ParameterSet& parameters) {
  LADON_CHECK(!parameters.empty(), "optimizer",
              "there is no parameter to optimize; pass at least one");
  std::map<const detail::Node*, std::string> seen;
  for (const auto& [name, x] : parameters) {
    LADON_CHECK(x.defined() && x.history(), "optimizer", "parameter ", name,
                " does not require a gradient; create it with parameter(x)");
    LADON_CHECK(x.contiguous(), "optimizer", "parameter ", name, " of shape ", x.shape(),
                " is not contiguous (strides ", x.strides(), "); use parameter(contiguous(x))");
    LADON_CHECK(Leaf::of(x), "optimizer", "parameter ", name, " is the result of `",
                x.history()->operation(),
                "`, but only leaves keep a gradient; pass the parameters that it was computed "
                "from");
    const auto [first, is_new] = seen.emplace(x.history().get(), name);
    LADON_CHECK(is_new, "optimizer", "parameters ", first->second, " and ", name,
                " are the same tensor, which would be updated twice per step; pass it once");
  }
  check_apart("optimizer", parameters);
}

void check_apart(const char* operation, const ParameterSet& parameters) {
  Apart memory;
  for (const auto& [name, x] : parameters) {
    const std::string* other = memory.add(name, x);
    LADON_CHECK(!other, operation, "parameters ", *other, " and ", name,
                " are two tensors that share memory, so an update of one changes the other; make "
                "them one tensor (share_with), or clone() one");
  }
}

Tensor gradient_row(const char* operation, const Tensor& value, const ParameterSet& set,
                    const Tensor& cotangent) {
  std::vector<Tensor> gradients(set.size()), trained;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i].second.requires_grad()) {
      trained.push_back(set[i].second);
      places.push_back(i);
    }
  GradOptions options{.allow_unused = true};
  if (cotangent.defined()) options.cotangents = {cotangent};
  const std::vector<Tensor> found = trained.empty() || !value.requires_grad()
                                        ? std::vector<Tensor>(trained.size())
                                        : grad({value}, trained, options);
  const bool reached = std::ranges::any_of(found, &Tensor::defined);
  LADON_CHECK(reached || trained.empty(), operation,
              "the function's value depends on none of the parameters; compute it from them, "
              "without NoGrad, and not from a clone of the model");
  for (std::size_t k = 0; k < places.size(); ++k) gradients[places[k]] = found[k];
  return set.to_row(gradients);
}

void check_not_negative(const char* operation, const char* name, double value) {
  LADON_CHECK(std::isfinite(value) && value >= 0, operation, name, " is ", value,
              "; it must be finite and at least 0");
}

void check_fraction(const char* operation, const char* name, double value) {
  LADON_CHECK(value >= 0 && value < 1, operation, name, " is ", value, "; it must be in [0, 1)");
}

}  // namespace ladon::detail
