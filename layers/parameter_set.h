#pragma once
// Parameters as one value: of a model, of a part of it, or tensors of no model at all.
//
//   model.freeze();                                       // all of it …
//   const ParameterSet head = model.choose("head.*");     // … but its head
//   head.thaw();
//   AdamW adam(head, {.lr = 1e-3});
//   …
//   head.save("head.safetensors");
//
// A set holds the tensors themselves: what is done to it is done to the model. So whatever acts on
// parameters takes a set: optimizers and averages, rows of samplers and particles, functional_call.
// Take it after Module::to(dtype) and replace(), which put other tensors in the places of the
// model's (an Error of what is done to the set later).
//
// Two handles are one tensor where they share a place in the graph or, without history, show the
// same elements. A set that was put together by hand may hold one twice, under two names; what is
// chosen or united has it once, and what adds over a set (count, norm, perturb, clip_grad_norm)
// takes it once. Two tensors that share memory without being one (parameter(x.detach())) cannot be
// moved apart: optimizers, averages and rows refuse them.

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

/// Whether a dotted name matches a pattern as a shell's: * is any text, with or without dots, ? one
/// character, [ab] one of them.
bool matches_name(const std::string& pattern, const std::string& name);

/// Chooses parameters by their dotted name and value.
using ParameterChoice = std::function<bool(const std::string& name, const Tensor& parameter)>;

/// Named tensors in order, each once in what a model or choose() gives:
///   for (auto& [name, x] : model.named_parameters()) x.set_requires_grad(false);
class ParameterSet : public std::vector<std::pair<std::string, Tensor>> {
 public:
  ParameterSet() = default;
  ParameterSet(std::initializer_list<value_type> named) : vector(named) {}
  ParameterSet(std::vector<value_type> named) : vector(std::move(named)) {}
  /// All parameters of a model, in visiting order.
  ParameterSet(const Module& model);
  /// Tensors of no model, named "0", "1", ….
  ParameterSet(const std::vector<Tensor>& tensors);
  ParameterSet(std::initializer_list<Tensor> tensors) : ParameterSet(std::vector(tensors)) {}

  std::vector<Tensor> tensors() const;
  /// The same tensors under longer names, "encoder." before each: in one optimizer, which knows its
  /// state by names, the parameters of two models need different ones.
  ParameterSet with_prefix(const std::string& prefix) const;

  // --- which ---

  /// Each tensor once, under the first of its names.
  ParameterSet distinct() const;

  /// Parameters whose names match a pattern (matches_name). Throws Error where none does: otherwise
  /// a misspelt name would freeze nothing in silence.
  ParameterSet choose(const std::string& pattern) const;
  /// Parameters that match any of the patterns, each of which must match one.
  ParameterSet choose(std::initializer_list<const char*> patterns) const;
  /// Parameters that `choice` picks, which may be none. Throws Error for an empty function.
  ParameterSet choose(const ParameterChoice& choice) const;
  /// Parameters that do not match, or are not in `others`. (None need match: nothing is lost then.)
  ParameterSet except(const std::string& pattern) const;
  ParameterSet except(const ParameterSet& others) const;
  /// Parameters that are not frozen. Throws Error as check_in_place does.
  ParameterSet trained() const;
  /// Union: these parameters, and those of `others` that are not among them.
  ParameterSet operator|(const ParameterSet& others) const;

  // --- training ---

  /// A frozen parameter has no gradient (the one that it had is cleared), costs no backward, and is
  /// passed over by optimizers. It stays a parameter: it is saved, copied and counted. What was
  /// recorded before gives it none either. Throws Error for what is no leaf: make it with
  /// parameter(x).
  void freeze() const { set_frozen(true); }
  void thaw() const { set_frozen(false); }
  /// Clears all gradients. Throws Error as check_in_place does: those that the model has now would
  /// stay.
  void zero_grad() const;

  /// Throws Error of the operation where Module::to, share_with or replace put another tensor in
  /// one's place after this set was taken (the set that it was chosen from). It ends where the
  /// tensor stands in a model again, as after unmerge_low_rank().
  void check_in_place(const char* operation) const;
  /// Throws Error of the operation, which is to write to the parameters or to put others in their
  /// places, while one has the value of an average for a while (WeightAverage::apply).
  void check_own_values(const char* operation) const;
  /// The time at which it was taken, as Leaf::check_in_place takes it.
  std::uint64_t taken() const { return taken_; }

  // --- numbers ---

  std::int64_t count() const;  ///< Of numbers, in all.
  double norm() const;         ///< The Euclidean norm of them all.
  /// All numbers in a row, f64 [count()], without history; and a row (any floating dtype, cast)
  /// written into the parameters. Throws Error for another shape, and where the set has a tensor
  /// twice, or two that share memory: a row would hold their numbers twice.
  Tensor to_row() const;
  void assign_row(const Tensor& row) const;
  /// Row of one tensor per parameter, of its shape, mostly gradients; undefined: zeros.
  Tensor to_row(const std::vector<Tensor>& values) const;
  /// Rows [.., count()] cut as the parameters are: a tensor [.., shape..] each, of its dtype. What
  /// functional_call() takes; recorded, so that gradients by a row exist.
  std::vector<Tensor> pieces(const Tensor& rows) const;
  /// x ← x + stddev·ξ, ξ ~ N(0, 1), drawn in order.
  void perturb(double stddev, Generator& rng) const;

  // --- elsewhere ---

  /// Puts these tensors in the places of the parameters of the same names in another model (in all
  /// places of those that are tied there), which from then on are one and the same. Throws Error,
  /// and changes nothing, where a name is not there, or has another shape or dtype, where the set
  /// has two tensors of one name, and where two are given for what is one there. Optimizers of the
  /// other model are made anew.
  void share_with(Module& model) const;

  /// Parameters by name, sharing storage.
  StateDict state_dict() const;
  /// Copies values in; errors as Module::load_state_dict's.
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
/// What handles of one tensor have in common, and those of two do not: the place in the graph, or
/// without history the elements that it shows and its tangent. A key of maps, as long as the tensor
/// lives.
using Identity = std::vector<std::uint64_t>;
Identity identity(const Tensor& x);

/// Memory of tensors that are to be apart, so that who moves one does not move another. (Of
/// contiguous tensors: those between whose elements others stand are not looked at.)
class Apart {
 public:
  /// The name of a tensor among them that shares elements with x; null where none does.
  const std::string* find(const Tensor& x) const;
  /// The same, and adds x where none does.
  const std::string* add(const std::string& name, const Tensor& x);

 private:
  std::map<const std::byte*, std::pair<const std::byte*, std::string>> taken_;  // begin: end, name
};
}  // namespace detail

/// The members of an ensemble side by side:  [members, shape..] of each parameter, without history.
/// With vmap and functional_call all are run in one pass. Throws Error where names or shapes
/// differ.
std::vector<Tensor> stack_parameters(const std::vector<ParameterSet>& members);
template <class Model>
requires std::derived_from<Model, Module> std::vector<Tensor> stack_parameters(
    const std::vector<Model>& members) {
  return stack_parameters(std::vector<ParameterSet>(members.begin(), members.end()));
}

}  // namespace ladon
