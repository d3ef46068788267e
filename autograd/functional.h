#pragma once
// Derivatives as functions of functions, and numerical checks of gradients.

#include <functional>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

/// A function of tensors. The functions below require it to be deterministic.
using TensorFunction = std::function<Tensor(const std::vector<Tensor>&)>;

// Derivatives nest, in any order: like the result of an operation, their result is recorded if an
// input or a tensor captured by f requires a gradient, and carries tangents if one does. Under
// NoGrad no intermediate results of f are kept. Inside another derivative f may receive plain
// tensors, or dual numbers: vjp() differentiates with respect to any of them, while grad()
// (graph.h) and per_example_gradients() (vmap.h) require tensors that require a gradient, and throw
// Error otherwise. vjp(f, {x}, scalar(1, f64)) gives the value and the gradient of a scalar f.

/// Value and cotangentᵀ·J, one gradient per input.
struct VjpResult {
  Tensor output;
  std::vector<Tensor> gradients;
};
VjpResult vjp(const TensorFunction& f, const std::vector<Tensor>& inputs, const Tensor& cotangent);

/// The Jacobian with respect to each input: [output shape..., input shape...].
std::vector<Tensor> jacobian(const TensorFunction& f, const std::vector<Tensor>& inputs);

/// Hessian–vector product of a scalar function of one tensor.
Tensor hvp(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, const Tensor& v);

struct GradcheckOptions {
  double step = 1e-6;  ///< Step of the central difference.
  double rtol = 1e-5;
  double atol = 1e-7;
};
/// Compares the full Jacobian of f, computed by reverse mode, with central differences. f receives
/// leaves for inputs that require gradients, and may call grad() on them. These inputs must be f64
/// (Error). Throws Error naming the input, the first entry that differs, and both values; returns
/// true otherwise.
bool gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
               GradcheckOptions options = {});
/// gradcheck() of the gradient of ⟨c, f⟩ for a fixed pseudo-random cotangent c: checks second
/// derivatives, with respect to the inputs and to the cotangent.
bool gradgradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
                   GradcheckOptions options = {});

/// A user-defined operation. `forward` is not recorded; `gradient(g, inputs, output)` returns one
/// gradient per input (undefined: none), computed in public operations if second derivatives are
/// wanted. Backward throws Error if it returns the wrong number of gradients, or a gradient whose
/// shape is not its input's.
struct CustomFunction {
  std::string name;
  TensorFunction forward;
  std::function<std::vector<Tensor>(const Tensor& g, const std::vector<Tensor>& inputs,
                                    const Tensor& output)>
      gradient;
  Tensor operator()(const std::vector<Tensor>& inputs) const;
};

}  // namespace ladon
