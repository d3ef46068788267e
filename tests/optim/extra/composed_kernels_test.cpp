// Stein kernels composed of other kernels, compared with their formulas and central differences of
// these.

#include "ladon/optim/extra/particles/composed_kernels.h"

#include <cmath>

#include "ladon/tests/optim/helpers.h"

namespace ladon::test::composed_kernels_test {
namespace {

using Row = std::vector<double>;
/// The matrix K(a, b) [D, D], row after row.
using Matrix = std::function<std::vector<double>(const Row& a, const Row& b)>;

Tensor random_rows(std::int64_t m, std::int64_t d, std::uint64_t seed) {
  Generator rng(seed);
  return normal({m, d}, rng, 0, 1, f64);
}

/// share is Σ_j K(θ_j, θ_i)·s_j, and R_i = Σ_j ∇_{θ_j}·K(θ_j, θ_i), whose entry c is Σ_je
/// ∂K_ec/∂θ_je.
void expect_kernel(const SteinKernel& kernel, std::int64_t dim, const Matrix& formula) {
  const std::size_t m = 4, d = static_cast<std::size_t>(dim);
  const Tensor theta = random_rows(4, dim, 1), s = random_rows(4, dim, 2);
  const auto x = theta.to_vector(), given = s.to_vector();
  const auto row = [&](std::size_t i) {
    return Row(x.begin() + std::ptrdiff_t(i * d), x.begin() + std::ptrdiff_t((i + 1) * d));
  };
  const KernelAt at = checked_at(kernel, "rows", theta, 1);
  const auto shared = at.share(s).to_vector(), repulsion = at.repel().to_vector();
  const double step = 1e-5;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t c = 0; c < d; ++c) {
      double share = 0, slope = 0;
      for (std::size_t j = 0; j < m; ++j) {
        const std::vector<double> k = formula(row(j), row(i));
        for (std::size_t e = 0; e < d; ++e) {
          share += k[c * d + e] * given[j * d + e];
          Row up = row(j), down = row(j);
          up[e] += step;
          down[e] -= step;
          slope += (formula(up, row(i))[e * d + c] - formula(down, row(i))[e * d + c]) / (2 * step);
        }
      }
      EXPECT_NEAR(shared[i * d + c], share, 1e-12) << kernel.name;
      EXPECT_NEAR(repulsion[i * d + c], slope, 1e-7) << kernel.name;
    }
}

/// A diagonal matrix from its entries.
Matrix diagonal_of(std::size_t d,
                   std::function<double(const Row&, const Row&, std::size_t)> entry) {
  return [=](const Row& a, const Row& b) {
    std::vector<double> k(d * d, 0);
    for (std::size_t c = 0; c < d; ++c) k[c * d + c] = entry(a, b, c);
    return k;
  };
}

double distance2(const Row& a, const Row& b, std::size_t begin, std::size_t end) {
  double sum = 0;
  for (std::size_t c = begin; c < end; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
  return sum;
}

const BandwidthOptions given{Bandwidth::fixed, 0.7};

TEST(ComposedKernels, BlocksAndCoordinatesAreWhatTheirFormulaSays) {
  expect_kernel(per_block(rbf(given), {2}), 5, diagonal_of(5, [](auto& a, auto& b, std::size_t c) {
                  return std::exp(-(c < 2 ? distance2(a, b, 0, 2) : distance2(a, b, 2, 5)) / 1.4);
                }));
  expect_kernel(per_coordinate(rbf(given)), 3, diagonal_of(3, [](auto& a, auto& b, std::size_t c) {
                  return std::exp(-distance2(a, b, c, c + 1) / 1.4);
                }));
  const Tensor theta = random_rows(5, 3, 3), s = random_rows(5, 3, 4);
  EXPECT_TRUE(all_equal(per_block(rbf(), {}).at(theta).share(s), rbf().at(theta).share(s)));
}

// Q = [[2, .5], [.5, 1]]: Q⁻¹ = [[1, −.5], [−.5, 2]]/1.75, and |Lᵀ(a − b)|² = (a − b)ᵀQ(a − b).
TEST(ComposedKernels, PreconditionedIsWhatItsFormulaSays) {
  const Tensor q = tensor({2, 0.5, 0.5, 1}, {2, 2}, f64);
  expect_kernel(preconditioned(rbf(given), q), 2, [](const Row& a, const Row& b) {
    const double x = a[0] - b[0], y = a[1] - b[1], d2 = 2 * x * x + x * y + y * y;
    const double k = std::exp(-d2 / 1.4) / 1.75;
    return std::vector<double>{k, -0.5 * k, -0.5 * k, 2 * k};
  });
}

TEST(ComposedKernels, MixtureAndHybridAreWhatTheirFormulaSays) {
  const SteinKernel mixed = mixture({rbf(given), imq({Bandwidth::fixed, 2})}, {0.3, 2});
  expect_kernel(mixed, 3, diagonal_of(3, [](auto& a, auto& b, std::size_t) {
                  const double d2 = distance2(a, b, 0, 3);
                  return 0.3 * std::exp(-d2 / 1.4) + 2 / std::sqrt(1 + d2 / 2);
                }));
  const Tensor theta = random_rows(5, 3, 3), s = random_rows(5, 3, 4);
  const KernelAt both = mixed.at(theta);
  EXPECT_TRUE(
      all_close(both.density(), slice(both.share(ones({5, 3}, f64)), 1, {.stop = 1}), 1e-14, 0));
  const KernelAt split = hybrid(imq(), rbf()).at(theta);
  EXPECT_TRUE(all_equal(split.share(s), imq().at(theta).share(s)));
  EXPECT_TRUE(all_equal(split.repel(), rbf().at(theta).repel()));
  EXPECT_EQ(split.h2, rbf().at(theta).h2);
}

// On N(m, Q⁻¹) the preconditioned kernel makes of SVGD what it is on N(0, 1): with the linear
// kernel's moments aside, Θ·L moves as standard particles do.
TEST(ComposedKernels, PreconditionedParticlesMoveAsStandardOnes) {
  const Tensor q = tensor({4, 1, 1, 0.5}, {2, 2}, f64);
  const Tensor root = tensor({2, 0, 0.5, 0.5}, {2, 2}, f64);  // L of Q = LLᵀ
  Tensor x = leaf(random_rows(6, 2, 5));
  Tensor y = leaf(matmul(x.detach(), root));
  Svgd skew(particles_of_rows(x), {.kernel = preconditioned(rbf(), q)}),
      plain(particles_of_rows(y));
  descend(
      x, skew, [&](const Tensor& t) { return matmul(t, q); }, 0.1, 50);
  descend(y, plain, standard_normal, 0.1, 50);
  EXPECT_TRUE(all_close(matmul(x.detach(), root), y.detach(), 1e-11, 1e-12));
}

// Particles are mostly f32: their forces are those of f64, to rounding.
TEST(ComposedKernels, AreForSinglePrecisionToo) {
  const Tensor q = tensor({4, 1, 1, 0.5}, {2, 2}, f64), x = random_rows(6, 2, 5);
  for (const SteinKernel& kernel :
       {preconditioned(rbf(), q), hybrid(preconditioned(rbf(), q), imq()), per_coordinate(rbf()),
        mixture({rbf(), imq()}, {1, 2})}) {
    const SvgdOptions options{.kernel = kernel};
    const Tensor exact = rewritten<Svgd>(x, standard_normal(x), options);
    const Tensor single = rewritten<Svgd>(cast(x, f32), cast(standard_normal(x), f32), options);
    EXPECT_EQ(single.dtype(), f32);
    EXPECT_LT(norm(cast(single, f64) - exact).item(), 1e-5 * norm(exact).item()) << kernel.name;
  }
}

// Per-coordinate kernels do not collapse: on a product of normal laws they act as in one dimension,
// so that the variance does not fall with D.
TEST(ComposedKernels, PerCoordinateKeepsTheVarianceInHighDimension) {
  const auto variance = [](const SteinKernel& kernel, std::int64_t d) {
    Tensor x = leaf(random_rows(20, d, 6));
    Svgd svgd(particles_of_rows(x), {.kernel = kernel});
    descend(x, svgd, standard_normal, 0.5, 400);
    return mean(var(x.detach(), 0)).item();
  };
  EXPECT_LT(variance(rbf(), 40), 0.1);
  EXPECT_GT(variance(per_coordinate(rbf()), 40), 0.75);
}

TEST(ComposedKernels, RefuseWhatDoesNotFit) {
  const Tensor x = random_rows(3, 2, 1), g = random_rows(3, 2, 2);
  const auto use = [&](const SteinKernel& k) { rewritten<Svgd>(x, g, SvgdOptions{.kernel = k}); };
  expect_error(
      [&] { use(per_block(rbf(), {3})); },
      "[per_block] cuts must increase and lie inside the coordinates, got a block from 0 to 3 of 2");
  expect_error([&] { use(per_block(rbf(), {1, 1})); }, "a block from 1 to 1");
  expect_error([&] { preconditioned(rbf(), -eye(2, f64)); }, "not positive definite");
  expect_error([&] { use(preconditioned(rbf(), eye(3, f64))); },
               "D is 2 and the precision is [3, 3]");
  expect_error([&] { mixture({rbf()}, {1, 2}); }, "2 weights for 1 kernels");
  expect_error([&] { mixture({rbf()}, {-1}); }, "a weight is -1");
  expect_error([&] { hybrid(rbf(), {"mine", {}}); }, "`mine` has no function `at`");
  const SteinKernel silent{"mine", [](const Tensor&) { return KernelAt{}; }};
  expect_error([&] { use(mixture({rbf(), silent}, {1, 1})); }, "has no function `share`");
  expect_error([&] { rewritten<Wgd>(x, g, WgdOptions{.kernel = per_block(rbf(), {1})}); },
               "has no density");
}

}  // namespace
}  // namespace ladon::test::composed_kernels_test
