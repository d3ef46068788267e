#pragma once
// Classification by kernels that are tiles on the disk.

#include <filesystem>

#include "ladon/examples/gp_classify/study.h"

namespace ladon::example {

struct TileSettings : Settings {
  std::string model = "dense";
  std::vector<std::string> solvers = {"memory", "direct", "cg"};
  std::filesystem::path checkpoint;  ///< Folder of the tiles; empty: they are deleted.
};

/// Result of conjugate gradients: each mean and variance is within its error of the exact one.
struct Iterated {
  double iterations = NAN;                        ///< For the targets.
  double mean_error = NAN, variance_error = NAN;  ///< Of variances in units of the mean diagonal.
};

/// Outcome of one kernel, and how it was solved with if by conjugate gradients.
struct Solved {
  Outcome outcome;
  Iterated how = {};
};

/// Solves "direct" (a Cholesky factor on the disk as well) or by "cg", with the kernel as tiles in
/// `folder`, which are computed unless they are there. The noise is chosen on the first rows, at
/// most 2,000. Says what a matrix will take before it is computed. Counts three steps of the
/// progress. Throws Error where that is more than the budget or the disk, and for tiles of another
/// kernel or other inputs; and Interrupted.
Solved by_tiles(const std::string& solver, const KernelForm& form, const Model& model,
                const Task& task, const TileSettings& settings, const std::filesystem::path& folder,
                Progress& progress);

}  // namespace ladon::example
