#pragma once
// Sets of named parameters: of a model, of a part of it, or tensors outside any model.
//
//   model.freeze();                                       // all parameters
//   const ParameterSet head = model.choose("head.*");     // those of the head
//   head.thaw();
//   AdamW adam(head, {.lr = 1e-3});
//   …
//   head.save("head.safetensors");
//
// A set holds handles of the tensors: changing it changes the model. Everything that acts on
// parameters takes a set: optimizers and averages, rows of samplers and particles, functional_call.
// Make it after Module::to(dtype) and replace(), which put new tensors into the model: using an
// older set is an Error.
//
// Two handles are the same tensor if they share a node of the graph or, without history, view the
// same elements. A set made by hand may hold a tensor twice, under two names; choose() and | keep
// it once, and operations that sum over a set (count, norm, perturb, clip_grad_norm) count it once.
// Two different tensors that share memory (parameter(x.detach())) cannot be updated separately:
// optimizers, averages and rows reject them.

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/core/state.h"
#include "ladon/core/tensor.h"
#include "ladon/layers/load_state.h"

namespace ladon {

class Module;

/// Whether a dotted name matches a shell-style pattern: * matches any text, dots included, ? one
/// character, [ab] one of a and b.
bool matches_name(const std::string& pattern, const std::string& name);

/// Chooses parameters by their dotted name and value.
using ParameterChoice = std::function<bool(const std::string& name, const Tensor& parameter)>;

/// Named tensors in order; a model and choose() give each once:
///   for (auto& [name, x] : model.named_parameters()) x.set_requires_grad(false);
class ParameterSet : public std::vector<std::pair<std::string, Tensor>> {
 public:
  ParameterSet() = default;
  ParameterSet(std::initializer_list<value_type> named) : vector(named) {}
  ParameterSet(std::vector<value_type> named) : vector(std::move(named)) {}
  /// All parameters of a model, in visiting order.
  ParameterSet(const Module& model);
  /// Tensors outside any model, named "0", "1", ….
  ParameterSet(const std::vector<Tensor>& tensors);
  ParameterSet(std::initializer_list<Tensor> tensors) : ParameterSet(std::vector(tensors)) {}

  std::vector<Tensor> tensors() const;
  /// The same tensors with `prefix` ("encoder.") before each name. An optimizer stores its state by
  /// name, so the parameters of two models in one optimizer need different names.
  ParameterSet with_prefix(const std::string& prefix) const;

  // --- subsets ---

  /// Each tensor once, under the first of its names.
  ParameterSet distinct() const;

  /// Parameters whose names match a pattern (matches_name). Throws Error if none does: a misspelt
  /// name would otherwise freeze nothing without notice.
  ParameterSet choose(const std::string& pattern) const;
  /// Parameters that match any of the patterns; each pattern must match at least one.
  ParameterSet choose(std::initializer_list<const char*> patterns) const;
  /// Parameters that `choice` picks, possibly none. Throws Error for an empty function.
  ParameterSet choose(const ParameterChoice& choice) const;
  /// Parameters that do not match `pattern`, or are not in `others`. It is no Error if none match.
  ParameterSet except(const std::string& pattern) const;
  ParameterSet except(const ParameterSet& others) const;
  /// Parameters that are not frozen. Throws Error as check_in_place does.
  ParameterSet trained() const;
  /// Union: these parameters, and those of `others` that are not among them.
  ParameterSet operator|(const ParameterSet& others) const;

  // --- training ---

  /// A frozen parameter gets no gradient (an existing one is cleared), costs no time in backward,
  /// and is skipped by optimizers. It stays a parameter: it is saved, copied and counted. A graph
  /// recorded before gives it no gradient either. Throws Error for a tensor that is not a leaf:
  /// make it with parameter(x).
  void freeze() const { set_frozen(true); }
  void thaw() const { set_frozen(false); }
  /// Clears all gradients. Throws Error as check_in_place does: the model's current tensors would
  /// keep theirs.
  void zero_grad() const;

  /// Throws Error, naming `operation`, if Module::to, share_with or replace exchanged one of these
  /// tensors after this set (or the set it was chosen from) was taken. No Error once the
  /// tensor is in a model again, as after unmerge_low_rank().
  void check_in_place(const char* operation) const;
  /// Throws Error, naming `operation`, which writes or replaces parameters, while one temporarily
  /// holds an averaged value (WeightAverage::apply).
  void check_own_values(const char* operation) const;
  /// When the set was taken, by the clock of Leaf::check_in_place.
  std::uint64_t taken() const { return taken_; }

  // --- values ---

  std::int64_t count() const;  ///< Number of scalars in all parameters.
  double norm() const;         ///< Euclidean norm of all values.
  /// All values as one row, f64 [count()], without history; and a row (any floating dtype, cast)
  /// written into the parameters. Throw Error for another shape, and if the set has a tensor twice,
  /// or two that share memory: a row would contain their values twice.
  Tensor to_row() const;
  void assign_row(const Tensor& row) const;
  /// Row of one tensor per parameter, with its shape (usually gradients); undefined: zeros.
  Tensor to_row(const std::vector<Tensor>& values) const;
  /// Cuts rows [.., count()] into one tensor [.., shape..] per parameter, of its dtype, as
  /// functional_call() takes them. Recorded, so that rows get gradients.
  std::vector<Tensor> pieces(const Tensor& rows) const;
  /// x ← x + stddev·ξ, ξ ~ N(0, 1), for each parameter in order.
  void perturb(double stddev, Generator& rng) const;

  // --- sharing and saving ---

  /// Replaces the parameters of the same names in another model by these tensors (in every member
  /// that holds a tied one), so that both models share them. Throws Error, and changes nothing, if
  /// a name is missing there, or has another shape or dtype, if two tensors of the set have one
  /// name, and if two are given for one tied tensor. Make optimizers of the other model anew.
  void share_with(Module& model) const;

  /// Parameters by name, sharing storage.
  StateDict state_dict() const;
  /// Copies values into the parameters; throws Error as Module::load_state_dict does.
  LoadReport load_state_dict(const StateDict& state, const LoadOptions& options = {}) const;
  /// Saves the parameters to a safetensors file (an empty set: Error), and loads them from one.
  void save(const std::string& path) const;
  LoadReport load(const std::string& path, const LoadOptions& options = {}) const;

 private:
  void set_frozen(bool frozen) const;
  void check_distinct(const char* operation) const;
  static std::uint64_t now();

  std::uint64_t taken_ = now();
};

namespace detail {
/// Key that is equal for handles of one tensor, and differs between tensors: the node of the graph,
/// or without history the elements that it views and its tangent. Valid while the tensor lives.
using Identity = std::vector<std::uint64_t>;
Identity identity(const Tensor& x);

/// Memory of tensors that must not overlap, so that updating one does not change another. Only
/// contiguous tensors are checked: other tensors may have foreign elements between their own.
class Apart {
 public:
  /// The name of a registered tensor that shares elements with x; null if none does.
  const std::string* find(const Tensor& x) const;
  /// The same, and registers x if none does.
  const std::string* add(const std::string& name, const Tensor& x);

 private:
  std::map<const std::byte*, std::pair<const std::byte*, std::string>> taken_;  // begin: end, name
};
}  // namespace detail

/// Parameters of an ensemble, stacked:  [members, shape..] per parameter, without history. With
/// vmap and functional_call all members run in one pass. Throws Error if names, shapes or dtypes
/// differ.
std::vector<Tensor> stack_parameters(const std::vector<ParameterSet>& members);
template <class Model>
requires std::derived_from<Model, Module> std::vector<Tensor> stack_parameters(
    const std::vector<Model>& members) {
  return stack_parameters(std::vector<ParameterSet>(members.begin(), members.end()));
}

}  // namespace ladon
