#pragma once
// Summary of the runs.

#include <string>
#include <utility>
#include <vector>

#include "ladon/examples/common/report.h"
#include "ladon/examples/repulsive_heads/train.h"

namespace ladon::example {

/// Outcomes of each method, one per seed, in the order of seeds. An interrupted run has fewer.
using Outcomes = std::vector<std::pair<std::string, std::vector<Outcome>>>;

/// Without the runs that diverged, and the methods that have no other.
Outcomes that_converged(const Outcomes& outcomes);

/// The run in the middle by how many heads lead a rule; the first where nobody knows the rules.
Outcome typical(std::vector<Outcome> runs);

/// A row for each method that was run, means over seeds. One run that diverged makes its method's
/// row a diverged one: a mean over the others would flatter it.
Table table_of(const Task& task, const Outcomes& outcomes);

/// Comparison of one method with another. Runs of one seed share weights, batches and dropout, so
/// the differences are paired.
struct Comparison {
  std::string method, against;
  std::vector<std::uint64_t> seeds;              ///< Of the pairs.
  std::vector<std::vector<double>> differences;  ///< Of each figure that is judged, a seed each.
  std::vector<Difference> judged;                ///< The first figures of the table.
};

/// Number of the table's figures that are judged: accuracy, nll, ece and ood_auroc.
constexpr std::size_t figures_judged = 4;

/// Each method against plain, and svgd against smoothing alone, which tells repulsion from the
/// smoothing that comes with it; over the seeds that both have. Decisions are corrected for all of
/// these comparisons, of all figures judged.
std::vector<Comparison> comparisons(const Outcomes& outcomes);

/// The comparisons as a table and in words, what so many seeds can see, and a line for each run
/// that diverged.
std::string verdict(const Task& task, const Outcomes& outcomes);

/// {"runs", "verdict"}: every run's figures, learning curves and maps, and what was decided from
/// them.
nlohmann::ordered_json details(const Task& task, const Outcomes& outcomes);

}  // namespace ladon::example
