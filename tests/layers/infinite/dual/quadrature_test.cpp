#include "ladon/layers/infinite/dual/quadrature.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "ladon/tests/support.h"

namespace ladon::infinite::quadrature_test {
namespace {

double integral(const std::pair<Tensor, Tensor>& rule, const std::function<double(double)>& f) {
  const auto x = rule.first.to_vector(), w = rule.second.to_vector();
  double sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += w[j] * f(x[j]);
  return sum;
}

// The even moments of a normal variable are 1·3·5·…; n nodes have them up to degree 2n − 1 and miss
// the next.
TEST(GaussHermite, IntegratesPolynomials) {
  for (int n : {1, 2, 5, 8, 33}) {
    const auto rule = gauss_hermite(n);
    double moment = 1;
    for (int k = 0; k < 2 * n; k += 2) {
      EXPECT_NEAR(integral(rule, [=](double x) { return std::pow(x, k); }) / moment, 1, 1e-13)
          << "n = " << n << ", degree " << k;
      EXPECT_NEAR(integral(rule, [=](double x) { return std::pow(x, k + 1); }) / moment, 0, 1e-12);
      moment *= k + 1;
    }
    const double missed = integral(rule, [=](double x) { return std::pow(x, 2 * n); }) / moment;
    EXPECT_LT(missed, 1 - 1e-10);
  }
}

TEST(GaussHermite, IntegratesWithManyNodes) {
  for (int n : {64, 200, 512}) {
    const auto rule = gauss_hermite(n);
    EXPECT_NEAR(integral(rule, [](double) { return 1.0; }), 1, 1e-14);
    EXPECT_NEAR(integral(rule, [](double x) { return std::cos(2 * x); }), std::exp(-2), 1e-14);
    EXPECT_NEAR(integral(rule, [](double x) { return std::exp(3 * x); }) / std::exp(4.5), 1, 1e-13);
  }
}

TEST(GaussLegendre, IntegratesPolynomials) {
  for (int n : {1, 2, 5, 24, 101}) {
    const auto rule = gauss_legendre(n);
    for (int k = 0; k < 2 * n; ++k)
      EXPECT_NEAR(integral(rule, [=](double x) { return std::pow(x, k); }),
                  k % 2 ? 0 : 2.0 / (k + 1), 1e-14)
          << "n = " << n << ", degree " << k;
  }
}

TEST(GaussLegendre, NodesAscendInside) {
  for (int n : {2, 7, 512}) {
    const auto [nodes, weights] = gauss_legendre(n);
    const auto x = nodes.to_vector(), w = weights.to_vector();
    EXPECT_GT(x.front(), -1);
    for (std::size_t j = 1; j < x.size(); ++j) EXPECT_LT(x[j - 1], x[j]);
    for (double v : w) EXPECT_GT(v, 0);
  }
}

TEST(Quadrature, RefusesOtherNumbersOfNodes) {
  for (int n : {-1, 0, 513}) {
    test::expect_error([=] { gauss_hermite(n); }, "1 to 512");
    test::expect_error([=] { gauss_legendre(n); }, "1 to 512");
  }
}

}  // namespace
}  // namespace ladon::infinite::quadrature_test
