#pragma once
// Remaining variance of a few particles in many dimensions, on N(0, I).

#include <filesystem>

#include "ladon/examples/common/common_options.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/report.h"

namespace ladon::example {

struct CollapseSettings {
  CommonOptions common;
  std::vector<std::int64_t> dimensions = {1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000};
  std::int64_t particles = 10;  ///< M, number of particles.
  double alpha = 1;             ///< Weight of the repulsion.
};

/// Table, without rows yet, of the variance per coordinate that particles at rest have; the
/// target's is 1.
Table collapse_table(const CollapseSettings& settings);

/// Adds a row per dimension, each of which is a step of progress. Throws Interrupted.
void run_collapse(const CollapseSettings& settings, Table& table, Progress& progress);

/// Draws many_dimensions.svg.
void draw_collapse(const CollapseSettings& settings, const Table& table);

}  // namespace ladon::example
