#pragma once
// Modules: base class of everything that owns parameters.
//
// A module's members are ordinary public tensors and modules, and one method lists them:
//
//   struct Affine : Layer {
//     Tensor weight, bias;
//     Tensor forward(const Tensor& x) const override { return linear(x, weight, bias); }
//     void visit(Visitor& v) override { v("weight", weight); v("bias", bias); }
//   };
//
// Names, state dict, dtype and mode changes, clones, counts and summary all use that list, so a
// reassigned member is always included. (A member that visit() does not list is ignored by all of
// them; summary(x) reports it.)
//
// Threads: the rules for Tensor (core/tensor.h) hold for modules. One model may run forward and
// backward in several threads at once; operations that change it (train, to, load, hooks, an
// optimizer step) must not run concurrently with any use of it. Separate models are independent.

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/core/state.h"
#include "ladon/core/tensor.h"
#include "ladon/layers/owned.h"
#include "ladon/layers/parameter_set.h"

namespace ladon {

class Layer;
class Module;
template <class Kind>
class Part;
namespace infinite {
struct KernelNode;
}  // namespace infinite

/// Receives a module's members. Undefined tensors (an absent bias) and null modules are skipped.
class Visitor {
 public:
  virtual ~Visitor() = default;

  /// A trained tensor.
  void operator()(std::string_view name, Tensor& x) {
    if (x.defined()) parameter(name, x);
  }
  /// A module inside this one; its members are named "name.member".
  void operator()(std::string_view name, Module& m) { module(name, m); }
  /// A list of modules: "name.0", "name.1", ….
  template <class M>
  void operator()(std::string_view name, std::vector<M>& list) {
    for (std::size_t i = 0; i < list.size(); ++i)
      (*this)(std::string(name) + "." + std::to_string(i), list[i]);
  }
  template <class M>
  void operator()(std::string_view name, std::unique_ptr<M>& m) {
    if (m) module(name, *m);
  }
  template <class M>
  void operator()(std::string_view name, Owned<M>& m) {
    if (!m) return;
    if constexpr (std::is_same_v<M, Layer>) place(name, m);
    module(name, *m);
  }
  template <class Kind>
  void operator()(std::string_view name, Part<Kind>& part) {
    (*this)(name, part.place());
  }
  /// A member that holds a layer, which replace() may exchange (replace.h).
  virtual void place(std::string_view, Owned<Layer>&) {}
  template <class M>
  void operator()(std::string_view name, std::optional<M>& m) {
    if (m) module(name, *m);
  }
  /// A tensor that is saved with the module but not trained, such as a position table.
  virtual void buffer(std::string_view name, Tensor& x) = 0;
  /// A scalar buffer (rank 0) that sets the prior of trained tensors, such as the standard
  /// deviation of a weight.
  virtual void hyperparameter(std::string_view name, Tensor& x) { buffer(name, x); }
  /// A random generator that the module draws from in forward().
  virtual void generator(std::string_view, Generator&) {}

 protected:
  virtual void parameter(std::string_view name, Tensor& x) = 0;
  virtual void module(std::string_view name, Module& m) = 0;
};

class Module {
 public:
  virtual ~Module() = default;

  /// Lists the members, always in the same order.
  virtual void visit(Visitor& v) = 0;
  /// One line for summary(), e.g. "Linear(4 → 3)".
  virtual std::string describe() const = 0;

  /// Trained tensors in visiting order; a tensor that several members share comes once.
  std::vector<Tensor> parameters() const;
  ParameterSet named_parameters() const;
  /// Subset of named_parameters(), chosen as by ParameterSet::choose: the parameters whose names
  /// match a pattern, such as "*.attention.query"; for which a function of name and tensor is true;
  /// which are inside modules for which a function is true; or inside modules of one type,
  /// choose<LayerNorm>().
  ParameterSet choose(const std::string& pattern) const;
  ParameterSet choose(std::initializer_list<const char*> patterns) const;  ///< Matches any pattern.
  ParameterSet choose(const ParameterChoice& choice) const;
  ParameterSet choose(const std::function<bool(const Module&)>& choice) const;
  template <std::derived_from<Module> Kind>
  ParameterSet choose() const {
    return choose([](const Module& m) { return dynamic_cast<const Kind*>(&m) != nullptr; });
  }
  std::int64_t parameter_count() const;
  /// Excludes all parameters from training, or includes them again (ParameterSet::freeze).
  void freeze() { named_parameters().freeze(); }
  void thaw() { named_parameters().thaw(); }
  /// Hyper-parameters of the prior of the trained tensors (f64 scalars; only layers in NTK
  /// parameterization list them). The kernel of a limit is differentiable with respect to those
  /// that require gradients.
  std::vector<std::pair<std::string, Tensor>> hyperparameters() const;
  /// Replaces a hyper-parameter by `value` (f64, rank 0; a leaf or a function of leaves). Throws
  /// Error if the module has no hyper-parameter named `path`.
  void set_hyperparameter(const std::string& path, const Tensor& value);
  /// The random generators that the module draws from in forward() (those of dropout, …), by dotted
  /// name. state_dict does not contain them, but a resumed run needs their states
  /// (optim/extra/training/training_run.h saves them).
  std::vector<std::pair<std::string, Generator*>> generators();
  /// Clears all gradients.
  void zero_grad();

  /// Parameters and buffers by name; they share storage with the module.
  StateDict state_dict() const;
  /// Copies values into the module's tensors. Floating and half-precision dtypes (a bf16
  /// checkpoint) are cast; names, shapes and all other dtypes must agree exactly, unless
  /// options.strict is false. If they do not agree, throws Error naming the first mismatch, and
  /// leaves the module unchanged; likewise if two names of one tied tensor, or two tensors that
  /// share memory, have different values for one element.
  ///   std::cout << model.load("old.safetensors", {.strict = false});   // lists what did not fit
  LoadReport load_state_dict(const StateDict& state, const LoadOptions& options = {});
  /// Writes the state dict to a safetensors file, or reads it. Throws Error whenever the file
  /// functions or load_state_dict() do. save() also throws for a module without tensors, such as a
  /// moved-from container.
  void save(const std::string& path) const;
  LoadReport load(const std::string& path, const LoadOptions& options = {});

  /// Converts parameters and floating buffers. Do this before an optimizer or a particle method
  /// takes the parameters: they become new leaves, and an optimizer that holds the old leaves
  /// throws Error at its next step. Throws Error while parameters hold averaged values
  /// (WeightAverage::apply).
  void to(DType dtype);
  /// Training mode (dropout draws) or evaluation mode, for this module and all inside it.
  void train(bool on = true);
  void eval() { train(false); }
  bool training() const { return training_; }

  /// A table: name, description, number of parameters of each module, and the total.
  std::string summary() const;
  /// Trained tensors that `output` (recorded, computed by this module) depends on and that visit()
  /// does not list, one line each: forgotten members, or tensors from outside. Tensors in `known`
  /// (such as inputs that require gradients) are skipped.
  std::vector<std::string> unlisted(const Tensor& output,
                                    const std::vector<Tensor>& known = {}) const;

  /// The dotted name of the module `inner` inside this one ("" for this module itself); nullopt if
  /// visit() does not reach it.
  std::optional<std::string> path_of(const Module& inner) const;

 private:
  bool training_ = true;
};

namespace detail {
/// Throws Error if modules are nested so deeply that recursion would overflow the stack.
void check_nesting(const char* operation, int depth);
/// Calls f with each member that is a trained tensor; a shared tensor comes once per member.
void for_each_parameter(Module& module,
                        const std::function<void(const std::string& path, Tensor& place)>& f);
/// Calls f with each module, beginning with the outermost, whose path is "".
void for_each_module(Module& module,
                     const std::function<void(const std::string& path, Module& inner)>& f);
/// Calls f with each member that holds a replaceable layer, and whether the module around it is in
/// training mode. `place` is empty for a name that stands for several parts ("feedforward").
void for_each_place(
    Module& module,
    const std::function<void(const std::string& path, Owned<Layer>& place, bool training)>& f);
/// Scope of an operation that replaces parameters of a model. Its destructor marks the parameters
/// that left the model as replaced by the operation `by` ("share_with"), so that an optimizer that
/// holds them throws Error at its next step, and unmarks those that are in the model. A leaf does
/// not know how many models contain it, so the mark applies in all of them. The constructor throws
/// Error while parameters hold averaged values (WeightAverage::apply): the original values would
/// later be restored into the old tensors, not into the new ones.
class Replacing {
 public:
  Replacing(Module& model, std::string by);
  ~Replacing();
  Replacing(const Replacing&) = delete;
  Replacing& operator=(const Replacing&) = delete;

 private:
  Module& model_;
  std::string by_;
  std::vector<Tensor> before_;
};
/// Replaces the tensors that `copy` shares with its original by clones, and splits its generators
/// by `index`.
void separate(Module& copy, std::uint64_t index);
}  // namespace detail

/// An independent copy: new tensors with the same values, no gradients and no hooks. (A plain C++
/// copy shares tensors, as handles do.) Members that share a parameter still share it. Its
/// generators are those of the original, split by `index`: give each clone of an ensemble a
/// different index.
template <std::derived_from<Module> M>
M clone(const M& module, std::uint64_t index = 0) {
  static_assert(std::is_copy_constructible_v<M>,
                "clone() copies the module, but a member (a unique_ptr?) is not copyable");
  M copy(module);
  detail::separate(copy, index);
  return copy;
}

/// Scaling of trained tensors. Both choices give the same distribution of functions at
/// initialization, but train differently under gradient descent. `in` is the number of inputs of
/// the layer.
enum class Parameterization {
  standard,  ///< The weights carry the scale: W_ij ~ N(0, σ_w²/in), y = x·Wᵀ + b.
  /// A factor carries the scale: W_ij ~ N(0, 1), y = σ_w/sqrt(in)·x·Wᵀ + σ_b·b (Jacot et al. 2018).
  ntk
};

/// Makes x a trained tensor, a leaf that requires gradients: the value of a parameter member.
Tensor parameter(Tensor x);

}  // namespace ladon
