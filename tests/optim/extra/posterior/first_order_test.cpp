// The posterior to first order in 1/H for H heads, compared with exact integrals over the heads.

#include "ladon/optim/extra/posterior/first_order.h"

#include "ladon/layers/infinite/finite/heads.h"
#include "ladon/tests/optim/posterior/one_channel.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::first_order_test {
namespace {

using namespace test::one_channel;

FirstOrder of_draws(std::int64_t draws) {
  Generator rng(1);
  const Sequential net = network();
  FirstOrder first(limit_kernel(), targets(), {.noise = noise, .jitter = 0});
  infinite::finite_heads(net).for_each(inputs(), draws, rng, infinite::Get::nngp,
                                       [&](const infinite::Kernel& k) { first.add(k.nngp); });
  return first;
}

void expect_within(const Tensor& got, const Tensor& expected, const Tensor& se) {
  ASSERT_EQ(got.shape(), expected.shape());
  for (std::int64_t i = 0; i < got.count(); ++i)
    EXPECT_LT(std::abs(flatten(got).to_vector()[static_cast<std::size_t>(i)] -
                       flatten(expected).to_vector()[static_cast<std::size_t>(i)]),
              4 * flatten(se).to_vector()[static_cast<std::size_t>(i)])
        << "element " << i;
}

TEST(FirstOrder, IsTheExactIntegralOverOneHead) {
  const FirstOrder first = of_draws(20000);
  const FirstOrderCoefficients c = first.coefficients();
  EXPECT_LT(std::abs(c.log_evidence.value + 0.022562896), 4 * c.log_evidence.se);
  expect_within(c.mean, tensor({-0.58578229323, 0.035485706268}, {2, 1}, f64), c.mean_se);
  expect_within(
      c.within,
      tensor({0.021460096569, 0.000906762785, 0.000906762785, -0.01581428824}, {2, 2}, f64),
      c.within_se);
  expect_within(
      c.between,
      tensor({0.204607758119, -0.027221725335, -0.027221725335, 0.020655384713}, {1, 2, 2}, f64),
      c.between_se);
  EXPECT_LT(amax(c.mean_se).item(), 0.02);
}

TEST(FirstOrder, EndsAtTheGaussianProcess) {
  const FirstOrder first = of_draws(10);
  const GpPrediction limit = first.predict(std::numeric_limits<double>::infinity());
  test::expect_near(limit.mean, tensor({-1.23963930917, 0.785612059552}, {2, 1}, f64), 1e-9);
  test::expect_near(
      limit.covariance,
      tensor({0.106523900758, -0.018007252488, -0.018007252488, 0.021599445034}, {2, 2}, f64),
      1e-9);
  EXPECT_NEAR(first.log_marginal_likelihood(std::numeric_limits<double>::infinity()), -3.190529832,
              1e-8);
  const FirstOrderCoefficients c = first.coefficients();
  const GpPrediction eight = first.predict(8);
  test::expect_near(eight.mean, limit.mean + c.mean / 8, 1e-13);
  test::expect_near(diagonal(eight.covariance),
                    diagonal(limit.covariance + (c.within + select(c.between, 0, 0)) / 8), 1e-13);
}

// Several outputs: each has a mean of its own, and the evidence is of all together.
TEST(FirstOrder, OfEqualOutputsIsThatOfOne) {
  const test::Problem p(4, 3, 1);
  const Tensor kernel =
      concat({concat({p.train, transpose(p.cross)}, 1), concat({p.cross, p.test}, 1)}, 0);
  FirstOrder one(kernel, p.targets, {.noise = 0.1}),
      zero(kernel, concat({p.targets, zeros({4, 1}, f64)}, 1), {.noise = 0.1});
  for (const double factor : {0.5, 1.3, 1.2}) {
    one.add(factor * kernel);
    zero.add(factor * kernel);
  }
  const auto a = one.coefficients(), b = zero.coefficients();
  EXPECT_EQ(b.mean.shape(), (Shape{3, 2}));
  EXPECT_TRUE(all_equal(select(b.between, 0, 1), zeros({3, 3}, f64)));
  test::expect_near(select(b.between, 0, 0), select(a.between, 0, 0), 1e-12);
  EXPECT_FALSE(all_close(a.within, b.within));  // the other output knows of the variance too
}

TEST(FirstOrder, RefusesWhatDoesNotFit) {
  const Tensor k = eye(3, f64), y = ones({2}, f64);
  FirstOrder first(k, y, {.noise = 0.1});
  test::expect_error([&] { FirstOrder(k, ones({4}, f64)); }, "4 targets for a kernel of 3 inputs");
  test::expect_error([&] { FirstOrder(infinite::KernelMatrix(k, infinite::Get::ntk), y); },
                     "the kernel is an NTK");
  test::expect_error([&] { first.add(eye(2, f64)); }, "and the limit's kernel has shape");
  test::expect_error([&] { first.coefficients(); }, "needs at least two draws");
  test::expect_error([&] { first.predict(0); }, "heads must be positive");
  test::expect_error([&] { first.add(NAN * k); }, "must be finite");
  Tensor own = eye(3, f64);
  const FirstOrder keeps(own, y, {.noise = 0.1});
  const Tensor before = keeps.predict(INFINITY).covariance;
  fill_(own, 0);
  EXPECT_TRUE(all_equal(keeps.predict(INFINITY).covariance, before));
}

}  // namespace
}  // namespace ladon::first_order_test
