#pragma once
// Finite networks against their infinitely wide limit.
//
//   const Comparison c = compare(
//       [](const NetworkSize& size, Generator& rng) { return model(size.heads, size.width, rng); },
//       x, {{.size = {.heads = 1, .width = 64}}, {.size = {.heads = 8, .width = 64}}}, rng);
//
// An average over networks has a standard error, and the limit is judged by it: what the mean
// misses the limit by, in standard errors, is of order 1 where they agree and grows with the number
// of networks where they do not. A single network misses by more; how that error falls with width
// says whether, and how fast, networks converge. All of it is about networks at initialization, and
// says nothing about what training makes of them.

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

/// Makes a network of that size with parameters drawn from the generator given.
using SizedFactory = std::function<std::unique_ptr<Layer>(const NetworkSize& size, Generator& rng)>;

struct SweepPoint {
  NetworkSize size;
  std::int64_t draws = 100;  ///< Networks, at least 3.
};

/// One kernel of finite networks against the limit's.
struct Agreement {
  Tensor limit, mean, se;  ///< Of each entry. se is that of the mean, and of a limit that samples.
  double largest_z = 0;    ///< Largest |mean − limit|/se of all entries; of N entries that agree
                           ///< it is about sqrt(2·ln 2N).
  double rms_z = 0;        ///< Root mean square of them: about 1 where mean and limit agree.
  double mean_error = 0;   ///< |mean − limit|/|limit|, Frobenius.
  Measured single_error;   ///< The same of one network instead of the mean, averaged over networks.
};

/// Outputs of finite networks against the limit N(0, K).
struct Gaussianity {
  Measured kurtosis;  ///< Excess, averaged over inputs.
  /// Test of the input whose outputs, standardized by the limit, are farthest from N(0, 1). p_value
  /// allows for the choice of that input (Bonferroni: times the number of inputs).
  KolmogorovSmirnov kolmogorov_smirnov;
  Discrepancy mmd;  ///< Of the outputs for all inputs together.
};

struct ComparisonRow {
  SweepPoint point;
  std::int64_t parameters = 0;  ///< Trained numbers of a network.
  Agreement nngp, ntk;          ///< ntk is empty unless wanted.
  Gaussianity gaussianity;
  Tensor outputs;  ///< [draws, N, C], f64, N counting positions too: what `gaussianity` is of.
  double seconds = 0;
};

/// log(error) = intercept + slope·log(width), fitted to errors with their standard errors.
struct Slope {
  Measured slope;
  double intercept = 0;
};
/// Least squares with weights (error/se)², all equal where an se is zero. The slope is NaN for
/// fewer than two different widths; its se is what the errors' own come to.
Slope fit_slope(const std::vector<double>& widths, const std::vector<Measured>& errors);

struct Comparison {
  std::vector<ComparisonRow> rows;  ///< One a sweep point.
  Slope nngp_slope, ntk_slope;      ///< Of single_error against width, over all rows.
};

struct CompareOptions {
  /// Options of the networks. kernel.channels matters for wide outputs: the NTK costs a backward
  /// pass per channel and position.
  MonteCarloOptions networks = {};
  std::int64_t gaussian_channels = 64;  ///< Outputs kept of each network, at most.
  std::int64_t mmd_samples = 2000;      ///< Vectors that the MMD is computed from, at most.
  GramOptions limit = {};               ///< Options of the limit's computation.
  /// Told as each network is drawn, by one thread at a time.
  std::function<void(const SweepPoint&)> progress = {};
};

/// Draws the networks of each point, each from a split of its own of `rng` (which advances by one
/// block per point), on all threads, and compares them with limit(*make_network(size)). Every
/// network is run once; the same bits at any number of threads. The limit must not depend on the
/// number of heads, or no comparison is meant. Throws Error as limit() and empirical_kernel() do.
Comparison compare(const SizedFactory& make_network, const Inputs& x,
                   const std::vector<SweepPoint>& sweep, const CompareOptions& options,
                   Generator& rng);
inline Comparison compare(const SizedFactory& make_network, const Inputs& x,
                          const std::vector<SweepPoint>& sweep, Generator& rng) {
  return compare(make_network, x, sweep, {}, rng);
}

}  // namespace ladon::infinite
