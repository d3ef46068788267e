#pragma once
// Classification by kernels that are stored as tiles on disk.

#include <filesystem>

#include "ladon/examples/gp_classify/study.h"

namespace ladon::example {

struct TileSettings : Settings {
  std::string model = "dense";
  std::vector<std::string> solvers = {"memory", "direct", "cg"};
  std::filesystem::path checkpoint;  ///< Folder of the tiles; empty: temporary, deleted at the end.
};

/// Result of conjugate gradients. Every mean and variance is within these errors of the exact one.
struct Iterated {
  double iterations = NAN;                        ///< Iterations of the solve for the targets.
  double mean_error = NAN, variance_error = NAN;  ///< Variances: in units of the mean diagonal.
};

/// Outcome of one kernel, with details if it was solved by conjugate gradients.
struct Solved {
  Outcome outcome;
  Iterated how = {};
};

/// Classifies with one kernel stored as tiles in `folder`; missing tiles are computed. `solver` is
/// "direct" (a Cholesky factor, on disk as well) or "cg" (conjugate gradients). The noise is chosen
/// on the first rows, at most 2,000. Prints the cost of a matrix before it is computed. Counts
/// three steps of the progress. Throws Error if a matrix exceeds the budget or the disk, and for
/// tiles of another kernel or other inputs; throws Interrupted.
Solved by_tiles(const std::string& solver, const KernelForm& form, const Model& model,
                const Task& task, const TileSettings& settings, const std::filesystem::path& folder,
                Progress& progress);

}  // namespace ladon::example
