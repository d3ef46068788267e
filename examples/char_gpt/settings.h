#pragma once
// Settings of a run.

#include <cstdint>
#include <string>

#include "ladon/examples/common/common_options.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::string text;  ///< A text file; empty: Ladon's own sources.
  std::int64_t layers = 4, heads = 4, dim = 128;
  std::int64_t context = 64;  ///< Length of the model's context in characters.
  std::int64_t batch = 12;
  std::int64_t steps = 1000;
  double rate = 1e-3;  ///< Highest learning rate.
  double dropout = 0;
  std::string particles = "none";  ///< Particle method for the heads: none or svgd.
  std::int64_t every = 250;        ///< Steps between validations.
  std::string resume;              ///< File of a run to continue; empty: a new run.
  std::int64_t sample = 300;       ///< Characters to generate at the end.
  std::string prompt = "\n";
  double temperature = 0.8;
};

}  // namespace ladon::example
