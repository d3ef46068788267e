#include "ladon/core/extra/data/metrics.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/data/ensemble.h"
#include "ladon/core/measured.h"
#include "ladon/tests/declared_functions.h"
#include "ladon/tests/support.h"

namespace ladon::test::metrics_test {
namespace {

TEST(Measured, AFigureAloneHasNoError) {
  EXPECT_EQ(Measured{2.5}.se, 0);
  EXPECT_TRUE(std::isnan(Measured{}.value));
}

using namespace metrics;  // NOLINT: all that is tested here

const Tensor probabilities = tensor({0.7, 0.2, 0.1,     //
                                     0.4, 0.4, 0.2,     //
                                     0.05, 0.05, 0.9,   //
                                     0.25, 0.5, 0.25},  //
                                    {4, 3}, f64);
const Tensor labels = tensor({0, 1, 2, 0}, i64);

TEST(Metrics, Accuracy) {
  EXPECT_EQ(accuracy(probabilities, labels), 0.5);  // the tie of row 1 counts as class 0
}

TEST(Metrics, Nll) {
  const double expected = -(std::log(0.7) + std::log(0.4) + std::log(0.9) + std::log(0.25)) / 4;
  EXPECT_NEAR(nll(probabilities, labels), expected, 1e-15);
  EXPECT_EQ(nll(tensor({1, 0}, {1, 2}), tensor({1}, i64)), std::numeric_limits<double>::infinity());
}

TEST(Metrics, Brier) {
  const double rows[] = {0.09 + 0.04 + 0.01, 0.16 + 0.36 + 0.04, 0.0025 + 0.0025 + 0.01,
                         0.5625 + 0.25 + 0.0625};
  EXPECT_NEAR(brier(probabilities, labels), (rows[0] + rows[1] + rows[2] + rows[3]) / 4, 1e-15);
  EXPECT_EQ(brier(tensor({1, 0}, {1, 2}), tensor({1}, i64)), 2);
}

// Confidences .7 (right), .4 (wrong), .9 (right), .5 (wrong).
TEST(Metrics, Ece) {
  EXPECT_NEAR(ece(probabilities, labels, 10), (0.3 + 0.4 + 0.1 + 0.5) / 4, 1e-15);
  // Two bins: (0, .5] holds .4 and .5 with accuracy 0, (.5, 1] holds .7 and .9 with accuracy 1.
  EXPECT_NEAR(ece(probabilities, labels, 2), (0.9 + 0.4) / 4, 1e-15);
  // One bin: |½ − .625|.
  EXPECT_NEAR(ece(probabilities, labels, 1), 0.125, 1e-15);
  EXPECT_EQ(ece(tensor({1, 0, 0, 1}, {2, 2}), tensor({0, 1}, i64)), 0);
}

TEST(Metrics, PredictiveEntropy) {
  const auto entropy = predictive_entropy(tensor({0.5, 0.5, 1, 0}, {2, 2}, f64));
  EXPECT_NEAR(entropy[0], std::log(2), 1e-15);
  EXPECT_EQ(entropy[1], 0);
}

TEST(Metrics, Auroc) {
  EXPECT_EQ(auroc({2, 3}, {0, 1}), 1);
  EXPECT_EQ(auroc({0, 1}, {2, 3}), 0);
  EXPECT_EQ(auroc({1, 1}, {1, 1, 1}), 0.5);
}

TEST(Metrics, AurocIsTheShareOfPairsWithTiesHalf) {
  const std::vector<double> positives = {1, 2, 2, 5, 7, 2}, negatives = {2, 0, 5, 2, -1, 6, 6};
  double sum = 0;
  for (const double p : positives)
    for (const double n : negatives) sum += p > n ? 1 : p == n ? 0.5 : 0;
  EXPECT_NEAR(auroc(positives, negatives), sum / 42, 1e-15);
  EXPECT_NEAR(auroc(negatives, positives), 1 - sum / 42, 1e-15);
}

// Confidences in order .4 (wrong), .5 (wrong), .7 (right), .9 (right).
TEST(Metrics, AdaptiveEce) {
  EXPECT_NEAR(adaptive_ece(probabilities, labels, 2), (0.9 + 0.4) / 4, 1e-15);
  EXPECT_NEAR(adaptive_ece(probabilities, labels, 3), (0.4 + 0.5 + 0.4) / 4,
              1e-15);  // 1, 1 and 2 rows
  for (const std::int64_t bins : {4, 5, 1000})
    EXPECT_NEAR(adaptive_ece(probabilities, labels, bins), (0.4 + 0.5 + 0.3 + 0.1) / 4, 1e-15);
  EXPECT_NEAR(adaptive_ece(probabilities, labels, 1), 0.125, 1e-15);
}

// One confidence, half of the rows right: calibrated, in whatever order the rows come.
TEST(Metrics, AdaptiveEceDoesNotDependOnTheOrderOfEqualRows) {
  const Tensor coin = tensor({0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, {4, 2});
  EXPECT_EQ(adaptive_ece(coin, tensor({0, 0, 1, 1}, i64), 2), 0);
  EXPECT_EQ(adaptive_ece(coin, tensor({0, 1, 0, 1}, i64), 2), 0);
}

// The scores .8 (positive), .4 (negative), .35 (positive), .1 (negative): precision 1 at recall ½
// and 2/3 at recall 1.
TEST(Metrics, Aupr) {
  EXPECT_NEAR(aupr({0.35, 0.8}, {0.1, 0.4}), 0.5 * 1 + 0.5 * 2 / 3, 1e-15);
  EXPECT_EQ(aupr({2, 3}, {0, 1}), 1);
  // The worst: the k-th positive has N + k scores at or above it.
  EXPECT_NEAR(aupr({0, 1}, {2, 3, 4}), (1.0 / 4 + 2.0 / 5) / 2, 1e-15);
  EXPECT_EQ(aupr({1, 1}, {1, 1, 1, 1, 1, 1}), 0.25);  // no information: the share of positives
  // A tie is one threshold: precision 2/3 for both.
  EXPECT_NEAR(aupr({5, 5}, {5, 1}), 2.0 / 3, 1e-15);
}

TEST(Metrics, Fpr95) {
  std::vector<double> positives;
  for (int i = 1; i <= 20; ++i) positives.push_back(i);
  // 19 of 20 reach the threshold 2, and so do three of four negatives.
  EXPECT_EQ(fpr95(positives, {1.5, 2, 7, 30}), 0.75);
  EXPECT_EQ(fpr95(positives, {1.5, 1}), 0);
  EXPECT_EQ(fpr95({3, 3}, {3, 3}), 1);
  positives.pop_back();  // of 19 all are needed
  EXPECT_EQ(fpr95(positives, {1.5, 0.5}), 0.5);
}

TEST(Metrics, AgreementAndTotalVariation) {
  const Tensor reference = tensor({0.6, 0.4, 0,  //
                                   0.3, 0.5, 0.2, 0.05, 0.05, 0.9, 0, 1, 0},
                                  {4, 3}, f32);
  EXPECT_EQ(agreement(probabilities, reference), 0.75);  // the tie of row 1 counts as class 0
  EXPECT_NEAR(total_variation(probabilities, reference), (0.2 + 0.1 + 0 + 0.5) / 4, 1e-7);
  EXPECT_EQ(total_variation(tensor({1, 0}, {1, 2}), tensor({0, 1}, {1, 2})), 1);
  EXPECT_EQ(total_variation(reference, reference), 0);
  expect_error([&] { agreement(probabilities, ones({4, 2})); }, "[4, 3] and reference [4, 2]");
}

/// What a metric reads of probabilities: their values; where the largest stands, which logits tell
/// as well; or scores, which are no probabilities.
enum class Reads { values, order, scores };
struct MetricRow {
  Reads reads;
  std::function<std::vector<double>(const Tensor& p)> of = {};  ///< p [4, 3], or [2, 4, 3]
};

std::map<std::string, MetricRow> every_metric() {
  const auto single = [](double (*metric)(const Tensor&, const Tensor&)) {
    return [=](const Tensor& p) { return std::vector{metric(p, labels)}; };
  };
  const auto binned = [](double (*metric)(const Tensor&, const Tensor&, std::int64_t)) {
    return [=](const Tensor& p) { return std::vector{metric(p, labels, 5)}; };
  };
  const auto beside = [](double (*metric)(const Tensor&, const Tensor&)) {
    return [=](const Tensor& p) {
      return std::vector{metric(p, probabilities), metric(probabilities, p)};
    };
  };
  const auto members = [](const Tensor& p) { return stack({p, probabilities}, 0); };
  return {{"accuracy", {Reads::order, single(accuracy)}},
          {"nll", {Reads::values, single(nll)}},
          {"brier", {Reads::values, single(brier)}},
          {"ece", {Reads::values, binned(ece)}},
          {"adaptive_ece", {Reads::values, binned(adaptive_ece)}},
          {"predictive_entropy", {Reads::values, predictive_entropy}},
          {"auroc", {Reads::scores}},
          {"aupr", {Reads::scores}},
          {"fpr95", {Reads::scores}},
          {"agreement", {Reads::order, beside(agreement)}},
          {"total_variation", {Reads::values, beside(total_variation)}},
          {"ensemble_mean",
           {Reads::values, [=](const Tensor& p) { return ensemble_mean(members(p)).to_vector(); }}},
          {"mutual_information",
           {Reads::values, [=](const Tensor& p) { return mutual_information(members(p)); }}},
          {"disagreement",
           {Reads::order, [=](const Tensor& p) { return std::vector{disagreement(members(p))}; }}},
          {"variation_ratio",
           {Reads::order, [=](const Tensor& p) { return variation_ratio(members(p)); }}}};
}

TEST(EveryMetric, HasItsRow) {
  std::set<std::string> rows, declared;
  for (const auto& [name, row] : every_metric()) rows.insert(name);
  for (const char* header : {"metrics.h", "ensemble.h"})
    for (const std::string& name :
         declared_functions(std::filesystem::path(source_folder()) / "core/extra/data" / header))
      declared.insert(name);
  EXPECT_EQ(rows, declared);
}

TEST(EveryMetric, RefusesWhatIsNoProbability) {
  const auto with = [](double value) {  // one entry of row 2 is another
    std::vector<double> values = probabilities.to_vector();
    values[7] = value;
    return from_vector(values, {4, 3});
  };
  const Tensor logits = log(probabilities) * 3 + 1;
  const Tensor outside =
      probabilities + tensor({0, 0, 0, 0, 0, 0, 0.2, -0.2, 0, 0, 0, 0}, {4, 3}, f64);
  for (const auto& entry : every_metric()) {
    const auto& name = entry.first;
    const auto& row = entry.second;
    if (row.reads == Reads::scores) continue;
    SCOPED_TRACE(name);
    expect_error([&] { row.of(with(std::nan(""))); }, "[" + name + "] an entry of row 2 is NaN");
    if (row.reads == Reads::order) {
      EXPECT_EQ(row.of(logits), row.of(softmax(logits)));
      continue;
    }
    const std::string why = "[" + name + "] row ", hint = "For logits use softmax(logits)";
    for (const Tensor& p : {logits, outside, with(-1e-6), with(0.06), with(1.05),
                            probabilities * 1.01, log(probabilities), ones({4, 3}, f64),
                            zeros({4, 3}, f64), with(std::numeric_limits<double>::infinity())}) {
      expect_error([&] { row.of(p); }, why);
      expect_error([&] { row.of(p); }, hint);
    }
    const Tensor above = tensor({1.0005, 0, 0}, {1, 3}, f64);
    expect_error([&] { row.of(concat({above, slice(probabilities, 0, {.start = 1})}, 0)); }, why);
    EXPECT_NO_THROW(row.of(probabilities * (1 + 5e-4)));
    EXPECT_NO_THROW(row.of(cast(cast(probabilities, f32), f64)));
    EXPECT_NO_THROW(row.of(cast(probabilities, f32)));
  }
}

TEST(Metrics, RefuseBadInput) {
  expect_error([] { adaptive_ece(probabilities, labels, 0); }, "0 bins");
  expect_error([] { aupr({1}, {}); }, "[aupr] there are 1 positives and 0 negatives");
  expect_error([] { fpr95({std::nan("")}, {1}); }, "[fpr95] the score of a positive is NaN");
  expect_error([] { accuracy(probabilities, tensor({0, 1}, i64)); }, "labels must be i64 [4]");
  expect_error([] { accuracy(probabilities, tensor({0, 1, 2, 0})); }, "got f32 [4]");
  expect_error([] { nll(probabilities, tensor({0, 1, 3, 0}, i64)); }, "label 3 is outside [0, 3)");
  expect_error([] { brier(labels, labels); }, "got i64 [4]");
  expect_error([] { brier(zeros({0, 3}), zeros({0}, i64)); }, "N, C > 0");
  expect_error([] { ece(probabilities, labels, 0); }, "0 bins");
  expect_error([] { ece(full({1, 2}, std::nan("")), tensor({0}, i64)); }, "NaN");
  expect_error([] { predictive_entropy(Tensor()); }, "floating [N, C]");
  expect_error([] { auroc({}, {1}); }, "0 positives and 1 negatives");
  expect_error([] { auroc({std::nan("")}, {1}); }, "NaN");
}

}  // namespace
}  // namespace ladon::test::metrics_test
