#pragma once
// L-BFGS: quasi-Newton directions from the last few steps. It evaluates the loss several times per
// step, so it is not an Optimizer: particle methods, samplers and schedules do not apply to it.
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
  double lr = 1;                     ///< The first step length tried along a direction.
  std::int64_t iterations = 20;      ///< Maximum number of directions per step().
  std::int64_t history = 10;         ///< m: number of pairs kept, each as large as all parameters,
                                     ///< in f64.
  double gradient_tolerance = 1e-7;  ///< A step() ends when max |g| is at most this,
  double change_tolerance = 1e-9;    ///< or when no parameter nor the loss changed by more.
  bool line_search = true;           ///< Use strong_wolfe; false: always length lr.
  WolfeOptions wolfe = {};
};

/// Minimizes a loss that is the same function at each call (full batch, no dropout):
///   x ← x + t·d,  d = −H·g,  t by strong_wolfe,
/// where H approximates the inverse Hessian: (s·y)/(y·y)·I updated by the pairs s = x₊ − x, y = g₊
/// − g of the last m iterations. The first direction is −g, first tried with length min(1,
/// 1/Σ|g|)·lr. Pairs without positive curvature, s·y ≤ 0 up to rounding, are left out. Computes in
/// f64, whatever the dtype of the parameters.   (Nocedal and Wright, 2nd edition, algorithms 7.4
/// and 7.5)
class Lbfgs {
 public:
  /// Throws Error as an Optimizer does for its parameters, and for a setting out of range.
  explicit Lbfgs(ParameterSet parameters, LbfgsOptions options = {});
  Lbfgs(const Lbfgs&) = delete;
  Lbfgs& operator=(const Lbfgs&) = delete;

  /// Up to `iterations` iterations. `loss` computes the (recorded) loss at the current parameters,
  /// one element, and does not call backward(). Gradients of the parameters are not changed.
  /// Returns the loss at the final parameters. Throws Error if the first loss or gradient is not
  /// finite; an exception, including one from `loss`, restores parameters and state.
  double step(const std::function<Tensor()>& loss);
  /// Iterations so far.
  std::int64_t iterations() const { return state_.iterations; }

  /// "iterations", "pairs" (i64), and the pairs, oldest first, per parameter: "steps.NAME" and
  /// "changes.NAME", f64 [pairs, parameter shape..]. Names, and numbers for unnamed tensors, as in
  /// an Optimizer's state.
  StateDict state_dict() const;
  /// Throws Error, and changes nothing, if the state belongs to other parameters, which it lists,
  /// or for the first entry that does not fit.
  void load_state_dict(const StateDict& state);

 private:
  struct Pair {
    Tensor s, y;  ///< f64 [n]
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
  std::int64_t count_ = 0;  ///< n
  LbfgsOptions options_;
  State state_;
};

}  // namespace ladon
