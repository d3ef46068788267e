// Configurations to which particle methods converge, compared with closed forms.

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "ladon/tests/optim/helpers.h"

namespace ladon::test::sampling_test {
namespace {

void expect_pair(Tensor x, double a, double tolerance) {
  const auto v = x.to_vector();
  EXPECT_NEAR(v[0], a, tolerance);
  EXPECT_NEAR(v[1], -a, tolerance);
}

// Two particles on N(0, 1) end at ±a. With k between them and d = 2a:
//   φ_1 = ½[−a + k·a + α·k·2a/h²] = 0, so 1 − k = 2αk/h².
// Fixed h² = 1, k = exp(−2a²): 1/k = 1 + 2α, a = sqrt(½ ln(1 + 2α)).
// Median rule, h² = 2a²/ln 3 and k = 1/3: 2/3 = (2α/3)·ln 3/(2a²), a = sqrt(α·ln 3/2).
TEST(Svgd, TwoParticlesSettleWhereTheForcesCancel) {
  for (const double alpha : {0.25, 1.0, 3.0}) {
    Tensor x = leaf(tensor({1.3, -1.1}, {2, 1}, f64));
    Svgd fixed(particles_of_rows(x),
               {.kernel = rbf({.bandwidth = Bandwidth::fixed, .h2 = 1}), .alpha = alpha});
    descend(x, fixed, standard_normal, 0.3, 1000);
    expect_pair(x, std::sqrt(0.5 * std::log(1 + 2 * alpha)), 1e-12);

    Tensor y = leaf(tensor({1.3, -1.1}, {2, 1}, f64));
    Svgd median(particles_of_rows(y), {.alpha = alpha});
    descend(y, median, standard_normal, 0.3, 1000);
    expect_pair(y, std::sqrt(alpha * std::log(3) / 2), 1e-12);
  }
}

// Under kde-WGD the same pair solves a = α·k·2a/(h²(1 + k)); h² = 1: 1/k = 2α − 1, for α > 1.
TEST(Wgd, TwoParticlesSettleWhereTheForcesCancel) {
  Tensor x = leaf(tensor({1.3, -1.1}, {2, 1}, f64));
  Wgd wgd(particles_of_rows(x), {.kernel = rbf({.bandwidth = Bandwidth::fixed}), .alpha = 3});
  descend(x, wgd, standard_normal, 0.1, 1000);
  expect_pair(x, std::sqrt(0.5 * std::log(2 * 3 - 1)), 1e-12);
}

// The linear kernel spans the scores of a Gaussian: at the fixed point the particles' mean and
// covariance (divisor M) are the target's, whatever M ≥ 3 in two dimensions.
TEST(Svgd, LinearKernelMatchesGaussianMomentsExactly) {
  const Tensor mean = tensor({1, -2}, {1, 2}, f64);
  const Tensor covariance = tensor({2, 0.6, 0.6, 0.5}, {2, 2}, f64);
  const double determinant = 2 * 0.5 - 0.6 * 0.6;
  const Tensor precision = tensor({0.5, -0.6, -0.6, 2}, {2, 2}, f64) / determinant;
  for (const std::int64_t m : {3, 4, 9}) {
    Generator rng(1);
    Tensor x = leaf(normal({m, 2}, rng, 0, 1, f64));
    Svgd svgd(particles_of_rows(x), {.kernel = linear_kernel()});
    descend(
        x, svgd, [&](const Tensor& t) { return matmul(t - mean, precision); }, 0.05, 4000);
    const Tensor sample_mean = ladon::mean(x.detach(), 0, keep_dims),
                 centred = x.detach() - sample_mean;
    expect_values(sample_mean, {1, -2}, 1e-11);
    expect_values(matmul(transpose(centred), centred) / double(m), covariance.to_vector(), 1e-11);
  }
}

// The collapse law: on N(0, I_d), M ≤ d + 1 particles under the median rule end as a regular
// simplex with d²_ij = 2α·ln(M + 1), whatever d: with K_off = 1/(M + 1), the simplex centred at 0
// has −(1 − k)θ_i + α·k·M·θ_i/h² = 0, so h² = α. The variance of a coordinate is then
// α·ln(M + 1)(M − 1)/(M·d): it vanishes in high dimension.
TEST(Svgd, CollapsesInHighDimension) {
  const std::int64_t m = 5;
  const double alpha = 0.7;
  for (const std::int64_t d : {4, 8, 64}) {
    Generator rng(2);
    Tensor x = leaf(normal({m, d}, rng, 0, 0.3, f64));
    Svgd svgd(particles_of_rows(x), {.alpha = alpha});
    descend(x, svgd, standard_normal, 0.5, 4000);
    const PairSpread distance = svgd.report()[0].distance;
    const double expected = std::sqrt(2 * alpha * std::log(double(m) + 1));
    EXPECT_NEAR(distance.min, expected, 1e-9) << d;
    EXPECT_NEAR(distance.max, expected, 1e-9) << d;
    const double variance = mean(var(x.detach(), 0, Dims::drop, 0)).item();
    EXPECT_NEAR(variance, alpha * std::log(double(m) + 1) * double(m - 1) / double(m * d), 1e-9);
  }
}

// ⅓N(−2, 1) + ⅔N(2, 1): mean ⅔, variance 1 + 4 − 4/9 = 41/9, mass left of zero
// ⅓Φ(2) + ⅔Φ(−2) = 0.34092. Of a hundred particles, one in the other component changes the mass by
// 0.01, the mean by 4/100 and the variance by 2·⅔·4/100: the tolerances are one particle. All start
// in the left component, so that its mass is no heritage.
Tensor mixture_gradient(const Tensor& x) {
  // The odds of the right component at x are 2e^{4x}: ∇U = x − 2·tanh(2x + ½ ln 2).
  return x - 2.0 * tanh(2.0 * x + 0.5 * std::numbers::ln2);
}
TEST(Svgd, RecoversATwoComponentMixture) {
  Generator rng(3);
  Tensor x = leaf(normal({100, 1}, rng, -4, 1, f64));
  Svgd svgd(particles_of_rows(x));
  descend(x, svgd, mixture_gradient, 1, 3000);
  const Tensor points = x.detach();
  EXPECT_NEAR(mean(points).item(), 2.0 / 3, 0.04);
  EXPECT_NEAR(var(points, {}, Dims::drop, 0).item(), 41.0 / 9, 2.0 * 2 / 3 * 0.04);
  EXPECT_NEAR(mean(cast(less(points, 0.0), f64)).item(), 0.34092, 0.01);
}

// M = 1 on N(0, 1): θ' = (1 − ε(1 + b))θ + sqrt(2bε)ξ. With ρ = 1 − ε(1 + b) the stationary
// variance v solves v = ρ²v + 2bε: v = 2bε/(1 − ρ²). (Here 0.36036; the continuous process, ε → 0,
// has b/(1 + b) = 0.33333, so 1 % tells the two apart.)
//
// D coordinates are D independent chains. Squares of a chain have autocorrelation ρ^{2t}, so T
// steps are worth T(1 − ρ²)/(1 + ρ²) independent ones: the estimate's relative standard error is
// sqrt(2/(D·T)·(1 + ρ²)/(1 − ρ²)) = 0.0014, and 1 % is seven of them.
TEST(Spos, OneParticleHasTheVarianceOfTheDiscretizedChain) {
  const double epsilon = 0.1, b = 0.5, rho = 1 - epsilon * (1 + b);
  const std::int64_t chains = 1 << 14;
  const int steps = 400;
  Tensor x = leaf(zeros({1, chains}, f64));
  Spos spos(particles_of_rows(x), {.diffusion = b}, Generator(4));
  descend(x, spos, standard_normal, epsilon, 60);  // ρ^120 = 3e−9 of the start is left
  double sum_of_squares = 0;
  for (int t = 0; t < steps; ++t) {
    descend(x, spos, standard_normal, epsilon, 1);
    sum_of_squares += sum(square(x.detach())).item();
  }
  const double variance = sum_of_squares / (double(chains) * steps);
  EXPECT_NEAR(variance / (2 * b * epsilon / (1 - rho * rho)), 1, 0.01);
}

TEST(Spos, WithoutDiffusionIsSvgdBitForBit) {
  for (const DType dtype : {f32, f64}) {
    Generator rng(5);
    const Tensor start = normal({6, 33}, rng, 0, 1, dtype);
    Tensor x = leaf(start), y = leaf(start);
    Svgd svgd(particles_of_rows(x), {.alpha = 0.5});
    Spos spos(particles_of_rows(y), {.svgd = {.alpha = 0.5}, .diffusion = 0}, Generator(6));
    descend(x, svgd, standard_normal, 0.1, 20);
    descend(y, spos, standard_normal, 0.1, 20);
    EXPECT_TRUE(same_bits(x, y));
    EXPECT_EQ(spos.generator().position(), 0U);
  }
}

TEST(Spos, SeparatesEqualParticles) {
  Tensor x = leaf(full({4, 8}, 0.3));
  Spos spos(particles_of_rows(x), {}, Generator(7));
  descend(x, spos, standard_normal, 0.1, 1);
  EXPECT_GT(pairwise_distance(x.detach()).min, 0.05);
}

// The noise of a step of size ε has variance 2bε, whatever the optimizer: over n draws the relative
// standard error of a variance is sqrt(2/n) = 0.0044.
TEST(Spos, AddsItsNoiseOutsideTheOptimizer) {
  const std::int64_t n = 100000;
  Tensor x = leaf(zeros({2, n / 2}));
  Spos spos(particles_of_rows(x), {.diffusion = 0.3}, Generator(8));
  x.set_grad(zeros({2, n / 2}));
  spos.apply();
  spos.diffuse(0.01);
  EXPECT_NEAR(var(x.detach()).item() / (2 * 0.3 * 0.01), 1, 4 * 0.0045);
  EXPECT_NEAR(mean(x.detach()).item(), 0, 4 * std::sqrt(2 * 0.3 * 0.01 / double(n)));
  Tensor y = leaf(zeros({2, n / 2}));
  Spos again(particles_of_rows(y), {.diffusion = 0.3}, Generator(8));
  y.set_grad(zeros({2, n / 2}));
  again.apply();
  Adam adam({y}, {.lr = 0.01});
  adam.step();
  EXPECT_TRUE(same_bits(x, y));
}

}  // namespace
}  // namespace ladon::test::sampling_test
