#include "ladon/examples/common/paired.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "ladon/core/error.h"
#include "ladon/examples/common/statistics.h"

namespace ladon::example {
namespace {

using Indices = std::vector<std::int64_t>;

Indices shuffled(const Indices& of, Generator& rng) {
  Indices order;
  for (const double i : permutation(std::ssize(of), rng).to_vector()) order.push_back(of[i]);
  return order;
}

/// Splits the examples in `order`: those at positions [begin, end) are for testing, all others for
/// training; both sorted.
Fold split(const Indices& order, std::int64_t begin, std::int64_t end) {
  Fold fold;
  for (std::int64_t i = 0; i < std::ssize(order); ++i)
    (i >= begin && i < end ? fold.test : fold.train).push_back(order[i]);
  std::sort(fold.train.begin(), fold.train.end());
  std::sort(fold.test.begin(), fold.test.end());
  return fold;
}

/// Two-sided p value of a standard normal statistic z.
double normal_p(double z) { return std::erfc(std::abs(z) / std::numbers::sqrt2); }

void require_a_partition(const std::vector<Fold>& folds, std::size_t questions) {
  std::vector<int> tested(questions, 0);
  for (const Fold& fold : folds)
    for (const std::int64_t q : fold.test) {
      LADON_CHECK(q >= 0 && static_cast<std::size_t>(q) < questions, "contrast",
                  "a fold tests question ", q, ", but the number of questions is ", questions);
      ++tested[q];
    }
  for (std::size_t q = 0; q < questions; ++q)
    LADON_CHECK(tested[q] == 1, "contrast", "question ", q, " is tested ", tested[q],
                " times; every question must be in the test set of one fold");
}

}  // namespace

std::vector<Fold> folds(std::int64_t n, std::int64_t k, Generator& rng) {
  LADON_CHECK(k >= 2 && k <= n, "folds", k, " folds of ", n,
              " examples are not possible; the number of folds must be from 2 to ", n);
  Indices order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  order = shuffled(order, rng);
  std::vector<Fold> all;
  for (std::int64_t i = 0; i < k; ++i) all.push_back(split(order, i * n / k, (i + 1) * n / k));
  return all;
}

Fold inner_fold(const Fold& fold, double share, Generator& rng) {
  const auto tested = std::llround(share * static_cast<double>(fold.train.size()));
  LADON_CHECK(tested > 0, "inner_fold", "a share of ", share, " of ", fold.train.size(),
              " examples leaves none for testing; raise the share");
  LADON_CHECK(tested < std::ssize(fold.train), "inner_fold", "a share of ", share, " of ",
              fold.train.size(), " examples for testing leaves none for training; lower the share");
  return split(shuffled(fold.train, rng), 0, tested);
}

Contrast contrast(const Tensor& arm, const Tensor& base, const std::vector<Fold>& folds) {
  LADON_CHECK(arm.rank() == 2 && arm.shape() == base.shape(), "contrast", "scores have shapes ",
              arm.shape(), " and ", base.shape(), "; both must be [seeds, questions], and equal");
  LADON_CHECK(arm.count() > 0, "contrast", "scores of shape ", arm.shape(),
              " are empty; there must be a seed and a question at least");
  const auto seeds = static_cast<std::size_t>(arm.size(0));
  const auto questions = static_cast<std::size_t>(arm.size(1));
  require_a_partition(folds, questions);
  const std::vector<double> a = arm.to_vector(), b = base.to_vector();
  std::vector<double> of_seed(seeds, 0), of_question(questions, 0), of_fit;
  for (std::size_t s = 0; s < seeds; ++s)
    for (std::size_t q = 0; q < questions; ++q) {
      const double difference = a[s * questions + q] - b[s * questions + q];
      of_seed[s] += difference / static_cast<double>(questions);
      of_question[q] += difference / static_cast<double>(seeds);
    }
  double ratio = 0;  // mean of n_test/n_train over folds
  for (const Fold& fold : folds) {
    const auto tested = static_cast<double>(fold.test.size());
    ratio += tested / static_cast<double>(fold.train.size()) / static_cast<double>(folds.size());
    for (std::size_t s = 0; s < seeds; ++s) {
      double sum = 0;
      for (const std::int64_t q : fold.test) {
        const std::size_t i = s * questions + static_cast<std::size_t>(q);
        sum += a[i] - b[i];
      }
      of_fit.push_back(sum / tested);
    }
  }
  const Measured mean = estimate(of_question);
  const double fits = static_cast<double>(of_fit.size());
  Contrast c{
      .difference = mean.value, .over_seeds = estimate(of_seed).se, .over_questions = mean.se};
  c.corrected = estimate(of_fit).se * std::sqrt(1 + fits * ratio);  // √(variance·(1/J + ratio))
  c.p = c.holm = mean.se > 0 ? normal_p(mean.value / mean.se) : mean.value == 0 ? 1.0 : 0.0;
  c.detectable = (1.959964 + 0.841621) * mean.se;  // quantiles of the normal at 97.5% and 80%
  return c;
}

void correct(std::vector<Contrast>& family) {
  std::vector<std::size_t> order(family.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return family[i].p < family[j].p; });
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    Contrast& c = family[order[rank]];
    largest = std::max(largest, c.p * static_cast<double>(order.size() - rank));
    c.holm = std::min(1.0, largest);
  }
}

}  // namespace ladon::example
