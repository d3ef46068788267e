#include "ladon/examples/common/statistics.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace ladon::example {

Measured estimate(const std::vector<double>& repetitions) {
  const auto n = static_cast<double>(repetitions.size());
  double mean = 0, squares = 0;
  for (const double x : repetitions) mean += x / n;
  for (const double x : repetitions) squares += (x - mean) * (x - mean);
  return {mean,
          n > 1 ? std::sqrt(squares / (n - 1) / n) : std::numeric_limits<double>::quiet_NaN()};
}

double t_probability(double t0, int degrees_of_freedom) {
  const double n = degrees_of_freedom, angle = std::atan(t0 / std::sqrt(n));
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const bool odd = degrees_of_freedom % 2 == 1;
  // With θ = angle, the sum for an odd number of degrees of freedom is
  // cosθ·(1 + ⅔cos²θ + 2·4/(3·5)·cos⁴θ + …), for an even one 1 + ½cos²θ + 1·3/(2·4)·cos⁴θ + …
  double term = odd ? cosine : 1, sum = degrees_of_freedom == 1 ? 0 : term;
  for (int i = odd ? 3 : 2; i <= degrees_of_freedom - 2; i += 2) {
    term *= cosine * cosine * (i - 1) / i;
    sum += term;
  }
  return odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
}

double t_quantile(double probability, int degrees_of_freedom) {
  double low = 0, high = 1;
  while (t_probability(high, degrees_of_freedom) < probability) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (t_probability(middle, degrees_of_freedom) < probability ? low : high) = middle;
  }
  return high;
}

Difference judge(const std::vector<double>& differences, int comparisons) {
  constexpr double level = 0.05, power = 0.8;
  Difference d{.mean = estimate(differences), .pairs = differences.size()};
  d.interval = d.corrected = d.detectable = std::numeric_limits<double>::infinity();
  if (d.pairs < 2) return d;
  const int degrees = static_cast<int>(d.pairs) - 1;
  const double strict = t_quantile(1 - level / comparisons, degrees);
  d.interval = t_quantile(1 - level, degrees) * d.mean.se;
  d.corrected = strict * d.mean.se;
  // t_quantile() here returns the 80% quantile of t, which is the quantile of |t| at 2·0.8 − 1.
  d.detectable = (strict + t_quantile(2 * power - 1, degrees)) * d.mean.se;
  if (std::abs(d.mean.value) > d.corrected)
    d.decision = d.mean.value > 0 ? Decision::higher : Decision::lower;
  return d;
}

}  // namespace ladon::example
