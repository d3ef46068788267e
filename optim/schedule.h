#pragma once
// Learning-rate schedules: functions from the number of steps made so far (from 0) to a factor by
// which the base rate is multiplied.
//
//   Adam adam(model.parameters(), {.lr = 1e-3});
//   adam.set_schedule(schedule::cosine({.steps = 1000, .warmup = 50}));  // used by each step()

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "ladon/layers/module.h"

namespace ladon {

class Optimizer;

/// step → factor of the base learning rate. Throws Error for a negative step.
using Schedule = std::function<double(std::int64_t step)>;

namespace schedule {

/// Always `factor`.
Schedule constant(double factor = 1);

/// min(1, (step + 1)/warmup): the first step has rate lr/warmup, step number `warmup` has rate lr.
/// Always 1 if warmup is 0.
Schedule linear_warmup(std::int64_t warmup);

struct DecayOptions {
  std::int64_t steps;       ///< Total number of steps; the factor stays at `floor` after them.
  std::int64_t warmup = 0;  ///< Linear warm-up over the first of these steps, as in linear_warmup.
  double floor = 0;         ///< The factor at the end.
};
/// After the warm-up, floor + (1 − floor)·(1 + cos πp)/2 with p = (step − warmup)/(steps − warmup).
/// (Loshchilov and Hutter 2017.)  Throws Error unless 0 ≤ warmup < steps and floor is in [0, 1].
Schedule cosine(DecayOptions options);
/// After the warm-up, 1 − (1 − floor)·p. Errors as for cosine.
Schedule linear_decay(DecayOptions options);

/// min(t/warmup, sqrt(warmup/t)), t = step + 1; the peak is 1 at t = warmup. The rate of Vaswani et
/// al. 2017 is this factor times 1/sqrt(dim·warmup). Throws Error if warmup < 1.
Schedule inverse_sqrt(std::int64_t warmup);

/// factor^⌊step/every⌋. Throws Error unless every ≥ 1 and factor is finite and ≥ 0.
Schedule step_decay(std::int64_t every, double factor = 0.1);
/// factor^k, where k is the number of milestones ≤ step. Throws Error unless milestones are not
/// negative and in ascending order, and for a factor as above.
Schedule milestones(std::vector<std::int64_t> steps, double factor = 0.1);
/// factor^step. Throws Error for a factor as above.
Schedule exponential(double factor);

struct OneCycleOptions {
  std::int64_t steps;   ///< K, total number of steps; the factor stays at `end` after them.
  double rise = 0.3;    ///< r in [0, 1]: fraction of the steps up to the peak.
  double start = 0.04;  ///< The first factor.
  double end = 4e-6;    ///< The last factor.
};
/// From `start` up to 1 at step r·(K − 1), then down to `end` at step K − 1, both along half a
/// cosine. The base rate is the highest one. (Smith and Topin 2018, arXiv 1708.07120.)  Throws
/// Error unless K ≥ 1, r, start and end are in [0, 1].
Schedule one_cycle(OneCycleOptions options);

/// A schedule and its number of steps.
struct Stage {
  Schedule factor;
  std::int64_t steps;
};
/// Schedules one after the other, each counting its own steps from 0; the last one continues for
/// ever. Throws Error if there is no stage, and for an empty function or a negative number of
/// steps.
///   sequence({{linear_warmup(100), 100}, {constant(), 900}, {exponential(0.99), 1000}})
Schedule sequence(std::vector<Stage> stages);
/// The product of the factors. Throws Error for an empty function.
Schedule product(std::vector<Schedule> factors);

struct CyclicalOptions {
  std::int64_t steps;       ///< K, total number of steps.
  std::int64_t cycles = 4;  ///< C; each has L = ⌈K/C⌉ steps.
};
/// (1 + cos πp)/2 with p = cycle_fraction: every cycle begins at the full rate, to move to another
/// mode, and ends near 0, where a sampler's draws are accurate. (Zhang, Li, Zhang, Chen and Wilson
/// 2020, arXiv 1902.03932.)  Cycles continue after `steps`. Throws Error unless 1 ≤ cycles ≤ steps.
Schedule cyclical(CyclicalOptions options);
/// p = (step mod L)/L in [0, 1), the fraction of the current cycle that has passed. The paper
/// explores without noise while p is below a threshold, and samples after it:
///   sgld.set_temperature(fraction(step) < 0.8 ? 0 : 1);
Schedule cycle_fraction(CyclicalOptions options);

}  // namespace schedule

struct PlateauOptions {
  enum class Mode { min, max };
  Mode mode = Mode::min;       ///< Whether small (min) or large (max) figures are better.
  double factor = 0.1;         ///< Factor of the rate at each reduction.
  std::int64_t patience = 10;  ///< Number of consecutive figures without improvement that are
                               ///< tolerated.
  double threshold = 1e-4;     ///< An improvement must exceed the best figure by more than
                               ///< threshold·|best|.
  double min_lr = 0;
};

/// Reduces the learning rate when a figure, reported once per epoch, has stopped improving.
class Plateau {
 public:
  /// Throws Error unless 0 < factor < 1, patience ≥ 0, threshold ≥ 0 and min_lr ≥ 0.
  explicit Plateau(PlateauOptions options = {});

  /// Takes the next figure. After more than `patience` consecutive figures without improvement on
  /// the best one, sets the optimizer's rate to max(lr·factor, min_lr) and starts counting again.
  /// NaN never improves. Returns whether the rate changed.
  bool watch(double figure, Optimizer& optimizer);

  /// The best figure (before the first: +∞, or −∞ for Mode::max), and the number of figures since.
  double best() const { return best_; }
  std::int64_t waited() const { return waited_; }
  /// "best" (f64) and "waited" (i64), to resume from. Throws Error, and changes nothing, where one
  /// is missing or has another dtype or shape.
  StateDict state_dict() const;
  void load_state_dict(const StateDict& state);

 private:
  PlateauOptions options_;
  double best_;
  std::int64_t waited_ = 0;
};

}  // namespace ladon
