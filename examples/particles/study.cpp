#include "ladon/examples/particles/study.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/samplers/diagnostics/discrepancy.h"

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

/// What a seed draws for a target.
Generator generator(const TargetStudy& study, std::uint64_t seed) {
  const std::vector<std::string> names = target_names();
  const auto place = std::find(names.begin(), names.end(), study.target.name) - names.begin();
  return Generator(seed).split(static_cast<std::uint64_t>(place));
}

Outcome run_method(const std::string& method, const Settings& s, const TargetStudy& study,
                   std::uint64_t seed) {
  const Generator rng = generator(study, seed);
  Generator of_start = rng.split(0);
  const Point& at = study.target.start;
  constexpr double spread = 0.3;
  const Tensor start =
      normal({s.particles, 2}, of_start, 0, spread, f64) + tensor({at.x, at.y}, f64);
  Outcome outcome{method, seed, {}, unknown, unknown, NAN};
  Record record(s, start);
  try {
    move(method, study.target, s, start, rng.split(2),
         [&](std::int64_t step, const Tensor& places) {
           stop_if_interrupted();
           record.see(step, places);
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
std::vector<Outcome> independent(const Settings& s, const TargetStudy& study, Generator rng) {
  constexpr int sets = 200;
  std::vector<Outcome> all;
  for (int i = 0; i < sets; ++i) {
    const Tensor places = study.truth.draws(s.particles, rng);
    all.push_back(
        {"independent draws", 0, {}, figures_of(places, study), unknown, ksd_of(places, study)});
  }
  return all;
}

/// Adds to each seed's distance how far its figure is from the median, in units of the range.
void add_distances(const std::vector<double>& figures, std::vector<double>& distances) {
  std::vector<double> sorted = figures;
  std::erase_if(sorted, [](double x) { return !std::isfinite(x); });
  if (sorted.empty()) return;
  std::sort(sorted.begin(), sorted.end());
  const double range = sorted.back() - sorted.front();
  const double median = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
  if (!(range > 0)) return;
  for (std::size_t i = 0; i < figures.size(); ++i)
    distances[i] += std::isfinite(figures[i]) ? std::abs(figures[i] - median) / range : 1;
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

std::vector<Outcome> typical_runs(const TargetStudy& study) {
  std::vector<double> distances(study.runs.front().size(), 0);
  for (const std::vector<Outcome>& runs : study.runs)
    for (double Figures::*figure :
         {&Figures::variance_ratio, &Figures::inner_half, &Figures::mode_mass}) {
      std::vector<double> values;
      for (const Outcome& o : runs) values.push_back(o.end.*figure);
      add_distances(values, distances);
    }
  const auto seed = std::min_element(distances.begin(), distances.end()) - distances.begin();
  std::vector<Outcome> shown;
  for (const std::vector<Outcome>& runs : study.runs)
    shown.push_back(runs[static_cast<std::size_t>(seed)]);
  return shown;
}

double work(const Settings& s) {
  double all = 0;
  for (const std::string& method : s.methods)
    all += cost(method) * static_cast<double>(s.steps * s.seeds);
  return all;
}

void run_methods(const Settings& s, TargetStudy& study, Progress& progress) {
  study.independent = independent(s, study, generator(study, s.common.seed).split(1));
  for (const std::string& method : s.methods) {
    std::vector<Outcome> runs;
    parallel::in_order(
        s.seeds, s.seeds,
        [&](std::int64_t i) {
          return run_method(method, s, study, s.common.seed + static_cast<std::uint64_t>(i));
        },
        [&](const Outcome& outcome) {
          runs.push_back(outcome);
          progress.step(join(study.target.title, ", ", method),
                        cost(method) * static_cast<double>(s.steps));
        });
    study.runs.push_back(std::move(runs));
  }
}

}  // namespace ladon::example
