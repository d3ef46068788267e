#pragma once
// A model as a function of its parameters.

#include <functional>
#include <vector>

#include "ladon/layers/layer.h"

namespace ladon {

/// Runs f() with `values` in place of the parameters of `set`, in the order of the set; the
/// parameters are put back when f returns or throws. Derivatives with respect to parameters can
/// then be taken as with respect to inputs: jvp along a direction of all weights, vmap over a stack
/// of weights (an ensemble in one pass), or the derivative of a learning step. Throws Error if
/// shape or dtype of a value differ from those of its parameter, and if a parameter of the set is
/// not in the module. No other thread may use the module during the call.
///
///   const Tensor scores = vmap([&](const std::vector<Tensor>& weights) {
///     return functional_call(model, weights, x);
///   }, stack_parameters(members));   // each [members, shape of the parameter..]
Tensor functional_call(Module& module, const ParameterSet& set, const std::vector<Tensor>& values,
                       const std::function<Tensor()>& f);
/// Runs f() with `values` in place of all parameters of the module, in visiting order.
Tensor functional_call(Module& module, const std::vector<Tensor>& values,
                       const std::function<Tensor()>& f);
/// layer(x) with `values` in place of all parameters of the layer, in visiting order.
inline Tensor functional_call(Layer& layer, const std::vector<Tensor>& values, const Tensor& x) {
  return functional_call(layer, values, [&layer, &x] { return layer(x); });
}

}  // namespace ladon
