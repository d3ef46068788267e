#pragma once
// Layers without parameters: activations and dropout.

#include <string_view>

#include "ladon/layers/module.h"

namespace ladon {

enum class Nonlinearity {
  identity,
  relu,
  leaky_relu,
  elu,
  selu,
  gelu,
  gelu_tanh,
  silu,
  tanh,
  sigmoid,
  softplus
};

/// The nonlinearity of that name ("gelu"). Throws Error listing the names otherwise.
Nonlinearity nonlinearity_from_name(std::string_view name);
std::string_view name(Nonlinearity f);
Tensor apply(Nonlinearity f, const Tensor& x);

struct Activation : Layer {
  Nonlinearity function;

  explicit Activation(Nonlinearity f) : function(f) {}
  Tensor forward(const Tensor& x) const override { return apply(function, x); }
  void visit(Visitor&) override {}
  std::string describe() const override;
};

/// In training mode zeroes each element with probability p and divides the others by 1 − p; the
/// identity in evaluation mode. Draws from its own generator, split off the one given: copies of
/// the layer draw the same numbers.
struct Dropout : Layer {
  double p;
  mutable Generator rng;

  /// Throws Error unless 0 ≤ p ≤ 1.
  Dropout(double p, Generator& rng);
  Tensor forward(const Tensor& x) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;
};

}  // namespace ladon
