#include "ladon/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ladon/core/error.h"
#include "ladon/optim/optimizer.h"

namespace ladon {
namespace schedule {
namespace {

double checked_step(std::int64_t step) {
  LADON_CHECK(step >= 0, "schedule", "`step` is ", step, "; it must be at least 0");
  return static_cast<double>(step);
}

/// Linear warm-up, then a decay from 1 to o.floor along shape(p), which falls from 1 at p = 0 to 0
/// at p = 1.
template <class Shape>
Schedule decay(DecayOptions o, Shape shape) {
  LADON_CHECK(o.warmup >= 0 && o.warmup < o.steps, "schedule", "`warmup` is ", o.warmup, " of ",
              o.steps, " steps; it must be at least 0 and less than the total number of steps");
  LADON_CHECK(o.floor >= 0 && o.floor <= 1, "schedule", "`floor` is ", o.floor,
              "; it must be in [0, 1]");
  return [o, shape, rise = linear_warmup(o.warmup)](std::int64_t step) {
    if (step < o.warmup) return rise(step);
    const double p = (checked_step(step) - double(o.warmup)) / double(o.steps - o.warmup);
    return o.floor + (1 - o.floor) * shape(std::min(1.0, p));
  };
}

void check_factor(double factor) {
  LADON_CHECK(std::isfinite(factor) && factor >= 0, "schedule", "`factor` is ", factor,
              "; it must be finite and at least 0");
}

void check_given(const Schedule& schedule) {
  LADON_CHECK(static_cast<bool>(schedule), "schedule",
              "a schedule is an empty function; pass a function from the step to a factor");
}

/// Half a cosine from a at p = 0 to b at p = 1.
double half_cosine(double a, double b, double p) {
  return b + (a - b) * (1 + std::cos(std::numbers::pi * p)) / 2;
}

}  // namespace

Schedule constant(double factor) {
  check_factor(factor);
  return [factor](std::int64_t step) {
    checked_step(step);
    return factor;
  };
}

Schedule linear_warmup(std::int64_t warmup) {
  LADON_CHECK(warmup >= 0, "schedule", "`warmup` is ", warmup, "; it must be at least 0");
  return [warmup](std::int64_t step) {
    const double t = checked_step(step) + 1;
    return t < double(warmup) ? t / double(warmup) : 1;
  };
}

Schedule cosine(DecayOptions options) {
  return decay(options, [](double p) { return half_cosine(1, 0, p); });
}

Schedule linear_decay(DecayOptions options) {
  return decay(options, [](double p) { return 1 - p; });
}

Schedule inverse_sqrt(std::int64_t warmup) {
  LADON_CHECK(warmup >= 1, "schedule", "`warmup` is ", warmup, "; it must be at least 1");
  return [w = double(warmup)](std::int64_t step) {
    const double t = checked_step(step) + 1;
    return std::min(t / w, std::sqrt(w / t));
  };
}

Schedule step_decay(std::int64_t every, double factor) {
  LADON_CHECK(every >= 1, "schedule", "`every` is ", every, "; it must be at least 1");
  check_factor(factor);
  return [=](std::int64_t step) {
    checked_step(step);
    return std::pow(factor, double(step / every));
  };
}

Schedule milestones(std::vector<std::int64_t> steps, double factor) {
  LADON_CHECK(std::is_sorted(steps.begin(), steps.end()) && (steps.empty() || steps[0] >= 0),
              "schedule", "milestones must be in ascending order and at least 0");
  check_factor(factor);
  return [steps = std::move(steps), factor](std::int64_t step) {
    checked_step(step);
    const auto passed = std::upper_bound(steps.begin(), steps.end(), step) - steps.begin();
    return std::pow(factor, double(passed));
  };
}

Schedule exponential(double factor) { return step_decay(1, factor); }

Schedule one_cycle(OneCycleOptions o) {
  LADON_CHECK(o.steps >= 1, "schedule", "`steps` is ", o.steps, "; it must be at least 1");
  for (const double part : {o.rise, o.start, o.end})
    LADON_CHECK(part >= 0 && part <= 1, "schedule", "rise, start and end are ", o.rise, ", ",
                o.start, " and ", o.end, "; they must be in [0, 1]");
  const double last = double(o.steps - 1), peak = o.rise * last;
  return [=](std::int64_t step) {
    const double t = std::min(checked_step(step), last);
    if (t < peak) return half_cosine(o.start, 1, t / peak);
    return half_cosine(1, o.end, last > peak ? (t - peak) / (last - peak) : 0);
  };
}

Schedule sequence(std::vector<Stage> stages) {
  LADON_CHECK(!stages.empty(), "schedule", "a sequence needs at least one stage, got 0");
  for (const Stage& stage : stages) {
    check_given(stage.factor);
    LADON_CHECK(stage.steps >= 0, "schedule", "a stage has ", stage.steps,
                " steps; it must have at least 0");
  }
  return [stages = std::move(stages)](std::int64_t step) {
    checked_step(step);
    std::size_t at = 0;
    for (; at + 1 < stages.size() && step >= stages[at].steps; ++at) step -= stages[at].steps;
    return stages[at].factor(step);
  };
}

Schedule product(std::vector<Schedule> factors) {
  for (const Schedule& factor : factors) check_given(factor);
  return [factors = std::move(factors)](std::int64_t step) {
    checked_step(step);
    double all = 1;
    for (const Schedule& factor : factors) all *= factor(step);
    return all;
  };
}

Schedule cycle_fraction(CyclicalOptions o) {
  LADON_CHECK(o.cycles >= 1 && o.cycles <= o.steps, "schedule", "`cycles` is ", o.cycles, " of ",
              o.steps, " steps; it must be at least 1 and at most the number of steps");
  return [length = (o.steps - 1) / o.cycles + 1](std::int64_t step) {
    checked_step(step);
    return double(step % length) / double(length);
  };
}

Schedule cyclical(CyclicalOptions options) {
  return [fraction = cycle_fraction(options)](std::int64_t step) {
    return half_cosine(1, 0, fraction(step));
  };
}

}  // namespace schedule

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Plateau::Plateau(PlateauOptions options)
    : options_(options), best_(options.mode == PlateauOptions::Mode::min ? infinity : -infinity) {
  LADON_CHECK(options.factor > 0 && options.factor < 1, "plateau", "`factor` is ", options.factor,
              "; it must be between 0 and 1");
  LADON_CHECK(options.patience >= 0, "plateau", "`patience` is ", options.patience,
              "; it must be at least 0");
  LADON_CHECK(options.threshold >= 0 && options.min_lr >= 0, "plateau", "threshold and min_lr are ",
              options.threshold, " and ", options.min_lr, "; they must be at least 0");
}

bool Plateau::watch(double figure, Optimizer& optimizer) {
  const double margin = std::isfinite(best_) ? options_.threshold * std::abs(best_) : 0;
  const bool better = options_.mode == PlateauOptions::Mode::min ? figure < best_ - margin
                                                                 : figure > best_ + margin;
  if (better) {
    best_ = figure;
    waited_ = 0;
    return false;
  }
  if (++waited_ <= options_.patience) return false;
  waited_ = 0;
  const double lr = std::max(optimizer.lr() * options_.factor, options_.min_lr);
  if (lr >= optimizer.lr()) return false;
  optimizer.set_lr(lr);
  return true;
}

StateDict Plateau::state_dict() const {
  return {{"best", scalar(best_, f64)}, {"waited", detail::state_of(waited_)}};
}

void Plateau::load_state_dict(const StateDict& state) {
  detail::StateReader reader(state);
  const double best = reader.number("best");
  reader.refuse_nan("best");
  const std::int64_t waited = reader.count("waited");
  reader.finish("this plateau");
  best_ = best;
  waited_ = waited;
}

}  // namespace ladon
