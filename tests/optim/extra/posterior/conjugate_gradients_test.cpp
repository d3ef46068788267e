// Conjugate gradients, pivoted Cholesky factors, and predictions that are computed by them.

#include "ladon/optim/extra/posterior/conjugate_gradients.h"

#include "ladon/core/machine/parallel.h"
#include "ladon/optim/extra/posterior/cg_solver.h"
#include "ladon/optim/extra/posterior/pivoted_cholesky.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/tests/layers/infinite/gram/gram_networks.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::conjugate_gradients_test {
namespace {

using test::expect_error;
using test::expect_near;
using test::gaussian;
using test::Problem;

LinearMap of(const Tensor& a) {
  return [a](const Tensor& v) { return matmul(a, v); };
}

TEST(ConjugateGradients, EqualTheInverse) {
  const Problem p(60, 1, 4);
  const Tensor a = p.train + 0.1 * eye(60, f64);
  const Tensor expected = matmul(test::invert(a).first, p.targets);
  const CgResult y = conjugate_gradients(of(a), p.targets, {.tolerance = 1e-12});
  expect_near(y.x, expected, 1e-9);
  expect_near(y.residual, p.targets - matmul(a, y.x), 1e-13);
  EXPECT_LE(amax(y.relative).item(), 1e-12);
  EXPECT_LE(y.iterations, 60);
}

// Of k different eigenvalues it takes k iterations.
TEST(ConjugateGradients, TakeAnIterationForEachEigenvalue) {
  const Tensor a = from_vector(std::vector<double>{1, 2, 5, 2, 5, 1}, {6}), b = gaussian({6, 2});
  const CgResult y = conjugate_gradients([&](const Tensor& v) { return unsqueeze(a, 1) * v; }, b);
  EXPECT_EQ(y.iterations, 3);
  expect_near(y.x, b / unsqueeze(a, 1), 1e-12);
  const CgResult at_once =
      conjugate_gradients([&](const Tensor& v) { return unsqueeze(a, 1) * v; }, b,
                          {.preconditioner = [&](const Tensor& v) { return v / unsqueeze(a, 1); }});
  EXPECT_EQ(at_once.iterations, 1);
}

TEST(ConjugateGradients, RightSidesDoNotDisturbEachOther) {
  const Problem p(50, 1, 1);
  const Tensor a = p.train + 0.01 * eye(50, f64), b = gaussian({50, 1});
  const Tensor easy = zeros({50, 1}, f64), large = 1e8 * gaussian({50, 1}, 2);
  const CgResult alone = conjugate_gradients(of(a), b),
                 all = conjugate_gradients(of(a), concat({easy, b, large}, 1));
  expect_near(slice(all.x, 1, {.stop = 1}), easy, 0);
  EXPECT_LE(amax(all.relative).item(), 1e-8);
  expect_near(slice(all.x, 1, {.start = 1, .stop = 2}), alone.x, 1e-4);
}

TEST(ConjugateGradients, SayHowFarTheyCame) {
  const Problem p(50, 1, 1);
  const Tensor a = p.train + 1e-3 * eye(50, f64);
  std::vector<int> told;
  const CgResult y = conjugate_gradients(
      of(a), p.targets, {.max_iterations = 3, .progress = [&](const CgProgress& c) {
                           told.push_back(c.iterations);
                         }});
  EXPECT_EQ(y.iterations, 3);
  EXPECT_EQ(told, (std::vector<int>{1, 2, 3}));
  EXPECT_GT(y.relative.item(), 1e-3);
  // No f64 solution has such a residual: the restarts end.
  const CgResult finest = conjugate_gradients(of(a), p.targets, {.tolerance = 1e-30});
  EXPECT_LT(finest.relative.item(), 1e-12);
  EXPECT_LT(finest.iterations, 1000);
}

TEST(ConjugateGradients, RefuseWhatIsNotPositiveDefinite) {
  const Tensor b = gaussian({3, 1});
  const Tensor indefinite = from_vector(std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, -4}, {3, 3});
  expect_error([&] { conjugate_gradients(of(indefinite), b); },
               "the matrix is not positive definite");
  expect_error([&] { conjugate_gradients(of(-1 * eye(3, f64)), b); }, "pᵀAp is -");
  expect_error(
      [&] { conjugate_gradients(of(eye(3, f64)), b, {.preconditioner = of(-1 * eye(3, f64))}); },
      "the preconditioner is not positive definite");
  const auto nan = [](const Tensor& v) { return v * std::nan(""); };
  expect_error([&] { conjugate_gradients(nan, b); }, "or not finite");
  expect_error([&] { conjugate_gradients(of(eye(3, f64)), 1e200 * b); }, "the residual is ");
  expect_error([&] { conjugate_gradients(of(ones({2, 3}, f64)), b); }, "must have the same shape");
  expect_error([&] { conjugate_gradients({}, b); },
               "the function that multiplies by the matrix is empty");
  expect_error([&] { conjugate_gradients(of(eye(3, f64)), gaussian({3})); }, "[N, k]");
  expect_error([&] { conjugate_gradients(of(eye(3, f64)), b, {.tolerance = 0}); }, "above 0");
  expect_error([&] { conjugate_gradients(of(eye(3, f64)), b, {.tolerance = 1e300}); }, "below 1");
  expect_error([&] { conjugate_gradients(of(eye(3, f64)), b, {.max_iterations = 0}); },
               "at least 1");
}

PivotedCholesky factor_of(const Tensor& k, std::int64_t rank) {
  return PivotedCholesky(clone(diagonal(k)), [&](std::int64_t i) { return select(k, 0, i); },
                         {.rank = rank});
}

TEST(PivotedCholesky, LeavesTheCovarianceGivenItsInputs) {
  const Problem p(40, 1, 1);
  const PivotedCholesky some = factor_of(p.train, 6);
  ASSERT_EQ(some.rank(), 6);
  const Tensor taken = from_vector(some.pivots(), {6});
  const Tensor columns = index_select(p.train, 1, taken), own = index_select(columns, 0, taken);
  const Tensor explained = matmul(columns, matmul(test::invert(own).first, transpose(columns)));
  expect_near(matmul(some.factor(), transpose(some.factor())), explained, 1e-8);
  EXPECT_NEAR(some.left(), sum(diagonal(p.train - explained)).item(), 1e-8);
}

TEST(PivotedCholesky, TakesTheInputThatIsLeastKnown) {
  const Tensor k = from_vector(std::vector<double>{1, 0, 2, 0, 3, 0, 2, 0, 5}, {3, 3});
  const PivotedCholesky all = factor_of(k, 10);
  EXPECT_EQ(all.pivots(), (std::vector<std::int64_t>{2, 1, 0}));  // left: 5, then 3, then 1 − 4/5
  expect_near(matmul(all.factor(), transpose(all.factor())), k, 1e-14);
  const PivotedCholesky twins = factor_of(ones({4, 4}, f64), 4);
  EXPECT_EQ(twins.rank(), 1);
  EXPECT_EQ(factor_of(zeros({4, 4}, f64), 4).rank(), 0);
  expect_error(
      [&] { PivotedCholesky(ones({2}, f64), [](std::int64_t) { return zeros({2}, f64); }); },
      "the diagonal has element 1 at 0, and row 0 has 0");
}

TEST(LowRankPlusNoise, EqualsTheDenseMatrix) {
  const Tensor l = gaussian({20, 4}), b = gaussian({20, 3}, 2);
  const auto [inverse, log_determinant] =
      test::invert(matmul(l, transpose(l)) + 0.3 * eye(20, f64));
  const LowRankPlusNoise p(l, 0.3);
  expect_near(p.solve(b), matmul(inverse, b), 1e-12);
  EXPECT_NEAR(p.log_determinant(), log_determinant, 1e-12);
  const LowRankPlusNoise none(zeros({20, 0}, f64), 0.5);
  expect_near(none.solve(b), 2 * b, 1e-15);
  EXPECT_NEAR(none.log_determinant(), 20 * std::log(0.5), 1e-12);
  expect_error([&] { LowRankPlusNoise(l, 0); }, "must be positive");
}

TEST(LowRankPlusNoise, TakesFewerIterations) {
  const Problem p(300, 1, 2);
  const Tensor a = p.train + 1e-3 * eye(300, f64);
  const LowRankPlusNoise near(factor_of(p.train, 80).factor(), 1e-3);
  const CgResult plain = conjugate_gradients(of(a), p.targets),
                 conditioned = conjugate_gradients(
                     of(a), p.targets,
                     {.preconditioner = [&](const Tensor&r) { return near.solve(r); }});
  EXPECT_LT(4 * conditioned.iterations, plain.iterations);
}

class CgSolverTest : public testing::Test {
 protected:
  GaussianProcess process(double tolerance, std::int64_t rank) const {
    return {CgSolver(kernel_map(p_.train), {.noise = noise},
                     {.rank = rank, .tolerance = tolerance, .test_tolerance = 1e-3, .at_once = 7}),
            p_.targets};
  }
  /// The largest share of the bound that the truth takes; fails where one is over it.
  static double share(const Tensor& x, const Tensor& exact, const Tensor& bound) {
    const auto errors = abs(x - exact).to_vector(), bounds = bound.to_vector();
    double largest = 0;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      EXPECT_LE(errors[i], bounds[i] + 1e-12) << "element " << i;
      if (errors[i] > 0) largest = std::max(largest, errors[i] / bounds[i]);
    }
    return largest;
  }
  static constexpr double noise = 0.05;
  Problem p_{200, 30, 3};
  GpPrediction exact_ =
      GaussianProcess(p_.train, p_.targets, {.noise = noise}).predict(p_.cross, p_.test);
  Tensor own_ = clone(diagonal(p_.test));
};

// Not vacuous, here and below: a bound that is never met to a thousandth would be of no use.
TEST_F(CgSolverTest, MeansAloneAreWithinWhatTheWeightsLeave) {
  for (const std::int64_t rank : {0, 5, 40})
    for (const double tolerance : {0.3, 1e-2, 1e-4, 1e-8}) {
      const GaussianProcess gp = process(tolerance, rank);
      const GpPrediction y = gp.predict(p_.cross);
      EXPECT_FALSE(y.covariance.defined());
      EXPECT_FALSE(y.mean_error.defined());
      const Tensor bound = sqrt(unsqueeze(own_, 1) * gp.weights().unknown);
      const double taken = share(y.mean, exact_.mean, bound);
      if (tolerance > 1e-6) {
        EXPECT_GT(taken, 1e-3) << "rank " << rank << ", " << tolerance;
      }
      EXPECT_LE(amax(bound).item(), 200 * tolerance);
    }
}

TEST_F(CgSolverTest, VariancesAndCorrectedMeansAreWithinTheirBounds) {
  for (const std::int64_t rank : {0, 5, 40})
    for (const double tolerance : {0.3, 1e-2, 1e-4}) {
      const GaussianProcess gp = process(tolerance, rank);
      const GpPrediction y = gp.predict(p_.cross, own_);
      share(y.mean, exact_.mean, y.mean_error);
      EXPECT_GT(share(y.covariance, exact_.variance(), y.covariance_error), 1e-3);
      EXPECT_LT(amax(y.mean_error).item(), 0.2 * std::sqrt(amax(gp.weights().unknown).item()))
          << "a product of two residuals is smaller than one";
    }
}

TEST_F(CgSolverTest, CovariancesAreWithinTheirBounds) {
  const GpPrediction y = process(1e-4, 5).predict(p_.cross, p_.test);
  EXPECT_GT(share(y.covariance, exact_.covariance, y.covariance_error), 1e-3);
  expect_near(y.covariance, transpose(y.covariance), 0);
}

TEST_F(CgSolverTest, TakesAKernelFromTheDisk) {
  const Tensor x = test::draw({300, 20}), z = test::draw({20, 20}, 3), y = gaussian({300, 2});
  const Sequential net = test::relu_net(20);
  const test::TemporaryFolder folder;
  const auto limit = infinite::limit(net);
  const Tensor k = infinite::gram(limit, x, {.get = infinite::Get::nngp}).nngp,
               cross = infinite::gram(limit, z, x, {.get = infinite::Get::nngp}).nngp,
               own = infinite::gram_diagonal(limit, z, {.get = infinite::Get::nngp}).nngp;
  const auto stored =
      infinite::store_gram(limit, x, folder / "k", {.get = infinite::Get::nngp, .tile = 128});
  const GpPrediction exact = GaussianProcess(k, y, {.noise = 0.1}).predict(cross, own);
  std::vector<Tensor> results;
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    const CgSolver solver(kernel_map(stored), {.noise = 0.1},
                          {.rank = 30, .tolerance = 1e-12, .test_tolerance = 1e-8});
    EXPECT_EQ(solver.rank(), 30);
    const GpPrediction predicted = GaussianProcess(solver, y).predict(cross, own);
    expect_near(predicted.mean, exact.mean, 1e-10);
    expect_near(predicted.covariance, exact.covariance, 1e-10);
    results.push_back(concat({predicted.mean, unsqueeze(predicted.covariance, 1)}, 1));
  }
  EXPECT_TRUE(test::same_bits(results[0], results[1]));
}

TEST_F(CgSolverTest, RefusesMalformedRequests) {
  const KernelMap k = kernel_map(p_.train);
  expect_error([&] { GaussianProcess(CgSolver(k), gaussian({3})); }, "[200]");
  expect_error([&] { CgSolver(k, {.jitter = 0}); }, "must be positive");
  expect_error([&] { CgSolver(k, {.noise = -1}); }, "must be finite and at least 0");
  expect_error([&] { CgSolver(k, {}, {.at_once = 0}); }, "at least 1");
  const GaussianProcess gp = process(1e-4, 5);
  expect_error([&] { gp.predict(gaussian({2, 3}), ones({2}, f64)); }, "[M, 200]");
  expect_error([&] { gp.log_marginal_likelihood(); }, "use a solver with a factor");
}

}  // namespace
}  // namespace ladon::conjugate_gradients_test
