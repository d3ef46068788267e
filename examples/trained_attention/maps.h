#pragma once
// Attention maps of networks on images with a mark.

#include "ladon/examples/gp_classify/study.h"

namespace ladon::example {

/// Attention maps of a network before and after training.
struct Watched {
  std::string model;
  /// f64 [test, patches]: attention to each patch, mean over heads and over attending patches; sums
  /// to 1 for each image.
  Tensor before, after;
  std::vector<double> right;         ///< Per test image, 1 if its answer is right, else 0.
  std::vector<std::int64_t> places;  ///< Per test image, the patch with the mark.

  /// Share of a map on the patch with the mark, per test image.
  std::vector<double> on_mark(const Tensor& map) const;
};

/// Trains a network with attention. Counts as one step of the progress. Throws Interrupted.
Watched watch(const Model& model, const MarkedTask& task, const Settings& settings,
              Progress& progress);

/// Draws trained_attention.svg: the first test image of each class is considered, and of these the
/// one with the median attention on its mark is shown with its maps.
void draw(const Settings& settings, const MarkedTask& task, const Watched& watched);

}  // namespace ladon::example
