#pragma once
// What repulsion changes in the answers of a classifier: its figures, paired comparisons, pictures.

#include <string>
#include <vector>

#include "ladon/examples/head_roles/study.h"

namespace ladon::example {

/// Sentences and their class, from files.
struct TextFiles {
  std::string format = "generated";      ///< generated (no files), trec, lines or tsv
  std::vector<std::string> train, test;  ///< Files; `lines` takes one per class.
  std::string glove;                     ///< Word vectors; empty: none.
  double word_dropout = 0.1;  ///< Probability that a word is hidden in a pass of training.
};

/// The unfamiliar sentences are the test set's with every word redrawn from the training set's
/// words: right length and frequencies, no sense.
Task text_task(const TextFiles& files, const Settings& settings, Generator rng);

/// Columns of the figures of a task: accuracy, nll, ece and ood_auroc.
std::vector<Column> columns(const Task& task);
/// The watch that measures them.
Watch answers(const Task& task);

/// Comparison of one method with another. Runs of one seed share weights, batches and dropout, so
/// the differences are paired.
struct Comparison {
  std::string method, against;
  std::vector<std::uint64_t> seeds;              ///< Of the pairs.
  std::vector<std::vector<double>> differences;  ///< Of each figure, a seed each.
  std::vector<Difference> judged;
};

/// Each method against plain, and svgd against smoothing alone, which tells repulsion from the
/// smoothing that comes with it; over the seeds that both have. Decisions are corrected for all of
/// these comparisons, of all figures.
std::vector<Comparison> comparisons(const Outcomes& outcomes);

/// The comparisons as a table and in words, and what so many seeds can see.
std::string verdict(const std::vector<Column>& columns, const std::vector<Comparison>& all);
/// The comparisons, figure by figure, with what was decided.
nlohmann::ordered_json as_json(const std::vector<Column>& columns,
                               const std::vector<Comparison>& all);

/// Draws repulsive_heads.svg, what each method changed against plain: mean differences with 95%
/// intervals, by themselves and corrected for all comparisons.
void draw(const Settings& settings, const std::string& format, const std::vector<Column>& columns,
          const std::vector<Comparison>& all);

}  // namespace ladon::example
