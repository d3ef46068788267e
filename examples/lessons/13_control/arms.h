#pragma once
// The arms (compared methods) of lesson 13: attention with eight hops on sentences, trained with
// and without SVGD.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/examples/common/paired.h"

namespace ladon::example {

inline const std::vector<std::string> arm_names = {"plain",  "start 2",   "start 4",
                                                   "svgd 0", "svgd 0.01", "svgd 1"};

/// Results of one study, in which all arms answered the same questions.
struct Answers {
  std::vector<Tensor> hits;  ///< Per arm, 1 for right answers, else 0: [3 seeds, 600 questions].
  std::vector<double> size;  ///< Per arm, root mean square of the trained W_s2
                             ///< (StructuredAttention::outer), mean over fits.
  std::vector<Fold> folds;
};

/// Runs a study. The seed determines words, questions, folds and initial weights.
Answers fitted(std::uint64_t seed);

}  // namespace ladon::example
