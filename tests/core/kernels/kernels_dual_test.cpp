// The loops of dual activations at every level of the instruction set, against long double.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "ladon/core/kernels/loops.h"

namespace ladon::kernels {
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
  const Case cases[] = {{"abs", Dual::rectifier, {0, 1}, abs_dual, 2, 1},
                        {"relu", Dual::rectifier, {0.25, 0.25}, relu_dual, 2, 1},
                        {"erf", Dual::erf, {}, erf_dual, 2, 2},
                        {"gelu", Dual::gelu, {}, gelu_dual, 2, 2}};
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
  const double f[] = {0, 1};
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

}  // namespace
}  // namespace ladon::kernels
