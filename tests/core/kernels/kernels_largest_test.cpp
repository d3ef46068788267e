// The loop of class probabilities at every level of the instruction set, against long double.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "ladon/core/kernels/loops.h"

namespace ladon::kernels::kernels_largest_test {
namespace {

using Exact = long double;

/// The integral by its definition, over [−40, 15] in steps of 1/16.
std::vector<double> exact(const std::vector<double>& mean, double deviation) {
  const double most = *std::max_element(mean.begin(), mean.end());
  std::vector<Exact> p(mean.size());
  Exact total = 0;
  for (Exact x = -40; x < 15; x += Exact(1) / 16) {
    std::vector<Exact> below, density;
    for (const double m : mean) {
      const Exact z = x + (Exact(most) - m) / deviation;
      below.push_back(std::erfc(-z / std::sqrt(Exact(2))) / 2);
      density.push_back(std::exp(-z * z / 2));
    }
    for (std::size_t c = 0; c < p.size(); ++c) {
      Exact f = density[c];
      for (std::size_t other = 0; other < p.size(); ++other)
        if (other != c) f *= below[other];
      p[c] += f;
      total += f;
    }
  }
  std::vector<double> y;
  for (const Exact one : p) y.push_back(static_cast<double>(one / total));
  return y;
}

TEST(KernelsLargest, IsRelativelyAccurate) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (const Level& level : levels())
    for (const std::size_t classes : {2u, 3u, 10u, 37u})
      for (const double spread : {0.1, 1.0, 10.0}) {
        std::vector<double> mean(classes), p(classes), work(largest_work * classes);
        for (double& m : mean) m = spread * normal(random);
        const double deviation = std::exp(0.5 * normal(random));
        level.loops->largest(static_cast<std::int64_t>(classes), mean.data(), deviation, p.data(),
                             work.data());
        const std::vector<double> want = exact(mean, deviation);
        for (std::size_t c = 0; c < classes; ++c)
          if (want[c] > 1e-290) {
            EXPECT_NEAR(p[c] / want[c], 1, want[c] > 1e-20 ? 5e-14 : 1e-12)
                << level.name << " " << want[c];
          }
      }
}

TEST(KernelsLargest, AtTheEndsOfTheRange) {
  for (const Level& level : levels()) {
    double work[3 * largest_work], p[3];
    const double mean[] = {1e300, -1e300, 1e300};
    for (const double deviation : {1e-320, 1.0, 1e290}) {
      level.loops->largest(3, mean, deviation, p, work);
      EXPECT_NEAR(p[0], 0.5, 1e-14);
      EXPECT_EQ(p[1], 0);
      EXPECT_NEAR(p[2], 0.5, 1e-14);
    }
  }
}

}  // namespace
}  // namespace ladon::kernels::kernels_largest_test
