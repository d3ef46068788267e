#pragma once
// Derivatives as functions of functions, and the checks that a gradient is right.

#include <functional>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

/// A function of tensors. One that is passed here must be deterministic.
using TensorFunction = std::function<Tensor(const std::vector<Tensor>&)>;

// Derivatives nest, in any order: what one of them returns is recorded, as the result of an
// operation is, where its inputs, or what f captures, require a gradient, and carries tangents
// where they do. Under NoGrad nothing of f's inside is kept. Inside another derivative f may get
// plain tensors, or dual numbers: vjp() takes the gradient by any of them, while grad() (graph.h)
// and per_example_gradients() (vmap.h) take it by tensors that require one, and throw Error
// otherwise. vjp(f, {x}, scalar(1, f64)) is the value of a scalar f and its gradient.

/// Value and cotangentᵀ·J, one gradient per input.
struct VjpResult {
  Tensor output;
  std::vector<Tensor> gradients;
};
VjpResult vjp(const TensorFunction& f, const std::vector<Tensor>& inputs, const Tensor& cotangent);

/// Value and J·tangents, by forward mode (forward.h): f runs once, on dual numbers. Tangents have
/// their inputs' shapes and dtypes; that of an integer input may be undefined.
struct JvpResult {
  Tensor output, tangent;
};
JvpResult jvp(const TensorFunction& f, const std::vector<Tensor>& inputs,
              const std::vector<Tensor>& tangents);

/// The Jacobian by input i: [output shape..., input shape...] for each input.
std::vector<Tensor> jacobian(const TensorFunction& f, const std::vector<Tensor>& inputs);

/// Hessian–vector product of a scalar function of one tensor.
Tensor hvp(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, const Tensor& v);

struct GradcheckOptions {
  double step = 1e-6;  ///< Of the central difference.
  double rtol = 1e-5;
  double atol = 1e-7;
};
/// Compares the full Jacobian of f, by reverse mode, with central differences. f gets leaves in the
/// place of inputs that require gradients, and may take gradients by them. These inputs must be f64
/// (Error). Throws Error naming the first entry that differs, both values,
/// and the input; returns true otherwise.
bool gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
               GradcheckOptions options = {});
/// gradcheck() of the gradient of ⟨c, f⟩ for a fixed pseudo-random cotangent c: checks second
/// derivatives, by the inputs and by the cotangent.
bool gradgradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
                   GradcheckOptions options = {});

/// f(inputs), keeping nothing of its inside: backward runs it again (Chen et al. 2016). Parameters
/// that f captures get their gradients too, and hooks are called as without it (but those of
/// results inside of f, in a sweep over a sweep: once for each run, with a part of the gradient).
/// Random numbers of f, those of dropout layers included, are drawn again in the second run, which
/// leaves the generators where they stand. Apart from that f must do the same twice. Backward
/// throws Error where a tensor that f gave to an operation in the first run was edited since (an
/// input, a parameter that another optimizer has stepped, a constant), where f draws otherwise (the
/// model was switched to eval() in between, say), depends on other trained tensors or on fewer (the
/// functional_call that put them into a model has ended), or gives an output that differs in any
/// bit. The modes RowwiseProducts and ComposedForms are those of the first run. (Freezing and
/// thawing in between are allowed; other forms may then compute the output, which may differ by
/// rounding.)
Tensor checkpoint(const TensorFunction& f, const std::vector<Tensor>& inputs);

/// A user's own operation. `forward` runs unrecorded; `gradient(g, inputs, output)` gives one
/// gradient per input (undefined: none), in public operations if second derivatives are wanted.
/// Throws Error in backward if it gives another number of gradients, or one of another shape than
/// its input's.
struct CustomFunction {
  std::string name;
  TensorFunction forward;
  std::function<std::vector<Tensor>(const Tensor& g, const std::vector<Tensor>& inputs,
                                    const Tensor& output)>
      gradient;
  Tensor operator()(const std::vector<Tensor>& inputs) const;
};

}  // namespace ladon
