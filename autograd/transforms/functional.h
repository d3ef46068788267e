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

/// Value and J·tangents, by forward mode (forward.h): f runs once, on dual numbers. Tangents have
/// the shapes and dtypes of their inputs; that of an integer input may be undefined.
struct JvpResult {
  Tensor output, tangent;
};
JvpResult jvp(const TensorFunction& f, const std::vector<Tensor>& inputs,
              const std::vector<Tensor>& tangents);

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

/// f(inputs), without keeping its intermediate results: backward runs f again (Chen et al. 2016).
/// Parameters that f captures get their gradients too, and hooks are called as usual (except that a
/// sweep for second derivatives calls a hook inside f once per run, each time with a part of the
/// gradient). Random numbers of f, including those of dropout layers, are drawn again in the second
/// run, which leaves the generators unchanged. Apart from that f must do the same in both runs.
/// Backward throws Error if a tensor that the first run used was edited since (an input, a
/// parameter that another optimizer has updated, a constant), or if in the second run f draws
/// differently (because the model was switched to eval(), say), depends on more or fewer trained
/// tensors (because the functional_call that put them into a model has ended), or gives an output
/// that differs in any bit. The modes RowwiseProducts and ComposedForms are those of the first run.
/// (Parameters may be frozen or unfrozen in between; other forms may then compute the output, which
/// may differ by rounding.)
Tensor checkpoint(const TensorFunction& f, const std::vector<Tensor>& inputs);

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
