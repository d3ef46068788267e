#pragma once
// Methods that move particles: each alone, all together, or as chains of a sampler.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/examples/common/common_options.h"
#include "ladon/examples/particles/targets.h"
#include "ladon/optim/particles/alpha.h"

namespace ladon::example {

/// "none": each particle climbs by itself, as the members of an ensemble do; "svgd", "spos", "wgd":
/// they repel each other; "sgld", "hmc": chains that know nothing of each other.
inline std::vector<std::string> method_names() {
  return {"none", "svgd", "spos", "wgd", "sgld", "hmc"};
}

struct Settings {
  CommonOptions common;
  std::vector<std::string> targets = target_names(), methods = method_names();
  std::string course;           ///< The target that is drawn in time.
  std::int64_t seeds = 8;       ///< Runs of each method on each target.
  std::int64_t particles = 50;  ///< M
  std::int64_t steps = 4000;    ///< Gradients of each particle.
  double rate = 0.02;           ///< Of a step on U = −ln p.
  std::string alpha = "1";      ///< Weight of the repulsion: a number, or auto.
  double apart = 2.6;           ///< Distance of the two modes.
  double noise = 0.1;           ///< b of SPOS.
  std::vector<std::int64_t> dimensions = {1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000};
  std::int64_t collapse_particles = 10;  ///< M in these dimensions.
};

Alpha alpha_of(const Settings& settings);

/// Is told places [M, 2] after so many gradients per particle; they change after it.
using Seen = std::function<void(std::int64_t step, const Tensor& places)>;

/// Moves particles from `start` [M, 2] f64 by as many gradients each as the settings say, one rate
/// for all methods: a step of Langevin dynamics, r, is one of Hamiltonian dynamics with ε =
/// sqrt(2r). Returns the step at which they ran away, or 0.
std::int64_t move(const std::string& method, const PlaneTarget& target, const Settings& settings,
                  const Tensor& start, Generator rng, const Seen& seen);

}  // namespace ladon::example
