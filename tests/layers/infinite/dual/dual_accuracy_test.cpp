// Dual activations (expectations over Gaussian inputs) of all named functions that are not
// periodic, at variances from 0.01 to 10⁴ and all correlations, compared with a quadrature that
// uses no closed forms.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/ops.h"
#include "ladon/layers/infinite/dual/dual.h"
#include "ladon/layers/infinite/dual/quadrature.h"

namespace ladon::dual_accuracy_test {
namespace {

using infinite::dual;
using infinite::DualFunction;
using infinite::DualResult;

struct Function {
  const char* name;
  DualFunction dual;
  double (*value)(double x);
  double (*slope)(double x);
  bool kinked = false;
};

double normal_cdf(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
double gelu_argument(double x) {
  return std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
}
constexpr double selu_alpha = 1.6732632423543772, selu_scale = 1.0507009873554805;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double logistic_slope(double x) { return logistic(x) * logistic(-x); }

std::vector<Function> functions() {
  return {
      {"tanh", DualFunction::tanh(), [](double x) { return std::tanh(x); },
       [](double x) { return 4 * logistic_slope(2 * x); }},
      {"sigmoid", DualFunction::sigmoid(), logistic, logistic_slope},
      {"silu", DualFunction::silu(), [](double x) { return x * logistic(x); },
       [](double x) { return logistic(x) + x * logistic_slope(x); }},
      {"softplus", DualFunction::softplus(),
       [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }, logistic},
      {"elu", DualFunction::elu(), [](double x) { return x > 0 ? x : std::expm1(x); },
       [](double x) { return x > 0 ? 1 : std::exp(x); }},
      {"elu of alpha 0.5", DualFunction::elu(0.5),
       [](double x) { return x > 0 ? x : 0.5 * std::expm1(x); },
       [](double x) { return x > 0 ? 1 : 0.5 * std::exp(x); }, true},
      {"selu", DualFunction::selu(),
       [](double x) { return selu_scale * (x > 0 ? x : selu_alpha * std::expm1(x)); },
       [](double x) { return selu_scale * (x > 0 ? 1 : selu_alpha * std::exp(x)); }, true},
      {"gelu_tanh", DualFunction::gelu_tanh(),
       [](double x) { return x * logistic(2 * gelu_argument(x)); },
       [](double x) {
         const double slope = 2 * std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
         return logistic(2 * gelu_argument(x)) + x * slope * logistic_slope(2 * gelu_argument(x));
       }},
      {"gelu", DualFunction::gelu(), [](double x) { return x * normal_cdf(x); },
       [](double x) { return normal_cdf(x) + x * normal_density(x); }},
      {"erf", DualFunction::erf(), [](double x) { return std::erf(x); },
       [](double x) { return 2 / std::sqrt(std::numbers::pi) * std::exp(-x * x); }},
      {"relu", DualFunction::relu(), [](double x) { return std::max(x, 0.0); },
       [](double x) { return x > 0 ? 1.0 : 0; }, true},
      {"leaky_relu", DualFunction::leaky_relu(0.1), [](double x) { return x > 0 ? x : 0.1 * x; },
       [](double x) { return x > 0 ? 1 : 0.1; }, true},
      {"abs", DualFunction::abs(), [](double x) { return std::abs(x); },
       [](double x) { return x > 0 ? 1.0 : -1; }, true}};
}

/// Nodes and weights for a standard normal variable, where the integrand bends within `scale` of
/// `center`: panels grow from there, and are never longer than 1.
struct Nodes {
  std::vector<double> at, weight;
};
Nodes normal_nodes(double center, double scale) {
  static const auto rule = infinite::gauss_legendre(12);
  constexpr double reach = 9;
  std::vector<double> edges = {-reach, reach, std::clamp(center, -reach, reach)};
  for (const double side : {-1.0, 1.0})
    for (double away = scale, step = scale; away < 2 * reach;
         step *= 2, away += std::min(step, 1.0))
      edges.push_back(std::clamp(center + side * away, -reach, reach));
  // If the center is far away the panels next to it are long, or all out of reach.
  for (double edge = -reach; edge < reach; edge += 1) edges.push_back(edge);
  std::sort(edges.begin(), edges.end());
  Nodes nodes;
  for (std::size_t e = 0; e + 1 < edges.size(); ++e) {
    const double half = (edges[e + 1] - edges[e]) / 2, middle = (edges[e + 1] + edges[e]) / 2;
    if (half <= 0) continue;
    for (int i = 0; i < 12; ++i) {
      const double x = middle + half * rule.first.data<double>()[i];
      nodes.at.push_back(x);
      nodes.weight.push_back(half * rule.second.data<double>()[i] * std::exp(-x * x / 2) /
                             std::sqrt(2 * std::numbers::pi));
    }
  }
  return nodes;
}

double expectation(double (*f)(double), double p, double q, double rho) {
  const double a = std::sqrt(p), b = std::sqrt(q), s = std::sqrt((1 - rho) * (1 + rho));
  const Nodes outer = normal_nodes(0, 0.25 / std::max(a, b));
  double sum = 0;
  for (std::size_t i = 0; i < outer.at.size(); ++i) {
    const double x = outer.at[i];
    double inner = 0;
    if (s == 0) {
      inner = f(b * rho * x);
    } else {
      const Nodes nodes = normal_nodes(-rho * x / s, 0.25 / (b * s));
      for (std::size_t j = 0; j < nodes.at.size(); ++j)
        inner += nodes.weight[j] * f(b * (rho * x + s * nodes.at[j]));
    }
    sum += outer.weight[i] * f(a * x) * inner;
  }
  return sum;
}

TEST(DualAccuracy, IsAccurateAtAnyVariance) {
  for (const Function& f : functions())
    for (const double p : {0.01, 1.0, 10.0, 100.0, 1e4})
      for (const double q : {0.01, 1.0, 10.0, 100.0, 1e4}) {
        if (q > p) continue;
        for (const double rho : {-1.0, -0.99, 0.0, 0.5, 0.99, 1.0}) {
          const DualResult e = dual(f.dual, scalar(p, f64), scalar(q, f64),
                                    scalar(rho * std::sqrt(p * q), f64), true);
          const auto near = [&](const Tensor& got, double (*g)(double), const char* what) {
            const double largest = std::sqrt(expectation(g, p, p, 1) * expectation(g, q, q, 1));
            // Rounding c to f64 moves an angle of 0 between u and v by 1e-8.
            const double tolerance = f.kinked && std::abs(rho) == 1 ? 1e-8 : 1e-9;
            EXPECT_NEAR(got.item(), expectation(g, p, q, rho), tolerance * largest)
                << f.name << "'s " << what << " at p = " << p << ", q = " << q << ", rho = " << rho;
          };
          near(e.value, f.value, "value");
          near(e.derivative, f.slope, "derivative");
        }
      }
}

// Extremes: one variance far smaller, and products of variances that overflow.
TEST(DualAccuracy, HoldsAtExtremes) {
  for (const Function& f : functions()) {
    const auto at = [&](double p, double q, double c) {
      return dual(f.dual, scalar(p, f64), scalar(q, f64), scalar(c, f64), true);
    };
    if (f.value(0) == 0) {
      EXPECT_EQ(at(0, 9, 0).value.item(), 0) << f.name;
    }
    const double p = 1e-8, q = 9.5, c = 0.7 * std::sqrt(p * q);
    const double largest = std::sqrt(expectation(f.value, p, p, 1) * expectation(f.value, q, q, 1));
    EXPECT_NEAR(at(p, q, c).value.item(), expectation(f.value, p, q, 0.7), 1e-9 * largest)
        << f.name;
  }
  const double huge = 1e160, relu = (std::sqrt(0.75) + 0.5 * 2 * std::numbers::pi / 3) * huge /
                                    (2 * std::numbers::pi);
  const Tensor p = scalar(huge, f64);
  const DualResult e = dual(DualFunction::elu(), p, p, 0.5 * p, true);
  EXPECT_NEAR(e.value.item() / relu, 1, 1e-9);
  EXPECT_THROW(DualFunction::elu(NAN), Error);
}

/// Value and derivative of f against the quadrature, relative to what they are at ρ = 1.
void expect_accurate(const Function& f, double p, double q, double rho, double tolerance) {
  const double c = p == q ? rho * p : rho * std::sqrt(p) * std::sqrt(q);
  const DualResult e = dual(f.dual, scalar(p, f64), scalar(q, f64), scalar(c, f64), true);
  const auto near = [&](const Tensor& got, double (*g)(double), const char* what) {
    const double largest = std::sqrt(expectation(g, p, p, 1)) * std::sqrt(expectation(g, q, q, 1));
    EXPECT_NEAR(got.item() / largest, expectation(g, p, q, rho) / largest, tolerance)
        << f.name << "'s " << what << " at p = " << p << ", q = " << q << ", rho = " << rho;
  };
  near(e.value, f.value, "value");
  near(e.derivative, f.slope, "derivative");
}

TEST(DualAccuracy, HoldsAtSmallAndMixedScales) {
  const double variances[] = {1, 1e-30, 1e-36, 1e-120, 1e-300};
  for (const Function& f : functions())
    for (const double p : variances)
      for (const double q : variances) {
        if (q > p) continue;
        for (const double rho : {-0.95, -0.45, 0.6, 1.0})
          expect_accurate(f, p, q, rho, f.kinked && rho == 1 ? 2e-8 : 2e-9);
      }
}

// gelu_tanh was 3.5e87 for .125 at variances of 1e200 and 1e-200, and off by 3% at 1e8 and 1e-20.
TEST(DualAccuracy, HoldsWhereVariancesAreFarApart) {
  for (const Function& f : functions()) {
    const bool changed = std::string_view(f.name) == "gelu_tanh";
    for (const double q : {1e-8, 1e-20, 1e-200})
      expect_accurate(f, q < 1e-20 ? 1e200 : 1e8, q, 0.5, 2e-9);
    if (!changed) continue;
    for (const double p : {3.5, 10.5, 1e4})
      for (const double q : {1.1e-5, 0.9e-5, 1e-9, 1e-20})
        for (const double rho : {-1.0, -0.9, 0.0, 0.5, 1.0}) expect_accurate(f, p, q, rho, 1e-9);
  }
}

// Derivatives with respect to the logarithms of p and q, against differences.
TEST(DualAccuracy, HasGradientsWhereVariancesAreFarApart) {
  for (const double p : {20.0, 1e8})
    for (const double q : {5e-6, 1e-7})
      for (const bool exchanged : {false, true})
        for (const auto part : {&DualResult::value, &DualResult::derivative}) {
          const double size = std::sqrt(p * q);
          const auto of = [&](const std::vector<Tensor>& x) {
            const Tensor large = p * exp(x[0]), small = q * exp(x[1]), c = size * x[2];
            const DualResult e = dual(DualFunction::gelu_tanh(), exchanged ? small : large,
                                      exchanged ? large : small, c, true);
            // E' is ¼ but for terms of size √q
            return part == &DualResult::value ? e.value / size
                                              : (e.derivative - 0.25) / std::sqrt(q);
          };
          EXPECT_TRUE(gradcheck(
              of, {scalar(0.1, f64).set_requires_grad(), scalar(0.2, f64).set_requires_grad(),
                   scalar(0.6, f64).set_requires_grad()}))
              << p << " " << q << (part == &DualResult::value ? "'s value" : "'s derivative");
        }
}

TEST(DualAccuracy, HoldsAtLargeScales) {
  for (const Function& f : functions())
    for (const double p : {1e8, 1e16, 1e40})
      for (const double rho : {-1.0, 0.6, 1.0}) expect_accurate(f, p, p, rho, 1e-9);
  for (const Function& f : functions())  // where the quadrature's own products overflow
    for (const double p : {1e156, 1e200, 1e300})
      for (const double rho : {-0.6, 0.0, 0.6, 1.0}) {
        const auto at = [&](double variance) {
          const Tensor x = scalar(variance, f64);
          return dual(f.dual, x, x, rho * x, true);
        };
        const DualResult e = at(p), expected = at(1e80);
        const bool bounded = std::abs(f.value(1e3)) < 2;
        EXPECT_NEAR(e.value.item() / (bounded ? 1 : p),
                    expected.value.item() / (bounded ? 1 : 1e80), 1e-11)
            << f.name << " at p = " << p << ", rho = " << rho;
        EXPECT_NEAR(e.derivative.item(), expected.derivative.item(), 1e-11)
            << f.name << "' at p = " << p << ", rho = " << rho;
      }
}

// Near the variance and the correlation up to which expansions are taken, both rules agree.
TEST(DualAccuracy, MeetsTheExpansionWhereTheyChange) {
  for (const Function& f : functions())
    for (const double p : {0.9, 1.0, 1.1, 2.9, 3.9, 4.0, 4.1, 9.9, 10.1, 29.0, 31.0})
      for (const double rho : {-1.0, 0.3, 0.799, 0.801, 1.0}) {
        const DualResult e = dual(f.dual, scalar(p, f64), scalar(0.5, f64),
                                  scalar(rho * std::sqrt(p * 0.5), f64), true);
        EXPECT_NEAR(e.value.item(), expectation(f.value, p, 0.5, rho), 1e-11)
            << f.name << " " << p << " " << rho;
        const double tolerance = f.kinked && std::abs(rho) == 1 ? 1e-8 : 1e-10;
        EXPECT_NEAR(e.derivative.item(), expectation(f.slope, p, 0.5, rho), tolerance)
            << f.name << " " << p << " " << rho;
      }
}

// An entry has the same bits whatever stands beside it.
TEST(DualAccuracy, DoesNotDependOnOtherEntries) {
  const Tensor p = tensor({0.3, 1, 2, 50}, {4, 1}, f64), q = tensor({0.2, 7, 900}, {1, 3}, f64);
  const Tensor c = 0.6 * sqrt(p * q);
  for (const Function& f : functions()) {
    const DualResult all = dual(f.dual, p, q, c, true);
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < 3; ++j) {
        const DualResult one = dual(f.dual, at(p, {i, 0}), at(q, {0, j}), at(c, {i, j}), true);
        EXPECT_EQ(at(all.value, {i, j}).item(), one.value.item()) << f.name;
        EXPECT_EQ(at(all.derivative, {i, j}).item(), one.derivative.item()) << f.name;
      }
  }
}

// By p, q and c, of value and derivative. (The second is not differentiable for kinks at ρ = ±1.)
TEST(DualAccuracy, HasGradients) {
  for (const Function& f : functions())
    for (const double scale : {0.3, 20.0})
      for (const auto part : {&DualResult::value, &DualResult::derivative}) {
        const auto of = [&](const std::vector<Tensor>& x) {
          return dual(f.dual, x[0], x[1], x[2], true).*part;
        };
        EXPECT_TRUE(gradcheck(of, {scalar(1.1 * scale, f64).set_requires_grad(),
                                   scalar(0.8 * scale, f64).set_requires_grad(),
                                   scalar(0.4 * scale, f64).set_requires_grad()}))
            << f.name << (part == &DualResult::value ? "'s value" : "'s derivative");
      }
}

// The diagonal, a network's inputs with themselves: p = q = c move together.
TEST(DualAccuracy, HasGradientsAlongTheDiagonal) {
  for (const Function& f : functions())
    for (const auto part : {&DualResult::value, &DualResult::derivative}) {
      const auto of = [&](const std::vector<Tensor>& x) {
        return dual(f.dual, x[0], x[0], x[0], true).*part;
      };
      EXPECT_TRUE(gradcheck(of, {scalar(0.7, f64).set_requires_grad()}))
          << f.name << (part == &DualResult::value ? "'s value" : "'s derivative");
    }
}

}  // namespace
}  // namespace ladon::dual_accuracy_test
