#include "ladon/optim/posterior/gp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::gp_test {
namespace {

using test::expect_error;
using test::expect_near;
using test::Problem;

const double log_2pi = std::log(2 * std::numbers::pi);

// K = 2, σ² = ½, y = 3, k* = 1, k** = 4:  mean 3/2.5, variance 4 − 1/2.5.
TEST(GaussianProcess, OnePointByHand) {
  const GaussianProcess gp(tensor({2}, {1, 1}, f64), tensor({3}, f64), {.noise = 0.5, .jitter = 0});
  const GpPrediction p = gp.predict(tensor({1}, {1, 1}, f64), tensor({4}, {1, 1}, f64));
  EXPECT_NEAR(p.mean.item(), 1.2, 1e-15);
  EXPECT_NEAR(p.covariance.item(), 3.6, 1e-15);
  EXPECT_NEAR(gp.log_marginal_likelihood(), -0.5 * (9 / 2.5 + std::log(2.5) + log_2pi), 1e-15);
  const LeaveOneOut loo = gp.leave_one_out();  // from nothing: the prior N(0, 2.5)
  EXPECT_NEAR(loo.mean.item(), 0, 1e-15);
  EXPECT_NEAR(loo.variance.item(), 2.5, 1e-15);
  EXPECT_NEAR(loo.log_density, gp.log_marginal_likelihood(), 1e-15);
  EXPECT_NEAR(gp.amplitude(), 9 / 2.5, 1e-15);
}

// [[2, 1], [1, 2]]⁻¹ = [[2, −1], [−1, 2]]/3; y = (1, 0) gives α = (2, −1)/3.
TEST(GaussianProcess, TwoPointsByHand) {
  const GaussianProcess gp(tensor({2, 1, 1, 2}, {2, 2}, f64), tensor({1, 0}, f64), {.jitter = 0});
  const Tensor cross = tensor({1, 1, 0, 1.5}, {2, 2}, f64);
  const GpPrediction p = gp.predict(cross, tensor({3, 0.5, 0.5, 2}, {2, 2}, f64));
  expect_near(p.mean, tensor({1.0 / 3, -0.5}, {2, 1}, f64), 1e-15);
  // (1, 1)·K⁻¹ = (1, 1)/3;  (0, 1.5)·K⁻¹ = (−0.5, 1)
  expect_near(p.covariance, tensor({3 - 2.0 / 3, 0, 0, 0.5}, {2, 2}, f64), 1e-15);
  EXPECT_NEAR(gp.log_marginal_likelihood(), -0.5 * (2.0 / 3 + std::log(3) + 2 * log_2pi), 1e-15);
}

// The jitter counts in units of the mean of the diagonal, here 3.
TEST(GaussianProcess, JitterIsRelativeToTheMeanOfTheDiagonal) {
  const Tensor k = tensor({2, 1, 1, 4}, {2, 2}, f64), y = tensor({1, -1}, f64);
  const Tensor cross = tensor({1, 2}, {1, 2}, f64), variance = tensor({5}, f64);
  const GaussianProcess relative(k, y, {.jitter = 0.1}),
      absolute(k, y, {.noise = 0.3, .jitter = 0});
  expect_near(relative.predict(cross, variance).covariance,
              absolute.predict(cross, variance).covariance, 1e-15);
  EXPECT_NEAR(relative.log_marginal_likelihood(), absolute.log_marginal_likelihood(), 1e-15);
  const GaussianProcess scaled(k * 1e9, y, {.jitter = 0.1});
  expect_near(scaled.predict(cross * 1e9).mean, relative.predict(cross).mean, 1e-14);
}

TEST(GaussianProcess, AgreesWithTheExplicitInverse) {
  const Problem p(14, 5, 3);
  const double noise = 0.01;
  const auto [inverse, log_determinant] = test::invert(p.train + eye(14, f64) * noise);
  const GaussianProcess gp(p.train, p.targets, {.noise = noise, .jitter = 0});
  const GpPrediction posterior = gp.predict(p.cross, p.test);
  expect_near(posterior.mean, matmul(matmul(p.cross, inverse), p.targets), 1e-11);
  expect_near(posterior.covariance, p.test - matmul(matmul(p.cross, inverse), transpose(p.cross)),
              1e-12);
  expect_near(gp.predict(p.cross, diagonal(p.test)).covariance, diagonal(posterior.covariance),
              1e-14);
  EXPECT_FALSE(gp.predict(p.cross).covariance.defined());
  const double fit = dot(p.targets, matmul(inverse, p.targets)).item();
  EXPECT_NEAR(gp.log_marginal_likelihood(), -0.5 * (fit + 3 * log_determinant + 3 * 14 * log_2pi),
              1e-9);
}

TEST(GaussianProcess, LeaveOneOutIsEveryRefit) {
  const Problem p(8, 1, 2);
  const GpOptions options{.noise = 0.05, .jitter = 0};
  const LeaveOneOut loo = GaussianProcess(p.train, p.targets, options).leave_one_out();
  double log_density = 0;
  for (std::int64_t i = 0; i < 8; ++i) {
    const GaussianProcess others(test::without(p.train, i, true),
                                 test::without(p.targets, i, false), options);
    const Tensor cross = test::without(select(p.train, 0, i), i, false);
    const GpPrediction refit = others.predict(unsqueeze(cross, 0), ones({1}, f64));
    const double variance = refit.covariance.item() + options.noise;
    EXPECT_NEAR(at(loo.variance, {i}).item(), variance, 1e-12);
    expect_near(unsqueeze(select(loo.mean, 0, i), 0), refit.mean, 1e-11);
    for (std::int64_t o = 0; o < 2; ++o) {
      const double error = at(p.targets, {i, o}).item() - at(refit.mean, {0, o}).item();
      log_density -= 0.5 * (log_2pi + std::log(variance) + error * error / variance);
    }
  }
  EXPECT_NEAR(loo.log_density, log_density, 1e-10);
}

// ln p(y) = Σ_i ln p(y_i | y_0 … y_{i−1}): the posterior and the likelihood are one model.
TEST(GaussianProcess, LikelihoodIsTheProductOfItsPredictions) {
  const Problem p(7, 1, 1);
  const GpOptions options{.noise = 0.1, .jitter = 0};
  double log_density = 0;
  for (std::int64_t i = 0; i < 7; ++i) {
    const double y = at(p.targets, {i, 0}).item();
    double mean = 0, variance = 1 + options.noise;
    if (i > 0) {
      const Slice before{.stop = i};
      const GaussianProcess gp(at(p.train, {before, before}), slice(p.targets, 0, before), options);
      const GpPrediction next =
          gp.predict(at(p.train, {Slice{.start = i, .stop = i + 1}, before}), ones({1}, f64));
      mean = next.mean.item();
      variance = next.covariance.item() + options.noise;
    }
    log_density -= 0.5 * (log_2pi + std::log(variance) + (y - mean) * (y - mean) / variance);
  }
  EXPECT_NEAR(GaussianProcess(p.train, p.targets, options).log_marginal_likelihood(), log_density,
              1e-11);
}

TEST(GaussianProcess, InterpolatesWithoutNoise) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Problem p(5, 1, 2, seed);
    const GaussianProcess gp(p.train, p.targets, {.jitter = 0});
    const GpPrediction posterior = gp.predict(p.train, p.train);
    expect_near(posterior.mean, p.targets, 1e-8);
    expect_near(posterior.covariance, zeros({5, 5}, f64), 1e-11);
    EXPECT_GE(amin(diagonal(posterior.covariance)).item(), 0);  // where rounding goes below
    EXPECT_GE(amin(gp.predict(p.train, ones({5}, f64)).covariance).item(), 0);
  }
}

TEST(GaussianProcess, CovariancesAreSymmetricAndVariancesNotNegative) {
  const Problem p(40, 30, 1);  // 40 points in the plane: the kernel is near-singular
  const GaussianProcess gp(p.train, p.targets);
  for (const auto& [cross, prior] : {std::pair(p.cross, p.test), std::pair(p.train, p.train)}) {
    const Tensor c = gp.predict(cross, prior).covariance;
    EXPECT_TRUE(all_equal(c, transpose(c)));
    EXPECT_GE(amin(diagonal(c)).item(), 0);
    EXPECT_GE(amin(gp.predict(cross, diagonal(prior)).covariance).item(), 0);
  }
}

TEST(GaussianProcess, DuplicatesAndZerosGiveNoNaN) {
  // Two equal inputs with targets 1 and 2: their mean is predicted.
  const GaussianProcess twins(ones({2, 2}, f64), tensor({1, 2}, f64));
  const GpPrediction p = twins.predict(ones({1, 2}, f64), ones({1}, f64));
  EXPECT_NEAR(p.mean.item(), 1.5, 1e-7);
  EXPECT_GE(p.covariance.item(), 0);
  EXPECT_TRUE(std::isfinite(twins.log_marginal_likelihood()));
  EXPECT_TRUE(test::finite(twins.leave_one_out().mean));
  // A kernel of zeros knows nothing.
  const GaussianProcess ignorant(zeros({2, 2}, f64), tensor({1, 2}, f64), {.noise = 1});
  EXPECT_EQ(ignorant.predict(zeros({1, 2}, f64), zeros({1}, f64)).mean.item(), 0);
}

TEST(GaussianProcess, NothingToPredictIsNoError) {
  const GaussianProcess gp(eye(2, f64), ones({2, 3}, f64));
  EXPECT_TRUE((gp.predict(zeros({0, 2}, f64)).mean.shape() == Shape{0, 3}));
  EXPECT_TRUE((gp.predict(zeros({0, 2}, f64), zeros({0}, f64)).covariance.shape() == Shape{0}));
  const GpPrediction p = gp.predict(zeros({0, 2}, f64), zeros({0, 0}, f64));
  EXPECT_TRUE((p.covariance.shape() == Shape{0, 0}));
}

TEST(GaussianProcess, AmplitudeIsTheMostLikelyScale) {
  const Problem p(9, 1, 2);
  const double noise = 0.2;
  const double a = GaussianProcess(p.train, p.targets, {.noise = noise}).amplitude();
  const auto likelihood = [&](double scale) {
    return GaussianProcess(p.train * scale, p.targets, {.noise = noise * scale})
        .log_marginal_likelihood();
  };
  EXPECT_GT(likelihood(a), likelihood(a * 1.01));
  EXPECT_GT(likelihood(a), likelihood(a / 1.01));
}

TEST(GaussianProcess, SameBitsAtAnyNumberOfThreads) {
  const Problem p(300, 150, 2);
  const int threads = num_threads();
  const auto run = [&](int n) {
    set_num_threads(n);
    const GaussianProcess gp(p.train, p.targets, {.noise = 0.1});
    const GpPrediction posterior = gp.predict(p.cross, p.test);
    auto all = posterior.mean.to_vector();
    for (const Tensor& x : {posterior.covariance, gp.leave_one_out().mean})
      for (const double v : x.to_vector()) all.push_back(v);
    all.push_back(gp.log_marginal_likelihood());
    return all;
  };
  const auto one = run(1);
  for (const int n : {2, 3, 16}) EXPECT_EQ(run(n), one) << n;
  set_num_threads(threads);
}

TEST(GaussianProcess, SinglePrecisionIsTakenAndComputedInDouble) {
  const Problem p(5, 2, 1);
  const GaussianProcess gp(cast(p.train, f32), cast(p.targets, f32), {.noise = 0.1});
  const GpPrediction single = gp.predict(cast(p.cross, f32), cast(p.test, f32));
  EXPECT_EQ(single.mean.dtype(), f64);
  expect_near(single.mean,
              GaussianProcess(p.train, p.targets, {.noise = 0.1}).predict(p.cross).mean, 1e-5);
}

// --- the differentiable likelihood ---

// A kernel, positive definite for any [n, k] root: R Rᵀ + I/2.
Tensor kernel_of(const Tensor& root) {
  return matmul(root, transpose(root)) + eye(root.size(0), f64) * 0.5;
}

TEST(LogMarginalLikelihood, IsThatOfTheProcess) {
  const Problem p(6, 1, 3);
  const double expected =
      GaussianProcess(p.train, p.targets, {.noise = 0.1, .jitter = 0.01}).log_marginal_likelihood();
  const Tensor value = log_marginal_likelihood(p.train, p.targets, scalar(0.1, f64), 0.01);
  EXPECT_EQ(value.rank(), 0);
  EXPECT_NEAR(value.item(), expected, 1e-13);
}

TEST(LogMarginalLikelihood, GradientsByKernelTargetsAndNoise) {
  Generator rng(4);
  for (const Shape& targets : {Shape{5}, Shape{5, 2}}) {
    Tensor root = normal({5, 3}, rng, 0, 1, f64), y = normal(targets, rng, 0, 1, f64);
    Tensor noise = tensor({0.3}, f64);
    for (Tensor* x : {&root, &y, &noise}) x->set_requires_grad();
    const auto f = [](const std::vector<Tensor>& x) {
      return log_marginal_likelihood(kernel_of(x[0]), x[1], x[2], 0.1);  // a jitter that is felt
    };
    EXPECT_TRUE(gradcheck(f, {root, y, noise}));
    EXPECT_TRUE(gradgradcheck(f, {root, y, noise}));
    EXPECT_TRUE(gradcheck(
        [&](const auto& x) {
          return f({root.detach(), x[0], noise.detach()});
        },
        {y}));
  }
}

// RW 5.9 of one point: L = −½ (y²/A + ln A + ln 2π), dL/dA = ½ (y²/A² − 1/A) at A = 2.5, y = 3.
TEST(LogMarginalLikelihood, GradientOfOnePointByHand) {
  Tensor k = tensor({2}, {1, 1}, f64), noise = scalar(0.5, f64);
  k.set_requires_grad();
  noise.set_requires_grad();
  backward(log_marginal_likelihood(k, tensor({3}, f64), noise, 0));
  EXPECT_NEAR(k.grad().item(), 0.5 * (9 / 6.25 - 0.4), 1e-15);
  EXPECT_NEAR(noise.grad().item(), 0.5 * (9 / 6.25 - 0.4), 1e-15);
}

// --- errors ---

TEST(GaussianProcess, RefusesWhatDoesNotFit) {
  const Tensor k = eye(3, f64), y = ones({3}, f64);
  const auto make = [](const Tensor& kernel, const Tensor& targets, GpOptions options = {}) {
    return [=] { GaussianProcess(kernel, targets, options); };
  };
  expect_error(make(ones({3, 2}, f64), y), "[3, 2]");
  expect_error(make(ones({0, 0}, f64), y), "N ≥ 1");
  expect_error(make({}, y), "undefined");
  expect_error(make(ones({3, 3}, i64), y), "i64");
  expect_error(make(k, ones({4}, f64)), "[3] or [3, outputs]");
  expect_error(make(k, ones({4}, f64)), "got [4]");
  expect_error(make(k, y, {.noise = -0.5}), "-0.5");
  expect_error(make(k, y, {.jitter = -1e-3}), "-0.001");
  expect_error(make(k, y, {.noise = NAN}), "nan");
  expect_error(make(tensor({1, 0.25, 0.5, 1}, {2, 2}, f64), ones({2}, f64)),
               "[1, 0] is 0.5, [0, 1] is 0.25");
  expect_error(make(tensor({1, NAN, NAN, 1}, {2, 2}, f64), ones({2}, f64)),
               "row 0, column 1 is nan");
  expect_error(make(k, tensor({0, INFINITY, 0}, f64)), "row 1, column 0 is inf");
  const GaussianProcess gp(k, y);
  expect_error([&] { gp.predict(ones({2, 4}, f64)); }, "[M, 3], got [2, 4]");
  expect_error(
      [&] {
        gp.predict(ones({2, 3}, f64), ones({3}, f64));
      },
      "[2, 2] (covariances), got [3]");
  expect_error([&] { gp.predict(full({2, 3}, NAN, f64)); }, "nan");
  expect_error([&] { log_marginal_likelihood(k, y, scalar(-1, f64)); }, "noise (a variance) is -1");
  expect_error([&] { log_marginal_likelihood(k, y, ones({2}, f64)); }, "[2]");
}

// Beyond the first tile of the pass that looks for them.
// Its posterior had the variances of a valid kernel, and an eigenvalue of −10.
TEST(GaussianProcess, RefusesTestKernelsWithImpossibleCovariances) {
  const GaussianProcess gp(eye(2, f64), zeros({2}, f64), {.noise = 0.1});
  const auto predict = [&](const std::vector<double>& k, DType dtype = f64) {
    gp.predict(zeros({2, 2}, f64), cast(from_vector(k, {2, 2}), dtype));
  };
  expect_error(
      [&] {
        predict({1, 2.001, 2.001, 4});
      },
      "the covariance of test inputs 0 and 1 is 2.001, but their variances are 1 and 4");
  expect_error([&] { predict({1, -11, -11, 4}); }, "is not a covariance matrix");
  expect_error([&] { predict({0, 1, 1, 4}); }, "is not a covariance matrix");
  EXPECT_NO_THROW(predict({1, 2 + 1e-9, 2 + 1e-9, 4}));
  EXPECT_NO_THROW(predict({1, 2 + 1e-4, 2 + 1e-4, 4}, f32));
  EXPECT_NO_THROW(predict({0, 1e-16, 1e-16, 4}));
}

TEST(GaussianProcess, KernelThatIsNoneNamesTheFirstElement) {
  const Tensor y = zeros({150}, f64);
  const auto with = [](std::int64_t i, std::int64_t j, double value) {
    Tensor k = eye(150, f64);
    k.mutable_data<double>()[i * 150 + j] = value;
    return k;
  };
  expect_error([&] { GaussianProcess(with(70, 3, 0.5), y); },
               "is not symmetric: [70, 3] is 0.5, [3, 70] is 0");
  expect_error([&] { GaussianProcess(with(3, 140, 0.5), y); },
               "is not symmetric: [140, 3] is 0, [3, 140] is 0.5");
  EXPECT_NO_THROW(GaussianProcess(with(70, 3, 1e-9), y));
  expect_error([&] { GaussianProcess(with(3, 140, std::nan("")), y); },
               "row 3, column 140 is nan; all must be finite");
  expect_error([&] { GaussianProcess(with(9, 9, std::numeric_limits<double>::infinity()), y); },
               "row 9, column 9 is inf; all must be finite");
}

TEST(GaussianProcess, IndefiniteKernelNamesEigenvalueAndJitter) {
  // Eigenvalues 4 and −2; the mean of the diagonal is 1.
  const Tensor k = tensor({1, 3, 3, 1}, {2, 2}, f64), y = ones({2}, f64);
  std::string message;
  try {
    GaussianProcess gp(k, y, {.jitter = 0.5});
    FAIL() << "no error";
  } catch (const Error& e) {
    message = e.what();
  }
  EXPECT_NE(message.find("[GaussianProcess]"), std::string::npos) << message;
  EXPECT_NE(message.find("smallest eigenvalue is -1.5;"), std::string::npos) << message;
  const auto number_after = [&](const std::string& words) {
    return std::stod(message.substr(message.find(words) + words.size()));
  };
  const double jitter = number_after("jitter of at least "),
               noise = number_after("noise of at least ");
  EXPECT_GT(jitter, 2);  // not less than it takes, and not out of proportion
  EXPECT_LT(jitter, 8);
  EXPECT_NO_THROW(GaussianProcess(k, y, {.jitter = jitter}));
  EXPECT_NO_THROW(GaussianProcess(k, y, {.noise = noise, .jitter = 0.5}));
  expect_error([&] { log_marginal_likelihood(k, y, scalar(0, f64)); },
               "smallest eigenvalue is -2;");
  // A jitter relative to a mean of zero adds nothing: noise is what helps.
  expect_error([&] { GaussianProcess(zeros({2, 2}, f64), y); }, "0; pass a noise of at least");
}

}  // namespace
}  // namespace ladon::gp_test
