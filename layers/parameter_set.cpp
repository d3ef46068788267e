#include "ladon/layers/parameter_set.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/core/levels.h"
#include "ladon/layers/module.h"

namespace ladon {
namespace {

/// Shape of the piece of `rows` [.., count] that holds one parameter of shape `shape`: the leading
/// axes of `rows`, then `shape`.
Shape after(const Shape& rows, const Shape& shape) {
  Shape y;
  for (int axis = 0; axis + 1 < rows.rank(); ++axis) y.append(rows[axis]);
  for (const std::int64_t size : shape) y.append(size);
  return y;
}

/// Cuts rows of the parameters [begin, end) of a set by repeated halving, which saves time in
/// backward: the gradient of a slice is as wide as the tensor it was cut from.
void cut(const ParameterSet& set, std::size_t begin, std::size_t end, const Tensor& rows,
         std::vector<Tensor>& pieces) {
  if (end - begin == 1) {
    const Tensor& x = set[begin].second;
    pieces.push_back(cast(reshape(rows, after(rows.shape(), x.shape())), x.dtype()));
    return;
  }
  const std::size_t middle = (begin + end) / 2;
  std::int64_t left = 0;
  for (std::size_t i = begin; i < middle; ++i) left += set[i].second.count();
  cut(set, begin, middle, slice(rows, -1, {.stop = left}), pieces);
  cut(set, middle, end, slice(rows, -1, {.start = left}), pieces);
}

}  // namespace

detail::Identity detail::identity(const Tensor& x) {
  const auto address = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at); };
  if (x.history()) return {address(x.history().get())};
  Identity key{address(x.storage().bytes()), static_cast<std::uint64_t>(x.offset()),
               address(x.tangent().get())};
  for (const mapped::Level& level : x.levels()) key.push_back(level.call);
  for (int axis = 0; axis < x.rank(); ++axis)
    for (const std::int64_t number : {x.shape()[axis], x.strides()[axis]})
      key.push_back(static_cast<std::uint64_t>(number));
  return key;
}

namespace {

/// The range of bytes of x's elements; empty if x is not contiguous.
std::pair<const std::byte*, const std::byte*> bytes_of(const Tensor& x) {
  if (!x.contiguous() || x.count() == 0 || !x.levels().none()) return {nullptr, nullptr};
  const std::size_t size = item_size(x.dtype());
  const std::byte* begin = x.storage().bytes() + static_cast<std::size_t>(x.offset()) * size;
  return {begin, begin + static_cast<std::size_t>(x.count()) * size};
}

}  // namespace

const std::string* detail::Apart::find(const Tensor& x) const {
  const auto [begin, end] = bytes_of(x);
  const auto next = taken_.lower_bound(begin);
  if (next != taken_.end() && next->first < end) return &next->second.second;
  if (next == taken_.begin() || std::prev(next)->second.first <= begin) return nullptr;
  return &std::prev(next)->second.second;
}

const std::string* detail::Apart::add(const std::string& name, const Tensor& x) {
  if (const std::string* other = find(x)) return other;
  const auto [begin, end] = bytes_of(x);
  if (begin != end) taken_.emplace(begin, std::pair(end, name));
  return nullptr;
}

bool matches_name(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

ParameterSet::ParameterSet(const Module& model) : ParameterSet(model.named_parameters()) {}

ParameterSet::ParameterSet(const std::vector<Tensor>& tensors) {
  for (const Tensor& x : tensors) emplace_back(std::to_string(size()), x);
}

std::vector<Tensor> ParameterSet::tensors() const {
  std::vector<Tensor> tensors;
  for (const auto& [name, x] : *this) tensors.push_back(x);
  return tensors;
}

ParameterSet ParameterSet::with_prefix(const std::string& prefix) const {
  ParameterSet named = *this;
  for (auto& [name, x] : named) name = prefix + name;
  return named;
}

// --- subsets ---

ParameterSet ParameterSet::distinct() const {
  return choose([](const std::string&, const Tensor&) { return true; });
}

ParameterSet ParameterSet::choose(const ParameterChoice& choice) const {
  LADON_CHECK(static_cast<bool>(choice), "choose", "the choice is an empty function");
  ParameterSet chosen;
  chosen.taken_ = taken_;
  std::set<detail::Identity> known;
  for (const auto& [name, x] : *this)
    if (choice(name, x) && known.insert(detail::identity(x)).second) chosen.emplace_back(name, x);
  return chosen;
}

ParameterSet ParameterSet::choose(const std::string& pattern) const {
  ParameterSet chosen =
      choose([&](const std::string& name, const Tensor&) { return matches_name(pattern, name); });
  LADON_CHECK(!chosen.empty(), "choose", "none of the ", size(), " parameters matches `", pattern,
              "`", empty() ? "" : "; the first is `" + front().first + "`");
  return chosen;
}

ParameterSet ParameterSet::choose(std::initializer_list<const char*> patterns) const {
  ParameterSet chosen;
  chosen.taken_ = taken_;
  for (const char* pattern : patterns) chosen = chosen | choose(std::string(pattern));
  return except(except(chosen));  // in the order of this set
}

ParameterSet ParameterSet::except(const std::string& pattern) const {
  return choose(
      [&](const std::string& name, const Tensor&) { return !matches_name(pattern, name); });
}

ParameterSet ParameterSet::except(const ParameterSet& others) const {
  std::set<detail::Identity> known;
  for (const auto& [name, x] : others) known.insert(detail::identity(x));
  return choose(
      [&](const std::string&, const Tensor& x) { return !known.contains(detail::identity(x)); });
}

ParameterSet ParameterSet::trained() const {
  check_in_place("trained");
  return choose([](const std::string&, const Tensor& x) { return x.requires_grad(); });
}

ParameterSet ParameterSet::operator|(const ParameterSet& others) const {
  ParameterSet both = *this;
  both.taken_ = std::min(taken_, others.taken_);
  both.insert(both.end(), others.begin(), others.end());
  return both.distinct();
}

// --- training ---

void ParameterSet::set_frozen(bool frozen) const {
  check_in_place(frozen ? "freeze" : "thaw");
  for (const auto& [name, x] : *this)
    LADON_CHECK(Leaf::of(x), frozen ? "freeze" : "thaw", "`", name,
                "` is not a trained tensor; make it with parameter(x)");
  if (frozen) zero_grad();
  for (auto [name, x] : *this) x.set_requires_grad(!frozen);
}

void ParameterSet::zero_grad() const {
  check_in_place("zero_grad");
  for (auto [name, x] : *this)
    if (Leaf::of(x)) x.set_grad(Tensor());
}

// --- values ---

std::uint64_t ParameterSet::now() { return replacements(); }

void ParameterSet::check_in_place(const char* operation) const {
  for (const auto& [name, x] : *this)
    if (const Leaf* leaf = Leaf::of(x)) leaf->check_in_place(operation, taken_);
}

void ParameterSet::check_own_values(const char* operation) const {
  for (const auto& [name, x] : *this)
    if (const Leaf* leaf = Leaf::of(x)) leaf->check_own_value(operation);
}

void ParameterSet::check_distinct(const char* operation) const {
  std::map<detail::Identity, const std::string*> known;
  detail::Apart memory;
  for (const auto& [name, x] : *this) {
    const auto [first, is_new] = known.emplace(detail::identity(x), &name);
    LADON_CHECK(
        is_new, operation, "`", *first->second, "` and `", name,
        "` are one tensor, which a row of all parameters would contain twice; use distinct()");
    const std::string* other = memory.add(name, x);
    LADON_CHECK(
        !other, operation, "`", *other, "` and `", name,
        "` are two tensors that share memory, which a row of all parameters would contain twice; "
        "make them one tensor (share_with), or clone() one");
  }
}

std::int64_t ParameterSet::count() const {
  check_in_place("count");
  std::int64_t count = 0;
  for (const auto& [name, x] : distinct()) count += x.count();
  return count;
}

double ParameterSet::norm() const {
  check_in_place("norm");
  const NoGrad off;
  const ParameterSet once = distinct();
  double squares = 0;
  for (const auto& [name, x] : once)
    squares += number_of("norm", sum(square(cast(x.detach(), f64))));
  if (std::isfinite(squares) && squares >= 1e-280) return std::sqrt(squares);
  // The squares over- or underflowed; ladon::norm() rescales its operand first.
  std::vector<Tensor> norms{zeros({1}, f64)};
  for (const auto& [name, x] : once)
    norms.push_back(reshape(ladon::norm(cast(x.detach(), f64)), {1}));
  return number_of("norm", ladon::norm(concat(norms, 0)));
}

Tensor ParameterSet::to_row() const {
  check_in_place("to_row");
  return to_row(tensors());
}

Tensor ParameterSet::to_row(const std::vector<Tensor>& values) const {
  LADON_CHECK(!empty() && values.size() == size(), "to_row", "there are ", size(),
              " parameters and ", values.size(),
              " values; it needs one value per parameter, and at least one parameter");
  check_distinct("to_row");
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < size(); ++i) {
    const auto& [name, x] = (*this)[i];
    LADON_CHECK(!values[i].defined() || values[i].shape() == x.shape(), "to_row", "the value of `",
                name, "` has shape ", values[i].shape(), ", but the parameter has shape ",
                x.shape());
    parts.push_back(values[i].defined() ? cast(flatten(values[i].detach()), f64)
                                        : zeros({x.count()}, f64));
  }
  return concat(parts, 0);
}

std::vector<Tensor> ParameterSet::pieces(const Tensor& rows) const {
  check_in_place("pieces");
  check_distinct("pieces");
  const std::int64_t columns = count();
  LADON_CHECK(rows.defined() && rows.rank() >= 1 && rows.size(-1) == columns, "pieces", "the ",
              size(), " parameters have ", columns,
              " values, so rows must have as many columns; got ", detail::shape_in_words(rows));
  std::vector<Tensor> pieces;
  if (!empty()) cut(*this, 0, size(), rows, pieces);
  return pieces;
}

void ParameterSet::assign_row(const Tensor& row) const {
  check_in_place("assign_row");
  LADON_CHECK(row.defined() && row.shape() == Shape{count()}, "assign_row", "the ", size(),
              " parameters have ", count(), " values, so the row must have as many; got ",
              detail::shape_in_words(row));
  std::vector<Tensor> values = pieces(row.detach());
  for (Tensor& value : values)  // a row that is a view of a parameter would change while it is read
    for (const auto& [name, x] : *this)
      if (value.storage() == x.storage()) value = ladon::clone(value);
  for (const auto& [name, x] : *this) detail::check_writable("assign_row", name, x);
  for (std::size_t i = 0; i < size(); ++i) copy_((*this)[i].second.detach(), values[i]);
}

void ParameterSet::perturb(double stddev, Generator& rng) const {
  check_in_place("perturb");
  LADON_CHECK(std::isfinite(stddev) && stddev >= 0, "perturb", "the standard deviation is ", stddev,
              "; it must be finite and at least 0");
  for (const auto& [name, x] : *this)
    LADON_CHECK(x.defined() && is_floating(x.dtype()), "perturb", "`", name, "` is ",
                detail::kind_in_words(x), "; only floating tensors can be perturbed");
  for (const auto& [name, x] : distinct())
    add_(x.detach(), normal(x.shape(), rng, 0, stddev, x.dtype()));
}

// --- sharing and saving ---

void ParameterSet::share_with(Module& model) const {
  check_in_place("share_with");
  std::map<std::string, Tensor> given;
  for (const auto& [name, x] : *this)
    LADON_CHECK(
        given.emplace(name, x).second || detail::identity(given.at(name)) == detail::identity(x),
        "share_with", "two different parameters are named `", name,
        "`, but the other model has only one of this name; share a set with distinct names");
  // name and new tensor, by the identity of the tensor that is replaced
  std::map<detail::Identity, std::pair<std::string, Tensor>> instead;
  std::set<std::string> found;
  detail::for_each_parameter(model, [&](const std::string& path, Tensor& place) {
    const auto mine = given.find(path);
    if (mine == given.end()) return;
    const Tensor& x = mine->second;
    LADON_CHECK(place.shape() == x.shape() && place.dtype() == x.dtype(), "share_with", "`", path,
                "` is ", place.dtype(), " ", place.shape(), " in the other model and ", x.dtype(),
                " ", x.shape(), " in this set; dtypes and shapes must agree");
    const auto& [first, one] =
        instead.emplace(detail::identity(place), std::pair(path, x)).first->second;
    LADON_CHECK(
        detail::identity(one) == detail::identity(x), "share_with", "`", first, "` and `", path,
        "` are one tensor in the other model, but two tensors in this set; tie them in this set's "
        "model, or untie them in the other model");
    found.insert(path);
  });
  for (const auto& [name, x] : *this)
    LADON_CHECK(found.contains(name), "share_with", "the other model has no parameter `", name,
                "`; choose() only parameters that both models have");
  const detail::Replacing replacing(model, "share_with");
  detail::for_each_parameter(model, [&](const std::string&, Tensor& place) {
    const auto at = instead.find(detail::identity(place));
    if (at != instead.end()) place = at->second.second;
  });
}

StateDict ParameterSet::state_dict() const {
  check_in_place("state_dict");
  StateDict state;
  for (const auto& [name, x] : *this)
    LADON_CHECK(state.emplace(name, x.detach()).second, "state_dict", "two parameters are named `",
                name, "`, but names must differ; use with_prefix()");
  return state;
}

LoadReport ParameterSet::load_state_dict(const StateDict& state, const LoadOptions& options) const {
  return detail::load_state(state_dict(), state, options);
}

void ParameterSet::save(const std::string& path) const {
  LADON_CHECK(!empty(), "save", "the set has no parameters to write to `", path, "`");
  save_safetensors(path, state_dict());
}

LoadReport ParameterSet::load(const std::string& path, const LoadOptions& options) const {
  return detail::load_state(state_dict(), path, options);
}

std::vector<Tensor> stack_parameters(const std::vector<ParameterSet>& members) {
  LADON_CHECK(!members.empty(), "stack_parameters",
              "there are no members; it needs the parameters of at least one");
  for (std::size_t i = 0; i < members.size(); ++i) {
    members[i].check_in_place("stack_parameters");
    LADON_CHECK(members[i].size() == members[0].size(), "stack_parameters",
                "all members must have the same parameters, but member 0 has ", members[0].size(),
                " and member ", i, " has ", members[i].size());
    for (std::size_t k = 0; k < members[0].size(); ++k) {
      const auto& [name, x] = members[i][k];
      const auto& [first_name, first] = members[0][k];
      LADON_CHECK(name == first_name && x.shape() == first.shape() && x.dtype() == first.dtype(),
                  "stack_parameters", "all members must have the same parameters, but member ", i,
                  " has `", name, "` (", x.dtype(), " ", x.shape(), ") where member 0 has `",
                  first_name, "` (", first.dtype(), " ", first.shape(), ")");
    }
  }
  const NoGrad off;
  std::vector<Tensor> side_by_side;
  for (std::size_t k = 0; k < members[0].size(); ++k) {
    std::vector<Tensor> column;
    for (const ParameterSet& member : members) column.push_back(member[k].second.detach());
    side_by_side.push_back(stack(column, 0));
  }
  return side_by_side;
}

}  // namespace ladon
