// The vector functions at every level of the instruction set against long double.

#include "ladon/core/kernels/loops.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/unary.h"
#include "ladon/tests/core/kernels/ulp.h"

namespace ladon::kernels::loops_test {
namespace {

using test::ulp;
using Exact = long double;

Exact sigmoid(Exact x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
Exact normal_cdf(Exact x) { return std::erfc(-x / std::sqrt(Exact(2))) / 2; }
Exact normal_pdf(Exact x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::acos(Exact(-1))); }
Exact gelu_slope() { return std::sqrt(8 / std::acos(Exact(-1))); }
Exact gelu_argument(Exact x) { return gelu_slope() * (x + Exact(0.044715) * x * x * x); }
Exact gelu_tanh_derivative(Exact x) {
  const Exact s = sigmoid(gelu_argument(x)), rest = sigmoid(-gelu_argument(x));
  return s + x * s * rest * gelu_slope() * (1 + 3 * Exact(0.044715) * x * x);
}

// Errors are measured in units in the last place of the result; where `absolute`, of max(1,
// |result|): functions with a zero that is no zero of a factor, and activations, whose tails are
// held to relative accuracy below.
struct Function {
  Unary op;
  Exact (*exact)(Exact);
  double limit;
  bool absolute = false;
};

const Function functions[] = {
    {Unary::exp, [](Exact x) { return std::exp(x); }, 1},
    {Unary::expm1, [](Exact x) { return std::expm1(x); }, 1.6},
    {Unary::log, [](Exact x) { return std::log(x); }, 1},
    {Unary::log1p, [](Exact x) { return std::log1p(x); }, 1},
    {Unary::tanh, [](Exact x) { return std::tanh(x); }, 1.5},
    {Unary::erf, [](Exact x) { return std::erf(x); }, 1.7},
    {Unary::sin, [](Exact x) { return std::sin(x); }, 0.6},
    {Unary::cos, [](Exact x) { return std::cos(x); }, 0.6},
    {Unary::sigmoid, sigmoid, 2.1},
    {Unary::softplus,
     [](Exact x) { return std::fmax(x, Exact(0)) + std::log1p(std::exp(-std::fabs(x))); }, 1.6},
    {Unary::sqrt, [](Exact x) { return std::sqrt(x); }, 0.501},
    {Unary::rsqrt, [](Exact x) { return 1 / std::sqrt(x); }, 1.5},
    {Unary::reciprocal, [](Exact x) { return 1 / x; }, 0.501},
    {Unary::silu, [](Exact x) { return x * sigmoid(x); }, 2.2, true},
    {Unary::gelu, [](Exact x) { return x * normal_cdf(x); }, 2.2, true},
    {Unary::gelu_tanh, [](Exact x) { return x * sigmoid(gelu_argument(x)); }, 2.2, true},
    {Unary::sigmoid_slope, [](Exact x) { return sigmoid(x) * sigmoid(-x); }, 4},
    {Unary::normal_cdf, normal_cdf, 2.2, true},
    {Unary::gelu_tanh_gate, [](Exact x) { return sigmoid(gelu_argument(x)); }, 2.2, true},
};

/// A gradient g·f'(x), at g = 1.
struct Gradient {
  Binary op;
  Exact (*exact)(Exact);
  double limit;
  bool saturates = false;  // f has limits on both sides, so that f' ends in 0
};
const Gradient gradients[] = {
    {Binary::tanh_gradient, [](Exact x) { return 4 * sigmoid(2 * x) * sigmoid(-2 * x); }, 3.5,
     true},
    {Binary::sigmoid_gradient, [](Exact x) { return sigmoid(x) * sigmoid(-x); }, 4, true},
    {Binary::softplus_gradient, sigmoid, 2.5},
    {Binary::silu_gradient, [](Exact x) { return sigmoid(x) + x * sigmoid(x) * sigmoid(-x); }, 2.5},
    {Binary::gelu_gradient, [](Exact x) { return normal_cdf(x) + x * normal_pdf(x); }, 2.5},
    {Binary::gelu_tanh_gradient, gelu_tanh_derivative, 2.5},
};

// Every kind of float: a sweep over bit patterns, a fine one around 0, and where sin or cos nearly
// vanish.
template <class T>
std::vector<T> sweep() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x{T(0),
                   -T(0),
                   Limits::denorm_min(),
                   -Limits::denorm_min(),
                   Limits::min(),
                   Limits::max(),
                   Limits::lowest(),
                   T(88.7228),
                   T(88.8),
                   T(-103.9),
                   T(709.78),
                   T(-745.1)};
  for (int i = -30000; i <= 30000; ++i) x.push_back(T(i) * T(0.00093));
  for (int i = 1; i < 64000; i += 3) x.push_back(static_cast<T>(i * std::acos(Exact(0))));
  if constexpr (sizeof(T) == 4) {
    for (std::uint64_t bits = 0; bits < (1ull << 32); bits += 20011)
      x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  } else {
    std::uint64_t bits = 1;
    for (int i = 0; i < 100000; ++i)
      x.push_back(std::bit_cast<double>(bits = bits * 6364136223846793005u + 1442695040888963407u));
  }
  std::erase_if(x, [](T v) { return !std::isfinite(v); });
  return x;
}

/// Result of a loop for x.
template <class T, class F>
void check_accuracy(const F& f, bool absolute, const Level& level, const std::vector<T>& x,
                    const std::vector<T>& y, const std::vector<Exact>& exact) {
  double worst = 0;
  T at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T rounded = static_cast<T>(exact[i]);
    if (!std::isfinite(rounded)) {
      EXPECT_TRUE(std::isnan(rounded) ? std::isnan(y[i]) : y[i] == rounded)
          << to_string(f.op) << '(' << x[i] << ") is " << y[i] << " at " << level.name;
      continue;
    }
    const double unit = ulp(absolute ? std::max(T(1), std::fabs(rounded)) : rounded);
    const double error = static_cast<double>(std::fabs(y[i] - exact[i])) / unit;
    if (!(error <= worst)) worst = error, at = x[i];
  }
  EXPECT_LE(worst, f.limit) << to_string(f.op) << " at x = " << at << ", " << level.name;
}

template <class T>
void check_all() {
  const std::vector<T> x = sweep<T>(), ones(x.size(), T(1));
  const auto n = std::int64_t(x.size());
  std::vector<T> y(x.size());
  const auto exact_values = [&](const auto& f) {
    std::vector<Exact> exact;
    for (T v : x) exact.push_back(f.exact(v));
    return exact;
  };
  for (const Function& f : functions) {
    const std::vector<Exact> exact = exact_values(f);
    for (const Level& level : levels()) {
      level.loops->of<T>().unary[int(f.op)](x.data(), y.data(), n);
      check_accuracy(f, f.absolute, level, x, y, exact);
    }
  }
  for (const Gradient& f : gradients) {
    const std::vector<Exact> exact = exact_values(f);
    for (const Level& level : levels()) {
      level.loops->of<T>().binary[int(f.op)](ones.data(), x.data(), y.data(), n);
      check_accuracy(f, true, level, x, y, exact);
    }
  }
}

TEST(Loops, FunctionsAreAccurateInSinglePrecision) { check_all<float>(); }
TEST(Loops, FunctionsAreAccurateInDoublePrecision) { check_all<double>(); }

// --- tails ---

// φ(x) with x² split as h² + (x−h)(x+h), where h² is exact.
Exact tail_pdf(Exact x) {
  const Exact h = std::ldexp(std::nearbyint(std::ldexp(x, 20)), -20);
  return std::exp(-h * h / 2) * std::exp(-(x - h) * (x + h) / 2) /
         std::sqrt(2 * std::acos(Exact(-1)));
}

// Φ(−a) = φ(a)/(a + 1/(a + 2/(a + 3/…))); near 0 the library's function, whose argument is rounded.
Exact tail_cdf(Exact x) {
  if (x > -5) return normal_cdf(x);
  Exact fraction = -x;
  for (int k = 100; k > 0; --k) fraction = -x + k / fraction;
  return tail_pdf(x) / fraction;
}

struct Tail {
  Unary op;
  Exact (*exact)(Exact);
  double lowest;     // where the sweep begins
  double limits[2];  // in single and in double precision
};
const Tail tails[] = {
    {Unary::silu, [](Exact x) { return x * sigmoid(x); }, -800, {3.2, 3.2}},
    {Unary::gelu, [](Exact x) { return x * tail_cdf(x); }, -40, {5.5, 9}},
    {Unary::gelu_tanh, [](Exact x) { return x * sigmoid(gelu_argument(x)); }, -25, {3.2, 3.2}},
    {Unary::sigmoid_slope, [](Exact x) { return sigmoid(x) * sigmoid(-x); }, -800, {4, 4}},
    {Unary::normal_cdf, tail_cdf, -40, {5.5, 9.5}},
    {Unary::gelu_tanh_gate, [](Exact x) { return sigmoid(gelu_argument(x)); }, -25, {3.2, 3.2}},
};

// Relative errors, in units in the last place, wherever the result is a normal number.
template <class T>
void check_tails() {
  constexpr int n = 40000;
  for (const Tail& f : tails) {
    std::vector<T> x, y(n);
    std::vector<Exact> exact;
    for (int i = 0; i < n; ++i) x.push_back(static_cast<T>(f.lowest * (i + 0.37) / n));
    for (T v : x) exact.push_back(f.exact(v));
    for (const Level& level : levels()) {
      level.loops->of<T>().unary[int(f.op)](x.data(), y.data(), n);
      double worst = 0;
      T at = 0;
      for (int i = 0; i < n; ++i) {
        const T rounded = static_cast<T>(exact[i]);
        if (std::fabs(rounded) < std::numeric_limits<T>::min()) {
          EXPECT_LE(std::fabs(y[i]), 2 * std::numeric_limits<T>::min()) << to_string(f.op);
          continue;
        }
        const double error = static_cast<double>(std::fabs(y[i] - exact[i])) / ulp(rounded);
        if (!(error <= worst)) worst = error, at = x[i];
      }
      EXPECT_LE(worst, f.limits[sizeof(T) == 8])
          << to_string(f.op) << " at x = " << at << ", " << level.name;
    }
  }
}

TEST(Loops, ActivationsAreRelativelyAccurateInTheirTails) {
  check_tails<float>();
  check_tails<double>();
}

template <class T>
void check_limits() {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  struct Case {
    Unary op;
    T at_minus_infinity, at_infinity;
  };
  const Case cases[] = {
      {Unary::neg, inf, -inf},      {Unary::abs, inf, inf},     {Unary::sign, -1, 1},
      {Unary::floor, -inf, inf},    {Unary::ceil, -inf, inf},   {Unary::round, -inf, inf},
      {Unary::square, inf, inf},    {Unary::sqrt, nan, inf},    {Unary::rsqrt, nan, 0},
      {Unary::reciprocal, 0, 0},    {Unary::exp, 0, inf},       {Unary::expm1, -1, inf},
      {Unary::log, nan, inf},       {Unary::log1p, nan, inf},   {Unary::sin, nan, nan},
      {Unary::cos, nan, nan},       {Unary::tanh, -1, 1},       {Unary::erf, -1, 1},
      {Unary::sigmoid, 0, 1},       {Unary::softplus, 0, inf},  {Unary::relu, 0, inf},
      {Unary::gelu, 0, inf},        {Unary::gelu_tanh, 0, inf}, {Unary::silu, 0, inf},
      {Unary::sigmoid_slope, 0, 0}, {Unary::normal_cdf, 0, 1},  {Unary::gelu_tanh_gate, 0, 1},
  };
  static_assert(std::size(cases) == std::size_t(Unary::count));
  for (const Level& level : levels())
    for (const Case& c : cases) {
      const T x[3] = {-inf, inf, nan}, want[3] = {c.at_minus_infinity, c.at_infinity, nan};
      T y[3];
      level.loops->of<T>().unary[int(c.op)](x, y, 3);
      for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(std::isnan(want[i]) ? std::isnan(y[i]) : y[i] == want[i])
            << to_string(c.op) << '(' << x[i] << ") is " << y[i] << " at " << level.name;
    }
  for (const Level& level : levels())
    for (const Gradient& f : gradients) {
      const T g[3] = {2, 2, 2}, x[3] = {-inf, inf, nan};
      T y[3];
      level.loops->of<T>().binary[int(f.op)](g, x, y, 3);
      EXPECT_TRUE(y[0] == 0 && y[1] == (f.saturates ? 0 : 2) && std::isnan(y[2]))
          << to_string(f.op) << ' ' << level.name;
    }
}

TEST(Loops, FunctionsHaveTheirLimitsAtInfinityAndKeepNaN) {
  check_limits<float>();
  check_limits<double>();
}

TEST(Loops, OddFunctionsKeepTheSignOfZero) {
  for (const Level& level : levels())
    for (Unary op :
         {Unary::expm1, Unary::log1p, Unary::tanh, Unary::erf, Unary::sin, Unary::sqrt}) {
      const float x[2] = {-0.0f, 0.0f};
      float y[2];
      level.loops->f32.unary[int(op)](x, y, 2);
      EXPECT_TRUE(y[0] == 0 && std::signbit(y[0])) << to_string(op) << ' ' << level.name;
      EXPECT_TRUE(y[1] == 0 && !std::signbit(y[1])) << to_string(op) << ' ' << level.name;
    }
}

// --- the environment variable, seen by a new process ---

int run_self(const std::string& isa, const std::string& filter) {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n <= 0) return -1;
  path[n] = 0;
  return std::system(
      ("LADON_ISA=" + isa + " '" + path + "' --gtest_filter='" + filter + "' > /dev/null 2>&1")
          .c_str());
}

TEST(Loops, EveryLevelPassesTheTestsOfTheKernels) {
  for (const Level& level : levels()) EXPECT_EQ(run_self(level.name, "Kernels*"), 0) << level.name;
}

TEST(Loops, AnUnknownLevelIsAnError) { EXPECT_NE(run_self("v9", "KernelsPointwise.*"), 0); }

}  // namespace
}  // namespace ladon::kernels::loops_test
