#pragma once
// Modules: parameters and what is computed with them.
//
// A module's members are ordinary public tensors and modules, and one method lists them:
//
//   struct Affine : Layer {
//     Tensor weight, bias;
//     Tensor forward(const Tensor& x) const override { return linear(x, weight, bias); }
//     void visit(Visitor& v) override { v("weight", weight); v("bias", bias); }
//   };
//
// Names, state dict, dtype and mode changes, counts and summary all derive from that listing, so an
// assigned member is never forgotten.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/core/tensor.h"

namespace ladon {

class Module;

/// Receives a module's members. Undefined tensors (an absent bias) and null modules are passed
/// over.
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
  void operator()(std::string_view name, std::optional<M>& m) {
    if (m) module(name, *m);
  }
  /// A tensor that is saved with the module but not trained (a position table).
  virtual void buffer(std::string_view name, Tensor& x) = 0;

 protected:
  virtual void parameter(std::string_view name, Tensor& x) = 0;
  virtual void module(std::string_view name, Module& m) = 0;
};

/// Tensors by dotted name, e.g. "encoder.0.attention.query".
using StateDict = std::map<std::string, Tensor>;

class Module {
 public:
  virtual ~Module() = default;

  /// Lists the members, always in the same order.
  virtual void visit(Visitor& v) = 0;
  /// One line for summary(), e.g. "Linear(4 → 3)".
  virtual std::string describe() const = 0;

  /// Trained tensors in visiting order; a tensor that several members share comes once.
  std::vector<Tensor> parameters();
  std::vector<std::pair<std::string, Tensor>> named_parameters();
  std::int64_t parameter_count();
  /// Clears all gradients.
  void zero_grad();

  /// Parameters and buffers by name; they share storage with the module.
  StateDict state_dict();
  /// Copies values into the module's tensors, cast to their dtype. Names and shapes must agree
  /// exactly; otherwise throws Error naming the first that does not, and the module stays as it
  /// was.
  void load_state_dict(const StateDict& state);
  /// Writes (reads) the state dict as a safetensors file. Errors as for the file functions and
  /// load_state_dict.
  void save(const std::filesystem::path& path);
  void load(const std::filesystem::path& path);

  /// Converts parameters and floating buffers. Do this before an optimizer takes the parameters:
  /// they become new leaves.
  void to(DType dtype);
  /// Training mode (dropout draws) or evaluation mode, for this module and all inside it.
  void train(bool on = true);
  void eval() { train(false); }
  bool training() const { return training_; }

  /// A table: name, description, number of parameters of each module, and the total.
  std::string summary();

 private:
  bool training_ = true;
};

/// A module that maps one tensor to one tensor.
class Layer : public Module {
 public:
  virtual Tensor forward(const Tensor& x) const = 0;
  Tensor operator()(const Tensor& x) const { return forward(x); }
};

/// Marks a tensor as trained: the leaf that a parameter member holds.
Tensor parameter(Tensor x);

}  // namespace ladon
