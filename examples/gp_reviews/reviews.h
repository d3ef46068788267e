#pragma once
// Reviews: word vectors for networks, and naive Bayes for comparison.

#include <string>
#include <vector>

#include "ladon/examples/gp_classify/study.h"

namespace ladon::example {

struct ReviewSettings : Settings {
  std::vector<std::string> reviews;  ///< Two files; empty: generated reviews.
  std::string glove;                 ///< File of word vectors for `reviews`.
};

struct ReviewTask {
  Task task;
  Outcome naive_bayes;
};

/// A token is the sum of the word vectors of a span of words, divided by the square root of their
/// number. Naive Bayes uses all words. Throws Error if a file is unsuitable or a number too large.
ReviewTask review_task(const ReviewSettings& settings);

}  // namespace ladon::example
