#include <cmath>

#include "06_prior/exercises/exercises.h"

using namespace ladon;
using lessons::require;
using lessons::Wrong;

namespace {

Tensor normals_of(const Shape& shape, std::uint64_t seed) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

/// Kernel of attention with one output and no softmax, followed by the mean over positions.
Tensor identity_limit(const Tensor& x, double qk, double vo) {
  Generator rng(1);
  MultiHeadAttentionOptions options = {.dim = x.size(2), .heads = 1, .bias = false};
  options.form.weighting = Weighting::identity;
  options.prior = {.parameterization = Parameterization::ntk};
  options.prior.query_key_std = qk;
  options.prior.value_output_std = vo;
  const Sequential model(MultiHeadAttention(options, rng), MeanPositions());
  return infinite::limit(model)(x, infinite::Get::nngp).nngp;
}

Tensor functions_of(decltype(prior_functions)* yours, const Tensor& kernel, const Tensor& normals) {
  try {
    return yours(kernel, normals);
  } catch (const lapack::NotPositiveDefinite&) {
    throw Wrong(
        "two inputs are equal, so their kernel is singular and has no Cholesky factor; add a tiny "
        "multiple of the identity (jitter) to it");
  }
}

/// Covariance R·Rᵀ of the functions that the student's solution makes. R is found by passing the
/// identity as `normals`: the solution then returns Rᵀ.
Tensor covariance_of(decltype(prior_functions)* yours, const Tensor& kernel) {
  const Tensor rows = functions_of(yours, kernel, eye(kernel.size(0), f64));
  require(rows.defined(), "nothing is returned");
  require(rows.shape() == kernel.shape(),
          detail::join("N rows of normals give functions of shape ", rows.shape(),
                       "; there should be one function per row, ", kernel.shape()));
  return matmul(transpose(rows), rows);
}

/// Mean of a function of z ~ N(0, 1), by the trapezoidal rule.
double mean_over_normals(const std::function<double(double)>& of) {
  double sum = 0, mass = 0;
  for (int i = -6000; i <= 6000; ++i) {
    const double z = 0.002 * i, weight = std::exp(-z * z / 2);
    sum += weight * of(z);
    mass += weight;
  }
  return sum / mass;
}

double logistic(double f) { return 1 / (1 + std::exp(-f)); }

/// Means of P(y = 1) and of its square, for f = mean + scale·z.
std::pair<double, double> moments(double mean, double scale) {
  return {mean_over_normals([&](double z) { return logistic(mean + scale * z); }),
          mean_over_normals([&](double z) { return std::pow(logistic(mean + scale * z), 2); })};
}

}  // namespace

void check_prior_functions(decltype(prior_functions)* yours) {
  const Tensor x = normals_of({5, 2, 3}, 1);
  const Tensor kernel = identity_limit(x, 1, 1);
  const auto check = [&](const std::string& what, const Tensor& k) {
    const Tensor root = lapack::cholesky(k), own = covariance_of(yours, k);
    const Tensor diagonals = eye(k.size(0), f64) * k;
    const Tensor excess = diagonal(own - k), rest = own - k - eye(k.size(0), f64) * (own - k);
    require(amax(abs(rest)).item() > 1e-9 * amax(k).item() ||
                amin(excess).item() < 1e-6 * amax(k).item(),
            "the jitter is too large for this kernel and acts as noise; make it proportional "
            "to the mean of the diagonal");
    lessons::compare(
        what, own, k,
        {{matmul(transpose(root), root),
          "the covariance is Lᵀ·L instead of L·Lᵀ: the triangle is transposed; a row is (L·z)ᵀ"},
         {matmul(k, k),
          "the covariance is K·K: normals are multiplied by the covariance itself "
          "instead of a root of it"},
         {diagonals,
          "values at different inputs are independent: only the variances of the kernel "
          "were used"}},
        1e-6);
  };
  check("the functions' covariance", kernel);
  check("the functions' covariance, of a kernel a million times smaller", 1e-6 * kernel);
  const Tensor normals = normals_of({3, 5}, 2);
  lessons::compare("functions of doubled normals", yours(kernel, 2 * normals),
                   2 * yours(kernel, normals));

  const Tensor twice = concat({x, slice(x, 0, {.stop = 2})}, 0);
  const Tensor f = functions_of(yours, identity_limit(twice, 1, 1), normals_of({4, 7}, 3));
  require(f.defined() && all(isfinite(f)).item<bool>(),
          "functions of a singular kernel are not finite; add a tiny jitter to its diagonal");
  require(amax(abs(select(f, 1, 0) - select(f, 1, 5))).item() < 1e-2,
          "two equal inputs have different values: the jitter is too large");
}

void check_prior_probability(decltype(prior_probability)* yours) {
  const PriorProbability even = yours(0, 1);
  require(std::isfinite(even.mean) && std::abs(even.mean - 0.5) < 1e-6,
          detail::join("a logit of mean 0 is as often positive as negative, so the mean of "
                       "P(y = 1) is 1/2; yours is ",
                       even.mean, ": do the weights of the sum add up to 1?"));
  for (const auto& [mean, variance] :
       {std::pair(0.7, 0.25), {1.5, 4.0}, {-2.0, 9.0}, {0.5, 200.0}}) {
    const std::string of = detail::join("for f ~ N(", mean, ", ", variance, ")");
    const double scale = std::sqrt(variance), slope = logistic(mean) * (1 - logistic(mean));
    const auto [first, second] = moments(mean, scale);
    const auto [wrong_first, wrong_second] = moments(mean, variance);
    const PriorProbability answer = yours(mean, variance);
    lessons::compare(
        "the mean of P(y = 1) " + of, answer.mean, first,
        {{logistic(mean),
          "the probability at the mean logit is not the mean of the probabilities: "
          "average over z, then you have P(y = 1)"},
         {wrong_first, "z is multiplied by the variance; N(mean, variance) is mean + √variance·z"},
         {second, "that is E[P(y = 1)²], not the mean of P(y = 1)"}},
        1e-6);
    const double spread = second - first * first;
    lessons::compare(
        "the standard deviation of P(y = 1) " + of, answer.sd, std::sqrt(spread),
        {{spread, "that is the variance of P(y = 1); the standard deviation is its root"},
         {std::sqrt(second), "the square of the mean is not subtracted: E[p²] − (E p)²"},
         {second, "that is E[P(y = 1)²]; subtract the square of the mean, then take the root"},
         {scale * slope,
          "P(y = 1) was linearized in f: σ'(mean)·√variance holds for "
          "small variances only"},
         {scale, "that is the standard deviation of the logit f, not that of P(y = 1)"},
         {std::sqrt(std::max(0.0, second - std::pow(logistic(mean), 2))),
          "the square of P at the mean logit is subtracted; subtract that of the mean of P"}},
        1e-6);
  }
  const PriorProbability sure = yours(0.7, 0);
  require(
      std::abs(sure.mean - logistic(0.7)) < 1e-6 && sure.sd >= 0 && sure.sd < 1e-6,
      detail::join("at variance 0 all networks agree, so the standard deviation is 0; yours is ",
                   sure.sd));
}

void check_prior_kernel_of(decltype(prior_kernel_of)* yours) {
  const double qk = 1.7, vo = 0.6;
  const Tensor x = normals_of({4, 3, 5}, 4);
  const double t = 3, d = 5;
  const Tensor tokens = reshape(x, {12, 5});
  const Tensor k = reshape(matmul(tokens, transpose(tokens)) / d, {4, 3, 4, 3});
  const Tensor between = mean(k, {1, 3}), square_sum = sum(square(k), {1, 3});
  const Tensor right = identity_limit(x, qk, vo);
  const double scale = qk * qk * vo * vo;
  const Tensor answer = yours(x, qk, vo);
  require(
      !answer.defined() || answer.rank() != 4,
      "that is the kernel of all pairs of tokens; the mean over tokens of both inputs is missing");
  lessons::compare(
      "the kernel", answer, right,
      {{right / (qk * vo),
        "each standard deviation occurs once; a covariance has a factor from "
        "either side, so it grows with σ_qk² and σ_vo²"},
       {right / qk, "σ_qk occurs once: both logits, G(n) and G(m), have a factor σ_qk"},
       {right / vo, "σ_vo occurs once: both outputs, f(n) and f(m), have a factor σ_vo"},
       {right * d * d * d, "k is ⟨x, x'⟩ without its 1/d"},
       {scale * between * sum(k, {1, 3}),
        "Σ k_ij instead of Σ k_ij²: one k_ij comes from the values, another from the keys"},
       {right / (t * t),
        "the sum over i and j is a mean: without a softmax the weights on the keys "
        "do not add up to 1"},
       {right * (t * t), "the sum over a and b should be a mean: the layer averages over tokens"},
       {scale * square_sum,
        "k_ab is missing: the logits of queries a and b are as correlated as "
        "the queries are"},
       {scale * mean(k * k * k, {1, 3}) * (t * t),
        "one pair of tokens serves as queries and as keys: a, b and i, j run independently"}});
  lessons::compare("the kernel of n = 1 input", yours(slice(x, 0, {0, 1}), qk, vo),
                   slice(slice(right, 0, {0, 1}), 1, {0, 1}));
}
