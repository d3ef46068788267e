#pragma once
// Is a difference real? Paired comparisons, and what so few repetitions can see at all.

#include <vector>

#include "ladon/core/measured.h"

namespace ladon::example {

/// The mean of what is repeated, and its standard error, which is not known from one repetition.
Measured estimate(const std::vector<double>& repetitions);

/// P(|t| ≤ t0) for Student's t with whole degrees of freedom ≥ 1, t0 ≥ 0 (Abramowitz and Stegun
/// 1964, 26.7.3 and 26.7.4).
double t_probability(double t0, int degrees_of_freedom);

/// The t0 with P(|t| ≤ t0) = probability, in [0, 1).
double t_quantile(double probability, int degrees_of_freedom);

enum class Decision { unclear, higher, lower };

/// A mean of paired differences under a two-sided t test at 5%. Of m comparisons of one table, each
/// is tested at 5%/m (Bonferroni): that any of them is called a difference without being one
/// then happens in at most one table of twenty.
struct Difference {
  Measured mean;  ///< NaN se for a single pair.
  std::size_t pairs = 0;
  double interval = 0;    ///< Half the width of the 95% interval of this comparison by itself.
  double corrected = 0;   ///< The same at 1 − 5%/m: what decides.
  double detectable = 0;  ///< True difference that would be found in four tables of five.
  Decision decision = Decision::unclear;
};

/// Infinite intervals for fewer than two pairs.
Difference judge(const std::vector<double>& differences, int comparisons);

}  // namespace ladon::example
