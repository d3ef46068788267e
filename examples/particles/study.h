#pragma once
// Every method on every target, and what came of it.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ladon/examples/common/progress.h"
#include "ladon/examples/particles/methods.h"
#include "ladon/examples/particles/quadrature.h"

namespace ladon::example {

/// Where particles are after so many gradients each.
struct Frame {
  std::int64_t step;
  Tensor places;  ///< f64 [M, 2]
};

/// How well points stand for the target.
struct Figures {
  double mean_error;      ///< Distance of the means, in standard deviations of the target.
  double variance_ratio;  ///< Total variance over that of the target.
  double inner_half;      ///< Share in the smallest region that holds half of the probability.
  double mode_mass;       ///< Share at the second mode; NaN where there is none.
};

struct Outcome {
  std::string method;
  std::uint64_t seed = 0;
  std::vector<Frame> frames;      ///< From the start on, ever further apart. The last is the end.
  Figures end = {}, pooled = {};  ///< Pooled: all places of the second half of the run.
  double ksd = 0;                 ///< Of the end.
  std::int64_t diverged_at = 0;   ///< A step; 0: it did not. Its figures are NaN otherwise.
};

struct TargetStudy {
  explicit TargetStudy(PlaneTarget of)
      : target(std::move(of)), truth(target), inner(truth.level(0.5)) {}

  PlaneTarget target;
  Quadrature truth;
  double inner;                            ///< ln p on the border of the inner half.
  std::vector<std::vector<Outcome>> runs;  ///< Of each method that is finished, one per seed.
  std::vector<Outcome> independent = {};  ///< Of many sets of as many independent draws; no frames.
};

/// Frame 0 is the start.
constexpr std::int64_t last_frame = 40;

/// The step of a frame, from 0: so many quadratically growing steps, all of them at the end.
std::int64_t step_of(std::int64_t frame, const Settings& settings);

/// Of places [n, 2].
Figures figures_of(const Tensor& places, const TargetStudy& study);

/// The runs to show, one per method, of the seed whose figures are nearest to the medians over
/// seeds: in units of their range, summed over methods.
std::vector<Outcome> typical_runs(const TargetStudy& study);

/// Work of all methods on a target, in steps of Progress.
double work(const Settings& settings);

/// Adds methods to the study as all seeds of them are finished. Throws Interrupted.
void run_methods(const Settings& settings, TargetStudy& study, Progress& progress);

}  // namespace ladon::example
