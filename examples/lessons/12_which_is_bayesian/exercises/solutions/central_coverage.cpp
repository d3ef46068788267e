#include "12_which_is_bayesian/exercises/exercises.h"

using namespace ladon;

double central_coverage(const BelievedValue& belief, const BelievedValue& truth, double noise,
                        double level) {
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  double low = 0, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (below(middle) < 0.5 * (1 + level) ? low : high) = middle;
  }
  const double half = low * std::sqrt(belief.variance + noise);
  const double shift = belief.mean - truth.mean, sd = std::sqrt(truth.variance + noise);
  return below((shift + half) / sd) - below((shift - half) / sd);
}
