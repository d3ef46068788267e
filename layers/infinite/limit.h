#pragma once
// The infinitely wide limit of a model, as a function of inputs.
//
//   Sequential net = ...;                                   // one description
//   Tensor y = net(x);                                      // the finite network
//   infinite::Kernel k = infinite::limit(net)(x, x_test);   // its Gaussian process

#include "ladon/layers/infinite/kernel/inputs.h"
#include "ladon/layers/module.h"

namespace ladon::infinite {

/// Composes the layers' own limits. Holds a reference to the model: its hyper-parameters count as
/// they are when it is called.
class Limit {
 public:
  explicit Limit(const Layer& model) : model_(&model) {}

  /// Kernels between two blocks of inputs, or of one with itself (then dropout knows which pairs
  /// are one input). Throws Error where a layer has no closed form.
  Kernel operator()(const Inputs& a, const Inputs& b, Get get = Get::ntk) const {
    return (*this)(input_kernel(a, b, get));
  }
  Kernel operator()(const Inputs& a, Get get = Get::ntk) const {
    return (*this)(input_kernel(a, get));
  }
  /// Of any kernel of inputs.
  Kernel operator()(const Kernel& inputs) const { return model_->limit(inputs); }

  const Layer& model() const { return *model_; }

 private:
  const Layer* model_;
};

inline Limit limit(const Layer& model) { return Limit(model); }

}  // namespace ladon::infinite
