#pragma once
// One training run: a method, a seed.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ladon/examples/repulsive_heads/task.h"

namespace ladon::example {

struct Outcome {
  std::vector<std::pair<std::string, double>> figures;           ///< In the table's order.
  std::vector<double> train_loss, test_accuracy, head_distance;  ///< An entry an epoch.
  Tensor similarity_before, similarity_after;  ///< [heads, heads]: cosine of attention maps.
  double force_ratio = 0;  ///< Repulsive over driving force at the last step; 0 without repulsion.
  std::int64_t parameters = 0;
  std::uint64_t seed = 0;
  int diverged_in_epoch = 0;  ///< Counted from 1; 0: it did not. Its figures are NaN then.
  std::string diverged_because = {};

  bool diverged() const { return diverged_in_epoch > 0; }
};

/// Trains a classifier by `method` (plain, svgd, spos, cosine or wgd) and measures it. The seed
/// fixes the initial weights, the order of batches and the dropout, alike for all methods. Calls
/// `after_epoch` once an epoch. Ends where loss or gradient is not finite. Throws Interrupted.
Outcome train(const Task& task, const Settings& settings, const std::string& method,
              std::uint64_t seed, const std::function<void()>& after_epoch);

}  // namespace ladon::example
