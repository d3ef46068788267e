// Scores of beliefs (predictive distributions), compared with closed forms for normal
// distributions.

#include "ladon/optim/posterior/belief.h"

#include <cmath>
#include <functional>
#include <numbers>

#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::belief_test {
namespace {

/// N(mean, covariance) as a belief.
Belief normal_belief(const Tensor& mean, const Tensor& covariance) {
  return belief_of(GpPrediction{unsqueeze(mean, 1), covariance});
}

double phi(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

TEST(Belief, OfTheTruthIsExact) {
  const Belief truth = normal_belief(tensor({1, -2}, f64), tensor({2, 0.5, 0.5, 1}, {2, 2}, f64));
  const BeliefScore score = score_belief(truth, truth, 0.1);
  EXPECT_EQ(score.mean_error, 0);
  EXPECT_EQ(score.variance_ratio, 1);
  EXPECT_NEAR(score.w2, 0, 1e-7);
  EXPECT_NEAR(score.coverage50, 0.5, 1e-8);
  EXPECT_NEAR(score.coverage90, 0.9, 1e-8);
  EXPECT_NEAR(score.log_density, 0, 1e-12);
}

// Truth N((0, 0), diag(1, 4)) and belief N((1, 0), diag(4, 1)), noise v = ½:
// mean error √(½·1), variance ratio 1, W² = 1 + (2 − 1)² + (1 − 2)², over tr C = 5; of y at an
// input with the true standard deviation s, belief N(m, t²):
//   coverage Φ((m + zt)/s) − Φ((m − zt)/s),  −KL = ln(s/t) + ½ − (s² + m²)/(2t²).
TEST(Belief, IsScoredByItsMoments) {
  const Belief truth = normal_belief(zeros({2}, f64), tensor({1, 0, 0, 4}, {2, 2}, f64));
  const Belief belief = normal_belief(tensor({1, 0}, f64), tensor({4, 0, 0, 1}, {2, 2}, f64));
  const double v = 0.5;
  const BeliefScore score = score_belief(belief, truth, v);
  EXPECT_NEAR(score.mean_error, std::sqrt(0.5), 1e-14);
  EXPECT_NEAR(score.variance_ratio, 1, 1e-14);
  EXPECT_NEAR(score.w2, std::sqrt(3.0 / 5), 1e-12);
  const double s[] = {std::sqrt(1 + v), std::sqrt(4 + v)}, t[] = {s[1], s[0]}, m[] = {1, 0};
  double coverage50 = 0, coverage90 = 0, ratio = 0;
  for (int i = 0; i < 2; ++i) {
    const auto within = [&](double z) {
      return phi((m[i] + z * t[i]) / s[i]) - phi((m[i] - z * t[i]) / s[i]);
    };
    coverage50 += within(0.674489750196082) / 2;
    coverage90 += within(1.644853626951472) / 2;
    ratio += (std::log(s[i] / t[i]) + 0.5 - (s[i] * s[i] + m[i] * m[i]) / (2 * t[i] * t[i])) / 2;
  }
  EXPECT_NEAR(score.coverage50, coverage50, 1e-8);
  EXPECT_NEAR(score.coverage90, coverage90, 1e-8);
  EXPECT_NEAR(score.log_density, ratio, 1e-6);
}

// W2 between normal laws whose covariances do not commute: for [[a, b], [b, c]] of unit trace the
// root of a product is known in two dimensions: tr √X = √(tr X + 2√det X).
TEST(Belief, DistanceKnowsCovariancesThatDoNotCommute) {
  const Tensor a = tensor({2, 0.5, 0.5, 1}, {2, 2}, f64),
               b = tensor({1, -0.3, -0.3, 3}, {2, 2}, f64);
  const double det = (2 - 0.25) * (3 - 0.09), cross = 2 * 1 + 2 * 0.5 * -0.3 + 1 * 3;
  const double w2 = 3 + 4 - 2 * std::sqrt(cross + 2 * std::sqrt(det));
  const Tensor zero = zeros({2}, f64);
  EXPECT_NEAR(score_belief(normal_belief(zero, a), normal_belief(zero, b), 1).w2, std::sqrt(w2 / 4),
              1e-10);
}

// The members of an ensemble: two functions at ±1 are a mixture of N(±1, v).
TEST(Belief, OfDrawsIsTheirMixture) {
  const Tensor draws = tensor({1, 3, -1, 5}, {2, 2}, f64);
  const Belief belief = belief_of_draws(draws);
  test::expect_near(belief.mean, tensor({0, 4}, f64), 1e-15);
  test::expect_near(belief.covariance, tensor({2, -2, -2, 2}, {2, 2}, f64), 1e-15);
  const Belief truth = normal_belief(tensor({0, 4}, f64), eye(2, f64));
  const double v = 0.25, s = std::sqrt(1 + v);
  // By hand: the 90% interval of ½N(−1, v) + ½N(1, v) is ±q with ½(Φ((q + 1)/√v) − Φ(…)) …
  double low = 0, high = 10;
  for (int i = 0; i < 100; ++i) {
    const double q = 0.5 * (low + high);
    const double mass = 0.5 * (phi((q - 1) / 0.5) + phi((q + 1) / 0.5));
    (mass < 0.95 ? low : high) = q;
  }
  EXPECT_NEAR(score_belief(belief, truth, v).coverage90, 2 * phi(low / s) - 1, 1e-8);
}

TEST(Belief, RefusesWhatDoesNotFit) {
  const Belief one = normal_belief(zeros({1}, f64), eye(1, f64)),
               two = normal_belief(zeros({2}, f64), eye(2, f64));
  test::expect_error([&] { score_belief(one, two, 1); }, "got shapes [1] and [2]");
  test::expect_error([&] { score_belief(one, one, 0); }, "the noise is 0");
  test::expect_error([] { belief_of_draws(ones({1, 2}, f64)); }, "[S ≥ 2, M], got [1, 2]");
  test::expect_error([] { belief_of_draws(full({2, 2}, NAN, f64)); }, "finite");
  test::expect_error([] { belief_of(GpPrediction{ones({1, 1}, f64), {}}); }, "has no covariance");
  for (const std::int64_t output : {-1, 1})
    test::expect_error(
        [&] {
          belief_of(GpPrediction{ones({2, 1}, f64), eye(2, f64)}, output);
        },
        "there is no output");
}

// Each member of a belief, on either side, with what no distribution has.
TEST(Belief, RefusesWhatIsNoDistribution) {
  const Belief good = normal_belief(zeros({2}, f64), eye(2, f64));
  const auto refuse = [&](const std::function<void(Belief&)>& spoil, const char* fragment) {
    Belief bad = good;
    spoil(bad);
    test::expect_error([&] { score_belief(bad, good, 1); }, fragment);
    test::expect_error([&] { score_belief(good, bad, 1); }, fragment);
  };
  for (const double number : std::vector<double>{NAN, HUGE_VAL}) {
    refuse([&](Belief& b) { b.mean = full({2}, number, f64); }, "finite");
    refuse([&](Belief& b) { b.covariance = full({2, 2}, number, f64); }, "finite");
    refuse([&](Belief& b) { b.means = full({1, 2}, number, f64); }, "finite");
    refuse([&](Belief& b) { b.variances = full({1, 2}, number, f64); }, "finite");
  }
  refuse([](Belief& b) { b.covariance = -eye(2, f64); }, "smallest eigenvalue is -1");
  refuse([](Belief& b) { b.covariance = tensor({1, 2, 2, 1}, {2, 2}, f64); }, "eigenvalue is -1");
  refuse([](Belief& b) { b.covariance = tensor({1, 1, 0, 1}, {2, 2}, f64); }, "symmetric");
  refuse([](Belief& b) { b.covariance = eye(3, f64); }, "[2, 2]");
  refuse([](Belief& b) { b.variances = full({1, 2}, -1, f64); }, "variance -1");
  refuse([](Belief& b) { b.variances = ones({2, 2}, f64); }, "[1, 2]");
  refuse([](Belief& b) { b.means = Tensor(); }, "");
}

}  // namespace
}  // namespace ladon::belief_test
