#pragma once
// Methods that move particles, on every target: separate particles, interacting ones, or chains of
// a sampler; and measures of the result.

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ladon/examples/common/program.h"
#include "ladon/examples/particles/targets.h"
#include "ladon/optim/particles/method.h"
#include "ladon/optim/particles/svgd.h"

namespace ladon::example {

/// "none": each particle ascends by itself, like the members of an ensemble; "svgd", "spos", "wgd":
/// particles repel each other; "sgld", "hmc": independent chains.
inline std::vector<std::string> method_names() {
  return {"none", "svgd", "spos", "wgd", "sgld", "hmc"};
}

struct Settings {
  CommonOptions common;
  std::vector<std::string> targets = target_names(), methods = method_names();
  std::int64_t seeds = 8;       ///< Runs of each method on each target.
  std::int64_t particles = 50;  ///< M, per method.
  std::int64_t steps = 4000;    ///< Gradients per particle.
  double rate = 0.02;           ///< Learning rate on U = −ln p.
  std::string alpha = "1";      ///< Weight of the repulsion: a number, or auto.
  double apart = 2.6;           ///< Distance of the two modes.
  double noise = 0.1;           ///< b of SPOS, SposOptions::diffusion.
};

/// The svgd, spos or wgd method that acts on the rows of x; null for other methods.
std::unique_ptr<ParticleMethod> force_of(const std::string& method, const Settings& settings,
                                         const Tensor& x, const Generator& rng,
                                         const SteinKernel& kernel = rbf());

/// Observer of the positions [M, 2] after `step` gradients per particle; later steps may overwrite
/// `places`.
using Seen = std::function<void(std::int64_t step, const Tensor& places)>;

/// Moves particles from `start` [M, 2] f64 by the number of gradients in the settings. All methods
/// have the same rate r: a step of Langevin dynamics corresponds to a leapfrog step of size ε =
/// sqrt(2r). Returns the step at which they diverged, or 0.
std::int64_t move(const std::string& method, const PlaneTarget& target, const Settings& settings,
                  const Tensor& start, Generator rng, const Seen& seen);

/// Measures of how well points represent the target.
struct Figures {
  double mean_error = NAN;      ///< Distance between means, in the target's standard deviations.
  double variance_ratio = NAN;  ///< Total variance divided by the target's.
  double inner_half = NAN;      ///< Share of points in the smallest region of probability ½.
  double mode_mass = NAN;       ///< Share of points at the right mode; NaN without modes.
};

struct Outcome {
  std::string method;
  std::uint64_t seed = 0;
  std::int64_t diverged_at = 0;     ///< Step, or 0. If not 0, figures are NaN.
  std::vector<Tensor> frames = {};  ///< Positions f64 [M, 2] at step_of(frame).
  Figures end = {}, pooled = {};    ///< `pooled`: of the positions in the run's second half.
  double ksd = NAN;                 ///< Stein discrepancy of the final positions.
};

struct TargetStudy {
  explicit TargetStudy(const PlaneTarget& of) : target(of), truth(of) {}

  PlaneTarget target;
  Truth truth;
  std::vector<std::vector<Outcome>> runs = {};  ///< Runs of each finished method, one per seed.
  std::vector<Outcome> independent = {};        ///< Sets of M independent draws; no frames.
};

/// Index of a run's last frame; frame 0 is the initial state.
constexpr std::size_t last_frame = 40;

/// Step at which a frame is taken: quadratic in the frame's index, up to the last step.
std::int64_t step_of(std::size_t frame, const Settings& settings);

/// Figures of positions [n, 2].
Figures figures_of(const Tensor& places, const TargetStudy& study);

/// Adds the options of methods and targets.
void add_options(Program& program, Settings& settings);

/// Line such as "50 particles, 4000 gradients each, rate 0.02, α = 1".
std::string settings_line(const Settings& settings);

/// Adds a study per target, and to each study the methods whose seeds are all finished. Returns
/// false if the run was interrupted. Each study has at least one method.
bool run_studies(const Settings& settings, std::vector<TargetStudy>& studies);

/// Table with a row for each method, and a last row for independent draws. `of` is the heading of
/// the rows' names, which begin with `before`.
Table table_of(const TargetStudy& study, const std::string& of, const std::string& before = "");

/// Items "truth" and "runs" of the report: exact moments of each target; target, method, seed,
/// figures and final positions of each run.
nlohmann::ordered_json details(const std::vector<TargetStudy>& studies);

/// Draws particles.svg: the share of the variance that each method preserves on each target.
void draw(const Settings& settings, const std::vector<TargetStudy>& studies);

}  // namespace ladon::example
