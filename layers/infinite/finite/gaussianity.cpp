#include "ladon/layers/infinite/finite/gaussianity.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"

namespace ladon::infinite {
namespace {

/// Jackknife estimate of a statistic of n draws, with its standard error, from its value for `all`
/// draws and its values with each draw left out (Efron 1982).
Measured jackknife(double all, const std::vector<double>& left_out) {
  const auto n = static_cast<double>(left_out.size());
  double mean = 0, squares = 0;
  for (const double x : left_out) mean += x / n;
  for (const double x : left_out) squares += (x - mean) * (x - mean);
  return {n * all - (n - 1) * mean, std::sqrt((n - 1) / n * squares)};
}

/// x/2^k, where k brings the largest |x| over `axes` near 1. For statistics that do not depend on
/// the scale, but whose powers of x may leave the range of f64.
Tensor near_one(const Tensor& x, const Axes& axes) {
  const Tensor largest = amax(abs(x), axes, keep_dims);
  std::vector<double> factors = numbers_of("gaussianity", largest);
  for (double& v : factors)
    v = v > 0 && std::isfinite(v) ? std::ldexp(1, -std::max(std::ilogb(v), -1000)) : 1;
  return x * reshape(from_vector(factors, {largest.count()}), largest.shape());
}

}  // namespace

// --- excess kurtosis ---

Measured excess_kurtosis(const Tensor& samples) {
  LADON_CHECK(samples.rank() == 3 && samples.size(0) >= 3, "excess_kurtosis",
              "samples must be [draws, N, C] with at least 3 draws, got ",
              ladon::detail::shape_in_words(samples));
  const NoGrad off;
  const Tensor squares = square(near_one(cast(samples, f64), {0, 2}));
  const auto second = numbers_of("gaussianity", mean(squares, 2));  // [draws, N]
  const auto fourth = numbers_of("gaussianity", mean(square(squares), 2));
  const auto draws = static_cast<std::size_t>(samples.size(0));
  const auto inputs = static_cast<std::size_t>(samples.size(1));
  std::vector<double> m2(inputs, 0), m4(inputs, 0);
  for (std::size_t i = 0; i < draws * inputs; ++i) {
    m2[i % inputs] += second[i];
    m4[i % inputs] += fourth[i];
  }
  // Excess kurtosis m4/m2² − 3, averaged over inputs, from sums over `count` draws: all draws, or
  // all except one, whose terms are less2 and less4.
  const auto statistic = [&](double count, const double* less2, const double* less4) {
    double total = 0;
    for (std::size_t n = 0; n < inputs; ++n) {
      const double b = m2[n] - (less2 ? less2[n] : 0), a = m4[n] - (less4 ? less4[n] : 0);
      total += b > 0 ? count * a / (b * b) - 3 : 0;
    }
    return total / static_cast<double>(inputs);
  };
  std::vector<double> left_out(draws);
  const auto n = static_cast<double>(draws);
  for (std::size_t i = 0; i < draws; ++i)
    left_out[i] = statistic(n - 1, second.data() + i * inputs, fourth.data() + i * inputs);
  return jackknife(statistic(n, nullptr, nullptr), left_out);
}

double identity_kurtosis(const Tensor& keys, const Tensor& values, const AttentionWidths& widths) {
  LADON_CHECK(keys.rank() == 2 && keys.size(0) == keys.size(1) && keys.shape() == values.shape(),
              "identity_kurtosis", "both kernels must be [T, T], got shapes ", keys.shape(),
              " and ", values.shape());
  LADON_CHECK(widths.heads > 0, "identity_kurtosis", "heads must be positive, got ", widths.heads);
  LADON_CHECK(widths.key_width > 0 && widths.value_width > 0 && widths.readout_width > 0,
              "identity_kurtosis",
              "widths must be positive (∞ is the default), got key_width = ", widths.key_width,
              ", value_width = ", widths.value_width, ", readout_width = ", widths.readout_width);
  const NoGrad off;
  const Tensor product =
      matmul(near_one(cast(keys, f64), {0, 1}), near_one(cast(values, f64), {0, 1}));
  const double trace = number_of("gaussianity", sum(diagonal(product)));
  const double rho = number_of("gaussianity", sum(product * transpose(product))) / (trace * trace);
  const double of_one = (1 + 2 / widths.key_width) * (1 + 2 / widths.value_width) * (1 + 2 * rho);
  const double of_all = 1 + (of_one - 1) / static_cast<double>(widths.heads);
  return 3 * ((1 + 2 / widths.readout_width) * of_all - 1);
}

Measured head_kurtosis(const std::function<Tensor(const Tensor&)>& zeta, double qk_std,
                       const Tensor& keys, const Tensor& values, const Tensor& readout,
                       std::int64_t heads, std::int64_t samples, Generator& rng) {
  LADON_CHECK(zeta, "head_kurtosis",
              "ζ is an empty function; pass one that maps logits to weights");
  LADON_CHECK(samples >= 3 && heads > 0, "head_kurtosis",
              "needs at least 1 head and 3 samples, got ", heads, " and ", samples);
  const NoGrad off;
  const std::int64_t tokens = keys.size(0);
  const Tensor k = cast(keys, f64), w = reshape(cast(readout, f64), {1, 1, tokens});
  // G = qk·R·Z·Rᵀ with the symmetric square root R of k, which may be singular.
  const auto [eigenvalues, vectors] = lapack::eigh(k);
  const Tensor root = matmul(vectors * sqrt(relu(eigenvalues)), transpose(vectors));
  const Tensor z = normal({samples, tokens, tokens}, rng, 0, qk_std, f64);
  const Tensor row = matmul(w, zeta(matmul(matmul(root, z), root)));  // [S, 1, T]
  const Tensor variances = sum(matmul(row, cast(values, f64)) * row, {1, 2});
  // Var q/(E q)² = E q²/(E q)² − 1 has the form of a kurtosis, of "outputs" sqrt(q).
  Measured ratio = excess_kurtosis(reshape(sqrt(relu(variances)), {samples, 1, 1}));
  const double scale = 3 / static_cast<double>(heads);
  return {scale * (ratio.value + 2), scale * ratio.se};
}

// --- Kolmogorov and Smirnov ---

KolmogorovSmirnov kolmogorov_smirnov(const Tensor& samples, double stddev) {
  LADON_CHECK(stddev > 0, "kolmogorov_smirnov", "needs a positive standard deviation, got ",
              stddev);
  return kolmogorov_smirnov(
      samples, [=](double x) { return 0.5 * std::erfc(-x / (stddev * std::numbers::sqrt2)); });
}

KolmogorovSmirnov kolmogorov_smirnov(const Tensor& samples,
                                     const std::function<double(double)>& cdf) {
  LADON_CHECK(cdf, "kolmogorov_smirnov",
              "the distribution function is empty; pass one that maps a number to a probability");
  LADON_CHECK(samples.rank() == 1 && samples.size(0) > 0, "kolmogorov_smirnov",
              "needs samples [n], got shape ", samples.shape());
  auto x = numbers_of("gaussianity", samples.detach());
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  double distance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = cdf(x[i]), below = static_cast<double>(i);
    distance = std::max({distance, expected - below / n, (below + 1) / n - expected});
  }
  return {distance, kolmogorov_p_value(distance, samples.size(0)), samples.size(0)};
}

double kolmogorov_p_value(double distance, std::int64_t n) {
  const double root = std::sqrt(static_cast<double>(n));
  const double x = (root + 0.12 + 0.11 / root) * distance;
  if (x <= 0) return 1;
  double sum = 0;
  if (x < 1) {  // another series of the same function, which converges here
    for (int k = 1; k <= 19; k += 2)
      sum += std::exp(-k * k * std::numbers::pi * std::numbers::pi / (8 * x * x));
    return 1 - std::sqrt(2 * std::numbers::pi) / x * sum;
  }
  for (int k = 1; k <= 10; ++k) sum += (k % 2 ? 2 : -2) * std::exp(-2.0 * k * k * x * x);
  return std::clamp(sum, 0.0, 1.0);
}

double kolmogorov_critical(double p_value, std::int64_t n) {
  LADON_CHECK(p_value > 0 && p_value < 1 && n > 0, "kolmogorov_critical",
              "needs 0 < p < 1 and n ≥ 1, got p = ", p_value, " and n = ", n);
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (kolmogorov_p_value(middle, n) > p_value ? low : high) = middle;
  }
  return (low + high) / 2;
}

// --- maximum mean discrepancy ---

namespace {

/// The power |I + factor·K/h²|^(−1/2) of a determinant, for a covariance K and a bandwidth h.
double root_determinant(const Tensor& k, double h2, double factor) {
  const Tensor l = lapack::cholesky(eye(k.size(0), f64) + k * (factor / h2));
  return std::exp(-number_of("gaussianity", sum(log(diagonal(l)))));
}

/// E_y k(x_i, y) = |I + K/h²|^(−1/2)·exp(−½ xᵀ(K + h²I)⁻¹x) for each row x.  → [n]
Tensor expected_kernel(const Tensor& x, const Tensor& k, double h2) {
  const Tensor l = lapack::cholesky(k + h2 * eye(k.size(0), f64));
  const Tensor white = lapack::solve_triangular(l, contiguous(transpose(x)));
  return root_determinant(k, h2, 1) * exp(-0.5 * sum(square(white), 0));
}

/// Σ_{j≠i} k(x_i, x_j) for each row x_i of x.
std::vector<double> kernel_sums(const Tensor& x, double h2) {
  const auto n = static_cast<std::size_t>(x.size(0)), d = static_cast<std::size_t>(x.size(1));
  const auto values = numbers_of("gaussianity", x);
  std::vector<double> sums(n, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      double squared = 0;
      for (std::size_t c = 0; c < d; ++c) {
        const double difference = values[i * d + c] - values[j * d + c];
        squared += difference * difference;
      }
      const double k = std::exp(-squared / (2 * h2));
      sums[i] += k;
      sums[j] += k;
    }
  return sums;
}

/// E h̃² under N(0, K) of the centred kernel h̃(x, y) = k(x, y) − μ(x) − μ(y) + E k, where μ(x) =
/// E_y k(x, y): E k² − 2·E μ² + (E k)².
double centred_square(const Tensor& k, double h2, double expected) {
  // μ² = |I + K/h²|⁻¹·exp(−xᵀBx) with B = (K + h²I)⁻¹, and E exp(−xᵀBx) = |I + 2KB|^(−1/2), where
  // I + 2KB = (I + 3K/h²)(I + K/h²)⁻¹.
  const double mu_squared = root_determinant(k, h2, 1) * root_determinant(k, h2, 3);
  return root_determinant(k, h2, 4) - 2 * mu_squared + expected * expected;
}

}  // namespace

Discrepancy mmd(const Tensor& samples, const Tensor& covariance, double bandwidth) {
  LADON_CHECK(samples.rank() == 2 && samples.size(0) >= 3, "mmd",
              "samples must be [n, d] with n ≥ 3, got shape ", samples.shape());
  LADON_CHECK(covariance.shape() == (Shape{samples.size(1), samples.size(1)}), "mmd",
              "samples [n, d] need a covariance [d, d], got shapes ", samples.shape(), " and ",
              covariance.shape());
  LADON_CHECK(bandwidth >= 0 && std::isfinite(bandwidth), "mmd", "the bandwidth is ", bandwidth,
              "; it must be finite and positive, or 0 to derive it from the covariance");
  const NoGrad off;
  const Tensor x = contiguous(cast(samples, f64)), k = cast(covariance, f64);
  const double h2 =
      bandwidth > 0 ? bandwidth * bandwidth : number_of("gaussianity", sum(diagonal(k)));
  LADON_CHECK(h2 > 0, "mmd",
              "the covariance is zero, so that no bandwidth can be derived from it; pass a "
              "positive bandwidth");
  const double expected = root_determinant(k, h2, 2);
  const auto mu = numbers_of("gaussianity", expected_kernel(x, k, h2)), sums = kernel_sums(x, h2);
  const auto n = static_cast<double>(x.size(0));
  // u_i is the mean over j ≠ i of the centred kernel k(x_i, x_j) − μ(x_i) − μ(x_j) + E k, up to
  // terms that do not change the mean of u_i over i, which is the estimate of MMD².
  double mean_mu = 0, estimate = 0, squares = 0;
  for (const double m : mu) mean_mu += m / n;
  std::vector<double> u(mu.size());
  for (std::size_t i = 0; i < u.size(); ++i) {
    u[i] = sums[i] / (n - 1) - mu[i] - mean_mu + expected;
    estimate += u[i] / n;
  }
  for (const double v : u) squares += (v - estimate) * (v - estimate);
  return {.squared = estimate,
          .se = 2 * std::sqrt(squares / (n - 1) / n),
          .null_sd = std::sqrt(2 * centred_square(k, h2, expected) / (n * (n - 1))),
          .bandwidth = std::sqrt(h2)};
}

}  // namespace ladon::infinite
