#pragma once
// The infinitely wide limit of a model, as a function of inputs.
//
//   Sequential net = ...;                                   // one description
//   Tensor y = net(x);                                      // the finite network
//   infinite::Kernel k = infinite::limit(net)(x, x_test);   // its Gaussian process

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "ladon/layers/infinite/kernel/inputs.h"
#include "ladon/layers/module.h"

namespace ladon::infinite {

/// Composes the layers' own limits. Holds a reference to the model (of a temporary: the model), whose
/// hyper-parameters count as they are when it is called.
class Limit {
 public:
  explicit Limit(const Layer& model) : model_(&model) {}
  template <std::derived_from<Layer> M>
  requires(!std::is_reference_v<M>) explicit Limit(M&& model)
      : owned_(std::make_shared<M>(std::move(model))), model_(owned_.get()) {}

  /// Kernels between two blocks of inputs, or of one with itself (then dropout knows which pairs are
  /// one input). Of a model that ends with positions `wanted` says which pairs of them are computed.
  /// Throws Error where a layer has no closed form, and naming the layer where a kernel overflows.
  Kernel operator()(const Inputs& a, const Inputs& b, Get get = Get::ntk,
                    Entries wanted = Entries::full) const {
    return asked(input_kernel(a, b, options(get, wanted)), wanted);
  }
  Kernel operator()(const Inputs& a, Get get = Get::ntk, Entries wanted = Entries::full) const {
    return asked(input_kernel(a, options(get, wanted)), wanted);
  }
  /// Of any kernel of inputs.
  Kernel operator()(const Kernel& inputs) const { return (*model_)(inputs); }

  const Layer& model() const { return *model_; }

 private:
  KernelOptions options(Get get, Entries wanted) const {
    return {.get = get, .entries = model_->needs(wanted)};
  }
  Kernel asked(Kernel inputs, Entries wanted) const {
    inputs.wanted = wanted;
    return (*this)(inputs);
  }

  std::shared_ptr<const Layer> owned_;
  const Layer* model_;
};

inline Limit limit(const Layer& model) { return Limit(model); }
template <std::derived_from<Layer> M>
requires(!std::is_reference_v<M>) Limit limit(M&& model) { return Limit(std::move(model)); }

}  // namespace ladon::infinite
