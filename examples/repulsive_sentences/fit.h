#pragma once
// One fit of the sentence model: an arm, its number, a fold.

#include <string>
#include <vector>

#include "ladon/examples/common/paired.h"
#include "ladon/examples/repulsive_sentences/sentences.h"

namespace ladon::example {

/// Way to train W_s2, the rows of which are the hops. All else is the same in all arms.
struct Arm {
  enum class By { neither, size, repulsion };  ///< Of what it changes W_s2 by.
  std::string name;
  By by;
  std::vector<double> values;  ///< Numbers to choose from.
};

/// plain, which has one value that means nothing, and the others.
const std::vector<Arm>& arms();

struct Fit {
  Tensor probabilities;   ///< f64 [test questions, classes]
  double redundancy = 0;  ///< Cosine between the maps of two hops.
  double size = 0;        ///< Root mean square of the entries of W_s2.
  double ratio = 0;       ///< Repulsive over driving force at the last step; NaN without.
};

/// Trains on one part of the fold and answers the other. `rng` fixes first weights, order of
/// batches and dropout, alike for all arms. Throws Interrupted.
Fit fit(const Sentences& data, const Settings& settings, const Fold& fold, const Arm& arm,
        double value, const Generator& rng);

}  // namespace ladon::example
