#pragma once
// Measurements of the example.

#include <vector>

#include "ladon/examples/nngp_compare/distributions.h"
#include "ladon/examples/nngp_compare/plans.h"

namespace ladon::example {

/// Expectation of theory for the outputs of so many heads.
struct Theory {
  /// Excess kurtosis at this width (NaN where it is not known), and for infinitely wide heads.
  Measured kurtosis, wide_kurtosis;
  std::vector<Bin> outputs;  ///< Their law, for infinitely wide heads; empty with linear scaling.
};

/// A plan and what its networks showed, a row for each size.
struct Series {
  Plan plan;
  std::vector<infinite::ComparisonRow> rows = {};
  std::vector<Theory> theory = {};  ///< A row each, of a sweep of the number of heads.
};

struct Study {
  std::vector<Series> by_width, by_heads;
  bool interrupted = false;  ///< Then the series hold the points that were finished, none is empty.
};

/// [N, T, d] from the file, or drawn from the seed: 3 inputs of 4 tokens of 8 channels in the tour.
/// Throws Error for other shapes.
Tensor load_inputs(const Settings& settings);

/// Runs everything, or what there is time for before an interrupt. Networks compute in f32.
Study run_study(const Settings& settings, const Tensor& x);

}  // namespace ladon::example
