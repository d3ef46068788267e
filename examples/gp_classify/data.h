#pragma once
// Tasks of classification.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ladon/examples/gp_classify/outcome.h"
#include "ladon/examples/gp_classify/settings.h"
#include "ladon/layers/infinite/kernel/inputs.h"

namespace ladon::example {

/// Rows of a set. Token models see each as a sequence of vectors (an image's patches, a review's
/// words), dense models as one vector.
struct Examples {
  infinite::Inputs tokens;  ///< f64 [N, rows, columns, d], or [N, T, d] with a mask.
  infinite::Inputs dense;  ///< f64 [N, pixels·channels]; for reviews [N, d], the mean word vector.
  Tensor labels;           ///< i64 [N]

  std::int64_t size() const { return labels.size(0); }
};

/// Test images to look at: the first of each class, of at most four classes.
struct Shown {
  Tensor rows;    ///< i64 [k], rows of the test set
  Tensor images;  ///< f32 [k, height, width, channels], as they came
  /// The patch that decides, counted row by row, i64 [k]: where one should look. Undefined where
  /// nobody knows.
  Tensor right_patches = {};
};

struct Task {
  std::string name, description = {};
  Examples train, test;
  std::vector<std::string> label_names;
  std::int64_t rows = 0, columns = 0;  ///< The grid of an image's patches; 0 for reviews.
  Shown shown = {};                    ///< Undefined for reviews.
  std::optional<Outcome> bar = {};     ///< A simple rule, to compare with.

  bool images() const { return rows > 0; }
  std::int64_t classes() const { return static_cast<std::int64_t>(label_names.size()); }
};

/// The task that the settings name: digits (the first rows train, the last ones test), photographs,
/// reviews, or by default noisy pictures of 12 × 12 pixels, each with one of four marks on one of
/// nine patches: what the mark is decides, where it stands does not. Throws Error where a file or a
/// number does not fit.
Task load_task(const Settings& settings);

/// Reviews as GloVe vectors: a token is the sum over a span of words, divided by the square root of
/// their number. The bar is naive Bayes on all words.
Task review_task(const Settings& settings);

/// `chosen` rows, or for 0 `usual` ones, of the `there` that there are; throws Error, naming the
/// option, where those are fewer than chosen.
std::int64_t row_count(const char* option, int chosen, std::int64_t usual, std::int64_t there);

}  // namespace ladon::example
