#pragma once
// Derivatives as functions of functions, and numerical checks of gradients.

#include <functional>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

/// A function of tensors. The functions below require it to be deterministic.
using TensorFunction = std::function<Tensor(const std::vector<Tensor>&)>;

// Calls of the functions below may be nested in any order: like the result of an operation, a
// derivative is recorded if an input or a tensor captured by f requires a gradient, and carries
// tangents if an input or a captured tensor does. Under NoGrad no intermediate results of f are
// kept. Inside another derivative f may receive tensors that require no gradient, or dual numbers:
// vjp() differentiates with respect to any of them, while grad() (graph.h) and
// per_example_gradients() (vmap.h) throw Error for tensors that require no gradient. vjp(f, {x},
// scalar(1, f64)) returns the value and the gradient of a scalar f.

/// Vector–Jacobian product: the value of f, and cotangentᵀ·J as one gradient per input.
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
/// Compares the full Jacobian of f, computed by reverse mode, with central differences. Returns
/// true if all entries agree within rtol and atol, else throws Error naming the input, the first
/// entry that differs, and both values. f receives leaves for inputs that require gradients, and
/// may call grad() on them. Throws Error if such an input, or the output, is not f64.
bool gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
               GradcheckOptions options = {});
/// Checks second derivatives: gradcheck() of the gradient of ⟨c, f⟩ with respect to the inputs, as
/// a function of the inputs and of the cotangent c, a fixed pseudo-random tensor.
bool gradgradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
                   GradcheckOptions options = {});

/// A user-defined operation. `forward` is not recorded; `gradient(g, inputs, output)` receives the
/// gradient g of the output and returns one gradient per input: an undefined tensor for an input
/// without a gradient. Write `gradient` in public operations if second derivatives are wanted.
/// Backward throws Error if `gradient` returns the wrong number of gradients, or a gradient whose
/// shape is not that of its input.
struct CustomFunction {
  std::string name;
  TensorFunction forward;
  std::function<std::vector<Tensor>(const Tensor& g, const std::vector<Tensor>& inputs,
                                    const Tensor& output)>
      gradient;
  Tensor operator()(const std::vector<Tensor>& inputs) const;
};

}  // namespace ladon
