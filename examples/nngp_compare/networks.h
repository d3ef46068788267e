#pragma once
// What this study and gaussian_outputs share: layers of attention, and how they are held against
// their limits.

#include <set>
#include <string>
#include <vector>

#include "ladon/examples/common/program.h"
#include "ladon/examples/common/progress.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/infinite/finite/compare.h"

namespace ladon::example {

struct NetworkSettings {
  CommonOptions common;
  std::string inputs;  ///< .npy of [N, T, d]; empty: drawn from the seed.
  std::string zeta = "identity";
  std::vector<std::string> scalings = {"linear", "sqrt"};
};

/// --inputs, --zeta and --scaling.
void add_network_options(Program& program, NetworkSettings& settings);

/// [N, T, d] from the file, or drawn from the seed: 3 inputs of 4 tokens of 8 channels. Throws
/// Error for other shapes.
Tensor load_inputs(const NetworkSettings& settings);

/// With linear scaling queries and keys are tied (their logits would vanish), with sqrt scaling
/// independent.
AttentionForm form(AttentionScaling scaling, Weighting weighting);
/// A layer of attention; its output has `out` channels, or is as wide as a head (0).
infinite::SizedFactory attention(const AttentionForm& form, std::int64_t in, std::int64_t out = 0);

/// Networks of one kind, all of the same limit, and what was found at each size.
struct Series {
  std::string name;
  AttentionScaling scaling;
  infinite::SizedFactory network;
  std::vector<infinite::SweepPoint> sweep = {};
  std::vector<infinite::ComparisonRow> rows = {};
};

/// Finds the rows of a sweep, one after the other, so that those before an interrupt are finished.
/// Networks compute in f32.
void compare(const Tensor& x, infinite::Get kernels, Progress& progress, Generator& rng,
             Series& series);

/// The limit's covariance, or any kernel [N, N] or [N, N, T, T], as one matrix over all positions:
/// tokens of the first input, then those of the second, …
Tensor over_positions(const Tensor& kernel);

// --- parts of tables and pictures ---

/// So many digits after the point; zero has no sign.
std::string decimals(double x, int digits);
/// "1/√d, √w heads" of "sqrt, sqrt(w) heads": scalings as the paper writes them.
std::string shown(std::string name);
/// "plot …, …"
std::string plot(const std::vector<std::string>& parts);
/// N(0, 1), a grey body: what is compared with.
std::string normal_body(double floor, const std::string& title);
/// The range of an axis around these numbers.
std::string around(const std::set<double>& numbers, double below, double above);

}  // namespace ladon::example
