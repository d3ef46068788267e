#pragma once
// Methods that move particles on every target: each alone, all together, or as chains of a sampler;
// and what came of it.

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

/// "none": each particle climbs by itself, as the members of an ensemble do; "svgd", "spos", "wgd":
/// they repel each other; "sgld", "hmc": chains that know nothing of each other.
inline std::vector<std::string> method_names() {
  return {"none", "svgd", "spos", "wgd", "sgld", "hmc"};
}

struct Settings {
  CommonOptions common;
  std::vector<std::string> targets = target_names(), methods = method_names();
  std::int64_t seeds = 8;       ///< Runs of each method on each target.
  std::int64_t particles = 50;  ///< M
  std::int64_t steps = 4000;    ///< Gradients of each particle.
  double rate = 0.02;           ///< Of a step on U = −ln p.
  std::string alpha = "1";      ///< Weight of the repulsion: a number, or auto.
  double apart = 2.6;           ///< Distance of the two modes.
  double noise = 0.1;           ///< b of SPOS.
};

/// The force of svgd, spos or wgd on the rows of x; null for other methods.
std::unique_ptr<ParticleMethod> force_of(const std::string& method, const Settings& settings,
                                         const Tensor& x, const Generator& rng,
                                         const SteinKernel& kernel = rbf());

/// Is told places [M, 2] after so many gradients per particle; they change after it.
using Seen = std::function<void(std::int64_t step, const Tensor& places)>;

/// Moves particles from `start` [M, 2] f64 by as many gradients each as the settings say, one rate
/// for all methods: a step of Langevin dynamics, r, is one of Hamiltonian dynamics with ε =
/// sqrt(2r). Returns the step at which they ran away, or 0.
std::int64_t move(const std::string& method, const PlaneTarget& target, const Settings& settings,
                  const Tensor& start, Generator rng, const Seen& seen);

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

/// Options of the methods, and of the targets that are asked for.
void add_options(Program& program, Settings& settings);

/// "50 particles, 4000 gradients each, rate 0.02, α = 1"
std::string settings_line(const Settings& settings);

/// Adds a study per target, and to it methods as all seeds of them are finished. Returns whether it
/// was not interrupted; each study has a method at least.
bool run_studies(const Settings& settings, std::vector<TargetStudy>& studies);

/// A row for each method and, last, what independent draws would give; names of rows begin with
/// `before`.
Table table_of(const TargetStudy& study, const std::string& of, const std::string& before = "");

/// {"truth", "runs"}: each target's exact moments; of each run its target, method, seed and
/// figures, and where particles ended.
nlohmann::ordered_json details(const std::vector<TargetStudy>& studies);

/// Draws particles.svg: the share of the variance that each method keeps on each target.
void draw(const Settings& settings, const std::vector<TargetStudy>& studies);

}  // namespace ladon::example
