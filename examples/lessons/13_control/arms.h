#pragma once
// The arms of lesson 13: eight hops that look at sentences, trained with and without SVGD.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/examples/common/paired.h"

namespace ladon::example {

inline const std::vector<std::string> arm_names = {"plain",  "start 2",   "start 4",
                                                   "svgd 0", "svgd 0.01", "svgd 1"};

/// One study: all arms answered the same questions.
struct Answers {
  std::vector<Tensor> hits;  ///< Of each arm, right (1) or wrong (0): [3 seeds, 600 questions].
  std::vector<double> size;  ///< Of each arm, rms of W_s2 at the end, mean over fits.
  std::vector<Fold> folds;
};

/// Words, questions, folds and first weights are those of the seed.
Answers fitted(std::uint64_t seed);

}  // namespace ladon::example
