#pragma once
// The settings of a run.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"
#include "ladon/layers/attention/attention.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::string preset = "tour";  ///< tour or reference (plans.cpp)
  std::string inputs;           ///< .npy of [N, T, d]; empty: drawn from the seed.
  std::string zeta = "identity";
  std::vector<std::string> scalings = {"linear", "sqrt"};
  std::vector<std::int64_t> widths;  ///< Empty: the preset's.
  std::int64_t draws = 100;          ///< Networks a width.
  std::vector<std::int64_t> heads = {1, 2, 4, 8, 16, 32, 64};
  std::int64_t head_width = 128;  ///< Of the networks whose outputs' distribution is looked at.
  std::int64_t gaussian_draws = 2000;  ///< Networks a number of heads.
};

}  // namespace ladon::example
