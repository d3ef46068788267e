#pragma once
// Paired comparisons: whether a mean difference is significant, and the smallest difference that a
// given number of pairs can detect.

#include <vector>

#include "ladon/core/measured.h"

namespace ladon::example {

/// Mean of repetitions and its standard error, which is NaN for a single repetition.
Measured estimate(const std::vector<double>& repetitions);

/// P(|t| ≤ t0) for Student's t with whole degrees of freedom ≥ 1, t0 ≥ 0 (Abramowitz and Stegun
/// 1964, 26.7.3 and 26.7.4).
double t_probability(double t0, int degrees_of_freedom);

/// The t0 ≥ 0 for which P(|t| ≤ t0) equals `probability`, a number in [0, 1).
double t_quantile(double probability, int degrees_of_freedom);

enum class Decision { unclear, higher, lower };

/// Result of a two-sided t test of a mean of paired differences at the 5% level. With m comparisons
/// in one table, each is tested at 5%/m (Bonferroni), so that at most one table in twenty contains
/// a false discovery.
struct Difference {
  Measured mean;  ///< Its se is NaN for a single pair.
  std::size_t pairs = 0;
  double interval = 0;    ///< Half-width of the 95% confidence interval, uncorrected.
  double corrected = 0;   ///< Half-width of the interval at 1 − 5%/m, used for the decision.
  double detectable = 0;  ///< True difference that the corrected test finds with a power of 80%.
  Decision decision = Decision::unclear;
};

/// Tests the mean of paired differences, as one of m = `comparisons`. The intervals are infinite
/// for fewer than two pairs.
Difference judge(const std::vector<double>& differences, int comparisons);

}  // namespace ladon::example
