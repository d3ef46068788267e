#pragma once
// Settings of a run, and the networks that it compares with their limits.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/infinite/finite/compare.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::string preset = "tour";  ///< tour or reference
  std::string inputs;           ///< .npy of [N, T, d]; empty: drawn from the seed.
  std::string zeta = "identity";
  std::vector<std::string> scalings = {"linear", "sqrt"};
  std::vector<std::int64_t> widths;  ///< Empty: the preset's.
  std::int64_t draws = 100;          ///< Networks per width.
  std::vector<std::int64_t> heads = {1, 2, 4, 8, 16, 32, 64};
  std::int64_t head_width = 128;  ///< Of the networks whose outputs' distribution is looked at.
  std::int64_t gaussian_draws = 2000;  ///< Networks a number of heads.
};

/// Sizes of one kind of network, all of the same limit.
struct Plan {
  std::string name;
  AttentionScaling scaling;
  infinite::SizedFactory network;
  std::vector<infinite::SweepPoint> sweep = {};
  double power = 0;  ///< Of width, as which the error of one network is expected to go.
  /// Errors of one network's NTK that another program found, by width.
  std::map<std::int64_t, double> reference = {};
};

/// Sweeps of the width, for inputs of so many channels: with linear scaling one head, with sqrt
/// scaling one and a number that grows. The preset `reference` has sweeps of its own.
std::vector<Plan> width_plans(const Settings& settings, std::int64_t channels);
/// Sweeps of the number of heads, one a scaling; none in the preset `reference`.
std::vector<Plan> head_plans(const Settings& settings, std::int64_t channels);

}  // namespace ladon::example
