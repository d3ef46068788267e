#include "ladon/examples/particles/study.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/samplers/discrepancy.h"

namespace ladon::example {
namespace {

/// What is kept of a run.
class Record {
 public:
  Record(const Settings& settings, const Tensor& start) : settings_(settings), last_(start) {
    keep_until(0);
  }

  void see(std::int64_t step, const Tensor& places) {
    last_ = clone(places);
    keep_until(step);
    const std::int64_t between = 10 * std::max<std::int64_t>(1, settings_.steps / 4000);
    if (2 * step > settings_.steps && step % between == 0) pooled_.push_back(last_);
  }
  /// A run may end before its last step where that is no multiple of a draw's.
  void end() {
    keep_until(settings_.steps);
    if (pooled_.empty()) pooled_.push_back(last_);
  }

  const std::vector<Frame>& frames() const { return frames_; }
  Tensor pooled() const { return concat(pooled_, 0); }

 private:
  void keep_until(std::int64_t step) {
    for (auto next = static_cast<std::int64_t>(frames_.size());
         next <= last_frame && step_of(next, settings_) <= step; ++next)
      frames_.push_back({step_of(next, settings_), last_});
  }

  const Settings& settings_;
  Tensor last_;
  std::vector<Frame> frames_;
  std::vector<Tensor> pooled_;
};

constexpr Figures unknown{NAN, NAN, NAN, NAN};

/// Of a method's step: a matrix of particles is more work than particles.
double cost(const std::string& method) {
  return method == "svgd" || method == "spos" || method == "wgd" ? 15 : 1;
}

double ksd_of(const Tensor& places, const TargetStudy& study) {
  const double h2 = study.truth.moments().total_variance();
  return std::sqrt(ksd(places, study.target.density, {.h2 = h2}).v);
}

Outcome run_method(const std::string& method, const Settings& s, const TargetStudy& study,
                   const Tensor& start, const Generator& rng, Progress& progress) {
  Outcome outcome{method, {}, unknown, unknown, NAN};
  Record record(s, start);
  const std::string what = join(study.target.title, ", ", method);
  constexpr std::int64_t told = 100;
  try {
    move(method, study.target, s, start, rng, [&](std::int64_t step, const Tensor& places) {
      record.see(step, places);
      if (step % told == 0) progress.step(what, told * cost(method));
    });
    record.end();
    const Tensor end = record.frames().back().places;
    outcome.end = figures_of(end, study);
    outcome.pooled = figures_of(record.pooled(), study);
    outcome.ksd = ksd_of(end, study);
  } catch (const Diverged& diverged) {
    outcome.diverged_at = diverged.step;
  }
  outcome.frames = record.frames();
  return outcome;
}

/// What chance alone makes of so many particles.
Outcome independent(const Settings& s, const TargetStudy& study, Generator rng) {
  constexpr int sets = 200;
  Outcome mean{"independent draws", {}, {0, 0, 0, 0}, unknown, 0};
  for (int i = 0; i < sets; ++i) {
    const Tensor places = study.truth.draws(s.particles, rng);
    const Figures f = figures_of(places, study);
    mean.end.mean_error += f.mean_error / sets;
    mean.end.variance_ratio += f.variance_ratio / sets;
    mean.end.inner_half += f.inner_half / sets;
    mean.end.mode_mass += f.mode_mass / sets;
    mean.ksd += ksd_of(places, study) / sets;
  }
  return mean;
}

}  // namespace

std::int64_t step_of(std::int64_t frame, const Settings& s) {
  const double share = static_cast<double>(frame) / last_frame;
  return std::llround(share * share * static_cast<double>(s.steps));
}

Figures figures_of(const Tensor& places, const TargetStudy& study) {
  const Moments found = moments_of(places, study.target), &truth = study.truth.moments();
  return {std::hypot(found.mean_x - truth.mean_x, found.mean_y - truth.mean_y) /
              std::sqrt(truth.total_variance()),
          found.total_variance() / truth.total_variance(),
          mean(cast(greater_equal(study.target.density(places), study.inner), f64)).item(),
          found.second_mode};
}

double work(const Settings& s) {
  double all = 0;
  for (const std::string& method : s.methods) all += cost(method) * static_cast<double>(s.steps);
  return all;
}

void run_methods(const Settings& s, TargetStudy& study, Progress& progress) {
  const std::vector<std::string> names = target_names();
  const auto place = std::find(names.begin(), names.end(), study.target.name) - names.begin();
  const Generator rng = Generator(s.common.seed).split(static_cast<std::uint64_t>(place));
  Generator of_start = rng.split(0);
  const Point& at = study.target.start;
  constexpr double spread = 0.3;
  const Tensor start =
      normal({s.particles, 2}, of_start, 0, spread, f64) + tensor({at.x, at.y}, f64);
  study.independent = independent(s, study, rng.split(1));
  for (const std::string& method : s.methods)
    study.outcomes.push_back(run_method(method, s, study, start, rng.split(2), progress));
}

}  // namespace ladon::example
