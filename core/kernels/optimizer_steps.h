#pragma once
// The coefficients of optimizers' steps, and their rules. They stand apart as unary.h does.

namespace ladon::kernels {

/// Coefficients of one step of stochastic gradient descent:
///   g ← g + weight_decay·x;  m ← momentum·m + gradient_weight·g;  x ← x − lr·u
/// with u = m, or g + momentum·m (nesterov), or g where there is no m.
struct SgdStep {
  double lr, momentum, gradient_weight, weight_decay;
  bool nesterov;
};

/// Coefficients of one step of Adam:
///   g ← g + weight_decay·x;  m ← beta1·m + (1−beta1)·g;  v ← beta2·v + (1−beta2)·g²;
///   x ← shrink·x − lr·m/(sqrt(v)·correction + eps)
struct AdamStep {
  double lr, beta1, beta2, correction, eps, weight_decay, shrink;
};

}  // namespace ladon::kernels
