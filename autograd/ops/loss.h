#pragma once
// Losses.

#include <cstdint>

#include "ladon/core/tensor.h"

namespace ladon {

enum class Reduction { mean, sum, none };

struct CrossEntropyOptions {
  double label_smoothing = 0;        ///< ε: target (1−ε)·one-hot + ε/classes.
  std::int64_t ignore_index = -100;  ///< Rows with this target give no loss and do not count.
  Tensor weight = {};  ///< [classes]: weight of each class; the mean divides by their sum.
  Reduction reduction = Reduction::mean;
};
/// −ln softmax(logits)[target] over the last axis:  logits [.., classes], target i64 [..].
/// The mean where every row is ignored is 0. Throws Error for a target outside [0, classes) that is
/// not ignored, and for the mean of an empty batch.
Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                     const CrossEntropyOptions& options = {});

/// −log_probability[target] over the last axis; options as for cross_entropy (no smoothing).
Tensor nll_loss(const Tensor& log_probability, const Tensor& target,
                const CrossEntropyOptions& options = {});

/// Mean (sum, or none) of (prediction − target)². Throws Error where shapes differ (no silent
/// broadcast), and for the mean of an empty batch.
Tensor mse_loss(const Tensor& prediction, const Tensor& target,
                Reduction reduction = Reduction::mean);

}  // namespace ladon
