#pragma once
// Is a difference real? Paired comparisons, and the smallest difference that so few can detect.

#include <vector>

#include "ladon/core/measured.h"

namespace ladon::example {

/// Mean of repetitions and its standard error, which is NaN for a single repetition.
Measured estimate(const std::vector<double>& repetitions);

/// P(|t| ≤ t0) for Student's t with whole degrees of freedom ≥ 1, t0 ≥ 0 (Abramowitz and Stegun
/// 1964, 26.7.3 and 26.7.4).
double t_probability(double t0, int degrees_of_freedom);

/// The t0 ≥ 0 with P(|t| ≤ t0) = probability, in [0, 1).
double t_quantile(double probability, int degrees_of_freedom);

enum class Decision { unclear, higher, lower };

/// A mean of paired differences under a two-sided t test at 5%. With m comparisons in one table,
/// each is tested at 5%/m (Bonferroni), so that at most one table in twenty contains a false
/// discovery.
struct Difference {
  Measured mean;  ///< Its se is NaN for a single pair.
  std::size_t pairs = 0;
  double interval = 0;    ///< Half-width of the 95% interval of this comparison alone.
  double corrected = 0;   ///< The same at 1 − 5%/m, on which the decision rests.
  double detectable = 0;  ///< True difference that would be found in four tables of five.
  Decision decision = Decision::unclear;
};

/// Judges a mean difference; the intervals are infinite for fewer than two pairs.
Difference judge(const std::vector<double>& differences, int comparisons);

}  // namespace ladon::example
