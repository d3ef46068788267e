#pragma once
// Shared by this study and gaussian_outputs: attention layers, and their comparison with the
// infinite-width limits.

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

/// Adds --inputs, --zeta and --scaling.
void add_network_options(Program& program, NetworkSettings& settings);

/// Inputs [N, T, d] from the file, or drawn from the seed: 3 inputs of 4 tokens of 8 channels.
/// Throws Error for other shapes.
Tensor load_inputs(const NetworkSettings& settings);

/// Form of attention: queries and keys are tied with linear scaling (else the logits would vanish),
/// and independent with sqrt scaling.
AttentionForm form(AttentionScaling scaling, Weighting weighting);
/// An attention layer; its output has `out` channels, or as many as a head if `out` is 0.
infinite::SizedFactory attention(const AttentionForm& form, std::int64_t in, std::int64_t out = 0);

/// Networks with the same limit, and the results at each size.
struct Series {
  std::string name;
  AttentionScaling scaling;
  infinite::SizedFactory network;
  std::vector<infinite::SweepPoint> sweep = {};
  std::vector<infinite::ComparisonRow> rows = {};
  std::int64_t ntk_channels = 2;  // output channels for which the NTK is computed
};

/// Computes the rows of a sweep one after the other, so that an interrupt leaves finished rows.
/// Networks compute in f32.
void compare(const Tensor& x, infinite::Get kernels, Progress& progress, Generator& rng,
             Series& series);

/// A kernel [N, N] or [N, N, T, T] as one matrix over all positions: tokens of the first input,
/// then those of the second, …
Tensor over_positions(const Tensor& kernel);

// --- parts of tables and pictures ---

/// x with this many digits after the point; zero has no sign.
std::string decimals(double x, int digits);
/// Name with scalings in symbols: "1/√d, √w heads" for "sqrt, sqrt(w) heads".
std::string shown(std::string name);
/// Command of gnuplot that plots these parts, "plot …, …".
std::string plot(const std::vector<std::string>& parts);
/// N(0, 1) as a grey area, for reference.
std::string normal_body(double floor, const std::string& title);
/// Range of an axis, "range [low:high]", from the smallest number divided by `below` to the largest
/// times `above`.
std::string around(const std::set<double>& numbers, double below, double above);

}  // namespace ladon::example
