#include "ladon/optim/posterior/classification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ladon/core/extra/data/metrics.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::infinite::classification_test {
namespace {

using test::expect_error;
using test::expect_near;

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

TEST(ClassificationTargets, AreCentredOneHotRows) {
  const Tensor labels = from_vector(std::vector<std::int64_t>{2, 0}, {2});
  expect_near(classification_targets(labels, 4),
              tensor({-0.25, -0.25, 0.75, -0.25, 0.75, -0.25, -0.25, -0.25}, {2, 4}, f64), 0);
  expect_error([&] { classification_targets(labels, 2); }, "label 2 is outside [0, 2)");
  expect_error([&] { classification_targets(labels, 1); }, "classes is 1");
  expect_error([&] { classification_targets(ones({2}, f64), 2); }, "f64");
}

// P(f_0 > f_1) with f_0 − f_1 ~ N(μ_0 − μ_1, 2v), also where it is small.
TEST(ClassProbabilities, OfTwoClassesAreTheNormalDistribution) {
  for (const double gap : {0.0, 0.1, 1.0, 5.0, 20.0, 45.0, 51.9})
    for (const double v : {0.25, 1.0, 100.0}) {
      const double s = std::sqrt(v);
      const Tensor p =
          class_probabilities(tensor({3 + gap * s, 3}, {1, 2}, f64), full({1}, v, f64));
      const double small = normal_cdf(-gap / std::sqrt(2.0));
      EXPECT_NEAR(at(p, {0, 1}).item() / small, 1, 1e-9) << gap << " " << v;
      EXPECT_NEAR(at(p, {0, 0}).item(), 1 - small, 1e-12) << gap << " " << v;
    }
}

// The same integral over each class's own z, by the midpoint rule.
TEST(ClassProbabilities, AgreeWithTheirDefinition) {
  Generator rng(1);
  const Tensor mean = normal({3, 5}, rng, 0, 2, f64);
  const std::vector<double> m = mean.to_vector(), variances = {0.3, 1, 4};
  const std::vector<double> p = class_probabilities(mean, from_vector(variances, {3})).to_vector();
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t c = 0; c < 5; ++c) {
      double expected = 0;
      const double step = 1e-2;
      for (double z = -12 + step / 2; z < 30; z += step) {
        double f = std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI);
        for (std::size_t other = 0; other < 5; ++other)
          if (other != c)
            f *= normal_cdf(z + (m[i * 5 + c] - m[i * 5 + other]) / std::sqrt(variances[i]));
        expected += f * step;
      }
      EXPECT_NEAR(p[i * 5 + c], expected, 1e-11);
    }
}

// The largest of many is narrowly distributed.  p_0 = ∫ φ(z) Φ(z + 1)^999 dz
TEST(ClassProbabilities, OfAThousandClasses) {
  std::vector<double> mean(1000);
  mean[0] = 1;
  double expected = 0;
  const double step = 1e-2;
  for (double z = -12 + step / 2; z < 12; z += step)
    expected += std::exp(-0.5 * z * z) * std::pow(normal_cdf(z + 1), 999) * step;
  expected /= std::sqrt(2 * M_PI);
  const Tensor p = class_probabilities(from_vector(mean, {1, 1000}), ones({1}, f64));
  EXPECT_NEAR(at(p, {0, 0}).item(), expected, 1e-13);
  EXPECT_NEAR(at(p, {0, 999}).item(), (1 - expected) / 999, 1e-15);
}

TEST(ClassProbabilities, AreFrequenciesOfTheLargest) {
  const Tensor mean = tensor({0.5, 0, -0.5, 0.4}, {1, 4}, f64);
  const auto p = class_probabilities(mean, full({1}, 0.5, f64)).to_vector();
  Generator rng(2);
  const std::int64_t draws = 40000;
  const Tensor winners = argmax(mean + normal({draws, 4}, rng, 0, std::sqrt(0.5), f64), 1);
  std::vector<double> counts(4);
  for (const std::int64_t w : winners.to_vector<std::int64_t>())
    ++counts[static_cast<std::size_t>(w)];
  for (std::size_t c = 0; c < 4; ++c) {
    const double n = static_cast<double>(draws), error = std::sqrt(p[c] * (1 - p[c]) / n);
    EXPECT_LT(std::abs(counts[c] / n - p[c]), 4 * error);
  }
}

TEST(ClassProbabilities, Limits) {
  // Without variance the largest takes all, or the largest share.
  expect_near(class_probabilities(tensor({1, 2, 0, 2, 1, 2}, {2, 3}, f64), zeros({2}, f64)),
              tensor({0, 1, 0, 0.5, 0, 0.5}, {2, 3}, f64), 0);
  expect_near(class_probabilities(tensor({1, 2, 0}, {1, 3}, f64), full({1}, 1e-300, f64)),
              tensor({0, 1, 0}, {1, 3}, f64), 0);
  // With much of it all are alike. Many classes.
  expect_near(class_probabilities(tensor({1, 2, 0}, {1, 3}, f64), full({1}, 1e20, f64)),
              full({1, 3}, 1.0 / 3, f64), 1e-9);
  expect_near(class_probabilities(zeros({1, 1000}, f64), ones({1}, f64)),
              full({1, 1000}, 1e-3, f64), 1e-14);
  const Tensor none = class_probabilities(zeros({0, 3}, f64), zeros({0}, f64));
  EXPECT_TRUE((none.shape() == Shape{0, 3}));
  // They are what the metrics take.
  const Tensor p = class_probabilities(tensor({0.7, 0.1, -0.3, 0.2}, {2, 2}, f64), ones({2}, f64));
  const Tensor labels = from_vector(std::vector<std::int64_t>{0, 0}, {2});
  EXPECT_EQ(metrics::accuracy(p, labels), 0.5);
  EXPECT_NEAR(metrics::nll(p, labels),
              -0.5 * (std::log(normal_cdf(0.6 / std::sqrt(2.0))) +
                      std::log(normal_cdf(-0.5 / std::sqrt(2.0)))),
              1e-12);
}

TEST(ClassProbabilities, RefuseWhatDoesNotFit) {
  const Tensor mean = zeros({2, 3}, f64);
  expect_error([&] { class_probabilities(mean, zeros({3}, f64)); },
               "[2], one per row of the mean, got [3]");
  expect_error([&] { class_probabilities(zeros({2, 1}, f64), zeros({2}, f64)); }, "got [2, 1]");
  expect_error([&] { class_probabilities(mean, tensor({1, -2}, f64)); }, "row 1 is -2");
  expect_error([&] { class_probabilities(mean, tensor({1, NAN}, f64)); }, "nan");
  expect_error([&] { class_probabilities(full({2, 3}, NAN, f64), ones({2}, f64)); }, "nan");
}

}  // namespace
}  // namespace ladon::infinite::classification_test
