#include "ladon/layers/infinite/finite/gaussianity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/tests/support.h"

namespace ladon::gaussianity_test {
namespace {

using namespace infinite;

/// A [T, T] kernel of T tokens, positive definite.
Tensor some_kernel(std::int64_t tokens, std::uint64_t seed) {
  Generator rng(seed);
  const Tensor x = normal({tokens, 5}, rng, 0, 1, f64);
  return matmul(x, transpose(x)) / 5.0;
}

// --- kurtosis ---

TEST(ExcessKurtosis, OfKnownDistributions) {
  Generator rng(1);
  const Measured gaussian = excess_kurtosis(normal({4000, 2, 3}, rng, 0, 2.5, f64));
  EXPECT_LT(std::abs(gaussian.value), 4 * gaussian.se);
  EXPECT_LT(gaussian.se, 0.04);
  // U(−1, 1): E y⁴/(E y²)² = (1/5)/(1/9).
  const Measured flat = excess_kurtosis(uniform({4000, 1, 2}, rng, -1, 1, f64));
  EXPECT_LT(std::abs(flat.value + 1.2), 4 * flat.se);
  // A Gaussian of exponential variance, Laplace's distribution, has 3. Channels share the variance.
  const Tensor variance = -1.0 * log(1.0 - uniform({20000, 1, 1}, rng, 0, 1, f64));
  const Tensor laplace = sqrt(variance) * normal({20000, 2, 4}, rng, 0, 1, f64);
  const Measured heavy = excess_kurtosis(laplace);
  EXPECT_LT(std::abs(heavy.value - 3), 4 * heavy.se);
  EXPECT_LT(heavy.se, 0.2);
  test::expect_error([] { excess_kurtosis(zeros({2, 1, 1}, f64)); }, "3 draws");
}

TEST(ExcessKurtosis, HasNoScale) {
  Generator rng(4);
  const Tensor x = normal({20, 2, 3}, rng, 0, 1, f64), k = normal({3, 3}, rng, 0, 1, f64);
  const Tensor mixed = tensor({1, 0}, {2, 1}, f64);
  const AttentionWidths widths{.heads = 2};
  for (const double scale : {1e-300, 1e-170, 1e-100, 1e-85, 1e77, 1e85, 1e170, 1e300}) {
    for (const Tensor& y : {x * scale, x * (mixed + (1 - mixed) * scale)}) {
      EXPECT_NEAR(excess_kurtosis(y).value, excess_kurtosis(x).value, 1e-13) << scale;
      EXPECT_NEAR(excess_kurtosis(y).se, excess_kurtosis(x).se, 1e-13) << scale;
    }
    for (const double other : {1.0, scale, 1 / scale})
      EXPECT_NEAR(identity_kurtosis(k * scale, k * other, widths), identity_kurtosis(k, k, widths),
                  1e-9)
          << scale;
  }
}

TEST(ExcessKurtosis, ItsStandardErrorIsWhatRepetitionsSay) {
  Generator rng(2);
  double sum = 0, squares = 0, claimed = 0;
  constexpr int repetitions = 200;
  for (int i = 0; i < repetitions; ++i) {
    const Tensor scale = exp(0.15 * normal({500, 1, 1}, rng, 0, 1, f64));
    const Measured k = excess_kurtosis(scale * normal({500, 1, 8}, rng, 0, 1, f64));
    sum += k.value;
    squares += k.value * k.value;
    claimed += k.se / repetitions;
  }
  const double mean = sum / repetitions, sd = std::sqrt(squares / repetitions - mean * mean);
  EXPECT_NEAR(claimed / sd, 1, 0.2);
  // Log-normal variance: E s⁴/(E s²)² = e^{4σ²}.
  EXPECT_LT(std::abs(mean - 3 * (std::exp(4 * 0.0225) - 1)), 4 * sd / std::sqrt(repetitions));
}

/// Outputs of identity attention with square-root scaling at one token, from the definition:
/// [draws, 1, 3 channels].
Tensor identity_attention(const Tensor& x, const Tensor& values, const AttentionWidths& widths,
                          std::int64_t draws, Generator& rng) {
  const auto dk = static_cast<std::int64_t>(widths.key_width);
  const auto dv = static_cast<std::int64_t>(widths.value_width);
  const auto draw = [&](std::int64_t in, std::int64_t out) {
    return normal({draws, widths.heads, in, out}, rng, 0, 1, f64);
  };
  const std::int64_t d = x.size(1);
  const Tensor keys = matmul(x, draw(d, dk)),
               queries = matmul(slice(x, 0, {.stop = 1}), draw(d, dk));
  const Tensor heads =
      matmul(matmul(queries, transpose(keys)), matmul(values, draw(values.size(1), dv)));
  const Tensor out = matmul(heads, draw(dv, 3));  // [draws, H, 1, 3]
  return reshape(sum(out, 1), {draws, 1, 3});
}

TEST(IdentityKurtosis, IsExactAtAnyWidth) {
  Generator rng(3);
  const Tensor x = normal({3, 4}, rng, 0, 1, f64), v = normal({3, 2}, rng, 0, 1, f64);
  const Tensor keys = matmul(x, transpose(x)), values = matmul(v, transpose(v));
  for (const AttentionWidths& widths :
       {AttentionWidths{.heads = 4, .key_width = 9, .value_width = 12},
        AttentionWidths{.heads = 16, .key_width = 3, .value_width = 5}}) {
    const Measured k = excess_kurtosis(identity_attention(x, v, widths, 20000, rng));
    const double law = identity_kurtosis(keys, values, widths);
    EXPECT_LT(std::abs(k.value - law), 4 * k.se) << law;
    EXPECT_LT(4 * k.se, 0.5 * law);
  }
}

TEST(IdentityKurtosis, IsSixOverHeadsForWideHeads) {
  const Tensor k = some_kernel(4, 1);
  const Tensor k2 = matmul(k, k);
  const double trace = sum(diagonal(k2)).item();
  const double rho = sum(diagonal(matmul(k2, k2))).item() / (trace * trace);
  EXPECT_NEAR(identity_kurtosis(k, k, {.heads = 1}), 6 * rho, 1e-12);
  EXPECT_NEAR(identity_kurtosis(k, k, {.heads = 8}), 6 * rho / 8, 1e-12);
  // One token: ρ = 1.
  EXPECT_NEAR(identity_kurtosis(ones({1, 1}), ones({1, 1}), {.heads = 2}), 3, 1e-12);
  // A readout of d_r channels of a Gaussian: 3·((1 + 2/d_r) − 1).
  EXPECT_NEAR(identity_kurtosis(k, k, {.heads = 1 << 30, .readout_width = 12}), 0.5, 1e-7);
}

TEST(HeadKurtosis, AgreesWithTheClosedFormAndDoesSoftmax) {
  const Tensor keys = some_kernel(4, 1), values = some_kernel(4, 2);
  const auto identity = [](const Tensor& g) { return g; };
  Generator rng(4);
  for (const Tensor& readout : {full({4}, 0.25, f64), tensor({0, 1, 0, 0}, f64)}) {
    const Measured k = head_kurtosis(identity, 1.3, keys, values, readout, 2, 40000, rng);
    EXPECT_LT(std::abs(k.value - identity_kurtosis(keys, values, {.heads = 2})), 4 * k.se);
  }
  // Without logits a softmax averages evenly: nothing is random.
  const auto even = [](const Tensor& g) { return softmax(g, -1); };
  const Measured none = head_kurtosis(even, 0, keys, values, full({4}, 0.25, f64), 1, 10, rng);
  EXPECT_NEAR(none.value, 0, 1e-9);
  const Measured some = head_kurtosis(even, 1, keys, values, full({4}, 0.25, f64), 1, 4000, rng);
  EXPECT_GT(some.value, 10 * some.se);
}

// --- Kolmogorov and Smirnov ---

TEST(KolmogorovSmirnov, DistanceAndPValue) {
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov(tensor({0}, f64), 1).distance, 0.5);
  // Φ(1) = 0.8413447: one sample of two lies above it.
  EXPECT_NEAR(kolmogorov_smirnov(tensor({2, 2}, f64), 2).distance, 0.8413447460685429, 1e-15);
  // Kolmogorov's distribution: Q(1) = 0.2699996717, Q(0.5) = 0.9639452437, Q(2) = 0.0006709253.
  constexpr std::int64_t n = 1000000;
  const double root = 1000 + 0.12 + 0.11 / 1000;
  EXPECT_NEAR(kolmogorov_p_value(1 / root, n), 0.2699996717, 1e-9);
  EXPECT_NEAR(kolmogorov_p_value(0.5 / root, n), 0.9639452437, 1e-9);
  EXPECT_NEAR(kolmogorov_p_value(2 / root, n), 0.0006709253, 1e-9);
  EXPECT_EQ(kolmogorov_p_value(0, n), 1);
  EXPECT_NEAR(kolmogorov_critical(0.05, n) * 1000, 1.3581, 1e-3);
  EXPECT_NEAR(kolmogorov_critical(0.05, 10), 0.40925, 2e-3);  // exact tables (Miller 1956)
}

TEST(KolmogorovSmirnov, AcceptsTheLawAndRefusesAnother) {
  Generator rng(5);
  int refused = 0;
  for (int i = 0; i < 400; ++i)
    refused += kolmogorov_smirnov(normal({200}, rng, 0, 3, f64), 3).p_value < 0.1;
  EXPECT_NEAR(refused, 40, 4 * 6);  // binomial, standard deviation 6
  EXPECT_LT(kolmogorov_smirnov(normal({2000}, rng, 0, 1.2, f64), 1).p_value, 1e-3);
  EXPECT_LT(kolmogorov_smirnov(uniform({2000}, rng, -std::sqrt(3), std::sqrt(3), f64), 1).p_value,
            1e-3);
}

// --- maximum mean discrepancy ---

double mean_kernel(const Tensor& covariance, double h2) {
  // |I + K/h²|^(−1/2) of a 2 × 2 matrix.
  const auto k = covariance.to_vector();
  return 1 / std::sqrt((1 + k[0] / h2) * (1 + k[3] / h2) - k[1] * k[2] / h2 / h2);
}

Tensor draws_of(const Tensor& root, std::int64_t n, Generator& rng) {
  return matmul(normal({n, 2}, rng, 0, 1, f64), transpose(root));
}

TEST(Mmd, IsZeroOnAverageForTheLawItself) {
  Generator rng(6);
  const Tensor root = tensor({1, 0, 0.7, 0.4}, {2, 2}, f64), k = matmul(root, transpose(root));
  double sum = 0, squares = 0, claimed = 0;
  constexpr int repetitions = 400;
  for (int i = 0; i < repetitions; ++i) {
    const Discrepancy d = mmd(draws_of(root, 60, rng), k);
    sum += d.squared;
    squares += d.squared * d.squared;
    claimed = d.null_sd;
  }
  const double sd = std::sqrt(squares / repetitions);
  EXPECT_LT(std::abs(sum / repetitions), 4 * sd / std::sqrt(repetitions));
  EXPECT_NEAR(sd / claimed, 1, 0.15);
}

TEST(Mmd, MeasuresAnotherCovariance) {
  Generator rng(7);
  const Tensor root = tensor({1, 0, 0.7, 0.4}, {2, 2}, f64), k = matmul(root, transpose(root));
  const Discrepancy d = mmd(draws_of(1.5 * root, 2000, rng), k);
  const double h2 = d.bandwidth * d.bandwidth;
  EXPECT_NEAR(h2, 1 + 0.49 + 0.16, 1e-12);
  const double exact =
      mean_kernel(2 * k, h2) + mean_kernel(4.5 * k, h2) - 2 * mean_kernel(3.25 * k, h2);
  EXPECT_LT(std::abs(d.squared - exact), 4 * d.se);
  EXPECT_GT(d.squared, 10 * d.null_sd);
  EXPECT_LT(d.se, 0.3 * exact);
  EXPECT_EQ(mmd(draws_of(root, 20, rng), k, 0.5).bandwidth, 0.5);
  test::expect_error([&] { mmd(zeros({5, 2}, f64), zeros({2, 2}, f64)); }, "covariance is zero");
}

}  // namespace
}  // namespace ladon::gaussianity_test
