// Powers at every level of the instruction set: against long double, and the special values of C.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/tests/core/kernels/ulp.h"

namespace ladon::kernels::loops_pow_test {
namespace {

using Exact = long double;

template <class T>
struct Arguments {
  std::vector<T> x, y;
  void add(T base, T exponent) { x.push_back(base), y.push_back(exponent); }
};

// Bases of every size and near 1, with exponents that lead from below the least number to above the
// largest; small exponents; and negative bases with whole exponents.
template <class T>
Arguments<T> arguments() {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(1);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * 0x1p-53 * static_cast<double>(random() >> 11);
  };
  const double lowest = std::log(double(Limits::denorm_min())) - 2;
  const double highest = std::log(double(Limits::max())) + 2;
  Arguments<T> a;
  for (int i = 0; i < 60000; ++i) {
    const T base = static_cast<T>(std::exp(uniform(std::max(lowest, -740.0), highest - 3)));
    const T near = static_cast<T>(1 + std::ldexp(uniform(-1, 1), -i % Limits::digits));
    for (const T x : {base, near}) {
      const double log = std::log(static_cast<double>(x));
      if (log != 0) a.add(x, static_cast<T>(uniform(lowest, highest) / log));
      a.add(x, static_cast<T>(uniform(-3, 3)));
    }
    a.add(static_cast<T>(uniform(-20, 0)), static_cast<T>(std::nearbyint(uniform(-40, 40))));
  }
  return a;
}

template <class T>
void check_accuracy(double limit) {
  const Arguments<T> a = arguments<T>();
  std::vector<T> z(a.x.size());
  for (const Level& level : levels()) {
    level.loops->of<T>().binary[int(Binary::pow)](a.x.data(), a.y.data(), z.data(),
                                                  std::int64_t(z.size()));
    double worst = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      const Exact exact = std::pow(static_cast<Exact>(a.x[i]), static_cast<Exact>(a.y[i]));
      const T rounded = static_cast<T>(exact);
      if (!std::isfinite(rounded)) {
        EXPECT_EQ(z[i], rounded) << a.x[i] << " ^ " << a.y[i] << ' ' << level.name;
        continue;
      }
      const double error = static_cast<double>(std::fabs(z[i] - exact) / test::ulp(rounded));
      if (!(error <= worst)) worst = error, at = i;
    }
    EXPECT_LE(worst, limit) << a.x[at] << " ^ " << a.y[at] << ' ' << level.name;
  }
}

TEST(LoopsPow, IsAccurate) {
  check_accuracy<float>(0.51);
  check_accuracy<double>(1);
}

// Requirements of annex F of the standard of C (F.10.4.4).
template <class T>
void check_special_values() {
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity(), nan = Limits::quiet_NaN(), most = Limits::max();
  const T odd = std::ldexp(T(1), Limits::digits) - 1;  // the largest odd number
  struct Case {
    T x, y, want;
  };
  std::vector<Case> cases;
  for (const T y : {T(1), T(3), odd}) {
    cases.insert(cases.end(),
                 {{T(0), y, 0}, {-T(0), y, -T(0)}, {T(0), -y, inf}, {-T(0), -y, -inf}});
    cases.insert(cases.end(), {{inf, y, inf}, {-inf, y, -inf}, {inf, -y, 0}, {-inf, -y, -T(0)}});
    cases.insert(cases.end(), {{T(-1), y, -1}, {T(-1), -y, -1}, {T(1), y, 1}});
  }
  for (const T y : {Limits::denorm_min(), T(1e-30), T(0.5), T(2), T(2.5), 2 * odd, most, inf}) {
    cases.insert(cases.end(), {{T(0), y, 0}, {-T(0), y, 0}, {T(0), -y, inf}, {-T(0), -y, inf}});
    cases.insert(cases.end(), {{inf, y, inf}, {-inf, y, inf}, {inf, -y, 0}, {-inf, -y, 0}});
    cases.insert(cases.end(), {{T(1), y, 1}, {T(1), -y, 1}});
  }
  for (const T y : {T(2), 2 * odd, most, inf})  // even
    cases.insert(cases.end(), {{T(-1), y, 1}, {T(-1), -y, 1}});
  for (const T y : {T(0.5), T(-2.5), T(1e-30), odd / 2})
    for (const T x : {T(-1), T(-2), -Limits::denorm_min(), -most}) cases.push_back({x, y, nan});
  for (const T x : {T(0), T(1), T(-3), Limits::denorm_min(), most, inf, nan})
    cases.insert(cases.end(), {{x, 0, 1}, {x, -T(0), 1}, {-x, 0, 1}, {-x, -T(0), 1}});
  for (const T x : {T(0), T(-1), T(2), inf, -inf, nan}) cases.push_back({x, nan, nan});
  for (const T y : {T(1), T(-0.5), inf, -inf, nan}) cases.push_back({nan, y, nan});
  cases.push_back({1, nan, 1});
  for (const T sign : {T(1), T(-1)})
    for (const T y : {most, inf})
      for (const T x : {T(0.5), 1 - Limits::epsilon(), Limits::denorm_min()}) {
        cases.insert(cases.end(), {{sign * x, y, 0}, {sign * x, -y, inf}});
        cases.insert(cases.end(), {{sign * (1 + x), y, x < Limits::epsilon() ? T(1) : inf},
                                   {sign * (1 + x), -y, x < Limits::epsilon() ? T(1) : T(0)}});
      }
  cases.insert(cases.end(), {{-most, 3, -inf}, {-most, 2, inf}, {-most, -3, -T(0)}});
  cases.insert(cases.end(), {{2, Limits::min_exponent - Limits::digits, Limits::denorm_min()},
                             {2, Limits::max_exponent, inf},
                             {-Limits::min(), 1, -Limits::min()},
                             {-Limits::denorm_min(), 1, -Limits::denorm_min()},
                             {most, 1, most},
                             {-3, 3, -27}});
  Arguments<T> a;
  for (const Case& c : cases) a.add(c.x, c.y);
  std::vector<T> all(cases.size());
  const auto same = [](T z, T want) {
    return std::isnan(want) ? std::isnan(z) : z == want && std::signbit(z) == std::signbit(want);
  };
  for (const Level& level : levels()) {
    const auto pow = level.loops->of<T>().binary[int(Binary::pow)];
    pow(a.x.data(), a.y.data(), all.data(), std::int64_t(all.size()));
    for (std::size_t i = 0; i < all.size(); ++i) {
      T alone;
      pow(&a.x[i], &a.y[i], &alone, 1);
      EXPECT_TRUE(same(all[i], cases[i].want) && same(alone, cases[i].want))
          << a.x[i] << " ^ " << a.y[i] << " is " << all[i] << " and " << alone << ", not "
          << cases[i].want << ' ' << level.name;
    }
  }
}

TEST(LoopsPow, HasTheSpecialValuesOfC) {
  check_special_values<float>();
  check_special_values<double>();
}

}  // namespace
}  // namespace ladon::kernels::loops_pow_test
