#include <cmath>
#include <numbers>

#include "06_prior/exercises/exercises.h"

using namespace ladon;

PriorProbability prior_probability(double mean, double variance) {
  constexpr double step = 0.01;
  const auto expectation = [&](const auto& of) {
    double sum = 0;
    for (int i = -1000; i <= 1000; ++i) {
      const double z = step * i, f = mean + std::sqrt(variance) * z;
      sum += step * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) *
             of(1 / (1 + std::exp(-f)));
    }
    return sum;
  };
  const double average = expectation([](double p) { return p; });
  const double spread = expectation([&](double p) { return (p - average) * (p - average); });
  return {average, std::sqrt(spread)};
}
