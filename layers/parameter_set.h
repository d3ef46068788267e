#pragma once
// Sets of named parameters: those of a model, of a part of a model, or tensors outside any model.
//
//   model.freeze();                                       // all parameters
//   const ParameterSet head = model.choose("head.*");     // those of the head
//   head.thaw();
//   AdamW adam(head, {.lr = 1e-3});
//   …
//   head.save("head.safetensors");
//
// A set holds handles of the tensors, so writing to them changes the model. Everything that acts on
// parameters takes a set: optimizers, weight averages, samplers, particle methods, functional_call.
// Make the set after Module::to(dtype) and replace(), which put new tensors into the model: using
// an older set is an Error.
//
// Two handles are the same tensor if they share a node of the graph or, without history, view the
// same elements. A set made by hand may hold a tensor twice, under two names; choose() and | keep
// it once, and operations that sum over a set (count, norm, perturb, clip_grad_norm) count it once.
// Two different tensors that share memory (parameter(x.detach())) cannot be updated separately:
// optimizers, weight averages, to_row() and pieces() reject them.

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

/// Named tensors in order. A set made from a model or by choose() contains each tensor once:
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
  /// These tensors with `prefix` (for example "encoder.") before each name. An optimizer stores its
  /// state by name, so the parameters of two models in one optimizer need different names.
  ParameterSet with_prefix(const std::string& prefix) const;

  // --- subsets ---

  /// Each tensor once, under the first of its names.
  ParameterSet distinct() const;

  /// Parameters whose names match a pattern (matches_name). Throws Error if no name matches: a
  /// misspelt name would otherwise silently freeze nothing.
  ParameterSet choose(const std::string& pattern) const;
  /// Parameters that match any of the patterns; each pattern must match at least one.
  ParameterSet choose(std::initializer_list<const char*> patterns) const;
  /// Parameters that `choice` picks, possibly none. Throws Error for an empty function.
  ParameterSet choose(const ParameterChoice& choice) const;
  /// Parameters that do not match `pattern`, or are not in `others`. The pattern may match nothing.
  ParameterSet except(const std::string& pattern) const;
  ParameterSet except(const ParameterSet& others) const;
  /// Parameters that are not frozen. Throws Error whenever check_in_place() does.
  ParameterSet trained() const;
  /// Union: these parameters, and those of `others` that are not among them.
  ParameterSet operator|(const ParameterSet& others) const;

  // --- training ---

  /// A frozen parameter gets no gradient (an existing one is cleared), costs no time in backward,
  /// and is skipped by optimizers. It stays a parameter: it is saved, copied and counted. A graph
  /// recorded before freezing gives it no gradient either. Throws Error for a tensor that is not a
  /// leaf: make it with parameter(x).
  void freeze() const { set_frozen(true); }
  void thaw() const { set_frozen(false); }
  /// Clears all gradients. Throws Error whenever check_in_place() does: the tensors that are now in
  /// the model would otherwise keep their gradients.
  void zero_grad() const;

  /// Throws Error, naming `operation`, if Module::to, share_with or replace exchanged one of these
  /// tensors after this set (or the set it was chosen from) was made. No Error if the tensor is in
  /// a model again, as after unmerge_low_rank().
  void check_in_place(const char* operation) const;
  /// Throws Error, naming `operation`, which writes or replaces parameters, while a parameter
  /// temporarily holds an averaged value (WeightAverage::apply).
  void check_own_values(const char* operation) const;
  /// Value of replacements() (autograd/leaf.h) when the set was made: its time stamp for
  /// Leaf::check_in_place().
  std::uint64_t taken() const { return taken_; }

  // --- values ---

  std::int64_t count() const;  ///< Number of scalars in all parameters.
  double norm() const;         ///< Euclidean norm of all values.
  /// to_row(): all values as one row, f64 [count()], without history. assign_row(): writes such a
  /// row (any floating dtype, cast) into the parameters. Both throw Error for a row of another
  /// shape, and if the set has a tensor twice, or two that share memory: a row would contain their
  /// values twice.
  Tensor to_row() const;
  void assign_row(const Tensor& row) const;
  /// Row of `values` (usually gradients), one tensor per parameter, of the parameter's shape; an
  /// undefined one gives zeros.
  Tensor to_row(const std::vector<Tensor>& values) const;
  /// Cuts rows [.., count()] into one tensor [.., shape..] per parameter, of its dtype, as
  /// functional_call() takes them. Differentiable with respect to `rows`.
  std::vector<Tensor> pieces(const Tensor& rows) const;
  /// x ← x + stddev·ξ, ξ ~ N(0, 1), for each parameter in order.
  void perturb(double stddev, Generator& rng) const;

  // --- sharing and saving ---

  /// Replaces the parameters of the same names in another model by these tensors, so that both
  /// models share them. A parameter that several members hold (tied weights) is replaced in all of
  /// them. Throws Error, and changes nothing, if the other model lacks a name or has it with
  /// another shape or dtype, if two tensors of the set have the same name, or if the set has two
  /// tensors for one tied parameter. The other model then needs new optimizers.
  void share_with(Module& model) const;

  /// Parameters by name, sharing storage.
  StateDict state_dict() const;
  /// Copies values into the parameters; throws Error whenever Module::load_state_dict() does.
  LoadReport load_state_dict(const StateDict& state, const LoadOptions& options = {}) const;
  /// Saves the parameters to a safetensors file, and loads them from one. save() throws Error for
  /// an empty set.
  void save(const std::string& path) const;
  LoadReport load(const std::string& path, const LoadOptions& options = {}) const;

 private:
  void set_frozen(bool frozen) const;
  void check_distinct(const char* operation) const;
  static std::uint64_t now();

  std::uint64_t taken_ = now();
};

namespace detail {
/// Key that is equal for handles of one tensor, and differs between tensors: its node of the graph
/// or, without history, the elements that it views and its tangent. Valid while the tensor lives.
using Identity = std::vector<std::uint64_t>;
Identity identity(const Tensor& x);

/// Registry of tensors whose memory must not overlap, so that updating one does not change another.
/// Only contiguous tensors are checked: elements of other tensors may lie between those of a
/// strided tensor.
class Apart {
 public:
  /// The name of a registered tensor that shares elements with x; null if none does.
  const std::string* find(const Tensor& x) const;
  /// Returns find(x); if no registered tensor shares elements with x, also registers x under
  /// `name`.
  const std::string* add(const std::string& name, const Tensor& x);

 private:
  // end and name of each tensor, by the address of its first byte
  std::map<const std::byte*, std::pair<const std::byte*, std::string>> taken_;
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
