#pragma once
// Attention maps of networks on images of a mark.

#include "ladon/examples/gp_classify/study.h"

namespace ladon::example {

/// A network that was watched.
struct Watched {
  std::string model;
  /// f64 [test, patches]: attention that each patch gets, mean over the heads and over the patches
  /// that attend; of each image it sums to 1.
  Tensor before, after;
  std::vector<double> right;         ///< 1 or 0 of each test image.
  std::vector<std::int64_t> places;  ///< The patch that has the mark of each.

  /// Of a map, the share of the patch that has the mark, of each test image.
  std::vector<double> on_mark(const Tensor& map) const;
};

/// Trains a network that attends. Counts as one step of the progress. Throws Interrupted.
Watched watch(const Model& model, const MarkedTask& task, const Settings& settings,
              Progress& progress);

/// Draws trained_attention.svg: of the first test images of the four classes the one whose mark
/// gets the attention in the middle, and the maps on it.
void draw(const Settings& settings, const MarkedTask& task, const Watched& watched);

}  // namespace ladon::example
