#pragma once
// Comparison of finite networks with their infinite-width limit.
//
//   const Comparison c = compare(
//       [](const NetworkSize& size, Generator& rng) { return model(size.heads, size.width, rng); },
//       x, {{.size = {.heads = 1, .width = 64}}, {.size = {.heads = 8, .width = 64}}}, rng);
//
// An average over networks has a standard error, by which the limit is judged: the deviation of the
// mean from the limit, in standard errors, is of order 1 if they agree, and grows with the number
// of networks if they do not. A single network deviates by more; the decrease of its error with
// width shows whether, and how fast, networks converge. All this concerns networks at
// initialization, not after training.

#include <functional>
#include <memory>
#include <vector>

#include "ladon/layers/infinite/finite/gaussianity.h"
#include "ladon/layers/infinite/finite/monte_carlo.h"
#include "ladon/layers/infinite/gram/gram.h"

namespace ladon::infinite {

struct NetworkSize {
  std::int64_t heads = 1;
  std::int64_t width = 1;
};

/// Makes a network of that size with parameters drawn from the given generator.
using SizedFactory = std::function<std::unique_ptr<Layer>(const NetworkSize& size, Generator& rng)>;

struct SweepPoint {
  NetworkSize size;
  std::int64_t draws = 100;  ///< Number of networks, at least 3.
};

/// One kernel of finite networks, compared with that of the limit. The figures count only entries
/// whose two positions are both visible, not padding.
struct Agreement {
  /// Limit, mean over networks and standard error of each entry. `se` combines the standard errors
  /// of `mean` and, if it has one, of `limit`.
  Tensor limit, mean, se;
  /// Largest |mean − limit|/se of all entries; about sqrt(2·ln 2N) for N entries that agree.
  double largest_z = 0;
  double rms_z = 0;       ///< Root mean square of the same ratio: about 1 if mean and limit agree.
  double mean_error = 0;  ///< |mean − limit|/|limit|, in Frobenius norms.
  /// Relative error |k − limit|/|limit| of a single network's kernel k, averaged over networks.
  Measured single_error;
};

/// Outputs of finite networks, compared with the limit N(0, K).
struct Gaussianity {
  Measured kurtosis;  ///< Excess kurtosis, averaged over inputs.
  /// Test for the input whose outputs, standardized by the limit, deviate most from N(0, 1).
  /// p_value accounts for the choice of that input (Bonferroni: times the number of inputs).
  KolmogorovSmirnov kolmogorov_smirnov;
  Discrepancy mmd;  ///< MMD of the joint outputs for all inputs.
};

struct ComparisonRow {
  SweepPoint point;
  std::int64_t parameters = 0;  ///< Number of trained scalars in a network.
  Agreement nngp, ntk;          ///< ntk is empty unless requested.
  Gaussianity gaussianity;
  /// [draws, N, C], f64, where N counts visible positions: the samples behind `gaussianity`.
  Tensor outputs;
  double seconds = 0;
};

/// log(error) = intercept + slope·log(width), fitted to errors with their standard errors.
struct Slope {
  Measured slope;
  double intercept = 0;
};
/// Least squares with weights (error/se)², or equal weights if an se is zero. The slope is NaN for
/// fewer than two different widths; its se follows from those of the errors.
Slope fit_slope(const std::vector<double>& widths, const std::vector<Measured>& errors);

struct Comparison {
  std::vector<ComparisonRow> rows;  ///< One per sweep point.
  Slope nngp_slope, ntk_slope;      ///< Slopes of single_error over width, from all rows.
};

struct CompareOptions {
  /// Options of the networks. kernel.channels matters for wide outputs: the NTK costs a backward
  /// pass per channel and position. Leave `draws` at its default (Error otherwise): each SweepPoint
  /// has its own.
  MonteCarloOptions networks = {};
  /// Largest number of outputs kept per network, at least 1.
  std::int64_t gaussian_channels = 64;
  /// Largest number of vectors that the MMD is computed from, at least 3.
  std::int64_t mmd_samples = 2000;
  /// Options of the limit's computation, except for `get`, which networks.kernel.get decides: leave
  /// it at ntk (Error if it is nngp and networks.kernel.get is ntk).
  GramOptions limit = {};
  /// Called for each network drawn, by one thread at a time.
  std::function<void(const SweepPoint&)> progress = {};
};

/// Draws the networks of each point, each from a separate split of `rng` (which advances by one
/// block, Generator::reserve, per point), on all threads, and compares them with
/// limit(*make_network(size)). Every network is run once; results have the same bits with any
/// number of threads. The limit must not depend on the number of heads, or the comparison is
/// meaningless. Masked positions do not count: additional padding changes the figures only by
/// rounding. Throws Error as limit() and empirical_kernel() do, for points of fewer than 3 draws,
/// and if all positions of outputs [N, T, C] are masked.
Comparison compare(const SizedFactory& make_network, const Inputs& x,
                   const std::vector<SweepPoint>& sweep, const CompareOptions& options,
                   Generator& rng);
inline Comparison compare(const SizedFactory& make_network, const Inputs& x,
                          const std::vector<SweepPoint>& sweep, Generator& rng) {
  return compare(make_network, x, sweep, {}, rng);
}

}  // namespace ladon::infinite
