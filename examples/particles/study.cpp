#include "ladon/examples/particles/study.h"

#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/extra/diagnostics/discrepancy.h"

namespace ladon::example {
namespace {

double ksd_of(const Tensor& places, const TargetStudy& study) {
  const double h2 = study.truth.moments().total_variance;
  return std::sqrt(ksd(places, study.target.density, {.h2 = h2}).v);
}

/// Random stream of a seed for a target.
Generator generator(const TargetStudy& study, std::uint64_t seed) {
  return Generator(seed).split(place_of(study.target.name, target_names()));
}

Outcome run_method(const std::string& method, const Settings& s, const TargetStudy& study,
                   std::uint64_t seed) {
  const Generator rng = generator(study, seed);
  Generator of_start = rng.split(0);
  constexpr double spread = 0.3;
  const Tensor start =
      normal({s.particles, 2}, of_start, 0, spread, f64) + from_vector(study.target.start, {2});
  Outcome o{method, seed};
  Tensor last;
  std::vector<Tensor> pooled;
  const std::int64_t between = 10 * std::max<std::int64_t>(1, s.steps / 4000);
  const auto see = [&](std::int64_t step, const Tensor& places) {
    stop_if_interrupted();
    last = clone(places);
    while (o.frames.size() <= last_frame && step_of(o.frames.size(), s) <= step)
      o.frames.push_back(last);
    if (2 * step > s.steps && step % between == 0) pooled.push_back(last);
  };
  see(0, start);
  o.diverged_at = move(method, study.target, s, start, rng.split(2), see);
  // A run may end early: if it diverged, or if the steps are not a multiple of hmc's leapfrog steps
  // per draw. Its last positions fill the remaining frames.
  o.frames.resize(last_frame + 1, last);
  if (pooled.empty()) pooled.push_back(last);
  if (o.diverged_at != 0) return o;
  o.end = figures_of(o.frames.back(), study);
  o.pooled = figures_of(concat(pooled, 0), study);
  o.ksd = ksd_of(o.frames.back(), study);
  return o;
}

/// Adds figures of sets of independent draws, which differ from the truth only by chance.
void draw_independent(const Settings& s, TargetStudy& study) {
  constexpr int sets = 200;
  Generator rng = generator(study, s.common.seed).split(1);
  for (int i = 0; i < sets; ++i) {
    const Tensor places = study.truth.draws(s.particles, rng);
    study.independent.push_back({.method = "independent draws",
                                 .end = figures_of(places, study),
                                 .ksd = ksd_of(places, study)});
  }
}

/// Adds each method to the study when all its seeds are finished; a run is a step of progress.
/// Throws Interrupted.
void run_methods(const Settings& s, TargetStudy& study, Progress& progress) {
  draw_independent(s, study);
  for (const std::string& method : s.methods) {
    std::vector<Outcome> runs;
    parallel::in_order(
        s.seeds, s.seeds,
        [&](std::int64_t i) {
          return run_method(method, s, study, s.common.seed + static_cast<std::uint64_t>(i));
        },
        [&](const Outcome& outcome) {
          runs.push_back(outcome);
          progress.step(join(study.target.title, ", ", method));
        });
    study.runs.push_back(std::move(runs));
  }
}

}  // namespace

std::int64_t step_of(std::size_t frame, const Settings& s) {
  const double share = static_cast<double>(frame) / last_frame;
  return std::llround(share * share * static_cast<double>(s.steps));
}

Figures figures_of(const Tensor& places, const TargetStudy& study) {
  const Tensor equal = full({places.size(0), 1}, 1 / static_cast<double>(places.size(0)), f64);
  const Moments found = moments_of(places, equal, study.target), &truth = study.truth.moments();
  const Tensor inside = study.target.density(places) >= study.truth.levels()[0];
  return {norm(found.mean - truth.mean).item() / std::sqrt(truth.total_variance),
          found.total_variance / truth.total_variance, mean(cast(inside, f64)).item(),
          found.right_mode};
}

bool run_studies(const Settings& s, std::vector<TargetStudy>& studies) {
  Progress progress(static_cast<double>(s.targets.size() * s.methods.size()) *
                    static_cast<double>(s.seeds));
  const bool complete = ran_to_the_end([&] {
    for (const std::string& name : s.targets) {
      studies.emplace_back(plane_target(name, s.apart));
      run_methods(s, studies.back(), progress);
    }
  });
  std::erase_if(studies, [](const TargetStudy& study) { return study.runs.empty(); });
  return complete;
}

}  // namespace ladon::example
