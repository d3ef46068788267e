#pragma once
// Reviews: their words' vectors for networks, and naive Bayes beside them.

#include <string>
#include <vector>

#include "ladon/examples/gp_classify/study.h"

namespace ladon::example {

struct ReviewSettings : Settings {
  std::vector<std::string> reviews;  ///< Two files; empty: generated reviews.
  std::string glove;                 ///< Word vectors of those files.
};

struct ReviewTask {
  Task task;
  Outcome naive_bayes;
};

/// A token is the sum of the vectors of a span of words, divided by the square root of their
/// number. Naive Bayes sees all words. Throws Error where a file or a number does not fit.
ReviewTask review_task(const ReviewSettings& settings);

}  // namespace ladon::example
