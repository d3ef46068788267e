#pragma once
// How outputs, and what means over networks miss the limit by, are distributed.

#include <vector>

#include "ladon/core/measured.h"
#include "ladon/layers/infinite/finite/compare.h"

namespace ladon::example {

/// The limit's covariance, or any kernel [N, N] or [N, N, T, T], as one matrix over all positions:
/// tokens of the first input, then those of the second, …
Tensor over_positions(const Tensor& kernel);

/// Outputs over the limit's standard deviation, [draws, positions, channels].
Tensor standardized(const infinite::ComparisonRow& row);

/// A density in bins.
struct Histogram {
  std::vector<double> centres, widths;
  std::vector<Measured> density;
};

/// Of standardized outputs. Those of one network depend on each other, so the standard errors are
/// those of a mean over networks.
Histogram outputs_histogram(const infinite::ComparisonRow& row);

/// A density at places: in narrow bins around them.
struct Law {
  std::vector<double> x, density;
};

/// Of the standardized outputs of `model` on x for so many infinitely wide heads with sqrt scaling:
/// the mean over all positions of x of infinite::FiniteHeads::outputs. `limit` [N, N, T, T] is the
/// limit's NNGP; where it is 0 everywhere the law is empty.
Law law_of_heads(const Layer& model, std::int64_t heads, const Tensor& x, const Tensor& limit,
                 Generator& rng);

/// (mean over networks − limit)/standard error, of every different entry of both kernels that has
/// one.
std::vector<double> z_scores(const infinite::ComparisonRow& row);

}  // namespace ladon::example
