#include "ladon/optim/extra/diagnostics/calibration.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

#include "ladon/autograd/number.h"
#include "ladon/core/error.h"

namespace ladon {
namespace {

constexpr std::int64_t most = 1'000'000;

/// For B ~ Binomial(n, p): the smallest k with P(B ≤ k) > tail, and the smallest k with P(B ≤ k) >
/// 1 − tail.
std::pair<std::int64_t, std::int64_t> binomial_band(std::int64_t n, double p, double tail) {
  double log_term = static_cast<double>(n) * std::log1p(-p), sum = std::exp(log_term);
  std::int64_t k = 0;
  const auto advance_past = [&](double level) {
    while (k < n && sum <= level) {
      log_term += std::log(static_cast<double>(n - k) / static_cast<double>(k + 1) * p / (1 - p));
      sum += std::exp(log_term);
      ++k;
    }
    return k;
  };
  const std::int64_t low = advance_past(tail);
  return {low, advance_past(1 - tail)};
}

}  // namespace

// The p-value Q(degrees/2, statistic/2) is computed by the recursion Q(a + 1, x) = Q(a, x) + x^a
// e^−x/Γ(a + 1) of the regularized upper incomplete gamma function, which starts from Q(½, x) =
// erfc(√x) or Q(1, x) = e^−x. All terms are positive; logarithms avoid overflow and underflow of
// their factors.
double chi_square_p_value(double statistic, std::int64_t degrees) {
  LADON_CHECK(statistic >= 0, "chi_square_p_value", "the statistic is ", statistic,
              "; it must be at least 0");
  LADON_CHECK(degrees >= 1 && degrees <= most, "chi_square_p_value", "there are ", degrees,
              " degrees of freedom; there must be 1 to 1,000,000");
  const double x = statistic / 2;
  if (x == 0) return 1;
  if (std::isinf(x)) return 0;
  const bool odd = degrees % 2 == 1;
  double a = odd ? 0.5 : 1, q = odd ? std::erfc(std::sqrt(x)) : std::exp(-x);
  double log_term = odd ? 0.5 * std::log(4 * x / std::numbers::pi) - x : std::log(x) - x;
  for (; 2 * a < static_cast<double>(degrees); ++a) {
    q += std::exp(log_term);
    log_term += std::log(x / (a + 1));
  }
  return std::min(q, 1.0);
}

RankHistogram::RankHistogram(const RankHistogramOptions& options) : draws_(options.draws) {
  const bool possible = options.quantities >= 1 && options.quantities <= most && draws_ >= 1 &&
                        draws_ <= most && options.quantities * (draws_ + 1) <= 10 * most;
  LADON_CHECK(possible, "RankHistogram", "got ", options.quantities, " quantities and ", draws_,
              " draws; each must be 1 to 1,000,000, and quantities·(draws + 1) at most 10,000,000");
  ranks_.assign(options.quantities, std::vector<std::int64_t>(draws_ + 1));
}

void RankHistogram::add(const Tensor& truth, const Tensor& draws, Generator& rng) {
  const auto quantities = static_cast<std::int64_t>(ranks_.size());
  LADON_CHECK(truth.defined() && truth.shape() == Shape{quantities}, "RankHistogram",
              "the truth must be ", Shape{quantities}, ", got ", detail::shape_in_words(truth));
  const Shape wanted{draws_, quantities};
  LADON_CHECK(draws.defined() && draws.shape() == wanted, "RankHistogram", "the draws must be ",
              wanted, ", got ", detail::shape_in_words(draws));
  const auto t = numbers_of("RankHistogram", truth.detach()),
             x = numbers_of("RankHistogram", draws.detach());
  for (std::int64_t q = 0; q < quantities; ++q)
    LADON_CHECK(!std::isnan(t[q]), "RankHistogram", "the truth of quantity ", q,
                " is NaN; it must be a number");
  for (std::int64_t p = 0; p < draws.count(); ++p)
    LADON_CHECK(!std::isnan(x[p]), "RankHistogram", "draw ", p / quantities, " of quantity ",
                p % quantities, " is NaN; it must be a number");
  for (std::int64_t q = 0; q < quantities; ++q) {
    std::int64_t below = 0, equal = 0;
    for (std::int64_t l = 0; l < draws_; ++l) {
      below += x[l * quantities + q] < t[q];
      equal += x[l * quantities + q] == t[q];
    }
    ++ranks_[q][below + (equal > 0 ? rng.below(equal + 1) : 0)];
  }
  ++count_;
}

const std::vector<std::int64_t>& RankHistogram::ranks(std::int64_t quantity) const& {
  LADON_CHECK(quantity >= 0 && quantity < static_cast<std::int64_t>(ranks_.size()), "RankHistogram",
              "there is no quantity ", quantity, "; quantities count from 0, and their number is ",
              ranks_.size());
  return ranks_[quantity];
}

Uniformity RankHistogram::uniformity(std::int64_t quantity, std::int64_t bins) const {
  const std::vector<std::int64_t>& ranks = this->ranks(quantity);
  LADON_CHECK(
      bins >= 2 && (draws_ + 1) % bins == 0, "RankHistogram", bins, " bins were requested for ",
      draws_ + 1,
      " possible ranks; the number of bins must be at least 2, and divide the number of ranks");
  LADON_CHECK(count_ > 0, "RankHistogram", "no ranks were added; call add() first");
  Uniformity result{.counts = std::vector<std::int64_t>(bins),
                    .chi_square = 0,
                    .p_value = 1,
                    .low = 0,
                    .high = 0,
                    .outside = 0};
  const std::int64_t width = (draws_ + 1) / bins;
  for (std::int64_t r = 0; r <= draws_; ++r) result.counts[r / width] += ranks[r];
  const double share = 1 / static_cast<double>(bins),
               expected = static_cast<double>(count_) * share;
  std::tie(result.low, result.high) = binomial_band(count_, share, 0.005);
  for (const std::int64_t n : result.counts) {
    const double difference = static_cast<double>(n) - expected;
    result.chi_square += difference * difference / expected;
    result.outside += n < result.low || n > result.high;
  }
  result.p_value = chi_square_p_value(result.chi_square, bins - 1);
  return result;
}

}  // namespace ladon
