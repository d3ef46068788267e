#pragma once
// L-BFGS: a quasi-Newton method that approximates the Hessian from the last few steps. It evaluates
// the loss several times per step, so it is not an Optimizer: particle methods, samplers and
// schedules cannot be used with it.
//
//   Lbfgs lbfgs(model.parameters());
//   for (int i = 0; i < 10; ++i) lbfgs.step([&] { return mse_loss(model(x), y); });

#include <cstdint>
#include <functional>
#include <vector>

#include "ladon/core/state.h"
#include "ladon/layers/parameter_set.h"
#include "ladon/optim/extra/optimizers/line_search.h"

namespace ladon {

struct LbfgsOptions {
  double lr = 1;                     ///< The first step length tried along a direction; shorter
                                     ///< along the very first direction (see Lbfgs).
  std::int64_t iterations = 20;      ///< Maximum number of directions per step().
  std::int64_t history = 10;         ///< m: number of pairs (s, y) kept, two f64 vectors of the
                                     ///< size of all parameters each.
  double gradient_tolerance = 1e-7;  ///< step() ends when max |g| is at most this value.
  double change_tolerance = 1e-9;    ///< step() ends when neither a parameter nor the loss changed
                                     ///< by more than this value.
  bool line_search = true;           ///< Whether to use strong_wolfe; if not, every step has the
                                     ///< length that would be tried first.
  WolfeOptions wolfe = {};           ///< Must be the default without line_search (Error otherwise).
};

/// Minimizes a loss that is the same function of the parameters x at each call (full batch, no
/// dropout):
///   x ← x + t·d,  d = −H·g,  with the gradient g and the step length t found by strong_wolfe,
/// where H approximates the inverse Hessian. H is (s·y)/(y·y)·I for the latest pair (s, y), updated
/// by the pairs of the last m iterations; in each pair s is the change of x in one iteration, and y
/// is the change of g. The first direction is −g, with first trial length min(1, 1/Σ|g|)·lr. Pairs
/// without positive curvature, s·y ≤ 0 up to rounding, are left out. Computes in f64, whatever the
/// dtype of the parameters. (Nocedal and Wright, Numerical Optimization, 2nd edition, algorithms
/// 7.4 and 7.5)
class Lbfgs {
 public:
  /// Throws Error for parameters that an Optimizer does not accept, and for a setting out of range.
  explicit Lbfgs(ParameterSet parameters, LbfgsOptions options = {});
  Lbfgs(const Lbfgs&) = delete;
  Lbfgs& operator=(const Lbfgs&) = delete;

  /// Runs up to `iterations` iterations and returns the loss at the final parameters. `loss`
  /// computes the loss at the current parameters, one element with history, and must not call
  /// backward(). The parameters' stored gradients are not changed. Throws Error if the first loss
  /// or gradient is not finite; an exception, including one from `loss`, restores parameters and
  /// state.
  double step(const std::function<Tensor()>& loss);
  /// Number of iterations so far, over all calls of step().
  std::int64_t iterations() const { return state_.iterations; }

  /// State to resume from: "iterations", "pairs" (i64), and for each parameter the pairs (s, y),
  /// oldest first, as "steps.NAME" and "changes.NAME", f64 [pairs, parameter shape..]. NAME is the
  /// parameter's name, or a number if it has none, as in Optimizer::state_dict.
  StateDict state_dict() const;
  /// Restores a state. Throws Error, and changes nothing, if the state belongs to other parameters
  /// (the message lists them), or for the first entry that does not fit.
  void load_state_dict(const StateDict& state);

 private:
  struct Pair {
    Tensor s, y;  ///< Changes of parameters and gradient in one iteration, f64 [n].
  };
  struct State {
    std::int64_t iterations = 0;
    std::vector<Pair> pairs;
  };

  LinePoint evaluate(const std::function<Tensor()>& loss) const;
  Tensor direction(const Tensor& gradient) const;
  double run(const std::function<Tensor()>& loss);
  void remember(const Tensor& s, const Tensor& y);

  ParameterSet parameters_;
  std::int64_t count_ = 0;  ///< n, number of elements of all parameters
  LbfgsOptions options_;
  State state_;
};

}  // namespace ladon
