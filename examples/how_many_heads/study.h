// How many heads are enough: errors of trained layers, and evidence of what made the data.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::vector<std::int64_t> tokens = {8, 32};
  std::int64_t seeds = 3, steps = 300, draws = 20'000, sets = 40;
};

constexpr std::int64_t total_width = 64, head_width = 8, retrievals = 8;

/// One law's layers with so many heads, on T tokens.
struct Arm {
  std::int64_t tokens = 0, heads = 0, width = 0;  ///< width: of each head
  std::vector<double> errors = {};                ///< by seed: mean squared, over the variance
};

/// ln B(1 : ∞) of every data set whose labels were made by so many heads.
struct Evidence {
  std::int64_t truth = 0, targets = 0;
  std::vector<double> log_bayes = {}, effective = {};  ///< by data set
};

struct Study {
  std::vector<Arm> arms;  ///< 8 heads once: there the two laws agree
  std::vector<Evidence> evidence;
  bool interrupted = false;
};

Study run_study(const Settings& settings);

}  // namespace ladon::example
