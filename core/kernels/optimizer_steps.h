#pragma once
// Coefficients and update rules of optimizers for a parameter x with gradient g; the states m, v, u
// and c are described in optimizer.h. It is a separate header, so that a new rule recompiles only
// the loops and the files that name rules.

namespace ladon::kernels {

/// Coefficients of one step of stochastic gradient descent:
///   g ← g + weight_decay·x;  m ← momentum·m + gradient_weight·g;  x ← x − lr·u
/// with u = m, or u = g + momentum·m if `nesterov`, or u = g if m is undefined.
struct SgdStep {
  double lr, momentum, gradient_weight, weight_decay;
  bool nesterov;
};

/// Coefficients of one step of Adam:
///   g ← g + weight_decay·x;  m ← beta1·m + (1−beta1)·g;  v ← beta2·v + (1−beta2)·g²;
///   x ← shrink·x − lr·m/(sqrt(u)·correction + eps)
/// with u ← max(u, v) if u is defined, else u = v. lr includes the bias correction of m, and
/// `correction` is the bias correction of sqrt(v). `shrink` is the factor of decoupled weight
/// decay.
struct AdamStep {
  double lr, beta1, beta2, correction, eps, weight_decay, shrink;
};

/// Coefficients of one step of RMSprop:
///   g ← g + weight_decay·x;  v ← decay·v + (1−decay)·g²;  c ← decay·c + (1−decay)·g;
///   u = g/(sqrt(v − c²) + eps);  m ← momentum·m + u;  x ← x − lr·m
/// with c = 0 if c is undefined, and m = u if m is undefined.
struct RmspropStep {
  double lr, decay, eps, weight_decay, momentum;
};

/// Coefficients of one step of Adagrad:
///   g ← g + weight_decay·x;  v ← v + g²;  x ← x − lr·g/(sqrt(v) + eps)
struct AdagradStep {
  double lr, eps, weight_decay;
};

/// Coefficients of one step of Lion:
///   x ← shrink·x − lr·sign(beta1·m + (1−beta1)·g);  m ← beta2·m + (1−beta2)·g
/// `shrink` is the factor of decoupled weight decay.
struct LionStep {
  double lr, beta1, beta2, shrink;
};

}  // namespace ladon::kernels
