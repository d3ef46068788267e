#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/unary.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/tests/core/kernels/layouts.h"

namespace ladon::kernels::kernels_pointwise_test {
namespace {

using layout::element;
using layout::layouts;
using layout::same_bits;
using layout::sample;

const double nan = std::numeric_limits<double>::quiet_NaN();

const double gelu_slope = std::sqrt(8 / M_PI);
double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }
double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
double gelu_sigmoid(double x) { return sigmoid(gelu_slope * (x + 0.044715 * x * x * x)); }

double exact(Unary op, double x) {
  switch (op) {
    case Unary::neg:
      return -x;
    case Unary::abs:
      return std::fabs(x);
    case Unary::sign:
      return (x > 0) - (x < 0);
    case Unary::floor:
      return std::floor(x);
    case Unary::ceil:
      return std::ceil(x);
    case Unary::round:
      return std::nearbyint(x);
    case Unary::square:
      return x * x;
    case Unary::sqrt:
      return std::sqrt(x);
    case Unary::rsqrt:
      return 1 / std::sqrt(x);
    case Unary::reciprocal:
      return 1 / x;
    case Unary::exp:
      return std::exp(x);
    case Unary::expm1:
      return std::expm1(x);
    case Unary::log:
      return std::log(x);
    case Unary::log1p:
      return std::log1p(x);
    case Unary::sin:
      return std::sin(x);
    case Unary::cos:
      return std::cos(x);
    case Unary::tanh:
      return std::tanh(x);
    case Unary::erf:
      return std::erf(x);
    case Unary::sigmoid:
      return sigmoid(x);
    case Unary::softplus:
      return std::log1p(std::exp(x));
    case Unary::relu:
      return x > 0 ? x : 0;
    case Unary::gelu:
      return x * normal_cdf(x);
    case Unary::gelu_tanh:
      return x * gelu_sigmoid(x);
    case Unary::silu:
      return x * sigmoid(x);
    case Unary::sigmoid_slope:
      return sigmoid(x) * sigmoid(-x);
    case Unary::normal_cdf:
      return normal_cdf(x);
    case Unary::gelu_tanh_gate:
      return gelu_sigmoid(x);
    case Unary::count:
      break;
  }
  return nan;
}

double exact(Binary op, double a, double b) {
  switch (op) {
    case Binary::add:
      return a + b;
    case Binary::sub:
      return a - b;
    case Binary::mul:
      return a * b;
    case Binary::div:
      return a / b;
    case Binary::pow:
      return std::pow(a, b);
    case Binary::maximum:
      return std::fmax(a, b);
    case Binary::minimum:
      return std::fmin(a, b);
    case Binary::atan2:
      return std::atan2(a, b);
    case Binary::remainder:
      return a - std::floor(a / b) * b;
    case Binary::tanh_gradient:
      return a / std::cosh(b) / std::cosh(b);
    case Binary::sigmoid_gradient:
      return a * sigmoid(b) * sigmoid(-b);
    case Binary::softplus_gradient:
      return a * sigmoid(b);
    case Binary::relu_gradient:
      return b > 0 ? a : 0;
    case Binary::silu_gradient:
      return a * (sigmoid(b) + b * sigmoid(b) * sigmoid(-b));
    case Binary::gelu_gradient:
      return a * (normal_cdf(b) + b * std::exp(-b * b / 2) / std::sqrt(2 * M_PI));
    case Binary::gelu_tanh_gradient: {
      const double s = gelu_sigmoid(b);
      return a * (s + b * s * (1 - s) * gelu_slope * (1 + 3 * 0.044715 * b * b));
    }
    case Binary::gaussian:
      return std::exp(-b * a * a);
    case Binary::count:
      break;
  }
  return nan;
}

double exact(Compare op, double a, double b) {
  switch (op) {
    case Compare::eq:
      return a == b;
    case Compare::ne:
      return a != b;
    case Compare::lt:
      return a < b;
    case Compare::le:
      return a <= b;
    case Compare::gt:
      return a > b;
    case Compare::ge:
      return a >= b;
    case Compare::count:
      break;
  }
  return nan;
}

void expect_near(double got, double want, double tolerance, std::string_view what) {
  if (std::isnan(want) || std::isinf(want))
    EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want)
        << what << ' ' << got << ' ' << want;
  else
    EXPECT_NEAR(got, want, tolerance * std::fmax(1, std::fabs(want))) << what;
}

TEST(KernelsPointwise, UnaryOnEveryLayout) {
  for (DType dtype : {f32, f64})
    for (int i = 0; i < int(Unary::count); ++i)
      for (const Tensor& x : layouts(sample({3, 4, 37}, dtype))) {
        const Tensor y = unary(Unary(i), x);
        ASSERT_TRUE(y.contiguous() && y.shape() == x.shape() && y.dtype() == dtype);
        for (std::int64_t j = 0; j < y.count(); ++j)
          expect_near(element(y, j), exact(Unary(i), element(x, j)), dtype == f32 ? 4e-7 : 1e-14,
                      to_string(Unary(i)));
      }
}

TEST(KernelsPointwise, IntegersHaveSomeFunctions) {
  const Tensor x = sample({5, 9}, i64);
  for (Unary op : {Unary::neg, Unary::abs, Unary::sign, Unary::floor, Unary::square}) {
    const Tensor y = unary(op, x);
    ASSERT_EQ(y.dtype(), i64);
    for (std::int64_t j = 0; j < y.count(); ++j) EXPECT_EQ(element(y, j), exact(op, element(x, j)));
  }
  EXPECT_THROW(unary(Unary::exp, x), Error);
  EXPECT_THROW(unary(Unary::neg, sample({2}, boolean)), Error);
}

// b in every layout and every shape that broadcasts to a's.
TEST(KernelsPointwise, BinaryOnEveryLayoutAndBroadcast) {
  const Shape shapes[] = {{3, 4, 37}, {37}, {4, 1}, {3, 1, 1}, {1, 4, 37}, {3, 1, 37}, {}};
  for (int i = 0; i < int(Binary::count); ++i)
    for (const Shape& shape : shapes)
      for (const Tensor& a : layouts(sample({3, 4, 37}, f64)))
        for (const Tensor& b : layouts(sample(shape, f64, 2))) {
          const Tensor y = binary(Binary(i), a, b), z = binary(Binary(i), b, a);
          const Tensor wide = view::expand(b, a.shape());
          for (std::int64_t j = 0; j < y.count(); j += 7) {
            const double u = element(a, j), v = element(wide, j);
            if (Binary(i) == Binary::remainder && (u == 0 || v == 0)) continue;
            if (Binary(i) == Binary::gaussian && (u < 0 || v < 0)) continue;
            expect_near(element(y, j), exact(Binary(i), u, v), 1e-14, to_string(Binary(i)));
            expect_near(element(z, j), exact(Binary(i), v, u), 1e-14, to_string(Binary(i)));
          }
        }
}

TEST(KernelsPointwise, BothOperandsBroadcast) {
  const Tensor a = sample({5, 1, 3}), b = sample({200, 1}, f32, 2);
  const Tensor y = binary(Binary::add, a, b);
  ASSERT_EQ(y.shape(), (Shape{5, 200, 3}));
  const Tensor u = view::expand(a, y.shape()), v = view::expand(b, y.shape());
  for (std::int64_t j = 0; j < y.count(); ++j)
    ASSERT_EQ(element(y, j), element(u, j) + element(v, j));
}

TEST(KernelsPointwise, NumbersOnEitherSide) {
  const Tensor x = sample({2, 1500});
  for (const Tensor& view : layouts(x))
    for (Binary op : {Binary::sub, Binary::div, Binary::pow, Binary::remainder}) {
      const Tensor right = binary(op, view, 2.5), left = binary(op, 2.5, view);
      for (std::int64_t j = 0; j < x.count(); j += 11) {
        expect_near(element(right, j), exact(op, element(x, j), 2.5), 1e-6, to_string(op));
        if (op == Binary::remainder && element(x, j) == 0) continue;
        expect_near(element(left, j), exact(op, 2.5, element(x, j)), 1e-5, to_string(op));
      }
    }
  const Tensor squares = unary(Unary::square, x);
  EXPECT_TRUE(same_bits(binary(Binary::pow, x, 2), squares));
  EXPECT_TRUE(same_bits(binary(Binary::pow, x, 3), binary(Binary::mul, squares, x)));
}

TEST(KernelsPointwise, IntegersWrapAndTruncate) {
  constexpr auto low = std::numeric_limits<std::int64_t>::min();
  constexpr auto high = std::numeric_limits<std::int64_t>::max();
  const auto apply = [](Binary op, std::int64_t a, std::int64_t b) {
    return binary(op, from_vector(std::vector{a}, {1}), from_vector(std::vector{b}, {1}))
        .data<std::int64_t>()[0];
  };
  EXPECT_EQ(apply(Binary::add, high, 1), low);
  EXPECT_EQ(apply(Binary::remainder, low, -1), 0);
  EXPECT_EQ(apply(Binary::remainder, -7, 3), 2);
  EXPECT_EQ(apply(Binary::remainder, 7, -3), -2);
  EXPECT_EQ(apply(Binary::pow, -3, 3), -27);
  EXPECT_EQ(apply(Binary::pow, 0, 0), 1);
  EXPECT_EQ(unary(Unary::abs, from_vector(std::vector{low}, {1})).data<std::int64_t>()[0], low);
  EXPECT_THROW(apply(Binary::remainder, 1, 0), Error);
  EXPECT_THROW(apply(Binary::pow, 2, -1), Error);
  EXPECT_THROW(apply(Binary::pow, -1, -3), Error);
  EXPECT_THROW(binary(Binary::pow, sample({3}, i64), -1), Error);
  EXPECT_THROW(binary(Binary::pow, 2.0, tensor({1, -1}, i64)), Error);
  EXPECT_THROW(binary(Binary::remainder, sample({3}, i64), 0), Error);
  EXPECT_THROW(apply(Binary::div, 1, 2), Error);
}

TEST(KernelsPointwise, BooleansHaveLogic) {
  const Tensor a = tensor({0, 0, 1, 1}, boolean), b = tensor({0, 1, 0, 1}, boolean);
  EXPECT_EQ(binary(Binary::minimum, a, b).to_vector<int>(), (std::vector{0, 0, 0, 1}));
  EXPECT_EQ(binary(Binary::mul, a, b).to_vector<int>(), (std::vector{0, 0, 0, 1}));
  EXPECT_EQ(binary(Binary::maximum, a, b).to_vector<int>(), (std::vector{0, 1, 1, 1}));
  EXPECT_EQ(compare(Compare::ne, a, b).to_vector<int>(), (std::vector{0, 1, 1, 0}));
  EXPECT_THROW(binary(Binary::add, a, b), Error);
}

TEST(KernelsPointwise, CompareOnEveryLayout) {
  for (DType dtype : {f32, f64, i64, boolean})
    for (int i = 0; i < int(Compare::count); ++i)
      for (const Tensor& a : layouts(sample({4, 33}, dtype)))
        for (const Tensor& b : layouts(sample({33}, dtype, 2))) {
          const Tensor y = compare(Compare(i), a, b), wide = view::expand(b, a.shape());
          ASSERT_EQ(y.dtype(), boolean);
          for (std::int64_t j = 0; j < y.count(); ++j)
            ASSERT_EQ(element(y, j), exact(Compare(i), element(a, j), element(wide, j)));
        }
  EXPECT_EQ(compare(Compare::ge, tensor({1, 2, 3}), 2).to_vector<int>(), (std::vector{0, 1, 1}));
}

TEST(KernelsPointwise, NaNComparesFalseAndPropagates) {
  const Tensor x = tensor({nan, 1, nan}), y = tensor({1, nan, nan});
  for (int i = 0; i < int(Compare::count); ++i)
    EXPECT_EQ(compare(Compare(i), x, y).to_vector<int>(),
              std::vector<int>(3, Compare(i) == Compare::ne));
  for (Binary op : {Binary::maximum, Binary::minimum})
    for (double v : binary(op, x, y).to_vector<double>()) EXPECT_TRUE(std::isnan(v));
}

TEST(KernelsPointwise, WhereBroadcastsAllThree) {
  for (DType dtype : {f32, f64, i64, boolean})
    for (const Tensor& condition : layouts(sample({6, 1}, boolean)))
      for (const Tensor& a : layouts(sample({5, 1, 130}, dtype))) {
        const Tensor b = sample({}, dtype, 3), y = where(condition, a, b);
        ASSERT_EQ(y.shape(), (Shape{5, 6, 130}));
        const Tensor c = view::expand(condition, y.shape()), wide = view::expand(a, y.shape());
        for (std::int64_t j = 0; j < y.count(); ++j)
          ASSERT_EQ(element(y, j), element(c, j) != 0 ? element(wide, j) : element(b, 0));
      }
  EXPECT_THROW(where(sample({2}), sample({2}), sample({2})), Error);
  EXPECT_THROW(where(sample({2}, boolean), sample({2}), sample({2}, f64)), Error);
}

TEST(KernelsPointwise, ErrorsNameTheFunctionAndBothOperands) {
  const auto message = [](auto f) -> std::string {
    try {
      f();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string shapes = message([] { binary(Binary::add, sample({2, 3}), sample({4})); });
  EXPECT_NE(shapes.find("[add]"), std::string::npos) << shapes;
  EXPECT_NE(shapes.find("[2, 3] and [4]"), std::string::npos) << shapes;
  const std::string dtypes = message([] { binary(Binary::mul, sample({2}), sample({2}, f64)); });
  EXPECT_NE(dtypes.find("[mul] dtypes differ: f32 and f64"), std::string::npos) << dtypes;
  const std::string number = message([] { binary(Binary::mul, sample({2}, i64), 0.5); });
  EXPECT_NE(number.find("[mul] the number 0.5"), std::string::npos) << number;
  EXPECT_THROW(unary(Unary::exp, Tensor()), Error);
}

TEST(KernelsPointwise, EmptyTensorsGiveEmptyTensors) {
  const Tensor x = empty({0, 3}), t = view::transpose(x, 0, 1);
  EXPECT_EQ(unary(Unary::exp, t).shape(), (Shape{3, 0}));
  EXPECT_EQ(binary(Binary::add, x, sample({3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(compare(Compare::lt, x, 1).shape(), (Shape{0, 3}));
  EXPECT_EQ(where(empty({0, 1}, boolean), x, x).shape(), (Shape{0, 3}));
  EXPECT_EQ(cast(x, i64).shape(), (Shape{0, 3}));
  EXPECT_EQ(clone(t).shape(), (Shape{3, 0}));
  copy(x, sample({1, 3}));
  axpby(1, x, 1, sample({3}));
  fill(x, 1);
}

TEST(KernelsPointwise, SameBitsAtOneAndTwoThreads) {
  const Tensor x = sample({300, 700}), row = sample({700}, f32, 2);
  const Tensor views[] = {x, view::transpose(sample({700, 300}), 0, 1)};
  const int before = num_threads();
  for (const Tensor& v : views) {
    const auto results = [&](int threads) {
      set_num_threads(threads);
      return std::vector{unary(Unary::exp, v), binary(Binary::mul, v, row), contiguous(v),
                         binary(Binary::add, v, 3), where(compare(Compare::lt, v, row), v, row)};
    };
    const auto one = results(1), two = results(2);
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], two[i])) << i;
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace ladon::kernels::kernels_pointwise_test
