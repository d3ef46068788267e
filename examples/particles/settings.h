#pragma once
// The settings of a run.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::vector<std::string> targets;  ///< As in target_names().
  std::vector<std::string> methods;  ///< As in method_names().
  std::string course;                ///< The target that is drawn in time; empty: the usual.
  std::int64_t seeds = 8;            ///< Runs of each method on each target.
  std::int64_t particles = 50;       ///< M
  std::int64_t steps = 4000;         ///< Gradients of each particle.
  double rate = 0.02;                ///< Of a step on U = −ln p.
  std::string alpha = "1";           ///< Weight of the repulsion: a number, or auto.
  double apart = 2.6;                ///< Distance of the two modes.
  double noise = 0.1;                ///< b of SPOS.
  std::vector<std::int64_t> dimensions = {1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000};
  std::int64_t collapse_particles = 10;  ///< M in these dimensions.
};

}  // namespace ladon::example
