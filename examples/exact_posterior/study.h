#pragma once
// How the exact posterior of H heads approaches the Gaussian process.

#include <vector>

#include "ladon/examples/common/report.h"
#include "ladon/examples/exact_posterior/bands.h"
#include "ladon/examples/exact_posterior/exact.h"

namespace ladon::example {

/// Exact posterior of `heads` heads compared with the Gaussian process, on all data sets.
struct Approach {
  std::int64_t heads = 0;
  std::vector<BeliefScore> scores = {}, predicted = {};  ///< `predicted`: by theory, to order 1/H.
  std::vector<double> log_evidence = {};  ///< Log evidence − the Gaussian process's.
};

struct Study {
  std::vector<Approach> approaches;
  std::vector<Band> bands;   ///< A band for each number of heads, and for infinitely many.
  Tensor targets;            ///< Targets of the first data set.
  Tensor prior_sd;           ///< Prior standard deviation of f at the test inputs [M].
  bool interrupted = false;  ///< If so, only finished results are included.
};

Study run_study(const TaskSettings& settings);

/// A row for each number of heads. The last column is in the report only.
Table approach_table(const Study& study);
constexpr std::size_t approach_columns_printed = 6;

/// Draws exact_posterior.svg, the posteriors of the first data set, and
/// exact_posterior_approach.svg, their distances to the Gaussian process.
void draw(const TaskSettings& settings, const Study& study);

}  // namespace ladon::example
