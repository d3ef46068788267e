#pragma once
// The settings of a run.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::vector<std::int64_t> heads = {1, 4,
                                     64};  ///< H of the networks whose posterior is looked at.
  std::vector<std::string> methods;        ///< Empty: all.
  std::int64_t draws = 5;                  ///< Data sets.
  std::int64_t members = 20;               ///< Networks, particles or chains of a method.
  std::int64_t steps = 400;                ///< Gradients of each, in the longer of the two runs.
  std::int64_t particles = 1600;  ///< Of sequential Monte Carlo at one head; fewer at more.
  std::string labels = "gp";      ///< What made the targets: the limit, or one head.
  std::string scaling = "sqrt";
};

}  // namespace ladon::example
