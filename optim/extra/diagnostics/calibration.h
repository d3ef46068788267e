#pragma once
// Simulation-based calibration: tests whether a sampler draws from the posterior of its model.
//
// Draw θ (the truth) from the prior and data from the model at θ. Draws from the posterior given
// these data are then exchangeable with θ itself, so the rank of θ among L independent posterior
// draws is uniform on 0 … L, in every coordinate and for every model. (Talts, Betancourt, Simpson,
// Vehtari and Gelman 2018, "Validating Bayesian inference algorithms with simulation-based
// calibration".)
//
//   RankHistogram ranks({.quantities = 2, .draws = 99});
//   for (int i = 0; i < 500; ++i) {
//     const Tensor truth = prior(rng);                  // [2]
//     const Tensor data = model(truth, rng);
//     ranks.add(truth, posterior(data, 99, rng), rng);  // [99, 2]
//   }
//   ranks.uniformity(0, 20).p_value;

#include <cstdint>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// Comparison of a histogram of ranks with the uniform distribution.
struct Uniformity {
  std::vector<std::int64_t> counts;  ///< Count of each bin.
  double chi_square;                 ///< Σ (count − n/bins)²/(n/bins) over bins, for n ranks.
  double p_value;  ///< Probability that χ² exceeds chi_square if ranks are uniform, with bins − 1
                   ///< degrees of freedom.
  /// If ranks are uniform, the count of a bin is in [low, high] with probability ≥ 99% (quantiles
  /// of Binomial(n, 1/bins)).
  std::int64_t low, high;
  std::int64_t outside;  ///< Number of bins whose count is outside [low, high]: at most about 1% of
                         ///< all bins if ranks are uniform.
};

struct RankHistogramOptions {
  std::int64_t quantities = 1;  ///< Number of scalars per truth, each with a separate histogram.
  std::int64_t draws = 99;      ///< L: posterior draws per truth, 1 to 1,000,000.
};

/// Ranks of truths among posterior draws, one histogram per quantity. The shape of a histogram
/// shows the error of a sampler: a hump in the middle means that the sampler's posterior is too
/// wide, a valley (mass at both ends) that it is too narrow, a slope that it is biased.
class RankHistogram {
 public:
  /// Throws Error for sizes out of range.
  explicit RankHistogram(const RankHistogramOptions& options);

  /// Adds the ranks #{l : draw_l < truth} of one truth [quantities] among draws [L, quantities].
  /// Draws equal to the truth are ranked below or above it at random, which keeps ranks uniform for
  /// discrete quantities too; `rng` is used only for these ties. Correlated draws (from a Markov
  /// chain) give a valley even if the sampler is correct: thin them to L draws with little
  /// autocorrelation. Throws Error, and adds nothing, for other shapes and for NaN.
  void add(const Tensor& truth, const Tensor& draws, Generator& rng);

  /// n, the number of calls of add().
  std::int64_t count() const { return count_; }
  /// Counts [L + 1] of the ranks 0 … L of one quantity.
  const std::vector<std::int64_t>& ranks(std::int64_t quantity) const&;
  std::vector<std::int64_t> ranks(std::int64_t quantity) && { return ranks(quantity); }
  /// Compares the ranks of one quantity, in `bins` bins of equal width, with the uniform
  /// distribution. The p-value assumes a χ² distribution, which requires an expected count of at
  /// least 5 per bin. Throws Error unless bins ≥ 2, bins divides L + 1, and add() was called.
  Uniformity uniformity(std::int64_t quantity, std::int64_t bins) const;

 private:
  std::int64_t draws_, count_ = 0;
  std::vector<std::vector<std::int64_t>> ranks_;  // [quantities][L + 1]
};

/// P(χ² > statistic) for a χ² distribution with `degrees` degrees of freedom: Q(degrees/2,
/// statistic/2), the regularized upper incomplete gamma function. Throws Error for degrees outside
/// [1, 1,000,000] and for a statistic that is NaN or negative.
double chi_square_p_value(double statistic, std::int64_t degrees);

}  // namespace ladon
