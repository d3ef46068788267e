#pragma once
// Lists of piecewise functions and of losses, whose parameters are a and b. It is a separate
// header, so that a new function recompiles only the loops and the files that name functions.

namespace ladon::kernels {

/// Functions of x. The gradient at a kink is that of the piece to which the kink belongs.
enum class Piecewise {
  leaky_relu,  ///< x for x > 0, else a·x.
  elu,         ///< b·x for x > 0, else b·a·(e^x − 1).
  clamp,       ///< x, at least a and at most b.
  count
};

/// Losses of a prediction x and its target t, with e = x − t.
enum class Loss {
  squared,   ///< e².
  absolute,  ///< |e|, of gradient 0 at 0.
  huber,     ///< c·(e − c/2)/b, where c is e clamped to [−a, a].
  logistic,  ///< −t·ln σ(x) − (1 − t)·ln(1 − σ(x)). A weight of 0 times ∞ is 0.
  count
};

}  // namespace ladon::kernels
