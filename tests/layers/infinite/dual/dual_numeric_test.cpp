// Dual activations by Hermite expansion, compared with closed forms.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/layers/infinite/dual/dual.h"
#include "ladon/tests/support.h"

namespace ladon::infinite::dual_numeric_test {
namespace {

struct Twin {
  std::string name;
  DualFunction closed;
  std::function<Tensor(const Tensor&)> function;
};

std::vector<Twin> smooth() {
  return {{"erf", DualFunction::erf(), [](const Tensor& x) { return erf(x); }},
          {"gelu", DualFunction::gelu(), [](const Tensor& x) { return gelu(x); }},
          {"sin", DualFunction::sin(), [](const Tensor& x) { return sin(x); }},
          {"exp", DualFunction::exp(), [](const Tensor& x) { return exp(x); }},
          {"cube", DualFunction::monomial(3), [](const Tensor& x) { return x * x * x; }}};
}

struct Errors {
  double value = 0, derivative = 0;
};

/// The largest differences over pairs of variances up to `largest` and the correlations given,
/// relative to sqrt(E φ(u)²·E φ(v)²) and the same with φ'.
Errors errors(const Twin& twin, double largest, const std::vector<double>& correlations,
              int terms = 128) {
  const DualFunction numeric = DualFunction::numeric(twin.function, terms, 1);
  Errors worst;
  for (double p : {0.05 * largest, largest})
    for (double q : {0.3 * largest, largest})
      for (double rho : correlations) {
        const auto at = [](const DualFunction& f, double a, double b, double c) {
          return dual(f, scalar(a, f64), scalar(b, f64), scalar(c, f64), true);
        };
        const double c = rho * std::sqrt(p * q);
        const DualResult exact = at(twin.closed, p, q, c), got = at(numeric, p, q, c);
        const DualResult left = at(twin.closed, p, p, p), right = at(twin.closed, q, q, q);
        const auto error = [](const Tensor& a, const Tensor& b, const Tensor& l, const Tensor& r) {
          return std::abs(a.item() - b.item()) / std::sqrt(l.item() * r.item());
        };
        worst.value = std::max(worst.value, error(got.value, exact.value, left.value, right.value));
        worst.derivative = std::max(worst.derivative, error(got.derivative, exact.derivative,
                                                            left.derivative, right.derivative));
      }
  return worst;
}

const std::vector<double> all = {-1, -0.9, -0.4, 0, 0.2, 0.7, 0.99, 1};

TEST(DualNumeric, EqualsClosedFormsOfSmoothFunctions) {
  for (const Twin& twin : smooth()) {
    const Errors e = errors(twin, 1, all);
    EXPECT_LT(e.value, 2e-14) << twin.name;
    EXPECT_LT(e.derivative, 2e-14) << twin.name;
  }
}

// The remainder of the sum over k for a kink is known in closed form.
TEST(DualNumeric, EqualsClosedFormsOfKinks) {
  const Twin kinked[] = {
      {"relu", DualFunction::relu(), [](const Tensor& x) { return relu(x); }},
      {"abs", DualFunction::abs(), [](const Tensor& x) { return abs(x); }},
      {"leaky", DualFunction::leaky_relu(0.3), [](const Tensor& x) { return leaky_relu(x, 0.3); }}};
  for (const Twin& twin : kinked) {
    const Errors e = errors(twin, 1, all, 32);
    EXPECT_LT(e.value, 1e-14) << twin.name;
    EXPECT_LT(e.derivative, 1e-14) << twin.name;
  }
}

// Away from |ρ| = 1 the sum over k ends by itself, whatever φ; at |ρ| = 1 it does not for a jump.
TEST(DualNumeric, AJumpIsAccurateWithin) {
  const Twin jump = {"sign", DualFunction::sign(), [](const Tensor& x) { return sign(x); }};
  EXPECT_LT(errors(jump, 1, {-0.7, -0.3, 0, 0.5, 0.7}).value, 1e-14);
  EXPECT_LT(errors(jump, 1, {-0.9, 0.9}).value, 1e-7);
  EXPECT_GT(errors(jump, 1, {1}).value, 1e-2);
}

// Errors beyond the reach of an expansion.
TEST(DualNumeric, RefusesVariancesThatItsTermsDoNotReach) {
  const auto at_one = [](const DualFunction& f, double p, double rho) {
    return dual(f, scalar(p, f64), scalar(p, f64), scalar(rho * p, f64), true);
  };
  const DualFunction steep = DualFunction::numeric([](const Tensor& x) { return tanh(x); });
  at_one(steep, 10, 1);
  test::expect_error([&] { at_one(steep, 100, 1); }, "E[φ'(u)φ'(v)] omit a share of 0.1");
  at_one(steep, 100, 0.9);  // times 0.9^128
  at_one(DualFunction::numeric([](const Tensor& x) { return tanh(x); }, 128, 0.5), 100, 1);
  const DualFunction jump = DualFunction::numeric([](const Tensor& x) { return sign(x); });
  test::expect_error([&] { at_one(jump, 1, 1); }, "E[φ(u)φ(v)] omit a share of 0.0");
  at_one(jump, 1, 0.9);
}

TEST(DualNumeric, MoreTermsAreMoreAccurate) {
  const Twin twin = smooth()[0];
  const double few = errors(twin, 4, all, 32).value, some = errors(twin, 4, all, 64).value,
               many = errors(twin, 4, all, 256).value;
  EXPECT_GT(few, 1e-5);
  EXPECT_LT(some, 1e-1 * few);
  EXPECT_LT(many, 2e-14);
}

/// Checks the gradients of value and derivative by p, q and c, and along p = q = c.
void check_gradients(const DualFunction& f, const Tensor& p, const Tensor& q, const Tensor& c) {
  for (const auto part : {&DualResult::value, &DualResult::derivative}) {
    EXPECT_NO_THROW(gradcheck(
        [&](const std::vector<Tensor>& x) { return dual(f, x[0], x[1], x[2], true).*part; },
        {p, q, c}));
    EXPECT_NO_THROW(gradcheck(
        [&](const std::vector<Tensor>& x) { return dual(f, x[0], x[0], x[0], true).*part; }, {p}));
  }
}

TEST(DualNumeric, GradientsAreCentralDifferences) {
  const Tensor p = tensor({0.5, 1.0}, {2, 1}, f64).set_requires_grad();
  const Tensor q = tensor({0.8, 1.5}, {1, 2}, f64).set_requires_grad();
  const Tensor c = tensor({0.1, -0.5, 0.6, 0.9}, {2, 2}, f64).set_requires_grad();
  for (const Twin& twin : smooth()) {
    SCOPED_TRACE(twin.name);
    check_gradients(DualFunction::numeric(twin.function), p, q, c);
  }
}

TEST(DualNumeric, GradientsOfAKink) {
  const Tensor p = tensor({0.5, 1.0}, f64).set_requires_grad();
  const Tensor q = tensor({1.5, 0.7}, f64).set_requires_grad();
  const Tensor c = tensor({0.4, -0.7}, f64).set_requires_grad();
  check_gradients(DualFunction::numeric([](const Tensor& x) { return relu(x) + 0.3 * sin(x); }), p,
                  q, c);
}

TEST(DualNumeric, TakesFunctionsWithoutGradient) {
  const DualFunction f = DualFunction::numeric([](const Tensor& x) { return ones_like(x); });
  const Tensor one = scalar(1, f64);
  const DualResult r = dual(f, one, one, 0.5 * one, true);
  EXPECT_NEAR(r.value.item(), 1, 1e-14);
  EXPECT_EQ(r.derivative.item(), 0);
}

TEST(DualNumeric, RecordsNothingWhereGradientsAreOff) {
  const NoGrad off;
  const DualFunction f = DualFunction::numeric([](const Tensor& x) { return tanh(x); });
  const Tensor one = scalar(1, f64);
  EXPECT_GT(dual(f, one, one, 0.5 * one, true).derivative.item(), 0.1);  // φ' needs a graph inside
}

TEST(DualNumeric, RefusesOtherFunctions) {
  const Tensor one = ones({2}, f64);
  const auto run = [&](std::function<Tensor(const Tensor&)> f) {
    dual(DualFunction::numeric(std::move(f)), one, one, one, false);
  };
  test::expect_error([&] { run([](const Tensor& x) { return sum(x); }); }, "pointwise");
  test::expect_error([&] { run([](const Tensor& x) { return cast(x, f32); }); }, "pointwise");
  test::expect_error([] { DualFunction::numeric({}); }, "empty");
  test::expect_error([] { DualFunction::numeric([](const Tensor& x) { return x; }, 12); }, "of 8");
  test::expect_error([] { DualFunction::numeric([](const Tensor& x) { return x; }, 264); }, "256");
}

// Only the shape of φ(x) was checked, so each of these had a dual.
TEST(DualNumeric, RefusesFunctionsOfSeveralNumbers) {
  const auto rng = std::make_shared<Generator>(1);
  const std::vector<std::pair<const char*, Pointwise>> mixing{
      {"centered", [](const Tensor& x) { return x * x - mean(x * x); }},
      {"softmax", [](const Tensor& x) { return softmax(x, -1); }},
      {"softmax over rows", [](const Tensor& x) { return softmax(x, 0); }},
      {"layer_norm", [](const Tensor& x) { return (x - mean(x)) / sqrt(var(x)); }},
      {"by its length", [](const Tensor& x) { return x / sqrt(sum(square(x))); }},
      {"cumsum", [](const Tensor& x) { return cumsum(x, -1); }},
      {"sort", [](const Tensor& x) { return sort(x).values; }},
      {"flip", [](const Tensor& x) { return flip(x, {-1}); }},
      {"transposed", [](const Tensor& x) { return reshape(transpose(x), x.shape()); }},
      {"random", [rng](const Tensor& x) { return x + normal(x.shape(), *rng, 0, 1, f64); }},
      {"dropout",
       [rng](const Tensor& x) { return x * cast(bernoulli(x.shape(), *rng, 0.5), f64); }}};
  for (const auto& [name, f] : mixing) {
    SCOPED_TRACE(name);
    test::expect_error([&f = f] { DualFunction::numeric(f); }, "is not pointwise");
    test::expect_error(
        [&f = f] { DualFunction::closed("mine", f, [](auto&, auto&, auto& c) { return c; }); },
        "is not pointwise");
  }
}

TEST(DualNumeric, NamesWhatIsNotFinite) {
  const Tensor one = ones({1}, f64);
  const auto at_one = [&](const Pointwise& f, bool slope, double tolerance = 1e-2) {
    dual(DualFunction::numeric(f, 128, tolerance), one, one, 0.5 * one, slope);
  };
  for (const double tolerance : {1e-2, std::numeric_limits<double>::infinity()})
    test::expect_error([&] { at_one([](const Tensor& x) { return log(x); }, false, tolerance); },
                       "φ is nan at x = -");
  test::expect_error([&] { at_one([](const Tensor& x) { return exp(square(square(x))); }, false); },
                     "φ is inf at x = ");
  test::expect_error(
      [&] { at_one([](const Tensor& x) { return where(greater(x, 0), sqrt(x), 0 * x); }, true); },
      "φ' is nan at x = -");
}

// A hint is worth following.
TEST(DualNumeric, HintsAtMoreTermsOnlyWhereTheySuffice) {
  const auto at = [](const Pointwise& f, int terms, double p) {
    const Tensor x = scalar(p, f64);
    dual(DualFunction::numeric(f, terms), x, x, x, true);
  };
  const Pointwise bent = [](const Tensor& x) { return relu(x - 1); };
  test::expect_error([&] { at(bent, 128, 1); }, "since 256 terms omit too much too");
  test::expect_error([&] { at(bent, 256, 1); }, "use a dual in closed form");
  const Pointwise steep = [](const Tensor& x) { return tanh(x); };
  test::expect_error([&] { at(steep, 16, 5); }, "use more terms (256 suffice)");
  EXPECT_NO_THROW(at(steep, 256, 5));
}

}  // namespace
}  // namespace ladon::infinite::dual_numeric_test
