#pragma once
// Dropout (Srivastava et al. 2014).

#include "ladon/layers/layer.h"

namespace ladon {

/// In training mode zeroes each element with probability p and divides the others by 1 − p; the
/// identity in evaluation mode. Draws from its own generator, split off the one given: copies of
/// the layer draw the same numbers.
struct Dropout : Layer {
  double p;
  mutable Generator rng;

  /// Throws Error unless 0 ≤ p ≤ 1.
  Dropout(double p, Generator& rng);
  Tensor forward(const Tensor& x) const override;
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  bool per_position() const override { return true; }
  /// In training mode, the variance of each element (its kernel with the same position of the same
  /// input, Kernel::same) is multiplied by E[m²]/(1 − p)² = 1/(1 − p), where the dropout mask m is
  /// 0 or 1. The masks of different elements are independent, so covariances do not change. In
  /// evaluation mode the limit is the identity.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override { v.generator("rng", rng); }
  std::string describe() const override;
};

}  // namespace ladon
