#pragma once
// Effect of repulsion on a classifier's answers: figures, paired comparisons, pictures.

#include <string>
#include <vector>

#include "ladon/examples/head_roles/study.h"

namespace ladon::example {

/// Files of sentences and their classes.
struct TextFiles {
  std::string format = "generated";      ///< generated (no files), trec, lines or tsv
  std::vector<std::string> train, test;  ///< Files of that format.
  std::string glove;                     ///< Word vectors; empty: none.
  double word_dropout = 0.1;             ///< Probability that a word is hidden in training.
};

/// Task of classifying sentences from files. In unfamiliar sentences every word of a test sentence
/// is replaced by a random word of the training set: length and frequencies are preserved, meaning
/// is not.
Task text_task(const TextFiles& files, const Settings& settings, Generator rng);

/// Columns of the figures of a task: accuracy, nll, ece and ood_auroc.
std::vector<Column> columns(const Task& task);
/// Observer that measures these columns.
Watch answers(const Task& task);

/// Comparison of two methods. Runs with the same seed share weights, batches and dropout, so
/// differences are paired.
struct Comparison {
  std::string method, against;
  std::vector<std::uint64_t> seeds;              ///< Seeds of the pairs.
  std::vector<std::vector<double>> differences;  ///< Differences of each figure, one per seed.
  std::vector<Difference> judged;
};

/// Compares each method with "plain", and "svgd" also with "smoothing", to separate repulsion from
/// the smoothing that comes with it. Each comparison uses the seeds that both methods have
/// finished. Decisions are corrected for the number of all comparisons of all figures.
std::vector<Comparison> comparisons(const Outcomes& outcomes);

/// Text with the comparisons, as a table and in words, and the differences that this many seeds can
/// detect.
std::string verdict(const std::vector<Column>& columns, const std::vector<Comparison>& all);
/// The comparisons and decisions, figure by figure.
nlohmann::ordered_json as_json(const std::vector<Column>& columns,
                               const std::vector<Comparison>& all);

/// Draws repulsive_heads.svg: each method's mean differences from plain, with 95% intervals,
/// uncorrected and corrected for all comparisons.
void draw(const Settings& settings, const std::string& format, const std::vector<Column>& columns,
          const std::vector<Comparison>& all);

}  // namespace ladon::example
