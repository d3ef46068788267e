#include <cmath>

#include "07_posterior/exercises/exercises.h"

using namespace ladon;
using lessons::require;
using lessons::Wrong;

namespace {

Tensor constant(double value, const Shape& shape) { return full(shape, value, f64); }

Tensor normals_of(const Shape& shape, std::uint64_t seed) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

/// Kernel exp(−(s − s')²/2) between two lists of inputs.
Tensor smooth_kernel(const Tensor& a, const Tensor& b) {
  return exp(-0.5 * square(unsqueeze(a, 1) - unsqueeze(b, 0)));
}

void check_pair(decltype(condition_second)* yours, const NormalPair& p, double y, double noise) {
  const GpPrediction right =
      GaussianProcess(constant(p.first_variance, {1, 1}), constant(y - p.first_mean, {1}),
                      {.noise = noise, .jitter = 0})
          .predict(constant(p.covariance, {1, 1}), constant(p.second_variance, {1, 1}));
  const double change = right.mean.item(), variance = right.variance().item();
  const double c = p.covariance / (p.first_variance + noise);
  const double exact = p.covariance / p.first_variance;  // the coefficient if y were f₁
  const NormalNumber answer = yours(p, y, noise);
  lessons::compare(
      "the mean", answer.mean, p.second_mean + change,
      {{p.second_mean + exact * (y - p.first_mean),
        "the noise is forgotten: what varies is y, whose variance is Var f₁ + σ²"},
       {p.second_mean + c * y,
        "the mean of y is not subtracted from y: a y equal to its mean changes nothing"},
       {change, "the prior mean of the second number is missing"},
       {p.second_mean - change,
        "the sign is wrong: with a positive covariance a y above its mean "
        "raises the second number"},
       {p.second_mean + p.covariance / (p.first_variance + std::sqrt(noise)) * (y - p.first_mean),
        "noise is a variance already; its root was added"},
       {p.second_mean + p.covariance / p.second_variance * (y - p.first_mean),
        "the covariance is divided by the variance of the second number, not by that of y"}});
  const double reduction = p.second_variance - variance;
  lessons::compare(
      "the variance", answer.variance, variance,
      {{variance + noise,
        "the noise is added to the variance; that of f₂ itself is required, not of a target"},
       {std::sqrt(variance), "that is the standard deviation; the variance is required"},
       {p.second_variance + reduction,
        "the variance grows; observing y reduces it: the sign of the reduction is wrong"},
       {p.second_variance, "the variance is the prior's; y informs about the second number, too"},
       {p.second_variance - exact * p.covariance,
        "the noise is forgotten in the variance: divide by Var f₁ + σ²"},
       {p.second_variance - c, "the reduction is the covariance squared, divided by Var y"}});
}

struct Regression {
  Tensor kernel, cross, test, targets;
  double noise;
};

void check_regression(decltype(posterior_function)* yours, const Regression& r) {
  const GpPrediction right = GaussianProcess(r.kernel, r.targets, {.noise = r.noise, .jitter = 0})
                                 .predict(r.cross, r.test);
  const std::int64_t n = r.kernel.size(0), m = r.test.size(0);
  const Tensor a = r.kernel + r.noise * eye(n, f64);
  const Tensor root = lapack::cholesky(a), y = unsqueeze(r.targets, 1);
  const auto mean_by = [&](const Tensor& matrix) {
    return flatten(matmul(r.cross, solve(matrix, y)));
  };
  const auto reduction_by = [&](const Tensor& matrix) {
    return matmul(r.cross, solve(matrix, transpose(r.cross)));
  };
  const Tensor bare = r.kernel + 1e-12 * eye(n, f64);
  const Tensor variance = r.noise * eye(m, f64);
  NormalFunction answer;
  try {
    answer = yours(r.kernel, r.cross, r.test, r.targets, r.noise);
  } catch (const lapack::NotPositiveDefinite&) {
    throw Wrong(
        "two inputs are equal, and K alone has no Cholesky factor; K + σ²·I has one: the "
        "noise is forgotten");
  }
  require(answer.mean.defined() && answer.covariance.defined(), "nothing is returned");
  require(answer.mean.shape() != Shape({m, 1}), "the mean is a matrix of one column; flatten it");
  lessons::compare("the mean", answer.mean, flatten(right.mean),
                   {{mean_by(bare),
                     "the noise is forgotten in K + σ²·I: the mean goes through "
                     "every target"},
                    {mean_by(r.kernel + std::sqrt(r.noise) * eye(n, f64)),
                     "noise is a variance already; its root was added to the diagonal"},
                    {mean_by(root), "L⁻¹ is applied once; K*·L⁻¹·y lacks the other half, L⁻ᵀ"},
                    {mean_by(transpose(root)),
                     "L⁻¹ is applied once, and transposed; both K* and y are whitened by L⁻¹"},
                    {flatten(matmul(r.cross, y)), "A⁻¹ is missing"},
                    {-flatten(right.mean), "the sign of the mean is wrong"}});
  require(answer.covariance.shape() != Shape({n, n}),
          "that is a covariance of the training inputs: V·Vᵀ [N, N] instead of Vᵀ·V [M, M]");
  require(answer.covariance.shape() != Shape({m}),
          "these are only variances; the covariance matrix of all test inputs is required");
  lessons::compare(
      "the covariance", answer.covariance, right.covariance,
      {{right.covariance + variance,
        "the noise is added to the covariance; that of f is required, not of new targets"},
       {r.test + reduction_by(a),
        "targets make the variance larger: the sign of the reduction is "
        "wrong"},
       {r.test - reduction_by(bare), "the noise is forgotten in the covariance's K + σ²·I"},
       {r.test - reduction_by(root), "L⁻¹ is applied once in the covariance; take Vᵀ·V"},
       {r.test, "the covariance is the prior's; the targets have taught nothing"},
       {sqrt(maximum(right.covariance, scalar(0, f64))),
        "this is the root of each element; the covariance itself is required"}},
      1e-8);
}

/// Moments of f under given weights, by the formulas without protection from overflow.
struct Moments {
  Tensor mean, within, between, weights;
};
Moments moments_of(const Tensor& weights, const Tensor& means, const Tensor& variances) {
  const Tensor w = unsqueeze(weights, 0);
  const Tensor average = flatten(matmul(w, means));
  return {average, flatten(matmul(w, variances)),
          flatten(matmul(w, square(means))) - square(average), weights};
}

void check_weights(decltype(weigh_draws)* yours, const Tensor& l, const Tensor& means,
                   const Tensor& variances) {
  const auto draws = static_cast<double>(l.count());
  const double z = logsumexp(l).item();
  const Moments right = moments_of(softmax(l, 0), means, variances);
  const Moments even = moments_of(constant(1 / draws, l.shape()), means, variances);
  const WeightedPosterior answer = yours(l, means, variances);
  lessons::compare("the mean", answer.mean, right.mean,
                   {{even.mean,
                     "all draws count equally: this is the prior's average, and the "
                     "likelihoods are not used"},
                    {right.mean * std::exp(z), "the weights do not sum to 1"},
                    {right.mean * std::exp(z) / draws,
                     "the weights do not sum to 1: divide by the sum of the likelihoods, not by S"},
                    {moments_of(l / sum(l), means, variances).mean,
                     "the weights are the logarithms of the likelihoods; take exp first"}});
  const Tensor variance = right.within + right.between;
  lessons::compare(
      "the variance", answer.variance, variance,
      {{right.within,
        "the draws' means differ, and that is uncertainty too: Var E[f | z] is missing"},
       {right.between, "the variance of f given each draw is missing: E[Var(f | z)]"},
       {right.within + even.between, "the spread of the means is not weighted"},
       {right.within + right.between + square(right.mean),
        "the square of the mean is not subtracted: E[m²] − (E m)²"},
       {sqrt(variance), "that is the standard deviation"}});
  const double squares = sum(square(right.weights)).item();
  lessons::compare(
      "the effective number of draws", answer.effective_size, 1 / squares,
      {{1, "1/Σw is 1 for every set of weights; the variance of Σ w·term is Σ w²"},
       {squares, "that is Σw²; the effective number is its inverse"},
       {1 / std::sqrt(squares), "that is the root of the effective number"},
       {1 / (squares * draws), "that is the effective number divided by S; do not divide"}});
  lessons::compare("the log evidence", answer.log_evidence, z - std::log(draws),
                   {{z, "the evidence is the mean of the likelihoods over draws, not their sum"},
                    {mean(l).item(),
                     "that is the mean of the logarithms; the logarithm of the mean "
                     "is required"},
                    {std::log(mean(exp(l - amax(l))).item()),
                     "the number that was subtracted from all logarithms has to be added again"}});
}

}  // namespace

void check_condition_second(decltype(condition_second)* yours) {
  check_pair(yours, {0.4, -1.1, 1.7, 2.3, 0.9}, 1.6, 0.3);
  check_pair(yours, {-0.5, 0.2, 0.8, 1.9, -1.1}, -2.0, 0.05);
  const NormalNumber alone = yours({0, 3, 1, 2, 0}, 5, 0.1);
  require(alone.mean == 3 && alone.variance == 2,
          "without covariance the target says nothing: mean and variance remain the prior's");
  const NormalNumber exact = yours({0, 0, 1, 1, 1}, 5, 0);
  require(std::abs(exact.mean - 5) < 1e-12 && std::abs(exact.variance) < 1e-12,
          "if f₂ equals f₁, and y is without noise, f₂ is known: its mean is y, its variance 0");
}

void check_posterior_function(decltype(posterior_function)* yours) {
  const auto regression = [&](const Tensor& train, const Tensor& test, double noise) {
    return Regression{smooth_kernel(train, train), smooth_kernel(test, train),
                      smooth_kernel(test, test), normals_of(train.shape(), 5), noise};
  };
  check_regression(
      yours, regression(tensor({-2, -0.7, 0.4, 1.9}, f64), tensor({-1.2, 0.1, 4}, f64), 0.05));
  check_regression(yours,
                   regression(tensor({0.3, 0.3, 1.5}, f64), tensor({-1, 0, 0.3, 2, 3}, f64), 0.2));
}

void check_weigh_draws(decltype(weigh_draws)* yours) {
  const Tensor l = 1.3 * normals_of({6}, 6) - 1, means = normals_of({6, 3}, 7);
  const Tensor variances = exp(normals_of({6, 3}, 8));
  check_weights(yours, l, means, variances);

  const WeightedPosterior equal = yours(constant(-3, {6}), means, variances);
  require(std::abs(equal.effective_size - 6) < 1e-9,
          detail::join("six equal weights are six draws; your effective number is ",
                       equal.effective_size));
  for (const double shift : {-800.0, 800.0}) {
    const WeightedPosterior far = yours(l + shift, means, variances);
    require(all(isfinite(far.mean)).item<bool>() && std::isfinite(far.effective_size) &&
                std::isfinite(far.log_evidence),
            detail::join("log likelihoods near ", shift,
                         " give numbers that are not finite: exp under- or overflows; subtract "
                         "the largest logarithm before exp"));
    lessons::compare(detail::join("the mean, with all log likelihoods shifted by ", shift),
                     far.mean, yours(l, means, variances).mean);
    lessons::compare(detail::join("the log evidence, all log likelihoods shifted by ", shift),
                     far.log_evidence, logsumexp(l).item() - std::log(6) + shift);
  }
  // Only the largest log likelihood may be subtracted, not the first, the mean, the median or the
  // smallest.
  for (const double gap : {-2000.0, 2000.0}) {
    Tensor uneven = clone(l);
    fill_(at(uneven, {0}), amax(l).item() + gap);
    const WeightedPosterior answer = yours(uneven, means, variances);
    const std::string what = detail::join("with a first log likelihood ", std::abs(gap),
                                          gap < 0 ? " below" : " above", " the largest other");
    require(all(isfinite(answer.mean)).item<bool>() &&
                all(isfinite(answer.variance)).item<bool>() &&
                std::isfinite(answer.effective_size) && std::isfinite(answer.log_evidence),
            what + " a result is not finite: only the largest of all logarithms may be subtracted");
    const Moments right = moments_of(softmax(uneven, 0), means, variances);
    lessons::compare("the mean, " + what, answer.mean, right.mean);
    lessons::compare("the variance, " + what, answer.variance, right.within + right.between);
    lessons::compare("the effective number of draws, " + what, answer.effective_size,
                     1 / sum(square(right.weights)).item());
    lessons::compare("the log evidence, " + what, answer.log_evidence,
                     logsumexp(uneven).item() - std::log(6));
  }

  // A linear model f = φᵀθ with the latent variables θ: given θ, f is known; otherwise f is a
  // Gaussian process, whose posterior is known exactly.
  const Tensor phi = normals_of({5, 3}, 9), y = tensor({0.3, -0.4}, f64);  // 2 targets, 3 tests
  const Tensor f = matmul(normals_of({20000, 3}, 10), transpose(phi));
  const double noise = 0.5;
  const Tensor misfit = sum(square(slice(f, 1, {0, 2}) - y), 1) / (2 * noise);
  const Tensor tests = slice(f, 1, {2, 5}), k = matmul(phi, transpose(phi));
  const GpPrediction gp =
      GaussianProcess(slice(slice(k, 0, {0, 2}), 1, {0, 2}), y, {.noise = noise, .jitter = 0})
          .predict(slice(slice(k, 0, {2, 5}), 1, {0, 2}), slice(slice(k, 0, {2, 5}), 1, {2, 5}));
  const WeightedPosterior by_draws = yours(-misfit, tests, zeros(tests.shape(), f64));
  const Tensor se = sqrt(matmul(square(softmax(-misfit, 0)), square(tests - by_draws.mean)));
  const double worst = amax(abs(by_draws.mean - flatten(gp.mean)) / se).item();
  require(worst < 4.5, detail::join("weights of a linear model are off its exact Gaussian process "
                                    "by ",
                                    worst, " standard errors"));
}
