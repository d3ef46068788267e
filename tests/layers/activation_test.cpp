#include "ladon/layers/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ladon/autograd/ops.h"
#include "ladon/tests/support.h"

namespace ladon::layers_activation_test {
namespace {

const Tensor points = tensor({-2, -0.5, 0, 0.5, 2}, f64);

void expect_values(const Tensor& y, const std::function<double(double)>& f) {
  const auto x = points.to_vector(), got = y.to_vector();
  ASSERT_EQ(got.size(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(got[i], f(x[i]), 1e-14) << "at " << x[i];
}

TEST(Activation, Functions) {
  const auto at = [](Nonlinearity f, std::optional<double> parameter = {}) {
    return Activation(f, parameter)(points);
  };
  expect_values(at(Nonlinearity::abs), [](double x) { return std::abs(x); });
  expect_values(at(Nonlinearity::erf), [](double x) { return std::erf(x); });
  expect_values(at(Nonlinearity::sin), [](double x) { return std::sin(x); });
  expect_values(at(Nonlinearity::cos), [](double x) { return std::cos(x); });
  expect_values(at(Nonlinearity::exp), [](double x) { return std::exp(x); });
  expect_values(at(Nonlinearity::sign), [](double x) { return x < 0 ? -1 : x > 0 ? 1 : 0; });
  expect_values(at(Nonlinearity::step), [](double x) { return x < 0 ? 0 : x > 0 ? 1 : 0.5; });
  expect_values(at(Nonlinearity::leaky_relu), [](double x) { return x < 0 ? 0.01 * x : x; });
  expect_values(at(Nonlinearity::leaky_relu, 0.3), [](double x) { return x < 0 ? 0.3 * x : x; });
  const auto rbf = [](double gamma) {
    return [=](double x) {
      return std::numbers::sqrt2 * std::sin(std::sqrt(2 * gamma) * x + std::numbers::pi / 4);
    };
  };
  expect_values(at(Nonlinearity::rbf), rbf(1));
  expect_values(at(Nonlinearity::rbf, 0.2), rbf(0.2));
}

TEST(Activation, ParametersBelongToTheirFunctions) {
  EXPECT_EQ(Activation(Nonlinearity::gelu).describe(), "Activation(gelu)");
  EXPECT_EQ(Activation(Nonlinearity::leaky_relu).describe(), "Activation(leaky_relu, 0.01)");
  EXPECT_EQ(Activation(Nonlinearity::rbf, 0.5).describe(), "Activation(rbf, 0.5)");
  test::expect_error([] { Activation(Nonlinearity::relu, 0.1); }, "relu has no parameter");
  test::expect_error([] { activate(Nonlinearity::tanh, points, 1); }, "tanh has no parameter");
  test::expect_error([] { Activation(Nonlinearity::rbf, -1); }, "negative");
  test::expect_error([] { Activation(Nonlinearity::rbf, INFINITY); }, "finite");
  test::expect_error([] { Activation(Nonlinearity::leaky_relu, NAN); }, "finite");
  test::expect_error([] { activate(Nonlinearity::count, points); }, "no nonlinearity of number");
  test::expect_error([] { to_string(Nonlinearity::count); }, "no nonlinearity of number");
}

TEST(Polynomial, Powers) {
  expect_values(Polynomial({0.5, -1, 0, 2})(points),
                [](double x) { return 0.5 - x + 2 * x * x * x; });
  expect_values(Polynomial::monomial(3)(points), [](double x) { return x * x * x; });
  expect_values(Polynomial::monomial(0)(points), [](double) { return 1; });
  EXPECT_EQ(Polynomial::monomial(2).describe(), "Polynomial(power, degree 2)");
}

TEST(Polynomial, HermitePolynomials) {
  expect_values(Polynomial::hermite(1)(points), [](double x) { return x; });
  expect_values(Polynomial::hermite(4)(points),
                [](double x) { return (std::pow(x, 4) - 6 * x * x + 3) / std::sqrt(24); });
  expect_values(Polynomial({2, 0, 1, 1}, Polynomial::Basis::hermite)(points), [](double x) {
    return 2 + (x * x - 1) / std::sqrt(2) + (x * x * x - 3 * x) / std::sqrt(6);
  });
  test::expect_error([] { Polynomial({}); }, "coefficients");
  test::expect_error([] { Polynomial::hermite(65); }, "degree");
}

TEST(Polynomial, KeepsTheTypeOfItsInput) {
  EXPECT_EQ(Polynomial::hermite(3)(cast(points, f32)).dtype(), f32);
}

TEST(Elementwise, AppliesItsFunction) {
  const Elementwise layer([](const Tensor& x) { return x * x + 1; }, "x² + 1");
  expect_values(layer(points), [](double x) { return x * x + 1; });
  EXPECT_EQ(layer.describe(), "Elementwise(x² + 1)");
  test::expect_error([] { Elementwise{infinite::Pointwise()}; }, "empty");
  test::expect_error([] { Elementwise{infinite::DualFunction::erf()}; }, "`erf` does not hold");
}

}  // namespace
}  // namespace ladon::layers_activation_test
