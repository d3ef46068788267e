#pragma once
// Every method on every target, and what came of it.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "ladon/examples/common/progress.h"
#include "ladon/examples/particles/methods.h"
#include "ladon/examples/particles/truth.h"

namespace ladon::example {

/// Measures of how well points represent the target.
struct Figures {
  double mean_error = NAN;      ///< Distance of the means, in standard deviations of the target.
  double variance_ratio = NAN;  ///< Total variance over that of the target.
  double inner_half = NAN;  ///< Share in the smallest region that holds half of the probability.
  double mode_mass = NAN;   ///< Share at the right mode; NaN where there is none.
};

struct Outcome {
  std::string method;
  std::uint64_t seed = 0;
  std::int64_t diverged_at = 0;     ///< A step; 0: it did not. Its figures are NaN otherwise.
  std::vector<Tensor> frames = {};  ///< Places f64 [M, 2] at step_of(frame). The last is the end.
  Figures end = {}, pooled = {};    ///< Pooled: all places of the second half of the run.
  double ksd = NAN;                 ///< Of the end.
};

struct TargetStudy {
  explicit TargetStudy(const PlaneTarget& of) : target(of), truth(of) {}

  PlaneTarget target;
  Truth truth;
  std::vector<std::vector<Outcome>> runs = {};  ///< Of each method that is finished, one per seed.
  std::vector<Outcome> independent = {};  ///< Of many sets of as many independent draws; no frames.
};

/// Frame 0 is the start.
constexpr std::size_t last_frame = 40;

/// The step of a frame, from 0: so many quadratically growing steps, all of them at the end.
std::int64_t step_of(std::size_t frame, const Settings& settings);

/// Of places [n, 2].
Figures figures_of(const Tensor& places, const TargetStudy& study);

/// Which of the runs of each method to show: that of the seed whose figures are nearest to the
/// medians over seeds, in units of their range, summed over methods.
std::size_t typical_run(const TargetStudy& study);

/// Adds methods to the study as all seeds of them are finished, a run each step of progress. Throws
/// Interrupted.
void run_methods(const Settings& settings, TargetStudy& study, Progress& progress);

}  // namespace ladon::example
