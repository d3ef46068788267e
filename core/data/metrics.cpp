#include "ladon/core/data/metrics.h"

#include <algorithm>
#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon::metrics {
namespace {

/// Probabilities as rows of doubles.
struct Rows {
  Rows(const char* operation, const Tensor& probabilities) {
    LADON_CHECK(probabilities.defined() && probabilities.rank() == 2 &&
                    is_floating(probabilities.dtype()) && probabilities.count() > 0,
                operation, "probabilities are floating [N, C] with N, C > 0, got ",
                probabilities.dtype(), " of shape ", probabilities.shape());
    count = probabilities.size(0);
    classes = probabilities.size(1);
    values = probabilities.detach().to_vector<double>();
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
              operation, "labels are i64 ", Shape{rows.count}, ", got ", labels.dtype(),
              " of shape ", labels.shape());
  const auto values = labels.to_vector<std::int64_t>();
  for (const std::int64_t label : values)
    LADON_CHECK(label >= 0 && label < rows.classes, operation, "label ", label, " is outside [0, ",
                rows.classes, ")");
  return values;
}

/// The mean over rows of figure(row, label).
template <class F>
double mean_over_rows(const char* operation, const Tensor& probabilities, const Tensor& labels,
                      const F& figure) {
  const Rows rows(operation, probabilities);
  const auto label = checked_labels(operation, labels, rows);
  double sum = 0;
  for (std::int64_t i = 0; i < rows.count; ++i) sum += figure(rows, i, label[i]);
  return sum / static_cast<double>(rows.count);
}

}  // namespace

double accuracy(const Tensor& probabilities, const Tensor& labels) {
  return mean_over_rows("accuracy", probabilities, labels,
                        [](const Rows& p, auto i, auto label) { return p.best(i) == label; });
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
  LADON_CHECK(bins >= 1, "ece", "there are ", bins, " bins; at least 1 is needed");
  const Rows rows("ece", probabilities);
  const auto label = checked_labels("ece", labels, rows);
  std::vector<double> gap(bins);  // Σ (correct − confidence) of each bin: n·(accuracy − confidence)
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const double confidence = rows[i][rows.best(i)];
    const double bin = std::ceil(confidence * static_cast<double>(bins)) - 1;
    LADON_CHECK(!std::isnan(confidence), "ece", "the probabilities of row ", i, " are NaN");
    gap[static_cast<std::size_t>(std::clamp(bin, 0.0, static_cast<double>(bins - 1)))] +=
        (rows.best(i) == label[i]) - confidence;
  }
  double sum = 0;
  for (const double g : gap) sum += std::abs(g);
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

// The rank-sum form: with mid-ranks r (from 1) of all scores in order,
// (Σ_positives r − P(P+1)/2) / (P·N).
double auroc(const std::vector<double>& positives, const std::vector<double>& negatives) {
  LADON_CHECK(!positives.empty() && !negatives.empty(), "auroc", "there are ", positives.size(),
              " positives and ", negatives.size(), " negatives; both are needed");
  struct Score {
    double value;
    bool positive;
  };
  std::vector<Score> scores;
  for (const double s : positives) scores.push_back({s, true});
  for (const double s : negatives) scores.push_back({s, false});
  for (const Score& s : scores) LADON_CHECK(!std::isnan(s.value), "auroc", "a score is NaN");
  std::sort(scores.begin(), scores.end(),
            [](const Score& a, const Score& b) { return a.value < b.value; });
  double rank_sum = 0;
  for (std::size_t begin = 0, end = 0; begin < scores.size(); begin = end) {
    double tied_positives = 0;
    for (end = begin; end < scores.size() && scores[end].value == scores[begin].value; ++end)
      tied_positives += scores[end].positive;
    rank_sum += tied_positives * static_cast<double>(begin + 1 + end) / 2;
  }
  const auto p = static_cast<double>(positives.size()), n = static_cast<double>(negatives.size());
  return (rank_sum - p * (p + 1) / 2) / (p * n);
}

}  // namespace ladon::metrics
