#include "ladon/optim/posterior/belief.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {
namespace {

constexpr const char* operation = "score_belief";

/// Distribution of a noisy target at one input: a mixture of normal distributions with equal
/// weights.
struct Mixture {
  Tensor means, stddevs;  ///< [S]

  Mixture(const Belief& belief, std::int64_t input, double noise)
      : means(contiguous(select(belief.means, 1, input))),
        stddevs(contiguous(sqrt(select(belief.variances, 1, input) + noise))) {}

  double cdf(double y) const {
    const double *m = means.data<double>(), *sd = stddevs.data<double>();
    double sum = 0;
    for (std::int64_t s = 0; s < means.count(); ++s)
      sum += std::erfc((m[s] - y) / sd[s] / std::numbers::sqrt2);
    return 0.5 * sum / static_cast<double>(means.count());
  }
  /// Log density at the points y [P], computed 16 points at a time, so that [16, S] fits in the
  /// cache.
  Tensor log_density(const Tensor& y) const {
    const double log_norm = std::log(2 * std::numbers::pi) / 2 + std::log(means.count());
    const Tensor heights = log(stddevs) + log_norm;
    std::vector<Tensor> parts;
    for (const Tensor& points : split(unsqueeze(y, 1), 16, 0))
      parts.push_back(logsumexp(-0.5 * square((points - means) / stddevs) - heights, 1));
    return concat(parts, 0);
  }
  /// Interval that contains all but 2e-9 of the probability.
  std::pair<double, double> range() const {
    return {number_of("score_belief", amin(means - 6 * stddevs)),
            number_of("score_belief", amax(means + 6 * stddevs))};
  }
  double quantile(double p) const {
    auto [low, high] = range();
    while (high - low > 1e-10 * (std::abs(low) + std::abs(high))) {
      const double middle = 0.5 * (low + high);
      if (middle == low || middle == high) break;
      (cdf(middle) < p ? low : high) = middle;
    }
    return 0.5 * (low + high);
  }
};

double coverage(const Mixture& belief, const Mixture& truth, double level) {
  return truth.cdf(belief.quantile(0.5 + level / 2)) - truth.cdf(belief.quantile(0.5 - level / 2));
}

/// ∫ p(y)·(ln q(y) − ln p(y)) dy, where q is the density of `belief` and p that of `truth`.
double expected_log_ratio(const Mixture& belief, const Mixture& truth) {
  constexpr int points = 400;
  const auto [low, high] = truth.range();
  const double step = (high - low) / points;
  const Tensor y = low + step * arange(0, points + 1, 1, f64), p = truth.log_density(y);
  const Tensor terms = exp(p) * (belief.log_density(y) - p);
  return step * number_of("score_belief", sum(where(less(p, -700), scalar(0, f64), terms)));
}

/// Symmetric square root A^½ of a positive semidefinite A.
Tensor root(const Tensor& a) {
  const auto [values, vectors] = lapack::eigh(a);
  return matmul(vectors * sqrt(maximum(values, scalar(0, f64))), transpose(vectors));
}

/// Throws Error unless the members of a belief about M inputs are finite and their shapes agree,
/// and unless its covariance is positive semidefinite up to rounding.
void check(const std::string& what, const Belief& b, std::int64_t m) {
  kernel_blocks::target_block(operation, what + "'s mean", b.mean, m);
  const Tensor c = kernel_blocks::symmetric_block(operation, what + "'s covariance", b.covariance);
  LADON_CHECK(c.size(0) == m, operation, what, "'s covariance must be [", m, ", ", m, "], got ",
              c.shape());
  kernel_blocks::cross_block(operation, what + "'s means", b.means, -1, m);
  LADON_CHECK(b.means.size(0) >= 1, operation, what, " has no components: its means are ",
              b.means.shape());
  const Tensor v =
      kernel_blocks::cross_block(operation, what + "'s variances", b.variances, b.means.size(0), m);
  const double least = number_of(operation, amin(v));
  LADON_CHECK(least >= 0, operation, what, " has a component of variance ", least,
              "; variances must not be negative");
  const Tensor values = lapack::eigenvalues(c);
  const double lowest = number_of(operation, amin(values)),
               largest = number_of(operation, amax(abs(values)));
  LADON_CHECK(lowest >= -1e-6 * largest, operation, what,
              "'s covariance is not positive semidefinite: its smallest eigenvalue is ", lowest,
              ", and its largest absolute eigenvalue is ", largest);
}

double trace(const Tensor& a) { return number_of("score_belief", sum(diagonal(a))); }

double wasserstein(const Belief& a, const Belief& b) {
  const Tensor half = root(b.covariance);
  const Tensor between = lapack::eigenvalues(matmul(matmul(half, a.covariance), half));
  const double apart = number_of("score_belief", sum(square(a.mean - b.mean))),
               shared = number_of("score_belief", sum(sqrt(maximum(between, scalar(0, f64)))));
  return std::sqrt(std::max(0.0, apart + trace(a.covariance) + trace(b.covariance) - 2 * shared));
}

void check_output(const char* caller, std::int64_t output, std::int64_t count) {
  LADON_CHECK(output >= 0 && output < count, caller, "there is no output ", output,
              "; outputs are numbered from 0, and there are ", count);
}

}  // namespace

Belief belief_of_draws(const Tensor& values) {
  const NoGrad off;
  LADON_CHECK(values.defined() && values.rank() == 2 && values.size(0) >= 2 && values.size(1) >= 1,
              "belief_of_draws", "draws must be [S ≥ 2, M], got ", detail::shape_in_words(values));
  const Tensor x =
      kernel_blocks::cross_block("belief_of_draws", "the draws", values, -1, values.size(1));
  const Tensor m = mean(x, 0), apart = x - m;
  return {m, matmul(transpose(apart), apart) / static_cast<double>(x.size(0) - 1), x,
          zeros(x.shape(), f64)};
}

Belief belief_of(const GpPrediction& prediction, std::int64_t output) {
  const NoGrad off;
  LADON_CHECK(prediction.covariance.defined() && prediction.covariance.rank() == 2, "belief_of",
              "the prediction has no covariance [M, M], which a belief needs; pass predict() a "
              "test kernel [M, M]");
  check_output("belief_of", output, prediction.mean.size(1));
  const Tensor m = clone(select(prediction.mean, 1, output));
  return {m, prediction.covariance, unsqueeze(m, 0),
          unsqueeze(clone(diagonal(prediction.covariance)), 0)};
}

Belief belief_of(const LatentPosterior& posterior, std::int64_t output) {
  const NoGrad off;
  check_output("belief_of", output, posterior.mean.size(1));
  constexpr std::int64_t most = 2000;
  const std::int64_t step = (posterior.means.size(0) + most - 1) / most;
  const Tensor means = select(posterior.means, 2, output);
  return {clone(select(posterior.mean, 1, output)), posterior.covariance(output),
          contiguous(slice(means, 0, {.step = step})),
          contiguous(slice(posterior.variances, 0, {.step = step}))};
}

BeliefScore score_belief(const Belief& belief, const Belief& truth, double noise) {
  const NoGrad off;
  LADON_CHECK(std::isfinite(noise) && noise > 0, operation, "the noise is ", noise,
              "; it must be positive and finite");
  LADON_CHECK(belief.mean.defined() && truth.mean.defined() && truth.mean.rank() == 1 &&
                  truth.mean.size(0) >= 1 && belief.mean.shape() == truth.mean.shape(),
              operation,
              "belief and truth must have means [M] for the same M ≥ 1 test inputs, got shapes ",
              detail::shape_in_words(belief.mean), " and ", detail::shape_in_words(truth.mean));
  const std::int64_t m = truth.mean.size(0);
  check("the belief", belief, m);
  check("the truth", truth, m);
  BeliefScore score;
  const Tensor deviation = (belief.mean - truth.mean) / sqrt(diagonal(truth.covariance));
  score.mean_error = std::sqrt(number_of("score_belief", mean(square(deviation))));
  score.variance_ratio = trace(belief.covariance) / trace(truth.covariance);
  score.w2 = wasserstein(belief, truth) / std::sqrt(trace(truth.covariance));
  std::vector<BeliefScore> each(m);
  parallel::for_range(m, 1, [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) {
      const Mixture own(belief, i, noise), exact(truth, i, noise);
      BeliefScore& of = each[i];
      of.coverage50 = coverage(own, exact, 0.5);
      of.coverage90 = coverage(own, exact, 0.9);
      of.log_density = expected_log_ratio(own, exact);
    }
  });
  for (const BeliefScore& of : each) {
    score.coverage50 += of.coverage50 / static_cast<double>(m);
    score.coverage90 += of.coverage90 / static_cast<double>(m);
    score.log_density += of.log_density / static_cast<double>(m);
  }
  return score;
}

}  // namespace ladon
