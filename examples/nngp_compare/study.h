#pragma once
// What the example measures.

#include <string>
#include <vector>

#include "ladon/examples/nngp_compare/distributions.h"
#include "ladon/examples/nngp_compare/plans.h"

namespace ladon::example {

/// Networks of several widths: how far one is from the limit.
struct WidthSeries {
  std::string name;
  infinite::Comparison comparison;
  double power;                   ///< Of width, as which the error is expected to go.
  std::vector<double> reference;  ///< The NTK's error of one network, as known; NaN, or empty: not.
};

/// Networks of several numbers of heads: how Gaussian their outputs are.
struct HeadSeries {
  std::string name;
  AttentionScaling scaling;
  infinite::Comparison comparison;
  /// The kurtosis that theory expects, a row each: at this width (NaN where it is not known), and
  /// for infinitely wide heads, 6ρ/H.
  std::vector<Measured> law, wide_law;
  /// Of outputs, for infinitely wide heads, a row each; empty with linear scaling.
  std::vector<Law> outputs;
};

struct Study {
  std::vector<WidthSeries> by_width;
  std::vector<HeadSeries> by_heads;
  bool interrupted = false;  ///< Then the series hold the points that were finished, none is empty.
};

/// [N, T, d] from the file, or drawn from the seed: 3 inputs of 4 tokens of 8 channels in the tour.
/// Throws Error for other shapes.
Tensor load_inputs(const Settings& settings);

/// Runs everything, or what there is time for before an interrupt. Networks compute in f32.
Study run_study(const Settings& settings, const Tensor& x);

}  // namespace ladon::example
