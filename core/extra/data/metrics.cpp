#include "ladon/core/extra/data/metrics.h"

#include <algorithm>
#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/extra/data/probabilities.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon::metrics {
namespace {

using detail::Reads;

/// Probabilities as rows of doubles.
struct Rows {
  Rows(const char* operation, const Tensor& probabilities, Reads reads = Reads::values) {
    LADON_CHECK(probabilities.defined() && probabilities.rank() == 2 &&
                    is_floating(probabilities.dtype()) && probabilities.count() > 0,
                operation, "probabilities must be floating [N, C] with N, C > 0, got ",
                ladon::detail::kind_in_words(probabilities));
    count = probabilities.size(0);
    classes = probabilities.size(1);
    values = probabilities.detach().to_vector<double>();
    detail::check_rows(operation, values, classes, reads);
  }
  const double* operator[](std::int64_t i) const { return values.data() + i * classes; }
  std::int64_t best(std::int64_t i) const {
    return std::max_element((*this)[i], (*this)[i] + classes) - (*this)[i];
  }

  std::int64_t count, classes;
  std::vector<double> values;
};

std::vector<std::int64_t> checked_labels(const char* operation, const Tensor& labels,
                                         const Rows& rows) {
  LADON_CHECK(labels.defined() && labels.dtype() == i64 && labels.shape() == Shape({rows.count}),
              operation, "labels must be i64 ", Shape{rows.count}, ", got ",
              ladon::detail::kind_in_words(labels));
  const auto values = labels.to_vector<std::int64_t>();
  for (const std::int64_t label : values)
    LADON_CHECK(label >= 0 && label < rows.classes, operation, "label ", label, " is outside [0, ",
                rows.classes, ")");
  return values;
}

/// The mean over rows i of figure(rows, i, label of row i).
template <class F>
double mean_over_rows(const char* operation, const Tensor& probabilities, const Tensor& labels,
                      const F& figure, Reads reads = Reads::values) {
  const Rows rows(operation, probabilities, reads);
  const auto label = checked_labels(operation, labels, rows);
  double sum = 0;
  for (std::int64_t i = 0; i < rows.count; ++i) sum += figure(rows, i, label[i]);
  return sum / static_cast<double>(rows.count);
}

}  // namespace

double accuracy(const Tensor& probabilities, const Tensor& labels) {
  return mean_over_rows(
      "accuracy", probabilities, labels,
      [](const Rows& p, auto i, auto label) { return p.best(i) == label; }, Reads::order);
}

double nll(const Tensor& probabilities, const Tensor& labels) {
  return mean_over_rows("nll", probabilities, labels,
                        [](const Rows& p, auto i, auto label) { return -std::log(p[i][label]); });
}

double brier(const Tensor& probabilities, const Tensor& labels) {
  return mean_over_rows("brier", probabilities, labels, [](const Rows& p, auto i, auto label) {
    double sum = 0;
    for (std::int64_t c = 0; c < p.classes; ++c) {
      const double error = p[i][c] - (c == label);
      sum += error * error;
    }
    return sum;
  });
}

double ece(const Tensor& probabilities, const Tensor& labels, std::int64_t bins) {
  LADON_CHECK(bins >= 1 && bins <= 1'000'000, "ece", "there are ", bins,
              " bins; the number of bins must be 1 to 1,000,000");
  const Rows rows("ece", probabilities);
  const auto label = checked_labels("ece", labels, rows);
  std::vector<double> gap(bins);  // Σ (correct − confidence) over the rows of each bin
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const double confidence = rows[i][rows.best(i)];
    const double bin = std::ceil(confidence * static_cast<double>(bins)) - 1;
    gap[std::clamp(bin, 0.0, static_cast<double>(bins - 1))] +=
        (rows.best(i) == label[i]) - confidence;
  }
  double sum = 0;
  for (const double g : gap) sum += std::abs(g);
  return sum / static_cast<double>(rows.count);
}

double adaptive_ece(const Tensor& probabilities, const Tensor& labels, std::int64_t bins) {
  LADON_CHECK(bins >= 1, "adaptive_ece", "there are ", bins,
              " bins; the number of bins must be at least 1");
  const Rows rows("adaptive_ece", probabilities);
  const auto label = checked_labels("adaptive_ece", labels, rows);
  struct Row {
    double confidence, gap;  // gap: correct − confidence
  };
  std::vector<Row> sorted;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const double confidence = rows[i][rows.best(i)];
    sorted.push_back({confidence, (rows.best(i) == label[i]) - confidence});
  }
  const auto less = [](const Row& a, const Row& b) { return a.confidence < b.confidence; };
  std::sort(sorted.begin(), sorted.end(), less);
  for (auto begin = sorted.begin(); begin != sorted.end();) {
    const auto end = std::upper_bound(begin, sorted.end(), *begin, less);
    double gap = 0;
    for (auto row = begin; row != end; ++row) gap += row->gap / static_cast<double>(end - begin);
    for (; begin != end; ++begin) begin->gap = gap;
  }
  double sum = 0, gap = 0;
  bins = std::min(bins, rows.count);
  for (std::int64_t i = 0, bin = 1; i < rows.count; ++i) {
    gap += sorted[i].gap;
    if (i + 1 < bin * rows.count / bins) continue;
    sum += std::abs(gap);
    gap = 0;
    ++bin;
  }
  return sum / static_cast<double>(rows.count);
}

std::vector<double> predictive_entropy(const Tensor& probabilities) {
  const Rows rows("predictive_entropy", probabilities);
  std::vector<double> entropy(rows.count);
  for (std::int64_t i = 0; i < rows.count; ++i)
    for (std::int64_t c = 0; c < rows.classes; ++c)
      if (const double p = rows[i][c]; p != 0) entropy[i] -= p * std::log(p);
  return entropy;
}

namespace {

/// Numbers of positives and negatives at each distinct score, from the largest score on.
struct Level {
  double positives, negatives;
};
std::vector<Level> levels(const char* operation, const std::vector<double>& positives,
                          const std::vector<double>& negatives) {
  LADON_CHECK(!positives.empty() && !negatives.empty(), operation, "there are ", positives.size(),
              " positives and ", negatives.size(), " negatives; at least one of each is needed");
  struct Score {
    double value;
    bool positive;
  };
  std::vector<Score> scores;
  for (const double s : positives) scores.push_back({s, true});
  for (const double s : negatives) scores.push_back({s, false});
  for (const Score& s : scores)
    LADON_CHECK(!std::isnan(s.value), operation, "the score of a ",
                s.positive ? "positive" : "negative", " is NaN; did the model diverge?");
  std::sort(scores.begin(), scores.end(),
            [](const Score& a, const Score& b) { return a.value > b.value; });
  std::vector<Level> list;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (i == 0 || scores[i].value != scores[i - 1].value) list.push_back({0, 0});
    ++(scores[i].positive ? list.back().positives : list.back().negatives);
  }
  return list;
}

}  // namespace

double auroc(const std::vector<double>& positives, const std::vector<double>& negatives) {
  // above: number of positives with larger scores. wins: number of pairs (positive, negative) in
  // which the positive has the larger score; a tie counts half.
  double above = 0, wins = 0;
  for (const Level& level : levels("auroc", positives, negatives)) {
    wins += level.negatives * (above + level.positives / 2);
    above += level.positives;
  }
  return wins / (above * static_cast<double>(negatives.size()));
}

double aupr(const std::vector<double>& positives, const std::vector<double>& negatives) {
  double right = 0, called = 0, sum = 0;
  for (const Level& level : levels("aupr", positives, negatives)) {
    right += level.positives;
    called += level.positives + level.negatives;
    sum += level.positives * right / called;
  }
  return sum / right;
}

double fpr95(const std::vector<double>& positives, const std::vector<double>& negatives) {
  const auto count = static_cast<double>(positives.size());
  double right = 0, wrong = 0;
  for (const Level& level : levels("fpr95", positives, negatives)) {
    right += level.positives;
    wrong += level.negatives;
    if (20 * right >= 19 * count) break;
  }
  return wrong / static_cast<double>(negatives.size());
}

namespace {

/// The mean over rows i of figure(p, q, i), with probabilities p and reference q.
template <class F>
double mean_of_both(const char* operation, const Tensor& probabilities, const Tensor& reference,
                    const F& figure, Reads reads = Reads::values) {
  const Rows p(operation, probabilities, reads), q(operation, reference, reads);
  LADON_CHECK(p.count == q.count && p.classes == q.classes, operation, "probabilities ",
              probabilities.shape(), " and reference ", reference.shape(),
              " differ in shape, but must have the same shape");
  double sum = 0;
  for (std::int64_t i = 0; i < p.count; ++i) sum += figure(p, q, i);
  return sum / static_cast<double>(p.count);
}

}  // namespace

double agreement(const Tensor& probabilities, const Tensor& reference) {
  return mean_of_both(
      "agreement", probabilities, reference,
      [](const Rows& p, const Rows& q, auto i) { return p.best(i) == q.best(i); }, Reads::order);
}

double total_variation(const Tensor& probabilities, const Tensor& reference) {
  return mean_of_both("total_variation", probabilities, reference,
                      [](const Rows& p, const Rows& q, auto i) {
                        double sum = 0;
                        for (std::int64_t c = 0; c < p.classes; ++c)
                          sum += std::abs(p[i][c] - q[i][c]);
                        return sum / 2;
                      });
}

}  // namespace ladon::metrics
