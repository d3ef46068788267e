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
namespace infinite {
struct Kernel;
}

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
  /// A buffer that sets the prior of trained tensors, of rank 0: a weight's standard deviation.
  virtual void hyperparameter(std::string_view name, Tensor& x) { buffer(name, x); }

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
  /// What sets the prior of the trained tensors (f64 numbers; only layers in NTK parameterization
  /// list them). A limit is differentiable by them once they require gradients.
  std::vector<std::pair<std::string, Tensor>> hyperparameters();
  /// Puts `value` (f64, rank 0; a leaf or a function of leaves) in the place of a hyper-parameter.
  /// Throws Error where no such one is listed.
  void set_hyperparameter(const std::string& path, const Tensor& value);
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

/// How trained tensors are scaled. Both give the same functions at initialization; gradient descent
/// moves them differently.
enum class Parameterization {
  standard,  ///< The variance is in the weights: W_ij ~ N(0, σ_w²/in), y = x·Wᵀ + b.
  ntk        ///< It is in front of them: W_ij ~ N(0, 1), y = σ_w/sqrt(in)·x·Wᵀ + σ_b·b
             ///< (Jacot et al. 2018).
};

/// A module that maps one tensor to one tensor.
class Layer : public Module {
 public:
  virtual Tensor forward(const Tensor& x) const = 0;
  Tensor operator()(const Tensor& x) const { return forward(x); }
  /// The same for sequences of unequal length: `mask` (bool [batch, T]) is true where a position
  /// is a token. Layers that mix positions override it; undefined: every position is a token.
  virtual Tensor forward_masked(const Tensor& x, const Tensor& mask) const;
  Tensor operator()(const Tensor& x, const Tensor& mask) const { return forward_masked(x, mask); }

  /// The layer at infinite width: the kernel of its outputs, given that of its inputs
  /// (infinite/kernel.h). Throws Error where the layer has no closed form.
  virtual infinite::Kernel limit(const infinite::Kernel& inputs) const;
};

/// Marks a tensor as trained: the leaf that a parameter member holds.
Tensor parameter(Tensor x);

}  // namespace ladon
