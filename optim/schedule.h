#pragma once
// Learning-rate schedules: functions from the number of steps made so far (0 before the first step)
// to the factor that multiplies the base learning rate.
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

/// Maps the number of steps made so far to the factor of the base learning rate. Throws Error for a
/// negative number.
using Schedule = std::function<double(std::int64_t step)>;

namespace schedule {

/// Constant `factor` at every step. Throws Error unless factor is finite and ≥ 0.
Schedule constant(double factor = 1);

/// min(1, (step + 1)/warmup): the first step has rate lr/warmup, the warmup-th step has rate lr. 1
/// at every step if warmup is 0. Throws Error if warmup < 0.
Schedule linear_warmup(std::int64_t warmup);

struct DecayOptions {
  std::int64_t steps;       ///< Total number of steps; the factor stays at `floor` after them.
  std::int64_t warmup = 0;  ///< Number of first steps with linear warm-up, as in linear_warmup.
  double floor = 0;         ///< The factor after the last step.
};
/// After the warm-up, floor + (1 − floor)·(1 + cos πp)/2 with p = (step − warmup)/(steps − warmup).
/// (Loshchilov and Hutter 2017.)  Throws Error unless 0 ≤ warmup < steps and floor is in [0, 1].
Schedule cosine(DecayOptions options);
/// After the warm-up, 1 − (1 − floor)·p with p = (step − warmup)/(steps − warmup). Throws the
/// Errors of cosine().
Schedule linear_decay(DecayOptions options);

/// min(t/warmup, sqrt(warmup/t)), t = step + 1; the peak is 1 at t = warmup. The rate of Vaswani et
/// al. 2017 is this factor times 1/sqrt(dim·warmup). Throws Error if warmup < 1.
Schedule inverse_sqrt(std::int64_t warmup);

/// factor^⌊step/every⌋. Throws Error unless every ≥ 1 and factor is finite and ≥ 0.
Schedule step_decay(std::int64_t every, double factor = 0.1);
/// factor^k, where k is the number of elements of `steps` that are ≤ the present step. Throws Error
/// unless `steps` are not negative and in ascending order, and unless factor is finite and ≥ 0.
Schedule milestones(std::vector<std::int64_t> steps, double factor = 0.1);
/// factor^step. Throws Error unless factor is finite and ≥ 0.
Schedule exponential(double factor);

struct OneCycleOptions {
  std::int64_t steps;   ///< K, total number of steps; the factor stays at `end` after them.
  double rise = 0.3;    ///< r in [0, 1]: fraction of the steps up to the peak.
  double start = 0.04;  ///< The first factor.
  double end = 4e-6;    ///< The last factor.
};
/// From `start` up to 1 at step r·(K − 1), then down to `end` at step K − 1, both along half a
/// cosine. The optimizer's base rate is the maximum of the cycle. (Smith and Topin 2018, arXiv
/// 1708.07120.) Throws Error unless K ≥ 1 and r, start and end are in [0, 1].
Schedule one_cycle(OneCycleOptions options);

/// One stage of sequence(): a schedule and the number of steps for which it is used.
struct Stage {
  Schedule factor;
  std::int64_t steps;
};
/// Runs schedules one after the other, each counting its own steps from 0; the last schedule
/// continues for ever. Throws Error if there is no stage, for an empty function, and for a negative
/// number of steps.
///   sequence({{linear_warmup(100), 100}, {constant(), 900}, {exponential(0.99), 1000}})
Schedule sequence(std::vector<Stage> stages);
/// The product of the factors. Throws Error for an empty function.
Schedule product(std::vector<Schedule> factors);

struct CyclicalOptions {
  std::int64_t steps;       ///< K, total number of steps.
  std::int64_t cycles = 4;  ///< C; each has L = ⌈K/C⌉ steps.
};
/// (1 + cos πp)/2 with p from cycle_fraction: every cycle begins at the full learning rate, which
/// lets a sampler move to another mode, and ends near 0, where its draws are accurate. (Zhang, Li,
/// Zhang, Chen and Wilson 2020, arXiv 1902.03932.) Cycles continue after `steps`. Throws Error
/// unless 1 ≤ cycles ≤ steps.
Schedule cyclical(CyclicalOptions options);
/// p = (step mod L)/L in [0, 1), the fraction of the current cycle that has passed; L = ⌈K/C⌉ is
/// the length of a cycle. Zhang et al. explore without noise while p is below a threshold, and
/// sample afterwards:
///   sgld.set_temperature(fraction(step) < 0.8 ? 0 : 1);
Schedule cycle_fraction(CyclicalOptions options);

}  // namespace schedule

struct PlateauOptions {
  enum class Mode { min, max };
  Mode mode = Mode::min;       ///< Whether small (min) or large (max) metrics are better.
  double factor = 0.1;         ///< Each reduction multiplies the learning rate by this factor.
  std::int64_t patience = 10;  ///< Number of consecutive metrics without improvement that are
                               ///< tolerated.
  double threshold = 1e-4;     ///< A metric improves on the best one only if it is better by more
                               ///< than threshold·|best|.
  double min_lr = 0;
};

/// Reduces the learning rate when a metric, reported once per epoch, has stopped improving.
class Plateau {
 public:
  /// Throws Error unless 0 < factor < 1, patience ≥ 0, threshold ≥ 0 and min_lr ≥ 0.
  explicit Plateau(PlateauOptions options = {});

  /// Takes the next value of the metric. After more than `patience` consecutive values without
  /// improvement on the best one, sets the optimizer's learning rate to max(lr·factor, min_lr) and
  /// starts counting again. NaN never counts as an improvement. Returns whether the learning rate
  /// changed.
  bool watch(double figure, Optimizer& optimizer);

  /// The best value of the metric (before the first value +∞, or −∞ for Mode::max), and the number
  /// of values since the best one or since the last reduction.
  double best() const { return best_; }
  std::int64_t waited() const { return waited_; }
  /// State to resume from: "best" (f64) and "waited" (i64). load_state_dict throws Error, and
  /// changes nothing, if either entry is missing or has another dtype or shape.
  StateDict state_dict() const;
  void load_state_dict(const StateDict& state);

 private:
  PlateauOptions options_;
  double best_;
  std::int64_t waited_ = 0;
};

}  // namespace ladon
