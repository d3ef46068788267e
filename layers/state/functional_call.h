#pragma once
// A model as a function of its parameters.

#include <functional>
#include <vector>

#include "ladon/layers/layer.h"

namespace ladon {

/// f() with `values` in the places of the parameters of a set, in its order; what was there is put
/// back when f returns or throws. So derivatives are taken by parameters as by inputs: jvp
/// along a direction of all weights, vmap over a stack of them (an ensemble in one pass), a step of
/// learning that is itself differentiated. Throws Error where a value has another shape or dtype
/// than its parameter, and where one is not the module's. Not while another thread uses the module.
///
///   const Tensor scores = vmap([&](const std::vector<Tensor>& weights) {
///     return functional_call(model, weights, x);
///   }, stack_parameters(members));   // each [members, shape of the parameter..]
Tensor functional_call(Module& module, const ParameterSet& set, const std::vector<Tensor>& values,
                       const std::function<Tensor()>& f);
/// f() with `values` in the places of all parameters of the module, in visiting order.
Tensor functional_call(Module& module, const std::vector<Tensor>& values,
                       const std::function<Tensor()>& f);
/// layer(x) with `values` in the places of all parameters of the layer, in visiting order.
inline Tensor functional_call(Layer& layer, const std::vector<Tensor>& values, const Tensor& x) {
  return functional_call(layer, values, [&layer, &x] { return layer(x); });
}

}  // namespace ladon
