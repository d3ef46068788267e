#pragma once
// Learning-rate schedules: functions from the number of steps made so far (from 0) to a factor of
// the base rate.
//
//   Adam adam(model.parameters(), {.lr = 1e-3});
//   adam.set_schedule(schedule::cosine({.steps = 1000, .warmup = 50}));  // each step() asks it

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

/// min(1, (step + 1)/warmup): the first step has rate lr/warmup, step number `warmup` the full one.
/// All ones when warmup is 0.
Schedule linear_warmup(std::int64_t warmup);

struct DecayOptions {
  std::int64_t steps;       ///< Steps in all; the factor stays at `floor` after them.
  std::int64_t warmup = 0;  ///< Linear warm-up over the first of them, as linear_warmup.
  double floor = 0;         ///< The last factor.
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
/// factor^k after k of the milestones: at step s those ≤ s. Throws Error unless they are not
/// negative and in order, and for a factor as above.
Schedule milestones(std::vector<std::int64_t> steps, double factor = 0.1);
/// factor^step. Throws Error for a factor as above.
Schedule exponential(double factor);

struct OneCycleOptions {
  std::int64_t steps;   ///< K, in all; the factor stays at the last after them.
  double rise = 0.3;    ///< r in [0, 1]: the part of the steps until the peak.
  double start = 0.04;  ///< The first factor, …
  double end = 4e-6;    ///< … and the last.
};
/// From `start` up to 1 at step r·(K − 1), then down to `end` at step K − 1, both along half a
/// cosine. The base rate is the highest one. (Smith and Topin 2018, arXiv 1708.07120.)  Throws
/// Error unless K ≥ 1, r, start and end are in [0, 1].
Schedule one_cycle(OneCycleOptions options);

/// A schedule, and how many steps it has.
struct Stage {
  Schedule factor;
  std::int64_t steps;
};
/// One after the other, each counting its own steps from 0; the last goes on for ever. Throws Error
/// for no stage, an empty function, or one of fewer than 0 steps.
///   sequence({{linear_warmup(100), 100}, {constant(), 900}, {exponential(0.99), 1000}})
Schedule sequence(std::vector<Stage> stages);
/// The product of their factors. Throws Error for an empty function.
Schedule product(std::vector<Schedule> factors);

struct CyclicalOptions {
  std::int64_t steps;       ///< K, in all.
  std::int64_t cycles = 4;  ///< C; each has L = ⌈K/C⌉ steps.
};
/// (1 + cos πp)/2 with p = cycle_fraction: every cycle begins at the full rate, which leads to
/// another mode, and ends near 0, where a sampler's draws are good. (Zhang, Li, Zhang, Chen and
/// Wilson 2020, arXiv 1902.03932.)  Cycles go on after `steps`. Throws Error unless 1 ≤ cycles ≤
/// steps.
Schedule cyclical(CyclicalOptions options);
/// p = (step mod L)/L in [0, 1), how much of its cycle is over. The publication explores without
/// noise where p is below a fraction, and samples after it:
///   sgld.set_temperature(fraction(step) < 0.8 ? 0 : 1);
Schedule cycle_fraction(CyclicalOptions options);

}  // namespace schedule

struct PlateauOptions {
  enum class Mode { min, max };
  Mode mode = Mode::min;       ///< Whether small or large figures are good.
  double factor = 0.1;         ///< Of the rate, at a reduction.
  std::int64_t patience = 10;  ///< Figures in a row without improvement that are tolerated.
  double threshold = 1e-4;     ///< An improvement exceeds the best by more than threshold·|best|.
  double min_lr = 0;
};

/// Reduces the learning rate when a figure, watched once per epoch, has stopped improving.
class Plateau {
 public:
  /// Throws Error unless 0 < factor < 1, patience ≥ 0, threshold ≥ 0 and min_lr ≥ 0.
  explicit Plateau(PlateauOptions options = {});

  /// Takes the next figure; the patience + 1st in a row that does not improve on the best sets the
  /// optimizer's rate to max(lr·factor, min_lr) and starts the count again. NaN never improves.
  /// Returns whether the rate changed.
  bool watch(double figure, Optimizer& optimizer);

  /// The best figure (none so far: +∞, or −∞ for Mode::max) and the figures since.
  double best() const { return best_; }
  std::int64_t waited() const { return waited_; }
  /// "best" (f64) and "waited" (i64), to resume from. Throws Error where one is missing or of
  /// another dtype or shape, and changes nothing then.
  StateDict state_dict() const;
  void load_state_dict(const StateDict& state);

 private:
  PlateauOptions options_;
  double best_;
  std::int64_t waited_ = 0;
};

}  // namespace ladon
