// The loops of dual activations at every level of the instruction set, against long double.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "ladon/core/kernels/dual.h"
#include "ladon/core/kernels/loops.h"

namespace ladon::kernels::kernels_dual_test {
namespace {

using Exact = long double;
constexpr Exact pi = std::numbers::pi_v<Exact>;

/// Blocks of entries: all correlations, many of them close to ±1, and variances of all sizes.
struct Entries {
  std::vector<double> p, q, c;

  explicit Entries(std::int64_t blocks) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> unit(0, 1);
    for (std::int64_t i = 0; i < blocks * dual_block; ++i) {
      p.push_back(std::exp(6 * unit(random) - 3));
      q.push_back(std::exp(6 * unit(random) - 3));
      const double gap = std::exp(-30 * unit(random)), sign = unit(random) < 0.5 ? -1 : 1;
      const double rho = i % 3 == 0 ? 2 * unit(random) - 1 : sign * (i % 3 == 1 ? 1 - gap : gap);
      c.push_back(rho * std::sqrt(p.back() * q.back()));
    }
  }
  std::int64_t count() const { return static_cast<std::int64_t>(p.size()); }
};

/// pq − c², whose terms are exact in long double up to its last place or two; the rest is added.
Exact determinant(double p, double q, double c) {
  const double pq = p * q, cc = c * c;
  return std::max(Exact(0), (Exact(pq) - cc) + (Exact(std::fma(p, q, -pq)) - std::fma(c, c, -cc)));
}

struct Pair {
  Exact value, derivative;
};

Pair abs_dual(double p, double q, double c) {
  const Exact s = std::sqrt(determinant(p, q, c)), asin = std::atan2(Exact(c), s);
  return {2 / pi * (s + c * asin), 2 / pi * asin};
}

// Between opposites E = (s − |c|·ω)/2π, which is the tail of a series in the angle ω.
Pair relu_dual(double p, double q, double c) {
  const Exact s = std::sqrt(determinant(p, q, c)), angle = std::atan2(s, Exact(c));
  return {(s + (pi - angle) * c) / (2 * pi), (pi - angle) / (2 * pi)};
}

Pair erf_dual(double p, double q, double c) {
  const Exact d = std::sqrt(1 + 2 * (Exact(p) + q) + 4 * determinant(p, q, c));
  return {2 / pi * std::atan2(2 * Exact(c), d), 4 / (pi * d)};
}

Pair gelu_dual(double p, double q, double c) {
  const Exact product = (1 + Exact(p)) * (1 + Exact(q));
  const Exact d2 = 1 + Exact(p) + q + determinant(p, q, c), d = std::sqrt(d2);
  const Exact angle = std::atan2(Exact(c), d), c2 = Exact(c) * c, pq = Exact(p) * q;
  return {c / Exact(4) + ((c2 + pq * d2) / (product * d) + c * angle) / (2 * pi),
          Exact(1) / 4 + angle / (2 * pi) + (1 / d2 + (1 - pq) / product + 1) * c / (2 * pi * d)};
}

struct Case {
  const char* name;
  Dual family;
  std::vector<double> parameters;
  Pair (*exact)(double, double, double);
  // Error of the value in units of ε·sqrt(pq) (of ε for erf, which is bounded), and of the
  // derivative in units of ε. In long double E of relu itself loses as much.
  double value_limit, derivative_limit;
};

TEST(DualLoops, AccurateAtEveryLevel) {
  const Case cases[] = {{"abs", Dual::rectifier, {0, 1, 0, 0}, abs_dual, 2, 1},
                        {"relu", Dual::rectifier, {0.25, 0.25, 0, 0}, relu_dual, 2, 1},
                        {"erf", Dual::erf, {1, 1}, erf_dual, 2, 2},
                        {"gelu", Dual::gelu, {1, 1}, gelu_dual, 2, 2}};
  const Entries entries(2000);
  constexpr double epsilon = 0x1p-52;
  for (const Case& k : cases)
    for (const Level& level : levels()) {
      double worst[2] = {0, 0};
      for (std::int64_t i = 0; i < entries.count(); i += dual_block) {
        double value[dual_block], derivative[dual_block];
        level.loops->dual.values[int(k.family)](k.parameters.data(), &entries.p[i], &entries.q[i],
                                                &entries.c[i], value, derivative);
        for (std::int64_t j = 0; j < dual_block; ++j) {
          const double p = entries.p[i + j], q = entries.q[i + j], c = entries.c[i + j];
          const Pair exact = k.exact(p, q, c);
          const double scale = k.family == Dual::erf ? 1 : std::sqrt(p * q);
          const auto error = [&](double got, Exact wanted, double unit) {
            return static_cast<double>(std::abs(got - wanted)) / (epsilon * unit);
          };
          worst[0] = std::max(worst[0], error(value[j], exact.value, scale));
          worst[1] = std::max(worst[1], error(derivative[j], exact.derivative, 1));
        }
      }
      EXPECT_LE(worst[0], k.value_limit) << k.name << " at " << level.name;
      EXPECT_LE(worst[1], k.derivative_limit) << k.name << "' at " << level.name;
      RecordProperty(std::string(k.name) + " " + level.name,
                     std::to_string(worst[0]) + ", " + std::to_string(worst[1]));
    }
}

// The arcs alone: abs' is 2/π·asin ρ, relatively accurate also where it is small.
TEST(DualLoops, SmallArcsKeepTheirDigits) {
  const Entries entries(2000);
  const double f[] = {0, 1, 0, 0};
  for (const Level& level : levels()) {
    double worst = 0;
    for (std::int64_t i = 0; i < entries.count(); i += dual_block) {
      double value[dual_block], derivative[dual_block];
      level.loops->dual.values[int(Dual::rectifier)](f, &entries.p[i], &entries.q[i], &entries.c[i],
                                                     value, derivative);
      for (std::int64_t j = 0; j < dual_block; ++j) {
        const Exact exact =
            abs_dual(entries.p[i + j], entries.q[i + j], entries.c[i + j]).derivative;
        worst = std::max(worst, static_cast<double>(std::abs(derivative[j] / exact - 1)));
      }
    }
    EXPECT_LE(worst, 4 * 0x1p-52) << level.name;
    RecordProperty(level.name, std::to_string(worst / 0x1p-52));
  }
}

// Coefficients that fall at several rates, so that sums end after a quarter, half or all of them.
TEST(KernelsDual, SeriesOfEveryKindOfPowers) {
  constexpr std::int64_t m = 9, n = 11;
  for (const std::int64_t terms : {8, 64, 128})
    for (const Powers powers : {Powers::all, Powers::even, Powers::odd}) {
      const auto coefficients = [&](std::int64_t rows, double unit) {
        Tensor a = empty({rows, terms}, f64);
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t k = 0; k < terms; ++k)
            a.mutable_data<double>()[i * terms + k] = std::cos(unit * static_cast<double>(i + k)) *
                                                      std::exp(-0.02 * static_cast<double>(i * k));
        return a;
      };
      const Tensor a = coefficients(m, 1), b = coefficients(n, 2);
      Tensor p = empty({m, 1}, f64), q = empty({1, n}, f64), c = empty({m, n}, f64);
      for (std::int64_t i = 0; i < m; ++i) p.mutable_data<double>()[i] = 0.25 * double(i * i);
      for (std::int64_t j = 0; j < n; ++j) q.mutable_data<double>()[j] = double(j * j);
      std::vector<double> rho;
      for (std::int64_t i = 0; i < m * n; ++i) {
        rho.push_back(std::cos(static_cast<double>(i * i)));
        c.mutable_data<double>()[i] = rho.back() * 0.5 * static_cast<double>((i / n) * (i % n));
      }
      const Tensor y = dual_series(a, b, p, q, c, powers, 0.5);
      for (std::int64_t i = 0; i < m * n; ++i) {
        const double *left = a.data<double>() + i / n * terms,
                     *right = b.data<double>() + i % n * terms;
        const Exact r = i / n == 0 || i % n == 0 ? 0 : rho[std::size_t(i)];
        Exact sum = 0, of_left = 0, of_right = 0;
        for (std::int64_t k = 0; k < terms; ++k) {
          const int power =
              static_cast<int>(powers == Powers::all ? k : 2 * k + (powers == Powers::odd));
          sum += Exact(left[k]) * right[k] * std::pow(r, Exact(power));
          of_left += Exact(left[k]) * left[k];
          of_right += Exact(right[k]) * right[k];
        }
        sum += r * Exact(0.5) * 0.5 * static_cast<double>((i / n) * (i % n));
        EXPECT_NEAR(
            double(y.data<double>()[i] - sum), 0,
            0x1p-50 * std::sqrt(double(of_left * of_right)) + 0x1p-50 * std::abs(double(sum)))
            << terms << ' ' << i;
      }
    }
}

}  // namespace
}  // namespace ladon::kernels::kernels_dual_test
