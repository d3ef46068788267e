#pragma once
// Remaining variance of a few particles in many dimensions, on N(0, I).

#include <filesystem>

#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/report.h"
#include "ladon/examples/particles/methods.h"

namespace ladon::example {

/// Of variances a coordinate where particles rest: the target's is 1.
Table collapse_table(const Settings& settings);

/// Adds a row a dimension, a step of progress each. Throws Interrupted.
void run_collapse(const Settings& settings, Table& table, Progress& progress);

/// Draws particles_collapse.svg. An empty path where that could not be.
std::filesystem::path draw_collapse(const Settings& settings, const Table& table);

}  // namespace ladon::example
