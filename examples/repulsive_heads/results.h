#pragma once
// What the runs say together.

#include <string>
#include <utility>
#include <vector>

#include "ladon/examples/common/report.h"
#include "ladon/examples/repulsive_heads/train.h"

namespace ladon::example {

/// Outcomes of each method, one a seed, in the order of seeds. An interrupted run has fewer.
using Outcomes = std::vector<std::pair<std::string, std::vector<Outcome>>>;

/// Without the runs that diverged, and the methods that have no other.
Outcomes that_converged(const Outcomes& outcomes);

/// A row for each method that was run, means over seeds. One run that diverged makes its method's
/// row a diverged one: a mean over the others would flatter it.
std::vector<Row> rows_of(const Outcomes& outcomes);

/// What a method did to the accuracy. Runs of one seed share weights, batches and dropout, so the
/// differences are paired.
struct Comparison {
  std::string method;
  std::vector<double> differences;  ///< To plain, a seed each.
  Measured difference{0, 0};
  double t = 0,
         t_needed = 0;  ///< Of a two-sided t test at 5%; not finite for fewer than two seeds.
  std::string decided;  ///< "better", "worse", "no clear difference", or why there is none.
  Measured force_ratio{0, 0};  ///< Repulsive over driving force at the end; 0 without repulsion.
};

/// The methods other than plain that have a seed in common with it; none without plain.
std::vector<Comparison> against_plain(const Outcomes& outcomes);

/// A line for each comparison, and one for each run that diverged.
std::string verdict(const Outcomes& outcomes);

/// {"runs", "verdict"}: every run's figures, learning curves and similarity matrices, and what was
/// decided from them.
nlohmann::ordered_json details(const Outcomes& outcomes);

}  // namespace ladon::example
