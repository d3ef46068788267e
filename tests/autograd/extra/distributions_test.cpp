// Distributions: draws are compared with distribution functions, densities with plain formulas,
// moments and divergences with averages over draws.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numbers>

#include "ladon/autograd/extra/distributions/discrete.h"
#include "ladon/autograd/extra/distributions/gamma.h"
#include "ladon/autograd/extra/distributions/normal.h"
#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/extra/io/parts.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/tests/support.h"

namespace ladon::distributions_test {
namespace {

using Cdf = std::function<double(double)>;
constexpr std::int64_t draws = 20000;

Tensor f(std::initializer_list<double> x) { return tensor(x, f64); }
Tensor number(double x) { return scalar(x, f64); }

/// √n·sup|F_n − F| of n draws is above 2.3 with probability 2·exp(−2·2.3²) = 5e-5 (Kolmogorov).
void expect_law(const Tensor& sample, const Cdf& cdf, const std::string& what) {
  std::vector<double> x = sample.to_vector();
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  double apart = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at = cdf(x[i]), below = static_cast<double>(i) / n;
    apart = std::max({apart, at - below, below + 1 / n - at});
  }
  EXPECT_LT(std::sqrt(n) * apart, 2.3) << what;
}

/// The mean of independent numbers is within 4.5 standard errors of `expected`: else with
/// probability 7e-6.
void expect_mean(const Tensor& numbers, double expected, const std::string& what) {
  const double error = std::sqrt(var(numbers).item() / static_cast<double>(numbers.count()));
  EXPECT_LE(std::abs(mean(numbers).item() - expected), 4.5 * error + 1e-14) << what;
}

/// P(a, x), the distribution function of Gamma(a, 1): Σ_k x^(a+k)·e^−x/Γ(a+k+1).
double gamma_cdf(double a, double x) {
  if (x <= 0) return 0;
  double sum = 0, term = 1 / a;
  for (int k = 1; k < 10000 && term > 1e-18 * sum; ++k) {
    sum += term;
    term *= x / (a + k);
  }
  return std::exp(a * std::log(x) - x - std::lgamma(a)) * sum;
}

double arcsine_cdf(double x) { return 2 / std::numbers::pi * std::asin(std::sqrt(x)); }
double beta23_cdf(double x) { return x * x * (6 - 8 * x + 3 * x * x); }

TEST(Distributions, DrawsFollowTheirLaw) {
  Generator rng(1);
  expect_law(
      Normal(f({-1}), f({2})).sample({draws}, rng),
      [](double x) { return std::erfc(-(x + 1) / 2 / std::numbers::sqrt2) / 2; }, "Normal");
  for (const double a : {0.05, 0.3, 1.0, 4.5, 200.0})
    expect_law(
        Gamma(f({a}), f({2})).sample({draws}, rng), [a](double x) { return gamma_cdf(a, 2 * x); },
        detail::join("Gamma ", a));
  expect_law(Beta(f({2}), f({3})).sample({draws}, rng), beta23_cdf, "Beta(2, 3)");
  expect_law(Beta(f({0.5}), f({0.5})).sample({draws}, rng), arcsine_cdf, "Beta(½, ½)");
  // A number of a Dirichlet has the law Beta(a_k, Σa − a_k).
  const auto first = [&](const Tensor& a) {
    const Tensor x = Dirichlet(a).sample({draws}, rng);
    EXPECT_TRUE(all_close(sum(x, -1), ones({draws}, f64), 0, 1e-14));
    return select(x, -1, 0);
  };
  expect_law(first(f({2, 1, 2})), beta23_cdf, "Dirichlet(2, 1, 2)");
  expect_law(first(f({0.5, 0.25, 0.25})), arcsine_cdf, "Dirichlet(½, ¼, ¼)");
}

// Of Gamma(a → 0) the draws of a Beta are 0 or 1, as likely as b : a; no NaN.
TEST(Distributions, TinyConcentrationsDoNotUnderflow) {
  Generator rng(2);
  const Tensor x = Beta(f({1e-4}), f({3e-4})).sample({draws}, rng);
  EXPECT_TRUE(all(isfinite(x)).item<bool>());
  expect_mean(x, 0.25, "mean");
}

TEST(Distributions, ClassesComeAsOftenAsTheyShould) {
  Generator rng(3);
  const std::vector<double> p{0.1, 0, 0.6, 0.3};
  const Tensor logits = log(from_vector(p, Shape{4}));
  const Tensor weights = 5 * from_vector(p, Shape{1, 4});
  const Tensor of_categorical = Categorical(logits).sample({draws}, rng);
  const Tensor of_multinomial = multinomial(weights, draws, rng, true);
  const Tensor rows = multinomial(tile(weights, {draws, 1}), 2, rng);
  ASSERT_EQ(rows.shape(), (Shape{draws, 2}));
  const auto rate = [](const Tensor& x, std::int64_t k) {
    return cast(equal(flatten(x), static_cast<double>(k)), f64);
  };
  for (std::int64_t k = 0; k < 4; ++k) {
    const double pk = p[static_cast<std::size_t>(k)];
    expect_mean(rate(of_categorical, k), pk, detail::join("Categorical, class ", k));
    expect_mean(rate(of_multinomial, k), pk, detail::join("multinomial, class ", k));
    expect_mean(rate(select(rows, 1, 0), k), pk, detail::join("first of two, class ", k));
    double second = 0;  // P(first = j)·P(second = k | j), by the weights of those left
    for (std::size_t j = 0; j < 4; ++j)
      if (static_cast<std::int64_t>(j) != k) second += p[j] * pk / (1 - p[j]);
    expect_mean(rate(select(rows, 1, 1), k), second, detail::join("second of two, class ", k));
  }
  EXPECT_FALSE(any(equal(select(rows, 1, 0), select(rows, 1, 1))).item<bool>());
  expect_mean(Bernoulli(f({-0.7})).sample({draws}, rng), 1 / (1 + std::exp(0.7)), "Bernoulli");
}

struct Case {
  std::unique_ptr<Distribution> p, q;
};
template <class D>
Case of(const D& p, const D& q) {
  return {std::make_unique<D>(p), std::make_unique<D>(q)};
}
std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back(of(Normal(number(0.5), number(1.5)), Normal(number(-1), number(2))));
  all.push_back(of(Bernoulli(number(0.4)), Bernoulli(number(-1.3))));
  all.push_back(of(Categorical(f({0.3, -HUGE_VAL, -1, 2})), Categorical(f({0, 1, 0.5, 1}))));
  all.push_back(of(Gamma(number(2.5), number(1.5)), Gamma(number(0.7), number(2))));
  all.push_back(of(Beta(number(2.5), number(0.8)), Beta(number(1.3), number(2))));
  all.push_back(of(Dirichlet(f({2, 0.7, 1.5})), Dirichlet(f({1, 2, 3}))));
  return all;
}

TEST(Distributions, MomentsEntropyAndKlAreAveragesOverDraws) {
  Generator rng(4);
  for (const Case& c : cases()) {
    const std::string name = c.p->name();
    const Tensor x = c.p->sample({draws}, rng), log_p = c.p->log_prob(x);
    ASSERT_EQ(log_p.shape(), (Shape{draws})) << name;
    expect_mean(-log_p, c.p->entropy().item(), name + ", entropy");
    expect_mean(log_p - c.q->log_prob(x), kl(*c.p, *c.q).item(), name + ", KL");
    EXPECT_NEAR(kl(*c.p, *c.p).item(), 0, 1e-14) << name;
    if (name == "Categorical") continue;
    const Tensor m = flatten(c.p->mean()), v = flatten(c.p->variance()),
                 columns = reshape(x, {draws, m.count()});
    for (std::int64_t k = 0; k < m.count(); ++k) {
      const Tensor column = select(columns, 1, k), mu = select(m, 0, k);
      expect_mean(column, mu.item(), name + ", mean");
      expect_mean(square(column - mu), select(v, 0, k).item(), name + ", variance");
    }
  }
}

TEST(Distributions, DensitiesAreThoseOfTheTextbook) {
  const double x = 0.3;
  const auto near = [](const Tensor& got, double want) { EXPECT_NEAR(got.item(), want, 1e-13); };
  near(Normal(number(1), number(2)).log_prob(number(x)),
       std::log(std::exp(-0.7 * 0.7 / 8) / (2 * std::sqrt(2 * std::numbers::pi))));
  // Γ(3) = 2, Γ(2)Γ(3)/Γ(5) = 1/12, Γ(2)Γ(1)Γ(3)/Γ(6) = 2/120.
  near(Gamma(number(3), number(2)).log_prob(number(x)), std::log(8 * x * x * std::exp(-2 * x) / 2));
  near(Beta(number(2), number(3)).log_prob(number(x)), std::log(12 * x * 0.7 * 0.7));
  near(Dirichlet(f({2, 1, 3})).log_prob(f({0.3, 0.2, 0.5})), std::log(60 * 0.3 * 0.25));
  near(Bernoulli(number(0.4)).log_prob(number(1)), -std::log(1 + std::exp(-0.4)));
  near(Bernoulli(number(0.4)).log_prob(number(0)), -std::log(1 + std::exp(0.4)));
  const Categorical c(log(f({0.1, 0, 0.6, 0.3})));
  near(c.log_prob(scalar(2, i64)), std::log(0.6));
  EXPECT_EQ(c.log_prob(scalar(1, i64)).item(), -HUGE_VAL);
}

// A batch and the shape of draws broadcast; each is the density of its own parameters.
// Bernoulli of logit l and of −l are each other's mirror images, also where one side is rounded to
// 1.
TEST(Distributions, BernoulliKeepsItsSmallValuesOnEitherSide) {
  for (const double l : {1., 13., 17., 30.}) {
    const Bernoulli likely(tensor({l}, {1})), unlikely(tensor({-l}, {1}));
    EXPECT_EQ(likely.entropy().item(), unlikely.entropy().item());
    EXPECT_GT(likely.entropy().item(), 0);
    EXPECT_EQ(likely.log_prob(ones({1})).item(), unlikely.log_prob(zeros({1})).item());
    EXPECT_LT(likely.log_prob(ones({1})).item(), 0);
    EXPECT_EQ(kl(likely, Bernoulli(tensor({l + 1}, {1}))).item(),
              kl(unlikely, Bernoulli(tensor({-l - 1}, {1}))).item());
  }
}

// Uniform and exponential laws, whose density is finite at the edge.
TEST(Distributions, DensitiesAreRightAtTheEdgeOfTheSupport) {
  const Tensor ends = f({0, 1}).set_requires_grad();
  const Tensor uniform = Beta(number(1), number(1)).log_prob(ends);
  EXPECT_EQ(uniform.to_vector(), (std::vector<double>{0, 0}));
  EXPECT_EQ(Gamma(number(1), number(2)).log_prob(number(0)).item(), std::log(2.0));
  EXPECT_EQ(Dirichlet(f({1, 1})).log_prob(f({0, 1})).item(), 0);
  EXPECT_EQ(Gamma(number(2), number(1)).log_prob(number(0)).item(), -HUGE_VAL);
  backward(sum(uniform));
  EXPECT_EQ(ends.grad().to_vector(), (std::vector<double>{0, 0}));
}

TEST(Distributions, OutsideOfTheSupportThereIsNoDensity) {
  const Tensor x = f({-0.5, 0.5, 1.5}).set_requires_grad();
  const Tensor beta = Beta(number(2), number(3)).log_prob(x);
  EXPECT_EQ(beta.to_vector(), (std::vector<double>{-HUGE_VAL, beta.to_vector()[1], -HUGE_VAL}));
  EXPECT_TRUE(std::isfinite(beta.to_vector()[1]));
  backward(sum(beta));
  EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{0, 1 / 0.5 - 2 / 0.5, 0}));
  EXPECT_EQ(Gamma(number(2), number(1)).log_prob(number(-1)).item(), -HUGE_VAL);
  for (const double a : {0.5, 1.0, 2.0})  // at a zero, too, where the density may be infinite
    for (const Tensor& p : {f({-0.5, 1.5}), f({-1, 0}), f({0, 1.5})})
      EXPECT_EQ(Dirichlet(full({2}, a, f64)).log_prob(p).item(), -HUGE_VAL) << a;
  EXPECT_TRUE(std::isnan(Beta(number(2), number(3)).log_prob(number(std::nan(""))).item()));
}

// x of a Dirichlet broadcasts to its event before its numbers are added up.
TEST(Distributions, DirichletBroadcastsItsNumbers) {
  const Dirichlet d(f({1.5, 2, 0.5}));
  const double third = 1.0 / 3;
  EXPECT_EQ(d.log_prob(f({third})).item(), d.log_prob(full({3}, third, f64)).item());
  EXPECT_TRUE(std::isfinite(d.log_prob(f({third})).item()));
  EXPECT_EQ(d.log_prob(f({1})).item(), -HUGE_VAL);
  const Tensor x = full({2, 1}, third, f64);
  EXPECT_TRUE(all_equal(d.log_prob(x), d.log_prob(full({2, 3}, third, f64))));
  const Dirichlet batch(reshape(f({1.5, 2, 0.5, 1, 1, 3}), {2, 3}));
  EXPECT_EQ(batch.log_prob(f({third})).shape(), (Shape{2}));
  EXPECT_TRUE(all_equal(batch.log_prob(f({third})), batch.log_prob(full({2, 3}, third, f64))));
  const Tensor one = f({third}).set_requires_grad(), all = full({3}, third, f64);
  EXPECT_NEAR(grad(d.log_prob(one), one).item(), 3 * (0.5 + 1 - 0.5), 1e-12);
  test::expect_error([&] { Dirichlet(f({2})).log_prob(all); }, "needs x [.., 1], got shape [3]");
}

// The larger dtype of the parameters and of x, whatever the family.
TEST(Distributions, DensitiesHaveTheLargerDtype) {
  for (const DType parameter : {f32, f64})
    for (const DType given : {f32, f64}) {
      const Tensor a = full({2}, 0.5, parameter), x = full({2}, 0.5, given);
      const DType want = promote(parameter, given);
      EXPECT_EQ(Normal(a, a).log_prob(x).dtype(), want);
      EXPECT_EQ(Gamma(a, a).log_prob(x).dtype(), want);
      EXPECT_EQ(Beta(a, a).log_prob(x).dtype(), want);
      EXPECT_EQ(Dirichlet(a).log_prob(x).dtype(), want);
      EXPECT_EQ(Bernoulli(a).log_prob(ones({2}, given)).dtype(), want);
      EXPECT_EQ(Bernoulli(a).log_prob(ones({2}, boolean)).dtype(), parameter);
      EXPECT_EQ(Categorical(a).log_prob(zeros({}, i64)).dtype(), parameter);
    }
}

// Weights whose reciprocals overflow are drawn like any: each order of three as often.
TEST(Distributions, TinyWeightsAreDrawnWithoutReplacement) {
  Generator rng(3);
  const Tensor drawn = multinomial(full({6000, 3}, 1e-310, f64), 3, rng);
  const std::vector<double> first = select(drawn, 1, 0).to_vector();
  for (const double k : {0., 1., 2.})  // 2000 ± 36.5; 5 standard deviations
    EXPECT_NEAR(std::count(first.begin(), first.end(), k), 2000, 183);
}

// Of ln X, X ~ Gamma(α, 1), the variance is ψ′(α), 1/α for large α.
TEST(Distributions, LargeConcentrationsKeepTheirVariance) {
  Generator rng(4);
  for (const double a : {1e8, 1e15, 1e16, 1e17}) {
    const Tensor x = Gamma(number(a), number(a)).sample({20000}, rng);  // mean 1
    EXPECT_NEAR(var(x - 1).item() * a, 1, 5 * std::sqrt(2 / 20000.)) << a;
  }
}

TEST(Distributions, BatchesHaveTheirShapes) {
  Generator rng(5);
  const Normal normals(f({0, 1, 2}), ones({2, 1}, f64));
  EXPECT_EQ(normals.sample({4}, rng).shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(normals.entropy().shape(), (Shape{2, 3}));
  const Dirichlet many(ones({2, 5}, f64));
  EXPECT_EQ(many.sample({4, 3}, rng).shape(), (Shape{4, 3, 2, 5}));
  EXPECT_EQ(many.log_prob(many.mean()).shape(), (Shape{2}));
  const Categorical classes(reshape(log(f({1, 2, 3, 4, 5, 6})), {2, 3}));
  const Tensor k = classes.sample({4}, rng);
  EXPECT_EQ(k.shape(), (Shape{4, 2}));
  const Tensor log_p = classes.log_prob(k);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t b = 0; b < 2; ++b) {
      const auto weight = static_cast<double>(3 * b + at(k, {i, b}).item<std::int64_t>() + 1);
      EXPECT_NEAR(at(log_p, {i, b}).item(), std::log(weight / (b == 0 ? 6 : 15)), 1e-14);
    }
  EXPECT_EQ(Gamma(ones({2}), ones({2})).sample({}, rng).dtype(), f32);
  EXPECT_EQ(multinomial(ones({2, 3, 4}), 2, rng).shape(), (Shape{2, 3, 2}));
}

/// The x where gamma_cdf(a, x) = u.
double gamma_quantile(double a, double u, double near) {
  double low = near / 2, high = near * 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (gamma_cdf(a, middle) < u ? low : high) = middle;
  }
  return low;
}

// dx/da at a fixed value u of the distribution function, against differences of its inverse. (Far
// out on the right u is 1 to all digits, and says nothing.)
TEST(Distributions, GammaGradientsKeepTheValueOfTheDistributionFunction) {
  for (const double a0 : {0.2, 0.8, 3.0, 20.0, 120.0}) {
    Generator rng(6);
    Tensor a = expand(number(a0), {40});
    a = clone(a).set_requires_grad();
    const Tensor x = Gamma(a, number(1)).rsample({}, rng);
    const Tensor g = grad(sum(x), a);
    int looked_at = 0;
    for (std::int64_t i = 0; i < 40; ++i) {
      const double xi = at(x, {i}).item(), u = gamma_cdf(a0, xi), h = 1e-4 * a0;
      if (xi < 1e-8 || u > 0.99) continue;
      const double slope =
          (gamma_quantile(a0 + h, u, xi) - gamma_quantile(a0 - h, u, xi)) / (2 * h);
      EXPECT_NEAR(at(g, {i}).item() / slope, 1, 1e-5) << "a = " << a0 << ", x = " << xi;
      ++looked_at;
    }
    EXPECT_GT(looked_at, 20);
  }
}

// d/dθ E[x²] from gradients of draws, with E[x²] of each law in closed form.
TEST(Distributions, GradientsOfDrawsAverageToGradientsOfMeans) {
  Generator rng(7);
  const auto expect = [&](const std::function<Tensor(const Tensor&)>& draw, double at,
                          double expected, const std::string& what) {
    const Tensor theta = clone(expand(number(at), {draws})).set_requires_grad();
    expect_mean(grad(sum(square(draw(theta))), theta), expected, what);
  };
  expect([&](const Tensor& m) { return Normal(m, number(2)).rsample({}, rng); }, 1.5, 3,
         "Normal, mean: m² + s²");
  expect([&](const Tensor& s) { return Normal(number(2), s).rsample({}, rng); }, 1.5, 3,
         "Normal, stddev");
  expect([&](const Tensor& a) { return Gamma(a, number(2)).rsample({}, rng); }, 1.5, 1,
         "Gamma: a(a+1)/r² has (2a+1)/r²");
  expect([&](const Tensor& r) { return Gamma(number(1.5), r).rsample({}, rng); }, 2, -0.9375,
         "Gamma, rate: −2a(a+1)/r³");
  // a(a+1)/((a+b)(a+b+1)) at a = 2, b = 3: 6/30, and its slope by a (5·30 − 6·11)/30².
  expect([&](const Tensor& a) { return Beta(a, number(3)).rsample({}, rng); }, 2, 84.0 / 900,
         "Beta");
  expect(
      [&](const Tensor& a) {
        const Tensor two = expand(number(2), {draws}), one = expand(number(1), {draws});
        return select(Dirichlet(stack({a, two, one}, -1)).rsample({}, rng), -1, 0);
      },
      2, 84.0 / 900, "Dirichlet");
}

TEST(Distributions, DensitiesMomentsAndDivergencesHaveGradients) {
  const std::vector<Tensor> at{f({0.7, 2.5}).set_requires_grad(),
                               f({1.2, 0.4}).set_requires_grad()};
  const auto check = [&](const TensorFunction& function) {
    EXPECT_NO_THROW(gradcheck(function, at));
    EXPECT_NO_THROW(gradgradcheck(function, at));
  };
  check([](const std::vector<Tensor>& x) { return kl(Normal(x[0], x[1]), Normal(x[1], x[0])); });
  check([](const std::vector<Tensor>& x) { return kl(Gamma(x[0], x[1]), Gamma(x[1], x[0])); });
  check([](const std::vector<Tensor>& x) { return kl(Beta(x[0], x[1]), Beta(x[1], x[0])); });
  check([](const std::vector<Tensor>& x) { return kl(Dirichlet(x[0]), Dirichlet(x[1])); });
  check([](const std::vector<Tensor>& x) { return kl(Categorical(x[0]), Categorical(x[1])); });
  check([](const std::vector<Tensor>& x) { return kl(Bernoulli(x[0]), Bernoulli(x[1])); });
  check([](const std::vector<Tensor>& x) {
    const Gamma g(x[0], x[1]);
    return g.log_prob(f({0.3, 2})) + g.entropy() + g.variance() + Beta(x[0], x[1]).variance();
  });
}

TEST(Distributions, DrawTheSameAtAnyNumberOfThreads) {
  const int before = num_threads();
  std::vector<Tensor> samples;
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    Generator rng(8);
    samples.push_back(Gamma(f({0.5}), f({1})).sample({5000}, rng));
    samples.push_back(Gamma(f({0.5}), f({1})).sample({5000}, rng));  // others than before
  }
  set_num_threads(before);
  EXPECT_FALSE(all_equal(samples[0], samples[1]));
  for (std::size_t i = 2; i < samples.size(); ++i)
    EXPECT_TRUE(all_equal(samples[i], samples[i % 2]));
}

TEST(Distributions, RefuseWhatTheyCannot) {
  Generator rng(9);
  using test::expect_error;
  expect_error([] { Normal(ones({2}), zeros({2})); }, "standard deviation must be positive");
  expect_error([] { Normal(ones({2}), ones({3})); }, "shapes do not broadcast");
  expect_error([] { Gamma(f({-1}), f({1})); }, "[Gamma] the concentration must be positive");
  expect_error([] { Beta(f({1}), f({NAN})); }, "[Beta] the b must be finite");
  expect_error([] { Dirichlet(scalar(1)); }, "needs concentrations [.., n]");
  expect_error([] { Categorical(f({-HUGE_VAL, -HUGE_VAL})); }, "no class is possible");
  expect_error([&] { Bernoulli(f({1})).rsample({}, rng); }, "draws of a Bernoulli are discrete");
  expect_error([] { Categorical(f({1, 2})).mean(); }, "a mean of them has no meaning");
  const Tensor soft = f({0.3}).set_requires_grad();
  const TensorFunction by_outcome = [](const std::vector<Tensor>& x) {
    return Bernoulli(f({1})).log_prob(x[0]);
  };
  expect_error([&] { by_outcome({soft}); }, "binary_cross_entropy_with_logits");
  expect_error([&] { jvp(by_outcome, {f({1})}, {f({1})}); }, "has no derivative with respect to x");
  EXPECT_NO_THROW(by_outcome({soft.detach()}));
  {
    const NoGrad no_grad;
    EXPECT_NO_THROW(by_outcome({soft}));
  }
  expect_error([] { Categorical(f({1, 2})).log_prob(scalar(2, i64)); }, "index 2");
  expect_error([] { kl(Normal(0, 1), Gamma(f({1}), f({1}))); }, "of a Normal from a Gamma has no");
  expect_error(
      [] {
        kl(Dirichlet(f({1, 1})), Dirichlet(f({1, 1, 1})));
      },
      "p has 2 concentrations, q 3");
  expect_error([&] { multinomial(f({0.5, 0, 0.5}), 3, rng); }, "2 classes of positive weight");
  expect_error([&] { multinomial(f({0.5, -1}), 1, rng, true); }, "a weight is negative;");
  expect_error([&] { multinomial(f({0, 0}), 1, rng, true); }, "sum to 0");
  const Tensor a = f({2}).set_requires_grad();
  const Tensor g = grad(sum(square(Gamma(a, f({1})).rsample({}, rng))), a, {.create_graph = true});
  expect_error([&] { grad(sum(g), a); }, "first derivatives only");
}

// --- bits ---

std::string bits_of_draws(DType dtype) {
  Generator rng(1);
  const Tensor a = cast(f({1e-3, 0.1, 0.7, 1, 3, 40, 1e6}), dtype), b = flip(a, {0});
  detail::Checksum all;
  for (const Tensor& x :
       {Gamma(a, b).sample({300}, rng), Beta(a, b).sample({300}, rng),
        Dirichlet(a).sample({300}, rng), Dirichlet(cast(full({300}, 0.5), dtype)).sample({3}, rng)})
    all.add(x.strided_bytes(), static_cast<std::size_t>(x.count()) * item_size(dtype));
  return all.text();
}

TEST(Distributions, DrawsHaveTheseBits) {
  EXPECT_EQ(bits_of_draws(f64), "a3b2b2ec69ac8b1e");
  EXPECT_EQ(bits_of_draws(f32), "83985132608a65dd");
}

// The C library takes its variants for older processors where it is told to.
TEST(Distributions, DrawsHaveTheSameBitsAtEveryLevelAndOnOlderProcessors) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string older =
      "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX2_Usable,-FMA_Usable";
  for (const kernels::Level& level : kernels::levels())
    for (const std::string& processor : {std::string(), older})
      EXPECT_EQ(std::system((processor + " LADON_ISA=" + level.name + " '" + self +
                             "' --gtest_filter=Distributions.DrawsHaveTheseBits > /dev/null 2>&1")
                                .c_str()),
                0)
          << level.name << ' ' << processor;
}

}  // namespace
}  // namespace ladon::distributions_test
