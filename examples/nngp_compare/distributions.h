#pragma once
// Distributions of outputs, and of what means over networks miss the limit by.

#include <vector>

#include "ladon/core/measured.h"
#include "ladon/layers/infinite/finite/compare.h"

namespace ladon::example {

/// The limit's covariance, or any kernel [N, N] or [N, N, T, T], as one matrix over all positions:
/// tokens of the first input, then those of the second, …
Tensor over_positions(const Tensor& kernel);

/// Outputs over the limit's standard deviation, [draws, positions, channels].
Tensor standardized(const infinite::ComparisonRow& row);

struct Bin {
  double centre, width;
  Measured density;
};

/// Of standardized outputs. Those of one network depend on each other, so the standard errors are
/// those of a mean over networks.
std::vector<Bin> histogram(const infinite::ComparisonRow& row);

/// The same, in narrow bins, for infinitely wide heads of sqrt scaling, as many as the row's, in
/// `model`: the mean over all positions of x of infinite::FiniteHeads::outputs.
std::vector<Bin> law_of_outputs(const infinite::ComparisonRow& row, const Layer& model,
                                const Tensor& x, Generator& rng);

/// (mean over networks − limit)/standard error, of every different entry of both kernels that has
/// one.
std::vector<double> z_scores(const infinite::ComparisonRow& row);

}  // namespace ladon::example
